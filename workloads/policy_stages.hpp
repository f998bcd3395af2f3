// Policies that climb a list of widths: FracTrain's progressive stages and MuPPET's word lengths.
#pragma once

#include <vector>

#include "workloads/policy.hpp"

namespace bitcycle {

/// A network-wide width that holds from an iteration on; fp32 = no array work.
struct Stage {
  std::uint64_t start = 0;
  BitPair bits;
  bool fp32 = false;
};

class StagePolicy : public Policy {
 public:
  /// Throws InputError unless starts rise from 0 and lie below `iterations`.
  StagePolicy(std::vector<Stage> stages, std::uint64_t iterations);
  std::uint64_t iterations() const override { return iterations_; }
  void write(const TraceLayers& layers, TraceSink& sink) const override;
  const std::vector<Stage>& stages() const { return stages_; }

 private:
  std::vector<Stage> stages_;
  std::uint64_t iterations_;
};

/// FracTrain PFQ (NeurIPS 2020; rule: fractrain_cifar/train_pfq.py of GATECH-EIC/FracTrain).
struct PfqRule {
  double eps = 0.05, decay = 0.3;  ///< eps is multiplied by decay after the 1st and 2nd switch
  std::uint64_t period = 400;      ///< iterations of an evaluation period
  std::size_t most_switches = 3;
};

/// Periods (counted from 0) at whose end the stage advances: the |difference| of the latest loss to
/// each of the 4 before, divided by the mean of the first (at most 10) losses, is at most eps. The
/// losses before a switch are forgotten: the next comes 5 periods later at the earliest.
std::vector<std::size_t> pfq_switches(const std::vector<double>& losses, const PfqRule& rule);

/// MuPPET (ICML 2020; rule: policy.py of ICIdsl/muppet).
struct MuppetRule {
  std::uint64_t resolution = 3;  ///< epochs between checks: at epochs 2, 5, 8, ... counted from 0
  int patience = 2;              ///< violations until the next width
};

/// Epochs from which the next width holds. `diversity` has one value per check: the mean over
/// parameters of (sum ||grad||^2) / ||sum grad||^2. A check violates if (largest since the last
/// switch) / (current) > 1 + 1.5*exp(-0.1*epoch). At most `most` switches.
std::vector<std::uint64_t> muppet_switches(const std::vector<double>& diversity,
                                           const MuppetRule& rule, std::size_t most);

class PolicySettings;
std::unique_ptr<Policy> make_pfq_policy(const std::string& name, PolicySettings& settings);
std::unique_ptr<Policy> make_muppet_policy(const std::string& name, PolicySettings& settings);
/// FP4 pre-training (arXiv 2502.11458): low bits, attention wider, then a target-precision phase.
std::unique_ptr<Policy> make_target_precision_policy(const std::string& name,
                                                     PolicySettings& settings);

}  // namespace bitcycle
