// Results of `compare` in every form: terminal, JSON, CSV, LaTeX, figures.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/compare.hpp"
#include "sim/plot.hpp"

namespace bitcycle {

/// One row with all keys of the JSON contract. Energies in J that the table cannot support
/// (CompareRow::energy_shown) are null.
nlohmann::ordered_json row_json(const CompareRow& row, const CompareResult& result);

/// {"tool","version","command","assumptions","rows"}, and "check" if the RTL was asked.
std::string report_json(const CompareResult& result);

/// A heading and one line per row; the JSON keys, nested ones joined with dots
/// ("gemms.fwd.cycles", "per_bits.0.bits"). Null is empty.
std::string report_csv(const CompareResult& result);

/// A column that --columns can name.
struct ReportColumn {
  std::string key;      ///< JSON key, nested ones joined with dots
  std::string heading;  ///< may have several lines
  bool left = false;    ///< text, aligned to the left
};

/// Columns of the terminal table if the user names none.
std::vector<std::string> default_columns(const CompareResult& result);

/// Columns of the LaTeX table if the user names none.
std::vector<std::string> default_latex_columns(const CompareResult& result);

/// Resolves names. Throws InputError with a suggestion for an unknown key.
std::vector<ReportColumn> resolve_columns(const std::vector<std::string>& keys,
                                          const CompareResult& result);

/// The same check before any result exists.
void check_columns(const std::vector<std::string>& keys);

/// A cell for people: "0.6310", "17.89 T", "15.66 kJ", "n/a".
std::string cell_text(const std::string& key, const CompareRow& row, const CompareResult& result);

/// Tables, where the difference to BitOps comes from, assumptions and limits.
std::string report_text(const CompareResult& result, const std::vector<std::string>& columns);

/// One booktabs tabular per block.
std::string report_latex(const CompareResult& result, const std::vector<std::string>& columns);

/// With an accuracy file: metric against relative cost. Otherwise grouped bars: relative BitOps,
/// cycles and energy of every schedule. One panel per block. Throws InputError for too many.
PlotScript report_plot(const CompareResult& result);

}  // namespace bitcycle
