// Sums of traces: constant memory, exact counts, and what they say of a schedule.
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "schedule_testing.hpp"
#include "trace_testing.hpp"
#include "workloads/trace_writer.hpp"

namespace {

using namespace bitcycle;

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("a later record of the same iteration replaces the earlier", "[trace]") {
  const TraceTotals t = totals_of(
      trace_text("{\"t\":0,\"b\":3,\"g\":8}\n{\"t\":0,\"layer\":\"conv2\",\"b\":8,\"g\":8}\n"
                 "{\"t\":40,\"b\":5,\"g\":8}\n{\"t\":40,\"layer\":\"conv2\",\"b\":8,\"g\":8}\n"));
  std::map<std::pair<std::uint32_t, int>, std::uint64_t> seen;
  for (const auto& c : t.counts) seen[{c.layer, c.work.bits.fwd_x}] += c.iterations;
  const std::map<std::pair<std::uint32_t, int>, std::uint64_t> wanted = {
      {{0, 3}, 40}, {{0, 5}, 60}, {{1, 8}, 100}, {{2, 3}, 40}, {{2, 5}, 60}};
  CHECK(seen == wanted);
  CHECK(t.switches == 1);
}

TEST_CASE("a switch is an iteration whose bits differ, however often they are stated", "[trace]") {
  CHECK(totals_of(trace_text("{\"t\":0,\"b\":3,\"g\":8}\n{\"t\":1,\"b\":3,\"g\":8}\n")).switches ==
        0);
  CHECK(totals_of(trace_text("{\"t\":0,\"b\":3,\"g\":8}\n{\"t\":1,\"b\":4,\"g\":8}\n"
                             "{\"t\":1,\"b\":3,\"g\":8}\n{\"t\":2,\"b\":4,\"g\":8}\n"))
            .switches == 1);
  CHECK(totals_of(trace_text("{\"t\":0,\"b\":3,\"g\":8}\n{\"t\":7,\"layer\":0,\"b\":4,\"g\":8}\n"
                             "{\"t\":7,\"layer\":1,\"b\":4,\"g\":8}\n"))
            .switches == 1);
}

TEST_CASE("a trace is a schedule exactly if all layers have one pair", "[trace]") {
  const std::string all = "{\"t\":0,\"b\":3,\"g\":8}\n";
  CHECK(totals_of(trace_text(all)).schedule);
  CHECK_FALSE(totals_of(trace_text("{\"t\":0,\"w\":3,\"a\":4,\"g\":8}\n")).schedule);
  CHECK_FALSE(totals_of(trace_text(all + "{\"t\":5,\"layer\":0,\"b\":4,\"g\":8}\n")).schedule);
  CHECK_FALSE(totals_of(trace_text(all + "{\"t\":5,\"pass\":1,\"b\":4,\"g\":8}\n")).schedule);
  CHECK_FALSE(totals_of(trace_text("{\"t\":0,\"b\":3,\"g\":8,\"passes\":2}\n")).schedule);
  CHECK_FALSE(totals_of(trace_text(all + "{\"t\":99,\"skip\":true}\n")).schedule);
  CHECK_FALSE(totals_of(trace_text(all + "{\"t\":99,\"quantised\":false}\n")).schedule);
  // Layer by layer is the same as all at once.
  CHECK(totals_of(trace_text("{\"t\":0,\"layer\":0,\"b\":3,\"g\":8}\n{\"t\":0,\"layer\":1,\"b\":3,"
                             "\"g\":8}\n{\"t\":0,\"layer\":2,\"b\":3,\"g\":8}\n"))
            .schedule);
}

TEST_CASE("sums of a trace equal an iteration-by-iteration replay", "[trace]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 30; ++round) {
    const std::uint64_t n = 1 + random() % 60;
    TraceAccumulator sums(four_layers(), n);
    std::vector<std::vector<LayerBits>> bits(3, std::vector<LayerBits>(n));
    for (std::uint64_t t = 0; t < n; ++t) {
      for (std::size_t layer = 0; layer < 3; ++layer) {
        if (t > 0 && random() % 3 != 0) {
          bits[layer][t] = bits[layer][t - 1];
          continue;
        }
        const auto any = [&] { return 1 + static_cast<int>(random() % 16); };
        bits[layer][t] = LayerBits(any(), any(), any());
        TraceRecord record;
        record.start = t;
        record.layers = LayerSelection::index(layer);
        record.work.bits = bits[layer][t];
        sums.add(record);
      }
    }
    std::uint64_t switches = 0;
    for (std::uint64_t t = 1; t < n; ++t) {
      bool differs = false;
      for (const auto& layer : bits) differs = differs || !(layer[t] == layer[t - 1]);
      switches += differs ? 1 : 0;
    }
    const TraceTotals totals = sums.finish();
    CHECK(totals.switches == switches);
    std::uint64_t all = 0;
    for (const auto& c : totals.counts) {
      std::uint64_t wanted = 0;
      for (const auto& b : bits[c.layer]) wanted += b == c.work.bits ? 1 : 0;
      CHECK(c.iterations == wanted);
      all += c.iterations;
    }
    CHECK(all == 3 * n);
  }
}

