#include "sim/cmd_characterise.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "golden/error.hpp"
#include "model/gates/array_modules.hpp"
#include "model/gates/module_energy.hpp"
#include "sim/additivity.hpp"
#include "sim/array_area.hpp"
#include "sim/characterise.hpp"
#include "sim/cli.hpp"
#include "sim/gating_study.hpp"
#include "sim/paths.hpp"
#include "sim/table.hpp"

namespace bitcycle {
namespace {

namespace po = boost::program_options;

const char* const kHelp = R"(Usage: bitcycle characterise [options]

Energy of a module from its gates: synthesises it for a cell library, simulates the gates with real
delays inside the cycle-accurate array, fits energy to counted activity, and judges the fit on
workloads that it did not see. Every output of the netlist is compared with the core.

Example (library of the Debian package qflow-tech-osu018):
  bitcycle characterise --arch serial-1x1 \
    --liberty /usr/share/qflow/tech/osu018/osu018_stdcells.lib --out serial-osu018.json

)";

po::options_description describe() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("help,h", "print this text");
  add("module", po::value<std::string>()->default_value("pe"),
      ("modules, with commas between, or 'array' = all but the PE: " + join(probe_names()))
          .c_str());
  add("arch", po::value<std::string>()->default_value("serial-1x1"),
      "preset or YAML file of array parameters");
  add("liberty", po::value<std::vector<std::string>>()->multitoken(),
      "Liberty files, plain or gzipped; several are merged");
  add("period", po::value<std::string>(),
      "clock period in ns, also for sizing gates [1.25 times the critical path]");
  add("wire", po::value<std::string>(),
      "fF of wire for every driven pin [0.15 fF/um, two sides of the mean cell]");
  add("clock-tree", po::value<std::string>()->default_value("1.3"),
      "charging the clock net costs so many times its pins and wires");
  add("cycles", po::value<std::string>(), "cycles of a workload [PE 1024, others 384]");
  add("seed", po::value<std::string>()->default_value("1"), "seed of all operands");
  add("jobs", po::value<std::string>()->default_value("2"), "threads; no effect on the result");
  add("no-clock-gates", "registers with enables, as in simulation and in FPGAs");
  add("keep", po::value<std::string>(), "keep netlist and logs in this directory");
  add("out", po::value<std::string>(), "write the characterisation (JSON) here");
  add("workloads", "list every held-out workload");
  add("show", po::value<std::string>(), "print a characterisation: a file, or a name of --list");
  add("area",
      "instead: cell area of the whole array, module by module (a minute or two for 16 x 16)");
  add("machine-area",
      "instead: the same of the machine's logic around the array, without memories");
  add("additivity",
      "instead: a 4 x 4 array of this kind whole at gate level against the sum of its modules");
  add("gating",
      "instead: what clock gates save, module by module: every module of the array with enables "
      "and "
      "with gates (minutes)");
  add("idle", "table of what the presets' arrays cost while they are clocked and do nothing");
  add("areas", "table of the areas of the presets' arrays");
  add("list", "table of the characterisations that come with bitcycle");
  return options;
}

double parse_not_negative(const std::string& text, const std::string& field, double high) {
  return text == "0" ? 0.0 : parse_positive(text, field, high);
}

std::string percent(double x) { return fmt::format("{:.1f} %", 100.0 * x); }

void print_workloads(const Characterisation& c, bool all) {
  TextTable table;
  table.add_column("held-out workload", TextTable::Align::kLeft);
  table.add_column("energy\nper cycle");
  table.add_column("energy\nper MAC");
  table.add_column("clock");
  table.add_column("model\nerror");
  for (const auto& w : c.held_out) {
    if (!all && w.label.find("gauss") == std::string::npos && w.label != c.held_out_worst) continue;
    table.add_row({w.label, si_text(w.energy, "J"), w.per_mac > 0 ? si_text(w.per_mac, "J") : "-",
                   percent(w.clock_share), fmt::format("{:+.1f} %", 100.0 * w.error)});
  }
  fmt::print("\n{}", table.render());
}

