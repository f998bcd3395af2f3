// Speed of the gate simulator on the PE of serial-1x1, in net events per second.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>

#include "golden/counter_random.hpp"
#include "model/gates/gate_sim.hpp"
#include "sim/gate_stimuli.hpp"
#include "sim/module_probe.hpp"
#include "sim/paths.hpp"
#include "sim/synthesis.hpp"

namespace {

using namespace bitcycle;

constexpr const char* kLiberty = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib";

void gate_events(benchmark::State& state) {
  if (!std::filesystem::exists(kLiberty) || yosys_version().empty()) {
    state.SkipWithError("needs yosys and qflow-tech-osu018");
    return;
  }
  const auto library = load_liberty({kLiberty});
  const auto small = small_array(resolve_array("serial-1x1"));
  ArrayCore core(small);
  const auto probe = make_probe("pe", small, core);
  const ScratchDirectory scratch;
  SynthesisRequest request;
  request.module = probe->module();
  request.files = probe->files();
  request.parameters = probe->parameters();
  request.rtl_dir = source_dir() + "/rtl";
  request.out_dir = scratch.path();
  const auto netlist = load_netlist(synthesise(library, request), library);
  const GateModel model(netlist, library, {});
  GateSim sim(model, 1.25 * model.critical_path());
  std::vector<std::uint64_t> inputs((model.inputs().size() + 63) / 64);
  std::uint64_t events = 0;
  std::uint64_t cycle = 0;
  for (auto _ : state) {
    for (std::size_t w = 0; w < inputs.size(); ++w) inputs[w] = counter_random(1, w, cycle);
    ++cycle;
    events += sim.cycle(inputs.data()).events;
  }
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}
BENCHMARK(gate_events);

}  // namespace

// libsystemc wants it.
extern "C" int sc_main(int, char**) { return 0; }

BENCHMARK_MAIN();
