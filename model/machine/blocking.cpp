#include "model/machine/blocking.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

std::int64_t i64(std::uint64_t value) { return static_cast<std::int64_t>(value); }

const OperandMap& map_of(const GemmPart& part, bool first) {
  return first ? part.first : part.second;
}

const Index3& own_extent(const GemmPart& part, bool first) { return first ? part.rows : part.cols; }

// Elements of the reduction behind one step of its last digit, seen from a mode T operand.
std::int64_t lanes_of_k(const GemmProblem& problem, const OperandMap& map) {
  return map.transposed && problem.k_granules ? problem.config.gl : 1;
}

std::int64_t value_at(const Coordinate& c, const Index3& own, const Index3& k) {
  std::int64_t v = c.offset;
  for (std::size_t d = 0; d < 3; ++d) v += c.own[d] * own[d] + c.k[d] * k[d];
  return v;
}

struct Reach {
  bool any = false;
  std::int64_t low = 0, high = 0, step = 0;  // step 0: one position so far
};

void include(Reach& r, std::int64_t low, std::int64_t high, std::int64_t step) {
  if (!r.any) {
    r = {true, low, high, step};
    return;
  }
  r.step = std::gcd(std::gcd(r.step, step), low - r.low);
  r.low = std::min(r.low, low);
  r.high = std::max(r.high, high);
}

// Positions that a coordinate takes over the ranges. A digit that does not move it does not count,
// so that the answer is a product over digits.
void reach_of(Reach& reach, const Coordinate& c, const Range3& own, const Range3& k,
              std::int64_t lanes) {
  std::int64_t low = c.offset, high = c.offset, step = 0;
  const auto digit = [&](std::int64_t slope, std::int64_t start, std::int64_t n) {
    if (slope == 0) return true;
    if (n <= 0) return false;
    const std::int64_t a = slope * start;
    const std::int64_t b = slope * (start + n - 1);
    low += std::min(a, b);
    high += std::max(a, b);
    if (n > 1) step = std::gcd(step, slope);
    return true;
  };
  for (std::size_t d = 0; d < 3; ++d) {
    if (!digit(c.own[d], own.start[d], own.n[d])) return;
    if (!digit(c.k[d], k.start[d], k.n[d])) return;
  }
  if (lanes > 1) {
    high += lanes - 1;
    step = 1;
  }
  include(reach, low, high, step);
}

CoordinateSpan span_in(const Reach& r, std::int64_t extent) {
  CoordinateSpan s;
  if (!r.any) {
    s.empty = true;
    return s;
  }
  s.step = r.step == 0 ? 1 : r.step;
  const std::int64_t below = r.low < 0 ? (-r.low + s.step - 1) / s.step : 0;
  s.first = r.low + below * s.step;
  const std::int64_t last = std::min(r.high, extent - 1);
  if (s.first > last) {
    s.empty = true;
    s.first = 0;
    s.step = 1;
    return s;
  }
  s.count = (last - s.first) / s.step + 1;
  return s;
}

enum Axis { kImg, kY, kGranule, kX, kAxes };

const Coordinate& coordinate(const OperandMap& m, int axis) {
  switch (axis) {
    case kImg:
      return m.img;
    case kY:
      return m.y;
    case kGranule:
      return m.granule;
    default:
      return m.x;
  }
}

std::int64_t axis_extent(const TensorLayout& t, int axis) {
  switch (axis) {
    case kImg:
      return i64(t.imgs);
    case kY:
      return i64(t.ys);
    case kGranule:
      return i64(t.granules());
    default:
      return i64(t.xs);
  }
}

