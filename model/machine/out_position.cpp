#include "model/machine/out_position.hpp"

#include <fmt/format.h>

namespace bitcycle {

OutPosition add(OutPosition p, OutPosition q, const OutRadices& r) {
  const auto a0_of = [](OutPosition v) {
    return static_cast<std::uint32_t>(v.bits >> 32U & 0xFFFFU);
  };
  const auto a1_of = [](OutPosition v) { return static_cast<std::uint32_t>(v.bits >> 48U); };
  std::uint32_t address = p.address() + q.address();
  std::uint32_t a0 = a0_of(p) + a0_of(q);
  std::uint32_t a1 = a1_of(p) + a1_of(q);
  if (a0 >= r.r0) {
    a0 -= r.r0;
    ++a1;
    address += r.o1w;
  }
  if (a1 >= r.r1) {
    a1 -= r.r1;
    address += r.o2w;
  }
  return {std::uint64_t{a1 & 0xFFFFU} << 48U | std::uint64_t{a0 & 0xFFFFU} << 32U | address};
}

OutPositions::OutPositions(int n) : steps_(0), d_(static_cast<std::size_t>(n)) {
  while ((1 << steps_) < n) ++steps_;
}

void OutPositions::step(const Inputs& in, const OutRadices& r) {
  if (in.start || in.restart) {
    base_ = {};
  } else if (in.next) {
    base_ = add(base_, step_, r);
  }
  if (setup_ != 0) {
    if (k_ == in.at) step_ = dbl_;
    const std::size_t from = std::size_t{1} << k_;
    for (std::size_t e = from; e < 2 * from && e < d_.size(); ++e) {
      d_[e] = e == from ? dbl_ : add(d_[e - from], dbl_, r);
    }
  }
  if (in.start) {
    dbl_ = add({}, {std::uint64_t{1} << 32U | in.o0}, r);
    setup_ = 1;
    k_ = 0;
  } else if (setup_ != 0) {
    dbl_ = add(dbl_, dbl_, r);
    setup_ = k_ != steps_ ? 1 : 0;
    k_ = (k_ + 1) & 0xFU;
  }
}

void OutPositions::list(const std::string& prefix, std::vector<RegisterView>& out) {
  out.push_back({prefix + ".setup_q", &setup_, 1, 1, 1});
  out.push_back({prefix + ".k_q", &k_, 1, 1, 4});
  out.push_back({prefix + ".dbl_q", &dbl_.bits, 1, 8, 64});
  out.push_back({prefix + ".step_q", &step_.bits, 1, 8, 64});
  out.push_back({prefix + ".base_q", &base_.bits, 1, 8, 64});
  for (std::size_t e = 1; e < d_.size(); ++e) {
    out.push_back({fmt::format("{}.g_element[{}].d_q", prefix, e), &d_[e].bits, 1, 8, 64});
  }
}

}  // namespace bitcycle
