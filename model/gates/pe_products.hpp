// Inside of a PE before its accumulator: products of digits, the adder tree over them, and how many
// bits of them change from one cycle to the next.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/array_config.hpp"

namespace bitcycle {

/// Changed bits since the cycle before, by kind of signal (PeActivity names them).
struct ProductChanges {
  int terms = 0, products = 0, sign_terms = 0, sign_rows = 0, wide_signs = 0, narrow_signs = 0;
  int terms_squared = 0, products_squared = 0;
  int product_signs = 0;
  int tree = 0, tree_signs = 0, pairs_squared = 0;
};

/// Products of digits of one bit: all lanes of a word at once. Before the first cycle all are 0.
class BitProducts {
 public:
  explicit BitProducts(int kl);
  /// a, w: `kl` bits; bits beyond do not matter.
  ProductChanges step(const std::uint64_t* a, const std::uint64_t* w);
  std::uint32_t sum() const { return nodes_.back(); }  ///< of all products

 private:
  struct Word {
    std::uint64_t terms = 0;
    std::array<std::uint64_t, 6> sums{};  ///< of 2, 4 ... 64 lanes, in fields of as many bits
  };
  std::uint64_t last_mask_;  ///< lanes of the last word
  int counted_;              ///< levels of `sums` below the tree's root
  std::vector<Word> words_;
  std::vector<std::uint32_t> nodes_;  ///< sums of one word, of two, of four...: level after level
};

/// Products of digits of which one has more bits: lane by lane, those whose digits have changed.
class DigitProducts {
 public:
  DigitProducts(int kl, int ra, int rw);
  /// a, w: packed digits, lane-major; a_neg, w_neg: they are signed (their top bit is negative).
  /// Call only with operands or signs that differ from those of the call before.
  ProductChanges step(const std::uint64_t* a, const std::uint64_t* w, bool a_neg, bool w_neg);
  std::uint32_t sum() const { return nodes_.back(); }  ///< of all products, mod 2^32

 private:
  struct Lane {
    std::uint64_t terms = 0;
    std::uint32_t sign_terms = 0, sign_row = 0, wide_sign = 0, narrow_sign = 0;
    std::uint8_t a = 0, w = 0;
  };
  void lane(Lane& lane, std::uint32_t& product, ProductChanges& out) const;

  unsigned ra_, rw_;
  bool narrow_a_;
  std::uint32_t narrow_mask_, wide_mask_, product_mask_;
  bool a_neg_ = false, w_neg_ = false;
  std::vector<std::uint64_t> spread_;  ///< by A digit: its bits, one every RW bits
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> nodes_;  ///< products, sums of pairs, of fours...: level after level
};

}  // namespace bitcycle
