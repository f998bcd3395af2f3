// Descriptions of memories: configs/memory/*.yaml. Every number carries the key of its source.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/machine/dram.hpp"
#include "model/machine/memory_timer.hpp"

namespace bitcycle {

/// A memory behind the machine, of one of two kinds.
struct MemoryConfig {
  std::string name;   ///< file name without ending
  std::string label;  ///< for people
  bool is_dram = false;
  DramConfig dram;  ///< kind dram
  // kind bandwidth: cycles of the machine; bytes per cycle may be fractions, 0 = as fast as the
  // bus.
  int read_latency = 1, write_latency = 1;
  double read_bytes_per_cycle = 0, write_bytes_per_cycle = 0;
  /// Where each parameter's value comes from: field -> text of its source.
  std::map<std::string, std::string> sources;

  /// For the recurrence and BandwidthTimer; kind bandwidth only. Costs are rounded up.
  MemoryTiming timing(int dw) const;
  /// The timer of either kind, for a bus of `dw` bits and a machine clock of `period_ps`.
  std::unique_ptr<MemoryTimer> timer(int dw, int period_ps) const;
};

/// Throws InputError naming file, line and field for whatever is missing, unknown, given twice, out
/// of range, inconsistent, or without a source.
MemoryConfig load_memory_config(const std::string& path);
MemoryConfig parse_memory_config(const std::string& yaml, const std::string& path);

}  // namespace bitcycle
