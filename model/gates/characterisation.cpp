#include "model/gates/characterisation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "golden/error.hpp"
#include "golden/text_file.hpp"
#include "model/gates/hash.hpp"

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "bitcycle-characterisation";
constexpr const char* kListFormat = "bitcycle-characterisations";
constexpr int kVersion = 1;

// Source of all events in a file of several modules.
constexpr const char* kListSource = "gates";

std::string root_description(const std::string& count) {
  return "square root of " + count + ", cycle by cycle";
}

// Six digits: more than the model is worth, and files that do not change in the last place.
double rounded(double value) {
  return std::isfinite(value) ? std::stod(fmt::format("{:.6g}", value)) : value;
}

Json workloads(const std::vector<WorkloadRecord>& list) {
  Json out = Json::array();
  for (const auto& w : list) {
    Json j;
    j["label"] = w.label;
    j["energy_per_cycle_J"] = rounded(w.energy);
    if (w.per_mac > 0) j["energy_per_mac_J"] = rounded(w.per_mac);
    j["model_error"] = std::round(w.error * 1e4) / 1e4;
    j["sampling_error"] = std::round(w.sampling * 1e4) / 1e4;
    j["clock_share"] = std::round(w.clock_share * 1e4) / 1e4;
    out.push_back(std::move(j));
  }
  return out;
}

class CharacterisationReader {
 public:
  explicit CharacterisationReader(const std::string& file) : file_(file) {}

  std::vector<Characterisation> all(const std::string& text) const {
    Json root;
    try {
      root = Json::parse(text);
    } catch (const Json::exception& e) {
      fail("JSON", e.what(), "a file that 'bitcycle characterise' wrote");
    }
    if (!root.is_object() || !root.contains("format") || root["format"] != kListFormat) {
      return {one(root)};
    }
    std::vector<Characterisation> out;
    for (const auto& m : list(root, "modules")) {
      // What all modules share stands once; lists of numbers are short.
      Json full = expanded(m);
      for (const char* key : {"format", "version", "arch", "library", "tools"}) {
        full[key] = key == std::string("format") ? Json(kFormat) : member(root, key);
      }
      out.push_back(one(full));
    }
    if (out.empty()) fail("modules", "none", "at least one");
    return out;
  }

 private:
  Json expanded(const Json& m) const {
    Json full = m;
    Json events = Json::array();
    for (const auto& e : list(m, "events")) {
      if (!e.is_array() || e.size() < 2 || !e[0].is_string()) {
        fail("events", e.dump(), "[name, J, description]");
      }
      const auto name = e[0].get<std::string>();
      std::string text = e.size() > 2 ? string(e[2], "events." + name) : "";
      if (text.empty()) text = root_description(name.substr(std::min<std::size_t>(5, name.size())));
      events.push_back(
          {{"name", name}, {"description", text}, {"energy_J", e[1]}, {"source", kListSource}});
    }
    full["events"] = events;
    for (const char* key : {"fit", "held_out", "degenerate"}) {
      Json workloads = Json::array();
      for (const auto& w : list(member(m, key), "workloads")) {
        if (!w.is_array() || w.size() < 5) {
          fail(std::string(key) + ".workloads", w.dump(), "[label, J, errors, clock share]");
        }
        workloads.push_back({{"label", w[0]},
                             {"energy_per_cycle_J", w[1]},
                             {"model_error", w[2]},
                             {"sampling_error", w[3]},
                             {"clock_share", w[4]}});
        if (w.size() > 5) workloads.back()["energy_per_mac_J"] = w[5];
      }
      full[key]["workloads"] = workloads;
    }
    return full;
  }

