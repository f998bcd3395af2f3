// Energy of a flat netlist by the parts that it was joined from, counted as a part alone counts it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/gates/gate_sim.hpp"

namespace bitcycle {

class GateOwners {
 public:
  /// `owner_of`: of each instance, below `owners`. `model` must outlive this.
  GateOwners(const GateModel& model, std::vector<int> owner_of, int owners);

  /// J of each owner since the start of `sim`, which must be a profiled one of the same model: what
  /// its cells use inside, and charging its pins and the wires that lead to its inputs, whoever
  /// drives them. The sum is that of the simulation but for rounding.
  std::vector<double> joules(const GateSim& sim) const;

 private:
  const GateModel& model_;
  std::vector<int> owner_of_;
  std::size_t owners_;
  std::vector<std::uint32_t> gate_of_;    ///< gate of each entry
  std::vector<std::vector<double>> net_;  ///< F of each owner on each net
};

}  // namespace bitcycle
