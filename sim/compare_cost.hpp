// Cost of one training iteration of a network on an array, at one pair of bit widths.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/array_config.hpp"
#include "model/energy.hpp"
#include "model/formula.hpp"
#include "sim/compare.hpp"
#include "sim/energy_model.hpp"
#include "workloads/layer_bits.hpp"
#include "workloads/network.hpp"

namespace bitcycle {

/// Descriptors of one iteration that are alike: a network has few distinct ones.
struct DistinctGemm {
  GemmKind kind = GemmKind::kForward;
  Gemm shape;
  Width a = Width::kForward, w = Width::kForward;
  bool first_layer = false;
  std::uint64_t count = 0;
  std::uint64_t macs_useful = 0;  ///< of all `count` together
  std::string layer;              ///< name of the first layer that has it
};

/// Elements moved per iteration by one of the three GEMMs, unexpanded, summed over layers.
struct TensorTraffic {
  std::uint64_t read_input = 0;     ///< X
  std::uint64_t read_weight = 0;    ///< W
  std::uint64_t read_gradient = 0;  ///< G
  std::uint64_t written = 0;        ///< results (Y, dX or dW)
};

/// A network (or one GEMM) with everything that does not depend on bits or array.
struct Workload {
  std::string name;
  std::uint64_t batch = 0;
  std::string convention = "all", convention_text;
  std::uint64_t forward_macs = 0;  ///< per iteration: the papers' MAC count
  std::string first_layer;
  double first_layer_macs = 0.0;  ///< share of forward_macs
  std::uint64_t fp32_macs = 0;    ///< forward, per iteration, of layers that are not quantised
  u128 vector_forward = 0, vector_backward = 0;  ///< FP32 operations per iteration
  std::vector<DistinctGemm> gemms;
  std::array<TensorTraffic, 3> traffic;  ///< by GemmKind
};

/// Throws InputError if a count exceeds 64 bits or no layer is quantised.
Workload make_workload(const Network& network, std::uint64_t batch, DxLowering lowering);

/// One dense layer whose forward GEMM is `gemm`: batch M, N outputs, K inputs.
Workload make_gemm_workload(const Gemm& gemm);

/// How one iteration is costed.
struct CostOptions {
  OperandOrder order = OperandOrder::kBest;
  std::optional<int> result_bits = 32;
  EnergyModel* energy = nullptr;  ///< energies from gates of the array alone; may be null
  double clock_hz = 1e9;
};

/// A distinct GEMM as it runs at certain bits.
struct OrientedGemm {
  Descriptor descriptor;
  GemmTiming timing;
  bool exchanged = false;  ///< operands have changed places
};

/// Picks the operand order. Throws InputError for bits wider than P_MAX.
OrientedGemm orient(const ArrayConfig& config, const DistinctGemm& gemm, const LayerBits& bits,
                    OperandOrder order);

/// Adds energy counts of one of the three GEMMs to a row with gates.
void add_array_counts(CompareRow& row, const EnergyCounts& counts, std::size_t kind,
                      std::uint64_t times);

/// Cost of all descriptors of one of the three GEMMs in one iteration.
struct KindCost {
  GemmTotals total;
  u128 mac_slots = 0;
  SlotCounts slots;
  SlotCounts slots_first_layer;
  EventTotals events;
  EnergyCounts energy;  ///< items of CostOptions::energy
};

/// Throws InputError as gemm_timing.
KindCost kind_cost(const Workload& workload, GemmKind kind, const ArrayConfig& config,
                   const EnergyTable& table, const LayerBits& bits, const CostOptions& options);

/// Cost of one iteration.
struct IterationCost {
  std::uint64_t cycles = 0;
  std::array<GemmTotals, 3> gemms;
  u128 mac_slots = 0;  ///< lanes of all tiles and chunks walked, MAC positions
  SlotCounts slots;
  SlotCounts slots_first_layer;
  EventTotals events;
  std::array<EnergyCounts, 3> energy_counts;  ///< by GemmKind

  EnergyBreakdown energy() const;
};

/// Throws InputError as gemm_timing.
IterationCost iteration_cost(const Workload& workload, const ArrayConfig& config,
                             const EnergyTable& table, const LayerBits& bits,
                             const CostOptions& options);

}  // namespace bitcycle
