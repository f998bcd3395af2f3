// Gates of the array's modules and of the machine's units, in the library that Debian has.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>

#include "golden/error.hpp"
#include "sim/additivity.hpp"
#include "sim/array_area.hpp"
#include "sim/array_netlist.hpp"
#include "sim/characterise.hpp"
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
    SynthesisRequest request = request_for(probe);
    request.out_dir = scratch.path();
    netlist = mapped_netlist(library, request);
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
      if (m.name == "pe" || m.name == "drain" || m.name == "glue") continue;
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

namespace {

// Work that freezes, stalls, leaves rows and columns out, and refuses nothing.
std::vector<ActivityJob> glue_jobs() {
  std::vector<ActivityJob> jobs;
  for (const int chunks : {0, 1, 3}) {
    ActivityJob job;
    job.a = {3 + chunks, chunks == 1};
    job.w = {8 - chunks, chunks == 3};
    job.chunks = static_cast<std::uint64_t>(chunks);
    job.rows = chunks == 3 ? 1 : 0;
    job.cols = chunks == 1 ? 3 : 0;
    job.stall = chunks == 3 ? 100 : 0;
    job.seed = 41 + jobs.size();
    job.cycles = 250;
    jobs.push_back(job);
  }
  return jobs;
}

}  // namespace

TEST_CASE("glue of the array = core, whatever its modules are told is compared") {
  if (!present()) return;
  const auto library = load_liberty(known_libraries()[0].files);
  ArrayConfig wide = additivity_array(resolve_array("nibble-4x4"));
  wide.q = 8;  // two rows of a result beat: the drain reads all accumulators at once
  for (const ArrayConfig& array : {additivity_array(resolve_array("fixed-8x8")),
                                   additivity_array(resolve_array("stripes-1x8")), wide}) {
    ArrayCore core(array);
    const auto probe = make_probe("glue", array, core);
    const Gates gates(*probe, library);
    for (const auto& port : gates.netlist.ports) {
      // Clocks of modules have nothing to be compared with.
      if (port.input || port.name.find(".clk_i") != std::string::npos) continue;
      INFO(array.name << " " << port.name);
      CHECK(std::any_of(probe->outputs().begin(), probe->outputs().end(),
                        [&](const auto& o) { return o.name == port.name; }));
    }
    const GateModel model(gates.netlist, library, conditions());
    std::uint64_t compared = 0;
    for (const auto& job : glue_jobs()) {
      INFO(array.name << " " << job.label() << " seed " << job.seed);
      const auto run = run_gates(model, 1.25 * model.critical_path(), array, "glue", job);
      CHECK(run.mismatch == "");
      compared += run.compared;
    }
    CHECK(compared > 100000);
  }
}

TEST_CASE("crossed wires in the glue are caught") {
  if (!present()) return;
  const auto library = load_liberty(known_libraries()[0].files);
  const ArrayConfig array = additivity_array(resolve_array("fixed-8x8"));
  ArrayCore core(array);
  Gates gates(*make_probe("glue", array, core), library);
  const auto nets = [&](const std::string& name) -> std::vector<std::uint32_t>& {
    for (auto& port : gates.netlist.ports) {
      if (port.name == name) return port.nets;
    }
    throw std::logic_error("no port " + name);
  };
  const auto mismatch = [&] {
    const GateModel broken(gates.netlist, library, conditions());
    const double period = 1.25 * broken.critical_path();
    return run_gates(broken, period, array, "glue", glue_jobs()[1]).mismatch;
  };
  CHECK(mismatch() == "");
  // An enabled column's PE and one beyond N; two bits of what the drain reads.
  auto& first = nets("g_col[0].g_pe[0].u_pe.add_i");
  auto& fourth = nets("g_col[3].g_pe[0].u_pe.add_i");
  std::swap(first, fourth);
  CHECK_THAT(mismatch(), Catch::Contains("u_pe.add_i of bc_array in cycle"));
  std::swap(first, fourth);
  auto& read = nets("u_drain.acc_i");
  std::swap(read[0], read[5]);
  CHECK_THAT(mismatch(), Catch::Contains("u_drain.acc_i of bc_array in cycle"));
}

TEST_CASE("sources of the glue are those of the array without checks") {
  const auto modules = array_modules(resolve_array("serial-1x1"));
  CHECK(modules.back().name == "glue");
  CHECK(modules.back().files == array_files());
}

TEST_CASE("the array's cells are those of its modules and of the glue") {
  if (!present()) return;
  const auto library = load_liberty(known_libraries()[0].files);
  const ArrayConfig array = additivity_array(resolve_array("serial-1x1"));
  const ArrayNetlists netlists = map_array(array, library);
  const auto kinds = array_modules(array);
  std::vector<std::size_t> cells(kinds.size(), 0);
  for (const int owner : netlists.owners(kinds)) ++cells[static_cast<std::size_t>(owner)];
  CHECK(netlists.joined().instances.size() == netlists.owners(kinds).size());
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    INFO(kinds[k].name);
    CHECK(cells[k] > 0);
    if (kinds[k].name == "pe" || kinds[k].name == "acc" || kinds[k].name == "glue") {
      ArrayCore core(array);
      const Gates alone(*make_probe(kinds[k].name, array, core), library);
      CHECK(cells[k] == kinds[k].instances * alone.netlist.instances.size());
    }
  }
}

TEST_CASE("a small array whole at gate level is the sum of its modules") {
  if (!present()) return;
  const std::pair<const char*, double> limits[] = {{"serial-1x1", 0.10}, {"nibble-4x4", 0.10}};
  for (const auto& [preset, limit] : limits) {
    CharacteriseOptions o;
    o.arch = additivity_array(resolve_array(preset));
    o.liberty = known_libraries()[0].files;
    o.cycles = 128;
    const Additivity a = check_additivity(o);
    CHECK(a.mismatch == "");
    REQUIRE(a.rows.size() == 7);
    for (const auto& r : a.rows) {
      INFO(preset << " " << r.workload << ": gates " << r.gates << " J, modules " << r.sum());
      CHECK(std::abs(r.error()) < limit);
      double gates = 0.0;
      for (const double part : r.by_module) gates += part;
      CHECK(gates == Approx(r.gates).epsilon(1e-4));
    }
    // All is there; the drain's walker counts as large as the others.
    CHECK(a.module_area == Approx(a.area).epsilon(0.005));
  }
}