  Characterisation one(const Json& root) const {
    if (!root.is_object() || !root.contains("format") || root["format"] != kFormat) {
      fail("format", "another file", kFormat);
    }
    if (number(root, "version") != kVersion) {
      fail("version", root["version"].dump(), std::to_string(kVersion));
    }
    Characterisation c;
    c.module = text_of(root, "module");
    c.rtl_module = text_of(root, "rtl_module");
    c.arch = text_of(root, "arch");
    for (const auto& [key, value] : member(root, "parameters").items()) {
      if (!value.is_number_integer()) fail("parameters." + key, value.dump(), "a whole number");
      c.parameters.emplace_back(key, value.get<int>());
    }
    const Json& rtl = member(root, "rtl");
    for (const auto& f : list(rtl, "files")) c.rtl_files.push_back(string(f, "rtl.files"));
    c.rtl_sha256 = text_of(rtl, "sha256");
    const Json& netlist = member(root, "netlist");
    c.netlist_sha256 = text_of(netlist, "sha256");
    c.cells = static_cast<std::size_t>(number(netlist, "cells"));
    c.flip_flops = static_cast<std::size_t>(number(netlist, "flip_flops"));
    c.area = number(netlist, "area_um2");
    read_library(member(root, "library"), c);
    for (const auto& [key, value] : member(root, "tools").items()) {
      c.tools.emplace_back(key, string(value, "tools." + key));
    }
    const Json& conditions = member(root, "conditions");
    c.period = number(conditions, "period_s");
    c.critical_path = number(conditions, "critical_path_s");
    c.wire_per_fanout = number(conditions, "wire_per_fanout_F");
    c.clock_tree_factor = number(conditions, "clock_tree_factor");
    c.input_slew = number(conditions, "input_slew_s");
    c.input_delay = number(conditions, "input_delay_s");
    c.output_load = number(conditions, "output_load_F");
    c.leakage = number(root, "leakage_W");
    read_sources(root, c);
    read_events(root, c);
    const Json& fit = member(root, "fit");
    c.cycles = static_cast<std::uint64_t>(number(fit, "cycles"));
    c.r2 = number(fit, "r2_per_cycle");
    c.rms = number(fit, "rms_per_cycle");
    c.training_mean = number(fit, "mean_error");
    c.training_max = number(fit, "largest_error");
    c.training = read_workloads(fit);
    const Json& held = member(root, "held_out");
    c.held_out_mean = number(held, "mean_error");
    c.held_out_max = number(held, "largest_error");
    c.held_out_worst = text_of(held, "worst");
    c.held_out = read_workloads(held);
    c.degenerate = read_workloads(member(root, "degenerate"));
    for (const auto& b : list(root, "bands")) {
      c.bands.push_back(
          {text_of(b, "name"), number(b, "low"), number(b, "high"), text_of(b, "why")});
    }
    c.command = text_of(root, "command");
    return c;
  }

  [[noreturn]] void fail(const std::string& field, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(file_, 0, field, found, allowed);
  }
  const Json& member(const Json& in, const std::string& key) const {
    if (!in.is_object() || !in.contains(key)) fail(key, "nothing", "this field");
    return in.at(key);
  }
  const Json& list(const Json& in, const std::string& key) const {
    const Json& out = member(in, key);
    if (!out.is_array()) fail(key, out.dump().substr(0, 40), "a list");
    return out;
  }
  std::string string(const Json& value, const std::string& key) const {
    if (!value.is_string()) fail(key, value.dump().substr(0, 40), "text");
    return value.get<std::string>();
  }
  std::string text_of(const Json& in, const std::string& key) const {
    return string(member(in, key), key);
  }
  double number(const Json& in, const std::string& key) const {
    const Json& value = member(in, key);
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      fail(key, value.dump().substr(0, 40), "a finite number");
    }
    return value.get<double>();
  }

  void read_library(const Json& library, Characterisation& c) const {
    for (const auto& f : list(library, "files")) {
      c.library.push_back({text_of(f, "name"), text_of(f, "file"), text_of(f, "sha256")});
    }
    c.voltage = number(library, "voltage_V");
    c.temperature = number(library, "temperature_C");
    c.process = number(library, "process");
  }

  void read_sources(const Json& root, Characterisation& c) const {
    for (const auto& s : list(root, "sources")) {
      c.sources.push_back({text_of(s, "key"), text_of(s, "citation"), text_of(s, "verified")});
      if (c.sources.back().citation.empty()) fail("sources", "an empty citation", "a citation");
    }
  }

  void read_events(const Json& root, Characterisation& c) const {
    std::vector<std::string> keys;
    for (const auto& s : c.sources) keys.push_back(s.key);
    for (const auto& e : list(root, "events")) {
      EnergyEvent event;
      event.name = text_of(e, "name");
      const std::string field = "events." + event.name;
      if (!e.contains("source")) fail(field, "a number without source", "a key of sources");
      event.source = text_of(e, "source");
      if (std::find(keys.begin(), keys.end(), event.source) == keys.end()) {
        fail(field, "source '" + event.source + "'", "a key of sources: " + join(keys));
      }
      event.description = text_of(e, "description");
      event.joules = number(e, "energy_J");
      c.events.push_back(std::move(event));
    }
    if (c.events.empty()) fail("events", "none", "at least one");
  }

  std::vector<WorkloadRecord> read_workloads(const Json& in) const {
    std::vector<WorkloadRecord> out;
    for (const auto& w : list(in, "workloads")) {
      WorkloadRecord r;
      r.label = text_of(w, "label");
      r.energy = number(w, "energy_per_cycle_J");
      r.per_mac = w.contains("energy_per_mac_J") ? number(w, "energy_per_mac_J") : 0.0;
      r.error = number(w, "model_error");
      r.sampling = number(w, "sampling_error");
      r.clock_share = number(w, "clock_share");
      out.push_back(std::move(r));
    }
    return out;
  }

  const std::string& file_;
};

}  // namespace

