// Causes of error that come from a characterisation. Internal to sim/.
#pragma once

#include <vector>

#include "model/gates/characterisation.hpp"
#include "sim/energy_ledger.hpp"

namespace bitcycle {

/// Root of the mean square over held-out workloads: one sigma of the event model on work that it
/// has not seen.
double model_error(const Characterisation& c);

/// Bands that do not depend on the job: wires, clock tree and netlist, which are the library's and
/// common to its modules.
std::vector<EnergyTerm> gate_terms(const Characterisation& c);

/// Scaling to another node.
EnergyTerm scaling_term();

/// The part gets the widest of its terms and these: bands of a part are those of its worst module.
void widen(EnergyPartInfo& part, const std::vector<EnergyTerm>& terms);

}  // namespace bitcycle
