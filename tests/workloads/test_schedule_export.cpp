// Run-length CSV and gnuplot scripts.
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/workloads/error_text.hpp"
#include "tests/workloads/schedule_testing.hpp"
#include "tests/workloads/temporary_file.hpp"
#include "workloads/schedule_export.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("runs equal a scan of all iterations on random schedules", "[export][random]") {
  const std::uint64_t seed = 99;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 500; ++i) {
    const ScheduleSpec spec = random_spec(random, 1000);
    INFO(i << ": " << describe(spec));
    std::uint64_t t = 0;
    BitPair before = {0, 0};
    for (const ScheduleRun& run : schedule_runs(spec)) {
      REQUIRE(run.start == t);
      REQUIRE(run.length > 0);
      REQUIRE_FALSE(run.pair == before);
      for (; t < run.start + run.length; ++t) REQUIRE(bits_at(spec, t) == run.pair);
      before = run.pair;
    }
    REQUIRE(t == spec.iterations);
  }
}

TEST_CASE("the CSV has one row per change", "[export][csv]") {
  CHECK(schedule_csv(make_spec("LR", 2, 4, 8, 8, 2)) ==
        "iteration,bits,grad_bits\n0,2,8\n2,3,8\n3,4,8\n4,2,8\n6,3,8\n7,4,8\n");
  CHECK(schedule_csv(make_spec("static", 3, 8, 6, 64000, 8)) ==
        "iteration,bits,grad_bits\n0,8,6\n");
}

TEST_CASE("a written CSV reads back as the same summary", "[export][csv][random]") {
  const std::uint64_t seed = 123;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i) {
    const ScheduleSpec spec = random_spec(random, i < 100 ? 3000 : 3'000'000'000);
    INFO(i << ": " << describe(spec));
    const ScheduleSummary summary = summarise(spec);
    if (summary.precision_switches > 10'000) continue;
    const TemporaryFile file(schedule_csv(spec));
    REQUIRE(same_counts(read_schedule_csv(file.path(), spec.iterations), summary));
  }
}

TEST_CASE("runs of 64 million iterations take no walk over them", "[export][speed]") {
  const auto begin = std::chrono::steady_clock::now();
  CHECK(schedule_runs(make_spec("CR", 3, 8, 8, 64'000'000, 8)).size() == 48);
  CHECK(schedule_runs(make_spec("CR", 8, 8, 8, 64'000'000, 64'000'000)).size() == 1);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  CHECK(time.count() < 0.05);
}

TEST_CASE("a schedule with millions of changes is refused before it fills the memory",
          "[export][errors]") {
  CHECK_THAT(error_text([] { schedule_csv(make_spec("CT", 3, 8, 8, 64'000'000, 32'000'000)); }),
             Contains("schedule CT: found") && Contains("at most 1000000"));
  CHECK_THAT(error_text([] { schedule_runs(make_spec("CR", 3, 8, 8, 64000, 8), 47); }),
             Contains("found 48 changes"));
  CHECK_THAT(error_text([] { schedule_csv(make_spec("XX", 3, 8, 8, 64000, 8)); }),
             Contains("schedule: found 'XX'"));
}

TEST_CASE("the gnuplot script holds the data and draws one panel per schedule", "[export]") {
  SchedulePlot plot;
  plot.svg_path = "it's.svg";
  plot.title = "50% of \"CPT\"";
  const std::string script = schedule_gnuplot(
      {make_spec("CR", 3, 8, 8, 64000, 8), make_spec("RTH", 3, 8, 8, 64000, 8)}, plot);
  CHECK_THAT(script, Contains("set terminal svg") && Contains("set output 'it''s.svg'") &&
                         Contains("50% of \"CPT\"") && Contains("'CR, 3:8/8, n = 8'") &&
                         Contains("'RTH, 3:8/8, n = 8'") && Contains("layout 1,2"));
  // Every run is a row, and the last step ends at N.
  for (const ScheduleRun& run : schedule_runs(make_spec("CR", 3, 8, 8, 64000, 8))) {
    CHECK_THAT(script, Contains("\n" + std::to_string(run.start) + " " +
                                std::to_string(run.pair.bits) + " 8\n"));
  }
  CHECK_THAT(script, Contains("\n64000 8 8\nEOD\n"));
}

TEST_CASE("a figure that cannot be drawn is refused", "[export][errors]") {
  const std::vector<ScheduleSpec> specs = {make_spec("CR", 3, 8, 8, 64000, 8)};
  const auto message = [&specs](const SchedulePlot& plot) {
    return error_text([&] { schedule_gnuplot(specs, plot); });
  };
  SchedulePlot plot;
  CHECK(message(plot).empty());
  CHECK_THAT(error_text([&] { schedule_gnuplot({}, plot); }), Contains("schedules: found none"));
  plot.columns = 0;
  CHECK_THAT(message(plot), Contains("columns: found 0, allowed: 1 to 8"));
  plot = {};
  plot.panel_width = 149;
  CHECK_THAT(message(plot), Contains("panel width"));
  plot = {};
  plot.panel_height = 10'001;
  CHECK_THAT(message(plot), Contains("panel height"));
  plot = {};
  plot.svg_path = "a\nset output '/etc/passwd'";
  CHECK_THAT(message(plot), Contains("SVG path"));
  plot = {};
  plot.title = "two\nlines";
  CHECK_THAT(message(plot), Contains("title"));
}

}  // namespace
}  // namespace bitcycle
