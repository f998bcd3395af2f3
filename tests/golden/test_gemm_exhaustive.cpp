// Every case of small widths: all products up to 8 bits, all pairs of products up to 4 bits.
#include <catch2/catch.hpp>
#include <vector>

#include "golden/bitplanes.hpp"
#include "golden/gemm.hpp"
#include "tests/golden/reference.hpp"

namespace bitcycle {
namespace {

using testing::kSignModes;

// One row for each code: with two of these operands C holds every product.
CodeMatrix all_codes(Precision p) {
  const std::int64_t least = testing::lowest(p);
  CodeMatrix codes(testing::highest(p) - least + 1, 1);
  for (Eigen::Index row = 0; row < codes.rows(); ++row) {
    codes(row, 0) = static_cast<std::int32_t>(least + row);
  }
  return codes;
}

// One row for each pair of codes.
CodeMatrix all_pairs(Precision p) {
  const CodeMatrix single = all_codes(p);
  CodeMatrix codes(single.rows() * single.rows(), 2);
  for (Eigen::Index row = 0; row < codes.rows(); ++row) {
    codes.row(row) << single(row / single.rows(), 0), single(row % single.rows(), 0);
  }
  return codes;
}

TEST_CASE("every product up to 8 x 8 bits in four sign modes, directly and by planes",
          "[golden][gemm][exhaustive]") {
  std::int64_t products = 0;
  for (int pa = 1; pa <= 8; ++pa) {
    for (int pw = 1; pw <= 8; ++pw) {
      for (const auto mode : kSignModes) {
        const Precision a{pa, mode.a};
        const Precision w{pw, mode.w};
        const CodeMatrix codes_a = all_codes(a);
        const CodeMatrix codes_w = all_codes(w);
        const GoldenResult result = golden_gemm(codes_a, a, codes_w, w, 24);
        const BitPlanes planes_a = pack_bit_planes(codes_a, a, 1);
        const BitPlanes planes_w = pack_bit_planes(codes_w, w, 1);
        std::int64_t failures = 0;
        for (Eigen::Index m = 0; m < codes_a.rows(); ++m) {
          for (Eigen::Index n = 0; n < codes_w.rows(); ++n) {
            std::int64_t by_planes = 0;
            for (int i = 0; i < pa; ++i) {
              for (int j = 0; j < pw; ++j) {
                const bool both = (*planes_a.word(m, 0, i) & *planes_w.word(n, 0, j)) != 0;
                if (!both) continue;
                by_planes +=
                    testing::plane_weight(a, pa - 1 - i) * testing::plane_weight(w, pw - 1 - j);
              }
            }
            const std::int64_t expected = std::int64_t{codes_a(m, 0)} * codes_w(n, 0);
            failures += result.c(m, n) != expected || by_planes != expected;
            ++products;
          }
        }
        CAPTURE(pa, pw, mode.a, mode.w);
        CHECK(failures == 0);
        CHECK(result.cannot_overflow);
      }
    }
  }
  CHECK(products == 4 * 510 * 510);
}

TEST_CASE("every K=2 product up to 4 bits in four sign modes, flags of narrow accumulators",
          "[golden][gemm][exhaustive]") {
  std::int64_t sums = 0;
  for (int pa = 1; pa <= 4; ++pa) {
    for (int pw = 1; pw <= 4; ++pw) {
      for (const auto mode : kSignModes) {
        const Precision a{pa, mode.a};
        const Precision w{pw, mode.w};
        const CodeMatrix codes_a = all_pairs(a);
        const CodeMatrix codes_w = all_pairs(w);
        const int acc_w = pa + pw;  // one or two bits short for the largest sums
        const GoldenResult wide = golden_gemm(codes_a, a, codes_w, w, 32);
        const GoldenResult narrow = golden_gemm(codes_a, a, codes_w, w, acc_w);
        std::int64_t failures = 0;
        bool must = false;
        for (Eigen::Index m = 0; m < codes_a.rows(); ++m) {
          for (Eigen::Index n = 0; n < codes_w.rows(); ++n) {
            const std::int64_t expected = std::int64_t{codes_a(m, 0)} * codes_w(n, 0) +
                                          std::int64_t{codes_a(m, 1)} * codes_w(n, 1);
            failures += wide.c(m, n) != expected;
            failures += narrow.c(m, n) != testing::wrapped(expected, acc_w);
            must = must || !testing::in_range(expected, acc_w);
            ++sums;
          }
        }
        CAPTURE(pa, pw, mode.a, mode.w);
        CHECK(failures == 0);
        CHECK(wide.cannot_overflow);
        CHECK(narrow.must_overflow == must);
      }
    }
  }
  CHECK(sums == 4 * 340 * 340);
}

}  // namespace
}  // namespace bitcycle