CoordinateSpan axis_span(const GemmProblem& problem, const std::vector<GemmPart>& parts, bool first,
                         int axis, const Range3& own, const Range3& k) {
  Reach reach;
  for (const GemmPart& p : parts) {
    const OperandMap& m = map_of(p, first);
    const Coordinate& c = coordinate(m, axis);
    reach_of(reach, c, clipped(own, own_extent(p, first)), clipped(k, p.ks),
             c.k[2] != 0 && axis == kX ? lanes_of_k(problem, m) : 1);
  }
  CoordinateSpan s = span_in(reach, axis_extent(first ? problem.first : problem.second, axis));
  if (axis == kX && s.step != 1) {  // lines are runs of x
    s.count = (s.count - 1) * s.step + 1;
    s.step = 1;
  }
  return s;
}

void set_beats(FetchBox& box, const TensorLayout& t) {
  const std::int64_t wpb = i64(t.words_per_beat());
  box.beat0 = box.x.first * t.bits / wpb;
  box.line_beats = ((box.x.first + box.x.count) * t.bits - 1) / wpb - box.beat0 + 1;
}

std::int32_t short_of(const char* what, std::int64_t value) {
  if (value < -32768 || value > 32767) {
    throw input_error("", 0, what, std::to_string(value), "a coordinate of 16 bits");
  }
  return static_cast<std::int32_t>(value);
}

std::uint32_t radix(const char* what, std::int64_t value) {
  if (value < 1 || value > 65535) {
    throw input_error("", 0, what, std::to_string(value), "1 to 65535");
  }
  return static_cast<std::uint32_t>(value);
}

}  // namespace

Range3 clipped(const Range3& range, const Index3& extent) {
  Range3 r = range;
  for (std::size_t d = 0; d < 3; ++d) r.n[d] = std::min(r.n[d], extent[d] - r.start[d]);
  return r;
}

Range3 BlockGrid::at(std::int64_t index) const {
  Range3 r;
  for (std::size_t d = 3; d-- > 0;) {
    r.start[d] = index % count(d) * block[d];
    index /= count(d);
    r.n[d] = std::min(block[d], extent[d] - r.start[d]);
  }
  return r;
}

CoordinateSpan coordinate_span(const GemmProblem& problem, const std::vector<GemmPart>& parts,
                               bool first, TensorAxis axis, const Range3& own, const Range3& k) {
  return axis_span(problem, parts, first, static_cast<int>(axis), own, k);
}

void set_line(FetchBox& box, const TensorLayout& tensor) { set_beats(box, tensor); }

FetchBox fetch_box(const GemmProblem& problem, const std::vector<GemmPart>& parts, bool first,
                   const Range3& own, const Range3& k) {
  FetchBox box;
  box.img = axis_span(problem, parts, first, kImg, own, k);
  box.y = axis_span(problem, parts, first, kY, own, k);
  box.granule = axis_span(problem, parts, first, kGranule, own, k);
  box.x = axis_span(problem, parts, first, kX, own, k);
  set_beats(box, first ? problem.first : problem.second);
  return box;
}

BoxTotals* BoxCache::find(const Key& key) {
  const auto it = totals_.find(key);
  return it == totals_.end() ? nullptr : &it->second;
}

