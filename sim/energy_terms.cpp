#include "sim/energy_terms.hpp"

#include <algorithm>
#include <cmath>

#include "model/scaling.hpp"

namespace bitcycle {

double model_error(const Characterisation& c) {
  double squares = 0.0;
  for (const auto& w : c.held_out) squares += w.error * w.error;
  return c.held_out.empty() ? c.held_out_mean
                            : std::sqrt(squares / static_cast<double>(c.held_out.size()));
}

std::vector<EnergyTerm> gate_terms(const Characterisation& c) {
  std::vector<EnergyTerm> out;
  for (const auto& b : c.bands) {
    if (b.name != "sampling" && b.name != "model") out.push_back({b.name, b.low, b.high});
  }
  return out;
}

EnergyTerm scaling_term() {
  return {"scaling", 1.0 - 1.0 / kScalingFactorBand, kScalingFactorBand - 1.0};
}

void widen(EnergyPartInfo& part, const std::vector<EnergyTerm>& terms) {
  for (const EnergyTerm& t : terms) {
    const auto same = std::find_if(part.terms.begin(), part.terms.end(),
                                   [&](const EnergyTerm& o) { return o.name == t.name; });
    if (same == part.terms.end()) {
      part.terms.push_back(t);
    } else {
      same->low = std::max(same->low, t.low);
      same->high = std::max(same->high, t.high);
    }
  }
}

}  // namespace bitcycle
