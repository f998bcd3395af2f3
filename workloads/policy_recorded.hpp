// Policies whose widths follow what training measured: the published rule applied to a recording.
#pragma once

#include <string>
#include <vector>

#include "workloads/policy.hpp"

namespace bitcycle {

/// One measured value of a layer (or of "all"), in force from an iteration on.
struct RecordedValue {
  std::uint64_t iteration = 0;
  LayerSelection layers;
  double value = 0.0;
  int line = 0;
};

/// Reads "iteration,layer,value", iterations never falling. Throws InputError with file and line.
std::vector<RecordedValue> read_recorded(const std::string& path);

/// LDP (arXiv 2203.07713; src/quantize.py of GATECH-EIC/ViTALiTy): the value is beta of a layer,
/// b = clamp(round(beta*(bmax-bmin) + bmin), bmin, bmax) for W and A, gradient bits fixed.
int ldp_bits(double beta, int bmin, int bmax);

/// APT (arXiv 2012.12775): the value is Gavg, the gradient relative to the quantisation step; below
/// `threshold` the layer gets a bit more, above `upper` one less, between bmin and bmax. One width
/// for W, A and G.
struct AptRule {
  int start = 6, bmin = 2, bmax = 16;
  double threshold = 1.0, upper = 10.0;
  int next(int bits, double gavg) const;
};

/// DPS (arXiv 1801.08621): integer and fraction bits of W, A and G move by overflow rate and
/// quantisation error: overflow > most_overflow: one integer bit more; twice the overflow <= it:
/// one less; error > most_error: one fraction bit more, otherwise one less. Width = integer +
/// fraction, kept in 2..16. The published abstract names the two thresholds; the step of one bit is
/// ours.
struct DpsRule {
  double most_overflow = 1e-4, most_error = 1e-4;
  int integer = 4, fraction = 12;
};

class PolicySettings;
std::unique_ptr<Policy> make_ldp_policy(const std::string& name, PolicySettings& settings);
std::unique_ptr<Policy> make_apt_policy(const std::string& name, PolicySettings& settings);
std::unique_ptr<Policy> make_dps_policy(const std::string& name, PolicySettings& settings);

}  // namespace bitcycle
