// Output positions: model of rtl/bc_out_pos.sv, register for register.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/array.hpp"

namespace bitcycle {

/// {a1, a0, address}: two digits of an element's number and the words from the output's base.
struct OutPosition {
  std::uint64_t bits = 0;  ///< address in the low half, a0 above it, then a1
  std::uint32_t address() const { return static_cast<std::uint32_t>(bits); }
};

/// Radices of a0 and a1, and what a carry of each adds to the address.
struct OutRadices {
  std::uint16_t r0 = 1, r1 = 1;
  std::uint32_t o1w = 0, o2w = 0;
};

/// Sum of two positions (rtl/bc_out_add.sv).
OutPosition add(OutPosition p, OutPosition q, const OutRadices& r);

class OutPositions {
 public:
  /// n: elements of a tile, a power of two.
  explicit OutPositions(int n);

  /// Address of element `index` of the tile; combinational.
  std::uint32_t address(std::size_t index, const OutRadices& r) const {
    return add(d_[index & (d_.size() - 1)], base_, r).address();
  }
  bool busy() const { return setup_ != 0; }

  struct Inputs {
    bool start = false;
    std::uint32_t o0 = 0;  ///< with start: address of element 1
    unsigned at = 0;       ///< log2 of the step of the base
    bool next = false, restart = false;
  };
  void step(const Inputs& in, const OutRadices& r);
  void reset() { setup_ = k_ = 0; }
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  unsigned steps_;
  std::uint8_t setup_ = 0, k_ = 0;
  OutPosition dbl_, step_, base_;
  std::vector<OutPosition> d_;  // d_[0] is zero, no register
};

}  // namespace bitcycle
