#include "golden/bitplanes.hpp"

#include <algorithm>
#include <array>

#include "golden/checked.hpp"
#include "golden/widths.hpp"

namespace bitcycle {
namespace {

constexpr std::size_t kPartLanes = 64;
using PartPlanes = std::array<std::uint64_t, kMaxOperandBits>;  // index = weight of the plane

// Transposes the 8x8 bit matrix whose row i is byte i: bit 8*i+j <-> bit 8*j+i. Its own inverse.
// (Hacker's Delight, 2nd edition, section 7-3.)
constexpr std::uint64_t transpose8(std::uint64_t x) {
  std::uint64_t t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAULL;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCULL;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0ULL;
  return x ^ t ^ (t << 28);
}

using PartCodes = std::array<std::int32_t, kPartLanes>;

// Eight codes at a time, a byte of each, in loops of constant length: several times faster than
// bit by bit. Planes above `bits` are left with sign bits, which nobody reads.
PartPlanes pack_part(const PartCodes& codes, std::size_t count, std::size_t bits) {
  PartPlanes planes{};
  for (std::size_t lane = 0; lane < count; lane += 8) {
    for (std::size_t weight = 0; weight < bits; weight += 8) {
      std::uint64_t block = 0;
      for (std::size_t i = 0; i < 8; ++i) {
        const auto pattern = static_cast<std::uint32_t>(codes[lane + i]);
        block |= static_cast<std::uint64_t>((pattern >> weight) & 0xFFU) << (8 * i);
      }
      block = transpose8(block);
      for (std::size_t b = 0; b < 8; ++b) {
        planes[weight + b] |= ((block >> (8 * b)) & 0xFFU) << lane;
      }
    }
  }
  return planes;
}

// Inverse; planes from `p.bits` up must be 0.
void unpack_part(const PartPlanes& planes, std::size_t count, Precision p, PartCodes& codes) {
  for (std::size_t lane = 0; lane < count; lane += 8) {
    std::array<std::uint32_t, 8> patterns{};
    for (std::size_t weight = 0; weight < static_cast<std::size_t>(p.bits); weight += 8) {
      std::uint64_t block = 0;
      for (std::size_t b = 0; b < 8; ++b) {
        block |= ((planes[weight + b] >> lane) & 0xFFU) << (8 * b);
      }
      block = transpose8(block);
      for (std::size_t i = 0; i < 8; ++i) {
        patterns[i] |= static_cast<std::uint32_t>((block >> (8 * i)) & 0xFFU) << weight;
      }
    }
    for (std::size_t i = 0; i < 8; ++i) codes[lane + i] = code_of(patterns[i], p);
  }
}

// Calls visit(row, chunk, part, k of its first code, number of codes) for each part that holds any.
template <typename Visit>
void for_each_part(const BitPlanes& planes, Visit visit) {
  const auto kl = static_cast<std::uint64_t>(planes.kl);
  for (std::uint64_t row = 0; row < planes.rows; ++row) {
    for (std::uint64_t chunk = 0; chunk < planes.chunks; ++chunk) {
      const std::uint64_t end = std::min(planes.k, (chunk + 1) * kl);
      std::size_t part = 0;
      for (std::uint64_t k = chunk * kl; k < end; k += kPartLanes, ++part) {
        visit(row, chunk, part, k, std::min<std::uint64_t>(kPartLanes, end - k));
      }
    }
  }
}

void check_lanes(int kl) {
  if (kl >= 1 && kl <= kMaxLanes) return;
  throw input_error("", 0, "kl", std::to_string(kl), "1 to " + std::to_string(kMaxLanes));
}

std::uint64_t data_size(const BitPlanes& planes) {
  std::uint64_t size = checked_mul(planes.rows, planes.chunks, "bit-plane words");
  size = checked_mul(size, static_cast<std::uint64_t>(planes.bits), "bit-plane words");
  return checked_mul(size, planes.parts, "bit-plane words");
}

void check_consistent(const BitPlanes& planes) {
  check_lanes(planes.kl);
  check_precision({planes.bits, false}, "bit planes");
  const auto kl = static_cast<std::uint64_t>(planes.kl);
  if (planes.rows == 0 || planes.k == 0) {
    throw input_error("", 0, "bit planes",
                      std::to_string(planes.rows) + " rows of " + std::to_string(planes.k),
                      "at least 1 row of 1");
  }
  if (planes.chunks != ceil_div(planes.k, kl)) {
    throw input_error("", 0, "bit planes", std::to_string(planes.chunks) + " chunks",
                      std::to_string(ceil_div(planes.k, kl)));
  }
  if (planes.parts != ceil_div(kl, kPartLanes)) {
    throw input_error("", 0, "bit planes", std::to_string(planes.parts) + " parts",
                      std::to_string(ceil_div(kl, kPartLanes)));
  }
  if (planes.data.size() != data_size(planes)) {
    throw input_error("", 0, "bit planes", std::to_string(planes.data.size()) + " 64-bit values",
                      std::to_string(data_size(planes)));
  }
}

}  // namespace

BitPlanes pack_bit_planes(const CodeMatrix& codes, Precision p, int kl) {
  check_codes(codes, p, "codes");
  check_lanes(kl);
  BitPlanes planes;
  planes.rows = static_cast<std::uint64_t>(codes.rows());
  planes.k = static_cast<std::uint64_t>(codes.cols());
  planes.kl = kl;
  planes.bits = p.bits;
  planes.chunks = ceil_div(planes.k, static_cast<std::uint64_t>(kl));
  planes.parts = ceil_div(static_cast<std::uint64_t>(kl), kPartLanes);
  planes.data.assign(data_size(planes), 0);
  PartCodes part_codes{};
  for_each_part(planes, [&](std::uint64_t row, std::uint64_t chunk, std::size_t part,
                            std::uint64_t k, std::size_t count) {
    if (count < kPartLanes) part_codes.fill(0);
    std::copy_n(codes.data() + row * planes.k + k, count, part_codes.begin());
    const PartPlanes values = pack_part(part_codes, count, static_cast<std::size_t>(p.bits));
    std::uint64_t* out = planes.data.data() + planes.address(row, chunk, 0) * planes.parts + part;
    for (int weight = p.bits - 1; weight >= 0; --weight, out += planes.parts) {
      *out = values[static_cast<std::size_t>(weight)];
    }
  });
  return planes;
}

CodeMatrix unpack_bit_planes(const BitPlanes& planes, bool is_signed) {
  check_consistent(planes);
  CodeMatrix codes(static_cast<Eigen::Index>(planes.rows), static_cast<Eigen::Index>(planes.k));
  PartPlanes values{};
  PartCodes part_codes{};
  for_each_part(planes, [&](std::uint64_t row, std::uint64_t chunk, std::size_t part,
                            std::uint64_t k, std::size_t count) {
    const std::uint64_t* in = planes.word(row, chunk, 0) + part;
    for (int weight = planes.bits - 1; weight >= 0; --weight, in += planes.parts) {
      values[static_cast<std::size_t>(weight)] = *in;
    }
    unpack_part(values, count, {planes.bits, is_signed}, part_codes);
    std::copy_n(part_codes.begin(), count, codes.data() + row * planes.k + k);
  });
  return codes;
}

}  // namespace bitcycle
