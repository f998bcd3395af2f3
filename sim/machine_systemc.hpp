// A machine and its memory under the SystemC kernel.
#pragma once

#include "sim/machine_lockstep.hpp"

namespace bitcycle {

/// As MachineBench::run, under the kernel: the machine and the memory are SystemC modules. SystemC
/// elaborates once in a process: so can this be called (throws std::logic_error after that).
MachineRun run_machine_under_systemc(const MachineConfig& config, Machine& machine,
                                     AxiMemory& memory, WordSource& words,
                                     std::uint64_t most_cycles,
                                     const std::function<bool()>& stop = {});

}  // namespace bitcycle
