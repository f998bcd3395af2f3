#include <boost/multiprecision/cpp_int.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "golden/hardware_random.hpp"
#include "golden/requantise.hpp"

using namespace bitcycle;
using Big = boost::multiprecision::int256_t;  // nothing here exceeds 2^150

namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Big floor_div(const Big& a, const Big& b) {
  Big q = a / b;
  if (q * b > a) --q;
  return q;
}

/// Independent of the code under test: fractions of unlimited integers.
Big reference_round(const Big& product, int shift, Rounding rounding, std::uint16_t random) {
  const Big one = Big(1) << shift;
  const Big down = floor_div(product, one);
  const Big rest = product - down * one;  // 0 .. one-1
  switch (rounding) {
    case Rounding::kFloor:
      return down;
    case Rounding::kHalfUp:
      return rest * 2 >= one ? down + 1 : down;
    case Rounding::kNearestEven:
      if (rest * 2 == one) return down % 2 == 0 ? down : down + 1;
      return rest * 2 > one ? down + 1 : down;
    case Rounding::kStochastic: {
      // Top min(shift, 16) bits of `random` as a fraction of the kept bit.
      const int r = std::min(shift, 16);
      const Big fraction = Big(random >> (16 - r)) * (one >> r);
      return rest + fraction >= one ? down + 1 : down;
    }
  }
  return 0;
}

Big wrap64(Big value) {
  const Big modulus = Big(1) << 64;
  value %= modulus;
  if (value < 0) value += modulus;
  if (value >= modulus / 2) value -= modulus;
  return value;
}

std::int32_t reference(std::int64_t acc, std::int64_t sum_a, std::int64_t sum_w,
                       const Requantisation& q, std::uint32_t element) {
  const Big v = wrap64(Big(acc) - Big(q.za) * sum_w - Big(q.zw) * sum_a + q.kzz);
  Big code =
      reference_round(v * q.mult, q.shift, q.rounding, hardware_random(q.seed, element)) + q.zout;
  const Big low = q.out_signed ? Big(-(1 << (q.out_bits - 1))) : Big(0);
  const Big high = q.out_signed ? Big((1 << (q.out_bits - 1)) - 1) : Big((1 << q.out_bits) - 1);
  if (code < low) code = low;
  if (code > high) code = high;
  return code.convert_to<std::int32_t>();
}

Requantisation plain(int shift, Rounding rounding) {
  Requantisation q;
  q.shift = shift;
  q.rounding = rounding;
  q.out_bits = 16;
  q.out_signed = true;
  return q;
}

std::int32_t simple(std::int64_t v, int shift, Rounding rounding) {
  return requantise(v, 0, 0, plain(shift, rounding), 0);
}

}  // namespace

TEST_CASE("requantise: ties") {
  // x = -2.5 -1.5 -0.5 0.5 1.5 2.5 as v / 2
  const std::int64_t v[] = {-5, -3, -1, 1, 3, 5};
  const int even[] = {-2, -2, 0, 0, 2, 2};
  const int up[] = {-2, -1, 0, 1, 2, 3};
  const int down[] = {-3, -2, -1, 0, 1, 2};
  for (int i = 0; i < 6; ++i) {
    CHECK(simple(v[i], 1, Rounding::kNearestEven) == even[i]);
    CHECK(simple(v[i], 1, Rounding::kHalfUp) == up[i]);
    CHECK(simple(v[i], 1, Rounding::kFloor) == down[i]);
  }
}

TEST_CASE("requantise: without a shift every rounding is exact") {
  for (int r = 0; r < 4; ++r) {
    for (const int v : {-32768, -1, 0, 1, 32767})
      CHECK(simple(v, 0, static_cast<Rounding>(r)) == v);
  }
}

TEST_CASE("requantise: all 16-bit values, shifts and roundings equal exact fractions") {
  for (int shift = 0; shift <= 17; ++shift) {
    for (int r = 0; r < 3; ++r) {
      const auto rounding = static_cast<Rounding>(r);
      for (int v = -32768; v <= 32767; ++v) {
        const double x = std::ldexp(static_cast<double>(v), -shift);
        const double want = rounding == Rounding::kFloor    ? std::floor(x)
                            : rounding == Rounding::kHalfUp ? std::floor(x + 0.5)
                                                            : std::nearbyint(x);
        if (static_cast<double>(simple(v, shift, rounding)) != want) {
          FAIL("v " << v << " shift " << shift << " rounding " << r);
        }
      }
    }
  }
}

