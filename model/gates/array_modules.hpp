// The modules that the array consists of: what they are called, made from, and how many there are.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/array_config.hpp"

namespace bitcycle {

struct ModuleKind {
  std::string name;        ///< of characterisations: "pe", "acc", "chunk-a"...
  std::string rtl_module;  ///< "bc_pe"
  std::vector<std::pair<std::string, int>> parameters;
  std::vector<std::string> files;  ///< in rtl/
  std::size_t instances = 0;       ///< in bc_array with these parameters
};

/// Whole parameters of bc_array, in the order of its header.
std::vector<std::pair<std::string, int>> array_parameters(const ArrayConfig& config);

/// All parts of bc_array. The accumulators of the ones row are a module of their own ("acc-ones")
/// where their read port differs. All four tile walkers count as one ("walker"); that of the drain
/// is smaller in truth. The last one, "glue", is bc_array without what is in the others.
std::vector<ModuleKind> array_modules(const ArrayConfig& config);

/// RTL modules that the glue is between: those of the others. What else is instantiated belongs to
/// the glue.
std::vector<std::string> glued_modules(const ArrayConfig& config);

/// Whether parameters are alike but for clock gates: records of modules with enables serve as well.
bool same_parameters(const std::vector<std::pair<std::string, int>>& a,
                     const std::vector<std::pair<std::string, int>>& b);

}  // namespace bitcycle
