// CPT's affine quantiser: unsigned codes with a float scale and zero point.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace bitcycle {

/// Uniform noise in (-0.5, 0.5) added before rounding: what makes it stochastic. Element i of the
/// tensor gets the number counter_random(seed, tensor, i).
struct RoundingNoise {
  std::uint64_t seed = 0;
  std::uint64_t tensor = 0;
};

/// x[i] is about codes[i]*scale[c] + zero[c], c = i / (elements of a channel).
struct AffineCodes {
  int bits = 8;
  std::vector<std::int32_t> codes;  ///< 0 .. 2^bits - 1
  std::vector<float> scale, zero;   ///< one for each channel (one in all: per tensor)
};

/// Quantises in the order of the published trainers (GitHub GATECH-EIC/CPT,
/// cpt_cifar/modules/quantize.py), in single precision: scale = max((max - min)/(2^n - 1), 1e-8),
/// t = (x - min)/scale, noise, clamp to 0 .. 2^n - 1, round half to even. `channels` divides the
/// size: channel c is the c-th contiguous part and has its own extremes (1 = per tensor).
/// Throws InputError for bits outside 1..16, no elements, channels that do not divide, or a value
/// that is not finite.
AffineCodes quantise_affine(const std::vector<float>& x, int bits, std::uint64_t channels = 1,
                            std::optional<RoundingNoise> noise = std::nullopt);

/// codes*scale + zero, in single precision.
std::vector<float> dequantise(const AffineCodes& codes);

}  // namespace bitcycle
