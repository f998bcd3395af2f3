#include "sim/feeder.hpp"

#include <algorithm>

#include "golden/checked.hpp"
#include "golden/counter_random.hpp"
#include "model/array.hpp"

namespace bitcycle {

OperandFeeder::OperandFeeder(const ArrayConfig& config, const Descriptor& descriptor,
                             OperandSide side, const BitPlanes& planes, std::uint64_t garbage_seed)
    : planes_(planes), side_(side), seed_(garbage_seed) {
  const bool a = side == OperandSide::kA;
  t_ = static_cast<std::uint64_t>(a ? config.tm : config.tn);
  b_ = static_cast<std::uint64_t>(a ? config.ba : config.bw);
  kl_ = static_cast<std::uint64_t>(config.kl);
  rows_ = a ? descriptor.gemm.m : descriptor.gemm.n;
  other_tiles_ = a ? ceil_div(descriptor.gemm.n, static_cast<std::uint64_t>(config.tn))
                   : ceil_div(descriptor.gemm.m, static_cast<std::uint64_t>(config.tm));
  k_ = descriptor.gemm.k;
  const auto bits = static_cast<std::uint64_t>(a ? descriptor.a.bits : descriptor.w.bits);
  planes_per_beat_ = b_ >= t_ ? b_ / t_ : 1;
  groups_ = b_ >= t_ ? 1 : t_ / b_;
  beats_ = ceil_div(bits, planes_per_beat_) * groups_;
  beat_.assign(ceil_div(b_ * kl_, 64), 0);
  build();
}

void OperandFeeder::build() {
  const std::uint64_t group = beat_index_ % groups_;
  const std::uint64_t plane = beat_index_ / groups_ * planes_per_beat_;
  const std::uint64_t left = k_ - chunk_ * kl_;  // lanes of this chunk below K
  for (std::uint64_t i = 0; i < b_; ++i) {
    const std::uint64_t in_tile = groups_ > 1 ? group * b_ + i : i / planes_per_beat_;
    const std::uint64_t p = groups_ > 1 ? plane : plane + i % planes_per_beat_;
    const std::uint64_t row = tile_ * t_ + in_tile;
    const bool real = row < rows_ && p < static_cast<std::uint64_t>(planes_.bits);
    const std::uint64_t* word = real ? planes_.word(row, chunk_, static_cast<int>(p)) : nullptr;
    for (std::uint64_t lane = 0; lane < kl_; lane += 64) {
      const std::uint64_t width = std::min<std::uint64_t>(64, kl_ - lane);
      std::uint64_t value = 0;
      if (word != nullptr && left >= lane + width) {
        value = word[lane / 64];
      } else {
        value = counter_random(seed_, side_ == OperandSide::kA ? 0 : 1, count_ * 512 + i);
        if (word != nullptr && left > lane) {
          const std::uint64_t keep = (std::uint64_t{1} << (left - lane)) - 1;
          value = (value & ~keep) | (word[lane / 64] & keep);
        }
      }
      const std::uint64_t at = i * kl_ + lane;
      if (at % 64 == 0 && width == 64) {
        beat_[at / 64] = value;
      } else {
        put_bits(beat_.data(), at, width, value);
      }
    }
  }
  ++count_;
}

void OperandFeeder::advance() {
  if (done_) return;
  if (++beat_index_ == beats_) {
    beat_index_ = 0;
    if (++chunk_ == planes_.chunks) {
      chunk_ = 0;
      // Row tiles are outermost, whichever side this is.
      const std::uint64_t own_tiles = ceil_div(rows_, t_);
      std::uint64_t& inner = side_ == OperandSide::kA ? other_ : tile_;
      std::uint64_t& outer = side_ == OperandSide::kA ? tile_ : other_;
      const std::uint64_t inner_tiles = side_ == OperandSide::kA ? other_tiles_ : own_tiles;
      const std::uint64_t outer_tiles = side_ == OperandSide::kA ? own_tiles : other_tiles_;
      if (++inner == inner_tiles) {
        inner = 0;
        if (++outer == outer_tiles) {
          done_ = true;
          return;
        }
      }
    }
  }
  build();
}

}  // namespace bitcycle
