#include "sim/energy_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "golden/error.hpp"
#include "model/gates/array_modules.hpp"
#include "model/gates/module_energy.hpp"
#include "model/machine/layout.hpp"
#include "sim/energy_model.hpp"
#include "sim/energy_terms.hpp"
#include "sim/paths.hpp"
#include "sim/unit_probe.hpp"

namespace bitcycle {
namespace {

double words(const UnitWork& w) {
  return layout::kExecWords * w.execs + layout::kFetchWords * (w.fetches + w.stores);
}

// A feature of a unit's event model and how often it happens, over all its instances.
struct Rule {
  const char* unit;
  const char* feature;
  double (*count)(const UnitWork&);
};

// Addresses that wait for the memory are not counted; nor is rounding, results leave as integers.
constexpr Rule kRules[] = {
    {"requant", "raw", [](const UnitWork& w) { return w.results; }},
    {"fetch", "start", [](const UnitWork& w) { return w.fetches; }},
    {"fetch", "burst", [](const UnitWork& w) { return w.read_bursts; }},
    {"fetch", "beat", [](const UnitWork& w) { return w.read_beats; }},
    {"store", "start", [](const UnitWork& w) { return w.stores; }},
    {"store", "burst", [](const UnitWork& w) { return w.write_bursts; }},
    {"store", "beat", [](const UnitWork& w) { return w.write_beats; }},
    {"store", "data", [](const UnitWork& w) { return w.write_beats; }},  // times toggles of a beat
    {"queue-exec", "word", words},
    {"queue-exec", "instruction", [](const UnitWork& w) { return w.execs; }},
    // Both queues see the first words of every instruction.
    {"queue-dma", "word",
     [](const UnitWork& w) { return 2.0 * layout::kFetchWords * w.instructions(); }},
    {"queue-dma", "instruction", [](const UnitWork& w) { return w.fetches + w.stores; }},
    {"dispatch", "word", words},
    {"dispatch", "push", [](const UnitWork& w) { return w.instructions(); }},
    {"engine", "start", [](const UnitWork& w) { return w.instructions(); }},
};

EnergyPart part_of(const std::string& unit) {
  if (unit == "requant") return EnergyPart::kResultUnit;
  if (unit == "fetch" || unit == "store") return EnergyPart::kDma;
  return EnergyPart::kMachineControl;
}

std::vector<Characterisation> records_of(const EnergySettings& settings) {
  std::vector<Characterisation> out;
  const auto take = [&](const std::string& file) {
    for (Characterisation& c : load_characterisations(file)) out.push_back(std::move(c));
  };
  for (const std::string& file : settings.characterisations) take(file);
  const std::string own =
      fmt::format("{}/configs/characterised/machine-{}.json", source_dir(), settings.technology);
  if (std::filesystem::exists(own)) take(own);
  return out;
}

double joules_of(const Characterisation& c, const std::string& feature) {
  // What comes into a queue leaves it.
  if (feature == "instruction") return joules_of(c, "push") + joules_of(c, "pop");
  for (const EnergyEvent& e : c.events) {
    if (e.name == feature) return e.joules;
  }
  throw input_error("", 0, "characterisation of " + c.rtl_module, "no event '" + feature + "'",
                    "a file made by this version of 'bitcycle characterise'");
}

}  // namespace

EnergyUnits::EnergyUnits(const EnergySettings& settings, const MachineConfig& machine,
                         const Characterisation& pe, double scale, EnergyBook& book,
                         std::vector<std::string>& notes) {
  const std::vector<Characterisation> records = records_of(settings);
  for (const std::string& name : unit_names()) {
    const auto wanted = make_unit(name, machine)->parameters();
    const auto at = std::find_if(records.begin(), records.end(), [&](const Characterisation& c) {
      return c.module == name && same_parameters(c.parameters, wanted);
    });
    if (at == records.end()) {
      notes.push_back("no characterisation of the machine's unit " + name +
                      " with these parameters: it is not in the figures");
      continue;
    }
    if (at->library.front().sha256 != pe.library.front().sha256) {
      throw input_error("", 0, "characterisation of " + at->rtl_module,
                        "library " + at->library.front().name,
                        "that of the PE, " + pe.library.front().name);
    }
    const auto instances = static_cast<double>(unit_instances(name, machine));
    const double idle = idle_cycle_energy(*at) * instances * scale;
    idle_cycle_ += idle;
    leakage_ += at->leakage * instances;
    events_.push_back({EnergyPart::kUnitsClock, name + ": clocked cycle of all", idle,
                       [](const UnitWork& w) { return w.cycles; }});
    for (const Rule& r : kRules) {
      if (name != r.unit) continue;
      const bool bits = std::string(r.feature) == "data";
      events_.push_back(
          {part_of(name), fmt::format("{}: {}", name, bits ? "changed bit" : r.feature),
           joules_of(*at, r.feature) * scale, r.count, bits ? kStoredToggles * machine.dw : 1.0});
    }
    // The requantiser does not see how large its numbers are.
    const double error = name == "requant" ? at->held_out_max : model_error(*at);
    std::vector<EnergyTerm> terms = gate_terms(*at);
    terms.push_back({"model", error, error});
    if (!settings.scale_to.empty()) terms.push_back(scaling_term());
    for (const EnergyPart part : {part_of(name), EnergyPart::kUnitsClock}) {
      EnergyPartInfo& info = book.info(part);
      const bool is_idle = part == EnergyPart::kUnitsClock;
      info.status = is_idle ? "gates" : "gates: counts";
      info.source += fmt::format("{}{}: {:.0f} of {}, {}", info.source.empty() ? "" : "; ", name,
                                 instances, at->rtl_module, at->library.front().name);
      if (!is_idle && name == "store") {
        info.source += fmt::format(" ({:g} % of the stored bits change)", 100.0 * kStoredToggles);
      }
      widen(info, terms);
    }
  }
}

}  // namespace bitcycle