namespace {

// Blocks at either end of a digit whose spans may be cut by a border of the tensor or the last
// block.
std::int64_t border_blocks(const std::vector<GemmPart>& parts, bool first, int axis,
                           std::size_t digit, const BlockGrid& own, const BlockGrid& ks) {
  std::int64_t reach = 0;  // of all that does not belong to the digit
  std::int64_t slope = 0;
  for (const GemmPart& p : parts) {
    const Coordinate& c = coordinate(map_of(p, first), axis);
    std::int64_t far = std::abs(c.offset);
    for (std::size_t d = 0; d < 3; ++d) {
      if (d != digit) far += std::abs(c.own[d]) * own.extent[d];
      if (d + 3 != digit) far += std::abs(c.k[d]) * ks.extent[d];
    }
    reach = std::max(reach, far);
    slope = std::abs(digit < 3 ? c.own[digit] : c.k[digit - 3]);
  }
  const std::int64_t block = digit < 3 ? own.block[digit] : ks.block[digit - 3];
  return reach / std::max<std::int64_t>(slope * block, 1) + 3;
}

// Sum and maximum of one coordinate's length over the blocks of the digits that move it.
BoxTotals axis_totals(const GemmProblem& problem, const std::vector<GemmPart>& parts, bool first,
                      int axis, const BlockGrid& own, const BlockGrid& ks,
                      const std::array<std::int64_t, 6>& counts) {
  const TensorLayout& tensor = first ? problem.first : problem.second;
  Range3 o{{0, 0, 0}, own.extent}, k{{0, 0, 0}, ks.extent};
  const auto set = [&](std::size_t d, std::int64_t block) {
    Range3& r = d < 3 ? o : k;
    const BlockGrid& g = d < 3 ? own : ks;
    const std::size_t digit = d % 3;
    r.start[digit] = counts[d] > 1 ? block * g.block[digit] : 0;
    r.n[digit] = std::min(g.block[digit], g.extent[digit] - r.start[digit]);
  };
  const auto length = [&] {
    const CoordinateSpan s = axis_span(problem, parts, first, axis, o, k);
    if (axis != kX) return s.count;
    FetchBox box;
    box.x = s;
    set_beats(box, tensor);
    return box.line_beats;
  };
  // The digit with most blocks is summed by its period: inside, only the place in a beat counts.
  const auto longest =
      static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  const std::int64_t n = counts[longest];
  const Coordinate& c = coordinate(map_of(parts.front(), first), axis);
  const std::int64_t slope = longest < 3 ? c.own[longest] : c.k[longest - 3];
  const std::int64_t block = longest < 3 ? own.block[longest] : ks.block[longest - 3];
  const std::int64_t wpb = i64(tensor.words_per_beat());
  const std::int64_t period =
      axis == kX ? wpb / std::gcd(wpb, std::abs(slope) * block * tensor.bits) : 1;
  const std::int64_t border = border_blocks(parts, first, axis, longest, own, ks);
  const std::int64_t periods = n > 2 * border ? (n - 2 * border) / period : 0;

  std::int64_t others = 1;
  for (std::size_t d = 0; d < 6; ++d) others *= d == longest ? 1 : counts[d];
  BoxTotals totals;
  const auto add = [&](std::int64_t at, std::int64_t times) {
    set(longest, at);
    const auto beats = static_cast<std::uint64_t>(length());
    totals.sum += beats * static_cast<std::uint64_t>(times);
    totals.most = std::max(totals.most, beats);
  };
  for (std::int64_t i = 0; i < others; ++i) {
    std::int64_t rest = i;
    for (std::size_t d = 0; d < 6; ++d) {
      if (d == longest) continue;
      set(d, rest % counts[d]);
      rest /= counts[d];
    }
    if (periods < 2) {
      for (std::int64_t at = 0; at < n; ++at) add(at, 1);
      continue;
    }
    for (std::int64_t at = 0; at < border; ++at) add(at, 1);
    for (std::int64_t at = 0; at < period; ++at) add(border + at, periods);
    for (std::int64_t at = border + periods * period; at < n; ++at) add(at, 1);
  }
  return totals;
}

}  // namespace

