// Assembles instructions from 64-bit words and hands them to the engines' queues:
// rtl/bc_dispatch.sv.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/array.hpp"
#include "model/machine/layout.hpp"

namespace bitcycle {

class Dispatch {
 public:
  struct Inputs {
    bool flush = false;  ///< take and discard words
    bool inst_valid = false;
    std::uint64_t inst_data = 0;
    bool mm_valid = false;  ///< words pushed through the register block
    std::uint64_t mm_data = 0;
    std::uint8_t room = 0;  ///< bit e: the queue of engine e takes an instruction
  };

  /// Engines' queues that take inst() in this cycle, one-hot (of flush and room).
  std::uint8_t push(const Inputs& in) const;
  bool inst_ready(const Inputs& in) const;  ///< of flush and room
  bool mm_ready(const Inputs& in) const;    ///< of flush, room and inst_valid
  bool err(const Inputs& in) const;         ///< illegal header, dropped
  bool busy() const { return pending_ != 0 || count_ != 0; }
  /// The assembled instruction; fetch and store use the first six words.
  const std::uint64_t* inst() const { return asm_.data(); }

  void step(const Inputs& in);
  void reset();
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  bool open(const Inputs& in) const;
  bool from_mm(const Inputs& in) const;
  bool accept(const Inputs& in) const;

  std::uint8_t live_ = 0, pending_ = 0, kind_ = 0, count_ = 0, src_ = 0;
  std::array<std::uint64_t, layout::kExecWords> asm_{};
};

}  // namespace bitcycle
