// Runs judged jobs on RTL and model in lockstep, without a SystemC kernel.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "model/core.hpp"
#include "sim/campaign.hpp"
#include "sim/judge.hpp"
#include "sim/lockstep.hpp"
#include "sim/rtl_library.hpp"
#include "tests/sim/model_testing.hpp"

namespace bitcycle {

/// Tests leave arrays that they verilate on demand in the build tree, not in the user's cache.
inline const int kCacheInBuildTree =
    setenv("BITCYCLE_CACHE", BITCYCLE_BUILD_DIR "/rtl-cache", /*overwrite=*/0);

struct LockstepRun {
  LockstepOutcome outcome;
  CampaignTotals totals;
  std::size_t registers = 0;
  /// The first thing that was wrong, one line; "" if all was right.
  std::string failure;
};

inline std::string failure_of(const LockstepOutcome& outcome, const CampaignTotals& totals) {
  if (outcome.mismatch) {
    const Mismatch& m = *outcome.mismatch;
    return fmt::format("cycle {}: {}: RTL {}, model {}", m.cycle, m.signal, m.rtl, m.model);
  }
  if (!outcome.stopped.empty()) return outcome.stopped;
  if (!totals.failure.empty()) return totals.failure;
  if (outcome.cycles_rtl != outcome.cycles_model || outcome.cycles_rtl != totals.formula_cycles) {
    return fmt::format("cycles: RTL {}, model {}, formula {}", outcome.cycles_rtl,
                       outcome.cycles_model, totals.formula_cycles);
  }
  return "";
}

/// `make`'s jobs on `rtl` and a fresh model. Nothing runs for ever: a deadlock ends as a failure.
inline LockstepRun run_lockstep(RtlModel& rtl, const ArrayConfig& config, JudgedJobs::Maker make,
                                std::uint64_t seed, LockstepOptions options = {}) {
  if (options.max_cycles == 0) options.max_cycles = 50'000'000;
  ArrayCore model(config);
  JudgedJobs jobs(config, std::move(make));
  Stimulus stimulus(config, jobs, seed);
  Lockstep pair(rtl, model, stimulus, std::move(options));
  LockstepRun run;
  run.outcome = pair.run();
  run.totals = jobs.totals();
  run.registers = pair.registers();
  run.failure = failure_of(run.outcome, run.totals);
  return run;
}

/// The same on a fresh RTL whose registers start with values of `seed`.
inline LockstepRun run_lockstep(const ArrayConfig& config, JudgedJobs::Maker make,
                                std::uint64_t seed, LockstepOptions options = {},
                                RtlFlavour plain = RtlFlavour::kPlain) {
  const RtlFlavour flavour = options.inject ? RtlFlavour::kInject : plain;
  const auto rtl = make_rtl_model(config, flavour, seed);
  return run_lockstep(*rtl, config, std::move(make), seed, std::move(options));
}

/// `repeat` times every precision pair and sign mode that `config` runs.
inline JudgedJobs::Maker all_precisions(const ArrayConfig& config, std::uint64_t seed,
                                        std::uint64_t repeat) {
  return [=](std::uint64_t number) { return all_precisions_job(config, seed, number, repeat); };
}

/// Job `number` of a list of descriptors, with one pattern of operands.
inline JudgedJobs::Maker listed_jobs(std::vector<Descriptor> list, OperandPattern pattern,
                                     StallPattern stalls = {}) {
  return [list = std::move(list), pattern, stalls](std::uint64_t number) -> std::optional<GemmJob> {
    if (number >= list.size()) return std::nullopt;
    const Descriptor& d = list[number];
    return GemmJob{d, make_operands(pattern, d.gemm.m, d.gemm.n, d.gemm.k, d.a, d.w, number + 1),
                   stalls, describe(d) + " " + operand_pattern_name(pattern)};
  };
}

}  // namespace bitcycle
