// Activity of one PE, cycle by cycle, as the event model sees it: how many bits of what change.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/array_config.hpp"
#include "model/gates/pe_products.hpp"

namespace bitcycle {

/// Pins of a PE in one cycle (rtl/bc_pe.sv) and its registers after the edge that began it.
struct PePins {
  bool add = false, first = false, a_neg = false, w_neg = false, hold = false;
  std::uint8_t d = 0;
  const std::uint64_t* a = nullptr;  ///< packed digits, lane-major
  const std::uint64_t* w = nullptr;
  std::uint32_t ac = 0, ah = 0;
};

/// Turns pins into features: counts of changed bits since the cycle before (Hamming distances) and
/// their square roots, each of which any bit-accurate model of the array can compute.
class PeActivity {
 public:
  explicit PeActivity(const ArrayConfig& config);

  /// Names of the features, in order; the first is the constant 1 (clock and idle registers).
  const std::vector<std::string>& names() const { return names_; }
  /// What a feature counts, in words.
  const std::vector<std::string>& descriptions() const { return descriptions_; }
  /// Features of this cycle; writes names().size() values. False if nothing has changed: all but
  /// the first two are 0.
  bool step(const PePins& pins, double* features);

 private:
  /// Signals of the accumulator.
  struct Inner {
    std::uint64_t control = 0;
    std::uint32_t ones = 0, inverted = 0, dot = 0, base = 0, carries = 0, total = 0;
    std::uint32_t ac = 0, ah = 0;
  };

  std::size_t kl_;
  bool hold_, bit_;  ///< bit_: digits of one bit, whose sign the PE applies to their sum
  std::uint32_t mask_;
  std::size_t first_count_ = 0;
  std::vector<std::string> names_, descriptions_;
  std::vector<std::uint64_t> a_, w_;
  std::unique_ptr<BitProducts> bits_;  ///< either these
  std::unique_ptr<DigitProducts> digits_;
  Inner before_;
};

}  // namespace bitcycle
