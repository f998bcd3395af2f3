// Energy of the machine's units: counts of the reports times event models of their gates.
#include <catch2/catch.hpp>
#include <set>

#include "model/energy.hpp"
#include "model/gates/module_energy.hpp"
#include "sim/energy_model.hpp"
#include "sim/energy_work.hpp"
#include "sim/paths.hpp"
#include "tests/workloads/error_text.hpp"

using namespace bitcycle;
using Catch::Matchers::Contains;

namespace {

const EnergyPart kParts[] = {EnergyPart::kResultUnit, EnergyPart::kDma, EnergyPart::kMachineControl,
                             EnergyPart::kUnitsClock};

UnitWork some_work() {
  UnitWork w;
  w.cycles = 1000;
  w.execs = 3;
  w.fetches = 5;
  w.stores = 2;
  w.read_bursts = 11;
  w.write_bursts = 4;
  w.read_beats = 200;
  w.write_beats = 70;
  w.results = 900;
  return w;
}

struct Units {
  explicit Units(const EnergySettings& settings = {}, const char* array = "serial-1x1")
      : machine(machine_for(resolve_array(array))),
        pe(*find_characterisation(settings, machine.array, "pe")),
        units(settings, machine, pe, 1.0, book, notes) {}
  double joules(EnergyPart part, const UnitWork& w) const {
    double sum = 0.0;
    for (const auto& e : units.events()) {
      if (e.part == part) sum += e.joules * e.count(w) * e.times;
    }
    return sum;
  }
  MachineConfig machine;
  Characterisation pe;
  EnergyBook book;
  std::vector<std::string> notes;
  EnergyUnits units;
};

// Coefficients of the committed record.
double coefficient(const std::string& unit, const std::string& event) {
  const auto all =
      load_characterisations(source_dir() + "/configs/characterised/machine-ihp-sg13g2.json");
  for (const auto& c : all) {
    if (c.module != unit) continue;
    if (event == "idle") return idle_cycle_energy(c);
    for (const auto& e : c.events) {
      if (e.name == event) return e.joules;
    }
  }
  FAIL("no " << event << " of " << unit);
  return 0.0;
}

}  // namespace

TEST_CASE("energy units: joules of every part by hand") {
  const Units u;
  const UnitWork w = some_work();
  const auto c = coefficient;
  CHECK(u.joules(EnergyPart::kResultUnit, w) == Approx(900 * c("requant", "raw")));
  CHECK(u.joules(EnergyPart::kDma, w) ==
        Approx(5 * c("fetch", "start") + 11 * c("fetch", "burst") + 200 * c("fetch", "beat") +
               2 * c("store", "start") + 4 * c("store", "burst") + 70 * c("store", "beat") +
               70 * 0.25 * u.machine.dw * c("store", "data")));
  const double words = 3 * 27 + (5 + 2) * 6;
  CHECK(u.joules(EnergyPart::kMachineControl, w) ==
        Approx(words * c("queue-exec", "word") +
               3 * (c("queue-exec", "push") + c("queue-exec", "pop")) +
               2 * 10 * 6 * c("queue-dma", "word") +
               7 * (c("queue-dma", "push") + c("queue-dma", "pop")) +
               words * c("dispatch", "word") + 10 * c("dispatch", "push") +
               10 * c("engine", "start")));
  const double clock = 16 * c("requant", "idle") + c("fetch", "idle") + c("store", "idle") +
                       c("queue-exec", "idle") + 2 * c("queue-dma", "idle") +
                       c("dispatch", "idle") + 3 * c("engine", "idle");
  CHECK(u.joules(EnergyPart::kUnitsClock, w) == Approx(1000 * clock));
  CHECK(u.units.idle_cycle() == Approx(clock));
  CHECK(u.units.leakage() > 0.0);
  CHECK(u.notes.empty());
}

