// Slow, obvious counterparts of golden/, written from the definitions and sharing no code with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "golden/codes.hpp"
#include "golden/error.hpp"
#include "golden/types.hpp"

namespace bitcycle::testing {

using Wide = __int128;

struct SignMode {
  bool a;
  bool w;
};
inline const std::vector<SignMode> kSignModes = {
    {false, false}, {false, true}, {true, false}, {true, true}};

inline std::int64_t lowest(Precision p) {
  std::int64_t value = 0;
  if (p.is_signed) {
    value = -1;
    for (int i = 1; i < p.bits; ++i) value *= 2;
  }
  return value;
}

inline std::int64_t highest(Precision p) {
  std::int64_t size = 1;
  for (int i = 0; i < p.bits; ++i) size *= 2;
  return lowest(p) + size - 1;
}

// Bit `i` of the two's complement form, by division: no shifts of negative numbers.
inline int bit(std::int64_t code, int bits, int i) {
  std::int64_t modulus = 1;
  for (int b = 0; b < bits; ++b) modulus *= 2;
  std::int64_t rest = ((code % modulus) + modulus) % modulus;
  for (int b = 0; b < i; ++b) rest /= 2;
  return static_cast<int>(rest % 2);
}

// Weight of plane `i`, as it counts in the code (top plane of a signed code: negative).
inline std::int64_t plane_weight(Precision p, int i) {
  std::int64_t weight = 1;
  for (int b = 0; b < i; ++b) weight *= 2;
  return p.is_signed && i == p.bits - 1 ? -weight : weight;
}

inline Wide power_of_two(int exponent) {
  Wide value = 1;
  for (int i = 0; i < exponent; ++i) value *= 2;
  return value;
}

inline bool in_range(Wide value, int bits) {
  return value >= -power_of_two(bits - 1) && value <= power_of_two(bits - 1) - 1;
}

inline std::int64_t wrapped(Wide value, int bits) {
  const Wide modulus = power_of_two(bits);
  Wide rest = ((value % modulus) + modulus) % modulus;
  if (rest >= modulus / 2) rest -= modulus;
  return static_cast<std::int64_t>(rest);
}

inline Wide product(const CodeMatrix& a, const CodeMatrix& w, Eigen::Index m, Eigen::Index n) {
  Wide sum = 0;
  for (Eigen::Index k = 0; k < a.cols(); ++k) sum += static_cast<Wide>(a(m, k)) * w(n, k);
  return sum;
}

// Sum of |digit products| over bit planes, plane by plane.
inline Wide absolute_product(const CodeMatrix& a, Precision pa, const CodeMatrix& w, Precision pw,
                             Eigen::Index m, Eigen::Index n) {
  Wide sum = 0;
  for (Eigen::Index k = 0; k < a.cols(); ++k) {
    for (int i = 0; i < pa.bits; ++i) {
      for (int j = 0; j < pw.bits; ++j) {
        if (bit(a(m, k), pa.bits, i) && bit(w(n, k), pw.bits, j)) sum += power_of_two(i + j);
      }
    }
  }
  return sum;
}

// what() of the InputError that `call` throws; "" if it throws none.
template <typename Call>
std::string input_error_of(Call call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace bitcycle::testing
