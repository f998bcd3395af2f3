#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>

#include "golden/gemm.hpp"
#include "golden/operands.hpp"
#include "tests/golden/reference.hpp"

namespace bitcycle {
namespace {

using testing::input_error_of;

TEST_CASE("every pattern stays in range in every mode and shape", "[golden][operands]") {
  for (const OperandPattern pattern : kOperandPatterns) {
    for (const auto mode : testing::kSignModes) {
      for (const int pa : {1, 2, 3, 8, 16}) {
        for (const int pw : {1, 2, 5, 16}) {
          for (const std::uint64_t k : {1, 2, 3, 4, 17}) {
            CAPTURE(operand_pattern_name(pattern), mode.a, mode.w, pa, pw, k);
            const Precision a{pa, mode.a};
            const Precision w{pw, mode.w};
            const Operands operands = make_operands(pattern, 3, 2, k, a, w, 1);
            REQUIRE(operands.a.rows() == 3);
            REQUIRE(operands.w.rows() == 2);
            REQUIRE(operands.a.cols() == static_cast<Eigen::Index>(k));
            REQUIRE(operands.w.cols() == static_cast<Eigen::Index>(k));
            REQUIRE_NOTHROW(check_codes(operands.a, a, "A"));
            REQUIRE_NOTHROW(check_codes(operands.w, w, "W"));
          }
        }
      }
    }
  }
}

TEST_CASE("constant patterns", "[golden][operands]") {
  const Precision s{4, true};
  const Precision u{6, false};
  const auto is = [&](OperandPattern pattern, std::int32_t a, std::int32_t w) {
    const Operands operands = make_operands(pattern, 2, 3, 5, s, u, 0);
    return (operands.a.array() == a).all() && (operands.w.array() == w).all();
  };
  CHECK(is(OperandPattern::kMinimum, -8, 0));
  CHECK(is(OperandPattern::kMaximum, 7, 63));
  CHECK(is(OperandPattern::kAllOnes, -1, 63));
  CHECK(is(OperandPattern::kZero, 0, 0));
}

TEST_CASE("alternating: all four pairs of extremes meet in four steps", "[golden][operands]") {
  const Operands operands =
      make_operands(OperandPattern::kAlternating, 2, 2, 8, {3, true}, {3, true}, 0);
  for (Eigen::Index m = 0; m < 2; ++m) {
    for (Eigen::Index n = 0; n < 2; ++n) {
      std::map<std::pair<int, int>, int> pairs;
      for (Eigen::Index k = 0; k < 4; ++k) ++pairs[{operands.a(m, k), operands.w(n, k)}];
      CHECK(pairs.size() == 4);
      for (const auto& entry : pairs) CHECK(std::abs(entry.first.first) >= 3);
    }
    for (Eigen::Index k = 1; k < 8; ++k) CHECK(operands.a(m, k) != operands.a(m, k - 1));
  }
}

TEST_CASE("cancel: +-1 in every mode and width, after a high prefix where signs allow it",
          "[golden][operands]") {
  for (const auto mode : testing::kSignModes) {
    for (int pa = 1; pa <= 16; ++pa) {
      for (int pw = 1; pw <= 16; ++pw) {
        for (const std::uint64_t k : {1, 2, 3, 4, 64, 65}) {
          const Precision a{pa, mode.a};
          const Precision w{pw, mode.w};
          const Operands operands = make_operands(OperandPattern::kCancel, 3, 4, k, a, w, 7);
          CAPTURE(mode.a, mode.w, pa, pw, k);
          for (Eigen::Index m = 0; m < 3; ++m) {
            for (Eigen::Index n = 0; n < 4; ++n) {
              testing::Wide sum = 0;
              testing::Wide peak = 0;
              for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(k); ++i) {
                sum += static_cast<testing::Wide>(operands.a(m, i)) * operands.w(n, i);
                peak = std::max(peak, sum < 0 ? -sum : sum);
              }
              REQUIRE((sum == 1 || sum == -1));
              const bool can_cancel = (mode.a && pa >= 2) || (mode.w && pw >= 2);
              if (!can_cancel || k < 3) continue;
              const std::int64_t top_a = std::max<std::int64_t>(testing::highest(a), 1);
              const std::int64_t top_w = std::max<std::int64_t>(testing::highest(w), 1);
              // Both codes of a pair are at least half of the largest, over (K-1)/2 pairs.
              REQUIRE(4 * peak >= static_cast<testing::Wide>((k - 1) / 2) * top_a * top_w);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("cancel gives results of both signs", "[golden][operands]") {
  const Precision p{8, true};
  const Operands operands = make_operands(OperandPattern::kCancel, 2, 2, 33, p, p, 1);
  const GoldenResult result = golden_gemm(operands.a, p, operands.w, p, 48);
  CHECK(result.c.minCoeff() == -1);
  CHECK(result.c.maxCoeff() == 1);
}

TEST_CASE("one-hot: one bit in each row of A, in any lane and plane", "[golden][operands]") {
  const Precision p{5, true};
  const Operands operands = make_operands(OperandPattern::kOneHot, 400, 2, 7, p, p, 3);
  std::map<std::pair<Eigen::Index, std::int32_t>, int> places;
  for (Eigen::Index m = 0; m < 400; ++m) {
    REQUIRE((operands.a.row(m).array() != 0).count() == 1);
    for (Eigen::Index k = 0; k < 7; ++k) {
      if (operands.a(m, k) != 0) ++places[{k, operands.a(m, k)}];
    }
  }
  CHECK(places.size() == 7 * 5);
  for (const auto& place : places) {
    const std::int32_t code = place.first.second;
    CHECK((code == -16 || code == 1 || code == 2 || code == 4 || code == 8));
  }
}

TEST_CASE("uniform: every code occurs, frequencies within six sigma", "[golden][operands]") {
  for (const bool is_signed : {false, true}) {
    const Precision p{4, is_signed};
    const Operands operands = make_operands(OperandPattern::kUniform, 64, 1, 1024, p, p, 11);
    std::map<std::int32_t, int> counts;
    for (const std::int32_t code : operands.a.reshaped()) ++counts[code];
    CHECK(counts.size() == 16);
    for (const auto& count : counts) {
      CAPTURE(count.first);
      CHECK(std::abs(count.second - 4096) < 6 * 62);  // sigma = sqrt(65536 * 1/16 * 15/16) = 62
    }
  }
}

TEST_CASE("uniform: a code depends on seed, tensor and position alone", "[golden][operands]") {
  const Precision p{16, false};
  const auto make = [&](std::uint64_t m, std::uint64_t n, std::uint64_t seed) {
    return make_operands(OperandPattern::kUniform, m, n, 9, p, p, seed);
  };
  const Operands small = make(2, 3, 5);
  const Operands large = make(8, 4, 5);
  CHECK(large.a.topRows(2) == small.a);
  CHECK(large.w.topRows(3) == small.w);
  CHECK(make(2, 3, 5).a == small.a);
  CHECK(make(2, 3, 6).a != small.a);
  CHECK(make(2, 2, 5).a != make(2, 2, 5).w);
  // Frozen: logged seeds of old runs must keep their meaning.
  CodeMatrix frozen(2, 3);
  frozen << 48900, 29206, 7374, 23563, 61570, 58822;
  CHECK(make_operands(OperandPattern::kUniform, 2, 1, 3, p, p, 42).a == frozen);
}

TEST_CASE("pattern names round trip, unknown ones are refused", "[golden][operands]") {
  for (const OperandPattern pattern : kOperandPatterns) {
    CHECK(operand_pattern_from_name(operand_pattern_name(pattern)) == pattern);
  }
  CHECK(input_error_of([] { operand_pattern_from_name("unifrom"); }) ==
        "operand pattern: found 'unifrom', did you mean 'uniform'?, allowed: uniform, minimum, "
        "maximum, all-ones, alternating, cancel, zero, one-hot");
}

TEST_CASE("make_operands refuses bad shapes and widths", "[golden][operands]") {
  const Precision p{8, false};
  const auto error = [&](std::uint64_t m, std::uint64_t n, std::uint64_t k, Precision pa,
                         Precision pw) {
    return input_error_of([&] { make_operands(OperandPattern::kZero, m, n, k, pa, pw, 0); });
  };
  CHECK(error(1, 1, 1, p, p).empty());
  CHECK(error(0, 1, 1, p, p) == "M: found 0, allowed: 1 to 2147483647");
  CHECK(error(1, 0, 1, p, p) == "N: found 0, allowed: 1 to 2147483647");
  CHECK(error(1, 1, 0, p, p) == "K: found 0, allowed: 1 to 2147483647");
  CHECK(error(1, 1, 1ULL << 31, p, p) == "K: found 2147483648, allowed: 1 to 2147483647");
  CHECK(error(1, 1, 1, {0, false}, p) == "A bits: found 0, allowed: 1 to 16");
  CHECK(error(1, 1, 1, p, {17, false}) == "W bits: found 17, allowed: 1 to 16");
}

}  // namespace
}  // namespace bitcycle
