#include "model/gates/liberty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "golden/error.hpp"
#include "model/gates/liberty_clock_gate.hpp"

namespace bitcycle {
namespace {

using Axis = LibertyTable::Axis;

constexpr std::size_t kMostValues = 1U << 20;

struct Template {
  std::vector<Axis> axes;
  std::vector<std::vector<double>> points;  // in SI where the axis has a unit
  bool power = false;
};

// Reads one file into a library.
class Reader {
 public:
  Reader(const LibertyFile& file, LibertyLibrary& out)
      : file_(file), root_(file.library()), out_(out) {}

  void run() {
    LibertySource source;
    source.name = root_.names.empty() ? "unnamed" : std::string(root_.names[0]);
    source.file = std::filesystem::path(file_.path()).filename().string();
    source.sha256 = file_.sha256();
    units();
    conditions();
    for (const auto& group : root_.groups) {
      if (group.type == "lu_table_template" || group.type == "power_lut_template") {
        table_template(group);
      } else if (group.type == "type") {
        const auto* width = group.find("bit_width");
        if (width != nullptr && !group.names.empty()) {
          const double bits = number(width->values[0], width->line, "bit_width");
          if (!(bits >= 1 && bits <= 65536)) {
            fail(width->line, "bit_width", std::string(width->values[0]), "1 to 65536");
          }
          widths_[std::string(group.names[0])] = static_cast<int>(bits);
        }
      }
    }
    for (const auto& group : root_.groups) {
      if (group.type == "cell" || group.type == "scaled_cell") cell(group);
    }
    out_.sources.push_back(std::move(source));
  }

 private:
  [[noreturn]] void fail(int line, const std::string& field, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(file_.path(), line, field, found, allowed);
  }

