// Streams of co-simulation jobs, judged one by one as they finish.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/array_config.hpp"
#include "sim/stimulus.hpp"

namespace bitcycle {

/// Totals of a judged stream.
struct CampaignTotals {
  std::uint64_t gemms = 0;
  std::uint64_t tiles = 0;
  std::uint64_t refused = 0;
  std::uint64_t stalled = 0;  ///< jobs with random stalls
  /// Cycles of the stalled jobs and their bounds: stall-free, and that plus the withheld cycles.
  std::uint64_t stalled_cycles = 0, stalled_least = 0, stalled_most = 0;
  std::uint64_t overflows = 0;       ///< jobs that raised the overflow flag
  std::uint64_t cycles = 0;          ///< by the RTL's ports, stalls included
  std::uint64_t formula_cycles = 0;  ///< of the jobs without stalls
  std::string failure;               ///< the first job that was wrong, one line; "" if none
};

/// Makes jobs with a function of their number and judges each. After the first failure it hands
/// out no more.
class JudgedJobs : public JobSource {
 public:
  using Maker = std::function<std::optional<GemmJob>(std::uint64_t)>;
  JudgedJobs(const ArrayConfig& config, Maker make) : config_(config), make_(std::move(make)) {}

  std::optional<GemmJob> next() override;
  void finished(const GemmJob& job, JobResult result) override;
  const CampaignTotals& totals() const { return totals_; }

 private:
  ArrayConfig config_;
  Maker make_;
  std::uint64_t number_ = 0;
  CampaignTotals totals_;
};

/// Job `number` of the random campaign `seed`: random shape (1 and every leftover of each dimension
/// often), widths, signs and operand pattern; about one in ten with random stalls, one in 64 an
/// illegal descriptor.
GemmJob random_job(const ArrayConfig& config, std::uint64_t seed, std::uint64_t number);

/// Every (pa, pw) in 1..P_MAX squared and all four sign modes, each `repeat` times with a random
/// shape and pattern; job `number` of them, or nothing at the end.
std::optional<GemmJob> all_precisions_job(const ArrayConfig& config, std::uint64_t seed,
                                          std::uint64_t number, std::uint64_t repeat);

}  // namespace bitcycle
