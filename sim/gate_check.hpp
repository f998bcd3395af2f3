// How far the event model is off on a job: its heaviest widths and data, simulated at gate level.
#pragma once

#include <string>
#include <vector>

#include "sim/energy_model.hpp"

namespace bitcycle {

struct GateCheckRow {
  ActivityKey key;
  double share = 0.0;     ///< of the job's energy of working PEs
  double gates = 0.0;     ///< J a cycle of a PE
  double model = 0.0;     ///< the same by the event model
  double sampling = 0.0;  ///< relative standard error of `gates`
  std::uint64_t cycles = 0;
  double error() const { return model / gates - 1.0; }
};

struct GateCheck {
  std::vector<GateCheckRow> rows;
  double share = 0.0;   ///< of the job's energy of working PEs that the rows stand for
  double error = 0.0;   ///< of the model on that part, weighted by energy
  std::string warning;  ///< other gates than those that were characterised
};

/// Synthesises the PE for settings().liberty and simulates `most` pairs of widths and data of the
/// job. Throws InputError (library) and std::runtime_error (synthesis; netlist unlike the core).
GateCheck check_gates(const EnergyModel& model, const ArrayConfig& array,
                      const EnergyCounts& counts, std::size_t most = 6);

std::string gate_check_text(const GateCheck& check);

}  // namespace bitcycle
