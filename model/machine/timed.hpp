// What the recurrence needs to know of an instruction.
#pragma once

#include "model/machine/instruction.hpp"
#include "model/machine/recurrence.hpp"

namespace bitcycle {

/// Lines of a DMA instruction.
TimedTransfer timed_transfer(const LineWalk& lines);

/// Timing-relevant content of a legal instruction. Throws InputError as gemm_timing.
TimedInstruction timed(const Instruction& instruction, const MachineConfig& config);
/// The same for an exec whose array cycles are known.
TimedInstruction timed(const ExecInstruction& instruction, std::uint64_t array_cycles);

}  // namespace bitcycle
