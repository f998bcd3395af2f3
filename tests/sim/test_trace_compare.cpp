// A schedule run through a trace is the schedule; mixed traces add up layer by layer.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "capture.hpp"
#include "golden/error.hpp"
#include "sim/compare.hpp"
#include "sim/compare_trace.hpp"
#include "sim/report.hpp"
#include "workloads/policy.hpp"
#include "workloads/trace_writer.hpp"

namespace {

using namespace bitcycle;
using Json = nlohmann::ordered_json;

void write_trace(const std::string& path, const TraceHeader& header,
                 const std::vector<TraceRecord>& records) {
  TraceWriter writer(path, header);
  for (const auto& r : records) writer.add(r);
  writer.finish();
}

void write_policy(const std::string& path, const std::string& policy, TraceHeader header,
                  const TraceLayers& layers) {
  const auto [name, values] = parse_policy(policy);
  const auto made = make_policy(name, values);
  header.iterations = made->iterations();
  TraceWriter writer(path, header);
  made->write(layers, writer);
  writer.finish();
}

CompareRow row_named(const CompareResult& result, const std::string& name) {
  for (const auto& row : result.rows) {
    if (row.schedule == name) return row;
  }
  FAIL("no row " << name);
  return {};
}

std::string error_of(const CompareOptions& options) {
  try {
    run_compare(options);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("each of the ten schedules costs the same through a trace", "[trace]") {
  const TemporaryFolder folder;
  for (const auto& name : schedule_names()) {
    if (name == "static") continue;
    const std::string path = folder / ("via-" + name + ".jsonl");
    write_policy(path, name + " bits=3:8/6:8", {}, anonymous_layer());
    CompareOptions options;
    options.schedules = {name};
    options.bits = {{3, 8, 6, 8}};
    options.traces = {path};
    options.archs = {"serial-1x1", "brick-2x2"};
    options.force = true;
    const CompareResult result = run_compare(options);
    REQUIRE(result.rows.size() == 6);
    for (const std::size_t first : {0U, 3U}) {
      Json direct = row_json(result.rows[first + 1], result);
      Json traced = row_json(result.rows[first + 2], result);
      CHECK(traced["schedule"] == "via-" + name);
      CHECK(traced["group"] == "trace");
      // What a trace cannot know: the name, the group, and the shape of cycles.
      for (const char* key : {"schedule", "group", "cycles_n", "cycle_length"}) {
        direct.erase(key);
        traced.erase(key);
      }
      INFO(name);
      CHECK(direct == traced);
    }
  }
}

TEST_CASE("the sums of a mixed trace are those of a schedule where they must be", "[trace]") {
  // A second pass that does nothing makes a trace mixed without changing its work.
  const TemporaryFolder folder;
  const std::string path = folder / "mixed.jsonl";
  TraceHeader header;
  header.iterations = 1000;
  std::vector<TraceRecord> records;
  ScheduleSpec spec;
  spec.name = "RTV";
  spec.iterations = 1000;
  for (std::uint64_t t = 0; t < 1000; ++t) {
    TraceRecord r;
    r.start = t;
    r.work.bits = bits_at(spec, t);
    records.push_back(r);
  }
  TraceRecord idle;
  idle.start = 999;
  idle.pass = 1;
  idle.work.mode = WorkMode::kNone;
  records.push_back(idle);
  write_trace(path, header, records);
  for (const char* arch : {"serial-1x1", "stripes-1x8", "fixed-8x8"}) {
    CompareOptions options;
    options.networks = {"resnet20-cifar10"};
    options.networks_given = true;
    options.schedules = {"RTV"};
    options.traces = {path};
    options.archs = {arch};
    const CompareResult result = run_compare(options);
    REQUIRE(result.rows.size() == 3);
    const CompareRow &direct = result.rows[1], &traced = result.rows[2];
    REQUIRE(traced.mixed);
    CHECK(traced.iterations == 1000);
    CHECK(traced.cycles == direct.cycles);
    CHECK(traced.bitops == direct.bitops);
    CHECK(traced.macs_issued == direct.macs_issued);
    CHECK(traced.macs_useful == direct.macs_useful);
    CHECK(traced.precision_switches == direct.precision_switches);
    CHECK(traced.mean_bits == Approx(direct.mean_bits).epsilon(1e-12));
    CHECK(traced.bitops_relative == direct.bitops_relative);
    CHECK(traced.cycles_relative == direct.cycles_relative);
    CHECK(traced.bitops_vs_fp32 == Approx(direct.bitops_vs_fp32).epsilon(1e-12));
    CHECK(traced.lane_utilisation == direct.lane_utilisation);
    CHECK(traced.bitop_efficiency == direct.bitop_efficiency);
    CHECK(traced.energy.total() == Approx(direct.energy.total()).epsilon(1e-12));
    CHECK(traced.slots.slots == direct.slots.slots);
    CHECK(traced.slots_first_layer.slots == direct.slots_first_layer.slots);
    CHECK(traced.events.dram_read_bits == direct.events.dram_read_bits);
    CHECK(traced.events.dram_written_bits == direct.events.dram_written_bits);
    CHECK(traced.events.ac_adds == direct.events.ac_adds);
    const Json json = row_json(traced, result);
    CHECK(json["sum_bits"].is_null());
    CHECK(json["per_bits"].empty());
  }
}

TEST_CASE("layers with bits of their own cost what each layer costs alone", "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "layers.jsonl";
  TraceHeader header;
  header.iterations = 10;
  header.batch = 4;
  for (int i = 0; i < 3; ++i) {
    Layer layer;
    layer.name = "l" + std::to_string(i);
    layer.cin = 8 + 3 * static_cast<std::uint64_t>(i);
    layer.cout = 5;
    layer.hi = layer.wi = 6;
    layer.kh = layer.kw = 3;
    layer.pad_h = layer.pad_w = 1;
    layer.first = i == 0;
    header.layers.push_back(layer);
  }
  std::vector<TraceRecord> records;
  for (std::size_t i = 0; i < 3; ++i) {
    TraceRecord r;
    r.layers = LayerSelection::index(i);
    r.work.bits = LayerBits(3 + static_cast<int>(i), 5, 7);
    r.work.bits.dw_x = static_cast<std::uint8_t>(2 + i);
    r.work.passes = {2, 1, static_cast<std::uint32_t>(i)};
    records.push_back(r);
  }
  write_trace(path, header, records);
  CompareOptions options;
  options.traces = {path};
  options.bits.clear();
  const CompareResult result = run_compare(options);
  REQUIRE(result.rows.size() == 2);
  const CompareRow& row = result.rows[1];
  const ArrayConfig config = resolve_array("serial-1x1");
  std::uint64_t cycles = 0;
  u128 bitops = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    Network one;
    one.name = "one";
    one.layers = {header.layers[i]};
    const LayerWork& w = records[i].work;
    std::uint64_t by_hand[3] = {0, 0, 0};
    for (const auto& g : training_gemms(one, 4)) {
      Descriptor d;
      d.gemm = g.shape;
      const int widths[3][2] = {
          {w.bits.fwd_x, w.bits.fwd_w}, {w.bits.dx_g, w.bits.dx_w}, {w.bits.dw_g, w.bits.dw_x}};
      const auto kind = static_cast<std::size_t>(g.kind);
      d.a.bits = widths[kind][0];
      d.w.bits = widths[kind][1];
      Descriptor e;
      e.gemm = {g.shape.n, g.shape.m, g.shape.k};
      e.a = d.w;
      e.w = d.a;
      by_hand[kind] +=
          g.count * std::min(gemm_timing(config, d).cycles, gemm_timing(config, e).cycles);
    }
    for (std::size_t kind = 0; kind < 3; ++kind) cycles += 10 * w.passes[kind] * by_hand[kind];
    const u128 macs = header.layers[i].macs_per_sample() * 4 * 10;
    bitops += macs * static_cast<unsigned>(2 * w.bits.fwd_x * w.bits.fwd_w);
    bitops += macs * static_cast<unsigned>(w.bits.dx_g * w.bits.dx_w);
    bitops += macs * w.passes[2] * static_cast<unsigned>(w.bits.dw_g * w.bits.dw_x);
  }
  CHECK(row.cycles == cycles);
  CHECK(row.bitops == bitops);
  CHECK(row.network == "inline");
}

TEST_CASE("FP32 work counts in BitOps and in no cycle", "[trace]") {
  CompareOptions options;
  options.policies = {"halp bits=8 batches=100 iterations=1000 name=halp",
                      "CR iterations=1000 name=c"};
  options.bits.clear();
  const CompareResult result = run_compare(options);
  const CompareRow halp = row_named(result, "halp"), base = result.rows[0];
  const u128 macs = u128{168'214'528} * 128 * 3 * 1000;
  CHECK(halp.fp32_macs == macs * 2);
  CHECK(halp.bitops == macs * (64 + 2 * 1024));
  CHECK(halp.bitops_fp32 == macs * 2 * 1024);
  CHECK(halp.cycles == base.cycles);
  CHECK(row_named(result, "c").fp32_macs == 0);
  // The explanation still adds up: BitOps - FP32 work + lost slots = cycles.
  const std::string text = report_text(result, {});
  CHECK(text.find("FP32, halp: ") != std::string::npos);
  CHECK(text.find("FP32, c: ") == std::string::npos);
  const auto at = text.find("FP32 work, not on the array");
  REQUIRE(at != std::string::npos);
  CHECK(text.substr(at, text.find('\n', at) - at).find(" -3200.00 ") != std::string::npos);
  // All FP32: nothing on the array, and no division by zero.
  options.policies = {"muppet levels=8 epoch_iterations=1 switch_epochs=1 iterations=2 name=m"};
  const CompareRow m = row_named(run_compare(options), "m");
  CHECK(m.fp32_macs == macs / 1000);
  CHECK(std::isfinite(m.bitop_efficiency));
}

TEST_CASE("a shorter trace is compared per iteration", "[trace]") {
  CompareOptions options;
  options.policies = {"static bits=8/8 iterations=1000 name=short",
                      "static bits=8/8 iterations=64000 "
                      "name=long"};
  options.bits.clear();
  const CompareResult result = run_compare(options);
  CHECK(result.rows[0].iterations == 64000);
  const CompareRow row = row_named(result, "short");
  CHECK(row.iterations == 1000);
  CHECK(row.bitops_relative == Approx(1.0).epsilon(1e-15));
  CHECK(row.cycles_relative == Approx(1.0).epsilon(1e-15));
  CHECK(row.energy_relative == Approx(1.0).epsilon(1e-12));
  CHECK(row.cycles * 64 == result.rows[0].cycles);
}

TEST_CASE("averaging and exchange stand beside the array's cycles", "[trace]") {
  CompareOptions plain, with;
  plain.policies = with.policies = {"swalp name=swalp"};
  plain.bits.clear();
  with.bits.clear();
  with.exchange.workers = 4;
  with.exchange.bits = 8;
  with.exchange.link_gbps = 10.0;
  const CompareRow a = row_named(run_compare(plain), "swalp");
  const CompareResult result = run_compare(with);
  const CompareRow b = row_named(result, "swalp");
  CHECK(a.cycles == b.cycles);
  CHECK(a.seconds == b.seconds);
  CHECK(a.energy.total() == b.energy.total());
  CHECK(a.cycles == run_compare(plain).rows[0].cycles);
  CHECK(a.averaging_updates == 100);
  CHECK(a.averaging_energy_j > 0.0);
  CHECK(a.exchange_bits == 0);
  // ResNet-74 has 1,141,888 convolution and 640 fc weights.
  std::uint64_t parameters = 0;
  for (const auto& layer : make_network("resnet74-cifar10", Convention::kCptCifar).layers) {
    parameters += layer.parameters();
  }
  CHECK(b.exchange_bits == u128{parameters * 8 * 6 / 4} * b.iterations);
  CHECK(b.exchange_seconds ==
        Approx(static_cast<double>(parameters) * 12 * 117300 / 1e10).epsilon(1e-12));
  const std::string text = report_text(result, {});
  CHECK(text.find("Exchange, swalp: ") != std::string::npos);
  CHECK(text.find("Averaging, swalp: 100 updates") != std::string::npos);
  CHECK(text.find("- exchange: allreduce, 4 workers, 8 bits per parameter, 10 Gb/s") !=
        std::string::npos);
}

TEST_CASE("configurations give a row each", "[trace]") {
  const TemporaryFolder folder;
  std::string list = "name,bits_w,bits_a,bits_g\n";
  for (int w = 1; w <= 8; ++w) {
    for (int a = 1; a <= 8; ++a) list += fmt::format("w{}a{},{},{},8\n", w, a, w, a);
  }
  std::ofstream(folder / "c.csv") << list;
  CompareOptions options;
  options.configs = folder / "c.csv";
  options.bits.clear();
  options.networks = {"resnet20-cifar10"};
  const CompareResult result = run_compare(options);
  CHECK(result.rows.size() == 65);
  const CompareRow row = row_named(result, "w3a5");
  CHECK(row.bitops_relative == Approx((15.0 + 24.0 + 40.0) / 192.0));
  CHECK(row_named(result, "w8a8").cycles == result.rows[0].cycles);
}

TEST_CASE("what does not fit together is refused", "[trace]") {
  const TemporaryFolder folder;
  TraceHeader header;
  header.iterations = 10;
  const TraceRecord all{};
  const auto trace = [&](const std::string& name, const TraceHeader& h, TraceRecord r = {}) {
    write_trace(folder / name, h, {r});
    CompareOptions options;
    options.traces = {folder / name};
    options.bits.clear();
    return options;
  };
  CHECK(error_of(trace("CR.jsonl", header)).find("'CR', allowed: a name that no built-in") !=
        std::string::npos);
  CompareOptions twice = trace("a.jsonl", header);
  twice.traces.push_back(folder / "a.jsonl");
  CHECK(error_of(twice).find("'a' twice") != std::string::npos);
  twice.traces = {"-", "-"};
  TraceHeader own = header;
  own.network = "resnet21-cifar10";
  CHECK(error_of(trace("b.jsonl", own)).find("b.jsonl:1: ") != std::string::npos);
  own.network = "resnet20-cifar10";
  own.batch = 32;
  CompareOptions options = trace("b.jsonl", own);
  CHECK(run_compare(options).rows[1].batch == 32);
  options.batch = 128;
  CHECK(error_of(options).find("batch: found 32 in the trace, allowed: 128") != std::string::npos);
  options = trace("b.jsonl", own);
  options.networks_given = true;
  CHECK(error_of(options).find("resnet20-cifar10 in the trace") != std::string::npos);
  own.convention = "all";
  options = trace("b.jsonl", own);
  CHECK(run_compare(options).rows[1].convention == "all");
  options.convention_given = true;
  CHECK(error_of(options).find("convention: found all in the trace") != std::string::npos);
  TraceRecord wide;
  wide.work.bits = LayerBits(9, 8);
  CHECK(error_of(trace("c.jsonl", header, wide))
            .find("trace c: found 9 bits, allowed: 1 to P_MAX = 8") != std::string::npos);
  options = trace("d.jsonl", header);
  options.gemm = Gemm{4, 4, 4};
  CHECK(run_compare(options).rows.size() == 2);
  options.traces = {folder / "b.jsonl"};
  CHECK(error_of(options).find("a network of its own") != std::string::npos);
}

TEST_CASE("a trace's descriptors are among those that --check runs", "[trace]") {
  CompareOptions options;
  options.networks = {"resnet20-cifar10"};
  options.bits.clear();
  options.policies = {"uniform w=3 a=5 g=7 name=u"};
  std::set<std::pair<int, int>> widths;
  for (const auto& item : run_compare(options).check_items) {
    widths.insert(std::minmax(item.descriptor.a.bits, item.descriptor.w.bits));
  }
  for (const auto& pair : {std::pair<int, int>{3, 5}, {3, 7}, {5, 7}})
    CHECK(widths.count(pair) == 1);
}
