// Matrices of integer codes and the two's complement patterns behind them.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>

#include "golden/types.hpp"

namespace bitcycle {

/// One operand: a row for each output row (column), along it the K codes of the reduction.
using CodeMatrix = Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Throws InputError if `p` is out of range, the matrix is empty or a code is out of the range of
/// `p`; names the first such code in row order ("A[2][7]"), its value and what is allowed.
void check_codes(const CodeMatrix& codes, Precision p, const std::string& name);

/// The `bits` bits of a code as an unsigned number: its bit planes, all with positive weight.
constexpr std::uint32_t pattern_of(std::int32_t code, int bits) {
  return static_cast<std::uint32_t>(code) & ((1U << bits) - 1U);
}

/// The code whose low `p.bits` bits are those of `pattern`; higher bits are ignored.
constexpr std::int32_t code_of(std::uint32_t pattern, Precision p) {
  const std::uint32_t kept = pattern & ((1U << p.bits) - 1U);
  const bool negative = p.is_signed && ((kept >> (p.bits - 1)) & 1U) != 0;
  return static_cast<std::int32_t>(kept) - (negative ? 1 << p.bits : 0);
}

}  // namespace bitcycle
