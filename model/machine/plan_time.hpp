// Exact time of a plan on a bandwidth-latency memory, without making every instruction.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "model/machine/plan.hpp"
#include "model/machine/recurrence.hpp"

namespace bitcycle {

/// What a plan's stream takes from idle to idle.
struct PlanTimes {
  std::uint64_t cycles = 0;
  std::array<EngineCycles, 3> engines;  ///< by MachineEngine
  std::uint64_t array_cycles = 0;  ///< T of the exec instructions, if operands were always there
  std::uint64_t steady = 0;        ///< of these, tiles*Ct: without start, last flush, last drain
  std::uint64_t read_bursts = 0, write_bursts = 0;
  /// False: stopped because more than `limit` cycles have gone by; then only `cycles` (so far)
  /// holds.
  bool complete = true;
};

/// The recurrence over all instructions of `plan`; iterations of its loops that come back to a
/// state that has been there are passed over, on every level of the loops. Throws InputError if the
/// stream cannot run, as Recurrence does.
PlanTimes time_plan(const Plan& plan, const MemoryTiming& memory,
                    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());

}  // namespace bitcycle
