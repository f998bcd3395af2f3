#include "model/gates/pe_activity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/gates/popcount.hpp"

namespace bitcycle {
namespace {

// Square roots of small whole numbers, which nearly all counts are.
double root(int count) {
  constexpr std::size_t kSmall = 512;
  static const std::vector<double> roots = [] {
    std::vector<double> out(kSmall);
    for (std::size_t i = 0; i < kSmall; ++i) out[i] = std::sqrt(static_cast<double>(i));
    return out;
  }();
  const auto i = static_cast<std::size_t>(count);
  return i < kSmall ? roots[i] : std::sqrt(static_cast<double>(count));
}

// Takes over what is new and counts the bits that differ.
int update(std::vector<std::uint64_t>& words, const std::uint64_t* now) {
  int changes = 0;
  for (std::uint64_t& word : words) {
    const std::uint64_t difference = *now++ ^ word;
    if (difference == 0) continue;
    changes += count_ones(difference);
    word ^= difference;
  }
  return changes;
}

}  // namespace

PeActivity::PeActivity(const ArrayConfig& config)
    : kl_(static_cast<std::size_t>(config.kl)),
      hold_(config.s > 1),
      bit_(config.ra == 1 && config.rw == 1),
      mask_(config.ac_w >= 32 ? ~0U : (1U << config.ac_w) - 1),
      a_((static_cast<std::size_t>(config.kl * config.ra) + 63) / 64, 0),
      w_((static_cast<std::size_t>(config.kl * config.rw) + 63) / 64, 0) {
  if (bit_) {
    bits_ = std::make_unique<BitProducts>(config.kl);
  } else {
    digits_ = std::make_unique<DigitProducts>(config.kl, config.ra, config.rw);
  }
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
    add("product_signs", "changed signs of the digit products");
    if (config.kl > 1) {
      add("tree_signs", "changed signs of the sums of pairs, fours, eights... of products");
      add("pairs_squared", "changed bits of the sum of a pair, squared, summed over pairs");
    }
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
  // Glitches grow less than in proportion to what starts them.
  for (std::size_t i = first_count_, n = names_.size(); i < n; ++i) {
    names_.push_back("sqrt_" + names_[i]);
    descriptions_.push_back("square root of " + names_[i] + ", cycle by cycle");
  }
}

bool PeActivity::step(const PePins& pins, double* features) {
  *features++ = 1.0;
  *features++ = pins.add ? 1.0 : 0.0;
  const std::size_t counts = names_.size() - first_count_;  // half of them roots
  Inner now;
  now.control = (pins.add ? 1U : 0U) | (pins.first ? 2U : 0U) | (pins.a_neg ? 4U : 0U) |
                (pins.w_neg ? 8U : 0U) | (pins.hold ? 16U : 0U) |
                static_cast<unsigned>(pins.d) << 5U;
  now.ac = pins.ac;
  now.ah = pins.ah;
  const int a = update(a_, pins.a);
  const int w = update(w_, pins.w);
  if (a == 0 && w == 0 && now.control == before_.control && now.ac == before_.ac &&
      now.ah == before_.ah) {
    std::fill_n(features, counts, 0.0);
    return false;
  }

  ProductChanges p;
  constexpr std::uint64_t kSigns = 4U | 8U;
  const bool operands = a != 0 || w != 0;
  if (bit_ && operands) p = bits_->step(pins.a, pins.w);
  if (!bit_ && (operands || ((now.control ^ before_.control) & kSigns) != 0)) {
    p = digits_->step(pins.a, pins.w, pins.a_neg, pins.w_neg);
  }
  now.ones = (bit_ ? bits_->sum() : digits_->sum()) & mask_;
  const bool subtract = bit_ && pins.a_neg != pins.w_neg;
  now.inverted = subtract ? ~now.ones & mask_ : now.ones;
  now.dot = subtract ? (0U - now.ones) & mask_ : now.ones;
  now.base = pins.first ? 0 : (pins.ac << pins.d) & mask_;
  now.total = (now.base + now.dot) & mask_;
  now.carries = now.base ^ now.dot ^ now.total;

  double* const roots = features + counts / 2;
  std::size_t i = 0;
  const auto put = [&](int count) {
    features[i] = count;
    roots[i++] = root(count);
  };
  put(changed_bits(now.control, before_.control));
  put(a);
  put(w);
  put(p.terms);
  if (!bit_) {
    put(p.products);
    put(p.sign_terms);
    put(p.sign_rows);
    put(p.wide_signs);
    put(p.narrow_signs);
    put(p.terms_squared);
    put(p.products_squared);
    put(p.product_signs);
    if (kl_ > 1) {
      put(p.tree_signs);
      put(p.pairs_squared);
    }
  }
  if (kl_ > 1) {
    put(p.tree);
    put(changed_bits(now.ones, before_.ones));
  }
  if (bit_) {
    put(changed_bits(now.inverted, before_.inverted));
    put(changed_bits(now.dot, before_.dot));
  }
  put(changed_bits(now.base, before_.base));
  put(changed_bits(now.carries, before_.carries));
  put(changed_bits(now.total, before_.total));
  put(changed_bits(now.ac, before_.ac));
  if (hold_) put(changed_bits(now.ah, before_.ah));
  before_ = now;
  return true;
}

}  // namespace bitcycle
