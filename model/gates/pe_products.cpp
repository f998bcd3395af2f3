#include "model/gates/pe_products.hpp"

#include "model/gates/popcount.hpp"

namespace bitcycle {
namespace {

// Nodes of an adder tree over `leaves`, the leaves and the root included.
std::size_t tree_size(std::size_t leaves) {
  std::size_t size = leaves;
  for (; leaves > 1; leaves = (leaves + 1) / 2) size += (leaves + 1) / 2;
  return size;
}

// Sums above the leaves, in place, where level 0 has `leaves` nodes. Changed bits of all levels
// between leaves and root; `mask`: bits of a leaf, each level has one more. Signs are those of all
// sums, the root's included.
void update_tree(std::vector<std::uint32_t>& nodes, std::size_t leaves, std::uint32_t mask,
                 ProductChanges& out) {
  std::uint32_t* below = nodes.data();
  for (std::size_t count = leaves; count > 1;) {
    const std::size_t next = (count + 1) / 2;
    std::uint32_t* level = below + count;
    mask = mask << 1U | 1U;
    for (std::size_t i = 0; i < next; ++i) {
      const std::uint32_t sum = below[2 * i] + (2 * i + 1 < count ? below[2 * i + 1] : 0U);
      const std::uint32_t difference = sum ^ level[i];
      if (difference == 0) continue;
      level[i] = sum;
      const int bits = count_ones(difference & mask);
      out.tree_signs += static_cast<int>(difference >> 31U);
      if (next > 1) out.tree += bits;
      if (count == leaves) out.pairs_squared += bits * bits;
    }
    below = level;
    count = next;
  }
}

// Sums of pairs of neighbouring fields of `width` bits.
template <unsigned kWidth>
constexpr std::uint64_t pair_sums(std::uint64_t x) {
  constexpr std::uint64_t kMask = ~std::uint64_t{0} / ((std::uint64_t{1} << kWidth) + 1);
  return (x & kMask) + (x >> kWidth & kMask);
}

std::array<std::uint64_t, 6> tree_of(std::uint64_t x) {
  std::array<std::uint64_t, 6> out{};
  out[0] = pair_sums<1>(x);
  out[1] = pair_sums<2>(out[0]);
  out[2] = pair_sums<4>(out[1]);
  out[3] = pair_sums<8>(out[2]);
  out[4] = pair_sums<16>(out[3]);
  out[5] = pair_sums<32>(out[4]);
  return out;
}

std::uint32_t low_mask(unsigned bits) { return (1U << bits) - 1; }

}  // namespace

// ------------------------------------------------------------------ BitProducts
BitProducts::BitProducts(int kl)
    : last_mask_(~std::uint64_t{0} >> (63 - static_cast<unsigned>(kl - 1) % 64)),
      counted_(0),
      words_((static_cast<std::size_t>(kl) + 63) / 64),
      nodes_(tree_size(words_.size()), 0) {
  // The root is no part of the tree's changes: it has a feature of its own.
  while (counted_ < 6 && 2 << counted_ < kl) ++counted_;
}

ProductChanges BitProducts::step(const std::uint64_t* a, const std::uint64_t* w) {
  ProductChanges out;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    Word& word = words_[i];
    std::uint64_t terms = a[i] & w[i];
    if (i + 1 == words_.size()) terms &= last_mask_;
    if (terms == word.terms) continue;
    out.terms += changed_bits(terms, word.terms);
    const auto sums = tree_of(terms);
    std::uint64_t bytes = 0;
    for (int level = 0; level < counted_; ++level) {
      const auto l = static_cast<std::size_t>(level);
      bytes += byte_counts(sums[l] ^ word.sums[l]);
    }
    out.tree += sum_of_bytes(bytes);
    word.terms = terms;
    word.sums = sums;
    nodes_[i] = static_cast<std::uint32_t>(sums[5]);
  }
  if (out.terms != 0 && words_.size() > 1) update_tree(nodes_, words_.size(), 0x7F, out);
  return out;
}

