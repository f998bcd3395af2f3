// Whole-number expressions of network files.
#include <catch2/catch.hpp>

#include "tests/workloads/error_text.hpp"
#include "workloads/expression.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;

std::uint64_t value(const std::string& text) {
  return evaluate(text, {{"n", 3}, {"depth", 20}, {"width", 64}}, "f.yaml", 7, "field");
}

std::string refusal(const std::string& text) {
  return error_text([&] { value(text); });
}

TEST_CASE("expressions follow the usual rules", "[expression]") {
  CHECK(value("0") == 0);
  CHECK(value(" 42 ") == 42);
  CHECK(value("18446744073709551615") == ~std::uint64_t{0});
  CHECK(value("2 + 3 * 4") == 14);
  CHECK(value("(2+3)*4") == 20);
  CHECK(value("(depth - 2) / 6") == 3);
  CHECK(value("100 / 5 / 2") == 10);
  CHECK(value("10 - 4 - 3") == 3);
  CHECK(value("4 * width") == 256);
  CHECK(value("((((n))))") == 3);
}

TEST_CASE("anything else is refused in one line with its place", "[expression][errors]") {
  for (const char* text : {"",
                           " ",
                           "-1",
                           "+1",
                           "1.5",
                           "1e30",
                           "0x10",
                           "010",
                           "00",
                           "1_000",
                           ".5",
                           "NaN",
                           "inf",
                           "~",
                           "true",
                           "2 3",
                           "2 +",
                           "* 2",
                           "(2",
                           "2)",
                           "()",
                           "2 ** 3",
                           "2 % 3",
                           "n n",
                           "\t1",
                           "1,2",
                           "18446744073709551616",
                           "99999999999999999999999",
                           "n - 4",
                           "4 / 0",
                           "7 / 2",
                           "\xff",
                           "$n",
                           "18446744073709551615 + 1",
                           "18446744073709551615 * 2"}) {
    INFO(text);
    const std::string message = refusal(text);
    CHECK_THAT(message, Contains("f.yaml:7: field: found '") && Contains("allowed: "));
    CHECK(message.find('\n') == std::string::npos);
  }
  CHECK_THAT(refusal("widht"), Contains("did you mean 'width'?"));
  CHECK_THAT(refusal(std::string(300, '1')), Contains("256"));
  CHECK_THAT(refusal(std::string(100, '(') + "1" + std::string(100, ')')), Contains("32"));
}

TEST_CASE("names are filled in", "[expression]") {
  const auto filled = [](const std::string& text) {
    return fill_in(text, {{"i", 4}, {"n", 3}}, "f.yaml", 7, "name");
  };
  CHECK(filled("plain") == "plain");
  CHECK(filled("stage1.block$i") == "stage1.block4");
  CHECK(filled("$i-$n") == "4-3");
  CHECK(filled("a$(i * (n + 1))b") == "a16b");
  for (const char* text : {"$", "a$", "$ i", "$(i", "$()", "$5", "$missing", "$(i - 9)"}) {
    INFO(text);
    CHECK_THAT(error_text([&] { filled(text); }), Contains("f.yaml:7: name"));
  }
}

}  // namespace
}  // namespace bitcycle
