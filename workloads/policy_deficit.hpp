// Critical-learning-period experiments (arXiv 2403.02243, public code: crit_learn*.py).
#pragma once

#include "workloads/policy.hpp"

namespace bitcycle {

/// Low bits in [from, to), high bits before and after; gradient bits stay.
struct DeficitPolicySpec {
  BitPair low = {3, 8}, high = {8, 8};
  std::uint64_t from = 0, to = 16001;
  std::uint64_t iterations = 272000;
  void validate() const;  ///< from <= to <= iterations. Throws InputError
};

class DeficitPolicy : public Policy {
 public:
  explicit DeficitPolicy(DeficitPolicySpec spec);
  std::uint64_t iterations() const override { return spec_.iterations; }
  void write(const TraceLayers& layers, TraceSink& sink) const override;

 private:
  DeficitPolicySpec spec_;
};

class PolicySettings;
/// "deficit": `deficit` low iterations (one more with inclusive=yes, as the CIFAR trainer's <=),
/// then `normal` ones. "probe": `window` low iterations from `start` on, of `iterations`.
std::unique_ptr<Policy> make_deficit_policy(const std::string& name, PolicySettings& settings);

}  // namespace bitcycle
