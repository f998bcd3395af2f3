// The summary against its definition: bits_at() of every iteration.
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/workloads/schedule_testing.hpp"
#include "workloads/schedule.hpp"

namespace bitcycle {
namespace {

TEST_CASE("the summary equals a scan of all iterations on random schedules",
          "[schedule][summary][random]") {
  const std::uint64_t seed = 20240311;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 4000; ++i) {
    const ScheduleSpec spec = random_spec(random, 1500);
    const ScheduleSummary fast = summarise(spec);
    const ScheduleSummary slow = brute_force(spec);
    INFO(i << ": " << describe(spec));
    INFO("summary " << describe(fast));
    INFO("scan    " << describe(slow));
    REQUIRE(same_counts(fast, slow));
  }
}

TEST_CASE("the summary equals a scan where rounding ties are frequent",
          "[schedule][summary][random]") {
  // Cycle lengths with many divisors put iterations exactly on the ties of L and C.
  for (const std::uint64_t t : {12U, 60U, 840U, 2520U, 5040U}) {
    for (const std::string& name : suite()) {
      for (int qmin = 1; qmin <= 16; qmin += 3) {
        for (int qmax = qmin; qmax <= 16; ++qmax) {
          ScheduleSpec spec = make_spec(name, qmin, qmax, 8, 2 * t + 1, 2);
          spec.grad_min = 2;
          spec.grad_max = 2 + qmax - qmin > 16 ? 16 : 2 + qmax - qmin;
          INFO(describe(spec));
          REQUIRE(same_counts(summarise(spec), brute_force(spec)));
        }
      }
    }
  }
}

TEST_CASE("left-over iterations begin one more cycle", "[schedule][summary]") {
  // ImageNet, 450450/8: two left over at qmin (get_flops.py); Arxiv, 500/8: T = 62, four.
  const ScheduleSummary imagenet = summarise(make_spec("RR", 4, 8, 8, 450450, 8));
  CHECK(imagenet.cycle_iterations == 56306);
  CHECK(imagenet.last_bits == 4);
  CHECK(imagenet.precision_switches == 8 * 4 + 8);
  const ScheduleSpec arxiv = make_spec("RR", 3, 8, 8, 500, 8);
  CHECK(summarise(arxiv).last_bits == 3);
  CHECK(same_counts(summarise(arxiv), brute_force(arxiv)));
}

TEST_CASE("with floor+1 the last cycle is cut", "[schedule][summary]") {
  // Arxiv, T = 63: the last cycle has 59 iterations; RR, RTV, RTH never get back to 8 bits.
  for (const char* name : {"RR", "RTV", "RTH"}) {
    INFO(name);
    const ScheduleSpec spec = make_spec(name, 3, 8, 8, 500, 8, CycleLength::kFloorPlusOne);
    CHECK(summarise(spec).cycle_iterations == 63);
    CHECK(summarise(spec).last_bits < 8);
    CHECK(same_counts(summarise(spec), brute_force(spec)));
  }
}

TEST_CASE("one iteration, one cycle and as many cycles as iterations are counted",
          "[schedule][summary]") {
  for (const CycleLength length : {CycleLength::kFloor, CycleLength::kFloorPlusOne}) {
    for (const std::string& name : schedule_names()) {
      for (const auto& [iterations, cycles] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
               {1, 1}, {2, 1}, {2, 2}, {3, 2}, {7, 7}, {1000, 1}, {1000, 1000}, {1000, 999}}) {
        const ScheduleSpec spec = make_spec(name, 3, 8, 8, iterations, cycles, length);
        INFO(describe(spec));
        CHECK(same_counts(summarise(spec), brute_force(spec)));
      }
    }
  }
}

TEST_CASE("counts add up to N for very long schedules", "[schedule][summary][random]") {
  const std::uint64_t seed = 77;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 300; ++i) {
    const ScheduleSpec spec = random_spec(random, 100'000'000'000);
    INFO(describe(spec));
    const ScheduleSummary summary = summarise(spec);
    std::uint64_t total = 0;
    for (const auto& count : summary.pairs) total += count.iterations;
    REQUIRE(total == spec.iterations);
    REQUIRE(summary.last_bits == bits_at(spec, spec.iterations - 1).bits);
  }
}

TEST_CASE("the widest range equals a scan over long cycles", "[schedule][summary]") {
  for (const std::string& name : suite()) {
    const ScheduleSpec spec = make_spec(name, 1, 16, 8, 200'003, 3);
    INFO(name);
    CHECK(same_counts(summarise(spec), brute_force(spec)));
  }
}

TEST_CASE("64 thousand and 64 million iterations are summarised in the same time",
          "[schedule][summary][speed]") {
  const auto seconds = [](std::uint64_t iterations) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) (void)summarise(make_spec("CT", 3, 8, 8, iterations, 8));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    return time.count() / 100;
  };
  (void)seconds(64'000);
  // A walk over the iterations would be a thousand times slower; the machine may be busy.
  CHECK(seconds(64'000'000) < 0.005);
  CHECK(seconds(std::uint64_t{1} << 40) < 0.02);
  CHECK(summarise(make_spec("CR", 3, 8, 8, 64'000'000, 64'000'000)).sum_bits() == 192'000'000);
}

}  // namespace
}  // namespace bitcycle