// Every digit moves one coordinate only, so sums over all blocks are products over coordinates.
BoxTotals box_totals(const GemmProblem& problem, const std::vector<GemmPart>& parts, bool first,
                     const Index3& own_block, const Index3& k_block, BoxCache* cache) {
  const BlockGrid own{first ? problem.rows() : problem.cols(), own_block};
  const BlockGrid ks{problem.ks(), k_block};
  BoxTotals totals{1, 1};
  std::array<bool, 6> used{};
  // Digits move the same coordinates in all parts.
  const OperandMap& map = map_of(parts.front(), first);
  for (int axis = 0; axis < kAxes; ++axis) {
    const Coordinate& c = coordinate(map, axis);
    std::array<std::int64_t, 6> counts{};
    BoxCache::Key key{};
    key[6] = axis * 2 + (first ? 1 : 0);
    for (std::size_t d = 0; d < 6; ++d) {
      const bool moves = (d < 3 ? c.own[d] : c.k[d - 3]) != 0;
      counts[d] = moves ? (d < 3 ? own.count(d) : ks.count(d - 3)) : 1;
      if (moves) key[d] = d < 3 ? own_block[d] : k_block[d - 3];
      used[d] = used[d] || moves;
    }
    const BoxTotals* known = cache == nullptr ? nullptr : cache->find(key);
    const BoxTotals axis_sum =
        known != nullptr ? *known : axis_totals(problem, parts, first, axis, own, ks, counts);
    if (cache != nullptr && known == nullptr) cache->add(key, axis_sum);
    totals.sum *= axis_sum.sum;
    totals.most *= axis_sum.most;
  }
  for (std::size_t d = 0; d < 6; ++d) {
    const std::int64_t blocks = d < 3 ? own.count(d) : ks.count(d - 3);
    if (!used[d]) totals.sum *= static_cast<std::uint64_t>(blocks);
  }
  return totals;
}

LineWalk box_lines(const TensorLayout& t, const FetchBox& box, std::uint32_t buffer_beat,
                   bool lines_of_granules) {
  const std::int64_t lb = i64(t.line_beats());
  const std::int64_t per_granule = i64(t.plane_beats());
  const std::int64_t per_img = i64(t.granules()) * per_granule;
  LineWalk l;
  l.dram = t.base +
           static_cast<std::uint64_t>((box.img.first * per_img + box.granule.first * per_granule +
                                       box.y.first * lb + box.beat0) *
                                      (t.dw / 8));
  // Loops from the innermost out; a loop whose lines touch the run so far makes the run longer.
  struct Loop {
    std::int64_t n, stride;
    bool in_plane;
  };
  const Loop y{box.y.count, lb * box.y.step, true};
  const Loop granule{box.granule.count, per_granule * box.granule.step, false};
  const Loop img{box.img.count, per_img * box.img.step, false};
  std::int64_t run = box.line_beats;
  std::vector<Loop> loops;
  for (const Loop& loop : {lines_of_granules ? granule : y, lines_of_granules ? y : granule, img}) {
    if (loop.n == 1) continue;
    // Short planes are joined for longer bursts; long ones stay apart, for then all are alike.
    const bool joins = loop.stride == run && (loop.in_plane || run < kShortPlane);
    if (loops.empty() && joins) {
      run *= loop.n;
    } else if (!loops.empty() && loops.back().n * loops.back().stride == loop.stride &&
               loops.back().n * loop.n <= 65535) {
      loops.back().n *= loop.n;
    } else {
      loops.push_back(loop);
    }
  }
  loops.resize(3, Loop{1, 0, false});
  const auto stride = [](std::int64_t beats) {
    if (beats != static_cast<std::int32_t>(beats)) {
      throw input_error("", 0, "stride of a tensor", std::to_string(beats) + " beats",
                        "below 2^31");
    }
    return static_cast<std::int32_t>(beats);
  };
  l.line_beats = static_cast<std::uint32_t>(run);
  l.n0 = radix("lines", loops[0].n);
  l.n1 = radix("lines", loops[1].n);
  l.n2 = radix("lines", loops[2].n);
  l.stride0 = stride(loops[0].stride);
  l.stride1 = stride(loops[1].stride);
  l.stride2 = stride(loops[2].stride);
  l.buffer = buffer_beat;
  return l;
}

