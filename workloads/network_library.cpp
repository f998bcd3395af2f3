#include "workloads/network_library.hpp"

#include <map>

#include "golden/error.hpp"
#include "network_library_files.hpp"
#include "workloads/import.hpp"
#include "workloads/network_file.hpp"

namespace bitcycle {
namespace {

const std::map<std::string, NetworkFile>& parsed_files() {
  static const std::map<std::string, NetworkFile> files = [] {
    std::map<std::string, NetworkFile> out;
    for (const auto& [name, text] : kLibraryFiles) out[name] = parse_network_file(text, name);
    return out;
  }();
  return files;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_file(const std::string& text) {
  return text.find('/') != std::string::npos || ends_with(text, ".yaml") || ends_with(text, ".yml");
}

}  // namespace

const std::vector<LibraryNetwork>& library_networks() {
  static const std::vector<LibraryNetwork> networks = [] {
    std::vector<LibraryNetwork> out;
    for (const auto& [file, parsed] : parsed_files()) {
      for (const std::string& name : parsed.names()) out.push_back({name, file});
    }
    return out;
  }();
  return networks;
}

std::string library_file(const std::string& file) {
  std::vector<std::string> known;
  for (const auto& [name, text] : kLibraryFiles) {
    if (file == name) return text;
    known.emplace_back(name);
  }
  throw input_error("", 0, "network file", "'" + file + "'" + suggestion(file, known), join(known));
}

Graph find_graph(const std::string& name_or_file) {
  for (const LibraryNetwork& network : library_networks()) {
    if (network.name == name_or_file) {
      return expand_network(parsed_files().at(network.file), network.name);
    }
  }
  if (is_import_path(name_or_file)) return import_network({name_or_file}, {}).graph;
  const std::size_t hash = name_or_file.rfind('#');
  const std::string path = name_or_file.substr(0, hash);
  if (is_file(path)) {
    return expand_network(read_network_file(path),
                          hash == std::string::npos ? "" : name_or_file.substr(hash + 1));
  }
  throw input_error(
      "", 0, "network", "'" + name_or_file + "'" + suggestion(name_or_file, network_names()),
      "a name that 'bitcycle network list' prints, or a network file (.yaml, .onnx, .csv)");
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const LibraryNetwork& network : library_networks()) names.push_back(network.name);
  return names;
}

Network make_network(const std::string& name, const std::string& convention) {
  return build_network(find_graph(name), convention);
}

Network make_network(const std::string& name, Convention convention) {
  return make_network(name, to_string(convention));
}

}  // namespace bitcycle
