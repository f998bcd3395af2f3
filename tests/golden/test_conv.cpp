#include <catch2/catch.hpp>
#include <random>

#include "golden/conv.hpp"
#include "golden/error.hpp"

namespace bitcycle {
namespace {

std::vector<std::int32_t> codes(std::mt19937_64& random, std::uint64_t count, int low, int high) {
  std::vector<std::int32_t> out(count);
  for (auto& c : out) {
    c = low + static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  }
  return out;
}

std::int64_t dot(const std::vector<std::int64_t>& x, const std::vector<std::int32_t>& y) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

ConvShape random_shape(std::mt19937_64& random) {
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return low + random() % (high - low + 1);
  };
  ConvShape s;
  s.batch = pick(1, 3);
  s.groups = pick(1, 3);
  s.cin = s.groups * pick(1, 4);
  s.cout = s.groups * pick(1, 4);
  s.hi = pick(3, 9);
  s.wi = pick(3, 9);
  s.kh = pick(1, 3);
  s.kw = pick(1, 3);
  s.stride_h = pick(1, 3);
  s.stride_w = pick(1, 3);
  s.dilation_h = s.hi > 5 ? pick(1, 2) : 1;
  s.pad_top = pick(0, 2);
  s.pad_bottom = pick(0, 2);
  s.pad_left = pick(0, 2);
  s.pad_right = pick(0, 2);
  return s;
}

}  // namespace

TEST_CASE("conv: a hand-computed 3x3 with padding") {
  ConvShape s;
  s.hi = s.wi = 2;
  s.kh = s.kw = 3;
  s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
  const std::vector<std::int32_t> x = {1, 2, 3, 4};
  const std::vector<std::int32_t> w = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const ConvSums y = golden_conv(ConvPass::kForward, s, x, w);
  // Top left: 1*5 + 2*6 + 3*8 + 4*9.
  CHECK(y.value == std::vector<std::int64_t>{77, 67, 47, 37});
  CHECK(y.sum_a == std::vector<std::int64_t>{10, 10, 10, 10});
  CHECK(y.sum_w == std::vector<std::int64_t>{45});
}

TEST_CASE("conv: the three passes are one trilinear form") {
  // <G, Y(X, W)> = <dX(G, W), X> = <dW(G, X), W>: what makes them each other's gradients.
  const std::uint64_t seed = 4711;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    CAPTURE(trial);
    const ConvShape s = random_shape(random);
    const auto x = codes(random, s.x_size(), -128, 127);
    const auto w = codes(random, s.w_size(), -128, 127);
    const auto g = codes(random, s.y_size(), -32768, 32767);
    const ConvSums y = golden_conv(ConvPass::kForward, s, x, w);
    const ConvSums dx = golden_conv(ConvPass::kDx, s, g, w);
    const ConvSums dw = golden_conv(ConvPass::kDw, s, g, x);
    const std::int64_t form = dot(y.value, g);
    CHECK(dot(dx.value, x) == form);
    CHECK(dot(dw.value, w) == form);
  }
}

TEST_CASE("conv: operand sums are results with ones in place of the other operand") {
  const std::uint64_t seed = 99;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 50; ++trial) {
    CAPTURE(trial);
    const ConvShape s = random_shape(random);
    const auto x = codes(random, s.x_size(), 0, 255);
    const auto g = codes(random, s.y_size(), 0, 255);
    const std::vector<std::int32_t> one_w(s.w_size(), 1);
    const ConvSums y = golden_conv(ConvPass::kForward, s, x, one_w);
    for (std::size_t p = 0; p < y.value.size() / s.cout; ++p) {
      for (std::size_t n = 0; n < s.cout; ++n) {
        CHECK(y.value[p * s.cout + n] == y.sum_a[p * s.groups + n / s.og()]);
      }
    }
    const ConvSums dx = golden_conv(ConvPass::kDx, s, g, one_w);
    for (std::size_t p = 0; p < dx.value.size() / s.cin; ++p) {
      for (std::size_t c = 0; c < s.cin; ++c) {
        CHECK(dx.value[p * s.cin + c] == dx.sum_a[p * s.groups + c / s.cg()]);
      }
    }
    const std::vector<std::int32_t> one_g(s.y_size(), 1);
    const ConvSums dw = golden_conv(ConvPass::kDw, s, one_g, x);
    const std::size_t window = s.kh * s.kw * s.cg();
    for (std::size_t n = 0; n < s.cout; ++n) {
      for (std::size_t i = 0; i < window; ++i) {
        CHECK(dw.value[n * window + i] == dw.sum_w[n / s.og() * window + i]);
      }
    }
  }
}

TEST_CASE("conv: impossible shapes are refused") {
  ConvShape s;
  s.cin = 3;
  s.groups = 2;
  CHECK_THROWS_AS(s.validate(), InputError);
  s = {};
  s.kh = 4;
  CHECK_THROWS_AS(s.validate(), InputError);
  s = {};
  s.batch = 1U << 31U;
  s.hi = 1U << 31U;
  CHECK_THROWS_AS(s.validate(), InputError);
  CHECK_THROWS_AS(golden_conv(ConvPass::kForward, ConvShape{}, {1, 2}, {1}), InputError);
}

}  // namespace bitcycle