OperandGather gather_of(const GemmProblem& problem, const GemmPart& part, bool first,
                        const FetchBox& box, std::uint32_t buffer_beat, const Range3& own,
                        const Range3& k) {
  const OperandMap& map = map_of(part, first);
  const TensorLayout& t = first ? problem.first : problem.second;
  const std::int64_t wpb = i64(t.words_per_beat());
  const std::int64_t line = box.line(t);
  const std::int64_t per_granule = box.y.count * line;
  const std::int64_t per_img = box.granule.count * per_granule;
  // Words for one step of a digit; a digit that does not move has none.
  const auto words = [&](const Index3 Coordinate::*space, std::size_t d, std::int64_t n) {
    if (n <= 1) return std::int64_t{0};
    return (map.img.*space)[d] / box.img.step * per_img + (map.y.*space)[d] / box.y.step * line +
           (map.granule.*space)[d] * per_granule + (map.x.*space)[d] * t.bits;
  };
  const auto at = [&](const Coordinate& c) { return value_at(c, own.start, k.start); };
  const Range3& outer = map.transposed ? k : own;
  const Range3& tap = map.transposed ? own : k;
  const Index3 Coordinate::*outer_space = map.transposed ? &Coordinate::k : &Coordinate::own;
  const Index3 Coordinate::*tap_space = map.transposed ? &Coordinate::own : &Coordinate::k;
  const std::int64_t lanes = lanes_of_k(problem, map);

  OperandGather g;
  g.transposed = map.transposed;
  g.r0 = radix("R0 (innermost block size)", outer.n[2] * lanes);
  g.r1 = radix("R1 (middle block size)", outer.n[1]);
  // With lanes a step of the position is one element of the granule.
  g.a0 = lanes > 1 ? t.bits : words(outer_space, 2, outer.n[2]);
  g.a1 = words(outer_space, 1, outer.n[1]);
  g.a2 = words(outer_space, 0, outer.n[0]);
  g.kb0 = radix("KB0 (taps of a block)", tap.n[1]);
  g.cg = radix("CG (granules of a block)", tap.n[2]);
  g.b1 = words(tap_space, 0, tap.n[0]);
  g.b0 = words(tap_space, 1, tap.n[1]);
  g.sc = words(tap_space, 2, tap.n[2]);
  const std::int64_t base =
      std::int64_t{buffer_beat} * wpb + (at(map.img) - box.img.first) / box.img.step * per_img +
      (at(map.y) - box.y.first) / box.y.step * line +
      (at(map.granule) - box.granule.first) * per_granule + at(map.x) * t.bits - box.beat0 * wpb;
  g.base = static_cast<std::uint32_t>(static_cast<std::uint64_t>(base) & 0xFFFFFFU);
  if (map.check_y) {
    const std::int64_t s = box.y.step;
    g.h = box.y.empty ? 0 : radix("H (rows in a buffer)", box.y.count);
    g.y0 = box.y.empty ? 0 : short_of("y", (at(map.y) - box.y.first) / s);
    g.sy = outer.n[1] > 1 ? short_of("sy", (map.y.*outer_space)[1] / s) : 0;
    g.dy = tap.n[0] > 1 ? short_of("dy", (map.y.*tap_space)[0] / s) : 0;
    short_of("y", g.y0 + g.sy * (outer.n[1] - 1));
    short_of("y", g.y0 + g.sy * (outer.n[1] - 1) + g.dy * (tap.n[0] - 1));
  }
  if (map.check_x) {
    g.w = box.x.empty ? 0 : radix("W (columns in a buffer)", box.x.count);
    g.x0 = short_of("x", at(map.x) - box.x.first);
    g.sx = lanes > 1 ? 1 : outer.n[2] > 1 ? short_of("sx", (map.x.*outer_space)[2]) : 0;
    g.dx = tap.n[1] > 1 ? short_of("dx", (map.x.*tap_space)[1]) : 0;
    short_of("x", g.x0 + g.sx * (outer.n[2] * lanes - 1));
    short_of("x", g.x0 + g.sx * (outer.n[2] * lanes - 1) + g.dx * (tap.n[1] - 1));
  }
  if (map.transposed) {
    g.lo = map.lo;
    g.br = map.br;
  } else {
    g.lo = k.start[2] == 0 ? map.lo : 0;
    g.hi =
        k.start[2] + k.n[2] >= part.ks[2] ? map.hi : static_cast<std::uint32_t>(problem.config.gl);
  }
  return g;
}

}  // namespace bitcycle