namespace {

Json json_of(const Characterisation& c) {
  Json root;
  root["format"] = kFormat;
  root["version"] = kVersion;
  root["module"] = c.module;
  root["rtl_module"] = c.rtl_module;
  root["arch"] = c.arch;
  root["parameters"] = Json::object();
  for (const auto& [name, value] : c.parameters) root["parameters"][name] = value;
  root["rtl"] = {{"files", c.rtl_files}, {"sha256", c.rtl_sha256}};
  root["netlist"] = {{"sha256", c.netlist_sha256},
                     {"cells", c.cells},
                     {"flip_flops", c.flip_flops},
                     {"area_um2", rounded(c.area)}};
  Json files = Json::array();
  for (const auto& f : c.library) {
    files.push_back({{"name", f.name}, {"file", f.file}, {"sha256", f.sha256}});
  }
  root["library"] = {{"files", files},
                     {"voltage_V", rounded(c.voltage)},
                     {"temperature_C", rounded(c.temperature)},
                     {"process", rounded(c.process)}};
  for (const auto& [name, version] : c.tools) root["tools"][name] = version;
  root["conditions"] = {{"period_s", rounded(c.period)},
                        {"critical_path_s", rounded(c.critical_path)},
                        {"wire_per_fanout_F", rounded(c.wire_per_fanout)},
                        {"clock_tree_factor", rounded(c.clock_tree_factor)},
                        {"input_slew_s", rounded(c.input_slew)},
                        {"input_delay_s", rounded(c.input_delay)},
                        {"output_load_F", rounded(c.output_load)}};
  root["leakage_W"] = rounded(c.leakage);
  Json events = Json::array();
  for (const auto& e : c.events) {
    events.push_back({{"name", e.name},
                      {"description", e.description},
                      {"energy_J", rounded(e.joules)},
                      {"source", e.source}});
  }
  root["events"] = events;
  root["fit"] = {{"cycles", c.cycles},
                 {"r2_per_cycle", rounded(c.r2)},
                 {"rms_per_cycle", rounded(c.rms)},
                 {"mean_error", rounded(c.training_mean)},
                 {"largest_error", rounded(c.training_max)},
                 {"workloads", workloads(c.training)}};
  root["held_out"] = {{"mean_error", rounded(c.held_out_mean)},
                      {"largest_error", rounded(c.held_out_max)},
                      {"worst", c.held_out_worst},
                      {"workloads", workloads(c.held_out)}};
  root["degenerate"] = {{"workloads", workloads(c.degenerate)}};
  Json bands = Json::array();
  for (const auto& b : c.bands) {
    bands.push_back(
        {{"name", b.name}, {"low", rounded(b.low)}, {"high", rounded(b.high)}, {"why", b.why}});
  }
  root["bands"] = bands;
  Json sources = Json::array();
  for (const auto& s : c.sources) {
    sources.push_back({{"key", s.key}, {"citation", s.citation}, {"verified", s.verified}});
  }
  root["sources"] = sources;
  root["command"] = c.command;
  return root;
}

// The form of a module in a file of several: lists of numbers, and of the fitted workloads only the
// idle one.
Json compact(Json m) {
  Json events = Json::array();
  for (const auto& e : m["events"]) {
    if (e["source"] != kListSource) {
      throw input_error("", 0, "events", "source " + e["source"].dump(), kListSource);
    }
    const auto name = e["name"].get<std::string>();
    const bool root = name.rfind("sqrt_", 0) == 0;
    events.push_back({e["name"], e["energy_J"]});
    if (!root) events.back().push_back(e["description"]);
  }
  m["events"] = std::move(events);
  for (const char* key : {"fit", "held_out", "degenerate"}) {
    Json workloads = Json::array();
    for (const auto& w : m[key]["workloads"]) {
      if (key == std::string("fit") && w["label"] != "idle") continue;
      workloads.push_back({w["label"], w["energy_per_cycle_J"], w["model_error"],
                           w["sampling_error"], w["clock_share"]});
      if (w.contains("energy_per_mac_J")) workloads.back().push_back(w["energy_per_mac_J"]);
    }
    m[key]["workloads"] = std::move(workloads);
  }
  return m;
}

// One line for each entry of a list, so that files of many numbers stay small and can be compared.
void write_lines(const Json& value, int indent, std::string& out) {
  const auto flat = [](const Json& v) {
    return std::all_of(v.begin(), v.end(), [](const Json& x) { return !x.is_structured(); });
  };
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  if (!value.is_structured() || value.empty() || flat(value)) {
    out += value.dump();
    return;
  }
  const bool object = value.is_object();
  out += object ? "{\n" : "[\n";
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    if (!first) out += ",\n";
    first = false;
    out += margin + " ";
    if (object) out += Json(key).dump() + ": ";
    write_lines(item, indent + 1, out);
  }
  out += "\n" + margin + (object ? "}" : "]");
}

}  // namespace

