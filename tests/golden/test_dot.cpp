#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "golden/dot.hpp"
#include "tests/golden/reference.hpp"

namespace bitcycle {
namespace {

using testing::power_of_two;

TEST_CASE("exact_dot of an empty range is 0", "[golden][dot]") {
  const std::int32_t code = 5;
  CHECK(exact_dot(&code, &code, 0) == 0);
}

TEST_CASE("exact_dot of 32-bit codes passes 64 bits", "[golden][dot]") {
  // Codes of 16 bits would need K > 2^31 to get here; the kernel takes any 32-bit code.
  const std::vector<std::int32_t> low(9, std::numeric_limits<std::int32_t>::min());
  const std::vector<std::int32_t> high(9, std::numeric_limits<std::int32_t>::max());
  CHECK(exact_dot(low.data(), low.data(), 9) == 9 * power_of_two(62));
  CHECK(exact_dot(low.data(), high.data(), 9) == -9 * power_of_two(31) * (power_of_two(31) - 1));
  CHECK(exact_dot(low.data(), low.data(), 9) > std::numeric_limits<std::int64_t>::max());
  CHECK(exact_dot(low.data(), high.data(), 9) < std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("exact_dot of 64-bit codes is exact to 127 bits", "[golden][dot]") {
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> a = {kHigh, kLow, kLow, 1};
  const std::vector<std::int64_t> w = {kHigh, kHigh, 1, kHigh};
  // (2^63-1)^2 - 2^63 (2^63-1) - 2^63 + 2^63 - 1 = -2^63
  CHECK(exact_dot(a.data(), w.data(), 4) == -power_of_two(63));
  CHECK(exact_dot(a.data(), w.data(), 1) == power_of_two(126) - power_of_two(64) + 1);
}

}  // namespace
}  // namespace bitcycle
