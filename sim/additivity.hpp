// Is the array the sum of its modules? A small array simulated whole at gate level, against the sum
// of the event models of its modules on the same work.
#pragma once

#include <string>
#include <vector>

#include "model/gates/module_energy.hpp"
#include "sim/characterise.hpp"

namespace bitcycle {

struct AdditivityRow {
  std::string workload;
  double gates = 0.0;                 ///< J per cycle, whole array
  std::vector<ModuleEnergy> modules;  ///< joules: per cycle, of all instances
  std::vector<double> by_module;      ///< J per cycle of the gates of each, as modules
  double sum() const;
  double error() const { return sum() / gates - 1.0; }
};

struct Additivity {
  std::size_t cells = 0;  ///< of the whole array
  double area = 0.0, module_area = 0.0;
  std::vector<AdditivityRow> rows;
  std::uint64_t compared = 0;
  std::string mismatch;  ///< whole netlist or a module differs from the core
  double largest() const;
};

/// What a driver in the joined netlist sees at most, in mean input pins: a net that leads to many
/// modules is not buffered in it, as any flow would. Late, slow edges of control would else make
/// glitches in every PE.
constexpr double kBufferedLoad = 12;

/// Characterises every module of `o.arch` (o.cycles each; o.module is ignored), joins the netlists
/// of all its modules and simulates the whole. An array of more than some 4 x 4 PEs takes long.
Additivity check_additivity(const CharacteriseOptions& o);

/// Its workloads: long tiles, tiles of one chunk, edge tiles.
std::vector<ActivityJob> additivity_jobs(const ArrayConfig& array, std::uint64_t cycles);

/// The array whose parameters are those of `config`, small enough for that: 4 x 4 PEs, 16 lanes at
/// most, 8-bit operands.
ArrayConfig additivity_array(const ArrayConfig& config);

}  // namespace bitcycle
