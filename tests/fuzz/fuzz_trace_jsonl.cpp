// Traces (JSON Lines): header and records to the end.
#include "tests/fuzz/fuzzing.hpp"
#include "workloads/trace_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bitcycle::MemoryFile file(data, size);
  return bitcycle::accept_input_errors([&] {
    bitcycle::TraceReader reader(file.path());
    bitcycle::TraceRecord record;
    while (reader.next(record)) {
    }
  });
}
