// Energy from one technology node to another by published fits: on request only, never silently.
#pragma once

#include <string>
#include <vector>

namespace bitcycle {

/// EF = a V^2 + b V + c; energies of two nodes are as their EF.
struct ScalingRow {
  const char* node;  ///< nm, with HP or LP where the source has both
  double a, b, c;
  double volt;  ///< nominal supply
};

/// Stillmaker and Baas, "Scaling equations for the accurate prediction of CMOS device performance
/// from 180 nm to 7 nm", Integration 58, 2017, with its corrigendum.
const std::vector<ScalingRow>& scaling_rows();

/// Energies of `from` at `from_volt` times this are energies of `to` at its nominal supply. Throws
/// InputError naming `field` for an unknown node (with a suggestion).
double scaling_factor(const std::string& from, double from_volt, const std::string& to,
                      const std::string& field);

/// One sigma of such a factor: netlists of one PE in four libraries differ from it by 1.7 to 3.1.
constexpr double kScalingFactorBand = 2.5;

}  // namespace bitcycle