// ------------------------------------------------------------------ DigitProducts
DigitProducts::DigitProducts(int kl, int ra, int rw)
    : ra_(static_cast<unsigned>(ra)),
      rw_(static_cast<unsigned>(rw)),
      // The digit of fewer bits (W if equal) selects rows of the other one, which are
      // sign-extended.
      narrow_a_(ra < rw),
      narrow_mask_(low_mask(narrow_a_ ? ra_ : rw_)),
      wide_mask_(low_mask((narrow_a_ ? rw_ : ra_) + 1)),
      product_mask_(low_mask(ra_ + rw_ + 1)),
      spread_(std::size_t{1} << ra_, 0),
      lanes_(static_cast<std::size_t>(kl)),
      nodes_(tree_size(lanes_.size()), 0) {
  for (std::size_t digit = 0; digit < spread_.size(); ++digit) {
    for (unsigned x = 0; x < ra_; ++x) spread_[digit] |= (digit >> x & 1U) << (x * rw_);
  }
}

// The lane's digits are new, the rest is still that of the cycle before.
void DigitProducts::lane(Lane& lane, std::uint32_t& product, ProductChanges& out) const {
  const std::uint32_t sign_a = a_neg_ ? 1U << (ra_ - 1) : 0;
  const std::uint32_t sign_w = w_neg_ ? 1U << (rw_ - 1) : 0;
  const std::uint32_t a = (lane.a ^ sign_a) - sign_a;  // two's complement
  const std::uint32_t w = (lane.w ^ sign_w) - sign_w;
  const std::uint32_t wide = narrow_a_ ? w : a;
  const std::uint32_t narrow = narrow_a_ ? a : w;
  Lane now = lane;
  now.terms = spread_[lane.a] * lane.w;
  now.wide_sign = wide >> 31U;
  now.narrow_sign = narrow >> 31U;
  now.sign_terms = now.wide_sign != 0 ? narrow & narrow_mask_ : 0;
  now.sign_row = now.narrow_sign != 0 ? ~wide & wide_mask_ : 0;
  const std::uint32_t now_product = a * w;

  const int t = changed_bits(now.terms, lane.terms);
  const int p = count_ones((now_product ^ product) & product_mask_);
  out.terms += t;
  out.terms_squared += t * t;
  out.products += p;
  out.products_squared += p * p;
  out.product_signs += static_cast<int>((now_product ^ product) >> 31U);
  if (((now.wide_sign | now.narrow_sign | lane.wide_sign | lane.narrow_sign)) != 0) {
    out.sign_terms += changed_bits(now.sign_terms, lane.sign_terms);
    out.sign_rows += changed_bits(now.sign_row, lane.sign_row);
    out.wide_signs += now.wide_sign != lane.wide_sign ? 1 : 0;
    out.narrow_signs += now.narrow_sign != lane.narrow_sign ? 1 : 0;
  }
  lane = now;
  product = now_product;
}

ProductChanges DigitProducts::step(const std::uint64_t* a, const std::uint64_t* w, bool a_neg,
                                   bool w_neg) {
  ProductChanges out;
  const bool signs = a_neg != a_neg_ || w_neg != w_neg_;
  a_neg_ = a_neg;
  w_neg_ = w_neg;
  for (std::size_t l = 0; l < lanes_.size(); ++l) {
    // Digits of 1, 2, 4 or 8 bits lie within a word.
    const std::size_t at_a = l * ra_, at_w = l * rw_;
    const auto digit_a = static_cast<std::uint8_t>(a[at_a / 64] >> at_a % 64 & low_mask(ra_));
    const auto digit_w = static_cast<std::uint8_t>(w[at_w / 64] >> at_w % 64 & low_mask(rw_));
    Lane& x = lanes_[l];
    if (!signs && digit_a == x.a && digit_w == x.w) continue;
    x.a = digit_a;
    x.w = digit_w;
    lane(x, nodes_[l], out);
  }
  update_tree(nodes_, lanes_.size(), product_mask_, out);
  return out;
}

}  // namespace bitcycle
