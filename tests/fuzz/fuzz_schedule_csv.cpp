// Schedules (CSV).
#include "tests/fuzz/fuzzing.hpp"
#include "workloads/schedule.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bitcycle::MemoryFile file(data, size);
  return bitcycle::accept_input_errors([&] { bitcycle::read_schedule_csv(file.path(), 1000); });
}
