// Gates of the array's modules and of the machine's units, in the library that Debian has.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>

#include "golden/error.hpp"
#include "sim/additivity.hpp"
#include "sim/characterise.hpp"
#include "sim/paths.hpp"
#include "sim/synthesis.hpp"
#include "tests/gates/libraries.hpp"

using namespace bitcycle;

namespace {

bool present() {
  const bool there = known_libraries()[0].present() && !yosys_version().empty();
  if (!there) std::cout << "skipped: needs yosys and qflow-tech-osu018\n";
  return there;
}

// A mapped module and the library that it lives in.
struct Gates {
  Gates(const ModuleProbe& probe, const LibertyLibrary& library) {
    SynthesisRequest request;
    request.module = probe.module();
    request.files = probe.files();
    request.parameters = probe.parameters();
    request.rtl_dir = source_dir() + "/rtl";
    request.out_dir = scratch.path();
    netlist = load_netlist(synthesise(library, request), library, probe.module());
  }
  ScratchDirectory scratch;
  Netlist netlist;
};

GateConditions conditions() {
  GateConditions c;
  c.clear_registers = true;
  return c;
}

}  // namespace

TEST_CASE("netlists of the array's modules = core, and work costs more than idleness") {
  if (!present()) return;
  const auto library = load_liberty(known_libraries()[0].files);
  // S > 1 and radices that differ: holes in the weights; S = 1.
  for (const char* preset : {"stripes-1x8", "fixed-8x8"}) {
    for (const auto& m : array_modules(resolve_array(preset))) {
      if (m.name == "pe" || m.name == "drain") continue;
      const ArrayConfig array = probe_array(m.name, resolve_array(preset));
      ArrayCore core(array);
      const Gates gates(*make_probe(m.name, array, core), library);
      const GateModel model(gates.netlist, library, conditions());
      const double period = 1.25 * model.critical_path();
      double energy[2] = {0, 0};
      std::uint64_t seed = 11, compared = 0;
      for (const int chunks : {0, 1, 3}) {
        ActivityJob job;
        job.a = {3 + chunks, chunks == 1};
        job.w = {8 - chunks, chunks == 3};
        job.data = OperandData::kGauss;
        job.chunks = static_cast<std::uint64_t>(chunks);
        job.cols = chunks == 1 ? 1 : 0;
        job.stall = chunks == 3 ? 100 : 0;
        job.seed = seed++;
        job.cycles = 250;
        INFO(preset << " " << m.name << " " << job.label() << " seed " << job.seed);
        const auto run = run_gates(model, period, array, m.name, job);
        CHECK(run.mismatch == "");
        compared += run.compared;
        energy[1] += run.sample.mean_energy() / 3;
      }
      ActivityJob idle;
      idle.idle = true;
      idle.cycles = 100;
      energy[0] = run_gates(model, period, array, m.name, idle).sample.mean_energy();
      INFO(preset << " " << m.name);
      CHECK(compared > 500);
      CHECK(energy[0] > 0);
      CHECK(energy[1] > energy[0]);
    }
  }
}

TEST_CASE("a wrong gate in a module is caught by the comparison with the core") {
  if (!present()) return;
  const auto library = load_liberty(known_libraries()[0].files);
  const ArrayConfig array = probe_array("acc", resolve_array("fixed-8x8"));
  ArrayCore core(array);
  Gates gates(*make_probe("acc", array, core), library);
  // The first gate that is not symmetric gets two inputs the wrong way round.
  for (auto& instance : gates.netlist.instances) {
    if (instance.cell->name != "AOI21X1" && instance.cell->name != "OAI21X1") continue;
    std::swap(instance.nets[0], instance.nets[2]);
    break;
  }
  const GateModel broken(gates.netlist, library, conditions());
  ActivityJob job;
  job.a = job.w = {8, false};
  job.cycles = 600;
  const auto run = run_gates(broken, 1.25 * broken.critical_path(), array, "acc", job);
  CHECK_THAT(run.mismatch, Catch::Contains("_o of bc_acc in cycle"));
}

TEST_CASE("netlists of the machine's small units = their C++ models") {
  if (!present()) return;
  const auto library = load_liberty(known_libraries()[0].files);
  const MachineConfig machine = machine_for(resolve_array("ci-1x1-s4"));
  for (const char* name : {"engine", "dispatch", "queue-dma", "fetch", "store"}) {
    const auto unit = make_unit(name, machine);
    const Gates gates(*unit, library);
    const GateModel model(gates.netlist, library, conditions());
    std::uint64_t compared = 0;
    auto jobs = unit->held_out();
    jobs.resize(std::min<std::size_t>(jobs.size(), 3));
    for (const auto& job : jobs) {
      INFO(name << " " << job.label);
      const auto run = run_unit(model, 1.25 * model.critical_path(), machine, name, job);
      CHECK(run.mismatch == "");
      compared += run.compared;
    }
    CHECK(compared > 2000);
  }
  CHECK_THROWS_WITH(make_unit("fecth", machine), Catch::Contains("did you mean 'fetch'"));
}

// Not so where S is 1: there the glue, with a multiplexer over all accumulators of a column, is a
// tenth of the array (docs/energy-from-gates.md).
TEST_CASE("a small array whole at gate level is the sum of its modules within 6 %") {
  if (!present()) return;
  CharacteriseOptions o;
  o.arch = additivity_array(resolve_array("serial-1x1"));
  o.liberty = known_libraries()[0].files;
  o.cycles = 128;
  const Additivity a = check_additivity(o);
  CHECK(a.mismatch == "");
  REQUIRE(a.rows.size() == 7);
  for (const auto& r : a.rows) {
    INFO(r.workload << ": gates " << r.gates << " J, modules " << r.sum() << " J");
    CHECK(std::abs(r.error()) < 0.06);
  }
  // What is missing is the glue between modules.
  CHECK(a.module_area < a.area);
  CHECK(a.module_area > 0.93 * a.area);
}
