// FP32 work around the GEMMs, in bytes and operations, and its time on a vector unit of a stated
// throughput. Batch norm, activations, pooling, residual sums and loss come from the network; what
// cyclic precision training adds (extremes, quantisation, removal of zero points, update of the
// master weights) follows from the layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/network.hpp"
#include "workloads/schedule.hpp"

namespace bitcycle {

/// One kind of vector work of an iteration, summed over layers.
struct VectorWork {
  std::string kind;  ///< "extremes", "quantise", "results", "update", "batch-norm", ...
  double bytes = 0;  ///< moved between the vector unit and DRAM
  double ops = 0;    ///< FP32 operations; an exp, division or root counts as one
  double cycles = 0;

  VectorWork& operator+=(const VectorWork& other);
};

/// What the vector unit can do in a cycle.
struct VectorUnit {
  double bytes_per_cycle = 64;
  double ops_per_cycle = 64;
};

struct VectorOptions {
  VectorUnit unit;
  int result_bits = 32;  ///< of raw results, as the result unit stores them
  /// Weights have a scale for each output channel: it is folded into G before dX, which needs a
  /// second quantised copy of G and an FP32 dot product for the weights' zero points.
  bool per_channel_weights = true;
  bool backward = true;  ///< false: a validation pass
};

/// Vector work of one iteration, one entry a kind, in a fixed order; the kinds of vector_ops by the
/// operator's name. Rules: docs/vector-work.md. Throws InputError if batch is 0.
std::vector<VectorWork> vector_work(const Network& network, std::uint64_t batch,
                                    const BitPair& bits, const VectorOptions& options);

/// Time of work that moves `bytes` and computes `ops`: the slower of the two.
double vector_cycles(double bytes, double ops, const VectorUnit& unit);

VectorWork total(const std::vector<VectorWork>& work);

/// One line if layers that stay FP32 and embeddings (with their updates) take half of an
/// iteration's cycles or more, naming the largest; else "".
std::string fp32_warning(const Network& network, std::uint64_t batch, const BitPair& bits,
                         const VectorOptions& options, double iteration_cycles);

}  // namespace bitcycle
