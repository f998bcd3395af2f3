// The integer chain from an accumulator to an output code, bit for bit as the hardware's result
// unit computes it (rtl/bc_requant.sv): zero points, multiplier, shift, rounding, zero, clamp.
#pragma once

#include <cstdint>

#include "golden/checked.hpp"

namespace bitcycle {

/// How the bits below the kept one are dropped; the values are the instruction field's.
enum class Rounding : std::uint8_t {
  kNearestEven = 0,
  kHalfUp = 1,  ///< floor(x + 1/2)
  kFloor = 2,
  kStochastic = 3  ///< floor(x + r), r = min(shift, 16) random bits below the kept bit
};

/// Fields of an exec instruction that shape its output codes.
struct Requantisation {
  std::uint16_t mult = 1;  ///< multiplier, unsigned
  int shift = 0;           ///< 0..63
  std::int32_t za = 0;     ///< zero points, signed 17 bits
  std::int32_t zw = 0;
  std::int64_t kzz = 0;   ///< K*za*zw or a bias, added to v
  std::int32_t zout = 0;  ///< zero of the output, signed 17 bits
  int out_bits = 8;       ///< 1..16
  bool out_signed = false;
  Rounding rounding = Rounding::kNearestEven;
  std::uint32_t seed = 0;  ///< of hardware_random, stochastic rounding only

  /// Throws InputError naming the field that is out of range.
  void validate() const;
  /// Smallest and largest output code.
  std::int32_t low() const { return out_signed ? -(std::int32_t{1} << (out_bits - 1)) : 0; }
  std::int32_t high() const {
    return (std::int32_t{1} << (out_signed ? out_bits - 1 : out_bits)) - 1;
  }
};

/// v = acc - za*sum_w - zw*sum_a + kzz in 64-bit two's complement; wraps, as the hardware does.
std::int64_t remove_zero_points(std::int64_t acc, std::int64_t sum_a, std::int64_t sum_w,
                                const Requantisation& q);

/// product / 2^shift, rounded. `random` is used by stochastic rounding only: its top min(shift, 16)
/// bits are added right below the kept bit. Integer is i128 (products below 2^80: nothing can wrap)
/// or, for products below 2^62 and shifts to 46, std::int64_t.
template <typename Integer>
Integer round_shift(Integer product, int shift, Rounding rounding, std::uint16_t random) {
  if (shift == 0) return product;
  const Integer half = Integer{1} << (shift - 1);
  switch (rounding) {
    case Rounding::kNearestEven:
      // Half less one, plus the kept bit: a tie moves up only from an odd code.
      return (product + half - 1 + ((product >> shift) & 1)) >> shift;
    case Rounding::kHalfUp:
      return (product + half) >> shift;
    case Rounding::kFloor:
      return product >> shift;
    case Rounding::kStochastic:
      return (product +
              (shift >= 16 ? Integer{random} << (shift - 16) : Integer{random >> (16 - shift)})) >>
             shift;
  }
  return 0;
}

/// clamp(round(v * mult / 2^shift) + zout): exact.
std::int32_t requantise_value(std::int64_t v, const Requantisation& q, std::uint16_t random);

/// The whole chain for output element number `element` (see hardware_random).
std::int32_t requantise(std::int64_t acc, std::int64_t sum_a, std::int64_t sum_w,
                        const Requantisation& q, std::uint32_t element);

}  // namespace bitcycle
