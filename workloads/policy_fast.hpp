// FAST (HPCA 2022, arXiv 2110.15456): 2- and 4-bit mantissas by tensor, layer and iteration.
#pragma once

#include "workloads/policy.hpp"

namespace bitcycle {

/// The published rule compares the relative improvement of a 4-bit over a 2-bit mantissa with a
/// threshold that falls with layer and iteration, so it depends on training: record it. Without a
/// record, this is a front with the published shape: tensor class c of layer l (of L, 0 first)
/// goes from `low` to `high` bits at iteration N * clamp(c + spread*(1 - l/(L-1)), 0, 1): late
/// layers first. FAST's mantissas have a sign beside them: set low=3 high=5 to count it.
struct FastPolicySpec {
  int low = 2, high = 4;
  double w = 0.4, a = 0.2, g = 0.0;  ///< begin of each tensor's front, share of the run
  double spread = 0.5;               ///< from the last layer to the first, share of the run
  std::uint64_t iterations = 64000;
};

class FastPolicy : public Policy {
 public:
  explicit FastPolicy(FastPolicySpec spec) : spec_(spec) {}
  std::uint64_t iterations() const override { return spec_.iterations; }
  bool by_layer() const override { return true; }
  void write(const TraceLayers& layers, TraceSink& sink) const override;

 private:
  FastPolicySpec spec_;
};

class PolicySettings;
std::unique_ptr<Policy> make_fast_policy(const std::string& name, PolicySettings& settings);

}  // namespace bitcycle
