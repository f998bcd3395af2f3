// Operands as bit planes along the reduction: how they lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "golden/codes.hpp"
#include "golden/types.hpp"

namespace bitcycle {

constexpr int kMaxLanes = 256;

/// Bit planes of a rows x k code matrix. A word holds one plane of `kl` consecutive codes of a row
/// (a chunk), lane 0 in bit 0; lanes beyond `k` are 0. Words lie at
/// (row * chunks + chunk) * bits + plane, plane 0 being the most significant bit. In `data` a word
/// takes `parts` 64-bit parts, lanes 0 to 63 first.
struct BitPlanes {
  std::uint64_t rows = 0;
  std::uint64_t k = 0;       ///< codes of a row
  int kl = 0;                ///< lanes of a word, 1..kMaxLanes
  int bits = 0;              ///< planes of a code, 1..kMaxOperandBits
  std::uint64_t chunks = 0;  ///< ceil(k / kl)
  std::size_t parts = 0;     ///< ceil(kl / 64)
  std::vector<std::uint64_t> data;

  /// Address of a word in words (not in 64-bit parts). No range check.
  std::uint64_t address(std::uint64_t row, std::uint64_t chunk, int plane) const {
    return (row * chunks + chunk) * static_cast<std::uint64_t>(bits) +
           static_cast<std::uint64_t>(plane);
  }
  /// The `parts` 64-bit parts of a word. No range check.
  const std::uint64_t* word(std::uint64_t row, std::uint64_t chunk, int plane) const {
    return data.data() + address(row, chunk, plane) * parts;
  }
};

/// Packs `codes` (rows x K, precision `p`) into words of `kl` lanes.
/// Throws InputError for a bad precision or `kl`, an empty matrix or a code out of range.
BitPlanes pack_bit_planes(const CodeMatrix& codes, Precision p, int kl);

/// Inverse of pack_bit_planes: rows x K codes, two's complement if `is_signed` (the planes do not
/// say). Lanes beyond K are ignored. Throws InputError if the fields contradict each other.
CodeMatrix unpack_bit_planes(const BitPlanes& planes, bool is_signed);

}  // namespace bitcycle
