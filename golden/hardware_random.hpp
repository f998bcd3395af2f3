// The random bits of the requantiser: a keyed hash of the element's number that costs a few 16-bit
// adders in hardware. The same for any order, tiling and engine. rtl/bc_random.sv is its circuit.
#pragma once

#include <cstdint>

namespace bitcycle {

/// Rounds of bc_random. Five fail the test of independence between neighbouring seeds, six pass
/// (tests/golden/test_hardware_random.cpp); two more are margin.
constexpr int kHardwareRandomRounds = 8;

/// 16 random bits for element `element` under `seed`: rounds of add, rotate and exclusive-or on two
/// 16-bit halves with the rotations of Speck32 (Beaulieu et al., DAC 2015), but a fixed key
/// schedule. Fit for rounding, not for secrets.
constexpr std::uint16_t hardware_random(std::uint32_t seed, std::uint32_t element,
                                        int rounds = kHardwareRandomRounds) {
  const auto low = static_cast<std::uint16_t>(seed);
  const auto high = static_cast<std::uint16_t>(seed >> 16);
  const std::uint16_t keys[4] = {low, high, static_cast<std::uint16_t>(low ^ 0x9E37U),
                                 static_cast<std::uint16_t>(high ^ 0x79B9U)};
  auto x = static_cast<std::uint16_t>(element >> 16);
  auto y = static_cast<std::uint16_t>(element);
  for (int i = 0; i < rounds; ++i) {
    const auto rotated = static_cast<std::uint16_t>((x >> 7U) | (x << 9U));
    const auto key = static_cast<std::uint16_t>(keys[i % 4] + i * 0x3C6F);
    x = static_cast<std::uint16_t>(static_cast<std::uint16_t>(rotated + y) ^ key);
    y = static_cast<std::uint16_t>(static_cast<std::uint16_t>((y << 2U) | (y >> 14U)) ^ x);
  }
  return static_cast<std::uint16_t>(x ^ static_cast<std::uint16_t>((y << 5U) | (y >> 11U)));
}

}  // namespace bitcycle
