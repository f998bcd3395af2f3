#include <catch2/catch.hpp>

#include "golden/codes.hpp"
#include "tests/golden/reference.hpp"

namespace bitcycle {
namespace {

using testing::input_error_of;

TEST_CASE("every code of every width survives pattern and back", "[golden][codes]") {
  for (int bits = 1; bits <= 16; ++bits) {
    for (const bool is_signed : {false, true}) {
      const Precision p{bits, is_signed};
      std::int64_t failures = 0;
      for (std::int64_t code = testing::lowest(p); code <= testing::highest(p); ++code) {
        const auto narrow = static_cast<std::int32_t>(code);
        const std::uint32_t pattern = pattern_of(narrow, bits);
        std::int64_t rebuilt = 0;
        for (int i = 0; i < bits; ++i) {
          if ((pattern >> i) & 1U) rebuilt += testing::plane_weight(p, i);
          if (((pattern >> i) & 1U) != static_cast<unsigned>(testing::bit(code, bits, i))) {
            ++failures;
          }
        }
        if (rebuilt != code || code_of(pattern, p) != narrow) ++failures;
        if (code_of(pattern | ~((1U << bits) - 1U), p) != narrow) ++failures;
      }
      CAPTURE(bits, is_signed);
      CHECK(failures == 0);
    }
  }
}

TEST_CASE("check_codes accepts the whole range and nothing outside", "[golden][codes]") {
  for (int bits = 1; bits <= 16; ++bits) {
    for (const bool is_signed : {false, true}) {
      const Precision p{bits, is_signed};
      CAPTURE(bits, is_signed);
      CodeMatrix codes = CodeMatrix::Zero(2, 3);
      codes(0, 1) = static_cast<std::int32_t>(testing::lowest(p));
      codes(1, 2) = static_cast<std::int32_t>(testing::highest(p));
      CHECK_NOTHROW(check_codes(codes, p, "A"));
      codes(1, 2) += 1;
      CHECK_THROWS_AS(check_codes(codes, p, "A"), InputError);
      codes(1, 2) = static_cast<std::int32_t>(testing::lowest(p)) - 1;
      CHECK_THROWS_AS(check_codes(codes, p, "A"), InputError);
    }
  }
}

TEST_CASE("check_codes names the first bad code in row order", "[golden][codes]") {
  CodeMatrix codes = CodeMatrix::Zero(3, 4);
  codes(2, 0) = -9;
  codes(1, 3) = 256;
  CHECK(input_error_of([&] {
          check_codes(codes, {8, false}, "W");
        }) == "W[1][3]: found 256, allowed: 0 to 255 (8 bits, unsigned)");
  CHECK(input_error_of([&] {
          check_codes(codes, {4, true}, "A");
        }) == "A[1][3]: found 256, allowed: -8 to 7 (4 bits, signed)");
}

TEST_CASE("check_codes refuses empty matrices and bad widths", "[golden][codes]") {
  CHECK(input_error_of([] {
          check_codes(CodeMatrix(0, 4), {8, false}, "A");
        }) == "A shape: found 0 x 4, allowed: at least 1 x 1");
  CHECK(input_error_of([] {
          check_codes(CodeMatrix(4, 0), {8, false}, "A");
        }) == "A shape: found 4 x 0, allowed: at least 1 x 1");
  CHECK(input_error_of([] {
          check_codes(CodeMatrix::Zero(1, 1), {0, false}, "A");
        }) == "A bits: found 0, allowed: 1 to 16");
  CHECK(input_error_of([] {
          check_codes(CodeMatrix::Zero(1, 1), {17, true}, "W");
        }) == "W bits: found 17, allowed: 1 to 16");
}

}  // namespace
}  // namespace bitcycle
