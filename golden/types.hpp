// Plain value types shared by every folder. They know nothing of hardware.
#pragma once

#include <cstdint>

namespace bitcycle {

/// Shape of one matrix product C[m][n] = sum over k of A[m][k] * W[n][k].
/// A is the row operand (M belongs to it), W the column operand; K is the reduction.
struct Gemm {
  std::uint64_t m = 0;
  std::uint64_t n = 0;
  std::uint64_t k = 0;

  friend bool operator==(const Gemm& x, const Gemm& y) {
    return x.m == y.m && x.n == y.n && x.k == y.k;
  }
  friend bool operator!=(const Gemm& x, const Gemm& y) { return !(x == y); }
};

/// Width of an operand in bits (1 to 16 on this array) and whether its codes are two's complement.
struct Precision {
  int bits = 8;
  bool is_signed = false;

  friend bool operator==(const Precision& x, const Precision& y) {
    return x.bits == y.bits && x.is_signed == y.is_signed;
  }
  friend bool operator!=(const Precision& x, const Precision& y) { return !(x == y); }
};

}  // namespace bitcycle
