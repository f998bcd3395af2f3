// Random exec instructions, and the beats of a side in order straight from the address rule: what
// the tests of the gather share. Random needs bits(width), below(count), range(low, high) and
// chance(percent).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "model/machine/gather_reference.hpp"
#include "model/machine/instruction.hpp"
#include "model/machine/machine_config.hpp"

namespace bitcycle::gather_cases {

template <class Random>
std::uint32_t any_radix(Random& random) {
  switch (random.below(4)) {
    case 0:
      return 1;
    case 1:
      return static_cast<std::uint32_t>(random.range(2, 5));
    case 2:
      return static_cast<std::uint32_t>(random.range(1, 40));
    default:
      return static_cast<std::uint32_t>(random.range(1, 0xFFFF));
  }
}

template <class Random>
std::int64_t any_stride(Random& random) {
  return random.chance(70) ? random.range(-300, 300) : static_cast<std::int32_t>(random.bits(32));
}

template <class Random>
std::int32_t any_step(Random& random) {
  return random.chance(90) ? random.range(-3, 3) : random.range(-0x8000, 0x7FFF);
}

// A convolution-like operand (padding, stride, dilation, lanes masked), or anything at all.
template <class Random>
OperandGather any_side(Random& random, int gl) {
  OperandGather s;
  s.base = static_cast<std::uint32_t>(random.bits(24));
  s.transposed = random.chance(50);
  s.r0 = any_radix(random);
  s.r1 = any_radix(random);
  s.kb0 = any_radix(random);
  s.cg = any_radix(random);
  s.br = static_cast<std::uint32_t>(random.chance(50) ? gl : random.range(1, gl));
  s.a0 = any_stride(random);
  s.a1 = any_stride(random);
  s.a2 = any_stride(random);
  s.b0 = any_stride(random);
  s.b1 = any_stride(random);
  s.sc = any_stride(random);
  if (random.chance(30)) {
    s.lo = static_cast<std::uint32_t>(random.range(0, s.transposed ? gl - 1 : gl + 1));
    s.hi = static_cast<std::uint32_t>(random.range(0, gl + 1));
  } else {
    s.hi = static_cast<std::uint32_t>(gl);
  }
  s.h = s.w = 0x7FFF;
  if (random.chance(70)) {
    s.sy = any_step(random);
    s.sx = any_step(random);
    s.dy = any_step(random);
    s.dx = any_step(random);
    s.y0 = random.range(-3, 8);
    s.x0 = random.range(-3, 8);
    if (random.chance(70)) s.h = static_cast<std::uint32_t>(random.range(1, 20));
    if (random.chance(70)) s.w = static_cast<std::uint32_t>(random.range(1, 20));
    if (random.chance(5)) s.h = 0xFFFF;
    if (random.chance(5)) s.y0 = any_step(random);
  }
  return s;
}

template <class Random>
int any_size(Random& random, int tile, int tiles) {
  switch (random.below(5)) {
    case 0:
      return 1;
    case 1:
      return tile;
    case 2:
      return tile + (random.chance(50) || tile == 1 ? 1 : -1);
    default:
      return random.range(1, tile * tiles);
  }
}

template <class Random>
ExecInstruction any_instruction(Random& random, const MachineConfig& c) {
  ExecInstruction i;
  const bool tall = random.chance(20);
  const bool deep = !tall && random.chance(20);
  i.m = static_cast<std::uint32_t>(any_size(random, c.array.tm, tall ? 9 : deep ? 1 : 3));
  i.n = static_cast<std::uint32_t>(any_size(random, c.array.tn, deep ? 1 : 3));
  i.k = static_cast<std::uint32_t>(any_size(random, c.array.kl, deep ? 20 : tall ? 2 : 4));
  i.pa = {random.range(1, c.array.p_max), random.chance(50)};
  i.pw = {random.range(1, c.array.p_max), random.chance(50)};
  i.ps_write = random.chance(20);
  i.out.raw = random.chance(30);
  i.out.q.out_bits = random.range(1, 16);
  i.a = any_side(random, c.gl);
  i.w = any_side(random, c.gl);
  return i;
}

template <class Random>
void break_something(Random& random, const MachineConfig& c, ExecInstruction& i) {
  OperandGather& side = random.chance(50) ? i.a : i.w;
  switch (random.below(13)) {
    case 0:
      i.m = 0;
      break;
    case 1:
      i.n = 0;
      break;
    case 2:
      i.k = 0;
      break;
    case 3:
      i.pa.bits = 0;
      break;
    case 4:
      i.pw.bits = random.range(c.array.p_max + 1, 31);
      break;
    case 5:
      i.out.q.out_bits = random.chance(50) ? 0 : random.range(17, 31);
      break;
    case 6:
      side.r0 = 0;
      break;
    case 7:
      side.r1 = 0;
      break;
    case 8:
      side.kb0 = 0;
      break;
    case 9:
      side.cg = 0;
      break;
    case 10:
      side.br = random.chance(50) ? 0 : static_cast<std::uint32_t>(c.gl + 1);
      break;
    case 11:
      i.out.or0 = 0;
      break;
    default:
      i.out.or1 = 0;
      break;
  }
}

/// The beats of one side in order, from the definition; with an operand buffer of its own.
class Oracle {
 public:
  Oracle(const MachineConfig& c, bool side_a)
      : t_(side_a ? c.array.tm : c.array.tn),
        b_(side_a ? c.array.ba : c.array.bw),
        kl_(c.array.kl),
        gl_(c.gl),
        tm_(c.array.tm),
        tn_(c.array.tn),
        side_a_(side_a),
        memory_(side_a ? c.l1a_d : c.l1w_d, c.dw, c.gl),
        data_(static_cast<std::size_t>((b_ * kl_ + 63) / 64)) {}

