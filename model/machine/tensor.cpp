#include "model/machine/tensor.hpp"

#include <algorithm>

#include "golden/checked.hpp"
#include "golden/codes.hpp"
#include "golden/error.hpp"
#include "golden/widths.hpp"
#include "model/array.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kAddressSpace = std::uint64_t{1} << 40;

// First bit of plane 0 of the word that holds granule `granule` of (img, y, x), from layout.base.
std::uint64_t word_bit(const TensorLayout& l, std::uint64_t img, std::uint64_t y,
                       std::uint64_t granule, std::uint64_t x) {
  const std::uint64_t beat = (img * l.granules() + granule) * l.plane_beats() + y * l.line_beats();
  return beat * static_cast<std::uint64_t>(l.dw) +
         x * static_cast<std::uint64_t>(l.bits) * static_cast<std::uint64_t>(l.gl);
}

}  // namespace

std::uint64_t TensorLayout::position(std::uint64_t c) const {
  if (aligned == 0) return c;
  const auto lanes = static_cast<std::uint64_t>(gl);
  return c / aligned * ceil_div(aligned, lanes) * lanes + c % aligned;
}

std::uint64_t TensorLayout::granules() const {
  return position(channels - 1) / static_cast<std::uint64_t>(gl) + 1;
}

std::uint64_t TensorLayout::line_beats() const {
  return ceil_div(xs * static_cast<std::uint64_t>(bits), words_per_beat());
}

std::uint64_t TensorLayout::plane_beats() const {
  const std::uint64_t lines = ys * line_beats();
  const std::uint64_t page = kPage / static_cast<std::uint64_t>(dw / 8);
  if (lines >= page) return ceil_div(lines, page) * page;
  std::uint64_t size = 1;
  while (size < lines) size *= 2;
  return size;
}

std::uint64_t TensorLayout::payload_bits() const {
  return imgs * ys * xs * channels * static_cast<std::uint64_t>(bits);
}

TensorLayout tensor_layout(const MachineConfig& config, std::uint64_t imgs, std::uint64_t ys,
                           std::uint64_t xs, std::uint64_t channels, int bits,
                           std::uint64_t aligned) {
  check_precision({bits, false}, "bits of a tensor");
  if (imgs == 0 || ys == 0 || xs == 0 || channels == 0) {
    throw input_error("", 0, "tensor", "a size of 0", "1 or more");
  }
  TensorLayout l;
  l.imgs = imgs;
  l.ys = ys;
  l.xs = xs;
  l.channels = channels;
  l.bits = bits;
  l.gl = config.gl;
  l.dw = config.dw;
  l.aligned = aligned;
  const std::uint64_t lines = checked_mul(checked_mul(imgs, ys, "tensor"), l.granules(), "tensor");
  if (checked_mul(lines, l.line_beats(), "tensor") >= kAddressSpace) {
    throw input_error("", 0, "tensor", std::to_string(lines) + " lines", "below 2^40 beats");
  }
  return l;
}

void pack_tensor(const TensorLayout& l, bool is_signed, const CodeAt& code,
                 std::vector<std::uint8_t>& dram) {
  const Precision p{l.bits, is_signed};
  const auto gl = static_cast<std::uint64_t>(l.gl);
  std::uint8_t* data = dram.data() + l.base;
  std::fill(data, data + l.bytes(), std::uint8_t{0});
  for (std::uint64_t img = 0; img < l.imgs; ++img) {
    for (std::uint64_t y = 0; y < l.ys; ++y) {
      for (std::uint64_t x = 0; x < l.xs; ++x) {
        for (std::uint64_t c = 0; c < l.channels; ++c) {
          const std::int32_t value = code(img, y, x, c);
          if (value < code_min(p) || value > code_max(p)) {
            throw input_error("", 0, "code", std::to_string(value),
                              std::to_string(code_min(p)) + " to " + std::to_string(code_max(p)));
          }
          const std::uint64_t at = l.position(c);
          const std::uint64_t bit = word_bit(l, img, y, at / gl, x) + at % gl;
          const std::uint32_t pattern = pattern_of(value, l.bits);
          for (int plane = 0; plane < l.bits; ++plane) {
            put_bits(data, bit + static_cast<std::uint64_t>(plane) * gl, 1,
                     (pattern >> (l.bits - 1 - plane)) & 1U);
          }
        }
      }
    }
  }
}

void unpack_tensor(const TensorLayout& l, bool is_signed, const std::vector<std::uint8_t>& dram,
                   const CodeSink& sink) {
  const Precision p{l.bits, is_signed};
  const auto gl = static_cast<std::uint64_t>(l.gl);
  const std::uint8_t* data = dram.data() + l.base;
  for (std::uint64_t img = 0; img < l.imgs; ++img) {
    for (std::uint64_t y = 0; y < l.ys; ++y) {
      for (std::uint64_t x = 0; x < l.xs; ++x) {
        for (std::uint64_t c = 0; c < l.channels; ++c) {
          const std::uint64_t at = l.position(c);
          const std::uint64_t bit = word_bit(l, img, y, at / gl, x) + at % gl;
          std::uint32_t pattern = 0;
          for (int plane = 0; plane < l.bits; ++plane) {
            pattern = pattern << 1U | static_cast<std::uint32_t>(get_bits(
                                          data, bit + static_cast<std::uint64_t>(plane) * gl, 1));
          }
          sink(img, y, x, c, code_of(pattern, p));
        }
      }
    }
  }
}

std::uint64_t DramAllocator::allocate(std::uint64_t bytes) {
  const std::uint64_t start = ceil_div(next_, kPage) * kPage;
  if (bytes > kAddressSpace || start > kAddressSpace - bytes) {
    throw input_error("", 0, "DRAM", std::to_string(bytes) + " bytes more",
                      "40-bit addresses in all");
  }
  next_ = start + bytes;
  return start;
}

}  // namespace bitcycle
