// What every implementation of the machine has in common: verilated RTL and plain C++ core.
#pragma once

#include <cstdint>
#include <vector>

#include "model/array.hpp"
#include "model/machine/axi.hpp"

namespace bitcycle {

/// Inputs of one clock edge.
struct MachineStep {
  bool inst_valid = false;
  std::uint64_t inst_data = 0;
  AxiLiteReq lite;
  AxiReadResp read;
  AxiWriteResp write;
};

/// Output ports after the edge; all are functions of the registers alone.
struct MachinePorts {
  bool inst_ready = false;
  bool irq = false;
  AxiLiteResp lite;
  AxiReadReq read;
  AxiWriteReq write;
};

/// Exactly one clock edge per step(). Not thread-safe.
class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;

  /// Asserts the external reset for a cycle and lets its release settle: control registers take
  /// their reset values, data registers and memories keep what they hold.
  virtual void reset() = 0;
  /// One rising clock edge.
  virtual void step(const MachineStep& in) = 0;
  virtual const MachinePorts& ports() const = 0;
  /// Every architectural register, and every memory (names end in "_mem").
  virtual const std::vector<RegisterView>& registers() = 0;
};

}  // namespace bitcycle
