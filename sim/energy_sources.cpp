#include "sim/energy_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "golden/error.hpp"
#include "model/gates/array_modules.hpp"
#include "sim/paths.hpp"

namespace bitcycle {
namespace {

namespace fs = std::filesystem;

fs::path characterised_dir() { return fs::path(source_dir()) / "configs/characterised"; }

struct Level {
  const char* name;
  EnergyLevel level;
};
constexpr Level kLevels[] = {{"auto", EnergyLevel::kAuto},
                             {"off", EnergyLevel::kOff},
                             {"literature", EnergyLevel::kLiterature},
                             {"table", EnergyLevel::kTable},
                             {"model", EnergyLevel::kModel},
                             {"gates", EnergyLevel::kGates}};

bool fits(const Characterisation& c, const std::string& module, const ArrayConfig& array) {
  if (c.module != module) return false;
  for (const ModuleKind& kind : array_modules(array)) {
    if (kind.name == module) return same_parameters(c.parameters, kind.parameters);
  }
  return false;
}

// "8x8 uu uniform" into widths, signs and data.
struct Label {
  int a = 0, w = 0;
  std::string signs, data;
};
bool parse_label(const std::string& label, Label& out) {
  char signs[3] = {};
  char data[32] = {};
  if (std::sscanf(label.c_str(), "%dx%d %2s %31s", &out.a, &out.w, signs, data) != 4) return false;
  out.signs = signs;
  out.data = data;
  return true;
}

}  // namespace

EnergyLevel parse_energy_level(const std::string& text) {
  std::vector<std::string> known;
  for (const Level& l : kLevels) {
    if (text == l.name) return l.level;
    known.emplace_back(l.name);
  }
  throw input_error("", 0, "--energy", "'" + text + "'" + suggestion(text, known), join(known));
}

std::string to_string(EnergyLevel level) {
  for (const Level& l : kLevels) {
    if (level == l.level) return l.name;
  }
  return "unknown";
}

DataAssumption parse_data(const std::string& text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (words.size() == 1) words = {words[0], words[0], words[0]};
  const char* allowed = "activations,weights,gradients such as relu,gauss,laplace, or one word";
  if (words.size() != 3) throw input_error("", 0, "--data", "'" + text + "'", allowed);
  const auto word = [&](const std::string& w) {
    try {
      return operand_data_from_name(w);
    } catch (const InputError& e) {
      throw InputError(std::string("--") + e.what());
    }
  };
  return {word(words[0]), word(words[1]), word(words[2])};
}

std::string to_string(const DataAssumption& d) {
  return fmt::format("activations {}, weights {}, gradients {}", operand_data_name(d.activations),
                     operand_data_name(d.weights), operand_data_name(d.gradients));
}

std::vector<std::string> energy_technologies() {
  std::set<std::string> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(characterised_dir(), ignored)) {
    const std::string stem = entry.path().stem();
    for (const ArrayConfig& preset : array_presets()) {
      const std::string head = "pe-" + preset.name + "-";
      if (stem.rfind(head, 0) == 0) out.insert(stem.substr(head.size()));
    }
  }
  return {out.begin(), out.end()};
}

std::vector<Characterisation> find_characterisations(const EnergySettings& settings,
                                                     const ArrayConfig& array) {
  const std::vector<std::string> known = energy_technologies();
  if (std::find(known.begin(), known.end(), settings.technology) == known.end()) {
    throw input_error("", 0, "--technology",
                      "'" + settings.technology + "'" + suggestion(settings.technology, known),
                      join(known));
  }
  std::vector<Characterisation> out;
  const auto take = [&](std::vector<Characterisation> list) {
    for (Characterisation& c : list) {
      const bool have = std::any_of(
          out.begin(), out.end(), [&](const Characterisation& o) { return o.module == c.module; });
      if (!have && fits(c, c.module, array)) out.push_back(std::move(c));
    }
  };
  for (const std::string& file : settings.characterisations) take(load_characterisations(file));
  // The files of the array's name first; another name may have the same parameters.
  std::vector<std::string> names = {array.name};
  for (const ArrayConfig& preset : array_presets()) names.push_back(preset.name);
  for (const char* kind : {"pe", "array"}) {
    for (const std::string& name : names) {
      const fs::path path =
          characterised_dir() / fmt::format("{}-{}-{}.json", kind, name, settings.technology);
      if (!fs::exists(path)) continue;
      const std::size_t before = out.size();
      take(load_characterisations(path.string()));
      if (out.size() > before) break;
    }
  }
  return out;
}

