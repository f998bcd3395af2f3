// Bits of single iterations, and what a schedule may be made from.
#include <catch2/catch.hpp>

#include "tests/workloads/error_text.hpp"
#include "tests/workloads/schedule_testing.hpp"
#include "workloads/schedule.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;

std::vector<int> bits_of(const ScheduleSpec& spec) {
  std::vector<int> bits;
  for (std::uint64_t t = 0; t < spec.iterations; ++t) bits.push_back(bits_at(spec, t).bits);
  return bits;
}

TEST_CASE("repeated schedules grow in every cycle", "[schedule]") {
  CHECK(bits_of(make_spec("LR", 2, 4, 8, 8, 2)) == std::vector<int>{2, 2, 3, 4, 2, 2, 3, 4});
}

TEST_CASE("triangular schedules decay in even and grow in odd cycles", "[schedule]") {
  // 2.5 and 3.5 round to even.
  CHECK(bits_of(make_spec("LT", 2, 4, 8, 12, 3)) ==
        std::vector<int>{4, 4, 3, 2, 2, 2, 3, 4, 4, 4, 3, 2});
}

TEST_CASE("rounding ties go to the even width", "[schedule]") {
  // Cosine at z = 1/2: 3:6 gives 4.5 -> 4, 5:8 gives 6.5 -> 6.
  CHECK(bits_at(make_spec("CR", 3, 6, 6, 64000, 8), 4000).bits == 4);
  CHECK(bits_at(make_spec("CR", 5, 8, 8, 64000, 8), 4000).bits == 6);
}

TEST_CASE("at cos(pi z) = 1/2 the order of operations decides", "[schedule]") {
  // 4:6 with T = 8001: the trainers of the suite, 1 - cos(pi z), give 6 at t = 5334; CPT's own
  // 1 + cos(pi z + pi) gives 5. This is the suite's order.
  CHECK(bits_at(make_spec("CR", 4, 6, 6, 64000, 8, CycleLength::kFloorPlusOne), 5334).bits == 6);
}

TEST_CASE("linear decay subtracts from qmax, as the published trainers", "[schedule]") {
  // 16 - 15*(2100/2520) is the tie 3.5 and rounds to 4; 1 + 15*(1 - 2100/2520) is just below it.
  CHECK(bits_at(make_spec("LT", 1, 16, 8, 2 * 2520, 2), 2100).bits == 4);
}

TEST_CASE("a time mirror runs the curve backwards, a value mirror turns it upside down",
          "[schedule]") {
  for (const std::uint64_t n : {2U, 8U}) {
    const ScheduleSpec growth = make_spec("RR", 3, 8, 8, 1000 * n, n);
    const ScheduleSpec time = make_spec("RTH", 3, 8, 8, 1000 * n, n);
    const ScheduleSpec value = make_spec("RTV", 3, 8, 8, 1000 * n, n);
    for (std::uint64_t tau = 1; tau < 1000; ++tau) {
      INFO(tau);
      CHECK(bits_at(time, tau).bits == bits_at(growth, 1000 - tau).bits);
      CHECK(bits_at(value, tau).bits == 11 - bits_at(growth, tau).bits);
      CHECK(bits_at(time, 1000 + tau) == bits_at(growth, tau));
    }
  }
}

TEST_CASE("triangles with an even number of cycles begin and end at qmax", "[schedule]") {
  for (const std::string& name : suite()) {
    INFO(name);
    const ScheduleSummary summary = summarise(make_spec(name, 3, 8, 8, 64000, 8));
    CHECK(summary.first_bits == (name[1] == 'T' ? 8 : 3));
    CHECK(summary.last_bits == 8);
  }
}

TEST_CASE("gradient bits follow the same curve between their own bounds", "[schedule]") {
  ScheduleSpec spec = make_spec("ETV", 3, 8, 8, 3000, 3);
  spec.grad_min = 6;
  spec.grad_max = 12;
  const ScheduleSpec as_forward = make_spec("ETV", 6, 12, 8, 3000, 3);
  for (std::uint64_t t = 0; t < spec.iterations; ++t) {
    INFO(t);
    CHECK(bits_at(spec, t).grad_bits == bits_at(as_forward, t).bits);
  }
}