void print_record(const Characterisation& c, bool all) {
  fmt::print("{} of {}: {} cells ({} flip-flops), {:.6g} um2\n", c.rtl_module, c.arch, c.cells,
             c.flip_flops, c.area);
  fmt::print("library: {} ({} V, {} C)\n", c.library[0].name, c.voltage, c.temperature);
  fmt::print("critical path {:.3g} ns, period {:.3g} ns; wire {:.3g} fF a pin, clock tree x{}\n",
             c.critical_path * 1e9, c.period * 1e9, c.wire_per_fanout * 1e15, c.clock_tree_factor);
  fmt::print("leakage {}\n", si_text(c.leakage, "W"));
  fmt::print("event model: {} terms, {} workloads, {} cycles\n", c.events.size(), c.training.size(),
             c.cycles);
  fmt::print("  fitted     mean error {}, largest {}\n", percent(c.training_mean),
             percent(c.training_max));
  fmt::print("  held out   mean error {}, largest {} ({}), {} workloads\n",
             percent(c.held_out_mean), percent(c.held_out_max), c.held_out_worst,
             c.held_out.size());
  double degenerate = 0.0;
  for (const auto& w : c.degenerate) degenerate = std::max(degenerate, std::abs(w.error));
  if (!c.degenerate.empty()) {
    fmt::print("  degenerate largest {} (all operands equal: no promise)\n", percent(degenerate));
  }
  for (const auto& b : c.bands) {
    fmt::print("  band {:<10} -{} +{}  {}\n", b.name, percent(b.low), percent(b.high), b.why);
  }
  print_workloads(c, all);
  fmt::print("\npost-synthesis estimate, leakage not in energies\n");
}

int print_area(const CharacteriseOptions& o, bool machine) {
  TextTable table;
  table.add_column("module", TextTable::Align::kLeft);
  table.add_column("instances");
  table.add_column("cells");
  table.add_column("area\num2");
  table.add_column("share");
  const auto library = load_liberty(o.liberty);
  const auto modules =
      machine ? machine_area(machine_for(o.arch), library) : array_area(o.arch, library);
  ModuleArea all;
  for (const auto& m : modules) all.cells += m.cells, all.area += m.area;
  const auto row = [&](const std::string& name, const std::string& count, const ModuleArea& m) {
    table.add_row({name, count, std::to_string(m.cells), fmt::format("{:.6g}", m.area),
                   percent(m.area / all.area)});
  };
  for (const auto& m : modules) row(m.module, std::to_string(m.instances), m);
  row("all", "", all);
  fmt::print("{}", table.render());
  return 0;
}

int print_additivity(CharacteriseOptions o) {
  o.arch = additivity_array(o.arch);
  const Additivity a = check_additivity(o);
  if (!a.mismatch.empty()) {
    fmt::print(stderr, "bitcycle: netlist and core differ: {}\n", a.mismatch);
    return 1;
  }
  fmt::print("{}: {} cells, {:.6g} um2, of which its modules {:.6g} um2 ({})\n", o.arch.name,
             a.cells, a.area, a.module_area, percent(a.module_area / a.area));
  TextTable table;
  table.add_column("workload", TextTable::Align::kLeft);
  table.add_column("whole array\nper cycle");
  table.add_column("sum of\nmodules");
  table.add_column("error");
  for (const auto& m : a.rows.at(0).modules) table.add_column(m.module + "\noff by");
  for (const auto& r : a.rows) {
    std::vector<std::string> row = {r.workload, si_text(r.gates, "J"), si_text(r.sum(), "J"),
                                    fmt::format("{:+.1f} %", 100.0 * r.error())};
    // Of the whole: these add up to the error.
    for (std::size_t i = 0; i < r.modules.size(); ++i) {
      row.push_back(
          fmt::format("{:+.1f} %", 100.0 * (r.modules[i].joules - r.by_module[i]) / r.gates));
    }
    table.add_row(row);
  }
  fmt::print("{}netlists equal to the core in {} compared values; largest error {}\n",
             table.render(), a.compared, percent(a.largest()));
  return 0;
}

std::string committed_dir() { return source_dir() + "/configs/characterised"; }

void warn_if_stale(const Characterisation& c) {
  const auto warning = stale_warning(c, source_dir() + "/rtl");
  if (!warning.empty()) fmt::print(stderr, "bitcycle: warning: {}\n", warning);
}

