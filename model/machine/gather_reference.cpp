#include "model/machine/gather_reference.hpp"

namespace bitcycle {

std::uint64_t gather_bit(const OperandGather& s, const OperandMemory& memory, int gl,
                         std::uint64_t i, std::uint64_t k, std::uint64_t rows,
                         std::uint64_t reduction, int plane) {
  if (i >= rows || k >= reduction) return 0;
  const auto lanes = static_cast<std::uint64_t>(gl);
  std::uint64_t o = 0, cg = 0, b0 = 0, b1 = 0, g = 0;
  if (s.transposed) {
    o = k;
    const std::uint64_t cgs = i / s.br;
    cg = cgs % s.cg;
    b0 = cgs / s.cg % s.kb0;
    b1 = cgs / s.cg / s.kb0;
    g = i % s.br + s.lo;
    if (g >= lanes) return 0;
  } else {
    o = i;
    const std::uint64_t t = k / lanes;
    cg = t % s.cg;
    b0 = t / s.cg % s.kb0;
    b1 = t / s.cg / s.kb0;
    g = k % lanes;
    if (cg == 0 && g < s.lo) return 0;
    if (cg + 1 == s.cg && g >= s.hi) return 0;
  }
  const std::uint64_t a0 = o % s.r0, a1 = o / s.r0 % s.r1, a2 = o / s.r0 / s.r1;
  // Strides are signed; everything is modulo 2^64, of which the hardware keeps the low bits.
  const auto sum = [](std::int64_t origin, std::uint64_t a, std::int64_t sa, std::uint64_t b,
                      std::int64_t sb) {
    return static_cast<std::uint64_t>(origin) + a * static_cast<std::uint64_t>(sa) +
           b * static_cast<std::uint64_t>(sb);
  };
  const auto y = static_cast<std::int16_t>(sum(s.y0, a1, s.sy, b1, s.dy) & 0xFFFFU);
  const auto x = static_cast<std::int16_t>(sum(s.x0, a0, s.sx, b0, s.dx) & 0xFFFFU);
  if (y < 0 || x < 0 || static_cast<std::uint32_t>(y) >= s.h ||
      static_cast<std::uint32_t>(x) >= s.w) {
    return 0;
  }
  const std::uint64_t address =
      sum(s.base, a0, s.a0, a1, s.a1) + sum(plane, a2, s.a2, cg, s.sc) + sum(0, b0, s.b0, b1, s.b1);
  return memory.word(static_cast<std::uint32_t>(address)) >> g & 1U;
}

}  // namespace bitcycle
