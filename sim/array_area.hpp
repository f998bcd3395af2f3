// Cell area of the whole array, module by module.
#pragma once

#include <string>
#include <vector>

#include "model/array_config.hpp"
#include "model/gates/liberty.hpp"
#include "model/machine/machine_config.hpp"

namespace bitcycle {

struct ModuleArea {
  std::string module;  ///< RTL module, without parameters
  std::uint64_t instances = 0;
  std::uint64_t cells = 0;  ///< of all instances, their submodules not counted
  double area = 0.0;        ///< of those, um^2
};

/// Sources of bc_array for synthesis, in rtl/.
std::vector<std::string> array_files();

/// Maps every module of the array alone and bc_array around them (map_array) and adds up their
/// cells; those of bc_array itself are the glue. The largest first. Throws as synthesise().
std::vector<ModuleArea> array_area(const ArrayConfig& array, const LibertyLibrary& library);

/// The same of the machine around the array, without what is memory or has one inside: bc_l1,
/// bc_psum and bc_ob, and bc_array itself; all have 0 cells.
std::vector<ModuleArea> machine_area(const MachineConfig& machine, const LibertyLibrary& library);

/// The same from the text of a hierarchical netlist in yosys' JSON with a module marked as top.
std::vector<ModuleArea> netlist_area(const std::string& json, const std::string& file,
                                     const LibertyLibrary& library);

}  // namespace bitcycle
