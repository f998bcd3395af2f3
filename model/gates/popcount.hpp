// Counts of one bits without a processor's instruction: GCC's builtin calls a slow library function
// where it may not use one.
#pragma once

#include <cstdint>

namespace bitcycle {

/// The number of one bits of each byte of `x`, in that byte.
constexpr std::uint64_t byte_counts(std::uint64_t x) {
  x -= x >> 1U & 0x5555555555555555ULL;
  x = (x & 0x3333333333333333ULL) + (x >> 2U & 0x3333333333333333ULL);
  return (x + (x >> 4U)) & 0x0F0F0F0F0F0F0F0FULL;
}

/// The sum of the bytes of `counts`, which must be below 256.
constexpr int sum_of_bytes(std::uint64_t counts) {
  return static_cast<int>(counts * 0x0101010101010101ULL >> 56U);
}

constexpr int count_ones(std::uint64_t x) { return sum_of_bytes(byte_counts(x)); }

constexpr int changed_bits(std::uint64_t a, std::uint64_t b) { return count_ones(a ^ b); }

}  // namespace bitcycle
