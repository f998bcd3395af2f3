// Energy of on-chip memories by depth and width, from tables whose every number has a source.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bitcycle {

/// One memory that was measured or computed: energies of one access of the full width.
struct SramPoint {
  double words = 0.0;
  double read_j = 0.0, write_j = 0.0;
};

/// Memories of one width, by rising depth.
struct SramCurve {
  double width = 0.0;  ///< bits
  std::vector<SramPoint> points;
};

struct SramTable {
  std::string name;   ///< file name without ending
  std::string label;  ///< for people
  std::string node;
  std::string scaling_node;  ///< row of the scaling table (model/scaling.hpp); "" if none fits
  double voltage = 0.0;
  double band_low = 0.0, band_high = 0.0;  ///< relative: energy lies in [E(1-low), E(1+high)]
  std::string band_source;
  std::vector<SramCurve> curves;                   ///< by rising width
  std::vector<std::pair<double, double>> leakage;  ///< bytes, W; may be empty: not covered
  std::vector<std::pair<std::string, std::string>> sources;  ///< key, text
};

/// Energy of one bank.
struct SramEnergy {
  double read_j = 0.0, write_j = 0.0;  ///< an access of the full width
  double leakage_w = 0.0;              ///< 0 where the table has none
  bool leakage_known = false;
  /// Outside the table: shallower (or narrower) than its smallest memory costs what that one does,
  /// an upper bound; deeper costs what its deepest one does, a lower bound.
  bool below = false, beyond = false;
};

/// A bank of `words` words of `width` bits. Between points straight lines in log energy over log
/// depth, between widths over log width; wider than the table: several memories side by side. A
/// published point that lies below a smaller memory's counts as much as that one, so that energies
/// never fall when depth or width grows. Leakage: over log size, beyond the table in proportion to
/// size. Throws std::invalid_argument for words or width below 1.
SramEnergy sram_energy(const SramTable& table, double words, double width);

/// YAML (see configs/energy/sram-*.yaml), or CSV with the columns words, width, read_pj, write_pj,
/// leakage_uw (may be empty), source (file name ends in .csv; band: -50 %, +100 %). Throws
/// InputError with file, line and field; a number without a source is refused.
SramTable load_sram_table(const std::string& path);
SramTable parse_sram_yaml(const std::string& yaml, const std::string& path);
SramTable parse_sram_csv(const std::string& csv, const std::string& path);

}  // namespace bitcycle
