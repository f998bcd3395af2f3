// Reading and evaluating a trace of 64,000 iterations x 75 layers with a change in every record.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>

#include "sim/compare.hpp"
#include "workloads/trace_totals.hpp"
#include "workloads/trace_writer.hpp"

namespace {

using namespace bitcycle;

// The file lives as long as the program.
class BigTrace {
 public:
  BigTrace()
      : path_((std::filesystem::temp_directory_path() / "bitcycle_bench_trace.jsonl").string()) {
    TraceHeader header;
    header.network = "resnet74-cifar10";
    header.convention = "cpt-cifar";
    header.iterations = 64'000;
    header.batch = 128;
    TraceWriter writer(path_, header);
    TraceRecord record;
    for (std::uint64_t t = 0; t < header.iterations; ++t) {
      for (std::uint64_t layer = 0; layer < 75; ++layer) {
        record.start = t;
        record.layers = LayerSelection::index(layer);
        record.work.bits = LayerBits(3 + static_cast<int>((t + layer) % 6), 8);
        writer.add(record);
      }
    }
    writer.finish();
    records_ = writer.records();
  }
  ~BigTrace() { std::remove(path_.c_str()); }
  BigTrace(const BigTrace&) = delete;
  BigTrace& operator=(const BigTrace&) = delete;

  const std::string& path() const { return path_; }
  std::int64_t records() const { return static_cast<std::int64_t>(records_); }

 private:
  std::string path_;
  std::uint64_t records_ = 0;
};

const BigTrace& big_trace() {
  static const BigTrace trace;
  return trace;
}

void BM_read_records(benchmark::State& state) {
  for (auto _ : state) {
    TraceReader reader(big_trace().path());
    TraceRecord record;
    while (reader.next(record)) benchmark::DoNotOptimize(record);
  }
  state.SetItemsProcessed(state.iterations() * big_trace().records());
}
BENCHMARK(BM_read_records)->Unit(benchmark::kMillisecond);

void BM_read_and_evaluate(benchmark::State& state) {
  CompareOptions options;
  options.traces = {big_trace().path()};
  options.bits.clear();
  for (auto _ : state) benchmark::DoNotOptimize(run_compare(options));
  state.SetItemsProcessed(state.iterations() * big_trace().records());
}
BENCHMARK(BM_read_and_evaluate)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
