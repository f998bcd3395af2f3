// Random stalls on every AXI channel, and latency from 1 to 500 cycles: results stay, cycles stay
// within the bounds that the formula and the memory's count of withheld handshakes give.
#include <catch2/catch.hpp>

#include "tests/machine/lockstep_layer.hpp"

namespace bitcycle {
namespace {

using testing::conv_shape;
using testing::dense_shape;
using testing::kAllPasses;
using testing::layer_job_of;
using testing::LayerBench;
using testing::LayerRun;
using testing::machine_of;

struct Bounds {
  std::uint64_t runs = 0, cycles = 0, free = 0, withheld = 0;
  void add(const LayerRun& r) {
    ++runs;
    cycles += r.machine.cycles;
    free += r.formula_cycles;
    withheld += r.machine.withheld;
  }
};

void check_bounds(const LayerRun& r) {
  CHECK(r.formula_cycles <= r.machine.cycles);
  CHECK(r.machine.cycles <= r.formula_cycles + r.machine.withheld);
  CHECK(r.violation.empty());
}

// A layer that fetches, saves partial sums and stores several times.
ConvJob busy_layer(ConvPass pass) {
  return layer_job_of(conv_shape(1, 32, 4, 20, 3, 1, 1), pass, 4, 4);
}

void random_stalls(int runs, std::uint64_t seed) {
  LayerBench bench(machine_of("ci-4x4-s1"), seed);
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  // A channel is left alone, stalled a little, or nearly always.
  const auto chance = [&] {
    const std::uint64_t kind = pick(0, 3);
    return kind == 0 ? 0.0 : static_cast<double>(pick(1, kind == 3 ? 90 : 40)) / 100;
  };
  Bounds sum;
  for (int i = 0; i < runs; ++i) {
    CAPTURE(seed, i);
    bench.timing.latency = pick(0, 2) == 0 ? pick(1, 500) : pick(1, 40);
    bench.timing.write_latency = pick(1, 100);
    bench.timing.read_cost = pick(0, 1) == 0 ? 256 : pick(256, 1500);
    bench.timing.write_cost = pick(0, 1) == 0 ? 256 : pick(256, 1500);
    StallSpec s;
    s.ar = chance();
    s.r = chance();
    s.aw = chance();
    s.w = chance();
    s.b = chance();
    s.seed = random();
    bench.stalls = s;
    CAPTURE(s.ar, s.r, s.aw, s.w, s.b, bench.timing.latency);
    const LayerRun r = bench.run(busy_layer(kAllPasses[i % 3]));
    check_bounds(r);
    sum.add(r);
  }
  WARN(sum.runs << " stalled runs: " << sum.cycles << " cycles, " << sum.free << " without stalls, "
                << sum.withheld << " withheld");
  CHECK(sum.cycles > sum.free);
}

void latencies(const std::vector<std::uint64_t>& list) {
  LayerBench bench(machine_of("ci-4x4-s1"), 3);
  for (const ConvPass pass : kAllPasses) {
    // One mapping for all latencies: then none may be faster than a shorter one.
    CompileOptions options;
    options.mapping = compile(GemmProblem(bench.config(), busy_layer(pass))).plan.mapping();
    std::uint64_t before = 0;
    for (const std::uint64_t latency : list) {
      CAPTURE(to_string(pass), latency);
      bench.timing.latency = latency;
      bench.timing.write_latency = latency;
      const LayerRun r = bench.run(busy_layer(pass), testing::Codes::kRandom, options);
      CHECK(r.machine.cycles > before);
      before = r.machine.cycles;
    }
  }
}

}  // namespace

TEST_CASE("machine stalls: each AXI channel alone") {
  LayerBench bench(machine_of("ci-4x4-s1"), 2);
  bench.timing.latency = 12;
  const auto run = [&](const StallSpec& s) {
    bench.stalls = s;
    const LayerRun r = bench.run(busy_layer(ConvPass::kDw));
    check_bounds(r);
    CHECK(r.machine.withheld > 0);
    return r.machine.cycles - r.formula_cycles;
  };
  constexpr double StallSpec::*kChannels[] = {&StallSpec::ar, &StallSpec::r, &StallSpec::aw,
                                              &StallSpec::w, &StallSpec::b};
  for (const auto channel : kChannels) {
    for (const double p : {0.5, 0.97}) {
      StallSpec s;
      s.*channel = p;
      s.seed = 5;
      CAPTURE(p);
      const std::uint64_t cost = run(s);
      // Other engines may hide a few cycles, but not these.
      if (p > 0.9) CHECK(cost > 0);
    }
  }
}

TEST_CASE("machine stalls: random stalls on all channels keep results and bounds") {
  random_stalls(60, 20261130);
}

TEST_CASE("machine stalls: many random stalls", "[.full]") { random_stalls(1500, 77); }

TEST_CASE("machine stalls: latency from 1 to 500") {
  latencies({1, 2, 3, 5, 8, 16, 33, 64, 100, 200, 350, 500});
}

TEST_CASE("machine stalls: every latency from 1 to 500", "[.full]") {
  std::vector<std::uint64_t> all;
  for (std::uint64_t l = 1; l <= 500; ++l) all.push_back(l);
  latencies(all);
}

}  // namespace bitcycle
