// Files that an energy model is made from, and what can be read off a characterisation. Internal to
// sim/.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "sim/energy_model.hpp"

namespace bitcycle {

/// Energies of the event model in the order of `features`. Throws InputError if the
/// characterisation has others.
Eigen::VectorXd coefficients_of(const Characterisation& c,
                                const std::vector<std::string>& features);

/// "130 nm" and the row of the scaling table that fits the library.
std::string node_text(const Characterisation& c);
std::string logic_node(const Characterisation& c);

/// J a cycle on uniform data of the workload's widths and signs ("8x8 uu relu"); 0 if not there.
double uniform_energy(const Characterisation& c, const std::string& label);
/// Whether the label names data that networks have (not zero, extreme or idle).
bool realistic(const std::string& label);

struct UniformEnergy {
  double joules = 0.0;  ///< a cycle
  std::string label;    ///< of the workload
  bool exact = false;   ///< of these widths and signs
};
/// The uniform workload nearest to these widths: same signs first, then least difference of bits.
/// Throws InputError if there is none.
UniformEnergy nearest_uniform(const Characterisation& c, Precision a, Precision w);

/// --sram, or the table that goes with the technology. Throws InputError.
SramTable resolve_sram(const EnergySettings& settings);

}  // namespace bitcycle
