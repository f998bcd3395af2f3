// The main job: all ten schedules of ResNet-74, which must not depend on the iteration count.
#include <benchmark/benchmark.h>

#include "sim/compare.hpp"
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

}  // namespace

BENCHMARK_MAIN();
