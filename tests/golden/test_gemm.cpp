#include <catch2/catch.hpp>

#include "golden/gemm.hpp"
#include "golden/operands.hpp"
#include "tests/golden/reference.hpp"

namespace bitcycle {
namespace {

using testing::input_error_of;

// Everything golden says about one product, against the slow definitions.
void check_against_reference(const CodeMatrix& a, Precision pa, const CodeMatrix& w, Precision pw,
                             int acc_w) {
  const GoldenResult result = golden_gemm(a, pa, w, pw, acc_w);
  REQUIRE(result.c.rows() == a.rows());
  REQUIRE(result.c.cols() == w.rows());
  bool must = false;
  bool cannot = true;
  bool sums_must = false;
  for (Eigen::Index m = 0; m < a.rows(); ++m) {
    for (Eigen::Index n = 0; n < w.rows(); ++n) {
      const testing::Wide exact = testing::product(a, w, m, n);
      REQUIRE(result.c(m, n) == testing::wrapped(exact, acc_w));
      must = must || !testing::in_range(exact, acc_w);
      cannot = cannot && testing::in_range(testing::absolute_product(a, pa, w, pw, m, n), acc_w);
    }
  }
  // A sum is a product with a constant 1 of one unsigned bit.
  const CodeMatrix ones = CodeMatrix::Ones(1, a.cols());
  const Precision bit{1, false};
  const auto check_sums = [&](const CodeMatrix& codes, Precision p,
                              const std::vector<std::int64_t>& sums) {
    REQUIRE(sums.size() == static_cast<std::size_t>(codes.rows()));
    for (Eigen::Index row = 0; row < codes.rows(); ++row) {
      const testing::Wide sum = testing::product(codes, ones, row, 0);
      REQUIRE(sums[static_cast<std::size_t>(row)] == sum);
      sums_must = sums_must || !testing::in_range(sum, acc_w);
      cannot = cannot &&
               testing::in_range(testing::absolute_product(codes, p, ones, bit, row, 0), acc_w);
    }
  };
  check_sums(a, pa, result.sum_a);
  check_sums(w, pw, result.sum_w);
  REQUIRE(result.must_overflow == must);
  REQUIRE(result.sums_must_overflow == sums_must);
  REQUIRE(result.cannot_overflow == cannot);
}

TEST_CASE("a product by hand", "[golden][gemm]") {
  CodeMatrix a(2, 3);
  a << 1, -2, 3, -4, 3, 0;
  CodeMatrix w(2, 3);
  w << 5, 6, 7, 0, 1, 2;
  const GoldenResult result = golden_gemm(a, {3, true}, w, {3, false}, 32);
  AccMatrix expected(2, 2);
  expected << 14, 4, -2, 3;
  CHECK(result.c == expected);
  CHECK(result.sum_a == std::vector<std::int64_t>{2, -1});
  CHECK(result.sum_w == std::vector<std::int64_t>{18, 3});
  CHECK_FALSE(result.must_overflow);
  CHECK_FALSE(result.sums_must_overflow);
  CHECK(result.cannot_overflow);
}

TEST_CASE("every pattern, sign mode and pair of widths equals the naive product",
          "[golden][gemm]") {
  std::uint64_t seed = 0;
  for (const OperandPattern pattern : kOperandPatterns) {
    for (const auto mode : testing::kSignModes) {
      for (int pa = 1; pa <= 16; ++pa) {
        for (int pw = 1; pw <= 16; pw += 1 + pa % 3) {
          const Precision a{pa, mode.a};
          const Precision w{pw, mode.w};
          const Operands operands = make_operands(pattern, 2, 3, 1 + seed % 23, a, w, seed);
          // Between too narrow and wide enough, so that all flags occur.
          const int acc_w = std::min(64, 1 + static_cast<int>(seed * 7 % (pa + pw + 6)));
          CAPTURE(operand_pattern_name(pattern), mode.a, mode.w, pa, pw, acc_w, seed);
          check_against_reference(operands.a, a, operands.w, w, acc_w);
          check_against_reference(operands.a, a, operands.w, w, 48);
          ++seed;
        }
      }
    }
  }
}

TEST_CASE("random shapes, seeds logged", "[golden][gemm]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Precision pa{1 + static_cast<int>(seed % 16), seed % 2 == 0};
    const Precision pw{1 + static_cast<int>(seed * 5 % 16), seed % 3 == 0};
    CAPTURE(seed);
    const Operands operands = make_operands(OperandPattern::kUniform, 1 + seed % 7, 1 + seed % 5,
                                            1 + seed * 13 % 150, pa, pw, seed);
    check_against_reference(operands.a, pa, operands.w, pw, 16 + static_cast<int>(seed % 17));
  }
}

TEST_CASE("extremes at the exact limits of a 48-bit accumulator", "[golden][gemm]") {
  const Precision s{16, true};
  const Precision u{16, false};
  const auto run = [](OperandPattern pattern, std::uint64_t k, Precision p) {
    const Operands operands = make_operands(pattern, 1, 1, k, p, p, 0);
    return golden_gemm(operands.a, p, operands.w, p, 48);
  };
  const GoldenResult signed_fits = run(OperandPattern::kMinimum, 131071, s);
  CHECK(signed_fits.c(0, 0) == 131071LL << 30);
  CHECK_FALSE(signed_fits.must_overflow);
  CHECK(signed_fits.cannot_overflow);
  const GoldenResult signed_wraps = run(OperandPattern::kMinimum, 131072, s);
  CHECK(signed_wraps.c(0, 0) == -(1LL << 47));
  CHECK(signed_wraps.must_overflow);
  CHECK_FALSE(signed_wraps.cannot_overflow);
  const GoldenResult unsigned_fits = run(OperandPattern::kMaximum, 32769, u);
  CHECK(unsigned_fits.c(0, 0) == 32769LL * 65535 * 65535);
  CHECK_FALSE(unsigned_fits.must_overflow);
  CHECK(unsigned_fits.cannot_overflow);
  const GoldenResult unsigned_wraps = run(OperandPattern::kMaximum, 32770, u);
  CHECK(unsigned_wraps.c(0, 0) == 32770LL * 65535 * 65535 - (1LL << 48));
  CHECK(unsigned_wraps.must_overflow);
  CHECK_FALSE(unsigned_wraps.cannot_overflow);
}

TEST_CASE("a long reduction stays exact", "[golden][gemm]") {
  const Precision p{16, true};
  const std::uint64_t k = 131072;
  const Operands operands = make_operands(OperandPattern::kAlternating, 1, 1, k, p, p, 0);
  // Per four steps: (-2^15)^2 - 2 * 2^15 (2^15-1) + (2^15-1)^2 = 1.
  CHECK(golden_gemm(operands.a, p, operands.w, p, 64).c(0, 0) == static_cast<std::int64_t>(k / 4));
}

TEST_CASE("golden_gemm refuses bad input", "[golden][gemm]") {
  const CodeMatrix zeros = CodeMatrix::Zero(2, 3);
  CodeMatrix bad = zeros;
  bad(1, 2) = 8;
  const Precision p{4, true};
  const auto error = [](const CodeMatrix& a, Precision pa, const CodeMatrix& w, Precision pw,
                        int acc_w) {
    return input_error_of([&] { golden_gemm(a, pa, w, pw, acc_w); });
  };
  CHECK(error(zeros, p, zeros, p, 32).empty());
  CHECK(error(bad, p, zeros, p, 32) == "A[1][2]: found 8, allowed: -8 to 7 (4 bits, signed)");
  CHECK(error(zeros, p, bad, p, 32) == "W[1][2]: found 8, allowed: -8 to 7 (4 bits, signed)");
  CHECK(error(zeros, p, CodeMatrix::Zero(2, 4), p, 32) == "K of W: found 4, allowed: K of A, 3");
  CHECK(error(zeros, {0, true}, zeros, p, 32) == "A bits: found 0, allowed: 1 to 16");
  CHECK(error(zeros, p, zeros, {17, true}, 32) == "W bits: found 17, allowed: 1 to 16");
  CHECK(error(zeros, p, zeros, p, 0) == "acc_w: found 0, allowed: 1 to 64");
  CHECK(error(zeros, p, zeros, p, 65) == "acc_w: found 65, allowed: 1 to 64");
  CHECK(error(CodeMatrix(0, 3), p, zeros, p, 32) ==
        "A shape: found 0 x 3, allowed: at least 1 x 1");
  CHECK(error(zeros, p, CodeMatrix(2, 0), p, 32) ==
        "W shape: found 2 x 0, allowed: at least 1 x 1");
}

}  // namespace
}  // namespace bitcycle
