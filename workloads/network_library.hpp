// The networks of the tree, compiled in: networks/*.yaml.
#pragma once

#include <string>
#include <vector>

#include "workloads/graph.hpp"

namespace bitcycle {

/// A network of the library.
struct LibraryNetwork {
  std::string name;
  std::string file;  ///< "networks/resnet-cifar.yaml"
};

/// All, in the order of files and variants.
const std::vector<LibraryNetwork>& library_networks();

/// Text of a file of the library, as in the tree. Throws InputError for an unknown file.
std::string library_file(const std::string& file);

/// A network of the library by name, or of a network file: "FILE.yaml" if it holds one network,
/// else "FILE.yaml#NAME". Throws InputError with a suggestion for an unknown name, and as
/// read_network_file and expand_network.
Graph find_graph(const std::string& name_or_file);

}  // namespace bitcycle
