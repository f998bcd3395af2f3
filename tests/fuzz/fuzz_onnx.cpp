// ONNX models: read, inferred, made a network, written and read again. Without the option that
// allows unsupported operators first, then with it.
#include "tests/fuzz/fuzzing.hpp"
#include "workloads/network_file.hpp"
#include "workloads/onnx_import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  for (const bool allow : {false, true}) {
    accept_input_errors([&] {
      ImportOptions options;
      options.allow_unsupported = allow;
      const Graph graph = import_onnx(parse_onnx(as_text(data, size), "fuzz.onnx"), options).graph;
      const Network network = build_network(graph);
      const Graph again = expand_network(parse_network_file(network_yaml(graph), "again.yaml"));
      if (build_network(again).layers.size() != network.layers.size()) std::abort();
    });
  }
  return 0;
}
