// What a library cell does in every state of its pins: function, delay arcs and energy groups.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/gates/liberty.hpp"

namespace bitcycle {

/// One output of a cell for every change of one input in every state. State bit i is input i (in
/// the order of `CellTables::inputs`); a sequential cell has its stored bit above them.
struct CellOutput {
  std::size_t pin = 0;  ///< in the cell's pins
  /// What happens when input i changes in state s; index i * 2^width + s.
  struct Change {
    bool was = false;         ///< value that the output tends to before
    bool out = false;         ///< and afterwards; arcs and powers are of this edge
    bool store_flip = false;  ///< the stored bit changes
    std::uint32_t arcs = 0;   ///< first of timing_refs
    std::uint32_t arc_count = 0;
    std::uint32_t powers = 0;  ///< first of power_refs
    std::uint32_t power_count = 0;
  };
  std::vector<Change> changes;
  std::vector<const LibertyTiming*> timing_refs;  ///< delays are the mean over a change's arcs
  struct PowerRef {
    const LibertyPower* power = nullptr;
    double weight = 1.0;  ///< mean inside a power pin, sum over power pins
  };
  std::vector<PowerRef> power_refs;
  bool initial(std::uint32_t state) const { return settled[state]; }
  std::vector<bool> settled;  ///< value of the output in a state
};

/// All of one cell. Shared by its instances.
struct CellTables {
  const LibertyCell* cell = nullptr;
  std::vector<std::size_t> inputs;  ///< pins
  bool sequential = false;
  int width = 0;  ///< state bits
  std::vector<CellOutput> outputs;
  /// Energy that the input itself costs, as CellOutput::Change's powers; index as there.
  struct PinChange {
    std::uint32_t powers = 0, power_count = 0;
  };
  std::vector<PinChange> pin_changes;
  std::vector<CellOutput::PowerRef> pin_refs;
  std::vector<double> leakage;  ///< W, by state
};

/// Throws InputError (file and line of the cell) for a cell that cannot be simulated: more than 12
/// inputs, buses, three-state or inout pins, state tables, an output without function, a function
/// that names no pin.
CellTables make_cell_tables(const LibertyCell& cell);

}  // namespace bitcycle
