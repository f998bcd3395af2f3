// Co-simulation of sampled tiles on the RTL: how `compare --check K` proves its cycle counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/array_config.hpp"
#include "model/formula.hpp"

namespace bitcycle {

/// A descriptor that occurs in a job, in the operand order in which it runs.
struct CheckItem {
  ArrayConfig array;
  Descriptor descriptor;
  std::uint64_t count = 0;  ///< how often it runs in one training iteration
  std::string label;        ///< network, layer, GEMM and bits, for messages
};

/// What co-simulation found.
struct CheckVerdict {
  bool pass = false;
  std::uint64_t tiles = 0;   ///< tiles co-simulated
  std::uint64_t gemms = 0;   ///< descriptors issued for them
  std::uint64_t cycles = 0;  ///< RTL cycles simulated
  std::string text;          ///< one line: what was compared, or the first difference
};

/// Co-simulates `tiles` tiles sampled from `items` by `seed` on the RTL, edge tiles and every
/// precision pair included, against the SystemC model, the golden model and the formula.
CheckVerdict check_tiles(const std::vector<CheckItem>& items, std::uint64_t tiles,
                         std::uint64_t seed);

}  // namespace bitcycle
