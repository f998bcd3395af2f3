// Operand beats in the order of rtl/bc_fill.sv, cut from bit planes.
#pragma once

#include <cstdint>
#include <vector>

#include "golden/bitplanes.hpp"
#include "model/array_config.hpp"
#include "model/formula.hpp"

namespace bitcycle {

enum class OperandSide { kA, kW };

/// Walks the beats of one operand for one descriptor. Rows at or beyond M (N) and lanes at or
/// beyond K carry seeded garbage: the array must not look at them.
class OperandFeeder {
 public:
  /// `planes` must outlive the feeder; its rows are M (side A) or N (side W).
  OperandFeeder(const ArrayConfig& config, const Descriptor& descriptor, OperandSide side,
                const BitPlanes& planes, std::uint64_t garbage_seed);

  bool done() const { return done_; }
  /// The current beat, packed as on the RTL's port. Valid until advance().
  const std::uint64_t* beat() const { return beat_.data(); }
  void advance();

 private:
  void build();

  const BitPlanes& planes_;
  OperandSide side_;
  std::uint64_t t_, b_, kl_, rows_, other_tiles_, k_;
  std::uint64_t planes_per_beat_, groups_, beats_;
  std::uint64_t seed_;
  // Position: tile of this side, tile of the other side, chunk, beat.
  std::uint64_t tile_ = 0, other_ = 0, chunk_ = 0, beat_index_ = 0;
  std::uint64_t count_ = 0;
  bool done_ = false;
  std::vector<std::uint64_t> beat_;
};

}  // namespace bitcycle
