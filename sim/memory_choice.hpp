// The memory that a command is to be run on: --memory, and what the recurrence makes of it.
#pragma once

#include <optional>
#include <string>

#include "model/machine/dram_timer.hpp"
#include "model/machine/memory_config.hpp"
#include "sim/machine_cost.hpp"

namespace bitcycle {

/// A name of configs/memory/ or a YAML file. Throws InputError with a suggestion.
MemoryConfig resolve_memory(const std::string& word);

/// A memory behind a bus of `dw` bits.
struct MemoryView {
  MemoryTiming timing;                   ///< of a DRAM the lower bound
  std::optional<DramTimingBounds> dram;  ///< set for a DRAM
};

/// `clock_field` is the option that the clock comes from, for messages. Throws InputError for a
/// clock that a DRAM's nanoseconds cannot be counted in.
MemoryView view_memory(const MemoryConfig& memory, int dw, double clock_hz,
                       const std::string& clock_field);

/// On a DRAM reads and writes share the channels, of which the lower timing knows nothing: a GEMM
/// takes no less than its data does there. What that adds counts as wait for fetch.
void share_channels(MachineGemm& gemm, const DramTimingBounds& dram);

/// Bytes that the memory delivers per cycle over a bus of `dw` bits.
double bytes_per_cycle(const MemoryTiming& timing, int dw);

}  // namespace bitcycle
