// What golden demands of an overflow flag, and that an array of any digit order obeys it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "golden/counter_random.hpp"
#include "golden/gemm.hpp"
#include "golden/operands.hpp"
#include "tests/golden/reference.hpp"

namespace bitcycle {
namespace {

using testing::Wide;

GoldenResult one_row(const std::vector<std::int32_t>& a, Precision pa,
                     const std::vector<std::int32_t>& w, Precision pw, int acc_w) {
  const auto k = static_cast<Eigen::Index>(a.size());
  return golden_gemm(Eigen::Map<const CodeMatrix>(a.data(), 1, k), pa,
                     Eigen::Map<const CodeMatrix>(w.data(), 1, k), pw, acc_w);
}

TEST_CASE("20-bit accumulator: exact and absolute sums fit", "[golden][overflow]") {
  const GoldenResult result = one_row({100, 3}, {8, true}, {100, 5}, {8, true}, 20);
  CHECK(result.c(0, 0) == 10015);
  CHECK_FALSE(result.must_overflow);
  CHECK(result.cannot_overflow);
}

TEST_CASE("20-bit accumulator: the result does not fit and wraps", "[golden][overflow]") {
  const GoldenResult up = one_row({255, 255, 255, 255, 255, 255, 255, 255, 255}, {8, false},
                                  {255, 255, 255, 255, 255, 255, 255, 255, 255}, {8, false}, 20);
  CHECK(up.c(0, 0) == 9 * 65025 - (1 << 20));
  CHECK(up.must_overflow);
  CHECK_FALSE(up.cannot_overflow);
  const GoldenResult down = one_row({-32768}, {16, true}, {17}, {16, true}, 20);
  CHECK(down.c(0, 0) == -32768 * 17 + (1 << 20));
  CHECK(down.must_overflow);
  CHECK_FALSE(down.cannot_overflow);
}

TEST_CASE("20-bit accumulator: the result fits, its terms may not: no demand",
          "[golden][overflow]") {
  // 600000 - 600000 + 1: a prefix leaves the range of +-524288 in one order, not in another.
  const GoldenResult result = one_row({1000, 1000, 1}, {11, true}, {600, -600, 1}, {11, true}, 20);
  CHECK(result.c(0, 0) == 1);
  CHECK_FALSE(result.must_overflow);
  CHECK_FALSE(result.cannot_overflow);
  // Even a single product: 700 * -1 = 700 * (-1024 + 1023) by planes.
  const GoldenResult single = one_row({700}, {11, true}, {-1}, {11, true}, 20);
  CHECK(single.c(0, 0) == -700);
  CHECK_FALSE(single.must_overflow);
  CHECK_FALSE(single.cannot_overflow);
}

TEST_CASE("limits of the range, to the unit", "[golden][overflow]") {
  const Precision s{16, true};
  const auto flags = [&](std::int32_t a, std::int32_t w, int acc_w) {
    const GoldenResult result = one_row({a}, s, {w}, s, acc_w);
    return std::pair(result.must_overflow, result.cannot_overflow);
  };
  CHECK(flags(7, 73, 10) == std::pair(false, true));       // 511
  CHECK(flags(16, 32, 10) == std::pair(true, false));      // 512
  CHECK(flags(-32768, 1, 16) == std::pair(false, false));  // -2^15 fits; its size 2^15 does not
  CHECK(flags(-32768, 1, 17) == std::pair(false, true));
  CHECK(flags(-32768, 1, 15) == std::pair(true, false));
}

TEST_CASE("one overflowing result among many sets the flags", "[golden][overflow]") {
  const Precision p{8, false};
  CodeMatrix a = CodeMatrix::Zero(3, 2);
  CodeMatrix w = CodeMatrix::Ones(4, 2);
  a.row(2) << 200, 200;
  w.row(3) << 200, 200;
  const GoldenResult result = golden_gemm(a, p, w, p, 16);
  CHECK(result.must_overflow);
  CHECK_FALSE(result.cannot_overflow);
  CHECK(result.c(2, 3) == 80000 - 65536);
  CHECK(result.c(2, 2) == 400);
}

TEST_CASE("sums can need more bits than the results of the same codes", "[golden][overflow]") {
  const Precision p{8, false};
  const std::vector<std::int32_t> full(5000, 255);
  const std::vector<std::int32_t> zero(5000, 0);
  const GoldenResult rows = one_row(full, p, zero, p, 20);
  CHECK(rows.c(0, 0) == 0);
  CHECK(rows.sum_a[0] == 1275000);
  CHECK_FALSE(rows.must_overflow);
  CHECK(rows.sums_must_overflow);
  CHECK_FALSE(rows.cannot_overflow);
  const GoldenResult columns = one_row(zero, p, full, p, 20);
  CHECK(columns.sum_w[0] == 1275000);
  CHECK(columns.sums_must_overflow);
  CHECK_FALSE(columns.cannot_overflow);
}

TEST_CASE("accumulators of 1 and of 64 bits", "[golden][overflow]") {
  const Precision u{1, false};
  CHECK(one_row({1}, u, {1}, u, 1).c(0, 0) == -1);
  CHECK(one_row({1}, u, {1}, u, 1).must_overflow);
  CHECK(one_row({0}, u, {1}, u, 1).sums_must_overflow);
  CHECK(one_row({0}, u, {0}, u, 1).cannot_overflow);
  const Precision s{1, true};
  // -1 * -1 = 1 does not fit in one bit, -1 * 0 = 0 does.
  CHECK(one_row({-1}, s, {-1}, s, 1).must_overflow);
  CHECK_FALSE(one_row({-1}, s, {0}, s, 1).must_overflow);
  const Precision wide{16, false};
  CHECK(one_row({65535}, wide, {65535}, wide, 64).c(0, 0) == 4294836225LL);
  CHECK(one_row({65535}, wide, {65535}, wide, 64).cannot_overflow);
}

// Digits of `radix_bits` bits; only the top digit of a signed code is signed.
std::vector<std::int64_t> digits_of(std::int64_t code, Precision p, int radix_bits) {
  std::vector<std::int64_t> digits;
  for (int low = 0; low < p.bits; low += radix_bits) {
    std::int64_t value = 0;
    for (int i = low; i < std::min(p.bits, low + radix_bits); ++i) {
      value += testing::bit(code, p.bits, i) * testing::plane_weight(p, i);
    }
    digits.push_back(value);
  }
  return digits;
}

// Adds up one product in digits of ra x rw bits, chunks of K and any order of their sums; tells
// whether a register of acc_w bits overflowed on the way.
bool overflows_on_the_way(const std::vector<std::int32_t>& a, Precision pa,
                          const std::vector<std::int32_t>& w, Precision pw, int acc_w, int ra,
                          int rw, std::size_t chunk, std::uint64_t order_seed) {
  std::vector<Wide> terms;
  const auto digits_a = static_cast<std::size_t>((pa.bits + ra - 1) / ra);
  const auto digits_w = static_cast<std::size_t>((pw.bits + rw - 1) / rw);
  for (std::size_t first = 0; first < a.size(); first += chunk) {
    for (std::size_t i = 0; i < digits_a; ++i) {
      for (std::size_t j = 0; j < digits_w; ++j) {
        Wide term = 0;
        for (std::size_t k = first; k < std::min(a.size(), first + chunk); ++k) {
          term += static_cast<Wide>(digits_of(a[k], pa, ra)[i]) * digits_of(w[k], pw, rw)[j];
        }
        terms.push_back(term);
      }
    }
  }
  for (std::size_t i = terms.size() - 1; i > 0; --i) {  // Fisher-Yates
    std::swap(terms[i], terms[counter_random(order_seed, 9, i) % (i + 1)]);
  }
  Wide sum = 0;
  bool flag = false;
  for (const Wide term : terms) {
    sum += term;
    flag = flag || !testing::in_range(sum, acc_w);
  }
  return flag;
}

TEST_CASE("no radix, chunk or order of passes contradicts the flags", "[golden][overflow]") {
  int must = 0, cannot = 0, free = 0, free_set = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto draw = [&](std::uint64_t what, std::uint64_t count) {
      return static_cast<int>(counter_random(seed, 100, what) % count);
    };
    const Precision pa{1 + draw(0, 16), draw(1, 2) == 1};
    const Precision pw{1 + draw(2, 16), draw(3, 2) == 1};
    const auto k = static_cast<std::uint64_t>(1 + draw(4, 9));
    const auto pattern = kOperandPatterns[static_cast<std::size_t>(draw(5, 8))];
    const Operands operands = make_operands(pattern, 1, 1, k, pa, pw, seed);
    const std::vector<std::int32_t> a(operands.a.data(), operands.a.data() + k);
    const std::vector<std::int32_t> w(operands.w.data(), operands.w.data() + k);
    const int acc_w = std::max(1, pa.bits + pw.bits - 4 + draw(6, 9));
    const GoldenResult result = golden_gemm(operands.a, pa, operands.w, pw, acc_w);
    const int radix[] = {1, 2, 4, 8, 16};
    const bool flag = overflows_on_the_way(a, pa, w, pw, acc_w, radix[draw(7, 5)],
                                           radix[draw(8, 5)], 1 + draw(9, 4), seed);
    CAPTURE(seed, pa.bits, pa.is_signed, pw.bits, pw.is_signed, acc_w);
    REQUIRE_FALSE((result.must_overflow && result.cannot_overflow));
    if (result.must_overflow) REQUIRE(flag);
    if (result.cannot_overflow) REQUIRE_FALSE(flag);
    must += result.must_overflow;
    cannot += result.cannot_overflow;
    free += !result.must_overflow && !result.cannot_overflow;
    free_set += !result.must_overflow && !result.cannot_overflow && flag;
  }
  // All three answers, and both flags in the free zone, must really have occurred.
  CHECK(must > 100);
  CHECK(cannot > 100);
  CHECK(free_set > 20);
  CHECK(free - free_set > 20);
}

}  // namespace
}  // namespace bitcycle
