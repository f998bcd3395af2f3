// Any learning-rate schedule as a precision schedule.
#pragma once

#include <vector>

#include "workloads/policy.hpp"

namespace bitcycle {

/// A learning rate l(t) between 0 and 1 (of its maximum), turned into bits: with `inverse`, as CPT
/// argues, a large rate means few bits: b = round(qmax - (qmax-qmin)*l); otherwise round(qmin +
/// (qmax-qmin)*l). Gradient bits go the same way between their own bounds. Halves to even.
struct LearningRatePolicySpec {
  enum class Profile {
    kStep,          ///< gamma^(number of milestones passed)
    kPolynomial,    ///< (1 - t/N)^power
    kKDecay,        ///< (1 - (t/N)^k)^power (k-decay, arXiv 2004.05909)
    kKDecayCosine,  ///< (1 + cos(pi (t/N)^k)) / 2 (the same)
    kCosine,        ///< (1 + cos(pi t/N)) / 2
    kWarmRestarts,  ///< cosine in cycles of T0, T0*mult, ... (SGDR, arXiv 1608.03983)
    kOneCycle,      ///< up from `start` to 1 in warmup*N, down to `end`, cosine (arXiv 1708.07120)
  };
  Profile profile = Profile::kStep;
  BitRange bits;
  bool inverse = true;
  std::uint64_t iterations = 64000;
  std::vector<std::uint64_t> milestones = {32000, 48000};  ///< kStep, ascending
  double gamma = 0.1;
  double power = 1.0, k = 1.0;
  std::uint64_t first_cycle = 2000, multiple = 1;   ///< kWarmRestarts
  double warmup = 0.3, start = 0.04, end = 0.0004;  ///< kOneCycle, as fractions

  void validate() const;               ///< throws InputError
  double rate(std::uint64_t t) const;  ///< 0 to 1
  BitPair at(std::uint64_t t) const;
};

class LearningRatePolicy : public Policy {
 public:
  explicit LearningRatePolicy(LearningRatePolicySpec spec);
  std::uint64_t iterations() const override { return spec_.iterations; }
  void write(const TraceLayers& layers, TraceSink& sink) const override;

 private:
  LearningRatePolicySpec spec_;
};

/// Bits given as a list "0:3/8,16000:8/8": from each iteration on.
struct PiecewisePolicySpec {
  std::vector<std::pair<std::uint64_t, BitPair>> steps;
  std::uint64_t iterations = 64000;
  void validate() const;  ///< the first at 0, ascending, below iterations
};

class PiecewisePolicy : public Policy {
 public:
  explicit PiecewisePolicy(PiecewisePolicySpec spec);
  std::uint64_t iterations() const override { return spec_.iterations; }
  void write(const TraceLayers& layers, TraceSink& sink) const override;

 private:
  PiecewisePolicySpec spec_;
};

class PolicySettings;
std::unique_ptr<Policy> make_learning_rate_policy(const std::string& name,
                                                  PolicySettings& settings);
std::unique_ptr<Policy> make_piecewise_policy(const std::string& name, PolicySettings& settings);

}  // namespace bitcycle
