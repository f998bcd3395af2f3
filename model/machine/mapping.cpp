#include "model/machine/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "model/machine/output_block.hpp"

namespace bitcycle {
namespace {

std::uint64_t u64(std::int64_t value) { return static_cast<std::uint64_t>(value); }

std::int64_t round_up(std::int64_t value, std::int64_t unit, std::int64_t most) {
  return std::min((value + unit - 1) / unit * unit, most);
}

std::int64_t halved(std::int64_t value, std::int64_t unit, std::int64_t extent) {
  const std::int64_t half = round_up((value + 1) / 2, unit, extent);
  return half < value ? half : value;
}

// Halves the first digit (in `order`) that can still shrink.
bool shrink(Index3& size, const Index3& extent, const std::array<bool, 3>& may, std::int64_t unit,
            const std::array<std::size_t, 3>& order) {
  for (const std::size_t d : order) {
    if (!may[d]) continue;
    const std::int64_t next = halved(size[d], d == 2 ? unit : 1, extent[d]);
    if (next < size[d]) {
      size[d] = next;
      return true;
    }
  }
  return false;
}

constexpr std::array<std::size_t, 3> kOuterFirst = {0, 1, 2};
constexpr std::array<std::size_t, 3> kInnerFirst = {2, 0, 1};

void push_unique(std::vector<Index3>& list, const Index3& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

}  // namespace

OutputUnits output_units(const GemmProblem& p) {
  OutputUnits u;
  if (p.out.form != OutputForm::kCodes) return u;
  const GemmPart& part = p.first_unit().front();
  const bool lanes_first = part.out.lanes_of_first;
  const OperandMap& place = lanes_first ? part.second : part.first;
  const OperandMap& lane = lanes_first ? part.first : part.second;
  const auto wpb = static_cast<std::int64_t>(p.result.words_per_beat());
  const std::int64_t step = (place.transposed ? place.br : part.out.x.own[2]) * p.result.bits;
  std::int64_t& place_unit = lanes_first ? u.cols : u.rows;
  std::int64_t& lane_unit = lanes_first ? u.rows : u.cols;
  place_unit = wpb / std::gcd(wpb, step);
  lane_unit = lane.transposed ? 1 : p.config.gl;
  return u;
}

OverlapTime::OverlapTime(const MemoryTiming& memory)
    : read_cost(static_cast<double>(memory.read_cost) / 256),
      write_cost(static_cast<double>(memory.write_cost) / 256),
      latency(static_cast<double>(memory.latency)),
      write_latency(static_cast<double>(memory.write_latency)) {}

double OverlapTime::operator()(const PlanCost& cost) const {
  const auto cycles = [](std::uint64_t value) { return static_cast<double>(value); };
  constexpr double kStart = 3;  // from the end of a transfer to the next one's first request
  const double read = read_cost * cycles(cost.first_beats + cost.second_beats) +
                      (latency + kStart) * cycles(cost.fetches);
  const double write =
      write_cost * cycles(cost.out_beats) + (write_latency + kStart) * cycles(cost.stores);
  const double words =
      cycles(static_cast<std::uint64_t>(stream_words(MachineEngine::kExec)) * cost.execs +
             static_cast<std::uint64_t>(stream_words(MachineEngine::kFetch)) * cost.fetches +
             static_cast<std::uint64_t>(stream_words(MachineEngine::kStore)) * cost.stores);
  const double start = latency + read_cost * cycles(cost.first_box + cost.second_box);
  const double end = latency + write_cost * cycles(cost.last_out);
  return std::max({cycles(cost.exec_cycles), read, write, words}) + start + end;
}

double least_cycles(const GemmProblem& p, const Mapping& m, const PlanCost& cost,
                    const MemoryTiming& memory) {
  const auto cycles = [](std::uint64_t value) { return static_cast<double>(value); };
  const OverlapTime t(memory);
  const auto block = [](const Index3& extent, const Index3& size, bool last) {
    Range3 r;
    for (std::size_t d = 0; d < 3; ++d) {
      r.start[d] = last ? (extent[d] - 1) / size[d] * size[d] : 0;
      r.n[d] = std::min(size[d], extent[d] - r.start[d]);
    }
    return r;
  };
  // Two fetches come before the first exec, a store after the last; in an engine one transfer after
  // the other, each with its latency.
  const auto reads = [&](double beats, double fetches) {
    return fetches * (t.latency + 1) + t.read_cost * (beats - fetches);
  };
  const auto writes = [&](double beats, double stores) {
    return stores * (t.write_latency + 1) + t.write_cost * (beats - stores);
  };
  const Range3 rows = block(p.rows(), m.rows, false), cols = block(p.cols(), m.cols, false);
  const Range3 ks = block(p.ks(), m.ks, false);
  const std::vector<GemmPart>& parts = p.first_unit();
  const double start = reads(cycles(fetch_box(p, parts, true, rows, ks).beats() +
                                    fetch_box(p, parts, false, cols, ks).beats()),
                             2);
  const double end = writes(1, 1);
  const double read = reads(cycles(cost.first_beats + cost.second_beats), cycles(cost.fetches));
  const double write = writes(cycles(cost.out_beats), cycles(cost.stores));
  const double words =
      cycles(static_cast<std::uint64_t>(stream_words(MachineEngine::kExec)) * cost.execs +
             static_cast<std::uint64_t>(stream_words(MachineEngine::kFetch)) * cost.fetches +
             static_cast<std::uint64_t>(stream_words(MachineEngine::kStore)) * cost.stores);
  return std::max({start + cycles(cost.exec_cycles) + end, read + end, start + write, words + end});
}

std::vector<std::int64_t> candidate_sizes(std::int64_t extent, std::int64_t unit, bool all) {
  std::vector<std::int64_t> out;
  if (all) {
    // ceil(extent/j) = (extent-1)/j + 1: j moves on to where the quotient falls.
    for (std::int64_t j = 1;;) {
      const std::int64_t quotient = (extent - 1) / j;
      out.push_back(round_up(quotient + 1, unit, extent));
      if (quotient == 0) break;
      j = (extent - 1) / quotient + 1;
    }
  } else {
    for (std::int64_t n = extent;; n = (n + 1) / 2) {
      out.push_back(round_up(n, unit, extent));
      if (n == 1) break;
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Index3> candidate_blocks(const Index3& extent, const std::array<bool, 3>& may,
                                     std::int64_t unit, bool all) {
  std::vector<Index3> out;
  const auto sizes = [&](std::size_t d) {
    if (!may[d]) return std::vector<std::int64_t>{extent[d]};
    return candidate_sizes(extent[d], d == 2 ? unit : 1, all);
  };
  const auto least = [&](std::size_t d) { return sizes(d).front(); };
  push_unique(out, extent);
  for (const std::int64_t n : sizes(0)) push_unique(out, {n, extent[1], extent[2]});
  for (const std::int64_t n : sizes(1)) push_unique(out, {least(0), n, extent[2]});
  for (const std::int64_t n : sizes(2)) push_unique(out, {least(0), least(1), n});
  for (const std::int64_t n : sizes(2)) push_unique(out, {extent[0], extent[1], n});
  return out;
}

bool choose_sub_blocks(const GemmProblem& p, Mapping& m, std::uint64_t parts_of_room) {
  const OutputUnits units = output_units(p);
  const std::vector<GemmPart>& parts = p.first_unit();
  const bool sums = p.out.sums;
  const auto tm = static_cast<std::uint64_t>(m.exchange ? p.config.array.tn : p.config.array.tm);
  const auto tn = static_cast<std::uint64_t>(m.exchange ? p.config.array.tm : p.config.array.tn);
  const auto fits = [&](const Index3& rows, const Index3& cols) {
    const bool alone = p.units == 1 && rows == p.rows() && cols == p.cols();
    const std::vector<OutputGroup> groups =
        output_groups(p, parts, {{0, 0, 0}, rows}, {{0, 0, 0}, cols}, sums, alone);
    const std::uint64_t room = static_cast<std::uint64_t>(p.config.ob_d) /
                               (alone && groups.size() == 1 ? 1 : 2) / parts_of_room;
    return std::all_of(groups.begin(), groups.end(),
                       [room](const OutputGroup& g) { return g.beats <= room; });
  };
  if (fits(m.rows, m.cols)) {
    m.sub_rows = m.rows;
    m.sub_cols = m.cols;
    return true;
  }
  const std::vector<Index3> rows = candidate_blocks(m.rows, p.split_rows, units.rows, false);
  const std::vector<Index3> cols = candidate_blocks(m.cols, p.split_cols, units.cols, false);
  // Tiles and instructions of a block cut into sub-blocks (first part, whole sub-blocks).
  const auto work = [&](const Index3& block, const Index3& sub, const OperandMap& map,
                        std::uint64_t tile) {
    const std::uint64_t pieces = u64(BlockGrid{block, sub}.count());
    return std::pair(pieces * ceil_div(own_count(map, {0, 0, 0}, sub), tile), pieces);
  };
  bool found = false;
  std::pair<std::uint64_t, std::uint64_t> best{};
  for (const Index3& c : cols) {
    const auto wide = work(m.cols, c, parts.front().second, tn);
    for (const Index3& r : rows) {
      if (!fits(r, c)) continue;
      const auto tall = work(m.rows, r, parts.front().first, tm);
      const std::pair<std::uint64_t, std::uint64_t> total{wide.first * tall.first,
                                                          wide.second * tall.second};
      if (!found || total < best) {
        found = true;
        best = total;
        m.sub_rows = r;
        m.sub_cols = c;
      }
    }
  }
  return found;
}

Mapping naive_mapping(const GemmProblem& p) {
  const OutputUnits units = output_units(p);
  Mapping m;
  m.rows = p.rows();
  m.cols = p.cols();
  m.ks = p.ks();
  const Index3 rows = p.rows(), cols = p.cols(), ks = p.ks();
  for (;;) {
    if (!choose_sub_blocks(p, m)) {
      if (shrink(m.rows, rows, p.split_rows, units.rows, kOuterFirst)) continue;
      if (shrink(m.cols, cols, p.split_cols, units.cols, kOuterFirst)) continue;
      m.sub_rows = m.rows;
      m.sub_cols = m.cols;
    }
    const PlanCheck check = check_mapping(p, m);
    if (check.refused.empty()) return m;
    const auto is = [&](const char* what) { return check.refused.rfind(what, 0) == 0; };
    bool smaller = false;
    if (is("block of the first")) {
      smaller = shrink(m.rows, rows, p.split_rows, units.rows, kOuterFirst) ||
                shrink(m.ks, ks, p.split_ks, 1, kInnerFirst);
    } else if (is("block of the second")) {
      smaller = shrink(m.cols, cols, p.split_cols, units.cols, kOuterFirst) ||
                shrink(m.ks, ks, p.split_ks, 1, kInnerFirst);
    } else if (is("partial sums") || is("output")) {
      smaller = shrink(m.rows, rows, p.split_rows, units.rows, kOuterFirst) ||
                shrink(m.cols, cols, p.split_cols, units.cols, kOuterFirst);
    } else if (is("block: a digit")) {
      const auto over = [](const Index3& b) { return b[1] > 32767 || b[2] > 32767; };
      smaller = (over(m.rows) && shrink(m.rows, rows, p.split_rows, units.rows, kOuterFirst)) ||
                (over(m.cols) && shrink(m.cols, cols, p.split_cols, units.cols, kOuterFirst)) ||
                shrink(m.ks, ks, p.split_ks, 1, kOuterFirst);
    }
    if (!smaller) {
      throw input_error("", 0, p.name, check.refused + " even in the smallest blocks",
                        "larger buffers");
    }
  }
}

}  // namespace bitcycle
