#include <fmt/format.h>

#include <algorithm>

#include "golden/error.hpp"
#include "sim/report.hpp"

namespace bitcycle {
namespace {

// Okabe-Ito palette: told apart by colour-blind readers and in grey.
constexpr const char* kBitopsColour = "#0072B2";
constexpr const char* kCyclesColour = "#D55E00";
constexpr const char* kEnergyColour = "#009E73";
constexpr std::size_t kMostPanels = 24;
constexpr int kPanelHeight = 330;

std::string common_style() {
  return "set border 3 lc rgb '#444444'\n"
         "set tics nomirror out scale 0.6\n"
         "set grid ytics lc rgb '#dddddd' lw 0.6\n";
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
                       row.cycles_relative, row.energy_relative);
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
    highest = std::max({highest, row.bitops_relative, row.cycles_relative, row.energy_relative});
  }
  out += common_style();
  out +=
      "set style data histograms\nset style histogram clustered gap 1\n"
      "set style fill solid 0.9 noborder\nset boxwidth 0.9\n";
  out += fmt::format("set yrange [0:{:.3f}]\nset ylabel 'relative to static'\n", highest * 1.08);
  out += "set xtics scale 0 noenhanced\nset key outside right top samplen 1 spacing 1.2\n";
  out += "set xlabel " + plot_quoted("energy: " + result.energy_label) + " noenhanced font ',9'\n";
  out += fmt::format("set multiplot layout {},1\n", result.blocks.size());
  for (std::size_t b = 0; b < result.blocks.size(); ++b) {
    const auto& title = result.blocks[b].title;
    out += fmt::format(
        "set title {0} noenhanced\n"
        "plot $block{1} using 2:xtic(1) title 'BitOps' lc rgb '{2}', \\\n"
        "     $block{1} using 3 title 'cycles' lc rgb '{3}', \\\n"
        "     $block{1} using 4 title {5} lc rgb '{4}'\n",
        plot_quoted(title), b, kBitopsColour, kCyclesColour, kEnergyColour, plot_quoted("energy"));
  }
  return out + "unset multiplot\n";
}

std::string point_data(const CompareResult& result, const CompareBlock& block, std::size_t index) {
  std::string out = fmt::format("$block{} << EOD\n", index);
  for (std::size_t i = 0; i < block.rows; ++i) {
    const CompareRow& row = result.rows[block.first_row + i];
    if (!row.metric) continue;
    std::string name = row.schedule;
    for (char& c : name) {
      if (c == '"' || static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    out += fmt::format("\"{}\" {:.6f} {:.6f} {:.9g} {:.9g}\n", name, row.bitops_relative,
                       row.cycles_relative, *row.metric, *row.metric_std);
  }
  return out + "EOD\n";
}

std::string scatter(const CompareResult& result) {
  std::string out;
  for (std::size_t b = 0; b < result.blocks.size(); ++b) {
    out += point_data(result, result.blocks[b], b);
  }
  out += common_style();
  out += "set grid xtics lc rgb '#dddddd' lw 0.6\nset xlabel 'cost relative to static'\n";
  out += "set ylabel " + plot_quoted(result.metric_name) + " noenhanced\n";
  out +=
      "set offsets graph 0.06, graph 0.06, graph 0.1, graph 0.06\n"
      "set bars small\nset key outside right top samplen 1 spacing 1.2\n";
  out += fmt::format("set multiplot layout {},1\n", result.blocks.size());
  for (std::size_t b = 0; b < result.blocks.size(); ++b) {
    out += fmt::format(
        "set title {0} noenhanced\n"
        "plot $block{1} using 2:4:5 with yerrorbars pt 6 ps 0.7 lc rgb '{2}' title 'BitOps', \\\n"
        "     $block{1} using 3:4:5 with yerrorbars pt 7 ps 0.7 lc rgb '{3}' title 'cycles', \\\n"
        "     $block{1} using 3:4:1 with labels noenhanced left offset 0.8,0.5 font ',9' notitle\n",
        plot_quoted(result.blocks[b].title), b, kBitopsColour, kCyclesColour);
  }
  return out + "unset multiplot\n";
}

}  // namespace

PlotScript report_plot(const CompareResult& result) {
  if (result.blocks.empty() || result.blocks.size() > kMostPanels) {
    throw input_error("", 0, "--plot", fmt::format("{} tables", result.blocks.size()),
                      fmt::format("1 to {} (fewer networks, arrays or bit ranges)", kMostPanels));
  }
  PlotScript out;
  out.height = kPanelHeight * static_cast<int>(result.blocks.size());
  out.body = result.metric_name.empty() ? bars(result) : scatter(result);
  return out;
}

}  // namespace bitcycle
