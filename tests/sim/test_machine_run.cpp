// Layers of every kind on the simulated engines: golden's results, the table's cycles.
#include <catch2/catch.hpp>
#include <map>

#include "sim/cli.hpp"
#include "sim/machine_run.hpp"
#include "sim/memory_choice.hpp"
#include "sim/paths.hpp"

namespace bitcycle {
namespace {

RunRequest request(const std::string& array, const std::string& engine) {
  RunRequest out;
  out.network = make_network(source_dir() + "/tests/sim/data/kinds.yaml", "all");
  out.batch = 2;
  out.bits = {3, 4, 5};
  out.options.machine = machine_for(resolve_array(array));
  out.memory = resolve_memory("bandwidth-latency");
  out.options.memory = out.memory.timing(out.options.machine.dw);
  out.engine = engine;
  return out;
}

// Every product, and in all of them each way to run one.
void check_all(const RunRequest& request) {
  const RunResult result = run_iteration(request);
  REQUIRE(result.simulated);
  const SimulatedRun& s = *result.simulated;
  CHECK(s.pass());
  CHECK(s.mismatch.empty());
  CHECK(s.wrong == 0);
  CHECK(s.inexact == 0);
  CHECK(s.cycles == result.iteration.gemm_cycles);
  std::map<std::string, std::uint64_t> simulated;
  std::uint64_t masks = 0, expanded = 0;
  for (const ProductRun& p : s.products) {
    simulated[p.label] += p.machine.cycles;
    expanded += p.expanded ? 1 : 0;
    masks += p.label.find(" mask") != std::string::npos ? 1 : 0;
  }
  // Product by product.
  for (const MachineGemm& g : result.iteration.gemms) {
    const std::string label = result.request.network.layers[g.layer].name + " " +
                              to_string(g.kind) + (g.mask ? " mask" : "");
    INFO(label);
    CHECK(simulated.at(label) == g.cycles);
  }
  CHECK(masks > 10);
  CHECK(expanded > 0);
}

TEST_CASE("machine run: layers of every kind take the table's cycles under SystemC") {
  check_all(request("ci-4x4-s1", "systemc"));
}

TEST_CASE("machine run: the same with dX as a GEMM") {
  RunRequest r = request("ci-4x4-s1", "systemc");
  r.options.lowering = DxLowering::kGemm;
  check_all(r);
}

TEST_CASE("machine run: the same on the default machine, results of 48 bits") {
  RunRequest r = request("serial-1x1", "systemc");
  r.options.results = OutputForm::kRaw48;
  check_all(r);
}

TEST_CASE("machine run: the same on the RTL in lockstep") {
  check_all(request("ci-1x1-s4", "rtl"));
}

TEST_CASE("machine run: steps of a recurrent layer run one by one") {
  RunRequest r = request("ci-4x4-s1", "systemc");
  r.layer = "lstm.recurrent";
  const RunResult result = run_iteration(r);
  REQUIRE(result.simulated);
  std::uint64_t forward = 0;
  for (const ProductRun& p : result.simulated->products) {
    forward += p.label == "lstm.recurrent fwd" ? 1 : 0;
  }
  CHECK(forward == 3);
  CHECK(result.simulated->pass());
}

TEST_CASE("machine run: heads of an attention product run, real values and sums") {
  RunRequest r = request("ci-4x4-s1", "systemc");
  r.layer = "scores";
  const RunResult result = run_iteration(r);
  REQUIRE(result.simulated);
  CHECK(result.simulated->products.size() == 3);
  CHECK(result.simulated->pass());
  CHECK(result.simulated->cycles == result.iteration.gemm_cycles);
}

TEST_CASE("machine run: on a DRAM no GEMM moves its data faster than the channel can") {
  RunRequest r = request("serial-1x1", "formula");
  r.memory = resolve_memory("ddr4-3200");
  const int dw = r.options.machine.dw;
  const MemoryView view = view_memory(r.memory, dw, 1e9, "--clock");
  r.options.memory = view.timing;
  r.dram = view.dram;
  r.batch = 64;
  const RunResult result = run_iteration(r);
  std::uint64_t total = 0, held_back = 0;
  MachineCost alone(r.options);
  for (const MachineGemm& g : result.iteration.gemms) {
    const auto bytes = static_cast<double>(g.first_bits + g.second_bits + g.result_bits) / 8;
    CHECK(static_cast<double>(g.cycles) >= bytes / 25.6);
    CHECK(g.cycles == g.array_cycles + g.set_up + g.wait_fetch + g.wait_store + g.lead);
    for (const EngineCycles& e : g.engines) CHECK(e.total() == g.cycles);
    total += g.cycles;
    held_back +=
        g.cycles > alone.gemm(r.network, g.layer, g.kind, r.batch, r.bits, g.mask).cycles ? 1 : 0;
  }
  CHECK(total == result.iteration.gemm_cycles);
  CHECK(held_back > 0);
  CHECK(result.upper_cycles > result.iteration.cycles());
}

TEST_CASE("machine run: other cycles than the table's do not pass") {
  SimulatedRun run;
  run.cycles = run.table_cycles = 100;
  CHECK(run.pass());
  run.table_cycles = 101;
  CHECK_FALSE(run.pass());
}

}  // namespace
}  // namespace bitcycle
