// Random instruction streams that are legal and cannot deadlock: every token that an instruction
// waits for is posted by an earlier one.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "golden/checked.hpp"
#include "model/machine/instruction.hpp"

namespace bitcycle {

class RandomProgram {
 public:
  RandomProgram(const MachineConfig& config, std::uint64_t seed) : c_(config), random_(seed) {}

  std::vector<Instruction> make(int count) {
    std::vector<Instruction> out;
    for (int i = 0; i < count; ++i) {
      switch (pick(0, 4)) {
        case 0:
        case 1:
          out.emplace_back(fetch());
          break;
        case 2:
        case 3:
          out.emplace_back(exec());
          break;
        default:
          out.emplace_back(store());
      }
    }
    return out;
  }

 private:
  std::uint32_t pick(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
  }
  std::uint32_t take(int& tokens) {
    if (pick(0, 2) != 0) return 0;
    const auto n = pick(0, static_cast<std::uint32_t>(std::min(tokens, 3)));
    tokens -= static_cast<int>(n);
    return n;
  }
  bool post(int& tokens) {
    const bool on = tokens < 100 && pick(0, 1) != 0;
    if (on) ++tokens;
    return on;
  }

  LineWalk lines() {
    LineWalk l;
    const auto beat = static_cast<std::uint64_t>(c_.dw) / 8;
    l.dram = pick(0, 4000) * beat;
    l.line_beats = pick(0, 3) == 0 ? pick(1, 200) : pick(1, 12);
    l.n0 = pick(1, 3);
    l.n1 = pick(1, 2);
    l.n2 = pick(1, 2);
    const auto stride = [&] { return static_cast<std::int32_t>(pick(0, 600)) - 100; };
    l.stride0 = stride();
    l.stride1 = stride();
    l.stride2 = stride();
    l.dram += 2000 * beat;  // strides may go below
    l.buffer = pick(0, 2000);
    return l;
  }

  FetchInstruction fetch() {
    FetchInstruction f;
    f.target = pick(0, 1) != 0 ? OperandBuffer::kA : OperandBuffer::kW;
    f.wait_e2f = take(e2f_);
    f.wait_r2f = take(r2f_);
    f.post_f2e = post(f2e_);
    f.lines = lines();
    return f;
  }
  StoreInstruction store() {
    StoreInstruction s;
    s.wait_e2r = take(e2r_);
    s.post_r2e = post(r2e_);
    s.post_r2f = post(r2f_);
    s.lines = lines();
    return s;
  }

  OperandGather side() {
    OperandGather s;
    const auto gl = static_cast<std::uint32_t>(c_.gl);
    const auto stride = [&] { return static_cast<std::int64_t>(pick(0, 300)) - 100; };
    const auto small = [&](std::uint32_t most) {
      return static_cast<std::int32_t>(pick(0, most)) - static_cast<std::int32_t>(most / 3);
    };
    s.base = pick(0, 4000);
    s.transposed = pick(0, 1) != 0;
    s.r0 = pick(1, 20);
    s.r1 = pick(1, 20);
    s.a0 = stride();
    s.a1 = stride();
    s.a2 = stride();
    s.h = pick(1, 30);
    s.w = pick(1, 30);
    s.sy = small(3);
    s.sx = small(3);
    s.y0 = small(6);
    s.x0 = small(6);
    s.dy = small(3);
    s.dx = small(3);
    s.kb0 = pick(1, 4);
    s.cg = pick(1, 4);
    s.br = s.transposed ? pick(1, gl) : 1;
    s.lo = s.transposed ? pick(0, gl - s.br) : pick(0, gl - 1);
    s.hi = pick(1, gl);
    s.b0 = stride();
    s.b1 = stride();
    s.sc = stride();
    return s;
  }

  ExecInstruction exec() {
    ExecInstruction e;
    const auto& a = c_.array;
    const auto most = [](int edge) { return static_cast<std::uint32_t>(edge) * 2 + 1; };
    e.m = pick(1, most(a.tm));
    e.n = pick(1, most(a.tn));
    e.k = pick(0, 3) == 0 ? pick(1, 3) : pick(1, static_cast<std::uint32_t>(a.kl) * 4);
    const auto width = [&] {
      return static_cast<int>(pick(1, static_cast<std::uint32_t>(a.p_max)));
    };
    e.pa = {width(), pick(0, 1) != 0};
    e.pw = {width(), pick(0, 1) != 0};
    e.ps_read = pick(0, 2) == 0;
    e.ps_write = pick(0, 3) == 0;
    e.ps_base = pick(0, static_cast<std::uint32_t>(c_.ps_d) - 1);
    e.wait_f2e = take(f2e_);
    e.wait_r2e = take(r2e_);
    e.post_e2f = post(e2f_);
    e.post_e2r = post(e2r_);
    e.a = side();
    e.w = side();
    ExecOutput& o = e.out;
    const auto gl = static_cast<std::uint32_t>(c_.gl);
    o.raw = pick(0, 2) == 0;
    o.raw32 = pick(0, 1) != 0;
    o.column = !o.raw && pick(0, 1) != 0;
    o.sums = pick(0, 2) == 0;
    o.or0 = pick(1, 6);
    o.or1 = pick(1, 6);
    Requantisation& q = o.q;
    q.mult = static_cast<std::uint16_t>(random_());
    q.shift = static_cast<int>(pick(0, 3) == 0 ? pick(0, 63) : pick(4, 30));
    const auto zero = [&] { return static_cast<std::int32_t>(pick(0, 1000)) - 500; };
    q.za = zero();
    q.zw = zero();
    q.kzz = static_cast<std::int64_t>(random_()) >> pick(8, 50);
    q.zout = zero();
    q.out_bits = static_cast<int>(pick(1, 16));
    q.out_signed = pick(0, 1) != 0;
    q.rounding = static_cast<Rounding>(pick(0, 3));
    q.seed = static_cast<std::uint32_t>(random_());
    o.element = static_cast<std::uint32_t>(random_());
    o.element_row = pick(1, 1000);
    // Results side by side: no two lanes share a word.
    const std::uint32_t integer = (o.raw32 ? 32U : 48U) / gl;
    const auto bits = static_cast<std::uint32_t>(q.out_bits);
    const std::uint32_t positions = o.column ? e.n : e.m;
    const std::uint32_t step = o.raw ? e.n * integer : bits;
    o.ob_base = pick(0, 40);
    o.o0 = step;
    o.o1 = std::int64_t{step} * o.or0;
    o.o2 = o.o1 * o.or1;
    o.oc = std::int64_t{positions} * bits;
    const std::uint32_t channels = o.column ? e.m : e.n;
    const std::uint64_t end = o.ob_base + (o.raw ? std::uint64_t{positions} * step
                                                 : ceil_div(channels, gl) * positions * bits);
    o.sum_a = static_cast<std::uint32_t>(end);
    o.sum_w = o.sum_a + e.m * integer;
    return e;
  }

  MachineConfig c_;
  std::mt19937_64 random_;
  int f2e_ = 0, e2f_ = 0, e2r_ = 0, r2e_ = 0, r2f_ = 0;
};

}  // namespace bitcycle
