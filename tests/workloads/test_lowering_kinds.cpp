// The GEMMs of transposed convolutions, products of activations and recurrent layers.
#include <catch2/catch.hpp>
#include <random>

#include "tests/workloads/error_text.hpp"
#include "tests/workloads/lowering_testing.hpp"
#include "workloads/network.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;

Layer transposed(std::uint64_t cin, std::uint64_t cout, std::uint64_t size, std::uint64_t kernel,
                 std::uint64_t stride, std::uint64_t pad, std::uint64_t output_pad = 0) {
  Layer layer;
  layer.name = "up";
  layer.kind = LayerKind::kTransposed;
  layer.cin = cin;
  layer.cout = cout;
  layer.hi = layer.wi = size;
  layer.kh = layer.kw = kernel;
  layer.stride_h = layer.stride_w = stride;
  layer.pad_h = layer.pad_w = pad;
  layer.output_pad_h = layer.output_pad_w = output_pad;
  return layer;
}

TEST_CASE("a transposed convolution exchanges the columns of dX and Y", "[lowering]") {
  // 4x4 stride 2 pad 1 doubles the image, as generators have it.
  const Layer up = transposed(8, 4, 16, 4, 2, 1);
  CHECK(up.ho() == 32);
  CHECK(up.macs_per_sample() == 16 * 16 * 8 * 4 * 16);
  Layer down;
  down.name = "down";
  down.cin = 4;
  down.cout = 8;
  down.hi = down.wi = 32;
  down.kh = down.kw = 4;
  down.stride_h = down.stride_w = 2;
  down.pad_h = down.pad_w = 1;
  for (const DxLowering lowering : {DxLowering::kPhases, DxLowering::kGemm}) {
    const auto u = training_gemms(network_of(up), 3, lowering);
    const auto d = training_gemms(network_of(down), 3, lowering);
    const auto same = [](const std::vector<TrainingGemm>& a, const std::vector<TrainingGemm>& b) {
      REQUIRE(a.size() == b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i].shape == b[i].shape);
        CHECK(a[i].macs_useful == b[i].macs_useful);
        CHECK(a[i].count == b[i].count);
      }
    };
    same(of_kind(u, GemmKind::kForward), of_kind(d, GemmKind::kDx));
    same(of_kind(u, GemmKind::kDx), of_kind(d, GemmKind::kForward));
    same(of_kind(u, GemmKind::kDw), of_kind(d, GemmKind::kDw));
    for (const TrainingGemm& g : u) {
      // X x W, G x W, X x G.
      CHECK(g.a == (g.kind == GemmKind::kDx ? Width::kGradient : Width::kForward));
      CHECK(g.w == (g.kind == GemmKind::kDw ? Width::kGradient : Width::kForward));
    }
  }
}