std::string to_json(const Characterisation& c) { return json_of(c).dump(1) + "\n"; }

std::string to_json(const std::vector<Characterisation>& list) {
  Json root;
  root["format"] = kListFormat;
  Json modules = Json::array();
  for (const auto& c : list) {
    Json m = json_of(c);
    for (const char* key : {"version", "arch", "library", "tools"}) {
      if (!root.contains(key)) root[key] = m[key];
      if (root[key] != m[key]) {
        throw input_error("", 0, "modules", std::string("different ") + key, "alike in one file");
      }
      m.erase(key);
    }
    m.erase("format");
    modules.push_back(compact(m));
  }
  root["modules"] = std::move(modules);
  std::string out;
  write_lines(root, 0, out);
  return out + "\n";
}

Characterisation parse_characterisation(const std::string& json, const std::string& file) {
  auto all = parse_characterisations(json, file);
  if (all.size() != 1) {
    throw input_error(file, 0, "modules", std::to_string(all.size()), "one");
  }
  return std::move(all[0]);
}

std::vector<Characterisation> parse_characterisations(const std::string& json,
                                                      const std::string& file) {
  return CharacterisationReader(file).all(json);
}

namespace {
std::string text_of_file(const std::string& path) {
  return read_text_file(path, "characterisation", "a file that 'bitcycle characterise' wrote");
}
}  // namespace

Characterisation load_characterisation(const std::string& path) {
  return parse_characterisation(text_of_file(path), path);
}

std::vector<Characterisation> load_characterisations(const std::string& path) {
  return parse_characterisations(text_of_file(path), path);
}

std::vector<Characterisation> array_characterisations(const std::string& dir,
                                                      const std::string& preset,
                                                      const std::string& technology) {
  const auto path = [&](const char* kind) {
    return fmt::format("{}/{}-{}-{}.json", dir, kind, preset, technology);
  };
  std::vector<Characterisation> out = load_characterisations(path("pe"));
  for (auto& c : load_characterisations(path("array"))) out.push_back(std::move(c));
  return out;
}

bool clock_gated(const Characterisation& c) {
  return std::any_of(c.parameters.begin(), c.parameters.end(),
                     [](const auto& p) { return p.first == "CLOCK_GATING" && p.second != 0; });
}

std::string rtl_hash(const std::string& rtl_dir, const std::vector<std::string>& files) {
  std::string text;
  for (const auto& file : files) {
    const std::string raw =
        read_text_file(fmt::format("{}/{}", rtl_dir, file), "RTL file", "a readable source file");
    text.append("\n").append(file).append("\n");
    bool blank = false;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw.compare(i, 2, "//") == 0) {
        while (i < raw.size() && raw[i] != '\n') ++i;
        blank = true;
      } else if (raw.compare(i, 2, "/*") == 0) {
        const std::size_t end = raw.find("*/", i + 2);
        i = end == std::string::npos ? raw.size() : end + 1;
        blank = true;
      } else if (std::isspace(static_cast<unsigned char>(raw[i])) != 0) {
        blank = true;
      } else {
        if (blank) text += ' ';
        blank = false;
        text += raw[i];
      }
    }
  }
  return sha256_hex(text);
}

std::string stale_warning(const Characterisation& c, const std::string& rtl_dir) {
  std::string now;
  try {
    now = rtl_hash(rtl_dir, c.rtl_files);
  } catch (const InputError&) {
    return fmt::format("{} was characterised from RTL that is not here", c.rtl_module);
  }
  if (now == c.rtl_sha256) return "";
  return fmt::format("{} has changed since it was characterised; make its energy again with: {}",
                     c.rtl_module, c.command);
}

}  // namespace bitcycle
