#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "golden/error.hpp"
#include "sim/report.hpp"

namespace bitcycle {
namespace {

// Okabe-Ito palette: told apart by colour-blind readers and in grey.
constexpr const char* kBitopsColour = "#0072B2";
constexpr const char* kCyclesColour = "#D55E00";
constexpr const char* kEnergyColour = "#009E73";
constexpr const char* kMachineColour = "#009E73";
constexpr std::size_t kMostPanels = 24;
constexpr int kPanelHeight = 330;
constexpr int kScatterHeight = 400;  // the key has a line per schedule

std::string common_style() {
  return "set border 3 lc rgb '#444444'\n"
         "set tics nomirror out scale 0.6\n"
         "set grid ytics lc rgb '#dddddd' lw 0.6\n";
}

// Energy, or what the whole machine makes of the cycles.
double third_bar(const CompareRow& row) {
  return row.machine ? row.machine->cycles_relative : row.energy_relative;
}

// What the cycles of a row are for its accuracy.
double cycles_axis(const CompareRow& row) {
  return row.machine ? row.machine->cycles_relative : row.cycles_relative;
}

std::string machine_name(const CompareResult& result) {
  return result.memory + (result.memory_is_dram ? ", lower bound" : "");
}

std::string bar_data(const CompareResult& result, const CompareBlock& block, std::size_t index) {
  std::string out = fmt::format("$block{} << EOD\n", index);
  for (std::size_t i = 0; i < block.rows; ++i) {
    const CompareRow& row = result.rows[block.first_row + i];
    std::string name = row.schedule;
    for (char& c : name) {
      if (c == '"' || static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    out += fmt::format("\"{}\" {:.6f} {:.6f} {:.6f}\n", name, row.bitops_relative,
                       row.cycles_relative, third_bar(row));
  }
  return out + "EOD\n";
}

std::string bars(const CompareResult& result) {
  std::string out;
  double highest = 1.0;
  for (std::size_t b = 0; b < result.blocks.size(); ++b) {
    out += bar_data(result, result.blocks[b], b);
  }
  for (const auto& row : result.rows) {
    highest = std::max({highest, row.bitops_relative, row.cycles_relative, third_bar(row)});
  }
  const bool machine = !result.memory.empty();
  out += common_style();
  out +=
      "set style data histograms\nset style histogram clustered gap 1\n"
      "set style fill solid 0.9 noborder\nset boxwidth 0.9\n";
  out += fmt::format("set yrange [0:{:.3f}]\nset ylabel 'relative to static'\n", highest * 1.08);
  out += "set xtics scale 0 noenhanced\nset key outside right top samplen 1 spacing 1.2\n";
  out +=
      "set xlabel " +
      plot_quoted(machine ? "machine: " + machine_name(result) : "energy: " + result.energy_label) +
      " noenhanced font ',9'\n";
  out += fmt::format("set multiplot layout {},1\n", result.blocks.size());
  for (std::size_t b = 0; b < result.blocks.size(); ++b) {
    const auto& title = result.blocks[b].title;
    out += fmt::format(
        "set title {0} noenhanced\n"
        "plot $block{1} using 2:xtic(1) title 'BitOps' lc rgb '{2}', \\\n"
        "     $block{1} using 3 title {6} lc rgb '{3}', \\\n"
        "     $block{1} using 4 title {5} lc rgb '{4}'\n",
        plot_quoted(title), b, kBitopsColour, kCyclesColour,
        machine ? kMachineColour : kEnergyColour,
        plot_quoted(machine ? "machine cycles" : "energy"),
        plot_quoted(machine ? "array cycles" : "cycles"));
  }
  return out + "unset multiplot\n";
}

// How the cycles of a schedule are drawn: 35 different marks, told apart in grey by their shape.
struct Mark {
  const char* colour;
  int shape;  ///< gnuplot's point type
};

Mark mark_of(std::size_t index) {
  constexpr const char* kColours[] = {"#777777", "#D55E00", "#0072B2", "#009E73",
                                      "#CC79A7", "#E69F00", "#56B4E9"};
  constexpr int kFilled[] = {7, 5, 9, 11, 13};  // circle, square, triangles, diamond
  return {kColours[index % std::size(kColours)], kFilled[index % std::size(kFilled)]};
}

std::string point_data(const CompareRow& row, const std::string& name) {
  return fmt::format("${} << EOD\n{:.6f} {:.6f} {:.9g} {:.9g}\nEOD\n", name, row.bitops_relative,
                     cycles_axis(row), *row.metric, row.metric_std.value_or(0.0));
}

std::string scatter(const CompareResult& result) {
  std::string data, plots;
  constexpr const char* kOpen = "pt 6 ps 0.45 lc rgb '#000000'";
  for (std::size_t b = 0; b < result.blocks.size(); ++b) {
    const CompareBlock& block = result.blocks[b];
    const CompareRow& base = result.rows[block.first_row];
    std::string lines, open;
    for (std::size_t i = 0; i < block.rows; ++i) {
      const CompareRow& row = result.rows[block.first_row + i];
      if (!row.metric) continue;
      const std::string name = fmt::format("b{}r{}", b, i);
      const Mark mark = mark_of(i);
      data += point_data(row, name);
      // BitOps on top: they often lie on the cycles of the same schedule.
      open += fmt::format("     ${} using 1:3 with points {} notitle, \\\n", name, kOpen);
      lines += fmt::format("     ${} using {} pt {} ps 0.9 lc rgb '{}' title {} noenhanced, \\\n",
                           name, row.metric_std ? "2:3:4 with yerrorbars" : "2:3 with points",
                           mark.shape, mark.colour, plot_quoted(row.schedule));
    }
    plots += fmt::format(
        "set title {} noenhanced\nset xlabel {} noenhanced\nplot \\\n{}{}"
        "     NaN with points pt 7 ps 0.9 lc rgb '#777777' title 'filled: cycles', \\\n"
        "     NaN with points {} title 'open: BitOps'\n",
        plot_quoted(block.title),
        plot_quoted(fmt::format("cycles on array {}{}, and BitOps, relative to static {}/{}",
                                base.arch, base.machine ? ", " + machine_name(result) : "",
                                base.qmax, base.grad_max)),
        lines, open, kOpen);
  }
  return data + common_style() + "set grid xtics lc rgb '#dddddd' lw 0.6\n" + "set ylabel " +
         plot_quoted(result.metric_name) + " noenhanced\n" +
         "set offsets graph 0.06, graph 0.06, graph 0.1, graph 0.06\n"
         "set bars small\nset key outside right top samplen 1 spacing 1.1\n" +
         fmt::format("set multiplot layout {},1\n", result.blocks.size()) + plots +
         "unset multiplot\n";
}

}  // namespace

PlotScript report_plot(const CompareResult& result) {
  if (result.blocks.empty() || result.blocks.size() > kMostPanels) {
    throw input_error("", 0, "--plot", fmt::format("{} tables", result.blocks.size()),
                      fmt::format("1 to {} (fewer networks, arrays or bit ranges)", kMostPanels));
  }
  PlotScript out;
  out.height = (result.metric_name.empty() ? kPanelHeight : kScatterHeight) *
               static_cast<int>(result.blocks.size());
  out.body = result.metric_name.empty() ? bars(result) : scatter(result);
  return out;
}

}  // namespace bitcycle