TEST_CASE("products of a transposed convolution equal an enumeration, the same for all GEMMs",
          "[lowering][random]") {
  const std::uint64_t seed = 41;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto pick = [&random](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  int tried = 0;
  while (tried < 1000) {
    Layer layer = transposed(2 * pick(1, 3), 2 * pick(1, 3), 1, 1, 1, 0);
    layer.hi = pick(1, 9);
    layer.wi = pick(1, 9);
    layer.kh = pick(1, 5);
    layer.kw = pick(1, 5);
    layer.stride_h = pick(1, 4);
    layer.stride_w = pick(1, 4);
    layer.pad_h = pick(0, 3);
    layer.pad_w = pick(0, 3);
    layer.dilation = pick(1, 2);
    layer.groups = pick(1, 2);
    layer.output_pad_h = pick(0, layer.stride_h - 1);
    layer.output_pad_w = pick(0, layer.stride_w - 1);
    if (layer.ho() == 0 || layer.wo() == 0) continue;
    ++tried;
    INFO(tried << ": " << layer.hi << "x" << layer.wi << " k " << layer.kh << "x" << layer.kw
               << " s " << layer.stride_h << "x" << layer.stride_w << " p " << layer.pad_h << "x"
               << layer.pad_w << " d " << layer.dilation << " op " << layer.output_pad_h << "x"
               << layer.output_pad_w);
    // Input pixel i meets output pixel i*s + d*q - p for every tap q.
    const auto pairs = [](std::uint64_t in, std::uint64_t out, std::uint64_t k, std::uint64_t s,
                          std::uint64_t p, std::uint64_t d) {
      std::uint64_t count = 0;
      for (std::uint64_t i = 0; i < in; ++i) {
        for (std::uint64_t q = 0; q < k; ++q) {
          const std::uint64_t place = i * s + d * q;
          if (place >= p && place - p < out) ++count;
        }
      }
      return count;
    };
    const std::uint64_t batch = pick(1, 2);
    const std::uint64_t expected =
        batch * layer.cin * layer.cout / layer.groups *
        pairs(layer.hi, layer.ho(), layer.kh, layer.stride_h, layer.pad_h, layer.dilation) *
        pairs(layer.wi, layer.wo(), layer.kw, layer.stride_w, layer.pad_w, layer.dilation);
    for (const DxLowering lowering : {DxLowering::kPhases, DxLowering::kGemm}) {
      const auto gemms = training_gemms(network_of(layer), batch, lowering);
      for (const GemmKind kind : {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw}) {
        REQUIRE(useful(of_kind(gemms, kind)) == expected);
      }
      for (const TrainingGemm& g : gemms) {
        REQUIRE(g.macs_useful <= g.shape.m * g.shape.n * g.shape.k);
      }
    }
  }
}

TEST_CASE("a product of activations is one GEMM per sample and head", "[lowering]") {
  // Q K^T of BERT: 12 heads, 128 positions, 64 features.
  Layer layer;
  layer.name = "scores";
  layer.kind = LayerKind::kMatmul;
  layer.groups = 12;
  layer.cin = 768;
  layer.hi = 128;
  layer.cout = 12 * 128;
  CHECK(layer.macs_per_sample() == 12 * 128 * 128 * 64);
  CHECK(layer.parameters() == 0);
  const LayerTensors tensors = layer_tensors(layer, 4);
  CHECK(tensors.input == 4 * 768 * 128);
  CHECK(tensors.weight == 4 * 768 * 128);
  CHECK(tensors.output == 4 * 12 * 128 * 128);
  const auto gemms = training_gemms(network_of(layer), 4);
  REQUIRE(gemms.size() == 3);
  CHECK(gemms[0].shape == Gemm{128, 128, 64});
  CHECK(gemms[1].shape == Gemm{128, 64, 128});
  CHECK(gemms[2].shape == Gemm{64, 128, 128});
  for (const TrainingGemm& g : gemms) {
    CHECK(g.count == 48);
    CHECK(g.macs_useful == 128 * 128 * 64);
  }
  // A x B, G x B^T, A^T x G.
  CHECK((gemms[0].a == Width::kForward && gemms[0].w == Width::kForward));
  CHECK((gemms[1].a == Width::kGradient && gemms[1].w == Width::kForward));
  CHECK((gemms[2].a == Width::kForward && gemms[2].w == Width::kGradient));
}

TEST_CASE("a recurrent layer runs step by step, but for its weight gradient", "[lowering]") {
  Layer layer;
  layer.name = "state";
  layer.kind = LayerKind::kRecurrent;
  layer.dense = true;
  layer.cin = 800;
  layer.cout = 3200;
  layer.hi = 35;
  const auto gemms = training_gemms(network_of(layer), 20);
  REQUIRE(gemms.size() == 3);
  CHECK(gemms[0].shape == Gemm{20, 3200, 800});
  CHECK(gemms[0].count == 35);
  CHECK(gemms[1].shape == Gemm{20, 800, 3200});
  CHECK(gemms[1].count == 35);
  CHECK(gemms[2].shape == Gemm{3200, 800, 700});
  CHECK(gemms[2].count == 1);
  for (const GemmKind kind : {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw}) {
    CHECK(useful(of_kind(gemms, kind)) == layer.macs_per_sample() * 20);
  }
}

TEST_CASE("a dense layer of R rows has batch times R rows", "[lowering]") {
  Layer layer;
  layer.name = "rows";
  layer.dense = true;
  layer.cin = 64;
  layer.cout = 10;
  layer.hi = 7;
  const auto gemms = training_gemms(network_of(layer), 3);
  CHECK(gemms[0].shape == Gemm{21, 10, 64});
  CHECK(gemms[1].shape == Gemm{21, 64, 10});
  CHECK(gemms[2].shape == Gemm{10, 64, 21});
}

TEST_CASE("windows where there can be none are refused", "[lowering][errors]") {
  Layer layer;
  layer.name = "odd";
  layer.kind = LayerKind::kRecurrent;
  layer.hi = 4;
  layer.kh = 2;
  CHECK_THAT(error_text([&] { layer.validate(); }), Contains("layer 'odd'"));
  layer.kh = 1;
  layer.kind = LayerKind::kMatmul;
  layer.pad_bottom = 1;
  CHECK_THAT(error_text([&] { layer.validate(); }), Contains("layer 'odd'"));
  layer = transposed(4, 4, 4, 3, 2, 1, 2);
  CHECK_THAT(error_text([&] { layer.validate(); }),
             Contains("output padding: found 2, allowed: 0 to 1"));
  layer = transposed(4, 4, 1, 3, 1, 5);
  CHECK_THAT(error_text([&] { layer.validate(); }), Contains("layer 'up'"));
}

}  // namespace
}  // namespace bitcycle