int show(const std::string& name, bool all) {
  const std::string committed = committed_dir() + "/" + name + ".json";
  bool first = true;
  for (const auto& c : load_characterisations(std::filesystem::exists(name) ? name : committed)) {
    if (!first) fmt::print("\n");
    first = false;
    warn_if_stale(c);
    print_record(c, all);
  }
  return 0;
}

// Energy per MAC of a held-out workload.
std::string per_mac(const Characterisation& c, const std::string& label) {
  for (const auto& w : c.held_out) {
    if (w.label == label) return si_text(w.per_mac, "J");
  }
  return "n/a";
}

// How far event models are off on what they did not see: all workloads of a library's records.
class HeldOut {
 public:
  void add(const Characterisation& c) {
    Sum& s = sums_[c.library.front().name];
    for (const auto& w : c.held_out) {
      const double error = std::abs(w.error);
      ++s.workloads;
      s.errors += error;
      if (error > 0.1) ++s.over;
      if (error > s.largest) s.largest = error, s.worst = c.rtl_module + ", " + w.label;
    }
  }
  void print() const {
    for (const auto& [library, s] : sums_) {
      fmt::print("{}: {} workloads held out, mean error {}, {} over 10 %, largest {} ({})\n",
                 library, s.workloads, percent(s.errors / static_cast<double>(s.workloads)), s.over,
                 percent(s.largest), s.worst);
    }
  }

 private:
  struct Sum {
    std::size_t workloads = 0, over = 0;
    double errors = 0.0, largest = 0.0;
    std::string worst;
  };
  std::map<std::string, Sum> sums_;
};

int list_committed() {
  std::vector<std::string> names, several;
  for (const auto& e : std::filesystem::directory_iterator(committed_dir())) {
    if (e.path().extension() != ".json") continue;
    const auto stem = e.path().stem().string();
    (stem.rfind("pe-", 0) == 0 ? names : several).push_back(stem);
  }
  std::sort(names.begin(), names.end());
  std::sort(several.begin(), several.end());
  HeldOut held_out;
  TextTable table;
  table.add_column("characterisation", TextTable::Align::kLeft);
  table.add_column("area\num2");
  table.add_column("critical\npath");
  table.add_column("per MAC\n8x8 uu");
  table.add_column("per MAC\n4x4 uu");
  table.add_column("per MAC\n2x2 uu");
  table.add_column("per MAC\n8x8 ss");
  table.add_column("held out\nmean");
  table.add_column("held out\nlargest");
  for (const auto& name : names) {
    const auto c = load_characterisation(committed_dir() + "/" + name + ".json");
    warn_if_stale(c);
    held_out.add(c);
    table.add_row(
        {name, fmt::format("{:.5g}", c.area), fmt::format("{:.3g} ns", c.critical_path * 1e9),
         per_mac(c, "8x8 uu uniform"), per_mac(c, "4x4 uu uniform"), per_mac(c, "2x2 uu uniform"),
         per_mac(c, "8x8 ss uniform"), percent(c.held_out_mean), percent(c.held_out_max)});
  }
  fmt::print("{}\n", table.render());

  // The other modules, an instance of each: energy of an idle cycle, what work adds to it, error.
  TextTable modules;
  modules.add_column("characterisation", TextTable::Align::kLeft);
  modules.add_column("module", TextTable::Align::kLeft);
  modules.add_column("area\num2");
  modules.add_column("critical\npath");
  modules.add_column("idle\ncycle");
  modules.add_column("busy cycle\nmean");
  modules.add_column("held out\nmean");
  modules.add_column("held out\nlargest");
  for (const auto& name : several) {
    for (const auto& c : load_characterisations(committed_dir() + "/" + name + ".json")) {
      warn_if_stale(c);
      held_out.add(c);
      double busy = 0.0;
      for (const auto& w : c.held_out) busy += w.energy / static_cast<double>(c.held_out.size());
      modules.add_row({name, c.module, fmt::format("{:.5g}", c.area),
                       fmt::format("{:.3g} ns", c.critical_path * 1e9),
                       si_text(idle_cycle_energy(c), "J"), si_text(busy, "J"),
                       percent(c.held_out_mean), percent(c.held_out_max)});
    }
  }
  fmt::print("{}\n", modules.render());
  held_out.print();
  return 0;
}

