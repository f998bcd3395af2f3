// What the machine's AXI ports talk to: a memory with a timing of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/machine/axi.hpp"

namespace bitcycle {

/// One clock domain with the machine. In each cycle read() and write() say what the memory drives,
/// as functions of its state alone; step() is the edge at the end of the cycle.
class AxiMemory {
 public:
  AxiMemory() = default;
  AxiMemory(const AxiMemory&) = delete;
  AxiMemory& operator=(const AxiMemory&) = delete;
  virtual ~AxiMemory() = default;

  virtual AxiReadResp read() const = 0;
  virtual AxiWriteResp write() const = 0;
  /// `read_req` and `write_req`: what the machine drives in this cycle.
  virtual void step(const AxiReadReq& read_req, const AxiWriteReq& write_req) = 0;

  /// Host access, without time.
  virtual void load(std::uint64_t address, const void* bytes, std::size_t count) = 0;
  virtual void dump(std::uint64_t address, void* bytes, std::size_t count) const = 0;

  /// Cycles in which a handshake was withheld at random so far: the bound on what stalls cost.
  virtual std::uint64_t withheld() const = 0;
};

}  // namespace bitcycle
