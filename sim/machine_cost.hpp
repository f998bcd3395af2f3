// Cost of a network's training iteration on the whole machine: every GEMM compiled and timed by the
// recurrence, vector work beside it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/compile.hpp"
#include "model/machine/machine_config.hpp"
#include "model/machine/recurrence.hpp"
#include "sim/vector_cost.hpp"
#include "workloads/network.hpp"
#include "workloads/schedule.hpp"

namespace bitcycle {

/// Widths of one iteration: activations, weights, gradients.
struct IterationBits {
  int a = 8, w = 8, g = 8;
};

struct MachineCostOptions {
  MachineConfig machine;
  MemoryTiming memory;
  /// Memory that mappings are chosen for; unset = `memory`. Bounds of a run need its mappings.
  std::optional<MemoryTiming> planned_for;
  VectorUnit vector;
  DxLowering lowering = DxLowering::kPhases;
  bool exchange = true;  ///< operands may change places where that is faster
  OutputForm results = OutputForm::kRaw32;
};

/// Chunks that the array works on, as in PlanCost: what its events and energy follow from.
struct ChunkCounts {
  std::uint64_t pe = 0, first = 0, second = 0, tile = 0, results = 0, cycles = 0;
};

/// One GEMM of a layer, or all heads, groups and steps of it, on the machine. Cycles of the engines
/// add up to `cycles` each.
struct MachineGemm {
  std::size_t layer = 0;  ///< index into Network::layers
  GemmKind kind = GemmKind::kForward;
  /// The 1-bit product that an affine code's zero point meets: one operand is the mask of the
  /// positions inside the border. Only where there is a border.
  bool mask = false;
  Precision first, second;    ///< operand widths
  std::uint64_t repeats = 1;  ///< runs one after the other: steps of a recurrent layer

  std::uint64_t cycles = 0;        ///< of all repeats
  std::uint64_t array_cycles = 0;  ///< T of its descriptors, if operands were always there
  std::uint64_t steady = 0;        ///< of these, tiles*Ct: without start, last flush, last drain
  std::uint64_t set_up = 0;        ///< address set-up and result pipeline of exec instructions
  std::uint64_t wait_fetch = 0;    ///< exec waits for operands
  std::uint64_t wait_store = 0;    ///< exec waits for room in the output buffer
  std::uint64_t lead = 0;          ///< exec idle: first fetch, last store, instruction words
  std::array<EngineCycles, 3> engines;

  std::uint64_t first_bits = 0, second_bits = 0, result_bits = 0;  ///< moved to and from DRAM
  std::uint64_t first_unique = 0, second_unique = 0;  ///< bits of the operand tensors in DRAM
  std::uint64_t psum_written = 0, psum_read = 0;      ///< entries
  std::uint64_t l1_bits = 0;                          ///< written into operand buffers
  std::uint64_t macs_useful = 0, macs_issued = 0, macs_padded = 0;
  std::uint64_t execs = 0, fetches = 0, stores = 0;
  std::uint64_t read_bursts = 0, write_bursts = 0;
  std::array<ChunkCounts, 2> chunks;  ///< [1]: of plans whose operands change places
  double host_bytes = 0;              ///< explicit expansion, or col2im: vector work
  double host_ops = 0;
  std::string mapping;  ///< as Mapping's text
  bool expanded = false;

  MachineGemm& operator+=(const MachineGemm& other);  ///< counts only
  void scale(std::uint64_t times);                    ///< counts only
};

/// One iteration at one pair of widths.
struct MachineIteration {
  IterationBits bits;
  std::uint64_t gemm_cycles = 0;    ///< layers one after the other
  std::uint64_t vector_cycles = 0;  ///< FP32 work, one after the other and after the GEMMs
  std::uint64_t cycles() const { return gemm_cycles + vector_cycles; }
  std::vector<MachineGemm> gemms;  ///< layer by layer: fwd, dX, dW, each with its mask
  std::vector<VectorWork> vector;
};

/// Times networks on one machine; remembers every distinct GEMM, so that further widths, layers and
/// networks that share shapes are cheap.
class MachineCost {
 public:
  /// Throws InputError for an illegal machine or memory.
  explicit MachineCost(const MachineCostOptions& options);
  ~MachineCost();
  MachineCost(const MachineCost&) = delete;
  MachineCost& operator=(const MachineCost&) = delete;

  /// Throws InputError if a layer cannot run on the machine, naming it, or no layer is quantised.
  MachineIteration iteration(const Network& network, std::uint64_t batch,
                             const IterationBits& bits);

  /// One layer and kind. Throws as iteration.
  MachineGemm gemm(const Network& network, std::size_t layer, GemmKind kind, std::uint64_t batch,
                   const IterationBits& bits, bool mask = false);

  std::uint64_t distinct() const;  ///< GEMMs compiled so far

 private:
  MachineGemm run_plan(const Plan& plan, const PlanTimes& time) const;

  MachineCostOptions options_;
  std::map<std::string, MachineGemm> known_;
  std::shared_ptr<MappingPools> pools_ = std::make_shared<MappingPools>();
};

/// The compiler's job of a layer's GEMM. A matmul gives a MatmulJob, everything else a ConvJob.
struct LayerJob {
  bool is_conv = true;
  ConvJob conv;
  MatmulJob matmul;
  std::uint64_t repeats = 1;
  std::string key;  ///< equal keys: equal jobs
};
LayerJob layer_job(const Layer& layer, GemmKind kind, std::uint64_t batch,
                   const IterationBits& bits, const MachineCostOptions& options);

/// What guides the compiler on this machine and memory.
CompileOptions compile_options(const MachineCostOptions& options);

/// Whether the zero-point terms of a layer's GEMM need a masked product.
bool needs_mask(const Layer& layer, GemmKind kind);

/// Turns a convolution's job into its masked product: ones of one bit in place of the image (one
/// image is enough for Y and dX, one channel for dW).
void make_mask(LayerJob& job);

}  // namespace bitcycle
