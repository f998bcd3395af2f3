#include "sim/cmd_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/compare.hpp"
#include "sim/plot.hpp"
#include "sim/table.hpp"
#include "workloads/schedule_export.hpp"

namespace bitcycle {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostIterations = std::uint64_t{1} << 53;
constexpr std::size_t kBarWidth = 40;

po::options_description describe() {
  po::options_description out("Options of schedule", 100, 60);
  const auto text = [](const char* value) {
    return po::value<std::string>()->default_value(value);
  };
  auto add = out.add_options();
  add("help,h", "this text");
  add("name", po::value<std::string>(), "a schedule, or all (the word after the command)");
  add("bits", text("3:8"), "forward bits, such as 3:8; also 3:8/8 and 3:6/6:8 (with gradients)");
  add("grad-bits", text("8"), "gradient bits where --bits has none: 8 or 6:8");
  add("cycles", text("8"), "cycles n");
  add("cycle-length", text("floor"), "iterations of a cycle: floor (of N/n) or floor+1");
  add("iterations", text("64000"), "training iterations N");
  add("csv", po::value<std::string>(),
      "write iteration,bits,grad_bits at each change into this file, - for standard output");
  add("json", po::value<std::string>(),
      "write the summary as JSON into this file, - for standard output");
  add("plot", po::value<std::string>(), "draw into this .svg or .pdf file (needs gnuplot)");
  return out;
}

std::string usage() {
  std::ostringstream out;
  out << "bitcycle schedule: what a precision schedule is and what BitOps say it saves\n\n"
      << describe() << "\nExamples:\n"
      << "  bitcycle schedule CR --bits 3:8 --cycles 8 --iterations 64000\n"
      << "  bitcycle schedule all --bits 3:8/8\n\nschedules: " << join(schedule_names()) << "\n";
  return out.str();
}

std::vector<ScheduleSpec> specs_from(const po::variables_map& values) {
  const auto text = [&](const char* name) { return text_of(values, name); };
  const std::string name = text("name");
  if (name.empty())
    throw input_error("", 0, "schedule", "no name", join(schedule_names()) + ", all");
  std::vector<std::string> known = schedule_names();
  known.emplace_back("all");
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw input_error("", 0, "schedule", "'" + name + "'" + suggestion(name, known), join(known));
  }
  if (text("grad-bits").find_first_of(",/") != std::string::npos) {
    throw input_error("", 0, "--grad-bits", "'" + text("grad-bits") + "'", "8 or 6:8");
  }
  const BitRange grad = parse_bit_ranges(text("grad-bits"), 8, 8).front();
  const auto ranges = parse_bit_ranges(text("bits"), grad.qmin, grad.qmax);
  if (ranges.size() != 1) {
    throw input_error("", 0, "--bits", std::to_string(ranges.size()) + " ranges", "one");
  }
  ScheduleSpec spec;
  spec.qmin = ranges.front().qmin;
  spec.qmax = ranges.front().qmax;
  spec.grad_min = ranges.front().grad_min;
  spec.grad_max = ranges.front().grad_max;
  spec.iterations = parse_count(text("iterations"), "--iterations", 1, kMostIterations);
  spec.cycles = parse_count(text("cycles"), "--cycles", 1, kMostIterations);
  spec.cycle_length = parse_cycle_length(text("cycle-length"));
  std::vector<ScheduleSpec> out;
  for (const auto& one : schedule_names()) {
    if (name == "all" ? one == "static" : one != name) continue;
    spec.name = one;
    spec.validate();
    out.push_back(spec);
  }
  return out;
}

double relative(const ScheduleSpec& spec, const ScheduleSummary& summary) {
  return relative_bitops(summary, {spec.qmax, spec.grad_max});
}

std::string bits_text(const ScheduleSpec& s) {
  const auto part = [](int low, int high) {
    return low == high ? std::to_string(low) : fmt::format("{}:{}", low, high);
  };
  return part(s.qmin, s.qmax) + "/" + part(s.grad_min, s.grad_max);
}

std::string heading(const ScheduleSpec& s) {
  return fmt::format("bits {}, {} iterations, n = {} cycles, cycle length {}", bits_text(s),
                     s.iterations, s.cycles, to_string(s.cycle_length));
}

std::string one_text(const ScheduleSpec& spec) {
  const ScheduleSummary s = summarise(spec);
  const double rel = relative(spec, s);
  std::string out =
      fmt::format("Schedule {} ({} saving): {}\n\n", spec.name, s.group, heading(spec));
  if (s.group == "static") out = fmt::format("Schedule static: {}\n\n", heading(spec));
  TextTable facts;
  facts.add_column("", TextTable::Align::kLeft);
  facts.add_column("", TextTable::Align::kLeft);
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"mean bits", fmt::format("{:.5f}", s.mean_bits())},
      {"sum of bits S1", to_decimal(s.sum_bits())},
      {"sum of squared bits S2", to_decimal(s.sum_bits_sq())},
      {"relative BitOps", fmt::format("{:.6f} of static {}/{}", rel, spec.qmax, spec.grad_max)},
      {"saving", fmt::format("{:.3f} %", 100.0 * (1.0 - rel))},
      {"iterations of a cycle",
       s.cycle_iterations == 0 ? std::string("-") : std::to_string(s.cycle_iterations)},
      {"precision switches", std::to_string(s.precision_switches)},
      {"first and last bits", fmt::format("{}, {}", s.first_bits, s.last_bits)}};
  for (const auto& [name, value] : lines) out += fmt::format("{:<24}{}\n", name, value);
  TextTable counts;
  counts.add_column("bits");
  counts.add_column("gradient");
  counts.add_column("iterations");
  counts.add_column("share");
  counts.add_column("", TextTable::Align::kLeft);
  for (const auto& count : s.pairs) {
    const double share = static_cast<double>(count.iterations) / static_cast<double>(s.iterations);
    counts.add_row({std::to_string(count.pair.bits), std::to_string(count.pair.grad_bits),
                    std::to_string(count.iterations), fmt::format("{:.2f}%", 100.0 * share),
                    bar_text(share, kBarWidth)});
  }
  return out + "\n" + counts.render();
}

