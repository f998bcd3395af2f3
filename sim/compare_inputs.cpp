#include "sim/compare_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "golden/error.hpp"
#include "golden/text_file.hpp"

namespace bitcycle {
namespace {

std::string trim(const std::string& text) {
  const char* blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> split_fields(const std::string& line) {
  std::vector<std::string> out;
  std::size_t start = 0;
  for (;;) {
    const auto comma = line.find(',', start);
    out.push_back(trim(line.substr(start, comma - start)));
    if (comma == std::string::npos) return out;
    start = comma + 1;
  }
}

bool parse_number(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

}  // namespace

std::uint64_t fit_64(u128 value, const char* what) {
  if (value > ~std::uint64_t{0}) throw input_error("", 0, what, to_decimal(value), "below 2^64");
  return static_cast<std::uint64_t>(value);
}

std::vector<ArrayConfig> resolve_archs(const std::vector<std::string>& names) {
  if (names.empty()) throw input_error("", 0, "--arch", "nothing", "a preset, a YAML file or all");
  std::vector<ArrayConfig> out;
  const auto take = [&](const ArrayConfig& config) {
    for (const auto& c : out) {
      if (c.name != config.name) continue;
      if (c.key() == config.key()) return;
      throw input_error("", 0, "--arch", "two arrays named '" + config.name + "'",
                        "different names (key 'name' in the file)");
    }
    out.push_back(config);
  };
  for (const auto& name : names) {
    if (name == "all") {
      for (const auto& preset : array_presets()) take(preset);
    } else {
      take(resolve_array(name));
    }
  }
  return out;
}

std::vector<std::string> resolve_schedules(const std::vector<std::string>& names) {
  std::vector<std::string> known = schedule_names();
  known.emplace_back("all");
  bool all = names.empty();
  for (const auto& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw input_error("", 0, "--schedules", "'" + name + "'" + suggestion(name, known),
                        join(known));
    }
    all = all || name == "all";
  }
  std::vector<std::string> out;
  for (const auto& name : schedule_names()) {
    if (name == "static") continue;
    if (all || std::find(names.begin(), names.end(), name) != names.end()) out.push_back(name);
  }
  return out;
}

ScheduleSummary read_schedule_file(const std::string& path, std::uint64_t iterations) {
  ScheduleSummary out = read_schedule_csv(path, iterations);
  out.name = std::filesystem::path(path).stem().string();
  out.group = "file";
  return out;
}

BitRange range_of(const ScheduleSummary& summary) {
  BitRange r{16, 1, 16, 1};
  for (const auto& p : summary.pairs) {
    r.qmin = std::min(r.qmin, p.pair.bits);
    r.qmax = std::max(r.qmax, p.pair.bits);
    r.grad_min = std::min(r.grad_min, p.pair.grad_bits);
    r.grad_max = std::max(r.grad_max, p.pair.grad_bits);
  }
  return r;
}

std::string range_text(const BitRange& r) {
  const auto part = [](int low, int high) {
    return low == high ? std::to_string(low) : fmt::format("{}:{}", low, high);
  };
  return part(r.qmin, r.qmax) + "/" + part(r.grad_min, r.grad_max);
}

int line_above(const std::string& path, int most) {
  std::ifstream in(path);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const auto fields = split_fields(line.substr(0, line.find('#')));
    for (std::size_t i = 1; i < fields.size(); ++i) {
      double bits = 0.0;
      if (parse_number(fields[i], bits) && bits > most) return number;
    }
  }
  return 0;
}

MetricFile read_metrics(const std::string& path, const std::vector<std::string>& known) {
  std::istringstream in(read_text_file(path, "accuracy file", "a CSV file: schedule,metric,std"));
  MetricFile out;
  out.name = "metric";
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (trim(line).empty()) continue;
    const auto fields = split_fields(line);
    if (fields.size() < 2 || fields.size() > 3) {
      throw input_error(path, number, "row", std::to_string(fields.size()) + " fields",
                        "schedule,metric or schedule,metric,std");
    }
    Metric metric;
    const bool is_number = parse_number(fields[1], metric.value);
    if (!is_number && out.values.empty() && out.name == "metric" && fields[0] == "schedule") {
      if (!fields[1].empty()) out.name = fields[1];
      continue;
    }
    if (!is_number) {
      throw input_error(path, number, "metric", "'" + fields[1] + "'", "a finite number");
    }
    metric.value_text = fields[1];
    if (fields.size() == 3 && !fields[2].empty()) {
      double deviation = 0.0;
      if (!parse_number(fields[2], deviation) || deviation < 0.0) {
        throw input_error(path, number, "std", "'" + fields[2] + "'",
                          "a finite number, 0 or more, or nothing");
      }
      metric.deviation = deviation;
      metric.deviation_text = fields[2];
    }
    if (std::find(known.begin(), known.end(), fields[0]) == known.end()) {
      throw input_error(path, number, "schedule",
                        "'" + fields[0] + "'" + suggestion(fields[0], known), join(known));
    }
    if (!out.values.emplace(fields[0], metric).second) {
      throw input_error(path, number, "schedule", "'" + fields[0] + "' twice", "each once");
    }
  }
  if (out.values.empty()) {
    throw input_error(path, 0, "accuracy file", "no rows", "schedule,metric,std");
  }
  return out;
}

}  // namespace bitcycle
