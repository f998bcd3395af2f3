#include "model/machine/positions.hpp"

#include <algorithm>

namespace bitcycle {
namespace {

template <class T>
void one(std::vector<RegisterView>& out, const std::string& name, T& value) {
  out.push_back({name, &value, 1, sizeof(T), sizeof(T) * 8});
}

template <class T>
void many(std::vector<RegisterView>& out, const std::string& name, std::vector<T>& values) {
  out.push_back({name, values.data(), values.size(), sizeof(T), sizeof(T) * 8});
}

// Sum of two digits and a carry; returns the carry and leaves the digit. Both sides of the
// comparison are one bit wider than a digit; the digit itself is truncated.
template <class T>
bool digit(T p, T q, bool carry, T radix, T& sum) {
  const std::uint32_t wide = std::uint32_t{p} + q + (carry ? 1U : 0U);
  const bool over = wide >= radix;
  sum = static_cast<T>(over ? wide - radix : wide);
  return over;
}

std::uint16_t low16(std::uint32_t value) { return static_cast<std::uint16_t>(value); }

}  // namespace

PosOuter::PosOuter(int count)
    : d_(static_cast<std::size_t>(count)), d_addr_(static_cast<std::size_t>(count)) {}

PosOuter::Position PosOuter::add(const Position& p, const Position& q) const {
  Position s;
  const bool c0 = digit(p.digits.a0, q.digits.a0, false, r0_, s.digits.a0);
  const bool c1 = digit(p.digits.a1, q.digits.a1, c0, r1_, s.digits.a1);
  s.addr = p.addr + q.addr + (c0 ? a1w_ : 0) + (c1 ? a2w_ : 0);
  s.digits.y = low16(0U + p.digits.y + q.digits.y + (c0 ? sy_ : 0U) - (c1 ? yw_ : 0U));
  s.digits.x = low16(0U + p.digits.x + q.digits.x - (c0 ? xw_ : 0U));
  return s;
}

void PosOuter::step(const PositionStep& in, const OuterFields& fields) {
  if ((in.setup || in.load) && in.setup_k == in.at) step_ = dbl_;
  if (in.load || in.restart) {
    base_ = Position{};
    base_.digits.x = x0_;
    base_.digits.y = y0_;
    base_.addr = base_addr0_;
  } else if (in.next) {
    base_ = add(base_, step_);
  }
  if (in.setup) {
    const std::size_t low = std::size_t{1} << static_cast<unsigned>(in.setup_k);
    for (std::size_t e = low; e < std::min(2 * low, d_.size()); ++e) {
      const Position p = add({d_[e - low], d_addr_[e - low]}, dbl_);
      d_[e] = p.digits;
      d_addr_[e] = p.addr;
    }
    if (!in.start) dbl_ = add(dbl_, dbl_);
  }
  if (in.start) {
    r0_ = fields.r0;
    r1_ = fields.r1;
    a1w_ = fields.a1w;
    a2w_ = fields.a2w;
    sy_ = fields.sy;
    xw_ = fields.xw;
    yw_ = fields.yw;
    base_addr0_ = fields.base;
    y0_ = fields.y0;
    x0_ = fields.x0;
    d_[0] = Digits{};
    d_addr_[0] = 0;
    Position unit;
    unit.digits.a0 = 1;
    unit.digits.x = fields.sx;
    unit.addr = fields.a0;
    dbl_ = add(Position{}, unit);
  }
}

Element PosOuter::element(int e) const {
  const auto i = static_cast<std::size_t>(e);
  const Position p = add({d_[i], d_addr_[i]}, base_);
  return {p.addr, p.digits.y, p.digits.x};
}

void PosOuter::elements(int count, Element* out) const {
  for (int e = 0; e < count; ++e) out[e] = element(e);
}

void PosOuter::list(const std::string& prefix, std::vector<RegisterView>& out) {
  one(out, prefix + ".r0_q", r0_);
  one(out, prefix + ".r1_q", r1_);
  one(out, prefix + ".a1w_q", a1w_);
  one(out, prefix + ".a2w_q", a2w_);
  one(out, prefix + ".sy_q", sy_);
  one(out, prefix + ".xw_q", xw_);
  one(out, prefix + ".yw_q", yw_);
  one(out, prefix + ".base_addr0_q", base_addr0_);
  one(out, prefix + ".y0_q", y0_);
  one(out, prefix + ".x0_q", x0_);
  many(out, prefix + ".d_q", d_);
  many(out, prefix + ".d_addr_q", d_addr_);
  one(out, prefix + ".dbl_q", dbl_.digits);
  one(out, prefix + ".dbl_addr_q", dbl_.addr);
  one(out, prefix + ".step_q", step_.digits);
  one(out, prefix + ".step_addr_q", step_.addr);
  one(out, prefix + ".base_q", base_.digits);
  one(out, prefix + ".base_addr_q", base_.addr);
}

PosTap::PosTap(int count)
    : d_(static_cast<std::size_t>(count)),
      d_addr_(static_cast<std::size_t>(count)),
      d_bit_(static_cast<std::size_t>(count)) {}

PosTap::Position PosTap::add(const Position& p, const Position& q) const {
  Position s;
  const bool cb = digit(p.bit, q.bit, false, br_, s.bit);
  const bool c1 = digit(p.digits.cg, q.digits.cg, cb, cg_, s.digits.cg);
  const bool c2 = digit(p.digits.b0, q.digits.b0, c1, kb0_, s.digits.b0);
  s.addr = p.addr + q.addr + (cb ? sc_ : 0) + (c1 ? b0w_ : 0) + (c2 ? b1w_ : 0);
  s.digits.y = low16(0U + p.digits.y + q.digits.y + (c2 ? dy_ : 0U));
  s.digits.x = low16(0U + p.digits.x + q.digits.x + (c1 ? dx_ : 0U) - (c2 ? dxw_ : 0U));
  return s;
}

void PosTap::step(const PositionStep& in, const TapFields& fields) {
  if ((in.setup || in.load) && in.setup_k == in.at) step_ = dbl_;
  if (in.load || in.restart) {
    base_ = Position{};
  } else if (in.next) {
    base_ = add(base_, step_);
  }
  if (in.setup) {
    const std::size_t low = std::size_t{1} << static_cast<unsigned>(in.setup_k);
    for (std::size_t e = low; e < std::min(2 * low, d_.size()); ++e) {
      const Position p = add({d_[e - low], d_addr_[e - low], d_bit_[e - low]}, dbl_);
      d_[e] = p.digits;
      d_addr_[e] = p.addr;
      d_bit_[e] = p.bit;
    }
    if (!in.start) dbl_ = add(dbl_, dbl_);
  }
  if (in.start) {
    br_ = fields.br;
    cg_ = fields.cg;
    kb0_ = fields.kb0;
    sc_ = fields.sc;
    b0w_ = fields.b0w;
    b1w_ = fields.b1w;
    dx_ = fields.dx;
    dy_ = fields.dy;
    dxw_ = fields.dxw;
    d_[0] = Digits{};
    d_addr_[0] = 0;
    d_bit_[0] = 0;
    Position unit;
    unit.bit = 1;
    dbl_ = add(Position{}, unit);
  }
}

void PosTap::elements(int count, Tap* out) const {
  for (int e = 0; e < count; ++e) {
    const auto i = static_cast<std::size_t>(e);
    const Position p = add({d_[i], d_addr_[i], d_bit_[i]}, base_);
    Tap& tap = out[e];
    tap.addr = p.addr;
    tap.y = p.digits.y;
    tap.x = p.digits.x;
    tap.bit = p.bit;
    tap.first_cg = p.digits.cg == 0;
    tap.last_cg = p.digits.cg == low16(cg_ - 1U);
  }
}

void PosTap::list(const std::string& prefix, std::vector<RegisterView>& out) {
  one(out, prefix + ".br_q", br_);
  one(out, prefix + ".cg_q", cg_);
  one(out, prefix + ".kb0_q", kb0_);
  one(out, prefix + ".dx_q", dx_);
  one(out, prefix + ".dy_q", dy_);
  one(out, prefix + ".dxw_q", dxw_);
  one(out, prefix + ".sc_q", sc_);
  one(out, prefix + ".b0w_q", b0w_);
  one(out, prefix + ".b1w_q", b1w_);
  many(out, prefix + ".d_q", d_);
  many(out, prefix + ".d_addr_q", d_addr_);
  many(out, prefix + ".d_bit_q", d_bit_);
  one(out, prefix + ".dbl_q", dbl_.digits);
  one(out, prefix + ".dbl_addr_q", dbl_.addr);
  one(out, prefix + ".dbl_bit_q", dbl_.bit);
  one(out, prefix + ".step_q", step_.digits);
  one(out, prefix + ".step_addr_q", step_.addr);
  one(out, prefix + ".step_bit_q", step_.bit);
  one(out, prefix + ".base_q", base_.digits);
  one(out, prefix + ".base_addr_q", base_.addr);
  one(out, prefix + ".base_bit_q", base_.bit);
}

}  // namespace bitcycle
