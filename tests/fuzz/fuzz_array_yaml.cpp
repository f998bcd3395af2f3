// Array descriptions (YAML).
#include "model/array_config.hpp"
#include "tests/fuzz/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return bitcycle::accept_input_errors(
      [&] { bitcycle::parse_array_config(bitcycle::as_text(data, size), "fuzz.yaml"); });
}