TEST_CASE("requantise: extremes of every field equal unlimited integers") {
  const std::int64_t accs[] = {
      kLeast, kLeast + 1, -1, 0, 1, kMost, (std::int64_t{1} << 47) - 1, -(std::int64_t{1} << 47)};
  std::size_t cases = 0;
  for (const auto acc : accs) {
    for (const std::int64_t sum :
         {-(std::int64_t{1} << 47), std::int64_t{0}, (std::int64_t{1} << 47) - 1}) {
      for (const int z : {-65536, 0, 65535}) {
        for (const std::int64_t kzz : {kLeast, std::int64_t{0}, kMost}) {
          for (const std::uint16_t mult :
               {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{65535}}) {
            for (const int shift : {0, 1, 15, 16, 17, 62, 63}) {
              for (int r = 0; r < 4; ++r) {
                for (const int bits : {1, 16}) {
                  Requantisation q;
                  q.za = z;
                  q.zw = -z - (z < 0 ? 1 : 0);
                  q.kzz = kzz;
                  q.zout = z;
                  q.mult = mult;
                  q.shift = shift;
                  q.rounding = static_cast<Rounding>(r);
                  q.out_bits = bits;
                  q.out_signed = (cases & 1U) != 0;
                  q.validate();
                  ++cases;
                  const auto element = static_cast<std::uint32_t>(cases);
                  if (requantise(acc, sum, -sum, q, element) !=
                      reference(acc, sum, -sum, q, element)) {
                    FAIL("case " << cases);
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  CHECK(cases == 8U * 3 * 3 * 3 * 3 * 7 * 4 * 2);
}

TEST_CASE("requantise: random fields equal unlimited integers") {
  const std::uint64_t seed = 20261130;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<int>(random() % n); };
  for (int i = 0; i < 200000; ++i) {
    Requantisation q;
    q.za = below(131072) - 65536;
    q.zw = below(131072) - 65536;
    q.zout = below(2) != 0 ? below(131072) - 65536 : below(33) - 16;
    q.kzz = static_cast<std::int64_t>(random()) >> below(64);
    q.mult = static_cast<std::uint16_t>(random());
    q.shift = below(64);
    q.rounding = static_cast<Rounding>(below(4));
    q.out_bits = 1 + below(16);
    q.out_signed = below(2) != 0;
    q.seed = static_cast<std::uint32_t>(random());
    const std::int64_t acc = static_cast<std::int64_t>(random()) >> below(64);
    const std::int64_t sum_a = static_cast<std::int64_t>(random()) >> (16 + below(48));
    const std::int64_t sum_w = static_cast<std::int64_t>(random()) >> (16 + below(48));
    const auto element = static_cast<std::uint32_t>(random());
    const auto got = requantise(acc, sum_a, sum_w, q, element);
    if (got != reference(acc, sum_a, sum_w, q, element)) FAIL("case " << i);
    REQUIRE(got >= q.low());
    REQUIRE(got <= q.high());
  }
}

TEST_CASE("requantise: stochastic rounding goes up as often as the fraction says") {
  // For each fraction f of 16ths: frequency within 6 standard deviations over 2^18 elements.
  constexpr std::uint32_t kDraws = 1U << 18U;
  for (int f = 0; f <= 16; ++f) {
    Requantisation q = plain(20, Rounding::kStochastic);
    q.seed = 7;
    const std::int64_t v = std::int64_t{5} * (1 << 20) + std::int64_t{f} * (1 << 16);
    double up = 0;
    for (std::uint32_t e = 0; e < kDraws; ++e) up += requantise(v, 0, 0, q, e) - 5;
    const double p = f / 16.0;
    const double deviation = std::sqrt(kDraws * p * (1 - p));
    INFO("fraction " << f << "/16");
    if (f == 0 || f == 16) {
      CHECK(up == p * kDraws);
    } else {
      CHECK(std::abs(up - p * kDraws) < 6 * deviation);
    }
  }
}

TEST_CASE("requantise: fields out of range are refused by name") {
  Requantisation q;
  q.shift = 64;
  CHECK_THROWS_WITH(q.validate(), Catch::Contains("shift") && Catch::Contains("64"));
  q = {};
  q.za = 65536;
  CHECK_THROWS_WITH(q.validate(), Catch::Contains("za") && Catch::Contains("65536"));
  q = {};
  q.out_bits = 17;
  CHECK_THROWS_WITH(q.validate(), Catch::Contains("out_bits") && Catch::Contains("17"));
}
