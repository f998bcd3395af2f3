// How tensors lie in DRAM: bit-plane words along the channels, lines along x.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "golden/types.hpp"
#include "model/machine/machine_config.hpp"

namespace bitcycle {

/// A tensor of `bits`-wide codes, element (img, y, x, c). Channel c sits in lane position(c) % GL
/// of granule position(c) / GL. A line holds the xs*bits words of one (img, y, granule), plane 0
/// (most significant) first, and is padded to whole beats. The ys lines of one (img, granule) are a
/// plane; planes follow each other granule by granule, then img, each starting at a multiple of its
/// size rounded up to a power of two or, from a page of 4096 bytes on, to whole pages: so no short
/// plane meets a page border and all planes are alike to the bus. (The gaps cost capacity, no
/// traffic.) Weights [n][ky][kx][c] are a tensor with x = n, y = kx, img = ky; a matrix has x =
/// row, c = column.
struct TensorLayout {
  std::uint64_t imgs = 1, ys = 1, xs = 1, channels = 1;
  int bits = 8;
  int gl = 16, dw = 64;       ///< of the machine
  std::uint64_t aligned = 0;  ///< if not 0: every run of so many channels starts a granule
  std::uint64_t base = 0;     ///< DRAM byte address, beat aligned

  std::uint64_t words_per_beat() const { return static_cast<std::uint64_t>(dw / gl); }
  std::uint64_t position(std::uint64_t c) const;
  std::uint64_t granules() const;
  std::uint64_t line_beats() const;
  std::uint64_t plane_beats() const;  ///< from plane to plane
  std::uint64_t beats() const { return imgs * ys * granules() * line_beats(); }  ///< of all lines
  std::uint64_t bytes() const {
    return imgs * granules() * plane_beats() * static_cast<std::uint64_t>(dw / 8);
  }
  /// Bits that carry information: elements * bits.
  std::uint64_t payload_bits() const;
};

/// A layout of the machine's geometry. Throws InputError if a size is 0, `bits` is not 1..16 or the
/// tensor has 2^40 beats or more.
TensorLayout tensor_layout(const MachineConfig& config, std::uint64_t imgs, std::uint64_t ys,
                           std::uint64_t xs, std::uint64_t channels, int bits,
                           std::uint64_t aligned = 0);

/// Code of element (img, y, x, c).
using CodeAt = std::function<std::int32_t(std::uint64_t img, std::uint64_t y, std::uint64_t x,
                                          std::uint64_t c)>;
using CodeSink = std::function<void(std::uint64_t img, std::uint64_t y, std::uint64_t x,
                                    std::uint64_t c, std::int32_t code)>;

/// Writes all elements at layout.base of `dram` (which must be large enough); lanes without a
/// channel and the padding of lines become 0. Throws InputError if a code does not fit in `bits`.
void pack_tensor(const TensorLayout& layout, bool is_signed, const CodeAt& code,
                 std::vector<std::uint8_t>& dram);
/// Inverse of pack_tensor: calls `sink` for every element in the order img, y, x, c.
void unpack_tensor(const TensorLayout& layout, bool is_signed,
                   const std::vector<std::uint8_t>& dram, const CodeSink& sink);

/// Hands out DRAM regions one after the other, aligned to 4096 bytes (no burst crosses two).
class DramAllocator {
 public:
  explicit DramAllocator(std::uint64_t first = 0) : next_(first) {}
  /// Throws InputError if the 40-bit address space is full.
  std::uint64_t allocate(std::uint64_t bytes);
  std::uint64_t end() const { return next_; }

 private:
  std::uint64_t next_;
};

}  // namespace bitcycle
