#include <fmt/format.h>

#include <iterator>
#include <set>

#include "model/gates/liberty.hpp"

namespace bitcycle {
namespace {

using Axis = LibertyTable::Axis;

constexpr double kNs = 1e9;
constexpr double kPf = 1e12;

using Out = std::back_insert_iterator<std::string>;

bool plain_table(const LibertyTable& t) {
  for (const Axis a : t.axes) {
    if (a == Axis::kOther) return false;
  }
  return !t.empty() && t.axes.size() <= 2;
}

std::string template_name(const LibertyTable& t) {
  if (t.axes.empty()) return "scalar";
  std::string name = "t";
  for (std::size_t i = 0; i < t.axes.size(); ++i) {
    name += fmt::format("_{}{}", t.axes[i] == Axis::kSlew ? "slew" : "load", t.points[i].size());
  }
  return name;
}

void write_list(Out out, const std::vector<double>& values, double scale) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    fmt::format_to(out, "{}{:.9g}", i > 0 ? ", " : "", values[i] * scale);
  }
}

void write_table(Out out, const char* type, const LibertyTable& t) {
  if (!plain_table(t)) return;
  fmt::format_to(out, "        {} ({}) {{\n", type, template_name(t));
  for (std::size_t i = 0; i < t.axes.size(); ++i) {
    fmt::format_to(out, "          index_{} (\"", i + 1);
    write_list(out, t.points[i], t.axes[i] == Axis::kSlew ? kNs : kPf);
    fmt::format_to(out, "\");\n");
  }
  fmt::format_to(out, "          values (");
  const std::size_t columns = t.axes.empty() ? 1 : t.points.back().size();
  for (std::size_t row = 0; row * columns < t.values.size(); ++row) {
    fmt::format_to(out, "{}\"", row > 0 ? ", " : "");
    const auto from = t.values.begin() + static_cast<std::ptrdiff_t>(row * columns);
    write_list(out, {from, from + static_cast<std::ptrdiff_t>(columns)}, kNs);
    fmt::format_to(out, "\"");
  }
  fmt::format_to(out, ");\n        }}\n");
}

void write_timing(Out out, const LibertyTiming& t) {
  if (t.cell_rise.empty() && t.cell_fall.empty()) return;
  fmt::format_to(out, "      timing () {{\n        related_pin : \"");
  for (std::size_t i = 0; i < t.related.size(); ++i) {
    fmt::format_to(out, "{}{}", i > 0 ? " " : "", t.related[i]);
  }
  fmt::format_to(out, "\";\n");
  if (!t.sense.empty()) fmt::format_to(out, "        timing_sense : {};\n", t.sense);
  if (!t.type.empty()) fmt::format_to(out, "        timing_type : {};\n", t.type);
  write_table(out, "cell_rise", t.cell_rise);
  write_table(out, "rise_transition", t.rise_transition);
  write_table(out, "cell_fall", t.cell_fall);
  write_table(out, "fall_transition", t.fall_transition);
  fmt::format_to(out, "      }}\n");
}

bool usable(const LibertyCell& c) {
  if (c.memory || c.statetable || c.dont_use || c.clock_gate) return false;
  bool output = false;
  for (const auto& p : c.pins) {
    if (p.width != 1 || p.three_state || p.direction == PinDirection::kInout) return false;
    if (p.direction == PinDirection::kOutput) {
      if (!p.function) return false;
      output = true;
    }
  }
  return output;
}

void write_sequential(Out out, const LibertySequential& s) {
  fmt::format_to(out, "    {} ({}, {}) {{\n", s.latch ? "latch" : "ff", s.var, s.var_n);
  const auto line = [&](const char* key, const std::optional<BoolExpr>& e) {
    if (e) fmt::format_to(out, "      {} : \"{}\";\n", key, e->text());
  };
  line(s.latch ? "data_in" : "next_state", s.data);
  line(s.latch ? "enable" : "clocked_on", s.clock);
  // yosys 0.23 maps a flip-flop that stores the complement of D with an inverter at its output but
  // takes set and reset as they stand: reset would set.
  const bool inverts = !s.latch && s.data && s.data->eval(0);
  line("clear", inverts ? s.preset : s.clear);
  line("preset", inverts ? s.clear : s.preset);
  if (!s.both_1.empty()) fmt::format_to(out, "      clear_preset_var1 : {};\n", s.both_1);
  if (!s.both_2.empty()) fmt::format_to(out, "      clear_preset_var2 : {};\n", s.both_2);
  fmt::format_to(out, "    }}\n");
}

}  // namespace

std::string liberty_for_synthesis(const LibertyLibrary& library) {
  std::string cells;
  const Out out(cells);
  std::set<std::string> names;
  std::string templates;
  for (const auto& [name, cell] : library.cells) {
    if (!usable(cell)) continue;
    fmt::format_to(out, "  cell ({}) {{\n    area : {:.9g};\n", name, cell.area);
    if (cell.sequential) write_sequential(out, *cell.sequential);
    for (const auto& pin : cell.pins) {
      if (pin.direction == PinDirection::kInternal) continue;
      const bool output = pin.direction == PinDirection::kOutput;
      fmt::format_to(out, "    pin ({}) {{\n      direction : {};\n", pin.name,
                     output ? "output" : "input");
      if (!output) fmt::format_to(out, "      capacitance : {:.9g};\n", pin.capacitance * kPf);
      if (pin.clock) fmt::format_to(out, "      clock : true;\n");
      if (pin.max_capacitance > 0) {
        fmt::format_to(out, "      max_capacitance : {:.9g};\n", pin.max_capacitance * kPf);
      }
      if (pin.function) fmt::format_to(out, "      function : \"{}\";\n", pin.function->text());
      std::set<std::string> seen;
      for (const auto& t : pin.timing) {
        // One arc an input is enough for mapping; dialects differ most in the state-dependent ones.
        std::string key = t.type + "/" + t.sense;
        for (const auto& r : t.related) key += "/" + r;
        if (!seen.insert(key).second) continue;
        write_timing(out, t);
        for (const auto* table :
             {&t.cell_rise, &t.cell_fall, &t.rise_transition, &t.fall_transition}) {
          if (!plain_table(*table) || table->axes.empty()) continue;
          const std::string id = template_name(*table);
          if (!names.insert(id).second) continue;
          templates += fmt::format("  lu_table_template ({}) {{\n", id);
          for (std::size_t i = 0; i < table->axes.size(); ++i) {
            const bool slew = table->axes[i] == Axis::kSlew;
            templates +=
                fmt::format("    variable_{} : {};\n", i + 1,
                            slew ? "input_net_transition" : "total_output_net_capacitance");
            templates += fmt::format("    index_{} (\"", i + 1);
            write_list(Out(templates), table->points[i], slew ? kNs : kPf);
            templates += "\");\n";
          }
          templates += "  }\n";
        }
      }
      fmt::format_to(out, "    }}\n");
    }
    fmt::format_to(out, "  }}\n");
  }
  return "library (merged) {\n"
         "  delay_model : table_lookup;\n"
         "  time_unit : \"1ns\";\n"
         "  voltage_unit : \"1V\";\n"
         "  current_unit : \"1mA\";\n"
         "  leakage_power_unit : \"1nW\";\n"
         "  capacitive_load_unit (1, pf);\n" +
         templates + cells + "}\n";
}

}  // namespace bitcycle
