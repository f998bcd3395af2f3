#include "model/machine/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "model/formula.hpp"
#include "model/machine/output_block.hpp"
#include "model/machine/recurrence.hpp"

namespace bitcycle {
namespace {

std::uint64_t u64(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// Multiples that a block's innermost digit must keep unless it is the whole extent: whole beats of
// codes along x, whole granules along the lanes.
struct Units {
  std::int64_t rows = 1, cols = 1;
};

Units units_of(const GemmProblem& p) {
  Units u;
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

// Blocks of a space: the outer digit is split first, an inner one only when all outside are 1; and,
// beside these, the innermost digit split while the others are whole.
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

// Calls visit(range, count) for the kinds of blocks of `extent`: alike but for the last of a digit.
template <typename Visit>
void for_block_kinds(const Index3& extent, const Index3& block, Visit&& visit) {
  Index3 blocks;
  for (std::size_t d = 0; d < 3; ++d) blocks[d] = (extent[d] + block[d] - 1) / block[d];
  for (unsigned corner = 0; corner < 8; ++corner) {
    Range3 r;
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      const bool last = ((corner >> d) & 1U) != 0;
      r.start[d] = last ? (blocks[d] - 1) * block[d] : 0;
      r.n[d] = std::min(block[d], extent[d] - r.start[d]);
      count *= last ? 1 : u64(std::max<std::int64_t>(blocks[d] - 1, 0));
    }
    if (count != 0 && !is_empty(r)) visit(r, count);
  }
}

// What a space's blocks cost the array, by class of parts: tiles over all blocks.
struct TileSum {
  std::vector<std::uint64_t> by_tm, by_tn;
  std::uint64_t blocks = 0;
};

TileSum tile_sum(const GemmProblem& p, const std::vector<PartClass>& classes, bool first,
                 const Index3& block) {
  TileSum t;
  t.blocks = u64(BlockGrid{first ? p.rows() : p.cols(), block}.count());
  const auto tm = static_cast<std::uint64_t>(p.config.array.tm);
  const auto tn = static_cast<std::uint64_t>(p.config.array.tn);
  for (const PartClass& c : classes) {
    const OperandMap& map = first ? c.part.first : c.part.second;
    std::uint64_t by_tm = 0, by_tn = 0;
    for_block_kinds(first ? c.part.rows : c.part.cols, block,
                    [&](const Range3& r, std::uint64_t count) {
                      const std::uint64_t n = own_count(map, r.start, r.n);
                      by_tm += count * ceil_div(n, tm);
                      by_tn += count * ceil_div(n, tn);
                    });
    t.by_tm.push_back(by_tm);
    t.by_tn.push_back(by_tn);
  }
  return t;
}

// Chunks over all blocks of the reduction, by class of parts.
std::vector<std::uint64_t> chunk_sum(const GemmProblem& p, const std::vector<PartClass>& classes,
                                     const Index3& block) {
  const auto lanes = p.k_granules ? static_cast<std::uint64_t>(p.config.gl) : 1;
  const auto kl = static_cast<std::uint64_t>(p.config.array.kl);
  std::vector<std::uint64_t> sums;
  for (const PartClass& c : classes) {
    std::uint64_t sum = 0;
    for_block_kinds(c.part.ks, block, [&](const Range3& r, std::uint64_t count) {
      sum += count * ceil_div(u64(r.n[0] * r.n[1] * r.n[2]) * lanes, kl);
    });
    sums.push_back(sum);
  }
  return sums;
}

// One triple of blocks with orders, and the least time it can take.
struct Candidate {
  double bound = 0;
  std::uint32_t r = 0, c = 0, k = 0;
  bool cols_outer = false, exchange = false;
};

// A search by the rule stops when nothing can be better by a thousandth.
constexpr double kCloseEnough = 0.999;
constexpr double kNever = std::numeric_limits<double>::infinity();

class Search {
 public:
  Search(const GemmProblem& problem, const CompileOptions& options)
      : p_(problem),
        o_(options),
        classes_(part_classes(problem.first_unit())),
        units_(units_of(problem)) {}

  Compiled run() {
    const Mapping naive = naive_mapping(p_);
    const double naive_time = time_of(naive).value();
    best_ = naive;
    best_time_ = naive_time;
    if (o_.judge) remember(naive, naive_time);
    if (o_.exchange) {
      Mapping swapped = naive;
      swapped.exchange = true;
      consider(swapped);
    }
    bool exhaustive = true;
    blocks(true);
    if (rows_.size() * cols_.size() * ks_.size() > o_.exhaustive) {
      exhaustive = false;
      blocks(false);
    }
    const std::vector<Candidate> list = candidates();
    // Best bound first: once a bound is above the best time, nothing better follows.
    for (const Candidate& c : list) {
      // With a judge, the last of the best few.
      const double least = !o_.judge                 ? best_time_
                           : few_.size() < o_.judged ? kNever
                                                     : few_.back().time;
      if (c.bound >= least * (exhaustive ? 1.0 : kCloseEnough) && !o_.time) break;
      Mapping m;
      m.rows = m.sub_rows = rows_[c.r];
      m.cols = m.sub_cols = cols_[c.c];
      m.ks = ks_[c.k];
      m.cols_outer = c.cols_outer;
      m.exchange = c.exchange;
      if (choose_sub_blocks(p_, m)) consider(m);
    }
    if (o_.judge) return judged(naive, list.size(), exhaustive);
    return {Plan(p_, best_), best_time_, naive_time, list.size(), evaluated_, exhaustive};
  }

 private:
  struct Ranked {
    double time = 0;
    Mapping mapping;
  };

  // Keeps the best few, the first found among equals.
  void remember(const Mapping& m, double time) {
    const auto at = std::upper_bound(few_.begin(), few_.end(), time,
                                     [](double t, const Ranked& r) { return t < r.time; });
    few_.insert(at, {time, m});
    if (few_.size() > o_.judged) few_.pop_back();
  }

  Compiled judged(const Mapping& naive, std::size_t candidates, bool exhaustive) {
    Plan best(p_, naive);
    const double naive_time = o_.judge(best);
    double best_time = naive_time;
    const auto judge = [&](const Mapping& m) {
      Plan plan(p_, m);
      const double time = o_.judge(plan);
      if (time >= best_time) return;
      best_time = time;
      best = std::move(plan);
    };
    for (const Ranked& r : few_) {
      if (!(r.mapping == naive)) judge(r.mapping);
    }
    // Smaller pieces of output are stored earlier, at the price of more instructions.
    const Mapping winner = best.mapping();
    for (const std::uint64_t parts : {2U, 4U, 8U, 16U, 32U}) {
      Mapping m = winner;
      if (choose_sub_blocks(p_, m, parts) && !(m == winner) && check_mapping(p_, m).refused.empty())
        judge(m);
    }
    return {std::move(best), best_time, naive_time, candidates, evaluated_, exhaustive};
  }

  void blocks(bool all) {
    rows_ = candidate_blocks(p_.rows(), p_.split_rows, units_.rows, all);
    cols_ = candidate_blocks(p_.cols(), p_.split_cols, units_.cols, all);
    ks_ = candidate_blocks(p_.ks(), p_.split_ks, 1, all);
  }

  std::optional<double> time_of(const Mapping& m) {
    ++evaluated_;
    const PlanCheck check = check_mapping(p_, m, &cache_);
    if (!check.refused.empty()) return std::nullopt;
    return o_.time ? o_.time(p_, check.cost) : o_.memory(p_, check.cost);
  }

  void consider(const Mapping& m) {
    const std::optional<double> time = time_of(m);
    if (!time) return;
    if (o_.judge) remember(m, *time);
    if (*time < best_time_) {
      best_time_ = *time;
      best_ = m;
    }
  }

  // Everything that may fit, with a lower bound of its time, in ascending order of it.
  std::vector<Candidate> candidates() {
    const MachineConfig& c = p_.config;
    std::vector<std::vector<BoxTotals>> first(rows_.size()), second(cols_.size());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (const Index3& k : ks_)
        first[r].push_back(box_totals(p_, p_.first_unit(), true, rows_[r], k, &cache_));
    }
    for (std::size_t q = 0; q < cols_.size(); ++q) {
      for (const Index3& k : ks_)
        second[q].push_back(box_totals(p_, p_.first_unit(), false, cols_[q], k, &cache_));
    }
    std::vector<TileSum> row_tiles, col_tiles;
    for (const Index3& r : rows_) row_tiles.push_back(tile_sum(p_, classes_, true, r));
    for (const Index3& q : cols_) col_tiles.push_back(tile_sum(p_, classes_, false, q));
    std::vector<std::vector<std::uint64_t>> chunks;
    std::vector<std::uint64_t> nks;
    for (const Index3& k : ks_) {
      chunks.push_back(chunk_sum(p_, classes_, k));
      nks.push_back(u64(BlockGrid{p_.ks(), k}.count()));
    }
    const GemmTiming t[2] = {gemm_timing(c.array, {{1, 1, 1}, p_.pa, p_.pw}),
                             gemm_timing(c.array, {{1, 1, 1}, p_.pw, p_.pa})};
    const std::uint64_t overhead = static_cast<std::uint64_t>(c.setup_cycles()) + 5;
    const std::uint64_t full_units = p_.units > 1 ? p_.units - 1 : 1;
    std::vector<Candidate> list;
    for (const bool exchange : {false, true}) {
      if (exchange && !o_.exchange) continue;
      if (exchange && p_.out.form == OutputForm::kCodes &&
          p_.out.q.rounding == Rounding::kStochastic) {
        continue;
      }
      const auto first_depth = static_cast<std::uint64_t>(exchange ? c.l1w_d : c.l1a_d);
      const auto second_depth = static_cast<std::uint64_t>(exchange ? c.l1a_d : c.l1w_d);
      const GemmTiming& time = t[exchange ? 1 : 0];
      for (std::uint32_t r = 0; r < rows_.size(); ++r) {
        for (std::uint32_t k = 0; k < ks_.size(); ++k) {
          if (first[r][k].most > first_depth) continue;
          for (std::uint32_t q = 0; q < cols_.size(); ++q) {
            if (second[q][k].most > second_depth) continue;
            const std::uint64_t nr = row_tiles[r].blocks, nc = col_tiles[q].blocks, nk = nks[k];
            // Each exec takes at least its tiles' chunks and the law's constants.
            std::uint64_t work = 0;
            for (std::size_t i = 0; i < classes_.size(); ++i) {
              const std::uint64_t tiles = exchange ? row_tiles[r].by_tn[i] * col_tiles[q].by_tm[i]
                                                   : row_tiles[r].by_tm[i] * col_tiles[q].by_tn[i];
              work += classes_[i].count * tiles * chunks[k][i];
            }
            const double exec = static_cast<double>(
                full_units * (work * time.cc + nr * nc * nk * (time.cycles - time.cc + overhead)));
            for (const bool cols_outer : {false, true}) {
              if (cols_outer && (nr == 1 || nc == 1)) continue;
              const bool first_stays =
                  stays_resident(p_.units * nr * nk, first[r][k].most, first_depth);
              const bool second_stays =
                  stays_resident(p_.units * nc * nk, second[q][k].most, second_depth);
              const auto again = [&](bool stays, bool outer, std::uint64_t mine,
                                     std::uint64_t other) -> std::uint64_t {
                if (stays) return 1;
                if (nk > 1) return other;
                return outer || mine == 1 ? 1 : other;
              };
              const std::uint64_t again_first = again(first_stays, !cols_outer, nr, nc);
              const std::uint64_t again_second = again(second_stays, cols_outer, nc, nr);
              const auto too_large = [](bool stays, std::uint64_t loads, std::uint64_t most,
                                        std::uint64_t depth) {
                return !stays && loads > 1 && most > depth / 2;
              };
              if (too_large(first_stays, p_.units * nr * nk * again_first, first[r][k].most,
                            first_depth) ||
                  too_large(second_stays, p_.units * nc * nk * again_second, second[q][k].most,
                            second_depth)) {
                continue;
              }
              const double read =
                  o_.memory.read_cost *
                  static_cast<double>(full_units * (first[r][k].sum * again_first +
                                                    second[q][k].sum * again_second));
              Candidate cand;
              cand.bound =
                  std::max(exec, read) + 2 * o_.memory.latency +
                  o_.memory.read_cost * static_cast<double>(first[r][k].most + second[q][k].most);
              cand.r = r;
              cand.c = q;
              cand.k = k;
              cand.cols_outer = cols_outer;
              cand.exchange = exchange;
              list.push_back(cand);
            }
          }
        }
      }
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
    return list;
  }

  const GemmProblem& p_;
  const CompileOptions& o_;
  BoxCache cache_;
  std::vector<PartClass> classes_;
  Units units_;
  std::vector<Index3> rows_, cols_, ks_;
  Mapping best_;
  double best_time_ = kNever;
  std::vector<Ranked> few_;  // with a judge: the best by the measure, ascending
  std::uint64_t evaluated_ = 0;
};

}  // namespace

double OverlapTime::operator()(const GemmProblem& /*problem*/, const PlanCost& cost) const {
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

std::vector<std::int64_t> candidate_sizes(std::int64_t extent, std::int64_t unit, bool all) {
  std::vector<std::int64_t> out;
  if (all) {
    for (std::int64_t j = 1; j <= extent; ++j) {
      out.push_back(round_up((extent + j - 1) / j, unit, extent));
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

bool choose_sub_blocks(const GemmProblem& p, Mapping& m, std::uint64_t parts_of_room) {
  const Units units = units_of(p);
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
  const Units units = units_of(p);
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

Compiled compile(const GemmProblem& problem, const CompileOptions& options) {
  if (options.mapping) {
    Plan plan(problem, *options.mapping);
    const double time = options.judge  ? options.judge(plan)
                        : options.time ? options.time(problem, plan.cost())
                                       : options.memory(problem, plan.cost());
    return {std::move(plan), time, time, 1, 1, false};
  }
  return Search(problem, options).run();
}

namespace {

// The expanded forward or dW as a product of matrices.
MatmulJob expanded_job(const ConvJob& job) {
  const ConvShape& s = job.shape;
  const std::uint64_t pixels = s.batch * s.ho() * s.wo();
  const std::uint64_t taps = s.kh * s.kw * s.cin;
  const bool forward = job.pass == ConvPass::kForward;
  MatmulJob m;
  m.m = forward ? pixels : s.cout;
  m.n = forward ? s.cout : taps;
  m.k = forward ? taps : pixels;
  m.a_columns = m.w_columns = !forward;
  m.first = job.first;
  m.second = job.second;
  m.out = job.out;
  return m;
}

}  // namespace

CompiledLayer compile_layer(const MachineConfig& config, const ConvJob& job,
                            const CompileOptions& options) {
  const ConvShape& s = job.shape;
  CompiledLayer layer;
  layer.time = std::numeric_limits<double>::infinity();
  std::string refusal;
  const auto attempt = [&](const char* way, auto&& make) {
    try {
      CompiledLayer other = make();
      layer.reason += fmt::format("{}{} {:.0f}", layer.reason.empty() ? "" : ", ", way, other.time);
      if (other.time < layer.time) {
        other.reason = layer.reason;
        layer = std::move(other);
      }
    } catch (const InputError& error) {
      refusal = refusal.empty() ? error.what() : refusal;
      layer.reason += fmt::format("{}{} does not fit", layer.reason.empty() ? "" : ", ", way);
    }
  };
  attempt("as it is", [&] {
    CompiledLayer l;
    l.plans.push_back(compile(GemmProblem(config, job), options));
    l.time = l.plans.front().time;
    return l;
  });
  const bool raw = job.out.form != OutputForm::kCodes;
  if (s.groups == 1 && s.kh * s.kw > 1 && s.cin % static_cast<std::uint64_t>(config.gl) != 0 &&
      job.pass != ConvPass::kDx && raw && !options.mapping) {
    attempt("expanded", [&] {
      CompiledLayer l;
      const GemmProblem direct(config, job);
      const GemmProblem dense(config, expanded_job(job));
      const bool forward = job.pass == ConvPass::kForward;
      l.plans.push_back(compile(dense, options));
      l.expanded = true;
      l.host_bytes = (forward ? direct.first : direct.second).bytes() +
                     (forward ? dense.first : dense.second).bytes();
      l.time =
          l.plans.front().time + options.host_cycles_per_byte * static_cast<double>(l.host_bytes);
      return l;
    });
  }
  if (job.pass == ConvPass::kDx && raw && !job.dx_as_gemm && s.stride_h * s.stride_w > 1 &&
      job.phase_y < 0 && !options.mapping) {
    attempt("phase by phase", [&] {
      CompiledLayer l;
      l.phases_apart = true;
      for (std::uint64_t y = 0; y < std::min(s.stride_h, s.hi); ++y) {
        for (std::uint64_t x = 0; x < std::min(s.stride_w, s.wi); ++x) {
          ConvJob one = job;
          one.phase_y = static_cast<int>(y);
          one.phase_x = static_cast<int>(x);
          l.plans.push_back(compile(GemmProblem(config, one), options));
          l.time += l.plans.back().time;
        }
      }
      return l;
    });
  }
  if (layer.plans.empty()) throw InputError(refusal);
  return layer;
}

}  // namespace bitcycle
