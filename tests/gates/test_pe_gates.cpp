// The PE's own gates, in the library that Debian has.
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>

#include "model/gates/gate_model.hpp"
#include "sim/characterise.hpp"
#include "sim/paths.hpp"
#include "sim/synthesis.hpp"
#include "tests/gates/libraries.hpp"

using namespace bitcycle;

namespace {

// A synthesised PE, or nothing where library or yosys are missing.
struct PeGates {
  explicit PeGates(const std::string& preset) : small(small_array(resolve_array(preset))) {
    const auto set = known_libraries()[0];
    if (!set.present() || yosys_version().empty()) {
      std::cout << "skipped: needs yosys and qflow-tech-osu018\n";
      return;
    }
    library = load_liberty(set.files);
    ArrayCore core(small);
    const auto probe = make_probe("pe", small, core);
    SynthesisRequest request;
    request.module = probe->module();
    request.files = probe->files();
    request.parameters = probe->parameters();
    request.rtl_dir = source_dir() + "/rtl";
    request.out_dir = scratch.path();
    netlist = load_netlist(synthesise(library, request), library);
    model = std::make_unique<GateModel>(netlist, library, GateConditions{});
  }
  GateRun run(OperandData data, int a, int w, bool is_signed, std::uint64_t seed = 1) const {
    ActivityJob job;
    job.data = data;
    job.a = {a, is_signed};
    job.w = {w, is_signed};
    job.seed = seed;
    job.cycles = 600;
    return run_gates(*model, 1.25 * model->critical_path(), small, "pe", job);
  }
  GateRun idle() const {
    ActivityJob job;
    job.idle = true;
    job.cycles = 200;
    return run_gates(*model, 1.25 * model->critical_path(), small, "pe", job);
  }
  explicit operator bool() const { return model != nullptr; }

  ArrayConfig small;
  ScratchDirectory scratch;
  LibertyLibrary library;
  Netlist netlist;
  std::unique_ptr<GateModel> model;
};

}  // namespace

TEST_CASE("netlist of the PE = core, for every preset, precision and kind of data") {
  for (const char* preset : {"serial-1x1", "stripes-1x8", "brick-2x2", "nibble-4x4", "fixed-8x8"}) {
    const PeGates gates(preset);
    if (!gates) return;
    std::uint64_t seed = 77;
    std::uint64_t compared = 0;
    for (int a = 1; a <= 8; ++a) {
      for (int w = 1; w <= 8; w += 1 + a % 2) {
        for (const bool is_signed : {false, true}) {
          const auto data = all_operand_data()[seed % all_operand_data().size()];
          INFO(preset << " " << a << "x" << w << " seed " << seed);
          const auto run = gates.run(data, a, w, is_signed, seed++);
          CHECK(run.mismatch.empty());
          compared += run.compared;
        }
      }
    }
    CHECK(compared > 20000);
  }
}

TEST_CASE("wrong gates are caught by the comparison with the core") {
  PeGates gates("fixed-8x8");
  if (!gates) return;
  ActivityJob job;
  job.a = job.w = {8, true};
  job.cycles = 300;
  // A NAND becomes a NOR, one at a time, all over the netlist.
  const LibertyCell* const nand = &gates.library.cell("NAND2X1");
  int tried = 0, caught = 0, seen = 0;
  for (auto& instance : gates.netlist.instances) {
    if (instance.cell != nand || seen++ % 8 != 0) continue;
    instance.cell = &gates.library.cell("NOR2X1");
    const GateModel broken(gates.netlist, gates.library, {});
    const auto run = run_gates(broken, 1.25 * broken.critical_path(), gates.small, "pe", job);
    instance.cell = nand;
    ++tried;
    if (run.mismatch.find("sum_o of bc_pe in cycle") != std::string::npos) ++caught;
  }
  INFO(caught << " of " << tried);
  CHECK(tried >= 5);
  CHECK(4 * caught >= 3 * tried);  // the inputs of a few are never apart
}

TEST_CASE("idle < zero data < active, and energy per MAC falls with either precision") {
  for (const char* preset : {"serial-1x1", "brick-2x2", "fixed-8x8"}) {
    const PeGates gates(preset);
    if (!gates) return;
    INFO(preset);
    const double idle = gates.idle().sample.mean_energy();
    const double zero = gates.run(OperandData::kZero, 8, 8, false).sample.mean_energy();
    const double active = gates.run(OperandData::kUniform, 8, 8, false).sample.mean_energy();
    CHECK(idle > 0);
    CHECK(idle < zero);
    CHECK(zero < active);
    const auto per_mac = [&](int a, int w) {
      const auto run = gates.run(OperandData::kUniform, a, w, false);
      return run.joules / run.macs;
    };
    CHECK(per_mac(2, 2) < per_mac(4, 2));
    CHECK(per_mac(2, 2) < per_mac(2, 4));
    CHECK(per_mac(4, 4) < per_mac(8, 4));
    CHECK(per_mac(4, 4) < per_mac(4, 8));
    CHECK(per_mac(8, 4) < per_mac(8, 8));
    CHECK(per_mac(4, 8) < per_mac(8, 8));
  }
}

TEST_CASE("same seed, same joules, bit for bit, for any number of threads") {
  const auto set = known_libraries()[0];
  if (!set.present() || yosys_version().empty()) return;
  CharacteriseOptions o;
  o.arch = resolve_array("fixed-8x8");
  o.liberty = set.files;
  o.cycles = 128;
  o.jobs = 1;
  const auto one = characterise(o);
  o.jobs = 3;
  const auto three = characterise(o);
  CHECK(one.mismatch.empty());
  CHECK(to_json(one.record) == to_json(three.record));
  o.seed = 2;
  CHECK(to_json(characterise(o).record) != to_json(one.record));
}
