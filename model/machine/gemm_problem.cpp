#include "model/machine/gemm_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "golden/widths.hpp"

namespace bitcycle {
namespace {

std::int64_t i64(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// Channels `per` of group `group` of a tensor in granules and lanes.
struct Span {
  std::int64_t first = 0;  // granule
  std::int64_t granules = 1;
  std::uint32_t lo = 0, hi = 0;  // lanes of the first and of the last granule
};

Span span_of(const TensorLayout& layout, std::uint64_t first, std::uint64_t count) {
  const auto gl = static_cast<std::uint64_t>(layout.gl);
  const std::uint64_t begin = layout.position(first);
  const std::uint64_t last = layout.position(first + count - 1);
  Span s;
  s.first = i64(begin / gl);
  s.granules = i64(last / gl) - s.first + 1;
  s.lo = static_cast<std::uint32_t>(begin % gl);
  s.hi = static_cast<std::uint32_t>(last % gl) + 1;
  return s;
}

// Mode N: the reduction runs over the span's lanes.
void reduce_over(OperandMap& map, const Span& s) {
  map.granule.offset = s.first;
  map.granule.k[2] = 1;
  map.lo = s.lo;
  map.hi = s.hi;
}

// Mode T: the rows are the span's lanes. `whole`: every granule counts with all its lanes.
void rows_over(OperandMap& map, const Span& s, int gl, bool whole) {
  map.transposed = true;
  map.granule.offset = s.first;
  map.granule.own[2] = 1;
  if (s.granules == 1 && !whole) {
    map.lo = s.lo;
    map.br = s.hi - s.lo;
    map.own_lanes = map.br;
  } else {
    map.lo = 0;
    map.br = static_cast<std::uint32_t>(gl);
    map.own_lanes =
        static_cast<std::uint64_t>(s.granules - 1) * static_cast<std::uint64_t>(gl) + s.hi;
  }
}

// Groups are packed where they share or fill granules evenly, else each starts a granule.
std::uint64_t alignment(std::uint64_t per, std::uint64_t groups, std::uint64_t gl) {
  return groups == 1 || per % gl == 0 || gl % per == 0 ? 0 : per;
}

std::uint64_t granule_share(std::uint64_t per, std::uint64_t gl) {
  return per < gl && gl % per == 0 ? gl / per : 1;
}

// Taps q of a kernel with (phase + pad - dilation*q) divisible by the stride: q0 + j*step.
struct PhaseTaps {
  std::int64_t q0 = 0, step = 1, count = 0;
  std::int64_t start = 0, move = 0;  // output row of tap j = row + start + j*move
};

PhaseTaps phase_taps(std::uint64_t phase, std::uint64_t pad, std::uint64_t kernel,
                     std::uint64_t stride, std::uint64_t dilation) {
  PhaseTaps t;
  const std::int64_t s = i64(stride);
  t.step = s / std::gcd(i64(dilation), s);
  const std::int64_t from = i64(phase + pad);
  for (std::int64_t q = 0; q < i64(kernel); ++q) {
    if ((from - i64(dilation) * q) % s != 0) continue;
    if (t.count++ == 0) {
      t.q0 = q;
      t.start = (from - i64(dilation) * q) / s;
    }
  }
  t.move = -i64(dilation) * t.step / s;
  return t;
}

// Products of real elements along one axis: pairs (output, tap) whose input is not padding.
std::uint64_t real_pairs(std::uint64_t in, std::uint64_t out, std::uint64_t kernel,
                         std::uint64_t stride, std::uint64_t pad, std::uint64_t dilation) {
  std::uint64_t pairs = 0;
  for (std::uint64_t q = 0; q < kernel; ++q) {
    for (std::uint64_t o = 0; o < out; ++o) {
      const std::int64_t at = i64(o * stride + q * dilation) - i64(pad);
      if (at >= 0 && at < i64(in)) ++pairs;
    }
  }
  return pairs;
}

}  // namespace

std::uint64_t own_count(const OperandMap& map, const Index3& start, const Index3& n) {
  const auto taps = static_cast<std::uint64_t>(n[0] * n[1]);
  const auto last = static_cast<std::uint64_t>(n[2]);
  if (!map.transposed) return taps * last;
  if (taps != 1) return taps * last * map.br;
  const std::uint64_t before = static_cast<std::uint64_t>(start[2]) * map.br;
  return std::min(last * map.br, map.own_lanes - std::min(map.own_lanes, before));
}

GemmProblem::GemmProblem(const MachineConfig& machine, const ConvJob& job)
    : config(machine), pa(job.first), pw(job.second), out(job.out), conv_(job) {
  config.validate();
  const ConvShape& s = job.shape;
  s.validate();
  check_precision(pa, "bits of the first operand");
  check_precision(pw, "bits of the second operand");
  const auto gl = static_cast<std::uint64_t>(config.gl);
  const std::uint64_t x_aligned = alignment(s.cg(), s.groups, gl);
  const std::uint64_t y_aligned = alignment(s.og(), s.groups, gl);
  const bool forward = job.pass == ConvPass::kForward;
  const bool dw = job.pass == ConvPass::kDw;
  const auto image = [&](int bits, bool input, std::uint64_t aligned) {
    return input ? tensor_layout(config, s.batch, s.hi, s.wi, s.cin, bits, aligned)
                 : tensor_layout(config, s.batch, s.ho(), s.wo(), s.cout, bits, aligned);
  };
  const auto weights = [&](int bits, std::uint64_t aligned) {
    return tensor_layout(config, s.kh, s.kw, s.og(), s.cin, bits, aligned);
  };
  first = image(pa.bits, forward, forward ? x_aligned : y_aligned);
  second = dw ? image(pw.bits, true, x_aligned) : weights(pw.bits, x_aligned);
  if (job.dx_as_gemm && (job.pass != ConvPass::kDx || out.form == OutputForm::kCodes)) {
    throw input_error("", 0, "dx_as_gemm", "another pass or codes", "dX with raw results");
  }
  if (out.transposed) throw input_error("", 0, "transposed output", "a convolution", "a matmul");
  if (job.phase_y >= 0 || job.phase_x >= 0) {
    const auto within = [](int phase, std::uint64_t stride, std::uint64_t size) {
      return phase >= 0 && static_cast<std::uint64_t>(phase) < std::min(stride, size);
    };
    if (job.pass != ConvPass::kDx || job.dx_as_gemm || out.form == OutputForm::kCodes ||
        !within(job.phase_y, s.stride_h, s.hi) || !within(job.phase_x, s.stride_w, s.wi)) {
      throw input_error("", 0, "phase", fmt::format("{}, {}", job.phase_y, job.phase_x),
                        "a phase of dX with raw results, below stride and size");
    }
  }
  if (out.form == OutputForm::kCodes) {
    out.q.validate();
    out.sums = false;
    // Codes start at lane 0: with groups, each starts a granule.
    const std::uint64_t per = forward ? s.og() : s.cg();
    const std::uint64_t aligned = s.groups > 1 && per % gl != 0 ? per : 0;
    result = dw ? weights(out.q.out_bits, aligned) : image(out.q.out_bits, !forward, aligned);
  }
  k_granules = !dw;
  units = ceil_div(s.groups, groups_per_unit());
  const std::uint64_t pixels = s.batch * s.ho() * s.wo();
  rows_total = forward || job.dx_as_gemm ? pixels : dw ? s.cout : s.batch * s.hi * s.wi;
  cols_total = forward ? s.cout : dw || job.dx_as_gemm ? s.kh * s.kw * s.cg() : s.cin;
  useful_macs = checked_mul(
      checked_mul(s.batch * s.cout, s.cg(), "MACs"),
      job.dx_as_gemm
          ? s.ho() * s.wo() * s.kh * s.kw
          : checked_mul(real_pairs(s.hi, s.ho(), s.kh, s.stride_h, s.pad_top, s.dilation_h),
                        real_pairs(s.wi, s.wo(), s.kw, s.stride_w, s.pad_left, s.dilation_w),
                        "MACs"),
      "MACs");
  name = fmt::format("conv {}{} {}x{}x{}x{} -> {} k{}x{} s{}x{} p{},{},{},{} d{}x{} g{}",
                     to_string(job.pass), job.dx_as_gemm ? " (gemm)" : "", s.batch, s.hi, s.wi,
                     s.cin, s.cout, s.kh, s.kw, s.stride_h, s.stride_w, s.pad_top, s.pad_bottom,
                     s.pad_left, s.pad_right, s.dilation_h, s.dilation_w, s.groups);
  finish();
}

GemmProblem::GemmProblem(const MachineConfig& machine, const MatmulJob& job)
    : config(machine), pa(job.first), pw(job.second), out(job.out), is_conv_(false), matmul_(job) {
  config.validate();
  check_precision(pa, "bits of the first operand");
  check_precision(pw, "bits of the second operand");
  for (const std::uint64_t size : {job.batch, job.m, job.n, job.k}) {
    if (size == 0 || size > 0xFFFF'FFFF) {
      throw input_error("", 0, "size of a matmul", std::to_string(size), "1 to 4294967295");
    }
  }
  const auto matrix = [&](bool columns, std::uint64_t rows, std::uint64_t along, int bits) {
    return columns ? tensor_layout(config, job.batch, 1, along, rows, bits)
                   : tensor_layout(config, job.batch, 1, rows, along, bits);
  };
  first = matrix(job.a_columns, job.m, job.k, pa.bits);
  second = matrix(job.w_columns, job.n, job.k, pw.bits);
  if (out.form == OutputForm::kCodes) {
    out.q.validate();
    out.sums = false;
    result = matrix(out.transposed, job.m, job.n, out.q.out_bits);
  }
  k_granules = !(job.a_columns && job.w_columns);
  units = job.batch;
  rows_total = job.m;
  cols_total = job.n;
  useful_macs =
      checked_mul(checked_mul(job.batch, job.m, "MACs"), checked_mul(job.n, job.k, "MACs"), "MACs");
  name = fmt::format("matmul {} x ({}, {}, {}){}{}", job.batch, job.m, job.n, job.k,
                     job.a_columns ? " A by columns" : "", job.w_columns ? " W by columns" : "");
  finish();
}

std::uint64_t GemmProblem::groups_per_unit() const {
  const ConvShape& s = conv_.shape;
  const auto gl = static_cast<std::uint64_t>(config.gl);
  if (s.groups == 1) return 1;
  return std::min(s.groups, std::max(granule_share(s.cg(), gl), granule_share(s.og(), gl)));
}

std::vector<GemmPart> GemmProblem::parts(std::uint64_t unit) const {
  std::vector<GemmPart> list;
  if (!is_conv_) {
    list.push_back(matmul_part(unit));
    return list;
  }
  const ConvShape& s = conv_.shape;
  const std::uint64_t per = groups_per_unit();
  for (std::uint64_t g = unit * per; g < std::min(s.groups, (unit + 1) * per); ++g) {
    if (conv_.pass == ConvPass::kForward) {
      list.push_back(forward_part(g));
    } else if (conv_.pass == ConvPass::kDw) {
      list.push_back(dw_part(g));
    } else if (conv_.dx_as_gemm) {
      list.push_back(dx_gemm_part(g));
    } else {
      for (std::uint64_t py = 0; py < std::min(s.stride_h, s.hi); ++py) {
        for (std::uint64_t px = 0; px < std::min(s.stride_w, s.wi); ++px) {
          const bool wanted =
              conv_.phase_y < 0 || (py == static_cast<std::uint64_t>(conv_.phase_y) &&
                                    px == static_cast<std::uint64_t>(conv_.phase_x));
          if (wanted) list.push_back(dx_part(g, py, px));
        }
      }
    }
  }
  return list;
}

void GemmProblem::finish() {
  first_unit_ = parts(0);
  last_unit_ = parts(units - 1);
  const std::vector<GemmPart>& list = first_unit_;
  const auto grow = [](Index3& to, const Index3& from) {
    for (std::size_t d = 0; d < 3; ++d) to[d] = std::max(to[d], from[d]);
  };
  for (const GemmPart& p : list) {
    grow(rows_, p.rows);
    grow(cols_, p.cols);
    if (p.ks[0] != 0 && p.ks[1] != 0) grow(ks_, p.ks);
  }
  parts_per_unit = list.size();
  if (list.size() == 1) return;
  // Parts share what is fetched: they may be split only where all have the same digit.
  const bool groups = is_conv_ && groups_per_unit() > 1;
  const bool dw = conv_.pass == ConvPass::kDw;
  if (groups) {
    split_cols[2] = false;
    if (dw) split_rows[2] = false;
    if (!dw) split_ks[2] = false;
  }
}

GemmPart GemmProblem::forward_part(std::uint64_t group) const {
  const ConvShape& s = conv_.shape;
  const Span x = span_of(first, group * s.cg(), s.cg());
  GemmPart p;
  p.group = group;
  p.rows = {i64(s.batch), i64(s.ho()), i64(s.wo())};
  p.cols = {1, 1, i64(s.og())};
  p.ks = {i64(s.kh), i64(s.kw), x.granules};
  p.first.img.own[0] = 1;
  p.first.y = {-i64(s.pad_top), {0, i64(s.stride_h), 0}, {i64(s.dilation_h), 0, 0}};
  p.first.x = {-i64(s.pad_left), {0, 0, i64(s.stride_w)}, {0, i64(s.dilation_w), 0}};
  p.first.check_y = p.first.check_x = true;
  reduce_over(p.first, x);
  p.second.img.k[0] = 1;
  p.second.y.k[1] = 1;
  p.second.x.own[2] = 1;
  reduce_over(p.second, x);
  p.out.img.own[0] = p.out.y.own[1] = p.out.x.own[2] = 1;
  if (out.form == OutputForm::kCodes) {
    p.out.granule = span_of(result, group * s.og(), s.og()).first;
  }
  p.element = static_cast<std::uint32_t>(group * s.og());
  p.element_row = static_cast<std::uint32_t>(s.cout);
  return p;
}

GemmPart GemmProblem::dx_part(std::uint64_t group, std::uint64_t py, std::uint64_t px) const {
  const ConvShape& s = conv_.shape;
  const Span g = span_of(first, group * s.og(), s.og());
  const Span c = span_of(second, group * s.cg(), s.cg());
  const PhaseTaps ty = phase_taps(py, s.pad_top, s.kh, s.stride_h, s.dilation_h);
  const PhaseTaps tx = phase_taps(px, s.pad_left, s.kw, s.stride_w, s.dilation_w);
  GemmPart p;
  p.group = group;
  p.phase_y = py;
  p.phase_x = px;
  p.rows = {i64(s.batch), i64(ceil_div(s.hi - py, s.stride_h)),
            i64(ceil_div(s.wi - px, s.stride_w))};
  p.cols = {1, 1, c.granules};
  p.ks = {ty.count, tx.count, ty.count * tx.count == 0 ? 0 : g.granules};
  p.first.img.own[0] = 1;
  p.first.y = {ty.start, {0, 1, 0}, {ty.move, 0, 0}};
  p.first.x = {tx.start, {0, 0, 1}, {0, tx.move, 0}};
  p.first.check_y = p.first.check_x = true;
  reduce_over(p.first, g);
  // The weights' outer position is (tap, tap, n): n beyond the group reads zero.
  p.second.img = {ty.q0, {0, 0, 0}, {ty.step, 0, 0}};
  p.second.y = {tx.q0, {0, 0, 0}, {0, tx.step, 0}};
  p.second.x = {-std::int64_t{g.lo}, {0, 0, 0}, {0, 0, config.gl}};
  p.second.check_x = true;
  rows_over(p.second, c, config.gl, false);
  p.out.img.own[0] = 1;
  p.out.y = {i64(py), {0, i64(s.stride_h), 0}, {0, 0, 0}};
  p.out.x = {i64(px), {0, 0, i64(s.stride_w)}, {0, 0, 0}};
  if (out.form == OutputForm::kCodes) {
    p.out.granule = span_of(result, group * s.cg(), s.cg()).first;
  }
  // Elements of the phases before, then row-major inside the phase.
  std::uint64_t before = 0;
  for (std::uint64_t y = 0; y < s.stride_h && y < s.hi; ++y) {
    for (std::uint64_t x = 0; x < s.stride_w && x < s.wi; ++x) {
      if (y < py || (y == py && x < px)) {
        before += ceil_div(s.hi - y, s.stride_h) * ceil_div(s.wi - x, s.stride_w);
      }
    }
  }
  p.element = static_cast<std::uint32_t>(before * s.batch * s.cin + group * s.cg());
  p.element_row = static_cast<std::uint32_t>(s.cin);
  return p;
}

GemmPart GemmProblem::dx_gemm_part(std::uint64_t group) const {
  const ConvShape& s = conv_.shape;
  const Span g = span_of(first, group * s.og(), s.og());
  const Span c = span_of(second, group * s.cg(), s.cg());
  GemmPart p;
  p.group = group;
  p.rows = {i64(s.batch), i64(s.ho()), i64(s.wo())};
  p.cols = {i64(s.kh), i64(s.kw), c.granules};
  p.ks = {1, 1, g.granules};
  p.first.img.own[0] = p.first.y.own[1] = p.first.x.own[2] = 1;
  reduce_over(p.first, g);
  p.second.img.own[0] = p.second.y.own[1] = 1;
  p.second.x = {-std::int64_t{g.lo}, {0, 0, 0}, {0, 0, config.gl}};
  p.second.check_x = true;
  rows_over(p.second, c, config.gl, false);
  return p;
}

GemmPart GemmProblem::dw_part(std::uint64_t group) const {
  const ConvShape& s = conv_.shape;
  const Span g = span_of(first, group * s.og(), s.og());
  const Span c = span_of(second, group * s.cg(), s.cg());
  const bool codes = out.form == OutputForm::kCodes;
  GemmPart p;
  p.group = group;
  p.rows = {1, 1, g.granules};
  p.cols = {i64(s.kh), i64(s.kw), c.granules};
  p.ks = {i64(s.batch), i64(s.ho()), i64(s.wo())};
  p.first.img.k[0] = p.first.y.k[1] = p.first.x.k[2] = 1;
  rows_over(p.first, g, config.gl, false);
  p.second.img.k[0] = 1;
  p.second.y = {-i64(s.pad_top), {i64(s.dilation_h), 0, 0}, {0, i64(s.stride_h), 0}};
  p.second.x = {-i64(s.pad_left), {0, i64(s.dilation_w), 0}, {0, 0, i64(s.stride_w)}};
  p.second.check_y = p.second.check_x = true;
  // Codes of several taps: each tap's lanes start a granule of the weights' layout.
  rows_over(p.second, c, config.gl, codes && s.kh * s.kw > 1);
  p.out.lane_taps = true;
  if (codes) p.out.granule = span_of(result, group * s.cg(), s.cg()).first;
  if (codes && c.lo != 0 && s.kh * s.kw > 1) {
    throw input_error("", 0, "codes of dW", "groups that share granules", "raw results");
  }
  p.element = static_cast<std::uint32_t>(group * s.og() * s.kh * s.kw * s.cg());
  p.element_row = static_cast<std::uint32_t>(s.kh * s.kw * static_cast<std::uint64_t>(c.granules) *
                                             static_cast<std::uint64_t>(config.gl));
  return p;
}

GemmPart GemmProblem::matmul_part(std::uint64_t head) const {
  const MatmulJob& j = matmul_;
  const auto gl = static_cast<std::uint64_t>(config.gl);
  GemmPart p;
  p.group = head;
  const auto side = [&](OperandMap& map, const TensorLayout& t, bool columns, std::uint64_t rows,
                        Index3& own) {
    map.img.offset = i64(head);
    if (columns) {
      const Span s = span_of(t, 0, rows);
      rows_over(map, s, config.gl, false);
      own = {1, 1, s.granules};
      map.x.k[2] = k_granules ? config.gl : 1;
      map.check_x = k_granules;
    } else {
      reduce_over(map, span_of(t, 0, j.k));
      map.x.own[2] = 1;
      own = {1, 1, i64(rows)};
    }
  };
  side(p.first, first, j.a_columns, j.m, p.rows);
  side(p.second, second, j.w_columns, j.n, p.cols);
  p.ks = {1, 1, i64(k_granules ? ceil_div(j.k, gl) : j.k)};
  p.out.img.offset = i64(head);
  p.out.x.own[2] = 1;
  p.out.lanes_of_first = out.transposed;
  p.element = static_cast<std::uint32_t>(head * j.m * j.n);
  p.element_row = static_cast<std::uint32_t>(j.n);
  return p;
}

}  // namespace bitcycle
