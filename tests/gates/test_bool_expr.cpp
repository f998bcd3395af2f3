#include <catch2/catch.hpp>

#include "model/gates/bool_expr.hpp"
#include "tests/workloads/error_text.hpp"

using namespace bitcycle;

namespace {

// Truth table over A, B, C; bit 0 is A = B = C = 0, A is the lowest input.
unsigned table(const std::string& text) {
  const auto e = BoolExpr::parse(text, "f.lib", 7, "function").bind({"A", "B", "C"});
  unsigned out = 0;
  for (unsigned s = 0; s < 8; ++s) out |= (e.eval(s) ? 1U : 0U) << s;
  return out;
}

constexpr unsigned kA = 0xaa, kB = 0xcc, kC = 0xf0;

}  // namespace

TEST_CASE("Liberty functions: every way to write them") {
  CHECK(table("A") == kA);
  CHECK(table("!A") == (~kA & 0xffU));
  CHECK(table("A'") == (~kA & 0xffU));
  CHECK(table("(A B)'") == (~(kA & kB) & 0xffU));
  CHECK(table("A*B") == (kA & kB));
  CHECK(table("A & B") == (kA & kB));
  CHECK(table("A + B") == (kA | kB));
  CHECK(table("A|B") == (kA | kB));
  CHECK(table("A ^ B") == (kA ^ kB));
  CHECK(table("A B + C") == ((kA & kB) | kC));
  CHECK(table("A + B C") == (kA | (kB & kC)));
  CHECK(table("A ^ B C") == ((kA ^ kB) & kC));
  CHECK(table("!A B") == (~kA & kB & 0xffU));
  CHECK(table("!(A B)") == (~(kA & kB) & 0xffU));
  CHECK(table("((A))") == kA);
  CHECK(table("A''") == kA);
  CHECK(table("0") == 0);
  CHECK(table("1 A") == kA);
}

TEST_CASE("Liberty functions: what is refused, and where") {
  const auto message = [](const std::string& text) {
    return error_text([&] { BoolExpr::parse(text, "f.lib", 7, "function"); });
  };
  CHECK_THAT(message("A +"), Catch::StartsWith("f.lib:7: function: found the end"));
  CHECK_THAT(message("(A"), Catch::Contains("')'"));
  CHECK_THAT(message("A)"), Catch::Contains("found ')'"));
  CHECK_THAT(message(""), Catch::Contains("the end"));
  CHECK_THAT(message(std::string(5000, '(')), Catch::Contains("at most 63 levels"));
  const auto e = BoolExpr::parse("A Z", "f.lib", 7, "when");
  CHECK_THAT(error_text([&] {
               static_cast<void>(e.bind({"A", "B"}));
             }),
             Catch::Contains("f.lib:7: when: found 'Z'"));
}
