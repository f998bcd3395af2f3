#include <catch2/catch.hpp>
#include <limits>

#include "golden/widths.hpp"
#include "tests/golden/reference.hpp"

namespace bitcycle {
namespace {

using testing::input_error_of;

constexpr Precision unsigned_of(int bits) { return {bits, false}; }
constexpr Precision signed_of(int bits) { return {bits, true}; }

// Largest k for which fits_always holds, by bisection.
std::uint64_t largest_k(Precision a, Precision w, int acc_w) {
  std::uint64_t good = 0;
  std::uint64_t bad = std::uint64_t{1} << 62;
  while (bad - good > 1) {
    const std::uint64_t middle = good + (bad - good) / 2;
    (fits_always(a, w, middle, acc_w) ? good : bad) = middle;
  }
  return good;
}

TEST_CASE("code ranges of every width", "[golden][widths]") {
  for (int bits = 1; bits <= 16; ++bits) {
    for (const bool is_signed : {false, true}) {
      CAPTURE(bits, is_signed);
      CHECK(code_min({bits, is_signed}) == testing::lowest({bits, is_signed}));
      CHECK(code_max({bits, is_signed}) == testing::highest({bits, is_signed}));
    }
  }
  CHECK(code_min(signed_of(1)) == -1);
  CHECK(code_max(signed_of(1)) == 0);
  CHECK(code_min(signed_of(16)) == -32768);
  CHECK(code_max(unsigned_of(16)) == 65535);
}

TEST_CASE("the width rule gives the published widths of 8x8", "[golden][widths]") {
  struct Case {
    std::uint64_t k;
    int signed_signed;
    int unsigned_signed;
    int unsigned_unsigned;
  };
  for (const Case& c : {Case{64, 22, 22, 23}, Case{1024, 26, 26, 27}, Case{4096, 28, 28, 29}}) {
    CAPTURE(c.k);
    CHECK(accumulator_bits(signed_of(8), signed_of(8), c.k) == c.signed_signed);
    CHECK(accumulator_bits(unsigned_of(8), signed_of(8), c.k) == c.unsigned_signed);
    CHECK(accumulator_bits(signed_of(8), unsigned_of(8), c.k) == c.unsigned_signed);
    CHECK(accumulator_bits(unsigned_of(8), unsigned_of(8), c.k) == c.unsigned_unsigned);
  }
  CHECK(accumulator_bits(unsigned_of(8), unsigned_of(8), 4608) == 30);
  CHECK(accumulator_bits(unsigned_of(3), signed_of(5), 1) == 8);
  CHECK(accumulator_bits(unsigned_of(3), signed_of(5), 2) == 9);
  CHECK(accumulator_bits(unsigned_of(3), signed_of(5), 3) == 10);
  CHECK(accumulator_bits(signed_of(16), signed_of(16), std::numeric_limits<std::uint64_t>::max()) ==
        96);
}

TEST_CASE("exact limits of 32- and 48-bit accumulators", "[golden][widths]") {
  CHECK(largest_k(signed_of(8), signed_of(8), 32) == 131071);
  CHECK(largest_k(unsigned_of(8), unsigned_of(8), 32) == 33025);
  CHECK(largest_k(signed_of(16), signed_of(16), 48) == 131071);
  CHECK(largest_k(unsigned_of(16), unsigned_of(16), 48) == 32769);
  CHECK(largest_k(unsigned_of(8), unsigned_of(16), 48) == 8421633);
  CHECK(largest_k(unsigned_of(16), unsigned_of(8), 48) == 8421633);
  // A negative extreme may use -2^(w-1) itself: 2^47 / (255 * 2^15).
  CHECK(largest_k(unsigned_of(8), signed_of(16), 48) == 16843009);
  // K=4608, the longest reduction of ResNet-18: 28, 29 and 30 bits in 8x8.
  CHECK(fits_always(signed_of(8), signed_of(8), 4608, 28));
  CHECK_FALSE(fits_always(signed_of(8), signed_of(8), 4608, 27));
  CHECK(fits_always(unsigned_of(8), signed_of(8), 4608, 29));
  CHECK_FALSE(fits_always(unsigned_of(8), signed_of(8), 4608, 28));
  CHECK(fits_always(unsigned_of(8), unsigned_of(8), 4608, 30));
  CHECK_FALSE(fits_always(unsigned_of(8), unsigned_of(8), 4608, 29));
}

TEST_CASE("the width rule is never too small and at most as loose as stated", "[golden][widths]") {
  std::int64_t too_small = 0;
  std::int64_t too_large = 0;
  for (int pa = 1; pa <= 16; ++pa) {
    for (int pw = 1; pw <= 16; ++pw) {
      for (const auto mode : testing::kSignModes) {
        const Precision a{pa, mode.a};
        const Precision w{pw, mode.w};
        const bool one_unsigned_bit = (pa == 1 && !mode.a) || (pw == 1 && !mode.w);
        for (std::uint64_t k = 1; k <= 70; ++k) {
          const int bits = accumulator_bits(a, w, k);
          const int loose = ((k & (k - 1)) == 0 ? 0 : 1) + (one_unsigned_bit ? 1 : 0);
          const int too_narrow = bits - loose - 1;
          too_small += !fits_always(a, w, k, bits);
          too_large += too_narrow >= 1 && fits_always(a, w, k, too_narrow);
        }
      }
    }
  }
  CHECK(too_small == 0);
  CHECK(too_large == 0);
}

TEST_CASE("fits_always equals a search over all codes", "[golden][widths]") {
  std::int64_t failures = 0;
  for (int pa = 1; pa <= 4; ++pa) {
    for (int pw = 1; pw <= 4; ++pw) {
      for (const auto mode : testing::kSignModes) {
        const Precision a{pa, mode.a};
        const Precision w{pw, mode.w};
        testing::Wide least = 0;
        testing::Wide most = 0;
        for (std::int64_t x = testing::lowest(a); x <= testing::highest(a); ++x) {
          for (std::int64_t y = testing::lowest(w); y <= testing::highest(w); ++y) {
            least = std::min<testing::Wide>(least, x * y);
            most = std::max<testing::Wide>(most, x * y);
          }
        }
        for (std::uint64_t k = 1; k <= 40; ++k) {
          for (int acc_w = 1; acc_w <= 16; ++acc_w) {
            const bool expected =
                testing::in_range(least * k, acc_w) && testing::in_range(most * k, acc_w);
            failures += fits_always(a, w, k, acc_w) != expected;
          }
        }
      }
    }
  }
  CHECK(failures == 0);
}

TEST_CASE("wrap_to_width and fits_width follow two's complement", "[golden][widths]") {
  for (int bits = 1; bits <= 64; ++bits) {
    const testing::Wide limit = testing::power_of_two(bits - 1);
    CAPTURE(bits);
    for (const testing::Wide value :
         {limit - 1, limit, limit + 1, -limit - 1, -limit, -limit + 1, 2 * limit, 5 * limit + 3,
          testing::Wide{0}, testing::Wide{-1}, testing::power_of_two(100) + 1}) {
      CHECK(fits_width(value, bits) == testing::in_range(value, bits));
      CHECK(wrap_to_width(value, bits) == testing::wrapped(value, bits));
    }
  }
}

TEST_CASE("widths refuse what has no meaning", "[golden][widths]") {
  const Precision p = unsigned_of(8);
  CHECK(input_error_of([] { code_min({0, true}); }) == "operand bits: found 0, allowed: 1 to 16");
  CHECK(input_error_of([] { code_max({17, true}); }) == "operand bits: found 17, allowed: 1 to 16");
  CHECK(input_error_of([&] {
          accumulator_bits({17, true}, p, 1);
        }) == "A bits: found 17, allowed: 1 to 16");
  CHECK(input_error_of([&] {
          accumulator_bits(p, {-1, true}, 1);
        }) == "W bits: found -1, allowed: 1 to 16");
  CHECK(input_error_of([&] { accumulator_bits(p, p, 0); }) == "K: found 0, allowed: at least 1");
  CHECK(input_error_of([&] {
          fits_always({0, true}, p, 1, 32);
        }) == "A bits: found 0, allowed: 1 to 16");
  CHECK(input_error_of([&] {
          fits_always(p, {17, true}, 1, 32);
        }) == "W bits: found 17, allowed: 1 to 16");
  CHECK(input_error_of([&] { fits_always(p, p, 0, 32); }) == "K: found 0, allowed: at least 1");
  CHECK(input_error_of([&] { fits_always(p, p, 1, 0); }) == "acc_w: found 0, allowed: 1 to 64");
  CHECK(input_error_of([&] { fits_always(p, p, 1, 65); }) == "acc_w: found 65, allowed: 1 to 64");
}

}  // namespace
}  // namespace bitcycle
