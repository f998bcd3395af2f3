#include "model/machine/output_block.hpp"

#include <algorithm>

#include "golden/checked.hpp"
#include "golden/error.hpp"

namespace bitcycle {
namespace {

std::int64_t i64(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// Grows `span` (step 1) to cover low..high.
void cover(CoordinateSpan& span, bool any, std::int64_t low, std::int64_t high) {
  if (!any) {
    span.first = low;
    span.count = high - low + 1;
    return;
  }
  const std::int64_t first = std::min(span.first, low);
  span.count = std::max(span.first + span.count, high + 1) - first;
  span.first = first;
}

struct Sides {
  const OperandMap& place;  // along which positions go
  const OperandMap& lane;
  Range3 place_range, lane_range;
};

Sides sides_of(const GemmPart& part, const Range3& rows, const Range3& cols) {
  const Range3 r = clipped(rows, part.rows);
  const Range3 c = clipped(cols, part.cols);
  if (part.out.lanes_of_first) return {part.second, part.first, c, r};
  return {part.first, part.second, r, c};
}

}  // namespace

int raw_bits(OutputForm form) { return form == OutputForm::kRaw48 ? 48 : 32; }

FetchBox output_box(const GemmProblem& problem, const std::vector<GemmPart>& parts,
                    const Range3& rows, const Range3& cols) {
  FetchBox box;
  bool any = false;
  const TensorLayout& t = problem.result;
  for (const GemmPart& part : parts) {
    const Sides s = sides_of(part, rows, cols);
    if (is_empty(s.place_range) || is_empty(s.lane_range)) continue;
    const auto ends = [&](const Coordinate& c) {
      std::int64_t low = c.offset, high = c.offset;
      for (std::size_t d = 0; d < 3; ++d) {
        low += c.own[d] * s.place_range.start[d];
        high += c.own[d] * (s.place_range.start[d] + s.place_range.n[d] - 1);
      }
      return std::pair(low, high);
    };
    auto [img_low, img_high] = ends(part.out.img);
    auto [y_low, y_high] = ends(part.out.y);
    auto [x_low, x_high] = ends(part.out.x);
    if (s.place.transposed) {  // positions are the operand's rows themselves
      x_low = s.place_range.start[2] * s.place.br;
      x_high = x_low + i64(own_count(s.place, s.place_range.start, s.place_range.n)) - 1;
    }
    std::int64_t g_low = part.out.granule;
    std::int64_t granules = 0;
    if (s.lane.transposed) {
      g_low += s.lane_range.start[2];
      granules = s.lane_range.n[2];
    } else {
      g_low += s.lane_range.start[2] / problem.config.gl;
      granules = (s.lane_range.n[2] + problem.config.gl - 1) / problem.config.gl;
    }
    if (part.out.lane_taps) {
      img_low += s.lane_range.start[0];
      img_high += s.lane_range.start[0] + s.lane_range.n[0] - 1;
      y_low += s.lane_range.start[1];
      y_high += s.lane_range.start[1] + s.lane_range.n[1] - 1;
    }
    cover(box.img, any, img_low, img_high);
    cover(box.y, any, y_low, y_high);
    cover(box.x, any, x_low, x_high);
    cover(box.granule, any, g_low, g_low + granules - 1);
    any = true;
  }
  const std::int64_t wpb = i64(t.words_per_beat());
  const std::int64_t end = box.x.first + box.x.count;
  box.beat0 = box.x.first * t.bits / wpb;
  box.line_beats = (end * t.bits - 1) / wpb - box.beat0 + 1;
  return box;
}

std::vector<OutputGroup> output_groups(const GemmProblem& problem,
                                       const std::vector<GemmPart>& parts, const Range3& rows,
                                       const Range3& cols, bool sums, bool alone) {
  if (problem.out.form == OutputForm::kCodes) {
    return {{0, parts.size(), output_box(problem, parts, rows, cols).beats()}};
  }
  const auto beats_of = [&](std::uint64_t results) {
    return ceil_div(results * static_cast<std::uint64_t>(raw_bits(problem.out.form)),
                    static_cast<std::uint64_t>(problem.config.dw));
  };
  const auto depth = static_cast<std::uint64_t>(problem.config.ob_d);
  std::vector<OutputGroup> groups;
  std::uint64_t results = 0, all = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Range3 r = clipped(rows, parts[i].rows);
    const Range3 c = clipped(cols, parts[i].cols);
    if (is_empty(r) || is_empty(c)) continue;
    const std::uint64_t m = own_count(parts[i].first, r.start, r.n);
    const std::uint64_t n = own_count(parts[i].second, c.start, c.n);
    const std::uint64_t more = m * n + (sums && problem.out.sums ? m + n : 0);
    all += more;
    if (groups.empty() || beats_of(results + more) > depth / 2) {
      groups.push_back({i, 0, 0});
      results = 0;
    }
    results += more;
    groups.back().count = i + 1 - groups.back().first;
    groups.back().beats = beats_of(results);
  }
  if (alone && groups.size() > 1 && beats_of(all) <= depth) {
    const std::size_t first = groups.front().first;
    return {{first, parts.size() - first, beats_of(all)}};
  }
  return groups;
}

void place_codes(const GemmProblem& problem, const GemmPart& part, const FetchBox& box,
                 std::uint32_t buffer_beat, const Range3& rows, const Range3& cols, bool exchange,
                 ExecOutput& out) {
  const TensorLayout& t = problem.result;
  const Sides s = sides_of(part, rows, cols);
  const std::int64_t wpb = i64(t.words_per_beat());
  const std::int64_t line = box.line(t);
  // Where the lanes' taps are img and y, granules come before y, so that OC is one step.
  const bool taps = part.out.lane_taps;
  const std::int64_t per_y = taps ? box.granule.count * line : line;
  const std::int64_t per_granule = taps ? line : box.y.count * line;
  const std::int64_t per_img = box.granule.count * box.y.count * line;
  const auto start = [&](const Coordinate& c) {
    std::int64_t v = c.offset;
    for (std::size_t d = 0; d < 3; ++d) v += c.own[d] * s.place_range.start[d];
    return v;
  };
  std::int64_t img = start(part.out.img);
  std::int64_t y = start(part.out.y);
  std::int64_t x = start(part.out.x);
  if (s.place.transposed) {
    x = s.place_range.start[2] * s.place.br;
    out.or0 = out.or1 = 32768;
    out.o0 = t.bits;
    out.o1 = out.o0 * out.or0;
    out.o2 = 0;
  } else {
    const auto words = [&](std::size_t d) {
      if (s.place_range.n[d] <= 1) return std::int64_t{0};
      return part.out.img.own[d] * per_img + part.out.y.own[d] * per_y + part.out.x.own[d] * t.bits;
    };
    out.or0 = static_cast<std::uint32_t>(s.place_range.n[2]);
    out.or1 = static_cast<std::uint32_t>(s.place_range.n[1]);
    out.o0 = words(2);
    out.o1 = words(1);
    out.o2 = words(0);
  }
  std::int64_t granule = part.out.granule;
  granule += s.lane.transposed ? s.lane_range.start[2] : s.lane_range.start[2] / problem.config.gl;
  if (part.out.lane_taps) {
    img += s.lane_range.start[0];
    y += s.lane_range.start[1];
  }
  const std::int64_t base = std::int64_t{buffer_beat} * wpb + (img - box.img.first) * per_img +
                            (y - box.y.first) * per_y +
                            (granule - box.granule.first) * per_granule + x * t.bits -
                            box.beat0 * wpb;
  out.ob_base = static_cast<std::uint32_t>(base);
  out.oc = per_granule;
  out.column = part.out.lanes_of_first != exchange;
}

}  // namespace bitcycle
