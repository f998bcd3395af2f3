// Network files (YAML): parsed, expanded in the first variants, and lowered to layers. What is
// written reads back as the same layers.
#include "tests/fuzz/fuzzing.hpp"
#include "workloads/network_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  return accept_input_errors([&] {
    const NetworkFile file = parse_network_file(as_text(data, size), "fuzz.yaml");
    std::size_t variants = 0;
    for (const std::string& name : file.names()) {
      if (++variants > 3) break;
      const Graph graph = expand_network(file, name);
      if (graph.nodes.size() > 300) continue;
      const Network network = build_network(graph);
      const Graph again = expand_network(parse_network_file(network_yaml(graph), "again.yaml"));
      if (build_network(again).layers.size() != network.layers.size()) std::abort();
    }
  });
}
