#include "model/gates/pe_activity.hpp"

#include <fmt/format.h>

#include <cmath>

#include "model/array.hpp"

namespace bitcycle {
namespace {

int changed(std::uint64_t a, std::uint64_t b) { return __builtin_popcountll(a ^ b); }

}  // namespace

PeActivity::PeActivity(const ArrayConfig& config)
    : ra_(config.ra),
      rw_(config.rw),
      hold_(config.s > 1),
      bit_(config.ra == 1 && config.rw == 1),
      mask_(config.ac_w >= 32 ? ~0U : (1U << config.ac_w) - 1),
      a_((static_cast<std::size_t>(config.kl * config.ra) + 63) / 64, 0),
      w_((static_cast<std::size_t>(config.kl * config.rw) + 63) / 64, 0),
      now_(static_cast<std::size_t>(config.kl)),
      before_(now_) {
  const auto add = [&](const char* name, const char* what) {
    names_.emplace_back(name);
    descriptions_.emplace_back(what);
  };
  add("cycle", "1: clock, and registers that hold");
  add("add", "1 if AC is enabled");
  first_count_ = names_.size();
  add("control", "changed bits of add, first, d, a_neg, w_neg, hold");
  add("a", "changed bits of the A digits");
  add("w", "changed bits of the W digits");
  add("terms", "changed AND terms of digit bits");
  if (!bit_) {
    add("products", "changed bits of the digit products");
    add("sign_terms", "changed AND terms of the wide digit's sign with bits of the narrow digit");
    add("sign_rows", "changed bits of the wide digit, inverted, where the narrow one is negative");
    add("wide_signs", "changed signs of the wide digits");
    add("narrow_signs", "changed signs of the narrow digits");
    add("terms_squared", "changed terms of a lane, squared, summed over lanes");
    add("products_squared", "changed product bits of a lane, squared, summed over lanes");
  }
  if (config.kl > 1) {
    add("tree", "changed bits of the sums of pairs, fours, eights... of products");
    add("dot", "changed bits of the sum of all products, before a sign");
  }
  if (bit_) {
    add("inverted", "changed bits of that sum, inverted where it is subtracted");
    add("addend", "changed bits of that sum with its sign");
  }
  add("base", "changed bits of the shifted accumulator");
  add("carries", "changed carries of the accumulation");
  add("total", "changed bits of the new sum");
  add("ac", "changed bits of AC");
  if (hold_) add("ah", "changed bits of AH");
  counts_.assign(names_.size(), 0.0);
  // Glitches grow less than in proportion to what starts them.
  for (std::size_t i = first_count_, n = names_.size(); i < n; ++i) {
    names_.push_back("sqrt_" + names_[i]);
    descriptions_.push_back("square root of " + names_[i] + ", cycle by cycle");
  }
}

void PeActivity::make_lanes(const PePins& pins) {
  const auto ra = static_cast<std::size_t>(ra_);
  const auto rw = static_cast<std::size_t>(rw_);
  // The digit of fewer bits (W if equal) selects rows of the other one, which are sign-extended.
  const bool narrow_a = ra_ < rw_;
  const std::uint32_t narrow_mask = (1U << static_cast<unsigned>(narrow_a ? ra_ : rw_)) - 1;
  const std::uint32_t wide_mask = (2U << static_cast<unsigned>(narrow_a ? rw_ : ra_)) - 1;
  for (std::size_t l = 0; l < now_.lanes.size(); ++l) {
    Lane& lane = now_.lanes[l];
    const auto a = static_cast<std::int32_t>(get_bits(pins.a, l * ra, ra));
    const auto w = static_cast<std::int32_t>(get_bits(pins.w, l * rw, rw));
    lane.terms = 0;
    for (std::size_t x = 0; x < ra; ++x) {
      if ((a >> x & 1) != 0) lane.terms |= static_cast<std::uint64_t>(w) << (x * rw);
    }
    const std::int32_t sa = pins.a_neg && !bit_ ? 1 << (ra_ - 1) : 0;
    const std::int32_t sw = pins.w_neg && !bit_ ? 1 << (rw_ - 1) : 0;
    const std::int32_t va = (a ^ sa) - sa;
    const std::int32_t vw = (w ^ sw) - sw;
    lane.product = static_cast<std::uint32_t>(va * vw);
    const auto wide = static_cast<std::uint32_t>(narrow_a ? vw : va);
    const auto narrow = static_cast<std::uint32_t>(narrow_a ? va : vw);
    lane.wide_sign = wide >> 31;
    lane.narrow_sign = narrow >> 31;
    lane.sign_terms = lane.wide_sign != 0 ? narrow & narrow_mask : 0;
    lane.sign_row = lane.narrow_sign != 0 ? ~wide & wide_mask : 0;
    now_.tree[0][l] = lane.product;
  }
  for (std::size_t level = 1; level < now_.tree.size(); ++level) {
    const auto& below = now_.tree[level - 1];
    for (std::size_t i = 0; i < now_.tree[level].size(); ++i) {
      now_.tree[level][i] = below[2 * i] + (2 * i + 1 < below.size() ? below[2 * i + 1] : 0U);
    }
  }
}

void PeActivity::step(const PePins& pins, double* features) {
  make_lanes(pins);
  now_.control = (pins.add ? 1U : 0U) | (pins.first ? 2U : 0U) | (pins.a_neg ? 4U : 0U) |
                 (pins.w_neg ? 8U : 0U) | (pins.hold ? 16U : 0U) |
                 static_cast<unsigned>(pins.d) << 5U;
  const bool subtract = bit_ && pins.a_neg != pins.w_neg;
  now_.ones = now_.tree.back()[0] & mask_;
  now_.inverted = subtract ? ~now_.ones & mask_ : now_.ones;
  now_.dot = subtract ? (0U - now_.ones) & mask_ : now_.ones;
  now_.base = pins.first ? 0 : (pins.ac << pins.d) & mask_;
  now_.total = (now_.base + now_.dot) & mask_;
  now_.ac = pins.ac;
  now_.ah = pins.ah;

  int a = 0, w = 0;
  for (std::size_t i = 0; i < a_.size(); ++i) a += changed(pins.a[i], a_[i]), a_[i] = pins.a[i];
  for (std::size_t i = 0; i < w_.size(); ++i) w += changed(pins.w[i], w_[i]), w_[i] = pins.w[i];
  const auto digit_bits = static_cast<unsigned>(ra_ + rw_);
  const std::uint32_t product_mask = (2U << digit_bits) - 1;
  int terms = 0, terms2 = 0, products = 0, products2 = 0, sign_terms = 0, sign_rows = 0;
  int wide_signs = 0, narrow_signs = 0, tree = 0;
  for (std::size_t l = 0; l < now_.lanes.size(); ++l) {
    const Lane& x = now_.lanes[l];
    const Lane& y = before_.lanes[l];
    const int t = changed(x.terms, y.terms);
    const int p = changed(x.product & product_mask, y.product & product_mask);
    terms += t;
    terms2 += t * t;
    products += p;
    products2 += p * p;
    sign_terms += changed(x.sign_terms, y.sign_terms);
    sign_rows += changed(x.sign_row, y.sign_row);
    wide_signs += x.wide_sign != y.wide_sign ? 1 : 0;
    narrow_signs += x.narrow_sign != y.narrow_sign ? 1 : 0;
  }
  for (std::size_t level = 1; level + 1 < now_.tree.size(); ++level) {
    const std::uint32_t mask = (2U << (digit_bits + static_cast<unsigned>(level))) - 1;
    for (std::size_t i = 0; i < now_.tree[level].size(); ++i) {
      tree += changed(now_.tree[level][i] & mask, before_.tree[level][i] & mask);
    }
  }

  double* f = counts_.data();
  *f++ = 1.0;
  *f++ = pins.add ? 1.0 : 0.0;
  *f++ = changed(now_.control, before_.control);
  *f++ = a;
  *f++ = w;
  *f++ = terms;
  if (!bit_) {
    *f++ = products;
    *f++ = sign_terms;
    *f++ = sign_rows;
    *f++ = wide_signs;
    *f++ = narrow_signs;
    *f++ = terms2;
    *f++ = products2;
  }
  if (now_.lanes.size() > 1) {
    *f++ = tree;
    *f++ = changed(now_.ones, before_.ones);
  }
  if (bit_) {
    *f++ = changed(now_.inverted, before_.inverted);
    *f++ = changed(now_.dot, before_.dot);
  }
  *f++ = changed(now_.base, before_.base);
  *f++ = changed(now_.base ^ now_.dot ^ now_.total, before_.base ^ before_.dot ^ before_.total);
  *f++ = changed(now_.total, before_.total);
  *f++ = changed(now_.ac, before_.ac);
  if (hold_) *f++ = changed(now_.ah, before_.ah);
  for (const double count : counts_) *features++ = count;
  for (std::size_t i = first_count_; i < counts_.size(); ++i) *features++ = std::sqrt(counts_[i]);
  std::swap(now_, before_);
}

}  // namespace bitcycle
