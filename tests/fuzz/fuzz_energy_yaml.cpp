// Energy tables (YAML).
#include "model/energy.hpp"
#include "tests/fuzz/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return bitcycle::accept_input_errors(
      [&] { bitcycle::parse_energy_table(bitcycle::as_text(data, size), "fuzz.yaml"); });
}
