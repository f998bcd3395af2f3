// From counts of the formula and of the machine to the work that energy is computed from.
#pragma once

#include "sim/compare_cost.hpp"
#include "sim/energy_model.hpp"
#include "sim/machine_cost.hpp"

namespace bitcycle {

/// Statistics of the two operands of one of a layer's products, as the table of GEMMs lists them.
struct OperandStatistics {
  OperandData first = OperandData::kUniform, second = OperandData::kUniform;
};
OperandStatistics statistics_of(const DataAssumption& data, GemmKind kind);

/// Work of one descriptor on the array alone.
ArrayWork array_work(const ArrayConfig& config, const Descriptor& descriptor,
                     const OperandStatistics& data, std::uint64_t macs_useful);

/// Adds one GEMM of a layer on the machine: array, buffers, DRAM, idle clock and leakage while it
/// runs. `transposed`: the layer is a transposed convolution (its dW is X x G).
void add_machine_gemm(EnergyModel& model, EnergyCounts& counts, const MachineConfig& machine,
                      const MachineGemm& gemm, bool transposed, double clock_hz,
                      double times = 1.0);

/// Adds vector work: bytes to and from DRAM (half each), operations, and the clocked array that
/// waits meanwhile.
void add_vector_energy(EnergyModel& model, EnergyCounts& counts, double bytes, double ops,
                       double cycles, double clock_hz, double times = 1.0);

}  // namespace bitcycle
