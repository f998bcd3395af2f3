// Walks the lines of a strided transfer and splits them into AXI bursts: rtl/bc_burst.sv, and what
// is legal: rtl/bc_dma_check.sv.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/array.hpp"
#include "model/machine/layout.hpp"

namespace bitcycle {

/// The fields that fetch and store instructions have in common.
struct Transfer {
  std::uint64_t dram = 0;  ///< byte address of the first line
  std::uint32_t line_beats = 0;
  std::uint16_t n0 = 0, n1 = 0, n2 = 0;
  std::uint32_t buffer = 0;                             ///< beat, 24 bits
  std::uint32_t stride0 = 0, stride1 = 0, stride2 = 0;  ///< beats, two's complement

  /// Of the six words of an instruction.
  static Transfer decode(const std::uint64_t* words);
  /// Cause for which it is dropped, or none; `dw`: bits of a beat.
  layout::MachineCause check(int dw) const;
};

class BurstWalker {
 public:
  /// `dw`: bits of a beat; `burst`: most beats of a burst.
  BurstWalker(int dw, int burst);

  bool valid() const { return valid_ != 0; }
  std::uint64_t address() const { return addr_; }                                 ///< byte address
  std::uint8_t length() const { return static_cast<std::uint8_t>(beats() - 1); }  ///< beats - 1

  /// `load`: start `transfer`; `next`: the burst is taken.
  void step(bool load, const Transfer& transfer, bool next);
  void reset() { valid_ = 0; }
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  std::uint32_t cap() const;
  std::uint32_t beats() const { return rem_ < cap() ? rem_ : cap(); }
  std::uint64_t ahead(std::uint64_t from, std::uint32_t stride) const;

  unsigned shift_;
  std::uint32_t burst_;
  std::uint8_t valid_ = 0;
  std::uint64_t addr_ = 0, line0_ = 0, line1_ = 0, line2_ = 0;
  std::uint32_t rem_ = 0, line_ = 0, stride0_ = 0, stride1_ = 0, stride2_ = 0;
  std::uint16_t left0_ = 0, left1_ = 0, left2_ = 0, n0_ = 0, n1_ = 0;
};

}  // namespace bitcycle
