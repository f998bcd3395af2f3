// Random fetch and store instructions of a few thousand beats at most, and the beats that they
// name.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/machine/axi.hpp"
#include "model/machine/layout.hpp"
#include "tests/machine/unit/unit.hpp"

namespace bitcycle::unit {

using DmaWords = std::array<std::uint64_t, layout::kFetchWords>;

inline void set(DmaWords& words, layout::Field field, std::uint64_t value) {
  put_bits(words.data(), static_cast<std::size_t>(field.bit), static_cast<std::size_t>(field.width),
           value);
}

inline std::uint64_t get(const DmaWords& words, layout::Field field) {
  return get_bits(words.data(), static_cast<std::size_t>(field.bit),
                  static_cast<std::size_t>(field.width));
}

/// Fields that fetch and store share; every other bit is random.
inline DmaWords random_transfer(Random& random, int dw, bool legal) {
  DmaWords words;
  for (auto& word : words) word = random.word();
  const auto bytes = static_cast<std::uint64_t>(dw / 8);
  // Near a page border half of the time, at the end of the address space sometimes.
  std::uint64_t base = random.chance(50) ? random.bits(27) << 12U : random.bits(39);
  if (random.chance(10)) base = kAxiAddressMask + 1 - bytes * random.below(64);
  if (random.chance(50)) base -= bytes * random.below(20);
  set(words, layout::kFetchDram, base / bytes * bytes);
  const auto shape = [&](int most) {
    return random.chance(50) ? 1 : static_cast<std::uint64_t>(random.range(1, most));
  };
  set(words, layout::kFetchLineBeats, random.chance(20) ? shape(600) : shape(20));
  set(words, layout::kFetchN0, shape(6));
  set(words, layout::kFetchN1, shape(4));
  set(words, layout::kFetchN2, shape(3));
  for (const layout::Field stride :
       {layout::kFetchStride0, layout::kFetchStride1, layout::kFetchStride2}) {
    if (random.chance(80)) {
      set(words, stride,
          static_cast<std::uint64_t>(std::int64_t{random.range(-5000, 5000)}) & 0xffffffffU);
    }
  }
  if (!legal) {
    switch (random.below(5)) {
      case 0:
        set(words, layout::kFetchLineBeats, 0);
        break;
      case 1:
        set(words, layout::kFetchN0, 0);
        break;
      case 2:
        set(words, layout::kFetchN1, 0);
        break;
      case 3:
        set(words, layout::kFetchN2, 0);
        break;
      default:
        if (bytes > 1) {
          set(words, layout::kFetchDram, base / bytes * bytes + 1 + random.below(bytes - 1));
        } else {
          set(words, layout::kFetchN0, 0);
        }
    }
  }
  return words;
}

/// Byte addresses of all beats, in order: plain loops, no walker.
inline std::vector<std::uint64_t> beats_of(const DmaWords& words, int dw) {
  const auto bytes = static_cast<std::int64_t>(dw / 8);
  const auto stride = [&](layout::Field field) {
    return std::int64_t{static_cast<std::int32_t>(get(words, field))} * bytes;
  };
  std::vector<std::uint64_t> out;
  for (std::uint64_t i2 = 0; i2 < get(words, layout::kFetchN2); ++i2) {
    for (std::uint64_t i1 = 0; i1 < get(words, layout::kFetchN1); ++i1) {
      for (std::uint64_t i0 = 0; i0 < get(words, layout::kFetchN0); ++i0) {
        for (std::uint64_t beat = 0; beat < get(words, layout::kFetchLineBeats); ++beat) {
          const std::int64_t offset =
              static_cast<std::int64_t>(i2) * stride(layout::kFetchStride2) +
              static_cast<std::int64_t>(i1) * stride(layout::kFetchStride1) +
              static_cast<std::int64_t>(i0) * stride(layout::kFetchStride0) +
              static_cast<std::int64_t>(beat) * bytes;
          out.push_back((get(words, layout::kFetchDram) + static_cast<std::uint64_t>(offset)) &
                        kAxiAddressMask);
        }
      }
    }
  }
  return out;
}

/// Data of the beat at a byte address: any function that tells addresses and words apart.
inline std::vector<std::uint64_t> beat_data(std::uint64_t address, int dw) {
  std::vector<std::uint64_t> out(static_cast<std::size_t>(dw + 63) / 64);
  for (std::size_t w = 0; w < out.size(); ++w) {
    out[w] = (address + 1) * 0x9E3779B97F4A7C15ULL ^ (w + 1) * 0xD1B54A32D192ED03ULL;
    out[w] ^= out[w] >> 29U;
  }
  if (dw < 64) out[0] &= (std::uint64_t{1} << static_cast<unsigned>(dw)) - 1;
  return out;
}

}  // namespace bitcycle::unit