// Idle clocked cycle of whole arrays, and its share of the mean over held-out workloads.
int list_idle() {
  TextTable table;
  table.add_column("array", TextTable::Align::kLeft);
  table.add_column("idle\ncycle");
  table.add_column("busy cycle\nmean");
  table.add_column("idle\nshare");
  table.add_column("share of PEs\nin idle cycle");
  table.add_column("idle PE of\nits busy cycle");
  for (const char* technology : {"osu018", "ihp-sg13g2", "asap7"}) {
    for (const auto& preset : array_presets()) {
      double idle = 0.0, busy = 0.0, pe_idle = 0.0, pe_busy = 0.0;
      const auto records = array_characterisations(committed_dir(), preset.name, technology);
      for (const auto& m : array_modules(preset)) {
        const auto c = std::find_if(records.begin(), records.end(),
                                    [&](const auto& r) { return r.module == m.name; });
        if (c == records.end()) continue;
        double mean = 0.0;
        for (const auto& w : c->held_out) {
          mean += w.energy / static_cast<double>(c->held_out.size());
        }
        const auto count = static_cast<double>(m.instances);
        idle += count * idle_cycle_energy(*c);
        busy += count * mean;
        if (m.name == "pe") pe_idle = count * idle_cycle_energy(*c), pe_busy = count * mean;
      }
      table.add_row({preset.name + " " + technology, si_text(idle, "J"), si_text(busy, "J"),
                     percent(idle / busy), percent(pe_idle / idle), percent(pe_idle / pe_busy)});
    }
  }
  fmt::print("{}", table.render());
  return 0;
}

// Cell areas of whole arrays: of their modules, times instances.
int list_areas() {
  TextTable table;
  table.add_column("array", TextTable::Align::kLeft);
  table.add_column("mm2");
  table.add_column("critical\npath");
  table.add_column("leakage");
  for (const char* kind : {"PEs", "acc", "chunk", "others"}) {
    table.add_column(std::string(kind) + "\nshare");
  }
  for (const char* technology : {"osu018", "ihp-sg13g2", "asap7"}) {
    for (const auto& preset : array_presets()) {
      double pe = 0.0, acc = 0.0, chunk = 0.0, all = 0.0, path = 0.0, leakage = 0.0;
      const auto records = array_characterisations(committed_dir(), preset.name, technology);
      for (const auto& m : array_modules(preset)) {
        const auto c = std::find_if(records.begin(), records.end(),
                                    [&](const auto& r) { return r.module == m.name; });
        if (c == records.end()) continue;
        const auto count = static_cast<double>(m.instances);
        const double area = count * c->area;
        all += area;
        leakage += count * c->leakage;
        path = std::max(path, c->critical_path);
        if (m.rtl_module == "bc_pe") pe += area;
        if (m.rtl_module == "bc_acc") acc += area;
        if (m.rtl_module == "bc_chunk") chunk += area;
      }
      table.add_row({preset.name + " " + technology, fmt::format("{:.4g}", all * 1e-6),
                     fmt::format("{:.3g} ns", path * 1e9), si_text(leakage, "W"), percent(pe / all),
                     percent(acc / all), percent(chunk / all),
                     percent(1.0 - (pe + acc + chunk) / all)});
    }
  }
  fmt::print("{}", table.render());
  return 0;
}

// Names between commas; "array": all modules but the PE.
std::vector<std::string> modules_of(const std::string& text, const ArrayConfig& arch) {
  std::vector<std::string> out;
  if (text == "array") {
    for (const auto& m : array_modules(arch)) {
      if (m.name != "pe") out.push_back(m.name);
    }
    return out;
  }
  if (text == "machine") return unit_names();
  std::istringstream in(text);
  for (std::string name; std::getline(in, name, ',');) out.push_back(name);
  if (out.empty()) throw input_error("", 0, "--module", "nothing", join(probe_names()));
  return out;
}

