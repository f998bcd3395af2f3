// Seeded operands for tests and co-simulation: random codes and the directed corners.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "golden/codes.hpp"
#include "golden/types.hpp"

namespace bitcycle {

enum class OperandPattern {
  kUniform,      ///< independent, uniform over the code range
  kMinimum,      ///< every code the smallest (-2^(bits-1) if signed)
  kMaximum,      ///< every code the largest
  kAllOnes,      ///< every bit 1: -1 if signed
  kAlternating,  ///< smallest and largest in turn; A every k, W every other k: all four pairs occur
  kCancel,       ///< every result is +1 or -1 after a long rise and an equal fall (see below)
  kZero,         ///< every code 0
  kOneHot,       ///< A: a single 1 bit in each row; W: uniform. Finds swapped lanes and planes
};

constexpr std::array<OperandPattern, 8> kOperandPatterns = {
    OperandPattern::kUniform, OperandPattern::kMinimum,     OperandPattern::kMaximum,
    OperandPattern::kAllOnes, OperandPattern::kAlternating, OperandPattern::kCancel,
    OperandPattern::kZero,    OperandPattern::kOneHot};

/// "uniform", "minimum", "maximum", "all-ones", "alternating", "cancel", "zero", "one-hot".
std::string operand_pattern_name(OperandPattern pattern);

/// Inverse of operand_pattern_name; throws InputError with a suggestion for an unknown name.
OperandPattern operand_pattern_from_name(const std::string& name);

struct Operands {
  CodeMatrix a;  ///< M x K
  CodeMatrix w;  ///< N x K
};

/// Operands of one product. Each code is a function of (pattern, shape, precision, seed, position)
/// only, never of the order of calls. `seed` matters to kUniform, kCancel and kOneHot.
///
/// kCancel needs codes y and -y, so a signed operand of 2 bits or more: large products of one sign
/// for the first half of K, their negatives for the second, then one product of +-1. Otherwise no
/// sum can fall again, and large codes meet only zeros before the product of +-1.
/// Throws InputError for a bad precision or a dimension that is 0 or over 2^31-1.
Operands make_operands(OperandPattern pattern, std::uint64_t m, std::uint64_t n, std::uint64_t k,
                       Precision pa, Precision pw, std::uint64_t seed);

}  // namespace bitcycle
