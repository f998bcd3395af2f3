// A cell library in SI units: what timing, energy and function of its cells are read from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/gates/bool_expr.hpp"
#include "model/gates/liberty_syntax.hpp"

namespace bitcycle {

/// A table over input transition time (s) and output load (F), in either order or with one axis or
/// none; linear between and beyond its points, as static timing analysers do.
class LibertyTable {
 public:
  enum class Axis { kSlew, kLoad, kOther };
  std::vector<Axis> axes;                   ///< 0 to 3 of them
  std::vector<std::vector<double>> points;  ///< increasing; SI (kOther: as in the file)
  std::vector<double> values;               ///< row-major; SI
  bool empty() const { return values.empty(); }
  /// kOther axes are taken at their first point.
  double at(double slew, double load) const;
};

/// One timing() group.
struct LibertyTiming {
  std::vector<std::string> related;
  std::string type;   ///< timing_type; "" = combinational
  std::string sense;  ///< timing_sense; may be ""
  std::optional<BoolExpr> when;
  LibertyTable cell_rise, cell_fall, rise_transition, fall_transition;  ///< s
  int line = 0;
};

/// One internal_power() group: energy of ONE edge, J. Without `related` it belongs to the pin's own
/// edges. A `power` table (both edges alike) fills both.
struct LibertyPower {
  std::vector<std::string> related;
  std::string pg_pin;
  std::optional<BoolExpr> when;
  LibertyTable rise, fall;
  int line = 0;
};

struct LibertyLeakage {
  std::string pg_pin;
  std::optional<BoolExpr> when;
  double watts = 0.0;
};

enum class PinDirection { kInput, kOutput, kInout, kInternal };

struct LibertyPin {
  std::string name;
  int width = 1;  ///< of a bus
  PinDirection direction = PinDirection::kInput;
  double capacitance = 0.0, rise_capacitance = 0.0, fall_capacitance = 0.0;  ///< F
  double max_capacitance = 0.0;                                              ///< F; 0 = not given
  bool clock = false;
  /// Part in an integrated clock gate.
  bool gate_clock = false, gate_enable = false, gate_test = false, gate_out = false;
  std::optional<BoolExpr> function, three_state;
  std::vector<LibertyTiming> timing;
  std::vector<LibertyPower> power;
};

/// ff() or latch().
struct LibertySequential {
  bool latch = false;
  std::string var, var_n;
  std::optional<BoolExpr> data;   ///< next_state or data_in
  std::optional<BoolExpr> clock;  ///< clocked_on or enable
  std::optional<BoolExpr> clear, preset;
  std::string both_1, both_2;  ///< clear_preset_var1/2: L, H, N, T, X
};

struct LibertyCell {
  std::string name;
  std::string file;
  int line = 0;
  double area = 0.0;  ///< as in the file; um^2 in every known library
  double cell_leakage = 0.0;
  bool has_cell_leakage = false;
  bool dont_use = false;
  bool memory = false;      ///< has a memory() group
  bool statetable = false;  ///< its function is a state table, which is not read
  /// Integrated clock gate: read as the latch and the AND that its attribute says it is.
  bool clock_gate = false;
  std::vector<LibertyPin> pins;
  std::vector<LibertyLeakage> leakage;
  std::optional<LibertySequential> sequential;

  const LibertyPin* pin(const std::string& pin_name) const;
  /// Mean leakage, W: cell_leakage_power if given, else per pg pin the group without `when`, else
  /// the mean of those with; summed over pg pins.
  double mean_leakage() const;
};

/// Where a library came from.
struct LibertySource {
  std::string name;    ///< library(NAME)
  std::string file;    ///< last part of the path
  std::string sha256;  ///< of the unpacked text
};

struct LibertyLibrary {
  std::vector<LibertySource> sources;
  double voltage = 0.0;      ///< V
  double temperature = 0.0;  ///< degrees C
  double process = 1.0;
  std::map<std::string, LibertyCell> cells;

  /// Throws InputError, with a suggestion, if there is no such cell.
  const LibertyCell& cell(const std::string& name) const;
  /// "name" or "name (+4)": for messages and tables.
  std::string title() const;
};

/// Reads and merges plain or gzipped files. Throws InputError (file, line) for what cannot be read,
/// for units that are missing or unknown, for a cell that two files define, and for files of
/// different voltage or temperature.
LibertyLibrary load_liberty(const std::vector<std::string>& paths);
/// The same from parsed files.
LibertyLibrary make_liberty(const std::vector<LibertyFile>& files);

/// The library as ONE plain Liberty text with only what synthesis reads (area, pins, functions,
/// delays), in ns and pF: synthesis tools stumble over dialects and over several files. Memories,
/// state tables, three-state cells and cells marked dont_use are left out.
std::string liberty_for_synthesis(const LibertyLibrary& library);

/// rtl/bc_clock_gate.sv for synthesis, in cells of the library: its smallest integrated clock gate
/// (latch, rising clock), else its smallest latch, AND and, for a latch that is open at high level,
/// inverter. Throws InputError if the library has neither.
std::string clock_gate_verilog(const LibertyLibrary& library);

}  // namespace bitcycle
