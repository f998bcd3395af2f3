// The ten schedules of the CPT suite, static, and CPT as first published.
#pragma once

#include "workloads/policy.hpp"

namespace bitcycle {

class SchedulePolicy : public Policy {
 public:
  explicit SchedulePolicy(ScheduleSpec spec);  ///< throws as ScheduleSpec::validate()
  std::uint64_t iterations() const override { return spec_.iterations; }
  void write(const TraceLayers& layers, TraceSink& sink) const override;

 private:
  ScheduleSpec spec_;
};

class PolicySettings;
/// keys bits, cycles, cycle_length, iterations; "cpt" is CR with 32 cycles.
std::unique_ptr<Policy> make_schedule_policy(const std::string& name, PolicySettings& settings);

}  // namespace bitcycle
