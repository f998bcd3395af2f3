#include "workloads/policy_schedule.hpp"

#include "workloads/policy_settings.hpp"
#include "workloads/schedule_export.hpp"

namespace bitcycle {

SchedulePolicy::SchedulePolicy(ScheduleSpec spec) : spec_(std::move(spec)) { spec_.validate(); }

void SchedulePolicy::write(const TraceLayers& /*layers*/, TraceSink& sink) const {
  for (const auto& run : schedule_runs(spec_)) sink.add(network_record(run.start, run.pair));
}

std::unique_ptr<Policy> make_schedule_policy(const std::string& name, PolicySettings& settings) {
  ScheduleSpec spec;
  spec.name = name == "cpt" ? "CR" : name;
  const BitRange r = settings.range("bits", BitRange{});
  spec.qmin = r.qmin;
  spec.qmax = r.qmax;
  spec.grad_min = r.grad_min;
  spec.grad_max = r.grad_max;
  spec.iterations = settings.iterations(spec.iterations);
  if (name == "static") {
    spec.cycles = 1;
  } else {
    // CPT: n = 32 "in all experiments" (README of GATECH-EIC/CPT).
    spec.cycles = settings.number("cycles", name == "cpt" ? 32 : 8, 1, spec.iterations);
    spec.cycle_length = settings.choice("cycle_length", {"floor", "floor+1"}) == 0
                            ? CycleLength::kFloor
                            : CycleLength::kFloorPlusOne;
  }
  return std::make_unique<SchedulePolicy>(spec);
}

}  // namespace bitcycle
