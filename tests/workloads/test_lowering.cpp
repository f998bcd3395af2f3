// The GEMMs of one training iteration.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/workloads/error_text.hpp"
#include "tests/workloads/lowering_testing.hpp"
#include "workloads/network.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;

Layer random_layer(std::mt19937_64& random) {
  const auto pick = [&random](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  while (true) {
    Layer layer;
    layer.name = "random";
    layer.groups = pick(1, 4);
    layer.cin = layer.groups * pick(1, 3);
    layer.cout = layer.groups * pick(1, 3);
    layer.hi = pick(1, 12);
    layer.wi = pick(1, 12);
    layer.kh = pick(1, 5);
    layer.kw = pick(1, 5);
    layer.stride_h = pick(1, 5);
    layer.stride_w = pick(1, 5);
    layer.pad_h = pick(0, 6);
    layer.pad_w = pick(0, 6);
    layer.dilation = pick(1, 3);
    if (pick(0, 1) == 1) layer.pad_bottom = pick(0, 6);
    if (pick(0, 1) == 1) layer.pad_right = pick(0, 6);
    if (pick(0, 1) == 1) layer.dilation_w = pick(1, 3);
    if (layer.ho() > 0 && layer.wo() > 0) return layer;
  }
}

std::string describe(const Layer& l) {
  std::string out;
  for (const std::uint64_t x :
       {l.cin, l.cout, l.hi, l.wi, l.kh, l.kw, l.stride_h, l.stride_w, l.pad_h, l.pad_w,
        l.pad_bottom.value_or(l.pad_h), l.pad_right.value_or(l.pad_w), l.dilation,
        l.dilation_w.value_or(l.dilation), l.groups}) {
    out += std::to_string(x) + " ";
  }
  return "cin cout hi wi kh kw sh sw pt pl pb pr dh dw g: " + out;
}

// Calls visit(iy, ix, phase) for every product of one channel pair and sample: an output pixel, a
// tap, and the input pixel they meet, if it is not padding.
template <typename Visit>
void for_each_product(const Layer& l, const Visit& visit) {
  for (std::uint64_t oy = 0; oy < l.ho(); ++oy) {
    for (std::uint64_t ox = 0; ox < l.wo(); ++ox) {
      for (std::uint64_t qy = 0; qy < l.kh; ++qy) {
        for (std::uint64_t qx = 0; qx < l.kw; ++qx) {
          const auto iy = static_cast<std::int64_t>(oy * l.stride_h + l.dilation * qy) -
                          static_cast<std::int64_t>(l.pad_h);
          const auto ix =
              static_cast<std::int64_t>(ox * l.stride_w + l.dilation_w.value_or(l.dilation) * qx) -
              static_cast<std::int64_t>(l.pad_w);
          if (iy < 0 || ix < 0 || iy >= static_cast<std::int64_t>(l.hi) ||
              ix >= static_cast<std::int64_t>(l.wi)) {
            continue;
          }
          visit(static_cast<std::uint64_t>(iy), static_cast<std::uint64_t>(ix));
        }
      }
    }
  }
}

TEST_CASE("useful MACs equal an enumeration of products, the same for all three GEMMs",
          "[lowering][random]") {
  const std::uint64_t seed = 31;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 1500; ++i) {
    const Layer layer = random_layer(random);
    INFO(i << ": " << describe(layer));
    const std::uint64_t batch = 1 + random() % 3;
    std::uint64_t pairs = 0;
    for_each_product(layer, [&pairs](std::uint64_t, std::uint64_t) { ++pairs; });
    const std::uint64_t expected = pairs * batch * layer.cin * layer.cout / layer.groups;
    for (const DxLowering lowering : {DxLowering::kPhases, DxLowering::kGemm}) {
      const auto gemms = training_gemms(network_of(layer), batch, lowering);
      for (const GemmKind kind : {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw}) {
        INFO(to_string(kind) << (lowering == DxLowering::kGemm ? " gemm" : " phases"));
        REQUIRE(useful(of_kind(gemms, kind)) == expected);
      }
      for (const TrainingGemm& gemm : gemms) {
        REQUIRE(gemm.macs_useful <= gemm.shape.m * gemm.shape.n * gemm.shape.k);
        REQUIRE(gemm.shape.m > 0);
        REQUIRE(gemm.shape.n > 0);
        REQUIRE(gemm.shape.k > 0);
      }
    }
  }
}

