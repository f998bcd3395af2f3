// The notation "3:8/8,3:6/6".
#include <catch2/catch.hpp>

#include "tests/workloads/error_text.hpp"
#include "workloads/schedule.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;

std::vector<int> numbers(const std::string& text, int grad_min = 8, int grad_max = 8) {
  std::vector<int> out;
  for (const BitRange& range : parse_bit_ranges(text, grad_min, grad_max)) {
    out.insert(out.end(), {range.qmin, range.qmax, range.grad_min, range.grad_max});
  }
  return out;
}

TEST_CASE("bit ranges read the papers' notation", "[bits]") {
  CHECK(numbers("3:8/8,3:6/6") == std::vector<int>{3, 8, 8, 8, 3, 6, 6, 6});
  CHECK(numbers("3:6/6:8") == std::vector<int>{3, 6, 6, 8});
  CHECK(numbers("8") == std::vector<int>{8, 8, 8, 8});
  CHECK(numbers("8/8") == std::vector<int>{8, 8, 8, 8});
  CHECK(numbers("1:16/16") == std::vector<int>{1, 16, 16, 16});
}

TEST_CASE("bit ranges take default gradient bits where none are written", "[bits]") {
  CHECK(numbers("4:8,4:6/6", 10, 12) == std::vector<int>{4, 8, 10, 12, 4, 6, 6, 6});
}

TEST_CASE("bit ranges ignore blanks", "[bits]") {
  CHECK(numbers(" 3:8/8 ,\t3 : 6 / 6 ") == std::vector<int>{3, 8, 8, 8, 3, 6, 6, 6});
}

TEST_CASE("malformed bit ranges are refused and the message shows the term", "[bits][errors]") {
  for (const char* text : {"",       " ",
                           ",",      "3:8/8,",
                           ",3:8/8", "3:8/8,,4",
                           "x",      "3:x",
                           "3:8/",   "/8",
                           ":8",     "3:",
                           "3:8:9",  "3:8/8/8",
                           "3-8/8",  "-3:8",
                           "+3:8",   "0:8",
                           "3:17",   "17",
                           "8/0",    "8/17",
                           "3.5:8",  "3:8e0",
                           "3 8",    "99999999999999999999:8",
                           "3:8;4:8"}) {
    INFO("'" << text << "'");
    CHECK_THAT(error_text([&] { parse_bit_ranges(text, 8, 8); }),
               Contains("bits: found '") && Contains("3:8/8"));
  }
  CHECK_THAT(error_text([] { parse_bit_ranges("3:8/8, 3-6/6", 8, 8); }), Contains("'3-6/6'"));
}

TEST_CASE("bounds in the wrong order are refused", "[bits][errors]") {
  CHECK_THAT(error_text([] { parse_bit_ranges("8:3/8", 8, 8); }),
             Contains("'8:3/8'") && Contains("min <= max"));
  CHECK_THAT(error_text([] { parse_bit_ranges("3:8/8:6", 8, 8); }), Contains("min <= max"));
  CHECK_THAT(error_text([] { parse_bit_ranges("3:8", 8, 6); }), Contains("gradient bits"));
  CHECK_THAT(error_text([] { parse_bit_ranges("3:8", 0, 6); }), Contains("gradient bits"));
}

}  // namespace
}  // namespace bitcycle
