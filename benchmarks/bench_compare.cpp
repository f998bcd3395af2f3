// The main job: all ten schedules of ResNet-74, which must not depend on the iteration count.
#include <benchmark/benchmark.h>

#include "sim/compare.hpp"
#include "sim/machine_cost.hpp"
#include "sim/memory_choice.hpp"
#include "sim/report.hpp"

namespace {

using namespace bitcycle;

void BM_compare(benchmark::State& state) {
  CompareOptions options;
  options.iterations = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(run_compare(options));
}
BENCHMARK(BM_compare)->Arg(64'000)->Arg(64'000'000)->Unit(benchmark::kMillisecond);

void BM_compare_all_arrays_with_report(benchmark::State& state) {
  CompareOptions options;
  options.archs = {"all"};
  for (auto _ : state) {
    const CompareResult result = run_compare(options);
    benchmark::DoNotOptimize(report_text(result, {}));
    benchmark::DoNotOptimize(report_json(result));
  }
}
BENCHMARK(BM_compare_all_arrays_with_report)->Unit(benchmark::kMillisecond);

MachineCostOptions whole_machine() {
  MachineCostOptions o;
  o.machine = machine_for(resolve_array("serial-1x1"));
  o.memory =
      view_memory(resolve_memory("bandwidth-latency"), o.machine.dw, 500e6, "--clock-mhz").timing;
  return o;
}

// One iteration of ResNet-50 at every width of a 3-8 schedule, batch 256.
std::uint64_t all_widths(MachineCost& cost, const Network& network) {
  std::uint64_t cycles = 0;
  for (int b = 3; b <= 8; ++b) cycles += cost.iteration(network, 256, {b, b, 8}).cycles();
  return cycles;
}

void BM_resnet50_all_widths_from_nothing(benchmark::State& state) {
  const Network network = make_network("resnet50-imagenet");
  for (auto _ : state) {
    MachineCost cost(whole_machine());
    benchmark::DoNotOptimize(all_widths(cost, network));
  }
}
BENCHMARK(BM_resnet50_all_widths_from_nothing)->Unit(benchmark::kMillisecond);

void BM_resnet50_all_widths_known(benchmark::State& state) {
  const Network network = make_network("resnet50-imagenet");
  MachineCost cost(whole_machine());
  all_widths(cost, network);
  for (auto _ : state) benchmark::DoNotOptimize(all_widths(cost, network));
}
BENCHMARK(BM_resnet50_all_widths_known)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
