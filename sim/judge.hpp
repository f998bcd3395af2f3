// Compares what the array did with the golden model and with the formula.
#pragma once

#include <optional>
#include <string>

#include "model/array_config.hpp"
#include "sim/stimulus.hpp"

namespace bitcycle {

/// One line that names the first difference, or nothing if all is as it must be:
/// results and sums as integers, the overflow flag where golden decides it, result masks, event
/// counts exactly, cycles exactly (with stalls: stall-free <= T <= stall-free + injected).
std::optional<std::string> judge(const ArrayConfig& config, const GemmJob& job,
                                 const JobResult& result);

/// "m=5 n=3 k=17 3x8 us": for messages.
std::string describe(const Descriptor& d);

}  // namespace bitcycle