  double number(std::string_view text, int line, const std::string& field) const {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
      text.remove_prefix(1);
    }
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
      text.remove_suffix(1);
    }
    if (!text.empty() && text[0] == '+') text.remove_prefix(1);
    double value = 0.0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
      fail(line, field, "'" + std::string(text.substr(0, 40)) + "'", "a finite number");
    }
    return value;
  }
  double number_of(const LibertyGroup& group, std::string_view name, double otherwise) const {
    const auto* a = group.find(name);
    return a == nullptr || a->values.empty() ? otherwise
                                             : number(a->values[0], a->line, std::string(name));
  }
  static bool truth(std::string_view text) { return text == "true" || text == "1"; }

  // "1ns", "100ps", "1uW".
  double unit(std::string_view name, char base, double otherwise) const {
    const auto* a = root_.find(name);
    if (a == nullptr || a->values.empty()) return otherwise;
    const std::string_view text = a->values[0];
    std::size_t split = 0;
    while (split < text.size() && (std::isdigit(static_cast<unsigned char>(text[split])) != 0 ||
                                   text[split] == '.' || text[split] == ' ')) {
      ++split;
    }
    const double value = number(text.substr(0, split), a->line, std::string(name));
    return value * scale(text.substr(split), base, a->line, std::string(name));
  }
  double scale(std::string_view suffix, char base, int line, const std::string& field) const {
    const auto lower = [](char c) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    };
    if (!suffix.empty() && suffix.size() <= 2 && lower(suffix.back()) == lower(base)) {
      if (suffix.size() == 1) return 1.0;
      switch (suffix[0]) {
        case 'm':
          return 1e-3;
        case 'u':
          return 1e-6;
        case 'n':
          return 1e-9;
        case 'p':
          return 1e-12;
        case 'f':
          return 1e-15;
        case 'a':
          return 1e-18;
        default:
          break;
      }
    }
    fail(line, field, "unit '" + std::string(suffix) + "'",
         fmt::format("{0} with m, u, n, p, f or a before it", base));
  }

  void units() {
    time_ = unit("time_unit", 's', 1e-9);
    voltage_ = unit("voltage_unit", 'V', 1.0);
    watt_ = unit("leakage_power_unit", 'W', 1e-9);
    const auto* cap = root_.find("capacitive_load_unit");
    if (cap == nullptr || cap->values.size() != 2) {
      fail(root_.line, "capacitive_load_unit", cap == nullptr ? "nothing" : "no pair",
           "a pair such as (1, pf)");
    }
    farad_ = number(cap->values[0], cap->line, "capacitive_load_unit") *
             scale(cap->values[1], 'f', cap->line, "capacitive_load_unit");
    if (!(time_ > 0 && voltage_ > 0 && farad_ > 0 && watt_ > 0)) {
      fail(root_.line, "units", "a unit of 0", "units above 0");
    }
    // The energy unit of internal_power tables.
    joule_ = farad_ * voltage_ * voltage_;
  }

  void conditions() {
    const double v = number_of(root_, "nom_voltage", 0.0) * voltage_;
    const double t = number_of(root_, "nom_temperature", 25.0);
    if (!(v > 0)) fail(root_.line, "nom_voltage", fmt::format("{}", v), "a voltage above 0");
    if (!out_.sources.empty() && (v != out_.voltage || t != out_.temperature)) {
      fail(root_.line, "nom_voltage, nom_temperature", fmt::format("{} V, {} C", v, t),
           fmt::format("those of {}: {} V, {} C", out_.sources[0].file, out_.voltage,
                       out_.temperature));
    }
    out_.voltage = v;
    out_.temperature = t;
    out_.process = number_of(root_, "nom_process", 1.0);
  }

  static Axis axis_of(std::string_view variable) {
    if (variable == "input_net_transition" || variable == "input_transition_time") {
      return Axis::kSlew;
    }
    if (variable == "total_output_net_capacitance" ||
        variable == "equal_or_opposite_output_net_capacitance") {
      return Axis::kLoad;
    }
    return Axis::kOther;
  }
  double axis_scale(Axis axis) const {
    return axis == Axis::kSlew ? time_ : axis == Axis::kLoad ? farad_ : 1.0;
  }

  std::vector<double> numbers(const LibertyAttribute& a, double factor) const {
    std::vector<double> out;
    for (auto text : a.values) {
      while (!text.empty()) {
        // Values are separated by commas, white space or both; '\' continues a line.
        const std::size_t from = text.find_first_not_of(", \t\r\n\\");
        if (from == std::string_view::npos) break;
        text.remove_prefix(from);
        const std::size_t to = std::min(text.find_first_of(", \t\r\n\\"), text.size());
        if (out.size() >= kMostValues) fail(a.line, std::string(a.name), "more", "2^20 values");
        out.push_back(number(text.substr(0, to), a.line, std::string(a.name)) * factor);
        text.remove_prefix(to);
      }
    }
    return out;
  }

  std::vector<double> axis_points(const LibertyAttribute& a, double factor) const {
    auto out = numbers(a, factor);
    for (std::size_t i = 1; i < out.size(); ++i) {
      if (!(out[i] > out[i - 1])) {
        fail(a.line, std::string(a.name), "values that do not increase", "increasing values");
      }
    }
    if (out.empty()) fail(a.line, std::string(a.name), "no value", "increasing values");
    return out;
  }

  void table_template(const LibertyGroup& group) {
    if (group.names.empty()) return;
    Template t;
    for (int i = 1; i <= 3; ++i) {
      const auto* variable = group.find(fmt::format("variable_{}", i));
      if (variable == nullptr) break;
      t.axes.push_back(axis_of(variable->values.empty() ? "" : variable->values[0]));
      const auto* index = group.find(fmt::format("index_{}", i));
      t.points.push_back(index == nullptr ? std::vector<double>{}
                                          : axis_points(*index, axis_scale(t.axes.back())));
    }
    templates_[std::string(group.names[0])] = std::move(t);
  }

  LibertyTable table(const LibertyGroup& group, double factor) const {
    LibertyTable out;
    const auto* values = group.find("values");
    if (values == nullptr) fail(group.line, std::string(group.type), "no values", "values (...)");
    out.values = numbers(*values, factor);
    const std::string name = group.names.empty() ? "scalar" : std::string(group.names[0]);
    std::size_t expected = 1;
    if (name != "scalar") {
      const auto it = templates_.find(name);
      if (it == templates_.end()) {
        fail(group.line, std::string(group.type), "template '" + name + "'",
             "a template that the library defines");
      }
      out.axes = it->second.axes;
      out.points = it->second.points;
      for (std::size_t i = 0; i < out.axes.size(); ++i) {
        if (const auto* index = group.find(fmt::format("index_{}", i + 1))) {
          out.points[i] = axis_points(*index, axis_scale(out.axes[i]));
        }
        if (out.points[i].empty()) {
          fail(group.line, std::string(group.type), fmt::format("no index_{}", i + 1),
               "one in the table or its template");
        }
        expected *= out.points[i].size();
      }
      // A single value under a template of more stands for a constant.
      if (out.values.size() == 1) {
        out.axes.clear();
        out.points.clear();
        expected = 1;
      }
    }
    if (out.values.size() != expected) {
      fail(values->line, "values", fmt::format("{} numbers", out.values.size()),
           fmt::format("{}", expected));
    }
    return out;
  }

  static std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> out;
    std::string word;
    for (const char c : text) {
      if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == ',') {
        if (!word.empty()) out.push_back(std::move(word));
        word.clear();
      } else {
        word += c;
      }
    }
    if (!word.empty()) out.push_back(std::move(word));
    return out;
  }

  std::optional<BoolExpr> expression(const LibertyGroup& group, std::string_view name) const {
    const auto* a = group.find(name);
    if (a == nullptr || a->values.empty()) return std::nullopt;
    return BoolExpr::parse(a->values[0], file_.path(), a->line, std::string(name));
  }

  LibertyTiming timing(const LibertyGroup& group) const {
    LibertyTiming t;
    t.line = group.line;
    t.related = words(group.text("related_pin"));
    t.type = group.text("timing_type");
    t.sense = group.text("timing_sense");
    // Constraints and pulse widths are not used: only what makes an output move.
    if (group.groups.empty()) return t;
    for (const auto& g : group.groups) {
      LibertyTable* into = g.type == "cell_rise"         ? &t.cell_rise
                           : g.type == "cell_fall"       ? &t.cell_fall
                           : g.type == "rise_transition" ? &t.rise_transition
                           : g.type == "fall_transition" ? &t.fall_transition
                                                         : nullptr;
      if (into != nullptr) *into = table(g, time_);
    }
    t.when = expression(group, "when");
    return t;
  }

  LibertyPower power(const LibertyGroup& group) const {
    LibertyPower p;
    p.line = group.line;
    p.related = words(group.text("related_pin"));
    p.pg_pin = group.text("related_pg_pin");
    p.when = expression(group, "when");
    for (const auto& g : group.groups) {
      if (g.type == "rise_power") p.rise = table(g, joule_);
      if (g.type == "fall_power") p.fall = table(g, joule_);
      if (g.type == "power") p.rise = p.fall = table(g, joule_);
    }
    return p;
  }

  static bool is_arc(const LibertyTiming& t) {
    return !t.cell_rise.empty() || !t.cell_fall.empty() || !t.rise_transition.empty() ||
           !t.fall_transition.empty();
  }

  // What a pin group says, laid over what is already known (a bus passes its own to its members).
  void pin_body(const LibertyGroup& group, LibertyPin& pin) const {
    if (const auto* a = group.find("direction")) {
      const auto text = a->values.empty() ? std::string_view{} : a->values[0];
      if (text == "input") {
        pin.direction = PinDirection::kInput;
      } else if (text == "output") {
        pin.direction = PinDirection::kOutput;
      } else if (text == "inout") {
        pin.direction = PinDirection::kInout;
      } else if (text == "internal") {
        pin.direction = PinDirection::kInternal;
      } else {
        fail(a->line, "direction", "'" + std::string(text) + "'",
             "input, output, inout or internal");
      }
    }
    const auto cap = [&](const char* name, double otherwise) {
      const auto* a = group.find(name);
      if (a == nullptr || a->values.empty()) return otherwise;
      const double value = number(a->values[0], a->line, name) * farad_;
      if (value < 0) fail(a->line, name, std::string(a->values[0]), "0 or more");
      return value;
    };
    pin.capacitance = cap("capacitance", pin.capacitance);
    pin.rise_capacitance =
        cap("rise_capacitance", pin.rise_capacitance > 0 ? pin.rise_capacitance : pin.capacitance);
    pin.fall_capacitance =
        cap("fall_capacitance", pin.fall_capacitance > 0 ? pin.fall_capacitance : pin.capacitance);
    pin.max_capacitance = cap("max_capacitance", pin.max_capacitance);
    if (group.find("clock") != nullptr) pin.clock = truth(group.text("clock"));
    pin.gate_clock = pin.gate_clock || truth(group.text("clock_gate_clock_pin"));
    pin.gate_enable = pin.gate_enable || truth(group.text("clock_gate_enable_pin"));
    pin.gate_test = pin.gate_test || truth(group.text("clock_gate_test_pin"));
    pin.gate_out = pin.gate_out || truth(group.text("clock_gate_out_pin"));
    if (auto f = expression(group, "function")) pin.function = std::move(f);
    if (auto f = expression(group, "three_state")) pin.three_state = std::move(f);
    for (const auto& g : group.groups) {
      if (g.type == "timing") {
        auto t = timing(g);
        if (is_arc(t)) pin.timing.push_back(std::move(t));
      } else if (g.type == "internal_power") {
        pin.power.push_back(power(g));
      }
    }
  }

  // Named pins of a cell or bus; pins whose name is a range or a member of `bus` belong to it.
  void pins(const LibertyGroup& group, LibertyCell& cell, LibertyPin* bus) {
    for (const auto& g : group.groups) {
      if (g.type == "pin") {
        for (const auto name_view : g.names) {
          const std::string name(name_view);
          if (bus != nullptr && name.compare(0, bus->name.size(), bus->name) == 0) {
            pin_body(g, *bus);
            continue;
          }
          LibertyPin pin;
          pin.name = name;
          pin_body(g, pin);
          const auto same = std::find_if(cell.pins.begin(), cell.pins.end(),
                                         [&](const LibertyPin& p) { return p.name == name; });
          if (same != cell.pins.end()) fail(g.line, "pin", name + " twice", "each pin once");
          cell.pins.push_back(std::move(pin));
        }
      } else if (g.type == "bus" || g.type == "bundle") {
        LibertyPin pin;
        pin.name = g.names.empty() ? "" : std::string(g.names[0]);
        const auto width = widths_.find(std::string(g.text("bus_type")));
        pin.width = width == widths_.end() ? 1 : width->second;
        if (const auto* members = g.find("members")) {
          pin.width = static_cast<int>(std::max<std::size_t>(1, members->values.size()));
        }
        pin_body(g, pin);
        pins(g, cell, &pin);
        cell.pins.push_back(std::move(pin));
      }
    }
  }

  LibertySequential sequential(const LibertyGroup& group) const {
    LibertySequential s;
    s.latch = group.type == "latch" || group.type == "latch_bank";
    if (!group.names.empty()) s.var = group.names[0];
    if (group.names.size() > 1) s.var_n = group.names[1];
    s.data = expression(group, s.latch ? "data_in" : "next_state");
    s.clock = expression(group, s.latch ? "enable" : "clocked_on");
    s.clear = expression(group, "clear");
    s.preset = expression(group, "preset");
    s.both_1 = group.text("clear_preset_var1");
    s.both_2 = group.text("clear_preset_var2");
    return s;
  }

  void cell(const LibertyGroup& group) {
    LibertyCell c;
    if (group.names.empty()) fail(group.line, "cell", "no name", "cell (NAME)");
    c.name = group.names[0];
    c.file = file_.path();
    c.line = group.line;
    c.area = number_of(group, "area", 0.0);
    if (c.area < 0) fail(group.line, "area", fmt::format("{}", c.area), "0 or more");
    c.dont_use = truth(group.text("dont_use"));
    c.has_cell_leakage = group.find("cell_leakage_power") != nullptr;
    c.cell_leakage = number_of(group, "cell_leakage_power",
                               number_of(root_, "default_cell_leakage_power", 0.0)) *
                     watt_;
    for (const auto& g : group.groups) {
      if (g.type == "leakage_power") {
        LibertyLeakage leak;
        leak.pg_pin = g.text("related_pg_pin");
        leak.when = expression(g, "when");
        leak.watts = number_of(g, "value", 0.0) * watt_;
        c.leakage.push_back(std::move(leak));
      } else if (g.type == "ff" || g.type == "latch" || g.type == "ff_bank" ||
                 g.type == "latch_bank") {
        c.sequential = sequential(g);
      } else if (g.type == "memory") {
        c.memory = true;
      } else if (g.type == "statetable") {
        c.statetable = true;
      }
    }
    pins(group, c, nullptr);
    make_clock_gate(c, std::string(group.text("clock_gating_integrated_cell")));
    const int line = group.line;
    const std::string name = c.name;
    const auto [it, fresh] = out_.cells.emplace(name, std::move(c));
    if (!fresh) {
      fail(line, "cell", name + " again",
           fmt::format("each cell once (first: {}:{})", it->second.file, it->second.line));
    }
  }

  const LibertyFile& file_;
  const LibertyGroup& root_;
  LibertyLibrary& out_;
  double time_ = 1e-9, voltage_ = 1.0, watt_ = 1e-9, farad_ = 1e-12, joule_ = 1e-12;
  std::map<std::string, Template> templates_;
  std::map<std::string, int> widths_;
};

}  // namespace

