// Integer arithmetic that refuses to wrap: a product of user sizes can exceed 64 bits.
#pragma once

#include <cstdint>
#include <string>

#include "golden/error.hpp"

namespace bitcycle {

using u128 = unsigned __int128;
using i128 = __int128;

/// ceil(a / b), b > 0.
constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// a * b in 64 bits; throws InputError naming `what` if it does not fit.
inline std::uint64_t checked_mul(std::uint64_t a, std::uint64_t b, const char* what = "product") {
  std::uint64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) {
    throw input_error("", 0, what, std::to_string(a) + " * " + std::to_string(b),
                      "a result below 2^64");
  }
  return out;
}

/// a + b in 64 bits; throws InputError naming `what` if it does not fit.
inline std::uint64_t checked_add(std::uint64_t a, std::uint64_t b, const char* what = "sum") {
  std::uint64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) {
    throw input_error("", 0, what, std::to_string(a) + " + " + std::to_string(b),
                      "a result below 2^64");
  }
  return out;
}

/// Decimal text of a 128-bit count (BitOps need 128 bits: 2.65e20 at 64 M iterations).
inline std::string to_decimal(u128 value) {
  std::string out;
  do {
    out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  return out;
}

}  // namespace bitcycle
