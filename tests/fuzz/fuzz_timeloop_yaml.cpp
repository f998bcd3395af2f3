// Timeloop problems (YAML). The first byte chooses options.
#include "tests/fuzz/fuzzing.hpp"
#include "workloads/import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  if (size == 0) return 0;
  const MemoryFile file(data + 1, size - 1);
  return accept_input_errors([&] {
    ImportOptions options;
    options.format = ImportFormat::kTimeloop;
    options.ignore_sparsity = (data[0] & 1U) != 0;
    build_network(import_network({file.path()}, options).graph);
  });
}
