// Widths of the operands of a layer's three GEMMs, when they differ.
#pragma once

#include <cstdint>

#include "workloads/schedule.hpp"

namespace bitcycle {

/// Bits of both operands of forward, dX and dW. A BitPair is the case in which X and W have b bits
/// everywhere and G has g.
struct LayerBits {
  std::uint8_t fwd_x = 8, fwd_w = 8;  ///< Y: X x W
  std::uint8_t dx_g = 8, dx_w = 8;    ///< dX: G x W
  std::uint8_t dw_g = 8, dw_x = 8;    ///< dW: G x X

  constexpr LayerBits() = default;
  constexpr LayerBits(int bits, int grad_bits) : LayerBits(bits, bits, grad_bits) {}
  constexpr LayerBits(int w, int a, int g)
      : fwd_x(to_byte(a)),
        fwd_w(to_byte(w)),
        dx_g(to_byte(g)),
        dx_w(to_byte(w)),
        dw_g(to_byte(g)),
        dw_x(to_byte(a)) {}
  // Implicit: wherever bits of a layer are asked for, a pair of a schedule will do.
  constexpr LayerBits(const BitPair& pair) : LayerBits(pair.bits, pair.grad_bits) {}  // NOLINT

  /// True if there is one forward width and one gradient width.
  constexpr bool is_pair() const {
    return fwd_x == fwd_w && fwd_x == dx_w && fwd_x == dw_x && dx_g == dw_g;
  }
  /// Meaningful if is_pair().
  constexpr BitPair pair() const { return {fwd_x, dx_g}; }

  friend constexpr bool operator==(const LayerBits& x, const LayerBits& y) {
    return x.fwd_x == y.fwd_x && x.fwd_w == y.fwd_w && x.dx_g == y.dx_g && x.dx_w == y.dx_w &&
           x.dw_g == y.dw_g && x.dw_x == y.dw_x;
  }

 private:
  static constexpr std::uint8_t to_byte(int bits) { return static_cast<std::uint8_t>(bits); }
};

}  // namespace bitcycle
