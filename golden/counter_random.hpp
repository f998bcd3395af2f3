// Random numbers by position: the same for any order, tiling, engine and number of threads.
#pragma once

#include <cstdint>

namespace bitcycle {

constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15ULL;

/// One step of SplitMix64 from state `x` (Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += kGoldenGamma;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// 64 random bits for one element of one tensor: element number `element` of the SplitMix64 stream
/// whose start is a hash of `seed` and `tensor` (so that neighbouring seeds share no stretch).
constexpr std::uint64_t counter_random(std::uint64_t seed, std::uint64_t tensor,
                                       std::uint64_t element) {
  return splitmix64(splitmix64(splitmix64(seed) + tensor) + element * kGoldenGamma);
}

}  // namespace bitcycle
