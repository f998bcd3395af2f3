// The readers of foreign network descriptions, one a format. Internal to workloads/; users call
// import_network (workloads/import.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "workloads/import.hpp"
#include "workloads/network.hpp"

namespace bitcycle {

/// A layer with where it was found.
struct ImportedLayer {
  Layer layer;
  bool gemm = false;          ///< an M x N x K product: M = hi rows of one sample
  std::uint64_t repeats = 1;  ///< independent products of this shape (batched GEMM)
  std::string file;
  int line = 0;
};

/// What the formats say that know layers but no graph.
struct ImportedLayers {
  std::string name;
  std::vector<ImportedLayer> layers;
  std::uint64_t batch = 1;         ///< in the file
  std::vector<std::string> notes;  ///< one line each: choices made, things ignored
};

/// SCALE-Sim topology CSV. Throws InputError with file and line.
ImportedLayers read_scalesim(const std::string& path, const ImportOptions& options);
/// The same from text; `path` names the network and stands in messages.
ImportedLayers parse_scalesim(const std::string& text, const std::string& path,
                              const ImportOptions& options);

/// Timeloop problem YAML, one layer a file. A directory stands for its *.yaml and *.yml files in
/// natural order ("layer2" before "layer10"). Throws InputError with file and line.
ImportedLayers read_timeloop(const std::vector<std::string>& paths, const ImportOptions& options);
/// One problem from text, appended to `out`.
void parse_timeloop(const std::string& text, const std::string& path, const ImportOptions& options,
                    ImportedLayers& out);

/// Text that may be a network's name: no blanks, slashes or quotes, at most 100 characters.
std::string graph_name(const std::string& text);

/// Gives nodes names that are unique in a graph.
class NodeNames {
 public:
  /// `text` with _ for blanks and *, at most 150 characters, and a number if it was taken.
  std::string unique(const std::string& text);

 private:
  std::set<std::string> taken_;
  std::map<std::string, std::size_t> next_;
};

}  // namespace bitcycle
