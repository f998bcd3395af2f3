#include "model/machine/partial_sums.hpp"

#include <fmt/format.h>

#include <cstring>

namespace bitcycle {
namespace {

/// Element `i` of a packed vector of `width` (at most 57) bits each, in 64-bit words.
std::uint64_t packed(const void* data, std::size_t i, unsigned width) {
  const std::size_t bit = i * width;
  const auto* words = static_cast<const std::uint8_t*>(data) + bit / 64 * 8;
  const auto shift = static_cast<unsigned>(bit % 64);
  std::uint64_t low = 0;
  std::memcpy(&low, words, 8);
  std::uint64_t value = low >> shift;
  if (shift + width > 64) {
    std::uint64_t high = 0;
    std::memcpy(&high, words + 8, 8);
    value |= high << (64U - shift);
  }
  return value & ((std::uint64_t{1} << width) - 1);
}

int clog2(int value) {
  int bits = 0;
  while ((1 << bits) < value) ++bits;
  return bits;
}

}  // namespace

PartialSums::PartialSums(const MachineConfig& config)
    : width_(static_cast<unsigned>(config.array.acc_w)),
      q_(static_cast<std::size_t>(config.array.q)),
      rows_(static_cast<std::size_t>(
          config.array.q > config.array.tn ? config.array.q / config.array.tn : 1)),
      columns_(q_ / rows_),
      depth_(static_cast<std::size_t>(config.ps_d)),
      mask_((q_ + 63) / 64),
      acc_(q_),
      sum_a_(rows_),
      sum_w_(columns_),
      memory_((q_ + rows_ + columns_) * depth_) {}

bool PartialSums::add(const void* in, std::vector<std::uint64_t>& stage, const std::uint64_t* saved,
                      bool read) const {
  if (!read) {
    for (std::size_t i = 0; i < stage.size(); ++i) stage[i] = packed(in, i, width_);
    return false;
  }
  const std::uint64_t mask = (std::uint64_t{1} << width_) - 1;
  std::uint64_t wrapped = 0;
  for (std::size_t i = 0; i < stage.size(); ++i) {
    const std::uint64_t a = packed(in, i, width_);
    const std::uint64_t b = saved[i * depth_];
    const std::uint64_t total = (a + b) & mask;
    stage[i] = total;
    wrapped |= ~(a ^ b) & (a ^ total);
  }
  return (wrapped >> (width_ - 1) & 1U) != 0;
}

void PartialSums::step(const Inputs& in) {
  if (valid_ != 0 && in.write) {
    std::size_t to = saved_;
    for (const auto* stage : {&acc_, &sum_a_, &sum_w_}) {
      for (const std::uint64_t value : *stage) {
        memory_[to] = value;
        to += depth_;
      }
    }
  }
  if (in.clear) overflow_ = 0;
  valid_ = in.beat != nullptr ? 1 : 0;
  last_ = in.beat != nullptr && in.beat->last ? 1 : 0;
  if (in.beat != nullptr) {
    const ResultBeat& beat = *in.beat;
    // The saved beat, read before this edge's write: entries of neighbouring beats differ.
    const std::uint64_t* saved = &memory_[entry_];
    std::memcpy(mask_.data(), beat.mask, (q_ + 7) / 8);
    if (q_ % 64 != 0) mask_.back() &= (std::uint64_t{1} << (q_ % 64)) - 1;
    bool wrapped = beat.overflow;
    wrapped |= add(beat.data, acc_, saved, in.read);
    wrapped |= add(beat.sum_a, sum_a_, saved + q_ * depth_, in.read);
    wrapped |= add(beat.sum_w, sum_w_, saved + (q_ + rows_) * depth_, in.read);
    if (wrapped) overflow_ = 1;
    saved_ = entry_;
  }
  const auto last_entry = static_cast<std::uint16_t>(depth_ - 1);
  if (in.start) {
    entry_ = in.base & last_entry;
  } else if (in.beat != nullptr) {
    entry_ = static_cast<std::uint16_t>(entry_ + 1) & last_entry;
  }
}

void PartialSums::list(const std::string& prefix, std::vector<RegisterView>& out) {
  const auto width = static_cast<std::size_t>(width_);
  const auto one = [&](const char* name, auto& value, std::size_t bits) {
    out.push_back({prefix + "." + name, &value, 1, sizeof(value), bits});
  };
  one("valid_q", valid_, 1);
  one("last_q", last_, 1);
  one("overflow_q", overflow_, 1);
  out.push_back({prefix + ".mask_q", mask_.data(), 1, mask_.size() * 8, q_});
  const auto entry_bits = static_cast<std::size_t>(clog2(static_cast<int>(depth_)));
  one("entry_q", entry_, entry_bits);
  one("saved_q", saved_, entry_bits);
  std::size_t memory = 0;
  const auto lanes = [&](const char* scope, const char* name, std::vector<std::uint64_t>& stage) {
    for (std::size_t i = 0; i < stage.size(); ++i, memory += depth_) {
      const std::string at = fmt::format("{}.{}[{}].", prefix, scope, i);
      out.push_back({at + name, &stage[i], 1, 8, width});
      out.push_back({at + "ps_mem", &memory_[memory], depth_, 8, width});
    }
  };
  lanes("g_lane", "acc_q", acc_);
  lanes("g_row", "sum_q", sum_a_);
  lanes("g_col", "sum_q", sum_w_);
}

}  // namespace bitcycle
