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

std::size_t at(int row, int stride, int column) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(stride) +
         static_cast<std::size_t>(column);
}

}  // namespace

TEST_CASE("popcount_tile adds or subtracts the ones of every PE") {
  const unsigned seed = 31;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 1500; ++round) {
    const int stride = static_cast<int>(1 + random() % 64);
    const int n = static_cast<int>(random() % (static_cast<unsigned>(stride) + 1));
    const int rows = static_cast<int>(random() % 9);
    const int d = static_cast<int>(random() % 5);
    const bool first = random() % 2 == 0;
    const bool negate = random() % 2 == 0;
    const int width = static_cast<int>(17 + random() % 16);
    const std::uint32_t mask = width == 32 ? ~0U : (1U << width) - 1U;
    const auto word = [&] { return random() % 5 == 0 ? ~std::uint64_t{0} : random(); };
    std::vector<std::uint64_t> a(8);
    std::vector<std::uint64_t> w(64);
    std::vector<std::uint32_t> ac(8 * 64);
    for (auto& x : a) x = word();
    for (auto& x : w) x = word();
    for (auto& x : ac) x = static_cast<std::uint32_t>(random()) & mask;
    std::vector<std::uint32_t> want = ac;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < n; ++c) {
        std::int64_t ones = 0;
        for (int lane = 0; lane < 64; ++lane) {
          ones += static_cast<std::int64_t>((a[static_cast<std::size_t>(r)] >> lane & 1U) &
                                            (w[static_cast<std::size_t>(c)] >> lane & 1U));
        }
        auto& to = want[at(r, stride, c)];
        to = next(to, first, d, negate ? -ones : ones, mask);
      }
    }
    popcount_tile(ac.data(), stride, a.data(), w.data(), rows, n, d, first, negate, mask);
    CAPTURE(rows, n, stride, d, first, negate, width);
    REQUIRE(ac == want);  // rows and columns beyond are untouched
  }
}

TEST_CASE("product_tile adds the digit products of every PE") {
  const unsigned seed = 32;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 1000; ++round) {
    const int stride = static_cast<int>(1 + random() % 64);
    const int n = static_cast<int>(random() % (static_cast<unsigned>(stride) + 1));
    const int rows = static_cast<int>(random() % 5);
    const int lanes = static_cast<int>(random() % (round % 10 == 0 ? 257 : 20));
    const int d = static_cast<int>(random() % 5);
    const bool first = random() % 2 == 0;
    const int width = static_cast<int>(17 + random() % 16);
    const std::uint32_t mask = width == 32 ? ~0U : (1U << width) - 1U;
    const auto digit = [&] { return static_cast<std::int32_t>(random() % 384) - 128; };
    std::vector<std::int32_t> a(4 * 256);
    std::vector<std::int32_t> w(256 * static_cast<std::size_t>(stride));
    std::vector<std::uint32_t> ac(4 * 64);
    for (auto& x : a) x = digit();
    for (auto& x : w) x = digit();
    for (auto& x : ac) x = static_cast<std::uint32_t>(random()) & mask;
    std::vector<std::uint32_t> want = ac;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < n; ++c) {
        std::int64_t sum = 0;
        for (int l = 0; l < lanes; ++l) {
          sum += std::int64_t{a[at(r, lanes, l)]} * w[at(l, stride, c)];
        }
        auto& to = want[at(r, stride, c)];
        to = next(to, first, d, sum, mask);
      }
    }
    product_tile(ac.data(), stride, a.data(), w.data(), lanes, rows, n, d, first, mask);
    CAPTURE(rows, n, stride, lanes, d, first, width);
    REQUIRE(ac == want);
  }
}
