#include "golden/requantise.hpp"

#include <algorithm>
#include <string>

#include "golden/hardware_random.hpp"

namespace bitcycle {

void Requantisation::validate() const {
  const auto check = [](const char* field, std::int64_t value, std::int64_t low,
                        std::int64_t high) {
    if (value >= low && value <= high) return;
    throw input_error("", 0, std::string("requantisation ") + field, std::to_string(value),
                      std::to_string(low) + " to " + std::to_string(high));
  };
  check("shift", shift, 0, 63);
  check("za", za, -65536, 65535);
  check("zw", zw, -65536, 65535);
  check("zout", zout, -65536, 65535);
  check("out_bits", out_bits, 1, 16);
  check("rounding", static_cast<int>(rounding), 0, 3);
}

std::int64_t remove_zero_points(std::int64_t acc, std::int64_t sum_a, std::int64_t sum_w,
                                const Requantisation& q) {
  const auto bits = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return static_cast<std::int64_t>(bits(acc) - bits(q.za) * bits(sum_w) - bits(q.zw) * bits(sum_a) +
                                   bits(q.kzz));
}

std::int32_t requantise_value(std::int64_t v, const Requantisation& q, std::uint16_t random) {
  const i128 code = round_shift(i128{v} * q.mult, q.shift, q.rounding, random) + q.zout;
  return static_cast<std::int32_t>(std::clamp<i128>(code, q.low(), q.high()));
}

std::int32_t requantise(std::int64_t acc, std::int64_t sum_a, std::int64_t sum_w,
                        const Requantisation& q, std::uint32_t element) {
  const std::uint16_t random =
      q.rounding == Rounding::kStochastic ? hardware_random(q.seed, element) : std::uint16_t{0};
  return requantise_value(remove_zero_points(acc, sum_a, sum_w, q), q, random);
}

}  // namespace bitcycle
