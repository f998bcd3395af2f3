// The array's gates as the sum of its modules: every module mapped alone, as it is characterised,
// and the glue mapped around them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/array_config.hpp"
#include "model/gates/array_modules.hpp"
#include "model/gates/netlist_join.hpp"
#include "sim/module_probe.hpp"
#include "sim/synthesis.hpp"

namespace bitcycle {

/// Synthesis of a module alone; out_dir is still to be given.
SynthesisRequest request_for(const ModuleProbe& probe);

/// Maps the module of `request`. Where some modules are left out the netlist is what is around
/// them (open_boxes). Throws as synthesise() and load_netlist().
Netlist mapped_netlist(const LibertyLibrary& library, const SynthesisRequest& request);

struct ArrayNetlists {
  BoxedNetlist array;                    ///< glue around boxes
  std::map<std::string, Netlist> parts;  ///< by NetlistBox::type

  /// The whole array, flat.
  Netlist joined() const;
  /// Index in `kinds` (array_modules) of the module that each instance of joined() belongs to.
  std::vector<int> owners(const std::vector<ModuleKind>& kinds) const;
};

struct ArrayMapping {
  double delay = 0.0;       ///< as SynthesisRequest
  bool clock_gates = true;  ///< false: registers with enables
  std::string keep;         ///< directory for netlists and logs, one below it for each; "" = none
};

/// Maps glue and modules of `array`. `library` must outlive the result.
ArrayNetlists map_array(const ArrayConfig& array, const LibertyLibrary& library,
                        const ArrayMapping& mapping = {});

}  // namespace bitcycle
