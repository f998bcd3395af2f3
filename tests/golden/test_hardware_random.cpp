#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "golden/hardware_random.hpp"

using namespace bitcycle;

namespace {

constexpr std::uint32_t kElements = 1U << 20U;
constexpr std::uint32_t kSeeds[] = {0, 1, 2, 0xFFFFFFFF, 12345, 0xDEADBEEF, 0x10000, 0x80000000};

std::vector<std::uint16_t> draw(std::uint32_t seed, int rounds = kHardwareRandomRounds) {
  std::vector<std::uint16_t> out(kElements);
  for (std::uint32_t i = 0; i < kElements; ++i) out[i] = hardware_random(seed, i, rounds);
  return out;
}

/// Deviation of the sum of products of centred values `lag` apart, in standard deviations.
double correlation(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b,
                   std::size_t lag) {
  double sum = 0;
  for (std::size_t i = 0; i + lag < a.size(); ++i) sum += (a[i] - 32767.5) * (b[i + lag] - 32767.5);
  const double variance = (65536.0 * 65536.0 - 1) / 12;
  return sum / variance / std::sqrt(static_cast<double>(a.size() - lag));
}

/// Chi-square of counts of equally likely cells, in standard deviations from its mean.
double chi_square(const std::vector<int>& counts, double draws) {
  const double expected = draws / static_cast<double>(counts.size());
  double sum = 0;
  for (const int c : counts) sum += (c - expected) * (c - expected) / expected;
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (sum - freedom) / std::sqrt(2 * freedom);
}

}  // namespace

// Everything below is deterministic. Under the hypothesis of perfect randomness a statistic beyond
// 5 standard deviations has probability 6e-7.
TEST_CASE("bc_random: one round by hand") {
  // x = 1, y = 2: rotr(1, 7) + 2 = 0x0202, with key 0x1234 x = 0x1036; y = 8 ^ x = 0x103E; out =
  // x ^ rotl(y, 5) = 0x1036 ^ 0x07C2.
  CHECK(hardware_random(0x1234, 0x00010002, 1) == 0x17F4);
  CHECK(hardware_random(0, 0, 1) == 0);
}

TEST_CASE("bc_random: values and pairs of neighbours are uniform") {
  for (const std::uint32_t seed : kSeeds) {
    const auto values = draw(seed);
    std::vector<int> cells(65536), pairs(65536);
    for (const auto v : values) ++cells[v];
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      ++pairs[static_cast<std::size_t>((values[i] & 0xFF00U) | (values[i + 1] >> 8U))];
    }
    INFO("seed " << seed);
    CHECK(std::abs(chi_square(cells, kElements)) < 5);
    CHECK(std::abs(chi_square(pairs, kElements - 1)) < 5);
  }
}

TEST_CASE("bc_random: every bit is balanced") {
  for (const std::uint32_t seed : kSeeds) {
    const auto values = draw(seed);
    for (int bit = 0; bit < 16; ++bit) {
      double ones = 0;
      for (const auto v : values) ones += (v >> static_cast<unsigned>(bit)) & 1U;
      INFO("seed " << seed << " bit " << bit);
      CHECK(std::abs(ones - kElements / 2.0) / std::sqrt(kElements / 4.0) < 5);
    }
  }
}

TEST_CASE("bc_random: no serial correlation, none between neighbouring seeds") {
  for (const std::uint32_t seed : kSeeds) {
    const auto values = draw(seed);
    for (const std::size_t lag : {1U, 2U, 3U, 4U, 8U, 16U, 32U, 64U, 256U, 1024U, 3136U, 65536U}) {
      INFO("seed " << seed << " lag " << lag);
      CHECK(std::abs(correlation(values, values, lag)) < 5);
    }
    INFO("seed " << seed);
    CHECK(std::abs(correlation(values, draw(seed + 1), 0)) < 5);
  }
}

TEST_CASE("bc_random: the tests see too few rounds") {
  const auto three = draw(12345, 3);
  CHECK(std::abs(correlation(three, three, 1)) > 5);
  double worst = 0;
  for (const std::uint32_t seed : kSeeds) {
    worst = std::max(worst, std::abs(correlation(draw(seed, 5), draw(seed + 1, 5), 0)));
  }
  CHECK(worst > 5);
}
