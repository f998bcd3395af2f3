#include "workloads/schedule_export.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/schedule_curve.hpp"

namespace bitcycle {
namespace {

// Blue and orange of the Okabe-Ito palette: told apart by colour-blind readers and in grey.
constexpr const char* kForwardStyle = "lc rgb '#0072B2' lw 1.8";
constexpr const char* kGradientStyle = "lc rgb '#D55E00' lw 1.4 dt (8,5)";

// SVG units around the axes of a panel, and of the title over the figure.
constexpr double kLeft = 52, kRight = 18, kTop = 30, kBottom = 56, kTitleHeight = 34;

// Gnuplot's single quotes know one escape, the doubled quote.
std::string quoted(const std::string& text, const char* field) {
  std::string out = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      throw input_error("", 0, field, "'" + text + "'", "text without control characters");
    }
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

void check_range(const char* field, int value, int low, int high) {
  if (value < low || value > high) {
    throw input_error("", 0, field, std::to_string(value), fmt::format("{} to {}", low, high));
  }
}

std::string panel_title(const ScheduleSpec& spec) {
  const auto range = [](int low, int high) {
    return low == high ? std::to_string(low) : fmt::format("{}:{}", low, high);
  };
  if (spec.name == "static") return fmt::format("static, {}/{}", spec.qmax, spec.grad_max);
  return fmt::format("{}, {}/{}, n = {}", spec.name, range(spec.qmin, spec.qmax),
                     range(spec.grad_min, spec.grad_max), spec.cycles);
}

// The data block of one panel. The last row repeats the bits at N, where the last step ends.
std::string data_block(std::size_t index, const ScheduleSpec& spec) {
  const std::vector<ScheduleRun> runs = schedule_runs(spec);
  std::string out = fmt::format("$schedule{} << EOD\n", index);
  for (const ScheduleRun& run : runs) {
    out += fmt::format("{} {} {}\n", run.start, run.pair.bits, run.pair.grad_bits);
  }
  const BitPair& last = runs.back().pair;
  out += fmt::format("{} {} {}\nEOD\n", spec.iterations, last.bits, last.grad_bits);
  return out;
}

// One unit for the whole x axis ("thousand iterations") keeps the tick labels short.
struct AxisUnit {
  std::uint64_t iterations;
  const char* label;
};

AxisUnit axis_unit(std::uint64_t iterations) {
  if (iterations >= 10'000'000) return {1'000'000, "million iterations"};
  if (iterations >= 10'000) return {1'000, "thousand iterations"};
  return {1, "iteration"};
}

}  // namespace

std::vector<ScheduleRun> schedule_runs(const ScheduleSpec& spec, std::uint64_t max_runs) {
  const std::uint64_t wanted = summarise(spec).precision_switches + 1;
  if (wanted > max_runs) {
    throw input_error("", 0, "schedule " + spec.name,
                      std::to_string(wanted) + " changes of precision",
                      "at most " + std::to_string(max_runs) + " in a CSV file or a figure");
  }
  const ScheduleCurve curve(spec);
  // Without a switch there may still be millions of cycles to walk.
  if (wanted == 1) return {{0, spec.iterations, curve.at(curve.grows(0), 0)}};

  const std::vector<CycleStep> steps[2] = {curve.cycle_steps(curve.grows(0)),
                                           curve.cycle_steps(curve.grows(1))};
  const std::uint64_t length = curve.cycle_iterations();
  std::vector<ScheduleRun> runs;
  runs.reserve(wanted);
  for (std::uint64_t begin = 0, cycle = 0; begin < spec.iterations; begin += length, ++cycle) {
    for (const CycleStep& step : steps[cycle % 2]) {
      const std::uint64_t start = begin + step.start;
      if (start >= spec.iterations) break;
      if (!runs.empty() && runs.back().pair == step.pair) continue;
      if (!runs.empty()) runs.back().length = start - runs.back().start;
      runs.push_back({start, 0, step.pair});
    }
  }
  runs.back().length = spec.iterations - runs.back().start;
  return runs;
}

std::string schedule_csv(const ScheduleSpec& spec, std::uint64_t max_runs) {
  std::string out = "iteration,bits,grad_bits\n";
  for (const ScheduleRun& run : schedule_runs(spec, max_runs)) {
    out += fmt::format("{},{},{}\n", run.start, run.pair.bits, run.pair.grad_bits);
  }
  return out;
}

std::string schedule_gnuplot(const std::vector<ScheduleSpec>& specs, const SchedulePlot& plot) {
  if (specs.empty()) throw input_error("", 0, "schedules", "none", "at least one");
  check_range("columns", plot.columns, 1, 8);
  check_range("panel width", plot.panel_width, 150, 10'000);
  check_range("panel height", plot.panel_height, 150, 10'000);
  const int panels = static_cast<int>(specs.size());
  const int columns = std::min(plot.columns, panels);
  const int rows = (panels + columns - 1) / columns;
  const double width = columns * plot.panel_width;
  const double top = plot.title.empty() ? 0 : kTitleHeight;
  const double height = rows * plot.panel_height + top;

  std::string blocks;
  std::uint64_t longest = 0;
  int widest = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    blocks += data_block(i, specs[i]);
    longest = std::max(longest, specs[i].iterations);
    widest = std::max({widest, specs[i].qmax, specs[i].grad_max});
  }
  const AxisUnit unit = axis_unit(longest);

  std::string out = fmt::format(
      "# Precision schedules; draw with: gnuplot THIS_FILE\n"
      "set terminal svg size {},{} font 'Helvetica,12' background rgb 'white'\n"
      "set output {}\n",
      width, height, quoted(plot.svg_path, "SVG path"));
  out += blocks;
  if (!plot.title.empty()) {
    out += fmt::format("set label 2 {} at screen 0.5,{:.5f} center font ',15' noenhanced\n",
                       quoted(plot.title, "title"), 1 - top / 2 / height);
  }
  out += fmt::format(
      "set border 3 lc rgb '#444444'\n"
      "set tics nomirror out scale 0.6\n"
      "set grid ytics lt 1 lc rgb '#e4e4e4' lw 0.7\n"
      "set xrange [0:{}]\n"
      "set yrange [0:{}]\n"
      "set ytics 0,{}\n"
      "set key at graph 1,1.02 right bottom horizontal samplen 2\n",
      static_cast<double>(longest) / static_cast<double>(unit.iterations), widest + 1,
      widest > 8 ? 4 : 2);
  out += fmt::format(
      "set multiplot layout {},{} margins screen {:.5f},{:.5f},{:.5f},{:.5f} spacing screen "
      "{:.5f},{:.5f}\n",
      rows, columns, kLeft / width, 1 - kRight / width, kBottom / height, 1 - (top + kTop) / height,
      (kLeft + kRight) / width, (kBottom + kTop) / height);
  for (int i = 0; i < panels; ++i) {
    // Axes are alike in all panels: names at the left and at the lowest panel of a column do.
    out += fmt::format(
        "set ylabel '{}' offset 1.5,0\n"
        "set xlabel '{}' offset 0,0.4\n"
        "set label 1 '{}' at graph 0,1.02 left offset 0,0.6 noenhanced\n"
        "plot $schedule{} using ($1/{}):2 with steps {} title 'forward', \\\n"
        "     '' using ($1/{}):3 with steps {} title 'gradient'\n",
        i % columns == 0 ? "bits" : "", i + columns >= panels ? unit.label : "",
        panel_title(specs[static_cast<std::size_t>(i)]), i, unit.iterations, kForwardStyle,
        unit.iterations, kGradientStyle);
    if (i == 0) out += "unset key\nunset label 2\n";
  }
  return out + "unset multiplot\n";
}

}  // namespace bitcycle
