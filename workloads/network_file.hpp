// Network files: YAML with variables, variants, blocks and repeats (docs/network-files.md).
//
// Reading has two steps: the text becomes a NetworkFile, checked in structure, and a NetworkFile
// with a variant becomes a Graph. Every byte of a file is untrusted; time and memory are bounded.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workloads/expression.hpp"
#include "workloads/graph.hpp"

namespace bitcycle {

/// A value as written, and where.
struct FileText {
  std::string text;
  int line = 0;
};

/// One item of a list of nodes: an operator, a call of a block, or a repeat.
struct FileEntry {
  std::string op;
  int line = 0;
  std::map<std::string, FileText> fields;  ///< all but inputs
  std::vector<FileText> inputs;
  std::vector<FileEntry> nodes;  ///< of a repeat
};

struct FileBlock {
  int line = 0;
  std::vector<FileText> takes;  ///< arguments
  std::vector<FileEntry> nodes;
};

struct FileVariant {
  std::string name;
  int line = 0;
  std::map<std::string, FileText> values;  ///< variables that it sets
};

struct NetworkFile {
  std::string file;  ///< for messages
  FileText network, title, source, sample, batch;
  std::vector<std::pair<std::string, FileText>> variables;  ///< in order
  std::vector<FileVariant> variants;
  std::vector<std::pair<ConventionRule, int>> conventions;  ///< with their lines
  std::map<std::string, FileBlock> blocks;
  std::vector<FileEntry> nodes;

  /// Names of the networks in this file: its variants, or the one network.
  std::vector<std::string> names() const;
};

/// Largest network file: 1 MB.
constexpr std::size_t kLongestNetworkFile = std::size_t{1} << 20;

/// Parses the text of a network file. Throws InputError with file and line: invalid UTF-8 or YAML,
/// unknown keys (with a suggestion), keys twice, wrong types, too large, too deep.
NetworkFile parse_network_file(const std::string& text, const std::string& file);

/// Reads and parses. Throws InputError.
NetworkFile read_network_file(const std::string& path);

/// The graph of a variant; "" is allowed if the file has one network. Its shapes are checked.
/// Throws InputError with file and line.
Graph expand_network(const NetworkFile& file, const std::string& variant = "");

/// A network file that gives this graph again (one network, no variables). For importers.
std::string network_yaml(const Graph& graph);

}  // namespace bitcycle