TEST_CASE("averaging and exchange are counted beside the work", "[trace]") {
  const TraceTotals t = totals_of(trace_text(
      "{\"t\":0,\"b\":8,\"g\":8}\n{\"t\":0,\"extra\":\"exchange\",\"bits\":16}\n"
      "{\"t\":[10,31],\"extra\":\"averaging\",\"every\":10,\"read_bits\":40,\"write_bits\":32}\n"
      "{\"t\":[50,60],\"extra\":\"exchange\",\"bits\":4}\n"
      "{\"t\":90,\"extra\":\"averaging\",\"elements\":7,\"read_bits\":1,\"write_bits\":2}\n"));
  CHECK(t.averaging_updates == 3 + 10);
  CHECK(to_decimal(t.averaging_read_bits) == std::to_string(3 * 1000 * 40 + 70));
  CHECK(to_decimal(t.averaging_written_bits) == std::to_string(3 * 1000 * 32 + 140));
  CHECK(t.exchange_iterations == std::map<int, std::uint64_t>{{4, 10}, {16, 50}});
  CHECK(t.schedule);
}

TEST_CASE("100,000 records pass in constant memory", "[trace]") {
  const TemporaryFile file("");
  TraceHeader header;
  header.iterations = 50'000;
  {
    TraceWriter writer(file.path(), header);
    TraceRecord record;
    for (std::uint64_t t = 0; t < 50'000; ++t) {
      for (std::uint64_t layer = 0; layer < 2; ++layer) {
        record.start = t;
        record.layers = LayerSelection::index(layer);
        record.work.bits = LayerBits(3 + static_cast<int>((t + layer) % 6), 8);
        if (t == 0 && layer == 0) record.layers = LayerSelection{};
        writer.add(record);
      }
    }
    writer.finish();
  }
  // Neither writing nor reading may hold the file: it has more bytes than the peak may grow.
  REQUIRE(std::filesystem::file_size(file.path()) > 3'000'000);
#if defined(__SANITIZE_ADDRESS__)
  constexpr long kMostGrowth = 50'000;  // kB; freed memory stays in quarantine
#else
  constexpr long kMostGrowth = 1'500;
#endif
  const long before = peak_kilobytes();
  TraceReader reader(file.path());
  const TraceTotals totals = total_trace(reader, four_layers());
  CHECK(totals.records == 100'000);
  CHECK(totals.switches == 49'999);
  CHECK(peak_kilobytes() - before < kMostGrowth);
}

TEST_CASE("too many different widths are refused, not kept", "[trace]") {
  TraceLayers many;
  for (int i = 0; i < 2000; ++i) {
    many.names.push_back("l" + std::to_string(i));
    many.quantised.push_back(true);
  }
  TraceAccumulator sums(many, 1'000'000);
  TraceRecord record;
  const std::string error = error_text([&] {
    for (std::uint32_t i = 0; i < 100'000; ++i) {
      record.start = i;
      record.work.passes = {i + 1, 1, 1};
      record.layers = i == 0 ? LayerSelection{} : LayerSelection::index(i % 2000);
      sums.add(record);
    }
  });
  CHECK(error.find("different widths and passes") != std::string::npos);
}

TEST_CASE("a list of patterns cannot eat time or memory", "[trace]") {
  TraceLayers many;
  for (int i = 0; i < 50'000; ++i) {
    many.names.push_back("l" + std::to_string(i));
    many.quantised.push_back(true);
  }
  std::string list;
  for (int i = 0; i < 5'000; ++i) list += (i > 0 ? ",\"l*\"" : "\"l*\"");
  const std::string error =
      trace_error(trace_text("{\"t\":0,\"layer\":[" + list + "],\"b\":3,\"g\":8}\n"), many);
  CHECK(error.find(":2: layer: found a list that takes over") == 0);
}
