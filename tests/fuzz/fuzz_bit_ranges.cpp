// Bit ranges of the command line ("3:8/8,4:6").
#include "tests/fuzz/fuzzing.hpp"
#include "workloads/schedule.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return bitcycle::accept_input_errors(
      [&] { bitcycle::parse_bit_ranges(bitcycle::as_text(data, size), 8, 8); });
}