std::string all_text(const std::vector<ScheduleSpec>& specs) {
  TextTable table;
  table.add_column("schedule", TextTable::Align::kLeft);
  for (const char* name : {"mean\nbits", "S1", "S2", "BitOps\nrel.", "saving\n%", "switches",
                           "first\nbits", "last\nbits"}) {
    table.add_column(name);
  }
  std::string group;
  for (const auto& spec : specs) {
    const ScheduleSummary s = summarise(spec);
    const double rel = relative(spec, s);
    if (s.group != group) table.add_separator(s.group + " saving");
    group = s.group;
    table.add_row({spec.name, fmt::format("{:.5f}", s.mean_bits()), to_decimal(s.sum_bits()),
                   to_decimal(s.sum_bits_sq()), fmt::format("{:.6f}", rel),
                   fmt::format("{:.3f}", 100.0 * (1.0 - rel)), std::to_string(s.precision_switches),
                   std::to_string(s.first_bits), std::to_string(s.last_bits)});
  }
  const ScheduleSpec& any = specs.front();
  return fmt::format("Schedules: {}; relative to static {}/{}\n\n", heading(any), any.qmax,
                     any.grad_max) +
         table.render();
}

Json schedule_json(const ScheduleSpec& spec) {
  const ScheduleSummary s = summarise(spec);
  const double rel = relative(spec, s);
  Json out;
  out["schedule"] = spec.name;
  out["group"] = s.group;
  out["qmin"] = spec.qmin;
  out["qmax"] = spec.qmax;
  out["grad_min"] = spec.grad_min;
  out["grad_max"] = spec.grad_max;
  out["cycles_n"] = spec.cycles;
  out["cycle_length"] = to_string(spec.cycle_length);
  out["cycle_iterations"] = s.cycle_iterations;
  out["iterations"] = s.iterations;
  // 128 bits, as BitOps are: always decimal text.
  out["sum_bits"] = to_decimal(s.sum_bits());
  out["sum_bits_sq"] = to_decimal(s.sum_bits_sq());
  out["mean_bits"] = s.mean_bits();
  out["bitops_relative"] = rel;
  out["saving_pct"] = 100.0 * (1.0 - rel);
  out["precision_switches"] = s.precision_switches;
  out["first_bits"] = s.first_bits;
  out["last_bits"] = s.last_bits;
  out["per_bits"] = Json::array();
  for (const auto& count : s.pairs) {
    Json entry;
    entry["bits"] = count.pair.bits;
    entry["grad_bits"] = count.pair.grad_bits;
    entry["iterations"] = count.iterations;
    out["per_bits"].push_back(entry);
  }
  return out;
}

std::string report(const std::vector<ScheduleSpec>& specs, const std::string& command) {
  Json out;
  out["tool"] = "bitcycle";
  out["version"] = program_version();
  out["command"] = command;
  out["rows"] = Json::array();
  for (const auto& spec : specs) out["rows"].push_back(schedule_json(spec));
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The exported script names terminal and output itself; draw_plot() chooses both by the file's
// ending.
PlotScript plot_of(const std::vector<ScheduleSpec>& specs) {
  SchedulePlot plot;
  plot.columns = specs.size() > 1 ? 2 : 1;
  const std::string script = schedule_gnuplot(specs, plot);
  PlotScript out;
  const auto panels = static_cast<int>(specs.size());
  const int columns = std::min(plot.columns, panels);
  out.width = columns * plot.panel_width;
  out.height = (panels + columns - 1) / columns * plot.panel_height;
  std::istringstream in(script);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("set terminal", 0) == 0 || line.rfind("set output", 0) == 0) continue;
    out.body += line + "\n";
  }
  return out;
}

}  // namespace

int cmd_schedule(const std::vector<std::string>& args) {
  po::positional_options_description positional;
  positional.add("name", 1);
  const po::variables_map values = parse_options(args, describe(), positional);
  if (values.count("help") != 0) {
    std::cout << usage();
    return 0;
  }
  const std::vector<ScheduleSpec> specs = specs_from(values);
  const std::string csv = text_of(values, "csv");
  const std::string json = text_of(values, "json");
  const std::string plot = text_of(values, "plot");
  OutputPaths outputs({csv, json, plot});
  if (!plot.empty()) check_plot_path(plot);
  if (!csv.empty() && specs.size() > 1) {
    throw input_error("", 0, "--csv", "several schedules",
                      "one schedule: its changes of precision");
  }
  const std::string text = specs.size() == 1 ? one_text(specs.front()) : all_text(specs);
  if (!csv.empty()) outputs.add(csv, schedule_csv(specs.front()));
  if (!json.empty()) outputs.add(json, report(specs, command_text("bitcycle schedule", args)));
  if (!plot.empty()) draw_plot(plot_of(specs), plot);
  outputs.commit();
  if (!outputs.to_stdout()) std::cout << text;
  std::cout.flush();
  return 0;
}

}  // namespace bitcycle
