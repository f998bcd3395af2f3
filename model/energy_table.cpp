// Reads energy tables: strict, because a constant that was mistyped or lost its source is worse
// than none.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "golden/error.hpp"
#include "golden/text_file.hpp"
#include "golden/yaml_text.hpp"
#include "model/energy.hpp"

namespace bitcycle {
namespace {

const std::vector<std::string> kTopKeys = {
    "name",         "label",  "node", "voltage", "uncertainty_factor", "operand_buffer_kb",
    "ranks_arrays", "entries"};
const std::vector<std::string> kEntryKeys = {
    "value", "unit", "per", "per_unit", "node", "conditions", "source", "confirmed", "text"};
const std::vector<std::string> kEventKeys = {"digit_product", "adder_bit", "register_bit", "dram"};
const char* const kFp32 = "fp32_op";  // optional: vector work is not covered without it
const std::vector<std::string> kUnits = {"fJ", "pJ", "nJ"};

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

// Reading one map: every key once, all known, scalars only where scalars belong.
class MapReader {
 public:
  MapReader(const YAML::Node& map, std::string file, const std::string& what)
      : map_(map), file_(std::move(file)), what_(what) {
    if (!map.IsMap()) fail(line_of(map), what, "no map", "a map of keys and values");
    for (const auto& item : map) {
      if (!item.first.IsScalar()) fail(line_of(item.first), what, "a key that is no word", "words");
      const std::string key = item.first.Scalar();
      if (!nodes_.emplace(key, item.second).second) {
        fail(line_of(item.first), field(key), "the key twice", "each key once");
      }
      key_lines_[key] = line_of(item.first);
    }
  }

  void only(const std::vector<std::string>& known) const {
    for (const auto& [key, line] : key_lines_) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        fail(line, what_, "unknown key '" + key + "'" + suggestion(key, known), join(known));
      }
    }
  }

  bool has(const std::string& key) const { return nodes_.count(key) != 0; }
  int line(const std::string& key) const { return key_lines_.at(key); }
  std::vector<std::string> keys() const {
    std::vector<std::string> out;
    for (const auto& item : map_) out.push_back(item.first.Scalar());
    return out;
  }

  const YAML::Node& node(const std::string& key) const {
    const auto found = nodes_.find(key);
    if (found == nodes_.end()) fail(line_of(map_), what_, "no '" + key + "'", "'" + key + ": ...'");
    return found->second;
  }

  std::string text(const std::string& key) const {
    const YAML::Node& value = node(key);
    if (!value.IsScalar() || value.Scalar().empty()) {
      fail(line(key), field(key), "no text", "a text that is not empty");
    }
    return value.Scalar();
  }

  double number(const std::string& key, bool zero_allowed = false) const {
    const std::string raw = text(key);
    double out = 0.0;
    if (!read_decimal(raw, out) || (out == 0.0 && !zero_allowed)) {
      fail(line(key), field(key), "'" + raw + "'",
           zero_allowed ? "a finite decimal number, 0 or more" : "a finite decimal number above 0");
    }
    return out;
  }

  bool flag(const std::string& key) const {
    bool out = false;
    if (!YAML::convert<bool>::decode(node(key), out)) {
      fail(line(key), field(key), "'" + text(key) + "'", "true or false");
    }
    return out;
  }

  std::string field(const std::string& key) const { return what_ + "." + key; }

  [[noreturn]] void fail(int line, const std::string& field, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(file_, line, field, found, allowed);
  }

 private:
  YAML::Node map_;
  std::string file_;
  std::string what_;
  std::map<std::string, YAML::Node> nodes_;
  std::map<std::string, int> key_lines_;
};

// Size of "sram_<N>kb", or 0 if the key is not one.
double sram_kilobytes(const std::string& key) {
  constexpr std::string_view kHead = "sram_";
  constexpr std::string_view kTail = "kb";
  if (key.size() <= kHead.size() + kTail.size() || key.compare(0, kHead.size(), kHead) != 0 ||
      key.compare(key.size() - kTail.size(), kTail.size(), kTail) != 0) {
    return 0.0;
  }
  const std::string digits = key.substr(kHead.size(), key.size() - kHead.size() - kTail.size());
  if (digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos) return 0.0;
  return std::stod(digits);
}

