// Position generators of the gather and of the output: rtl/bc_pos_outer.sv, rtl/bc_pos_tap.sv.
// A position is the digits of an index, the address and the pixel that they stand for; positions
// are added with carries, so that no multiplier and no divider is needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/array.hpp"

namespace bitcycle {

/// Fields of an instruction that an outer generator takes in the start cycle. Addresses are modulo
/// 2^32, coordinates modulo 2^16. Output positions leave all but r0, r1, a0, a1w, a2w at 0.
struct OuterFields {
  std::uint16_t r0 = 1, r1 = 1;                  ///< radices
  std::uint32_t a0 = 0, a1w = 0, a2w = 0;        ///< A0, A1 - R0*A0, A2 - R1*A1
  std::uint16_t sy = 0, sx = 0, xw = 0, yw = 0;  ///< steps; R0*sx, R1*sy
  std::uint32_t base = 0;                        ///< address of element 0
  std::uint16_t y0 = 0, x0 = 0;                  ///< its pixel
};

/// The same of a tap generator.
struct TapFields {
  std::uint8_t br = 1;
  std::uint16_t cg = 1, kb0 = 1;
  std::uint32_t sc = 0, b0w = 0, b1w = 0;  ///< SC, B0 - CG*SC, B1 - KB0*B0
  std::uint16_t dx = 0, dy = 0, dxw = 0;   ///< steps; KB0*dx
};

/// Inputs of both generators for one edge.
struct PositionStep {
  bool start = false;    ///< take the fields
  bool setup = false;    ///< a set-up cycle
  int setup_k = 0;       ///< its number; in the load cycle the number of set-up cycles
  int at = 0;            ///< log2 of the elements of a step
  bool load = false;     ///< base = element 0
  bool next = false;     ///< base += step
  bool restart = false;  ///< base = element 0
};

/// What a reader of an element gets.
struct Element {
  std::uint32_t addr = 0;
  std::uint16_t y = 0, x = 0;
};

class PosOuter {
 public:
  /// `count` elements, a power of two.
  explicit PosOuter(int count);

  /// One edge; `fields` is read if in.start.
  void step(const PositionStep& in, const OuterFields& fields);
  /// The first `count` elements from the base on. Meaningless during the set-up.
  void elements(int count, Element* out) const;
  Element element(int e) const;
  bool illegal() const { return r0_ == 0 || r1_ == 0; }
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  struct Digits {  // low to high: {a1, a0, y, x} of the RTL
    std::uint16_t x = 0, y = 0, a0 = 0, a1 = 0;
  };
  static_assert(sizeof(Digits) == 8, "seen from outside as one 64-bit register");
  struct Position {
    Digits digits;
    std::uint32_t addr = 0;
  };
  Position add(const Position& p, const Position& q) const;

  std::uint16_t r0_ = 0, r1_ = 0, sy_ = 0, xw_ = 0, yw_ = 0, y0_ = 0, x0_ = 0;
  std::uint32_t a1w_ = 0, a2w_ = 0, base_addr0_ = 0;
  std::vector<Digits> d_;
  std::vector<std::uint32_t> d_addr_;
  Position dbl_, step_, base_;
};

class PosTap {
 public:
  struct Tap : Element {
    std::uint8_t bit = 0;
    bool first_cg = false, last_cg = false;
  };

  explicit PosTap(int count);

  void step(const PositionStep& in, const TapFields& fields);
  void elements(int count, Tap* out) const;
  bool illegal() const { return br_ == 0 || cg_ == 0 || kb0_ == 0; }
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  struct Digits {  // low to high: {b0, cg, y, x} of the RTL
    std::uint16_t x = 0, y = 0, cg = 0, b0 = 0;
  };
  static_assert(sizeof(Digits) == 8, "seen from outside as one 64-bit register");
  struct Position {
    Digits digits;
    std::uint32_t addr = 0;
    std::uint8_t bit = 0;
  };
  Position add(const Position& p, const Position& q) const;

  std::uint8_t br_ = 0;
  std::uint16_t cg_ = 0, kb0_ = 0, dx_ = 0, dy_ = 0, dxw_ = 0;
  std::uint32_t sc_ = 0, b0w_ = 0, b1w_ = 0;
  std::vector<Digits> d_;
  std::vector<std::uint32_t> d_addr_;
  std::vector<std::uint8_t> d_bit_;
  Position dbl_, step_, base_;
};

}  // namespace bitcycle
