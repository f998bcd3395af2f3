#include <catch2/catch.hpp>
#include <cmath>

#include "golden/affine.hpp"
#include "golden/error.hpp"

namespace bitcycle {

TEST_CASE("affine: hand-computed codes, half to even") {
  // Range 3, two bits: scale 1, zero -1.
  const AffineCodes q = quantise_affine({-1.0F, 2.0F, -0.5F, 0.5F, 1.5F, 0.25F}, 2);
  CHECK(q.scale == std::vector<float>{1.0F});
  CHECK(q.zero == std::vector<float>{-1.0F});
  // t = 0, 3, 0.5, 1.5, 2.5, 1.25
  CHECK(q.codes == std::vector<std::int32_t>{0, 3, 0, 2, 2, 1});
  CHECK(dequantise(q)[1] == 2.0F);
}

TEST_CASE("affine: channels have extremes of their own") {
  const AffineCodes q = quantise_affine({0.0F, 1.0F, 10.0F, 30.0F}, 8, 2);
  CHECK(q.codes == std::vector<std::int32_t>{0, 255, 0, 255});
  CHECK(q.zero == std::vector<float>{0.0F, 10.0F});
}

TEST_CASE("affine: a constant tensor collapses to code 0") {
  const AffineCodes q = quantise_affine({5.0F, 5.0F, 5.0F}, 4);
  CHECK(q.codes == std::vector<std::int32_t>{0, 0, 0});
  CHECK(q.scale[0] == 1e-8F);
}

TEST_CASE("affine: noise keeps codes in range and is unbiased") {
  std::vector<float> x(200'000, 0.3F);
  x[0] = 0.0F;
  x[1] = 1.0F;
  const AffineCodes q = quantise_affine(x, 1, 1, RoundingNoise{7, 3});
  double ones = 0.0;
  for (std::size_t i = 2; i < x.size(); ++i) {
    REQUIRE((q.codes[i] == 0 || q.codes[i] == 1));
    ones += q.codes[i];
  }
  CHECK(std::abs(ones / static_cast<double>(x.size() - 2) - 0.3) < 0.005);
  const AffineCodes same = quantise_affine(x, 1, 1, RoundingNoise{7, 3});
  CHECK(same.codes == q.codes);
  const AffineCodes other = quantise_affine(x, 1, 1, RoundingNoise{8, 3});
  CHECK(other.codes != q.codes);
}

TEST_CASE("affine: bad input is refused") {
  CHECK_THROWS_AS(quantise_affine({}, 8), InputError);
  CHECK_THROWS_AS(quantise_affine({1.0F}, 17), InputError);
  CHECK_THROWS_AS(quantise_affine({1.0F, 2.0F, 3.0F}, 8, 2), InputError);
  CHECK_THROWS_AS(quantise_affine({1.0F, std::nanf("")}, 8), InputError);
}

}  // namespace bitcycle