TEST_CASE("a static schedule stays at the upper bounds", "[schedule]") {
  ScheduleSpec spec = make_spec("static", 3, 8, 8, 5, 8);
  spec.grad_min = 6;
  const ScheduleSummary summary = summarise(spec);
  CHECK(summary.group == "static");
  CHECK(summary.cycle_iterations == 0);
  CHECK(summary.precision_switches == 0);
  REQUIRE(summary.pairs.size() == 1);
  CHECK(summary.pairs[0].pair == BitPair{8, 8});
  CHECK(summary.pairs[0].iterations == 5);
  CHECK(bits_at(spec, 4) == BitPair{8, 8});
}

TEST_CASE("schedule names are in the order of the report", "[schedule]") {
  CHECK(schedule_names().size() == 11);
  CHECK(schedule_names().front() == "static");
  std::vector<std::string> groups;
  for (const std::string& name : schedule_names()) {
    const std::string group = summarise(make_spec(name, 3, 8, 8, 100, 2)).group;
    if (groups.empty() || groups.back() != group) groups.push_back(group);
  }
  CHECK(groups == std::vector<std::string>{"static", "large", "medium", "small"});
}

TEST_CASE("an unknown schedule is refused with a suggestion", "[schedule][errors]") {
  const std::string text = error_text([] { summarise(make_spec("ETX", 3, 8, 8, 100, 2)); });
  CHECK_THAT(text,
             Contains("schedule: found 'ETX'") && Contains("RTH") && Contains("did you mean"));
}

TEST_CASE("impossible schedules are refused and the message names the field",
          "[schedule][errors]") {
  const auto message = [](int qmin, int qmax, int grad, std::uint64_t iterations,
                          std::uint64_t cycles) {
    return error_text([&] { make_spec("CR", qmin, qmax, grad, iterations, cycles).validate(); });
  };
  CHECK(message(3, 8, 8, 100, 100).empty());
  CHECK_THAT(message(0, 8, 8, 100, 2), Contains("forward bits: found 0 to 8"));
  CHECK_THAT(message(3, 17, 8, 100, 2), Contains("forward bits: found 3 to 17"));
  CHECK_THAT(message(8, 3, 8, 100, 2), Contains("forward bits: found 8 to 3"));
  CHECK_THAT(message(3, 8, 0, 100, 2), Contains("gradient bits"));
  CHECK_THAT(message(3, 8, 8, 0, 2), Contains("iterations: found 0"));
  CHECK_THAT(message(3, 8, 8, ~std::uint64_t{0}, 1), Contains("iterations") && Contains("2^53"));
  CHECK_THAT(message(3, 8, 8, 100, 0), Contains("cycles: found 0"));
  CHECK_THAT(message(3, 8, 8, 100, 101), Contains("cycles: found 101") && Contains("100"));
}

TEST_CASE("an iteration past the end is refused", "[schedule][errors]") {
  CHECK_THAT(error_text([] { bits_at(make_spec("CR", 3, 8, 8, 100, 2), 100); }),
             Contains("iteration: found 100, allowed: 0 to 99"));
}

TEST_CASE("a relative cost needs iterations and a baseline", "[schedule][errors]") {
  const ScheduleSummary good = summarise(make_spec("CR", 3, 8, 8, 100, 2));
  CHECK_THAT(error_text([&] { relative_bitops(good, {0, 8}); }), Contains("baseline bits"));
  CHECK_THAT(error_text([] { relative_bitops({}, {8, 8}); }), Contains("iterations: found 0"));
  CHECK_THAT(error_text([] { ScheduleSummary().mean_bits(); }), Contains("iterations: found 0"));
}

}  // namespace
}  // namespace bitcycle
