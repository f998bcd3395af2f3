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

/// Characterises every module of `o.arch` (o.cycles each; o.module is ignored), maps the array
/// module by module, flattens it and simulates it. An array of more than some 4 x 4 PEs takes long.
Additivity check_additivity(const CharacteriseOptions& o);

/// The array whose parameters are those of `config`, small enough for that: 4 x 4 PEs, 16 lanes at
/// most, 8-bit operands.
ArrayConfig additivity_array(const ArrayConfig& config);

}  // namespace bitcycle
