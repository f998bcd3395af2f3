// The inner loops of the core against the plainest loops.
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "model/kernels.hpp"

namespace {

using namespace bitcycle;

// (first ? 0 : ac << d) + sum, wrapped: what a chunk accumulator holds after a cycle.
std::uint32_t next(std::uint32_t ac, bool first, int d, std::int64_t sum, std::uint32_t mask) {
  const std::int64_t base = first ? 0 : static_cast<std::int64_t>(ac) << d;
  return static_cast<std::uint32_t>(base + sum) & mask;
}

}  // namespace

TEST_CASE("popcount_row adds or subtracts the ones of every column") {
  const unsigned seed = 31;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const int n = static_cast<int>(random() % 65);
    const int d = static_cast<int>(random() % 5);
    const bool first = random() % 2 == 0;
    const bool negate = random() % 2 == 0;
    const int width = static_cast<int>(17 + random() % 16);
    const std::uint32_t mask = width == 32 ? ~0U : (1U << width) - 1U;
    const std::uint64_t a = round % 7 == 0 ? ~std::uint64_t{0} : random();
    std::vector<std::uint64_t> w(64);
    std::vector<std::uint32_t> ac(64);
    for (auto& x : w) x = random() % 5 == 0 ? ~std::uint64_t{0} : random();
    for (auto& x : ac) x = static_cast<std::uint32_t>(random()) & mask;
    std::vector<std::uint32_t> want = ac;
    for (std::size_t c = 0; c < static_cast<std::size_t>(n); ++c) {
      std::int64_t ones = 0;
      for (int lane = 0; lane < 64; ++lane) {
        ones += static_cast<std::int64_t>((a >> lane & 1U) & (w[c] >> lane & 1U));
      }
      want[c] = next(ac[c], first, d, negate ? -ones : ones, mask);
    }
    popcount_row(ac.data(), w.data(), a, n, d, first, negate, mask);
    CAPTURE(n, d, first, negate, width);
    REQUIRE(ac == want);  // columns at or beyond n untouched
  }
}

TEST_CASE("product_row adds the digit products of every column") {
  const unsigned seed = 32;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 1000; ++round) {
    const int stride = static_cast<int>(1 + random() % 64);
    const int n = static_cast<int>(random() % (static_cast<unsigned>(stride) + 1));
    const int lanes = static_cast<int>(random() % 257);
    const int d = static_cast<int>(random() % 5);
    const bool first = random() % 2 == 0;
    const int width = static_cast<int>(17 + random() % 16);
    const std::uint32_t mask = width == 32 ? ~0U : (1U << width) - 1U;
    const auto digit = [&] { return static_cast<std::int32_t>(random() % 384) - 128; };
    std::vector<std::int32_t> a(256);
    std::vector<std::int32_t> w(256 * static_cast<std::size_t>(stride));
    std::vector<std::uint32_t> ac(64);
    for (auto& x : a) x = digit();
    for (auto& x : w) x = digit();
    for (auto& x : ac) x = static_cast<std::uint32_t>(random()) & mask;
    std::vector<std::uint32_t> want = ac;
    for (int c = 0; c < n; ++c) {
      std::int64_t sum = 0;
      for (int l = 0; l < lanes; ++l) {
        sum += std::int64_t{a[static_cast<std::size_t>(l)]} *
               w[static_cast<std::size_t>(l * stride + c)];
      }
      auto& to = want[static_cast<std::size_t>(c)];
      to = next(to, first, d, sum, mask);
    }
    product_row(ac.data(), w.data(), a.data(), lanes, stride, n, d, first, mask);
    CAPTURE(n, stride, lanes, d, first, width);
    REQUIRE(ac == want);
  }
}