TEST_CASE("energy units: nothing costs less than nothing, in any technology") {
  for (const char* technology : {"osu018", "ihp-sg13g2", "asap7"}) {
    EnergySettings settings;
    settings.technology = technology;
    const Units u(settings);
    for (const auto& e : u.units.events()) {
      INFO(technology << " " << e.name);
      CHECK(e.joules > 0.0);
      CHECK(e.count(UnitWork{}) == 0.0);
      CHECK(e.count(some_work()) > 0.0);
    }
    CHECK(u.units.events().size() == 7 + 15);
  }
}

TEST_CASE("energy units: a count moves only its own part") {
  const Units u;
  const auto moved = [&](double UnitWork::*count) {
    UnitWork more = some_work();
    more.*count += 1;
    std::set<EnergyPart> out;
    for (const EnergyPart p : kParts) {
      if (u.joules(p, more) != u.joules(p, some_work())) out.insert(p);
    }
    return out;
  };
  using P = EnergyPart;
  CHECK(moved(&UnitWork::cycles) == std::set<P>{P::kUnitsClock});
  CHECK(moved(&UnitWork::results) == std::set<P>{P::kResultUnit});
  CHECK(moved(&UnitWork::read_beats) == std::set<P>{P::kDma});
  CHECK(moved(&UnitWork::write_bursts) == std::set<P>{P::kDma});
  CHECK(moved(&UnitWork::execs) == std::set<P>{P::kMachineControl});
  CHECK(moved(&UnitWork::stores) == std::set<P>{P::kDma, P::kMachineControl});
}

TEST_CASE("energy units: bands are those of the records, the requantiser's its largest error") {
  Units u;
  const auto term = [&](EnergyPart part, const std::string& name) {
    for (const auto& t : u.book.info(part).terms) {
      if (t.name == name) return t.high;
    }
    return -1.0;
  };
  CHECK(term(EnergyPart::kResultUnit, "model") > 0.3);
  CHECK(term(EnergyPart::kDma, "model") < 0.1);
  for (const EnergyPart p : kParts) {
    CHECK(term(p, "wires") > 0.0);
    CHECK(term(p, "netlist") == Approx(0.3));
  }
}

TEST_CASE("energy units: a machine of other parameters says what is missing") {
  EnergySettings settings;
  MachineConfig machine = machine_for(resolve_array("serial-1x1"));
  machine.dw = 256;
  EnergyBook book;
  std::vector<std::string> notes;
  const auto pe = *find_characterisation(settings, machine.array, "pe");
  const EnergyUnits units(settings, machine, pe, 1.0, book, notes);
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0], Contains("unit fetch"));
  CHECK_THAT(notes[1], Contains("unit store"));
  CHECK(book.info(EnergyPart::kDma).status == "not covered");
}

TEST_CASE("energy units: the machine's work has them, the array alone and its total do not") {
  const MachineConfig machine = machine_for(resolve_array("serial-1x1"));
  EnergySettings settings;
  settings.level = EnergyLevel::kModel;
  EnergyModel model(settings, machine, literature_energy_table(), std::nullopt);
  EnergyCounts counts;
  SystemWork work;
  work.seconds = 1e-6;
  work.dram_read_bits = 1000;
  model.add(counts, work);
  const auto without = model.book().parts(counts);
  for (const EnergyPart p : kParts) CHECK(without[static_cast<std::size_t>(p)] == 0.0);
  work.units = some_work();
  model.add(counts, work);
  const auto parts = model.book().parts(counts);
  double units = 0.0;
  for (const EnergyPart p : kParts) {
    CHECK(parts[static_cast<std::size_t>(p)] > 0.0);
    units += parts[static_cast<std::size_t>(p)];
  }
  double leakage = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const EnergyItem& item = model.book().items()[i];
    if (item.name == "second of all units") leakage += counts[i] * item.joules;
  }
  CHECK(leakage > 0.0);
  CHECK(total(parts) == Approx(2.0 * total(without) + units + leakage));
}
