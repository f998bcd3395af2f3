// Runs judged jobs on one array alone, without RTL.
#pragma once

#include <cstdint>
#include <string>

#include "golden/counter_random.hpp"
#include "golden/gemm.hpp"
#include "golden/operands.hpp"
#include "sim/campaign.hpp"
#include "sim/stimulus.hpp"

namespace bitcycle {

/// Totals of `make`'s jobs on `array`; an array that stops answering ends in a failure, not in an
/// endless loop.
inline CampaignTotals run_alone(Array& array, const ArrayConfig& config, JudgedJobs::Maker make,
                                std::uint64_t seed) {
  constexpr std::uint64_t kMostCycles = 20'000'000;
  JudgedJobs jobs(config, std::move(make));
  Stimulus stimulus(config, jobs, seed);
  while (stimulus.cycle() < kMostCycles) {
    const ArrayStep& step = stimulus.next(array.ports());
    if (stimulus.done()) return jobs.totals();
    array.step(step);
  }
  CampaignTotals totals = jobs.totals();
  totals.failure = "still busy after " + std::to_string(kMostCycles) + " cycles";
  return totals;
}

/// The first `count` jobs of random campaign `seed`.
inline JudgedJobs::Maker random_jobs(const ArrayConfig& config, std::uint64_t seed,
                                     std::uint64_t count) {
  return [config, seed, count](std::uint64_t number) {
    return number < count ? std::optional(random_job(config, seed, number)) : std::nullopt;
  };
}

/// Jobs of wide operands and long reductions, whose sums leave a narrow accumulator or do not.
inline JudgedJobs::Maker wide_jobs(std::uint64_t seed, std::uint64_t count) {
  return [seed, count](std::uint64_t number) -> std::optional<GemmJob> {
    if (number >= count) return std::nullopt;
    std::uint64_t drawn = 0;
    const auto below = [&](std::uint64_t limit) {
      return counter_random(seed, number, drawn++) % limit;
    };
    const auto width = [&] { return static_cast<int>(13 + below(4)); };
    GemmJob job;
    Descriptor& d = job.descriptor;
    d = {{1 + below(6), 1 + below(6), 1 + below(500)},
         {width(), below(2) == 0},
         {width(), below(2) == 0}};
    const auto pattern = kOperandPatterns[below(kOperandPatterns.size())];
    job.operands =
        make_operands(pattern, d.gemm.m, d.gemm.n, d.gemm.k, d.a, d.w, below(~std::uint64_t{0}));
    job.label = operand_pattern_name(pattern);
    return job;
  };
}

/// For how many of `make`'s jobs golden demands the overflow flag to be 1, and to be 0.
struct DemandedFlags {
  int set = 0, clear = 0;
};
inline DemandedFlags demanded_flags(const ArrayConfig& config, const JudgedJobs::Maker& make) {
  DemandedFlags flags;
  for (std::uint64_t number = 0;; ++number) {
    const auto job = make(number);
    if (!job) return flags;
    const Descriptor& d = job->descriptor;
    const auto golden = golden_gemm(job->operands.a, d.a, job->operands.w, d.w, config.acc_w);
    flags.set += golden.must_overflow || golden.sums_must_overflow ? 1 : 0;
    flags.clear += golden.cannot_overflow ? 1 : 0;
  }
}

}  // namespace bitcycle