TEST_CASE("dX phases equal a walk over all input pixels", "[lowering][random]") {
  const std::uint64_t seed = 32;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 1500; ++i) {
    const Layer layer = random_layer(random);
    INFO(i << ": " << describe(layer));
    const std::uint64_t batch = 1 + random() % 3;
    // DESIGN: taps q with (phi + p - d*q) mod s = 0.
    const auto taps = [](std::uint64_t phi, std::uint64_t k, std::uint64_t s, std::uint64_t p,
                         std::uint64_t d) {
      std::uint64_t count = 0;
      for (std::uint64_t q = 0; q < k; ++q) {
        const auto distance = static_cast<std::int64_t>(phi + p) - static_cast<std::int64_t>(d * q);
        if (distance % static_cast<std::int64_t>(s) == 0) ++count;
      }
      return count;
    };
    std::vector<TrainingGemm> expected;
    for (std::uint64_t y = 0; y < std::min(layer.stride_h, layer.hi); ++y) {
      for (std::uint64_t x = 0; x < std::min(layer.stride_w, layer.wi); ++x) {
        TrainingGemm gemm;
        std::uint64_t pixels = 0;
        for (std::uint64_t iy = y; iy < layer.hi; iy += layer.stride_h) {
          for (std::uint64_t ix = x; ix < layer.wi; ix += layer.stride_w) ++pixels;
        }
        const std::uint64_t cg = layer.cin / layer.groups;
        const std::uint64_t og = layer.cout / layer.groups;
        gemm.shape = {batch * pixels, cg,
                      taps(y, layer.kh, layer.stride_h, layer.pad_h, layer.dilation) *
                          taps(x, layer.kw, layer.stride_w, layer.pad_w,
                               layer.dilation_w.value_or(layer.dilation)) *
                          og};
        std::uint64_t products = 0;
        for_each_product(layer, [&](std::uint64_t iy, std::uint64_t ix) {
          if (iy % layer.stride_h == y && ix % layer.stride_w == x) ++products;
        });
        gemm.macs_useful = products * batch * cg * og;
        if (gemm.shape.k > 0) expected.push_back(gemm);
      }
    }
    const auto found = of_kind(training_gemms(network_of(layer), batch), GemmKind::kDx);
    REQUIRE(found.size() == expected.size());
    for (std::size_t j = 0; j < found.size(); ++j) {
      INFO("phase " << j);
      REQUIRE(found[j].shape == expected[j].shape);
      REQUIRE(found[j].macs_useful == expected[j].macs_useful);
      REQUIRE(found[j].count == layer.groups);
    }
  }
}

TEST_CASE("a convolution lowers to the table's shapes", "[lowering]") {
  Layer layer;
  layer.name = "conv";
  layer.cin = 16;
  layer.cout = 32;
  layer.hi = layer.wi = 32;
  layer.kh = layer.kw = 3;
  layer.stride_h = layer.stride_w = 2;
  layer.pad_h = layer.pad_w = 1;
  const auto gemms = training_gemms(network_of(layer), 128);
  REQUIRE(gemms.size() == 6);
  const std::uint64_t pixels = 128 * 16 * 16;
  CHECK(gemms[0].shape == Gemm{pixels, 32, 144});
  // Phases (0,0) (0,1) (1,0) (1,1) have 1, 2, 2, 4 taps.
  CHECK(gemms[1].shape == Gemm{pixels, 16, 32});
  CHECK(gemms[2].shape == Gemm{pixels, 16, 64});
  CHECK(gemms[3].shape == Gemm{pixels, 16, 64});
  CHECK(gemms[4].shape == Gemm{pixels, 16, 128});
  CHECK(gemms[5].shape == Gemm{32, 144, pixels});
  const auto plain = training_gemms(network_of(layer), 128, DxLowering::kGemm);
  REQUIRE(plain.size() == 3);
  CHECK(plain[1].shape == Gemm{pixels, 144, 32});
}

TEST_CASE("a dense layer lowers to the table's shapes", "[lowering]") {
  Layer layer;
  layer.name = "fc";
  layer.cin = 64;
  layer.cout = 10;
  layer.dense = true;
  const auto gemms = training_gemms(network_of(layer), 128);
  REQUIRE(gemms.size() == 3);
  CHECK(gemms[0].shape == Gemm{128, 10, 64});
  CHECK(gemms[1].shape == Gemm{128, 64, 10});
  CHECK(gemms[2].shape == Gemm{10, 64, 128});
  CHECK(useful(gemms) == issued(gemms));
}