EnergyEntry read_entry(const std::string& key, const YAML::Node& node, const std::string& file) {
  const MapReader map(node, file, key);
  map.only(kEntryKeys);
  EnergyEntry e;
  e.key = key;
  // SRAM energies are interpolated over their logarithm, so they cannot be 0.
  e.value = map.number("value", sram_kilobytes(key) == 0.0);
  e.unit = map.text("unit");
  if (std::find(kUnits.begin(), kUnits.end(), e.unit) == kUnits.end()) {
    map.fail(map.line("unit"), key + ".unit", "'" + e.unit + "'" + suggestion(e.unit, kUnits),
             join(kUnits));
  }
  e.per = map.number("per");
  e.per_unit = map.text("per_unit");
  e.node = map.text("node");
  e.conditions = map.text("conditions");
  e.source = map.text("source");
  e.text = map.text("text");
  if (map.has("confirmed")) e.confirmed = map.text("confirmed");
  // Each number may be finite and their quotient not: infinities would reach the report.
  const double joules = e.joules();
  if (joules != 0.0 && !(joules >= 1e-24 && joules <= 1.0)) {
    std::ostringstream found;
    found << joules << " J per event";
    map.fail(map.line("value"), key, found.str(), "0, or 1e-24 to 1 J per event");
  }
  return e;
}

// Power law between the two neighbouring sizes; published SRAM energies are close to one.
double interpolate_sram(const std::map<double, double>& sizes, double kilobytes,
                        const MapReader& top) {
  const auto above = sizes.lower_bound(kilobytes);
  if (above != sizes.end() && above->first == kilobytes) return above->second;
  if (above == sizes.end() || above == sizes.begin()) {
    std::ostringstream allowed;
    allowed << sizes.begin()->first << " to " << sizes.rbegin()->first
            << " (the sizes of the sram_ entries)";
    top.fail(top.line("operand_buffer_kb"), "operand_buffer_kb", top.text("operand_buffer_kb"),
             allowed.str());
  }
  const auto below = std::prev(above);
  const double at = std::log(kilobytes / below->first) / std::log(above->first / below->first);
  return below->second * std::pow(above->second / below->second, at);
}

}  // namespace

EnergyTable parse_energy_table(const std::string& yaml, const std::string& file) {
  const YAML::Node root = load_yaml(yaml, file);
  const MapReader top(root, file, "energy table");
  top.only(kTopKeys);
  EnergyTable table;
  table.name = top.text("name");
  table.label = top.text("label");
  table.node = top.text("node");
  table.voltage = top.text("voltage");
  table.uncertainty_factor = top.number("uncertainty_factor");
  if (table.uncertainty_factor < 1.0 || table.uncertainty_factor > 1000.0) {
    top.fail(top.line("uncertainty_factor"), "uncertainty_factor", top.text("uncertainty_factor"),
             "1 or more, up to 1000");
  }
  table.operand_buffer_kb = top.number("operand_buffer_kb");
  table.ranks_arrays = top.flag("ranks_arrays");

  const MapReader entries(top.node("entries"), file, "entries");
  std::vector<std::string> allowed = kEventKeys;
  allowed.emplace_back("sram_<N>kb");
  allowed.emplace_back(kFp32);
  std::map<std::string, double> joules;
  std::map<double, double> sram;
  for (const auto& key : entries.keys()) {
    const double kilobytes = sram_kilobytes(key);
    if (kilobytes == 0.0 && key != kFp32 &&
        std::find(kEventKeys.begin(), kEventKeys.end(), key) == kEventKeys.end()) {
      entries.fail(entries.line(key), "entries",
                   "unknown key '" + key + "'" + suggestion(key, allowed), join(allowed));
    }
    const EnergyEntry entry = read_entry(key, entries.node(key), file);
    if (kilobytes > 0.0) {
      if (!sram.emplace(kilobytes, entry.joules()).second) {
        entries.fail(entries.line(key), "entries", "two entries for one SRAM size", "each once");
      }
    } else {
      joules[key] = entry.joules();
    }
    table.entries.push_back(entry);
  }
  for (const auto& key : kEventKeys) entries.node(key);
  if (sram.empty()) {
    entries.fail(top.line("entries"), "entries", "no sram_<N>kb", "at least one sram_<N>kb");
  }
  if (joules["digit_product"] + joules["adder_bit"] + joules["register_bit"] <= 0.0) {
    entries.fail(top.line("entries"), "entries", "no energy in the array",
                 "digit_product, adder_bit or register_bit above 0");
  }
  table.digit_product_j = joules["digit_product"];
  table.adder_bit_j = joules["adder_bit"];
  table.register_bit_j = joules["register_bit"];
  table.dram_bit_j = joules["dram"];
  if (joules.count(kFp32) != 0) table.fp32_op_j = joules[kFp32];
  table.buffer_bit_j = interpolate_sram(sram, table.operand_buffer_kb, top);
  return table;
}

EnergyTable load_energy_table(const std::string& path) {
  return parse_energy_table(read_text_file(path, "energy table", "a readable YAML file"), path);
}

}  // namespace bitcycle
