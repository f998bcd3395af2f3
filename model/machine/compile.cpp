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
constexpr Widths kWidths[] = {{8, 8}, {8, 4}, {4, 4}, {2, 2}, {1, 8}};
constexpr Widths kWideWidths[] = {{16, 16}, {16, 8}};
// Memories, from fast to slow: 1/256 cycle per beat, cycles of latency.
struct Speed {
  std::uint64_t cost, latency;
};
constexpr Speed kSpeeds[] = {{256, 1}, {1024, 100}, {8192, 500}};
// How many are kept of each, of how many that are looked at. Small products are dearer for what the
// estimate does not see, and cheap to time.
struct Effort {
  std::size_t few, looks;
};
constexpr Effort kLarge = {1, 8}, kSmall = {4, 24};
constexpr std::uint64_t kSmallMacs = 1U << 26U;
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
  const Effort effort = problem.useful_macs < kSmallMacs ? kSmall : kLarge;
  const int widest = problem.config.array.p_max;
  const auto look = [&](const Widths& w) {
    if (std::max(w.first, w.second) > widest) return;
    const GemmProblem p = with_widths(problem, w);
    MappingSearch search(p, exchange, most, sub_blocks);
    for (const Speed& s : kSpeeds) {
      MemoryTiming memory;
      memory.read_cost = memory.write_cost = s.cost;
      memory.latency = memory.write_latency = s.latency;
      for (const RankedMapping& r : search.best(OverlapTime(memory), effort.few, effort.looks))
        keep(pool, r.mapping);
    }
    pool.candidates += search.candidates();
    pool.evaluated += search.evaluated();
    pool.exhaustive = pool.exhaustive && search.exhaustive();
  };
  for (const Widths& w : kWideWidths) look(w);
  for (const Widths& w : kWidths) look(w);
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

const MappingPool& MappingPools::of(const GemmProblem& problem, bool exchange, std::uint64_t most) {
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
  const MappingPool& pool =
      (options.pools ? *options.pools : own).of(problem, options.exchange, options.exhaustive);
  std::optional<Mapping> naive;
  std::string refusal;
  try {
    naive = naive_mapping(problem);
  } catch (const InputError& error) {  // a mapping of the pool may still fit
    refusal = error.what();
  }
  const OverlapTime estimate(options.memory);
  BoxCache cache;
  std::vector<Choice> choices;
  const auto choose_from = [&](const Mapping& m) {
    const PlanCheck check = check_mapping(problem, m, &cache);
    if (!check.refused.empty()) return;
    choices.push_back(
        {estimate(check.cost), least_cycles(problem, m, check.cost, options.memory), &m});
  };
  if (naive) choose_from(*naive);
  for (const Mapping& m : pool.mappings) choose_from(m);
  if (choices.empty()) throw InputError(refusal);
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.estimate < b.estimate; });
  std::optional<Plan> best;
  PlanTimes times;
  // Cycles if that is less than any plan so far, else whatever is known to be too much.
  const auto judge = [&](const Mapping& m, double least) {
    if (best && least >= static_cast<double>(times.cycles)) return least;
    Plan plan(problem, m);
    const PlanTimes other =
        best ? time_plan(plan, options.memory, times.cycles - 1) : time_plan(plan, options.memory);
    if (!best || (other.complete && other.cycles < times.cycles)) {
      times = other;
      best = std::move(plan);
    }
    return static_cast<double>(other.cycles);
  };
  double naive_time = std::numeric_limits<double>::infinity();
  for (const Choice& c : choices) {
    const double time = judge(*c.mapping, c.least);
    if (naive && c.mapping == &*naive) naive_time = time;
  }
  // Smaller pieces of output are stored earlier, at the price of more instructions: no piece makes
  // the rest of the work less.
  for (const Choice& c : choices) {
    for (const std::uint64_t parts : kParts) {
      if (c.least >= static_cast<double>(times.cycles)) break;
      Mapping m = *c.mapping;
      if (!choose_sub_blocks(problem, m, parts) || m == *c.mapping) continue;
      const PlanCheck check = check_mapping(problem, m, &cache);
      if (!check.refused.empty()) continue;
      judge(m, least_cycles(problem, m, check.cost, options.memory));
    }
  }
  return {std::move(best.value()),
          static_cast<double>(times.cycles),
          naive_time,
          pool.candidates,
          pool.evaluated,
          pool.exhaustive,
          times};
}

}  // namespace bitcycle
