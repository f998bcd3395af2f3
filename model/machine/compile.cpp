#include "model/machine/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "golden/error.hpp"
#include "model/machine/mapping.hpp"

namespace bitcycle {
namespace {

struct Widths {
  int first, second;
};

// Widths whose best mappings are kept: all, so that none depends on the widths of the job.
constexpr Widths kWidths[] = {{8, 8}, {8, 4}, {4, 4}, {8, 2}, {2, 2}, {8, 1}, {1, 8}, {1, 1}};
constexpr Widths kWideWidths[] = {{16, 16}, {16, 8}};
// Memories, from fast to slow: 1/256 cycle per beat, cycles of latency.
struct Speed {
  std::uint64_t cost, latency;
};
constexpr Speed kSpeeds[] = {{256, 1}, {640, 60}, {2048, 200}, {8192, 500}};
// Of each.
constexpr std::size_t kFew = 1;
constexpr std::size_t kLooks = 1000000;
// A block's results leave in so many pieces: the last store is shorter, the instructions are more.
constexpr std::uint64_t kParts[] = {2, 4, 8, 16, 32};

GemmProblem with_widths(const GemmProblem& p, const Widths& w) {
  if (p.is_conv()) {
    ConvJob job = p.conv();
    job.first.bits = w.first;
    job.second.bits = w.second;
    return {p.config, job};
  }
  MatmulJob job = p.matmul();
  job.first.bits = w.first;
  job.second.bits = w.second;
  return {p.config, job};
}

std::string key_of(const GemmProblem& p, bool exchange, std::uint64_t most) {
  std::string key = fmt::format("{} {} {} {} {} {} {} {}", p.config.key(), exchange, most,
                                static_cast<int>(p.out.form), p.out.sums, p.out.transposed,
                                p.out.q.out_bits, static_cast<int>(p.out.q.rounding));
  if (p.is_conv()) {
    return key + fmt::format(" {} {} {} {}", p.name, p.conv().phase_y, p.conv().phase_x,
                             p.conv().dx_as_gemm);
  }
  const MatmulJob& j = p.matmul();
  return key + fmt::format(" {} {} {} {} {} {}", j.batch, j.m, j.n, j.k, j.a_columns, j.w_columns);
}

void keep(MappingPool& pool, const Mapping& m) {
  auto& list = pool.mappings;
  if (std::find(list.begin(), list.end(), m) == list.end()) list.push_back(m);
}

MappingPool make_pool(const GemmProblem& problem, bool exchange, std::uint64_t most) {
  MappingPool pool;
  SubBlockCache sub_blocks;
  const int widest = problem.config.array.p_max;
  const auto look = [&](const Widths& w) {
    if (std::max(w.first, w.second) > widest) return;
    const GemmProblem p = with_widths(problem, w);
    MappingSearch search(p, exchange, most, sub_blocks);
    for (const Speed& s : kSpeeds) {
      MemoryTiming memory;
      memory.read_cost = memory.write_cost = s.cost;
      memory.latency = memory.write_latency = s.latency;
      for (const RankedMapping& r : search.best(OverlapTime(memory), kFew, kLooks)) keep(pool, r.mapping);
    }
    pool.candidates += search.candidates();
    pool.evaluated += search.evaluated();
    pool.exhaustive = pool.exhaustive && search.exhaustive();
  };
  for (const Widths& w : kWideWidths) look(w);
  for (const Widths& w : kWidths) look(w);
  for (const Mapping& whole : std::vector<Mapping>(pool.mappings)) {
    for (const std::uint64_t parts : kParts) {
      Mapping m = whole;
      if (choose_sub_blocks(problem, m, parts)) keep(pool, m);
    }
  }
  return pool;
}

struct Choice {
  double estimate = 0;
  double least = 0;
  const Mapping* mapping = nullptr;
};

// With a measure of the user's: the best of all candidates, and never worse than the naive one.
Compiled by_measure(const GemmProblem& problem, const CompileOptions& options) {
  const Mapping naive = naive_mapping(problem);
  const double naive_time = options.time(problem, check_mapping(problem, naive).cost);
  SubBlockCache sub_blocks;
  MappingSearch search(problem, options.exchange, options.exhaustive, sub_blocks);
  const std::optional<RankedMapping> best = search.best(options.time);
  const bool better = best && best->time < naive_time;
  return {Plan(problem, better ? best->mapping : naive),
          better ? best->time : naive_time,
          naive_time,
          search.candidates(),
          search.evaluated(),
          search.exhaustive(),
          std::nullopt};
}

}  // namespace

const MappingPool& MappingPools::of(const GemmProblem& problem, bool exchange,
                                    std::uint64_t most) {
  const auto [at, fresh] = pools_.try_emplace(key_of(problem, exchange, most));
  if (fresh) at->second = make_pool(problem, exchange, most);
  return at->second;
}

Compiled compile(const GemmProblem& problem, const CompileOptions& options) {
  if (options.mapping) {
    Plan plan(problem, *options.mapping);
    if (options.time) {
      const double time = options.time(problem, plan.cost());
      return {std::move(plan), time, time, 1, 1, false, std::nullopt};
    }
    const PlanTimes times = time_plan(plan, options.memory);
    const auto time = static_cast<double>(times.cycles);
    return {std::move(plan), time, time, 1, 1, false, times};
  }
  if (options.time) return by_measure(problem, options);

  MappingPools own;
  const MappingPool& pool = (options.pools ? *options.pools : own)
                                .of(problem, options.exchange, options.exhaustive);
  Plan best(problem, naive_mapping(problem));
  PlanTimes times = time_plan(best, options.memory);
  const auto naive_time = static_cast<double>(times.cycles);
  const OverlapTime estimate(options.memory);
  BoxCache cache;
  std::vector<Choice> choices;
  for (const Mapping& m : pool.mappings) {
    const PlanCheck check = check_mapping(problem, m, &cache);
    if (!check.refused.empty()) continue;
    choices.push_back(
        {estimate(check.cost), least_cycles(problem, m, check.cost, options.memory), &m});
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.estimate < b.estimate; });
  for (const Choice& c : choices) {
    if (c.least >= static_cast<double>(times.cycles)) continue;
    Plan plan(problem, *c.mapping);
    const PlanTimes other = time_plan(plan, options.memory, times.cycles - 1);
    if (!other.complete || other.cycles >= times.cycles) continue;
    times = other;
    best = std::move(plan);
  }
  return {std::move(best),  static_cast<double>(times.cycles),
          naive_time,       pool.candidates,
          pool.evaluated,   pool.exhaustive,
          times};
}

}  // namespace bitcycle