TEST_CASE("a depthwise convolution gives one descriptor per channel", "[lowering]") {
  Layer layer;
  layer.name = "depthwise";
  layer.cin = layer.cout = layer.groups = 32;
  layer.hi = layer.wi = 8;
  layer.kh = layer.kw = 3;
  layer.pad_h = layer.pad_w = 1;
  const auto gemms = training_gemms(network_of(layer), 2);
  REQUIRE(gemms.size() == 3);
  CHECK(gemms[0].shape == Gemm{128, 1, 9});
  CHECK(gemms[1].shape == Gemm{128, 1, 9});
  CHECK(gemms[2].shape == Gemm{1, 9, 128});
  for (const TrainingGemm& gemm : gemms) CHECK(gemm.count == 32);
}

TEST_CASE("phases in which no tap falls get no descriptor", "[lowering]") {
  Layer layer;
  layer.name = "downsample";
  layer.cin = 16;
  layer.cout = 32;
  layer.hi = layer.wi = 32;
  layer.stride_h = layer.stride_w = 2;
  const auto dx = of_kind(training_gemms(network_of(layer), 1), GemmKind::kDx);
  REQUIRE(dx.size() == 1);
  CHECK(dx[0].shape == Gemm{256, 16, 32});
}

TEST_CASE("only the gradient operand has gradient bits", "[lowering]") {
  const Network network = make_network("resnet20-cifar10", Convention::kCptCifar);
  for (const DxLowering lowering : {DxLowering::kPhases, DxLowering::kGemm}) {
    for (const TrainingGemm& gemm : training_gemms(network, 4, lowering)) {
      // Y: b(A) x b(W), dX: g(G) x b(W), dW: g(G) x b(A).
      CHECK(gemm.a == (gemm.kind == GemmKind::kForward ? Width::kForward : Width::kGradient));
      CHECK(gemm.w == Width::kForward);
    }
  }
}

TEST_CASE("issued dX exceeds forward exactly where stride times output is not the input",
          "[lowering]") {
  const auto ratio = [](std::uint64_t size, std::uint64_t kernel, std::uint64_t stride,
                        std::uint64_t pad) {
    Layer layer;
    layer.name = "probe";
    layer.hi = layer.wi = size;
    layer.kh = layer.kw = kernel;
    layer.stride_h = layer.stride_w = stride;
    layer.pad_h = layer.pad_w = pad;
    const auto gemms = training_gemms(network_of(layer), 1);
    CHECK(issued(of_kind(gemms, GemmKind::kForward)) == issued(of_kind(gemms, GemmKind::kDw)));
    return static_cast<double>(issued(of_kind(gemms, GemmKind::kDx))) /
           static_cast<double>(issued(of_kind(gemms, GemmKind::kForward)));
  };
  CHECK(ratio(32, 3, 1, 1) == 1);
  CHECK(ratio(32, 3, 2, 1) == 1);
  CHECK(ratio(32, 3, 1, 0) == Approx(1.138).epsilon(0.0005));
  CHECK(ratio(224, 11, 4, 2) == Approx(1.037).epsilon(0.0005));
}

TEST_CASE("first-layer dX is included and FP32 layers give no GEMM", "[lowering]") {
  const Network network = make_network("resnet20-cifar10", Convention::kCptCifar);
  std::vector<int> kinds(network.layers.size());
  for (const TrainingGemm& gemm : training_gemms(network, 8)) {
    kinds[gemm.layer] |= 1 << static_cast<int>(gemm.kind);
  }
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    INFO(network.layers[i].name);
    CHECK(kinds[i] == (network.layers[i].quantised ? 7 : 0));
  }
}

TEST_CASE("an impossible batch or size is refused and the message names the layer",
          "[lowering][errors]") {
  const Network network = make_network("resnet20-cifar10", Convention::kAll);
  CHECK_THAT(error_text([&] { training_gemms(network, 0); }), Contains("batch: found 0"));
  CHECK_THAT(error_text([&] { training_gemms(network, ~std::uint64_t{0}); }),
             Contains("layer 'conv1'") && Contains("2^64"));
  Layer layer;
  layer.name = "huge";
  layer.hi = layer.wi = 4096;
  layer.kh = layer.kw = layer.stride_h = layer.stride_w = 1024;
  CHECK_THAT(error_text([&] { training_gemms(network_of(layer), 1); }),
             Contains("layer 'huge', dX phases") && Contains("dx=gemm"));
  CHECK(training_gemms(network_of(layer), 1, DxLowering::kGemm).size() == 3);
  layer.groups = 2;
  CHECK_THAT(error_text([&] { training_gemms(network_of(layer), 1); }), Contains("groups"));
}

}  // namespace
}  // namespace bitcycle
