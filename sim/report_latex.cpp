#include <algorithm>

#include "sim/cli.hpp"
#include "sim/report.hpp"

namespace bitcycle {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\n':
        out += ' ';
        break;
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        out += std::string("\\") + c;
        break;
      default:
        out += c;
    }
  }
  return out;
}

// A comment ends at the end of its line.
std::string comment(const std::string& text) {
  std::string out = "% ";
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return out + "\n";
}

bool names_energy(const std::vector<ReportColumn>& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const ReportColumn& c) {
    return c.key.find("energy") != std::string::npos || c.key == "edp_js" || c.key == "avg_power_w";
  });
}

// A metric followed by its deviation is one column: "93.0 +- 0.1".
bool join_deviation(std::vector<ReportColumn>& columns) {
  for (std::size_t c = 1; c < columns.size(); ++c) {
    if (columns[c - 1].key == "metric" && columns[c].key == "metric_std") {
      columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(c));
      return true;
    }
  }
  return false;
}

}  // namespace

std::string report_latex(const CompareResult& result, const std::vector<std::string>& columns) {
  auto resolved =
      resolve_columns(columns.empty() ? default_latex_columns(result) : columns, result);
  const bool joined = join_deviation(resolved);
  std::string out = comment(std::string("bitcycle ") + program_version() + ": " + result.command);
  out += "% needs \\usepackage{booktabs}\n";
  for (const auto& block : result.blocks) {
    out += "\n" + comment(block.title);
    out += "\\begin{tabular}{";
    for (const auto& column : resolved) out += column.left ? "l" : "r";
    out += "}\n\\toprule\n";
    for (std::size_t c = 0; c < resolved.size(); ++c) {
      out += (c > 0 ? " & " : "") + escaped(resolved[c].heading);
    }
    out += " \\\\\n";
    std::string group;
    for (std::size_t i = 0; i < block.rows; ++i) {
      const CompareRow& row = result.rows[block.first_row + i];
      if (row.group != group) out += "\\midrule\n";
      group = row.group;
      for (std::size_t c = 0; c < resolved.size(); ++c) {
        out += (c > 0 ? " & " : "") + escaped(cell_text(resolved[c].key, row, result));
        if (joined && resolved[c].key == "metric" && row.metric_std) {
          out += " $\\pm$ " + escaped(cell_text("metric_std", row, result));
        }
      }
      out += " \\\\\n";
    }
    out += "\\bottomrule\n\\end{tabular}\n";
    if (names_energy(resolved)) {
      out += "\n{\\footnotesize Energy: " + escaped(result.rows[block.first_row].energy_source) +
             ".}\n";
    }
  }
  return out;
}

}  // namespace bitcycle
