#include "golden/gemm.hpp"

#include <algorithm>

#include "golden/dot.hpp"
#include "golden/widths.hpp"

namespace bitcycle {
namespace {

CodeMatrix patterns_of(const CodeMatrix& codes, Precision p) {
  if (!p.is_signed) return codes;
  return codes.unaryExpr([bits = p.bits](std::int32_t code) {
    return static_cast<std::int32_t>(pattern_of(code, bits));
  });
}

const std::int32_t* row_of(const CodeMatrix& codes, Eigen::Index row) {
  return codes.data() + row * codes.cols();
}

std::vector<std::int64_t> row_sums(const CodeMatrix& codes) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(codes.rows()), 0);
  for (Eigen::Index row = 0; row < codes.rows(); ++row) {
    std::int64_t& sum = sums[static_cast<std::size_t>(row)];
    for (Eigen::Index k = 0; k < codes.cols(); ++k) sum += codes(row, k);
  }
  return sums;
}

bool all_fit(const std::vector<std::int64_t>& sums, int bits) {
  return std::all_of(sums.begin(), sums.end(),
                     [bits](std::int64_t sum) { return fits_width(sum, bits); });
}

}  // namespace

GoldenResult golden_gemm(const CodeMatrix& a, Precision pa, const CodeMatrix& w, Precision pw,
                         int acc_w) {
  check_accumulator_width(acc_w);
  check_codes(a, pa, "A");
  check_codes(w, pw, "W");
  if (a.cols() != w.cols()) {
    throw input_error("", 0, "K of W", std::to_string(w.cols()),
                      "K of A, " + std::to_string(a.cols()));
  }
  const auto k = static_cast<std::size_t>(a.cols());
  const bool has_signs = pa.is_signed || pw.is_signed;
  const CodeMatrix planes_a = patterns_of(a, pa);
  const CodeMatrix planes_w = patterns_of(w, pw);

  GoldenResult result;
  result.c.resize(a.rows(), w.rows());
  result.sum_a = row_sums(a);
  result.sum_w = row_sums(w);
  result.sums_must_overflow = !all_fit(result.sum_a, acc_w) || !all_fit(result.sum_w, acc_w);
  result.cannot_overflow = all_fit(row_sums(planes_a), acc_w) && all_fit(row_sums(planes_w), acc_w);
  for (Eigen::Index m = 0; m < a.rows(); ++m) {
    for (Eigen::Index n = 0; n < w.rows(); ++n) {
      const i128 exact = exact_dot(row_of(a, m), row_of(w, n), k);
      // Unsigned operands: every plane weighs positive already, the bound is the result.
      const i128 bound = has_signs ? exact_dot(row_of(planes_a, m), row_of(planes_w, n), k) : exact;
      result.c(m, n) = wrap_to_width(exact, acc_w);
      result.must_overflow = result.must_overflow || !fits_width(exact, acc_w);
      result.cannot_overflow = result.cannot_overflow && fits_width(bound, acc_w);
    }
  }
  return result;
}

}  // namespace bitcycle
