// Output buffer: model of rtl/bc_ob.sv. Words of GL bits lie one after another in a flat string of
// bits, little-endian, so a beat of DW bits is DW/8 consecutive bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "model/array.hpp"
#include "model/machine/machine_config.hpp"

namespace bitcycle {

class OutputBuffer {
 public:
  explicit OutputBuffer(const MachineConfig& config)
      : gl_(static_cast<unsigned>(config.gl)),
        beat_bytes_(static_cast<std::size_t>(config.dw) / 8),
        beats_(static_cast<std::size_t>(config.ob_d)),
        word_mask_(static_cast<std::uint32_t>(beats_ * beat_bytes_ * 8 / gl_ - 1)),
        memory_(beats_ * beat_bytes_) {}

  /// DW/8 bytes of a beat (combinational read port).
  const std::uint8_t* beat(std::uint32_t beat) const {
    return &memory_[(beat & (beats_ - 1)) * beat_bytes_];
  }
  std::uint8_t* beat(std::uint32_t beat) { return &memory_[(beat & (beats_ - 1)) * beat_bytes_]; }

  /// Word `address` (truncated to the memory) = the low GL bits of `value`.
  void write_word(std::uint32_t address, std::uint32_t value) {
    const std::size_t word = address & word_mask_;
    if (gl_ == 16) {
      const auto half = static_cast<std::uint16_t>(value);
      std::memcpy(&memory_[word * 2], &half, 2);
    } else if (gl_ == 8) {
      memory_[word] = static_cast<std::uint8_t>(value);
    } else {
      write_lanes(address, 0, gl_, value);
    }
  }
  /// Lanes lane .. lane+count-1 of a word.
  void write_lanes(std::uint32_t address, unsigned lane, unsigned count, std::uint32_t value) {
    const std::size_t word = address & word_mask_;
    if (gl_ == 16) {
      std::uint16_t half = 0;
      std::memcpy(&half, &memory_[word * 2], 2);
      const auto mask = static_cast<std::uint16_t>(((1U << count) - 1U) << lane);
      half = static_cast<std::uint16_t>((half & ~mask) | (value << lane & mask));
      std::memcpy(&memory_[word * 2], &half, 2);
    } else {
      put_bits(memory_.data(), word * gl_ + lane, count, value);
    }
  }
  /// An integer of 48 (or 32) bits, low word first.
  void write_integer(std::uint32_t address, std::uint64_t value, bool is_short) {
    const unsigned words = (is_short ? 32U : 48U) / gl_;
    for (unsigned w = 0; w < words; ++w) {
      write_word(address + w, static_cast<std::uint32_t>(value >> (w * gl_) & 0xFFFFU));
    }
  }

  void list(const std::string& prefix, std::vector<RegisterView>& out) {
    out.push_back({prefix + ".ob_mem", memory_.data(), beats_, beat_bytes_, beat_bytes_ * 8});
  }

 private:
  unsigned gl_;
  std::size_t beat_bytes_, beats_;
  std::uint32_t word_mask_;
  std::vector<std::uint8_t> memory_;
};

}  // namespace bitcycle
