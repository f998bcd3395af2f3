#include "golden/affine.hpp"

#include <algorithm>
#include <cmath>

#include "golden/counter_random.hpp"
#include "golden/error.hpp"

namespace bitcycle {

AffineCodes quantise_affine(const std::vector<float>& x, int bits, std::uint64_t channels,
                            std::optional<RoundingNoise> noise) {
  if (bits < 1 || bits > 16) throw input_error("", 0, "bits", std::to_string(bits), "1 to 16");
  if (x.empty() || channels == 0 || x.size() % channels != 0) {
    throw input_error("", 0, "channels", std::to_string(channels),
                      "a divisor of the " + std::to_string(x.size()) + " elements");
  }
  AffineCodes out;
  out.bits = bits;
  out.codes.resize(x.size());
  const std::size_t part = x.size() / channels;
  const auto top = static_cast<float>((1 << bits) - 1);
  for (std::size_t c = 0; c < channels; ++c) {
    const float* values = x.data() + c * part;
    float low = values[0];
    float high = values[0];
    for (std::size_t i = 0; i < part; ++i) {
      if (!std::isfinite(values[i])) {
        throw input_error("", 0, "element " + std::to_string(c * part + i), "not a finite number",
                          "finite numbers");
      }
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
    }
    const float range = high - low;
    const float scale = std::max(range / top, 1e-8F);
    for (std::size_t i = 0; i < part; ++i) {
      float t = (values[i] - low) / scale;
      if (noise) {
        const std::uint64_t r = counter_random(noise->seed, noise->tensor, c * part + i);
        // 24 bits: the midpoints of 2^24 equal parts, so that neither end is reached.
        t += (static_cast<float>(r >> 40U) + 0.5F) * (1.0F / 16777216.0F) - 0.5F;
      }
      t = std::clamp(t, 0.0F, top);
      out.codes[c * part + i] = static_cast<std::int32_t>(std::nearbyint(t));
    }
    out.scale.push_back(scale);
    out.zero.push_back(low);
  }
  return out;
}

std::vector<float> dequantise(const AffineCodes& codes) {
  std::vector<float> out(codes.codes.size());
  const std::size_t part = out.size() / codes.scale.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t c = i / part;
    out[i] = static_cast<float>(codes.codes[i]) * codes.scale[c] + codes.zero[c];
  }
  return out;
}

}  // namespace bitcycle
