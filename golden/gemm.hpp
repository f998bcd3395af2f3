// The exact matrix product that the RTL and the model are judged by.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "golden/codes.hpp"
#include "golden/types.hpp"

namespace bitcycle {

/// M x N accumulator values.
using AccMatrix = Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What an accumulator of `acc_w` bits must hold after C[m][n] = sum over k of A[m][k] * W[n][k],
/// and what a sticky overflow flag must say.
///
/// An array may add up the digits of the operands in any radix, any order of passes and any chunks
/// of K, and a prefix of its additions can be larger than the result. Golden does not know that
/// order, so it demands the flag only where no order matters:
/// - a result out of range cannot be reached without an overflow: must_overflow, the flag is 1;
/// - with B = sum over k and bit planes i, j of 2^(i+j) * a_i * w_j, all weights taken positive,
///   every prefix is at most B in magnitude: a digit of any radix is a signed sum of its planes, a
///   chunk's contribution to a pass is a signed sum of digit products, a prefix is a sum of such
///   contributions, each plane product in it at most once; by the triangle inequality all are
///   bounded by B. If every B fits, cannot_overflow, the flag is 0;
/// - in between either answer is right.
/// B equals the dot product of the operands' bit patterns read as unsigned numbers.
///
/// The row and column sums run through accumulators of the same width. Over all codes the width
/// rule of the results covers them (one factor is 1), but for given codes they can be the larger
/// ones (W = 0: C is 0 and sum_a is not). So cannot_overflow covers them too and must_overflow
/// leaves them out: both are right whether or not an array's sums can raise the flag.
struct GoldenResult {
  AccMatrix c;                      ///< M x N, exact value wrapped to acc_w bits, sign-extended
  std::vector<std::int64_t> sum_a;  ///< M, sum over k of A[m][k], exact (not wrapped)
  std::vector<std::int64_t> sum_w;  ///< N, sum over k of W[n][k], exact (not wrapped)
  bool must_overflow = false;       ///< some exact C[m][n] does not fit in acc_w bits
  bool sums_must_overflow = false;  ///< some sum_a or sum_w does not fit in acc_w bits
  bool cannot_overflow = false;     ///< no prefix of any C, sum_a or sum_w can leave acc_w bits
};

/// Exact product of `a` (M x K codes of precision `pa`) and `w` (N x K codes of `pw`), wrapped to
/// `acc_w` bits (1..64). Time is proportional to M*N*K: about 1 ns for each product, 2 ns if an
/// operand is signed.
/// Throws InputError for a bad precision or width, an empty operand, operands of different K, or a
/// code out of its range (names row, column, value and what is allowed).
GoldenResult golden_gemm(const CodeMatrix& a, Precision pa, const CodeMatrix& w, Precision pw,
                         int acc_w);

}  // namespace bitcycle
