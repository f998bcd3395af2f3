// How many bits an exact sum of products needs, and what fits in how many.
#pragma once

#include <cstdint>
#include <string>

#include "golden/checked.hpp"
#include "golden/types.hpp"

namespace bitcycle {

constexpr int kMaxOperandBits = 16;
constexpr int kMaxAccumulatorBits = 64;

/// Throws InputError (naming `what`) unless 1 <= p.bits <= kMaxOperandBits.
void check_precision(Precision p, const std::string& what);

/// Throws InputError unless 1 <= acc_w <= kMaxAccumulatorBits.
void check_accumulator_width(int acc_w);

/// Smallest and largest code of `p`: -2^(bits-1) .. 2^(bits-1)-1 if signed, else 0 .. 2^bits-1.
/// Throws InputError if `p.bits` is out of range.
std::int32_t code_min(Precision p);
std::int32_t code_max(Precision p);

/// The width rule: bits of a two's complement accumulator that holds every sum of `k` products,
/// pa + pw + ceil(log2 k), plus one if both operands are unsigned. Never too few; tight when `k` is
/// a power of two, else at most one bit too many, and one more if an operand is one unsigned bit.
/// fits_always is exact.
/// Throws InputError for a bad precision or k = 0.
int accumulator_bits(Precision a, Precision w, std::uint64_t k);

/// Whether every sum of up to `k` products of any codes fits in `acc_w` bits of two's complement
/// (by the true extreme codes, not by the rule above). It speaks of sums of whole products; the
/// partial sums of digit products inside a product can be larger for signed operands, see
/// GoldenResult::cannot_overflow. For those, ask with both operands unsigned.
/// Throws InputError for a bad precision, a bad `acc_w` or k = 0.
bool fits_always(Precision a, Precision w, std::uint64_t k, int acc_w);

/// Whether `value` fits in `bits` (1..64) bits of two's complement.
constexpr bool fits_width(i128 value, int bits) {
  const i128 limit = static_cast<i128>(1) << (bits - 1);
  return value >= -limit && value < limit;
}

/// The low `bits` (1..64) bits of `value`, sign-extended: what a register of that width holds.
constexpr std::int64_t wrap_to_width(i128 value, int bits) {
  const int unused = kMaxAccumulatorBits - bits;
  const std::uint64_t top_aligned = static_cast<std::uint64_t>(value) << unused;
  return static_cast<std::int64_t>(top_aligned) >> unused;
}

}  // namespace bitcycle
