// Netlists from RTL, through scripts/synthesise.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/gates/liberty.hpp"

namespace bitcycle {

struct SynthesisRequest {
  std::string module;
  std::vector<std::string> files;  ///< in rtl_dir
  std::vector<std::pair<std::string, int>> parameters;
  std::string rtl_dir;
  std::string out_dir;
  double delay = 0.0;                   ///< s that abc sizes gates for; 0 = as small as possible
  bool keep_hierarchy = false;          ///< map every module once
  std::vector<std::string> blackboxes;  ///< modules that are left out
  bool flatten_mapped = false;          ///< with keep_hierarchy: flat after mapping
};

/// Maps the module to the library; returns the path of the JSON netlist in out_dir. Throws
/// InputError if yosys is missing or the library lacks an inverter or a flip-flop, and
/// std::runtime_error with yosys' message if synthesis fails.
std::string synthesise(const LibertyLibrary& library, const SynthesisRequest& request);

/// Enables instead of clock gates.
void without_clock_gates(SynthesisRequest& request);

/// "Yosys 0.23 ..." or "".
std::string yosys_version();

/// A directory of its own that is removed at the end.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace bitcycle
