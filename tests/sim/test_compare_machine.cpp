// `compare` on the whole machine: what its rows hold, and where they come from.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "golden/error.hpp"
#include "sim/cmd_compare.hpp"
#include "sim/compare_machine.hpp"
#include "sim/machine_run.hpp"
#include "sim/report.hpp"

namespace {

using namespace bitcycle;
using Json = nlohmann::ordered_json;

CompareOptions small(const std::string& memory = "bandwidth-latency") {
  CompareOptions o;
  o.networks = {"resnet8-cifar10"};
  o.batch = 4;
  o.schedules = {"CR", "RR"};
  o.iterations = 800;
  if (!memory.empty()) o.memory = resolve_memory(memory);
  return o;
}

std::uint64_t parts(const MachineTotals& m) {
  return m.compute + m.fill_drain + m.wait_fetch + m.wait_store + m.lead;
}

std::string error_of(const std::vector<std::string>& args) {
  try {
    run_compare(parse_compare_options(args));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

// The workloads of a job, with one trace each.
std::vector<CompareWorkload> traced(CompareOptions& options) {
  options.schedules.clear();
  options.policies = {"cpt cycles=2 iterations=60 name=mine"};
  options.iterations = 60;
  return compare_workloads(options);
}

}  // namespace

TEST_CASE("machine cycles of a run are those of its iterations", "[machine]") {
  const CompareOptions options = small();
  const CompareResult result = run_compare(options);
  REQUIRE(result.rows.size() == 3);
  MachineCostOptions machine;
  machine.machine = machine_for(result.rows[0].array);
  machine.memory = options.memory->timing(machine.machine.dw);
  machine.vector.bytes_per_cycle = bytes_per_cycle(machine.memory, machine.machine.dw);
  MachineCost cost(machine);
  const Network network = make_network("resnet8-cifar10", "");
  for (const CompareRow& row : result.rows) {
    REQUIRE(row.machine);
    std::uint64_t cycles = 0, gemms = 0, vector = 0, read = 0, written = 0, wait = 0;
    for (const PerBits& p : row.per_bits) {
      const MachineIteration it =
          cost.iteration(network, 4, {p.pair.bits, p.pair.bits, p.pair.grad_bits});
      CHECK(p.machine_cycles_per_iteration == it.cycles());
      cycles += it.cycles() * p.iterations;
      gemms += it.gemm_cycles * p.iterations;
      vector += it.vector_cycles * p.iterations;
      for (const MachineGemm& g : it.gemms) {
        read += (g.first_bits + g.second_bits) * p.iterations;
        written += g.result_bits * p.iterations;
        wait += g.wait_fetch * p.iterations;
      }
    }
    const MachineTotals& m = *row.machine;
    CHECK(m.cycles == cycles);
    CHECK(m.gemm_cycles == gemms);
    CHECK(m.vector_cycles == vector);
    CHECK(m.wait_fetch == wait);
    CHECK(m.dram_read_bits == read);
    CHECK(m.dram_written_bits == written);
    CHECK(parts(m) == m.gemm_cycles);
    CHECK(m.vector_share == Approx(static_cast<double>(vector) / static_cast<double>(cycles)));
    CHECK(m.cycles_relative == Approx(static_cast<double>(cycles) /
                                      static_cast<double>(result.rows[0].machine->cycles)));
    CHECK(m.gemm_cycles > row.cycles);  // the array alone is a part of it
    CHECK_FALSE(m.cycles_upper);
  }
  CHECK(result.rows[0].machine->cycles_relative == 1.0);
  CHECK(result.rows[1].machine->cycles < result.rows[0].machine->cycles);
}

TEST_CASE("the array's figures do not depend on the memory", "[machine]") {
  const Json array = Json::parse(report_json(run_compare(small(""))));
  Json machine = Json::parse(report_json(run_compare(small())));
  for (Json& row : machine["rows"]) {
    CHECK(row["memory"] == "bandwidth-latency");
    CHECK(row["machine"]["cycles"] == row["machine"]["gemm_cycles"].get<std::uint64_t>() +
                                          row["machine"]["vector_cycles"].get<std::uint64_t>());
    row.erase("memory");
    row.erase("machine");
    for (Json& p : row["per_bits"]) p.erase("machine_cycles_per_iteration");
  }
  CHECK(machine["rows"] == array["rows"]);
}

TEST_CASE("iterations scale machine cycles and cost no time", "[machine]") {
  CompareOptions options = small();
  options.schedules = {"static"};
  const MachineTotals one = *run_compare(options).rows[0].machine;
  options.iterations *= 1'000'000;
  const MachineTotals many = *run_compare(options).rows[0].machine;
  CHECK(many.cycles == one.cycles * 1'000'000);
  CHECK(many.dram_read_bits == one.dram_read_bits * 1'000'000);
  CHECK(many.vector_share == one.vector_share);
  options.iterations = std::uint64_t{1} << 53;
  options.batch = 100'000;
  CHECK_THROWS_AS(run_compare(options), InputError);
}

TEST_CASE("layer by layer a schedule costs what it costs as a whole", "[machine]") {
  for (const char* network : {"resnet8-cifar10", "lstm-ptb"}) {
    CompareOptions options = small();
    options.networks = {network};
    const auto workloads = traced(options);
    const CompareWorkload& w = workloads.at(0);
    const TraceTotals& totals = w.traces.at(0).totals;
    REQUIRE(totals.schedule);
    CompareMachine machine(resolve_array("serial-1x1"), options);
    const MachineTotals a = machine.schedule(w, *totals.schedule);
    const MachineTotals b = machine.trace(w, totals);
    INFO(network);
    CHECK(b.gemm_cycles == a.gemm_cycles);
    CHECK(parts(b) == parts(a));
    CHECK(b.dram_read_bits == a.dram_read_bits);
    CHECK(b.dram_written_bits == a.dram_written_bits);
    CHECK(b.vector_bytes == Approx(a.vector_bytes));
    // Iterations of a schedule are rounded up to whole cycles, each.
    CHECK(b.vector_cycles <= a.vector_cycles + 1);
    CHECK(b.vector_cycles + totals.iterations >= a.vector_cycles);
  }
}

TEST_CASE("a trace's widths, modes and passes reach the machine", "[machine]") {
  CompareOptions options = small();
  const auto workloads = traced(options);
  const CompareWorkload& w = workloads.at(0);
  const TraceTotals& totals = w.traces.at(0).totals;
  CompareMachine machine(resolve_array("serial-1x1"), options);
  const MachineTotals all = machine.trace(w, totals);

  const auto with = [&](const auto& change) {
    TraceTotals changed = totals;
    for (WorkCount& c : changed.counts) {
      if (c.layer == 1) change(c.work);
    }
    return machine.trace(w, changed);
  };
  const auto fewer_bits = with([](LayerWork& work) { work.bits.dw_g = 2; });
  CHECK(fewer_bits.compute < all.compute);
  const auto fp32 = with([](LayerWork& work) { work.mode = WorkMode::kFp32; });
  CHECK(fp32.gemm_cycles < all.gemm_cycles);
  const auto none = with([](LayerWork& work) { work.mode = WorkMode::kNone; });
  CHECK(none.gemm_cycles == fp32.gemm_cycles);
  CHECK(none.vector_bytes < fp32.vector_bytes);
  const auto forward = with([](LayerWork& work) { work.passes = {1, 0, 0}; });
  const auto twice = with([](LayerWork& work) { work.passes = {2, 0, 0}; });
  CHECK(forward.gemm_cycles < all.gemm_cycles);
  CHECK(forward.vector_bytes < all.vector_bytes);
  CHECK(twice.gemm_cycles - forward.gemm_cycles == forward.gemm_cycles - none.gemm_cycles);
  CHECK(twice.vector_bytes - forward.vector_bytes ==
        Approx(forward.vector_bytes - none.vector_bytes));
}

TEST_CASE("a trace whose layers differ has machine cycles in its row", "[machine]") {
  CompareOptions options = small();
  options.schedules.clear();
  options.policies = {"speq", "halp"};
  const CompareResult result = run_compare(options);
  REQUIRE(result.rows.size() == 3);
  CHECK(result.rows[1].mixed);
  CHECK(result.rows[2].mixed);
  // SPEQ runs at few bits, HALP sweeps all data in FP32.
  CHECK(result.rows[1].machine->gemm_cycles < result.rows[0].machine->gemm_cycles);
  CHECK(result.rows[2].fp32_macs > 0);
  CHECK(result.rows[2].machine->vector_cycles > result.rows[0].machine->vector_cycles);
  for (const CompareRow& row : result.rows) {
    REQUIRE(row.machine);
    CHECK(parts(*row.machine) + row.machine->vector_cycles == row.machine->cycles);
  }
}

TEST_CASE("a DRAM bounds machine cycles on both sides", "[machine]") {
  for (const char* memory : {"ddr4-3200", "hbm2"}) {
    const CompareResult result = run_compare(small(memory));
    CHECK(result.memory_is_dram);
    for (const CompareRow& row : result.rows) {
      REQUIRE(row.machine->cycles_upper);
      CHECK(*row.machine->cycles_upper > row.machine->cycles);
    }
    CHECK(*result.rows[0].machine->cycles_upper_relative == 1.0);
    CHECK(report_text(result, {}).find("at most") != std::string::npos);
    CHECK(report_plot(result).body.find("lower bound") != std::string::npos);
  }
}

TEST_CASE("both bounds of a DRAM are of the same instructions", "[machine]") {
  RunRequest request;
  request.network = make_network("resnet8-cifar10", "");
  request.batch = 4;
  request.options.machine = machine_for(resolve_array("serial-1x1"));
  request.memory = resolve_memory("ddr4-3200");
  const MemoryView view = view_memory(request.memory, request.options.machine.dw, 1e9, "--clock");
  request.options.memory = view.timing;
  request.dram = view.dram;
  const RunResult result = run_iteration(request);
  REQUIRE(result.upper);
  for (std::size_t i = 0; i < result.iteration.gemms.size(); ++i) {
    CHECK(result.upper->gemms[i].mapping == result.iteration.gemms[i].mapping);
    CHECK(result.upper->gemms[i].cycles >= result.iteration.gemms[i].cycles);
  }
}

TEST_CASE("a slower vector unit costs vector cycles only", "[machine]") {
  CompareOptions options = small();
  const MachineTotals fast = *run_compare(options).rows[1].machine;
  options.vector_ops = 1;
  options.vector_bytes = 1;
  const MachineTotals slow = *run_compare(options).rows[1].machine;
  CHECK(slow.vector_cycles > 5 * fast.vector_cycles);
  CHECK(slow.gemm_cycles >= fast.gemm_cycles - fast.gemm_cycles / 100);  // mappings may change
  CHECK(slow.vector_bytes == Approx(fast.vector_bytes).epsilon(0.01));
}

TEST_CASE("reports of the whole machine", "[machine]") {
  const CompareResult result = run_compare(small());
  const std::string text = report_text(result, {});
  CHECK(text.find("Where the cycles of the whole machine go") != std::string::npos);
  CHECK(text.find("FP32 vector work") != std::string::npos);
  CHECK(text.find("- machine: bandwidth-latency") != std::string::npos);
  CHECK(text.find("- not_modelled") == std::string::npos);
  CHECK(report_latex(result, {}).find("vector") != std::string::npos);
  const std::string csv = report_csv(result);
  CHECK(csv.find(",machine.cycles,machine.cycles_relative,") != std::string::npos);
  CHECK(csv.find(",per_bits.0.machine_cycles_per_iteration") != std::string::npos);
  const std::string plot = report_plot(result).body;
  for (const char* bar : {"'BitOps'", "'array cycles'", "'machine cycles'"}) {
    CHECK(plot.find(bar) != std::string::npos);
  }
  CHECK(plot.find("'energy'") == std::string::npos);

  const CompareResult array = run_compare(small(""));
  CHECK(report_text(array, {}).find("whole machine") == std::string::npos);
  CHECK(report_csv(array).find("machine") == std::string::npos);
  CHECK(report_plot(array).body.find("machine") == std::string::npos);
  CHECK_THROWS_AS(resolve_columns({"machine.cycles"}, array), InputError);
  CHECK(resolve_columns({"machine.cycles"}, result).front().heading == "machine\ncycles");
}

TEST_CASE("compare runs on the whole machine unless told otherwise", "[machine]") {
  CHECK(parse_compare_options({}).memory->name == "bandwidth-latency");
  CHECK(parse_compare_options({"--memory", "hbm2"}).memory->is_dram);
  CHECK_FALSE(parse_compare_options({"--ideal-memory"}).memory);
  CHECK(parse_compare_options({"--vector-bytes", "8", "--vector-ops", "2"}).vector_ops == 2);
  const auto refused = [](const std::vector<std::string>& args, const char* part) {
    const std::string text = error_of(args);
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  refused({"--memory", "hbm3"}, "did you mean 'hbm2'?");
  refused({"--memory", "/no/such/file.yaml"}, "/no/such/file.yaml");
  refused({"--ideal-memory", "--memory", "hbm2"}, "--ideal-memory: found also --memory");
  refused({"--ideal-memory", "--vector-ops", "1"}, "also --vector-ops");
  refused({"--vector-ops", "0"}, "--vector-ops");
  refused({"--vector-bytes", "x"}, "--vector-bytes");
  refused({"--result-bits", "8"}, "32 or 48 on the whole machine");
  refused({"--result-bits", "operand"}, "anything with --ideal-memory");
  refused({"--memory", "ddr4-3200", "--clock-mhz", "0.0001"}, "--clock-mhz");
}