const LibertyPin* LibertyCell::pin(const std::string& pin_name) const {
  for (const auto& p : pins) {
    if (p.name == pin_name) return &p;
  }
  return nullptr;
}

double LibertyCell::mean_leakage() const {
  if (has_cell_leakage || leakage.empty()) return cell_leakage;
  struct Sum {
    double plain = 0.0, sum = 0.0;
    int plains = 0, count = 0;
  };
  std::map<std::string, Sum> by_pg;
  for (const auto& l : leakage) {
    Sum& s = by_pg[l.pg_pin];
    (l.when ? s.sum : s.plain) += l.watts;
    ++(l.when ? s.count : s.plains);
  }
  double total = 0.0;
  for (const auto& [pg, s] : by_pg) {
    total += s.plains > 0 ? s.plain / s.plains : s.sum / std::max(1, s.count);
  }
  return total;
}

const LibertyCell& LibertyLibrary::cell(const std::string& name) const {
  const auto it = cells.find(name);
  if (it != cells.end()) return it->second;
  std::vector<std::string> known;
  for (const auto& [key, value] : cells) known.push_back(key);
  throw input_error("", 0, "cell", "'" + name + "'" + suggestion(name, known),
                    "a cell of " + title());
}

std::string LibertyLibrary::title() const {
  if (sources.empty()) return "an empty library";
  return sources.size() == 1 ? sources[0].name
                             : fmt::format("{} (+{})", sources[0].name, sources.size() - 1);
}

LibertyLibrary make_liberty(const std::vector<LibertyFile>& files) {
  if (files.empty()) throw input_error("", 0, "--liberty", "no file", "at least one Liberty file");
  LibertyLibrary out;
  for (const auto& file : files) Reader(file, out).run();
  if (out.cells.empty()) {
    throw input_error(files[0].path(), 0, "library", "no cell", "a library with cells");
  }
  return out;
}

LibertyLibrary load_liberty(const std::vector<std::string>& paths) {
  std::vector<LibertyFile> files;
  files.reserve(paths.size());
  for (const auto& path : paths) files.push_back(LibertyFile::read(path));
  return make_liberty(files);
}

}  // namespace bitcycle
