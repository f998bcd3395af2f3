#include <catch2/catch.hpp>
#include <set>

#include "golden/counter_random.hpp"

namespace bitcycle {
namespace {

TEST_CASE("splitmix64 gives the published stream of seed 1234567", "[golden][random]") {
  // Output of the reference implementation, as listed by Rosetta Code and many libraries' tests.
  const std::uint64_t expected[] = {6457827717110365317ULL, 3203168211198807973ULL,
                                    9817491932198370423ULL, 4593380528125082431ULL,
                                    16408922859458223821ULL};
  std::uint64_t state = 1234567;
  for (const std::uint64_t value : expected) {
    CHECK(splitmix64(state) == value);
    state += kGoldenGamma;
  }
}

TEST_CASE("seed, tensor and element each select other numbers", "[golden][random]") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    for (std::uint64_t tensor = 0; tensor < 4; ++tensor) {
      for (std::uint64_t element = 0; element < 256; ++element) {
        seen.insert(counter_random(seed, tensor, element));
      }
    }
  }
  CHECK(seen.size() == 16 * 4 * 256);
}

TEST_CASE("each of the 64 bits is fair to six sigma", "[golden][random]") {
  constexpr int kDraws = 1 << 16;
  int ones[64] = {};
  for (std::uint64_t element = 0; element < kDraws; ++element) {
    const std::uint64_t value = counter_random(2024, 1, element);
    for (int b = 0; b < 64; ++b) ones[b] += static_cast<int>((value >> b) & 1U);
  }
  for (int b = 0; b < 64; ++b) {
    CAPTURE(b);
    CHECK(std::abs(ones[b] - kDraws / 2) < 6 * 128);  // sigma = sqrt(65536) / 2 = 128
  }
}

}  // namespace
}  // namespace bitcycle
