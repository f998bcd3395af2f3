// Exec engine up to the array's ports: rtl/bc_exec.sv, with both gathers and operand buffers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/array.hpp"
#include "model/machine/gather.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine_config.hpp"
#include "model/machine/operand_memory.hpp"

namespace bitcycle {

/// Inputs of one edge.
struct ExecStep {
  bool start = false;
  const std::uint64_t* inst = nullptr;  ///< 27 words; read if start
  bool l1a_write = false, l1w_write = false;
  std::uint32_t l1a_beat = 0, l1w_beat = 0;
  const void* l1_data = nullptr;                              ///< dw bits, little-endian
  bool desc_ready = false, a_ready = false, w_ready = false;  ///< from the array
};

/// Outputs are functions of the registers. done is err or the result unit's own pulse.
class ExecUnit {
 public:
  explicit ExecUnit(const MachineConfig& config);

  void reset();
  void step(const ExecStep& in);

  /// A set-up cycle, and its number (in the descriptor's cycle: how many there were).
  bool setup() const { return run_ != 0 && setup_k_ != setup_cycles_; }
  int setup_k() const { return setup_k_; }
  /// The instruction is illegal: it ends in this cycle.
  bool err() const { return run_ != 0 && setup_k_ == 0 && cause() != layout::MachineCause::kNone; }
  layout::MachineCause cause() const;
  bool desc_valid() const { return run_ != 0 && setup_k_ == setup_cycles_ && !err(); }
  bool load(bool desc_ready) const { return desc_valid() && desc_ready; }
  RawDescriptor descriptor() const;
  bool a_valid() const { return gather_a_.valid(); }
  bool w_valid() const { return gather_w_.valid(); }
  /// The beat of this cycle, while valid: ask only if the array takes it, before step().
  const std::uint64_t* a_beat() { return gather_a_.beat(l1a_, pa_); }
  const std::uint64_t* w_beat() { return gather_w_.beat(l1w_, pw_); }

  void list(const std::string& prefix, std::vector<RegisterView>& out);
  /// The operand buffers, for the end of a run.
  void list_memories(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  int p_max_, setup_cycles_;
  std::uint32_t m_ = 0, n_ = 0, k_ = 0;
  std::uint8_t pa_ = 0, pw_ = 0, a_signed_ = 0, w_signed_ = 0;
  std::uint8_t out_bits_bad_ = 0, out_radix_bad_ = 0;  ///< results leave, and are illegal
  std::uint8_t run_ = 0, setup_k_ = 0;
  Gather gather_a_, gather_w_;
  OperandMemory l1a_, l1w_;
};

}  // namespace bitcycle
