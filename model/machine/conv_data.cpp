#include "model/machine/conv_data.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "golden/error.hpp"

namespace bitcycle {

CodeAt image_code(const std::vector<std::int32_t>& codes, std::uint64_t h, std::uint64_t w,
                  std::uint64_t c) {
  return [&codes, h, w, c](std::uint64_t img, std::uint64_t y, std::uint64_t x, std::uint64_t ch) {
    return codes[((img * h + y) * w + x) * c + ch];
  };
}

CodeAt weight_code(const std::vector<std::int32_t>& codes, const ConvShape& s) {
  return [&codes, s](std::uint64_t ky, std::uint64_t kx, std::uint64_t n, std::uint64_t c) {
    const std::uint64_t filter = c / s.cg() * s.og() + n;
    return codes[((filter * s.kh + ky) * s.kw + kx) * s.cg() + c % s.cg()];
  };
}

void pack_conv(const Plan& plan, const std::vector<std::int32_t>& first,
               const std::vector<std::int32_t>& second, std::vector<std::uint8_t>& dram) {
  const GemmProblem& p = plan.problem();
  const ConvJob& job = p.conv();
  const ConvShape& s = job.shape;
  const bool forward = job.pass == ConvPass::kForward;
  const bool dw = job.pass == ConvPass::kDw;
  const auto check = [](const char* what, std::size_t found, std::uint64_t wanted) {
    if (found != wanted) {
      throw input_error("", 0, what, std::to_string(found) + " codes",
                        std::to_string(wanted) + " codes");
    }
  };
  check("first operand", first.size(), forward ? s.x_size() : s.y_size());
  check("second operand", second.size(), dw ? s.x_size() : s.w_size());
  pack_tensor(
      p.first, job.first.is_signed,
      forward ? image_code(first, s.hi, s.wi, s.cin) : image_code(first, s.ho(), s.wo(), s.cout),
      dram);
  pack_tensor(p.second, job.second.is_signed,
              dw ? image_code(second, s.hi, s.wi, s.cin) : weight_code(second, s), dram);
}

// Index of the element behind (row, column) of an output block, in golden_conv's order; nothing for
// lanes that carry no channel of the group.
std::optional<std::size_t> golden_index(const GemmProblem& p, const OutputBlock& b, std::uint64_t r,
                                        std::uint64_t c) {
  const ConvShape& s = p.conv().shape;
  const GemmPart& part = *b.part;
  const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
  // Position of an outer space.
  const auto outer = [&](const Range3& range, std::uint64_t i) {
    const std::uint64_t n2 = u(range.n[2]), n1 = u(range.n[1]);
    return std::array<std::uint64_t, 3>{u(range.start[0]) + i / n2 / n1,
                                        u(range.start[1]) + i / n2 % n1,
                                        u(range.start[2]) + i % n2};
  };
  // Tap and channel of a mode T space; channels before or after the group's are nobody's.
  const auto lanes = [&](const OperandMap& map, const Range3& range, std::uint64_t i,
                         const TensorLayout& t, std::uint64_t first_channel,
                         std::uint64_t count) -> std::optional<std::array<std::uint64_t, 3>> {
    const std::uint64_t bit = i % map.br + map.lo;
    const auto at = outer(range, i / map.br);
    const std::uint64_t position =
        (u(map.granule.offset) + at[2]) * static_cast<std::uint64_t>(t.gl) + bit;
    for (std::uint64_t ch = first_channel; ch < first_channel + count; ++ch) {
      if (t.position(ch) == position)
        return std::array<std::uint64_t, 3>{at[0], at[1], ch - first_channel};
    }
    return std::nullopt;
  };
  const std::uint64_t g = part.group;
  if (p.conv().pass == ConvPass::kForward) {
    const auto at = outer(b.rows, r);
    return ((at[0] * s.ho() + at[1]) * s.wo() + at[2]) * s.cout + g * s.og() + u(b.cols.start[2]) +
           c;
  }
  if (p.conv().pass == ConvPass::kDx) {
    const auto at = outer(b.rows, r);
    const auto ch = lanes(part.second, b.cols, c, p.second, g * s.cg(), s.cg());
    if (!ch) return std::nullopt;
    if (p.conv().dx_as_gemm) {
      const std::uint64_t pixel = (at[0] * s.ho() + at[1]) * s.wo() + at[2];
      return ((pixel * s.kh + (*ch)[0]) * s.kw + (*ch)[1]) * s.cin + g * s.cg() + (*ch)[2];
    }
    return ((at[0] * s.hi + at[1] * s.stride_h + part.phase_y) * s.wi + at[2] * s.stride_w +
            part.phase_x) *
               s.cin +
           g * s.cg() + (*ch)[2];
  }
  const auto n = lanes(part.first, b.rows, r, p.first, g * s.og(), s.og());
  const auto ch = lanes(part.second, b.cols, c, p.second, g * s.cg(), s.cg());
  if (!n || !ch) return std::nullopt;
  return (((g * s.og() + (*n)[2]) * s.kh + (*ch)[0]) * s.kw + (*ch)[1]) * s.cg() + (*ch)[2];
}

ConvResults::ConvResults(const ConvJob& job) : job_(job) {
  const ConvShape& s = job.shape;
  if (job.out.form == OutputForm::kCodes) {
    throw input_error("", 0, "results", "codes", "raw results");
  }
  const std::uint64_t taps = s.kh * s.kw * s.cg();
  const std::uint64_t pixels = s.batch * s.ho() * s.wo();
  std::uint64_t values = 0, sums_a = 0, sums_w = 0;
  switch (job.pass) {
    case ConvPass::kForward:
      values = s.y_size();
      sums_a = pixels * s.groups;
      sums_w = s.cout;
      break;
    case ConvPass::kDx:
      values = job.dx_as_gemm ? pixels * s.kh * s.kw * s.cin : s.x_size();
      sums_a = (job.dx_as_gemm ? pixels : s.batch * s.hi * s.wi) * s.groups;
      break;
    case ConvPass::kDw:
      values = s.w_size();
      sums_a = s.cout;
      sums_w = s.groups * taps;
      break;
  }
  out_.value.resize(values);
  values_.resize(values);
  if (!job.out.sums) return;
  out_.sum_a.resize(sums_a);
  out_.sum_w.resize(sums_w);
  sums_a_.resize(sums_a);
  sums_w_.resize(sums_w);
}

void ConvResults::read(const Plan& plan, const std::vector<std::uint8_t>& dram) {
  const GemmProblem& p = plan.problem();
  const ConvShape& s = job_.shape;
  const bool forward = job_.pass == ConvPass::kForward;
  const bool dx = job_.pass == ConvPass::kDx;
  const std::uint64_t taps = s.kh * s.kw * s.cg();
  const std::uint64_t of_pixel = job_.dx_as_gemm ? s.kh * s.kw * s.cin : s.cin;
  read_raw(
      plan, dram,
      [&](const OutputBlock& b, std::uint64_t r, std::uint64_t c, std::int64_t value) {
        const auto index = golden_index(p, b, r, c);
        if (!index) return;
        out_.value.at(*index) = value;
        twice_ = twice_ || values_.at(*index) != 0;
        values_.at(*index) = 1;
      },
      [&](const OutputBlock& b, bool of_first, std::uint64_t i, std::int64_t value) {
        const auto index = golden_index(p, b, of_first ? i : 0, of_first ? 0 : i);
        if (!index) return;
        const std::uint64_t g = b.part->group;
        if (of_first) {
          const std::uint64_t at = forward ? *index / s.cout * s.groups + g
                                   : dx    ? *index / of_pixel * s.groups + g
                                           : *index / taps;
          out_.sum_a.at(at) = value;
          sums_a_.at(at) = 1;
        } else if (!dx) {
          const std::uint64_t at = forward ? *index % s.cout : g * taps + *index % taps;
          out_.sum_w.at(at) = value;
          sums_w_.at(at) = 1;
        }
      });
}

ConvSums ConvResults::take() {
  const auto complete = [](const std::vector<char>& seen) {
    return std::all_of(seen.begin(), seen.end(), [](char c) { return c != 0; });
  };
  if (twice_ || !complete(values_) || !complete(sums_a_) || !complete(sums_w_)) {
    throw InputError(to_string(job_.pass) + ": results are missing in DRAM, or lie there twice");
  }
  return std::move(out_);
}

ConvSums unpack_conv(const Plan& plan, const std::vector<std::uint8_t>& dram) {
  ConvResults results(plan.problem().conv());
  results.read(plan, dram);
  return results.take();
}

}  // namespace bitcycle
