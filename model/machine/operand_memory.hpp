// Operand buffer of one side: rtl/bc_l1.sv without its crossbar, which is in the gather.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "model/array.hpp"

namespace bitcycle {

/// `beats` beats of `dw` bits; a beat is dw/gl words of gl bits, word 0 lowest. Word addresses
/// wrap.
class OperandMemory {
 public:
  OperandMemory(int beats, int dw, int gl)
      : beats_(static_cast<std::uint32_t>(beats)),
        beat_bytes_(static_cast<std::size_t>(dw) / 8),
        gl_(static_cast<std::uint32_t>(gl)),
        word_mask_(beats_ * static_cast<std::uint32_t>(dw / gl) - 1),
        bytes_(beats_ * beat_bytes_ + 8) {}

  /// `data`: dw bits, little-endian. Seen by reads after this.
  void write(std::uint32_t beat, const void* data) {
    std::memcpy(&bytes_[(beat & (beats_ - 1)) * beat_bytes_], data, beat_bytes_);
  }
  /// The gl bits of a word.
  std::uint32_t word(std::uint32_t address) const {
    return static_cast<std::uint32_t>(bits((address & word_mask_) * std::size_t{gl_}) &
                                      ((1U << gl_) - 1U));
  }
  /// Two bytes of a word; gl = 16 only.
  std::uint16_t word16(std::uint32_t address) const {
    std::uint16_t value = 0;
    std::memcpy(&value, &bytes_[(address & word_mask_) * std::size_t{2}], 2);
    return value;
  }
  /// `count` words from an address on, the first lowest; count*gl at most 32.
  std::uint32_t run(std::uint32_t address, std::uint32_t count) const {
    const std::uint32_t first = address & word_mask_;
    if (first + count <= word_mask_ + 1) {
      return static_cast<std::uint32_t>(bits(first * std::size_t{gl_}) &
                                        ((std::uint64_t{1} << (count * gl_)) - 1U));
    }
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < count; ++i) value |= word(address + i) << (i * gl_);
    return value;
  }

  /// The memory as one view, for the comparison at the end of a run.
  void list(const std::string& prefix, std::vector<RegisterView>& out) {
    out.push_back({prefix + ".l1_mem", bytes_.data(), beats_, beat_bytes_, beat_bytes_ * 8});
  }

 private:
  // At least 57 bits from a bit offset on; the spare bytes at the end keep it inside.
  std::uint64_t bits(std::size_t offset) const {
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes_[offset >> 3U], 8);
    return value >> (offset & 7U);
  }

  std::uint32_t beats_;
  std::size_t beat_bytes_;
  std::uint32_t gl_;
  std::uint32_t word_mask_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace bitcycle
