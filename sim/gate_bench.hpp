// One workload on the gates of one module: simulated, compared with the core, measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "model/gates/event_model.hpp"
#include "model/gates/gate_sim.hpp"
#include "sim/gate_stimuli.hpp"
#include "sim/module_probe.hpp"
#include "sim/unit_probe.hpp"

namespace bitcycle {

struct GateRun {
  ActivitySample sample;     ///< cycles after the first kGateWarmUp
  double clock_share = 0.0;  ///< of the energy: clock net and clock pins
  double switching = 0.0;    ///< J per cycle: charging of nets; the rest is internal
  double leakage = 0.0;      ///< W, mean over sampled cycles
  double settled = 0.0;      ///< s, latest event after a clock edge
  double sampling = 0.0;     ///< relative standard error of the mean energy, from 16 batches
  std::uint64_t cycles = 0, events = 0, compared = 0;  ///< compared: output values
  double joules = 0.0;   ///< of all cycles, those of the warm-up included
  double macs = 0.0;     ///< of one PE in all cycles; 0 for an idle workload
  std::string mismatch;  ///< first difference between netlist and core; empty if there is none
};

/// Cycles from reset that are run and compared but not measured.
constexpr std::uint64_t kGateWarmUp = 16;

/// Sees the simulator, which is then a profiled one, after the warm-up and at the end.
using GateWatch = std::function<void(const GateSim&)>;

/// Runs the gates of `probe`: `drive` calls its argument once a cycle, when the probe is set.
GateRun run_gates(const GateModel& model, double period, const ModuleProbe& probe,
                  const std::string& label,
                  const std::function<void(const std::function<void()>&)>& drive,
                  const GateWatch& watch = nullptr);

/// Runs `job` on a unit of the machine.
GateRun run_unit(const GateModel& model, double period, const MachineConfig& machine,
                 const std::string& unit, const UnitJob& job);

/// Runs `job` on the array `small` (probe_array) with the module `probe` replaced by its gates.
GateRun run_gates(const GateModel& model, double period, const ArrayConfig& small,
                  const std::string& probe, const ActivityJob& job,
                  const GateWatch& watch = nullptr);

}  // namespace bitcycle
