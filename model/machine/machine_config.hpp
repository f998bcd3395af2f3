// Build parameters of the whole machine around the array: buffers, bus, queues.
#pragma once

#include <string>

#include "model/array_config.hpp"

namespace bitcycle {

/// Parameters of rtl/bc_machine.sv beyond those of the array. Sizes of memories are in beats.
struct MachineConfig {
  ArrayConfig array;
  int gl = 16;      ///< granule: lanes of a stored word, min(16, KL)
  int dw = 64;      ///< AXI data width, bits: a beat
  int l1a_d = 512;  ///< operand buffer of A, beats, a power of two
  int l1w_d = 512;  ///< operand buffer of W
  int ob_d = 512;   ///< output buffer
  int ps_d = 64;    ///< partial-sum buffer, result beats of the array
  int qd = 4;       ///< instructions per queue
  int out = 4;      ///< outstanding bursts per direction
  int burst = 16;   ///< most beats of a burst

  int words_per_beat() const { return dw / gl; }
  /// clog2(max(TM, TN, KL)): cycles in which an exec instruction sets its address generators up.
  int setup_cycles() const;
  /// Throws InputError naming the field: see docs/the-machine.md for what is allowed.
  void validate() const;
  /// Stable identity of the hardware: every parameter, no name. Usable as a file name.
  std::string key() const;
};

/// The machine around an array: CI sizes for small arrays (TM*TN <= 64), else the presets' sizes.
MachineConfig machine_for(const ArrayConfig& array);

}  // namespace bitcycle