// Only the last parts of paths: a record must not hold those of the machine that made it.
std::string record_command(const std::vector<std::string>& args) {
  std::vector<std::string> words;
  bool skip = false;
  for (const auto& word : args) {
    if (skip) {
      skip = false;
      continue;
    }
    if (word == "--out" || word == "--keep" || word == "--jobs") {
      skip = true;
      continue;
    }
    if (word == "--workloads") continue;
    const bool is_path = word.size() > 1 && word.find('/') != std::string::npos && word[0] != '-';
    words.push_back(is_path ? std::filesystem::path(word).filename().string() : word);
  }
  return command_text("characterise", words);
}

}  // namespace

int cmd_characterise(const std::vector<std::string>& args) {
  const auto options = describe();
  const auto values = parse_options(args, options);
  if (values.count("help") > 0) {
    std::ostringstream text;
    text << options;
    fmt::print("{}{}", kHelp, text.str());
    return 0;
  }
  if (values.count("list") > 0) return list_committed();
  if (values.count("areas") > 0) return list_areas();
  if (values.count("idle") > 0) return list_idle();
  if (is_given(values, "show")) {
    return show(text_of(values, "show"), values.count("workloads") > 0);
  }
  CharacteriseOptions o;
  o.arch = resolve_array(text_of(values, "arch"));
  if (values.count("liberty") == 0) {
    throw input_error("", 0, "--liberty", "nothing", "one or more Liberty files");
  }
  o.liberty = values["liberty"].as<std::vector<std::string>>();
  if (values.count("area") > 0) return print_area(o, false);
  if (values.count("machine-area") > 0) return print_area(o, true);
  if (is_given(values, "period")) {
    o.period = parse_positive(text_of(values, "period"), "--period", 1e6) * 1e-9;
  }
  if (is_given(values, "wire")) {
    o.wire_per_fanout = parse_not_negative(text_of(values, "wire"), "--wire", 1e6) * 1e-15;
  }
  o.clock_tree_factor = parse_positive(text_of(values, "clock-tree"), "--clock-tree", 100);
  if (o.clock_tree_factor < 1) {
    throw input_error("", 0, "--clock-tree", text_of(values, "clock-tree"), "1 to 100");
  }
  const std::uint64_t cycles = is_given(values, "cycles")
                                   ? parse_count(text_of(values, "cycles"), "--cycles", 64, 1000000)
                                   : 0;
  o.seed = parse_count(text_of(values, "seed"), "--seed", 0, 1000000000);
  o.jobs = static_cast<int>(parse_count(text_of(values, "jobs"), "--jobs", 1, 64));
  o.keep = text_of(values, "keep");
  o.command = record_command(args);
  o.clock_gates = values.count("no-clock-gates") == 0;
  if (values.count("gating") > 0) {
    o.cycles = cycles;
    const GatingStudy study = study_gating(o);
    if (!study.mismatch.empty()) {
      fmt::print(stderr, "bitcycle: netlist and core differ: {}\n", study.mismatch);
      return 1;
    }
    fmt::print("{}", gating_table(study));
    return 0;
  }
  if (values.count("additivity") > 0) {
    o.cycles = cycles > 0 ? cycles : 256;
    return print_additivity(o);
  }
  const std::string out = text_of(values, "out");
  if (!out.empty()) check_output_path(out);
  if (isatty(STDERR_FILENO) != 0) {
    o.progress = [](const std::string& what) { fmt::print(stderr, "characterise: {}\n", what); };
  }
  std::vector<Characterisation> records;
  for (const auto& module : modules_of(text_of(values, "module"), o.arch)) {
    o.module = module;
    o.cycles = cycles > 0 ? cycles : module == "pe" ? 1024 : 384;
    const CharacteriseResult result = characterise(o);
    if (!result.mismatch.empty()) {
      fmt::print(stderr, "bitcycle: netlist and core differ: {}\n", result.mismatch);
      return 1;
    }
    if (!records.empty()) fmt::print("\n");
    print_record(result.record, values.count("workloads") > 0);
    fmt::print("netlist equal to the core in {} compared values\n", result.compared);
    records.push_back(result.record);
  }
  if (!out.empty()) write_file(out, records.size() == 1 ? to_json(records[0]) : to_json(records));
  return 0;
}

}  // namespace bitcycle
