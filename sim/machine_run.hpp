// One training iteration of a network on the whole machine, by the formula and, if asked,
// simulated.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/dram_timer.hpp"
#include "model/machine/memory_config.hpp"
#include "sim/energy_measure.hpp"
#include "sim/energy_model.hpp"
#include "sim/gate_check.hpp"
#include "sim/machine_backend.hpp"
#include "sim/machine_cost.hpp"

namespace bitcycle {

struct RunRequest {
  Network network;
  std::uint64_t batch = 1;
  IterationBits bits;
  std::optional<IterationBits> previous;  ///< of the iteration before
  std::string layer;                      ///< only this one; "" = all
  MachineCostOptions options;
  MemoryConfig memory;
  std::optional<DramTimingBounds> dram;  ///< options.memory is then the lower bound
  double clock_hz = 1e9;
  std::string engine = "formula";  ///< "formula", "systemc", "rtl"
  std::uint64_t seed = 1;
  EnergySettings energy;     ///< level kAuto: model where the PE is characterised, else literature
  std::string energy_table;  ///< YAML; "" = literature constants
  std::uint64_t activity_one_in = 16;  ///< windows of cycles whose activity is measured
  std::string command;
};

/// Energy of the iteration.
struct RunEnergy {
  EnergyLevel level = EnergyLevel::kOff;  ///< never kAuto
  std::string note;                       ///< why the level is not the default one
  EnergyTable table;
  // Levels table, model and gates:
  std::shared_ptr<EnergyModel> model;
  EnergyCounts counts;
  EnergyParts parts{};        ///< J
  std::vector<double> gemms;  ///< J of each of MachineIteration::gemms
  double vector = 0.0;        ///< J of vector work
  double seconds = 0.0;       ///< of the iteration
  std::optional<GateCheck> gates;
  // Level literature: the array, its buffers and the DRAM, with the bits that the machine moves.
  EnergyBreakdown literature;
};

/// What a simulation of the products showed.
struct SimulatedRun {
  std::string engine;
  std::string values;                ///< what the tensors hold
  std::vector<ProductRun> products;  ///< in the order of the run
  std::uint64_t cycles = 0;
  std::uint64_t wrong = 0;         ///< products whose results differ from golden
  std::uint64_t inexact = 0;       ///< products whose cycles or counters differ from the formula
  std::uint64_t table_cycles = 0;  ///< what the table says of the same products
  std::string mismatch;            ///< first difference of RTL and model; "" if none
  std::optional<MeasuredEnergy> measured;  ///< PEs, where energy is from gates
  double seconds = 0;  ///< wall clock, for the speed in a report on the terminal
  bool pass() const {
    return wrong == 0 && inexact == 0 && mismatch.empty() && cycles == table_cycles;
  }
};

struct RunResult {
  RunRequest request;
  MachineIteration iteration;
  std::optional<MachineIteration> upper;  ///< DRAM: on the upper timing
  std::uint64_t upper_cycles = 0;         ///< DRAM: with everything that can be added
  /// Precision switch: bits that change how weights are stored are requantised in any case, so a
  /// switch costs no more than what is listed here.
  std::uint64_t switch_cycles = 0;
  std::string warning;  ///< FP32 work that dominates; "" if none
  std::optional<SimulatedRun> simulated;
  RunEnergy energy;
};

/// Throws InputError: an unknown layer (with a suggestion), a layer that cannot run, a network that
/// the simulated engines do not take.
RunResult run_iteration(const RunRequest& request);

}  // namespace bitcycle
