// One characterisation: the energy of a module's gates in one library, with all that it depends on.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/gates/event_model.hpp"
#include "model/gates/liberty.hpp"

namespace bitcycle {

/// A coefficient of the event model.
struct EnergyEvent {
  std::string name;
  std::string description;
  double joules = 0.0;  ///< per count
  std::string source;   ///< key of a source
};

struct CitedSource {
  std::string key;
  std::string citation;  ///< what the numbers come from
  std::string verified;  ///< how they were checked
};

/// A workload that was simulated at gate level.
struct WorkloadRecord {
  std::string label;
  double energy = 0.0;    ///< J per cycle, without leakage
  double per_mac = 0.0;   ///< J per MAC of a PE; 0 if there is none
  double error = 0.0;     ///< event model / gates - 1
  double sampling = 0.0;  ///< relative standard error of `energy`
  double clock_share = 0.0;
};

/// Relative uncertainty of every energy, from -low to +high.
struct EnergyBand {
  std::string name;
  double low = 0.0, high = 0.0;
  std::string why;
};

struct Characterisation {
  std::string module;      ///< "pe"
  std::string rtl_module;  ///< "bc_pe"
  std::string arch;        ///< preset or file that gave the parameters
  std::vector<std::pair<std::string, int>> parameters;
  std::vector<std::string> rtl_files;
  std::string rtl_sha256;  ///< of those files without comments and blanks
  std::string netlist_sha256;
  std::size_t cells = 0, flip_flops = 0;
  double area = 0.0;  ///< um^2, cells only
  std::vector<LibertySource> library;
  double voltage = 0.0, temperature = 0.0, process = 0.0;
  std::vector<std::pair<std::string, std::string>> tools;  ///< name, version
  // Conditions.
  double period = 0.0, critical_path = 0.0;  ///< s
  double wire_per_fanout = 0.0;              ///< F
  double clock_tree_factor = 1.0;
  double input_slew = 0.0, input_delay = 0.0;  ///< s
  double output_load = 0.0;                    ///< F
  double leakage = 0.0;                        ///< W, mean over states
  // Model.
  std::vector<EnergyEvent> events;
  std::uint64_t cycles = 0;  ///< simulated for the fit
  double r2 = 0.0, rms = 0.0;
  std::vector<WorkloadRecord> training, held_out, degenerate;
  double training_mean = 0.0, training_max = 0.0;
  double held_out_mean = 0.0, held_out_max = 0.0;
  std::string held_out_worst;
  std::vector<EnergyBand> bands;
  std::vector<CitedSource> sources;
  std::string command;  ///< that makes this file again
};

/// JSON text; the same for the same content, without time or host.
std::string to_json(const Characterisation& c);

/// Inverse of to_json. Throws InputError naming file and field: not such a file, another version,
/// a missing field, a number that is not finite, an event without a source that the file lists.
Characterisation parse_characterisation(const std::string& json, const std::string& file);
/// A file of one module; throws InputError if it holds several.
Characterisation load_characterisation(const std::string& path);

/// Several modules in one file.
std::string to_json(const std::vector<Characterisation>& list);
/// All modules of a file of either kind.
std::vector<Characterisation> parse_characterisations(const std::string& json,
                                                      const std::string& file);
std::vector<Characterisation> load_characterisations(const std::string& path);

/// The PE and all other modules of a preset's array in one technology ("osu018", "ihp-sg13g2",
/// "asap7") from the files that come with bitcycle, in `dir` = configs/characterised.
std::vector<Characterisation> array_characterisations(const std::string& dir,
                                                      const std::string& preset,
                                                      const std::string& technology);

/// Whether the module was made with clock gates.
bool clock_gated(const Characterisation& c);

/// SHA-256 of RTL files (in `rtl_dir`) without comments and with white space as single blanks:
/// changes if and only if code does. Throws InputError if one cannot be read.
std::string rtl_hash(const std::string& rtl_dir, const std::vector<std::string>& files);

/// "" if the RTL in `rtl_dir` is the one that was characterised, else one line that says so.
std::string stale_warning(const Characterisation& c, const std::string& rtl_dir);

}  // namespace bitcycle