std::optional<Characterisation> find_characterisation(const EnergySettings& settings,
                                                      const ArrayConfig& array,
                                                      const std::string& module) {
  for (Characterisation& c : find_characterisations(settings, array)) {
    if (c.module == module) return std::move(c);
  }
  return std::nullopt;
}

Eigen::VectorXd coefficients_of(const Characterisation& c,
                                const std::vector<std::string>& features) {
  Eigen::VectorXd out(static_cast<Eigen::Index>(features.size()));
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto found = std::find_if(c.events.begin(), c.events.end(),
                                    [&](const EnergyEvent& e) { return e.name == features[i]; });
    if (found == c.events.end() || c.events.size() != features.size()) {
      throw input_error("", 0, "characterisation of " + c.rtl_module + " of " + c.arch,
                        "other features than this program counts",
                        "a file made by this version of 'bitcycle characterise'");
    }
    out[static_cast<Eigen::Index>(i)] = found->joules;
  }
  return out;
}

std::string logic_node(const Characterisation& c) {
  const std::string& name = c.library.front().name;
  if (name.rfind("osu018", 0) == 0) return "180";
  if (name.find("sg13g2") != std::string::npos) return "130";
  if (name.find("asap7") != std::string::npos) return "7HP";
  if (name.rfind("sky130", 0) == 0) return "130";
  if (name.find("Nangate") != std::string::npos) return "45HP";
  throw input_error("", 0, "--scale-to", "library " + name + " of no known node",
                    "a library of 180, 130, 45 or 7 nm that the program knows by name");
}

std::string node_text(const Characterisation& c) {
  const std::string& name = c.library.front().name;
  if (name.rfind("osu018", 0) == 0) return "180 nm";
  if (name.find("sg13g2") != std::string::npos) return "130 nm";
  if (name.find("asap7") != std::string::npos) return "7 nm (predictive)";
  return name;
}

double uniform_energy(const Characterisation& c, const std::string& label) {
  Label want;
  if (!parse_label(label, want)) return 0.0;
  for (const auto* list : {&c.training, &c.held_out}) {
    for (const auto& w : *list) {
      Label l;
      if (parse_label(w.label, l) && l.data == "uniform" && l.a == want.a && l.w == want.w &&
          l.signs == want.signs) {
        return w.energy;
      }
    }
  }
  return 0.0;
}

bool realistic(const std::string& label) {
  Label l;
  if (!parse_label(label, l)) return false;
  return l.data == "uniform" || l.data == "gauss" || l.data == "relu" || l.data == "laplace";
}

UniformEnergy nearest_uniform(const Characterisation& c, Precision a, Precision w) {
  const std::string signs = std::string(a.is_signed ? "s" : "u") + (w.is_signed ? "s" : "u");
  UniformEnergy out;
  int least = 1 << 20;
  for (const auto* list : {&c.training, &c.held_out}) {
    for (const auto& r : *list) {
      Label l;
      if (!parse_label(r.label, l) || l.data != "uniform") continue;
      const int off =
          std::abs(l.a - a.bits) + std::abs(l.w - w.bits) + (l.signs == signs ? 0 : 1000);
      if (off >= least) continue;
      least = off;
      out = {r.energy, r.label, off == 0};
    }
  }
  if (out.joules <= 0.0) {
    throw input_error("", 0, "characterisation of " + c.arch, "no uniform workload",
                      "a file made by 'bitcycle characterise'");
  }
  return out;
}

SramTable resolve_sram(const EnergySettings& settings) {
  std::string word = settings.sram;
  if (word.empty()) {
    word = settings.technology == "asap7" ? "cacti-22nm-lstp" : "ihp-sg13g2";
  }
  std::vector<std::string> known;
  const fs::path dir = fs::path(source_dir()) / "configs/energy";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dir, ignored)) {
    const std::string stem = entry.path().stem();
    if (stem.rfind("sram-", 0) == 0) known.push_back(stem.substr(5));
  }
  std::sort(known.begin(), known.end());
  if (std::find(known.begin(), known.end(), word) != known.end()) {
    return load_sram_table((dir / ("sram-" + word + ".yaml")).string());
  }
  if (word.find('.') == std::string::npos && word.find('/') == std::string::npos) {
    throw input_error("", 0, "--sram-table", "'" + word + "'" + suggestion(word, known),
                      join(known) + ", or a YAML or CSV file");
  }
  return load_sram_table(word);
}

}  // namespace bitcycle
