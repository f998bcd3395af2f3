// A machine and its memory under the SystemC kernel.
#pragma once

#include "sim/machine_lockstep.hpp"

namespace bitcycle {

/// As MachineBench, under the kernel: the machine and the memory are SystemC modules. SystemC
/// elaborates once in a process: so can this be made (throws std::logic_error after that).
class SystemcBench final : public MachineRunner {
 public:
  SystemcBench(const MachineConfig& config, Machine& machine, AxiMemory& memory);
  ~SystemcBench() override;
  MachineRun run(WordSource& words, std::uint64_t most_cycles,
                 const std::function<bool()>& stop = {}) override;

 private:
  struct Elaborated;
  std::unique_ptr<Elaborated> modules_;
};

}  // namespace bitcycle
