#include "model/machine/layer_data.hpp"

#include <algorithm>
#include <utility>

#include "golden/error.hpp"
#include "model/machine/conv_data.hpp"

namespace bitcycle {
namespace {

using Codes = std::vector<std::int32_t>;
/// Code of (matrix, row, place in the reduction).
using MatrixCode =
    std::function<std::int32_t(std::uint64_t matrix, std::uint64_t row, std::uint64_t k)>;

void check_size(const char* what, std::size_t found, std::uint64_t wanted) {
  if (found == wanted) return;
  throw input_error("", 0, what, std::to_string(found) + " codes",
                    std::to_string(wanted) + " codes");
}

// A place for operands and results, and its bytes.
std::vector<std::uint8_t> place(Plan& plan) {
  DramAllocator allocator(4096);
  const std::uint64_t first = allocator.allocate(plan.problem().first.bytes());
  const std::uint64_t second = allocator.allocate(plan.problem().second.bytes());
  plan.set_addresses(first, second, allocator.allocate(plan.result_bytes()));
  return std::vector<std::uint8_t>(allocator.end());
}

ConvSums run_matrices(Plan& plan, const MatrixCode& first, const MatrixCode& second,
                      const PlanRunner& run) {
  const MatmulJob& job = plan.problem().matmul();
  std::vector<std::uint8_t> dram = place(plan);
  const auto stored = [](const MatrixCode& code, bool columns) -> CodeAt {
    return [&code, columns](std::uint64_t matrix, std::uint64_t, std::uint64_t x, std::uint64_t c) {
      return columns ? code(matrix, c, x) : code(matrix, x, c);
    };
  };
  pack_tensor(plan.problem().first, job.first.is_signed, stored(first, job.a_columns), dram);
  pack_tensor(plan.problem().second, job.second.is_signed, stored(second, job.w_columns), dram);
  run(plan, dram);

  ConvSums out;
  out.value.resize(job.batch * job.m * job.n);
  out.sum_a.resize(job.batch * job.m);
  out.sum_w.resize(job.batch * job.n);
  std::vector<char> values(out.value.size()), sums_a(out.sum_a.size()), sums_w(out.sum_w.size());
  // Stored by columns, an operand's rows are lanes of granules.
  const auto row = [&](const OutputBlock& b, std::uint64_t r) {
    return static_cast<std::uint64_t>(b.rows.start[2]) * (job.a_columns ? b.part->first.br : 1) + r;
  };
  const auto col = [&](const OutputBlock& b, std::uint64_t c) {
    return static_cast<std::uint64_t>(b.cols.start[2]) * (job.w_columns ? b.part->second.br : 1) +
           c;
  };
  bool twice = false;
  read_raw(
      plan, dram,
      [&](const OutputBlock& b, std::uint64_t r, std::uint64_t c, std::int64_t value) {
        const std::uint64_t at = (b.part->group * job.m + row(b, r)) * job.n + col(b, c);
        out.value.at(at) = value;
        twice = twice || values[at] != 0;
        values[at] = 1;
      },
      [&](const OutputBlock& b, bool of_first, std::uint64_t i, std::int64_t value) {
        const std::uint64_t at =
            of_first ? b.part->group * job.m + row(b, i) : b.part->group * job.n + col(b, i);
        (of_first ? out.sum_a : out.sum_w).at(at) = value;
        (of_first ? sums_a : sums_w).at(at) = 1;
      });
  const auto complete = [](const std::vector<char>& seen) {
    return std::find(seen.begin(), seen.end(), 0) == seen.end();
  };
  if (twice || !complete(values) || !complete(sums_a) || !complete(sums_w)) {
    throw InputError(plan.problem().name + ": results are missing in DRAM, or lie there twice");
  }
  return out;
}

void add(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
  if (to.empty()) {
    to = from;
    return;
  }
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

void add(ConvSums& to, const ConvSums& from) {
  add(to.value, from.value);
  add(to.sum_a, from.sum_a);
  add(to.sum_w, from.sum_w);
}

// Input of (pixel, tap and channel) of a convolution with one group: 0 outside the image.
MatrixCode expanded(const ConvShape& s, const Codes& x, std::uint64_t first_pixel) {
  return [&s, &x, first_pixel](std::uint64_t, std::uint64_t pixel, std::uint64_t t) {
    pixel += first_pixel;
    const std::uint64_t c = t % s.cin, kx = t / s.cin % s.kw, ky = t / s.cin / s.kw;
    const std::uint64_t ox = pixel % s.wo(), oy = pixel / s.wo() % s.ho();
    const std::uint64_t img = pixel / s.wo() / s.ho();
    // Left of and above the image these wrap to large numbers.
    const std::uint64_t iy = oy * s.stride_h + ky * s.dilation_h - s.pad_top;
    const std::uint64_t ix = ox * s.stride_w + kx * s.dilation_w - s.pad_left;
    if (iy >= s.hi || ix >= s.wi) return std::int32_t{0};
    return x[((img * s.hi + iy) * s.wi + ix) * s.cin + c];
  };
}

ConvSums run_expanded(Plan& plan, const ConvJob& job, const Codes& first, const Codes& second,
                      const PlanRunner& run) {
  const ConvShape& s = job.shape;
  const MatmulJob& m = plan.problem().matmul();
  const std::uint64_t taps = s.kh * s.kw * s.cin;
  if (job.pass == ConvPass::kForward) {
    const MatrixCode weights = [&](std::uint64_t, std::uint64_t n, std::uint64_t t) {
      return second[n * taps + t];
    };
    return run_matrices(plan, expanded(s, first, 0), weights, run);
  }
  // dW reduces over pixels: all of them, or a part of the batch at a time.
  ConvSums out;
  for (std::uint64_t pixel = 0; pixel < s.batch * s.ho() * s.wo(); pixel += m.k) {
    const MatrixCode image = expanded(s, second, pixel);
    const MatrixCode gradient = [&](std::uint64_t, std::uint64_t n, std::uint64_t k) {
      return first[(pixel + k) * s.cout + n];
    };
    const MatrixCode columns = [&](std::uint64_t, std::uint64_t t, std::uint64_t k) {
      return image(0, k, t);
    };
    add(out, run_matrices(plan, gradient, columns, run));
  }
  return out;
}

// Gradients of the expanded input, and the sums of the gradients behind them, onto the input.
ConvSums col2im(const ConvShape& s, const ConvSums& products) {
  ConvSums out;
  out.value.resize(s.x_size());
  out.sum_a.resize(s.batch * s.hi * s.wi * s.groups);
  std::size_t at = 0;
  for (std::uint64_t pixel = 0; pixel < s.batch * s.ho() * s.wo(); ++pixel) {
    const std::uint64_t ox = pixel % s.wo(), oy = pixel / s.wo() % s.ho();
    const std::uint64_t img = pixel / s.wo() / s.ho();
    for (std::uint64_t tap = 0; tap < s.kh * s.kw; ++tap, at += s.cin) {
      const std::uint64_t iy = oy * s.stride_h + tap / s.kw * s.dilation_h - s.pad_top;
      const std::uint64_t ix = ox * s.stride_w + tap % s.kw * s.dilation_w - s.pad_left;
      if (iy >= s.hi || ix >= s.wi) continue;
      const std::uint64_t x = (img * s.hi + iy) * s.wi + ix;
      for (std::uint64_t c = 0; c < s.cin; ++c) out.value[x * s.cin + c] += products.value[at + c];
      for (std::uint64_t g = 0; g < s.groups; ++g) {
        out.sum_a[x * s.groups + g] += products.sum_a[pixel * s.groups + g];
      }
    }
  }
  return out;
}

// Images `from` to `from + count` of a tensor of `batch`.
Codes images(const Codes& codes, std::uint64_t batch, std::uint64_t from, std::uint64_t count) {
  const auto each = static_cast<std::ptrdiff_t>(codes.size() / batch);
  const auto begin = codes.begin() + each * static_cast<std::ptrdiff_t>(from);
  return Codes(begin, begin + each * static_cast<std::ptrdiff_t>(count));
}

}  // namespace

ConvSums run_conv(CompiledLayer& layer, const ConvJob& job, const Codes& first, const Codes& second,
                  const PlanRunner& run) {
  const ConvShape& s = job.shape;
  check_size("first operand", first.size(),
             job.pass == ConvPass::kForward ? s.x_size() : s.y_size());
  check_size("second operand", second.size(), job.pass == ConvPass::kDw ? s.x_size() : s.w_size());
  if (layer.expanded) return run_expanded(layer.plans.front().plan, job, first, second, run);
  const auto run_one = [&](Plan& plan, const Codes& a, const Codes& b) {
    std::vector<std::uint8_t> dram = place(plan);
    pack_conv(plan, a, b, dram);
    run(plan, dram);
    return dram;
  };
  const std::uint64_t part = layer.plans.front().plan.problem().conv().shape.batch;
  if (part < s.batch) {  // dW: the parts' results are added
    ConvSums out;
    for (std::uint64_t from = 0; from < s.batch; from += part) {
      for (Compiled& c : layer.plans) {
        add(out, unpack_conv(c.plan, run_one(c.plan, images(first, s.batch, from, part),
                                             images(second, s.batch, from, part))));
      }
    }
    return out;
  }
  ConvResults results(job);
  for (Compiled& c : layer.plans) results.read(c.plan, run_one(c.plan, first, second));
  return job.dx_as_gemm ? col2im(s, results.take()) : results.take();
}

ConvSums run_matmul(Plan& plan, const Codes& first, const Codes& second, const PlanRunner& run) {
  const MatmulJob& job = plan.problem().matmul();
  check_size("first operand", first.size(), job.batch * job.m * job.k);
  check_size("second operand", second.size(), job.batch * job.n * job.k);
  const auto code = [&](const Codes& codes, std::uint64_t rows) -> MatrixCode {
    return [&codes, rows, k = job.k](std::uint64_t matrix, std::uint64_t row, std::uint64_t at) {
      return codes[(matrix * rows + row) * k + at];
    };
  };
  return run_matrices(plan, code(first, job.m), code(second, job.n), run);
}

ConvSums golden_matmul(const MatmulJob& job, const Codes& first, const Codes& second) {
  check_size("first operand", first.size(), job.batch * job.m * job.k);
  check_size("second operand", second.size(), job.batch * job.n * job.k);
  const auto row_sums = [&](const Codes& codes) {
    std::vector<std::int64_t> sums(codes.size() / job.k);
    for (std::size_t i = 0; i < codes.size(); ++i) sums[i / job.k] += codes[i];
    return sums;
  };
  ConvSums out;
  out.sum_a = row_sums(first);
  out.sum_w = row_sums(second);
  out.value.resize(job.batch * job.m * job.n);
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    const std::uint64_t matrix = i / job.n / job.m;
    const std::int32_t* a = &first[i / job.n * job.k];
    const std::int32_t* w = &second[(matrix * job.n + i % job.n) * job.k];
    for (std::uint64_t k = 0; k < job.k; ++k) out.value[i] += std::int64_t{a[k]} * w[k];
  }
  return out;
}

}  // namespace bitcycle