  void start(const ExecInstruction& i) {
    side_ = side_a_ ? i.a : i.w;
    rows_ = side_a_ ? i.m : i.n;
    k_ = i.k;
    bits_ = side_a_ ? i.pa.bits : i.pw.bits;
    const auto up = [](std::uint64_t x, int y) {
      return (x + static_cast<unsigned>(y) - 1) / static_cast<unsigned>(y);
    };
    beats_ = static_cast<unsigned>(groups()) * up(static_cast<unsigned>(bits_), planes());
    chunks_ = up(k_, kl_);
    columns_ = up(i.n, tn_);
    left_ = beats_ * chunks_ * columns_ * up(i.m, tm_);
    at_ = 0;
  }
  void stop() { left_ = 0; }
  bool valid() const { return left_ > 0; }
  OperandMemory& memory() { return memory_; }

  const std::vector<std::uint64_t>& beat() {
    const std::uint64_t beat = at_ % beats_;
    const std::uint64_t chunk = at_ / beats_ % chunks_;
    const std::uint64_t column = at_ / beats_ / chunks_ % columns_;
    const std::uint64_t row = at_ / beats_ / chunks_ / columns_;
    const std::uint64_t tile = side_a_ ? row : column;
    std::fill(data_.begin(), data_.end(), 0);
    for (int word = 0; word < b_; ++word) {
      const auto group = static_cast<int>(beat) % groups();
      const int r = groups() > 1 ? group * b_ + word : word / planes();
      const int plane = groups() > 1 ? static_cast<int>(beat) / groups()
                                     : static_cast<int>(beat) * planes() + word % planes();
      if (plane >= bits_) continue;
      for (int lane = 0; lane < kl_; ++lane) {
        const std::uint64_t bit = gather_bit(
            side_, memory_, gl_, tile * static_cast<unsigned>(t_) + static_cast<unsigned>(r),
            chunk * static_cast<unsigned>(kl_) + static_cast<unsigned>(lane), rows_, k_, plane);
        put_bits(data_.data(), static_cast<std::size_t>(word * kl_ + lane), 1, bit);
        ones[side_.transposed ? 1 : 0] += bit;
        total[side_.transposed ? 1 : 0] += 1;
      }
    }
    return data_;
  }
  void taken() { ++at_, --left_; }

  std::array<std::uint64_t, 2> ones{}, total{};

 private:
  int groups() const { return b_ >= t_ ? 1 : t_ / b_; }
  int planes() const { return b_ >= t_ ? b_ / t_ : 1; }

  int t_, b_, kl_, gl_, tm_, tn_;
  bool side_a_;
  OperandMemory memory_;
  std::vector<std::uint64_t> data_;
  OperandGather side_;
  std::uint64_t rows_ = 0, k_ = 0, beats_ = 1, chunks_ = 1, columns_ = 1;
  std::uint64_t at_ = 0, left_ = 0;
  int bits_ = 0;
};

}  // namespace bitcycle::gather_cases
