// Integrated clock gates of a library. Internal to model/gates/.
#pragma once

#include <string>

#include "model/gates/liberty.hpp"

namespace bitcycle {

/// Gives a cell whose clock_gating_integrated_cell attribute is `kind` the function that the
/// attribute stands for: latch_posedge[_precontrol|_postcontrol][_obs] without pin for observation
/// is a latch, open while the clock is low, and an AND behind it; a test input counts as enable
/// before or after the latch. Cells of other kinds, and those whose pins do not say which is which,
/// stay as they are.
void make_clock_gate(LibertyCell& cell, const std::string& kind);

}  // namespace bitcycle
