// Shapes of single layers.
#include <catch2/catch.hpp>

#include "tests/workloads/error_text.hpp"
#include "workloads/network.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;

Layer square(std::uint64_t cin, std::uint64_t cout, std::uint64_t size, std::uint64_t kernel,
             std::uint64_t stride, std::uint64_t pad) {
  Layer layer;
  layer.name = "probe";
  layer.cin = cin;
  layer.cout = cout;
  layer.hi = layer.wi = size;
  layer.kh = layer.kw = kernel;
  layer.stride_h = layer.stride_w = stride;
  layer.pad_h = layer.pad_w = pad;
  return layer;
}

TEST_CASE("output sizes follow kernel, stride, padding and dilation", "[layer]") {
  CHECK(square(3, 64, 224, 7, 2, 3).ho() == 112);  // ImageNet ResNet conv1
  CHECK(square(3, 64, 224, 11, 4, 2).ho() == 55);  // AlexNet conv1
  CHECK(square(16, 32, 32, 3, 2, 1).ho() == 16);
  CHECK(square(16, 32, 32, 1, 2, 0).ho() == 16);
  CHECK(square(1, 1, 3, 3, 1, 0).ho() == 1);
  Layer dilated = square(1, 1, 32, 3, 1, 2);
  dilated.dilation = 2;
  CHECK(dilated.ho() == 32);
  Layer flat = square(1, 1, 10, 3, 1, 0);
  flat.kh = 1;
  flat.stride_w = 3;
  CHECK(flat.ho() == 10);
  CHECK(flat.wo() == 3);
}

TEST_CASE("MACs and weights of ImageNet ResNet layers are the published ones", "[layer]") {
  // Layer shapes of ResNet-18 (He et al.); conv1 118,013,952 and fc 512,000 MACs.
  CHECK(square(3, 64, 224, 7, 2, 3).macs_per_sample() == 118'013'952);
  Layer fc = square(512, 1000, 1, 1, 1, 0);
  fc.dense = true;
  CHECK(fc.macs_per_sample() == 512'000);
  CHECK(fc.parameters() == 512'000);
  // Its three downsample convolutions: 19,267,584 together.
  CHECK(square(64, 128, 56, 1, 2, 0).macs_per_sample() +
            square(128, 256, 28, 1, 2, 0).macs_per_sample() +
            square(256, 512, 14, 1, 2, 0).macs_per_sample() ==
        19'267'584);
}

TEST_CASE("groups divide MACs and weights", "[layer]") {
  Layer layer = square(32, 64, 8, 3, 1, 1);
  layer.groups = 4;
  CHECK(layer.macs_per_sample() == 64 * 64 * 9 * 8);
  CHECK(layer.parameters() == 64 * 9 * 8);
  layer.cout = 32;
  layer.groups = 32;
  CHECK(layer.parameters() == 32 * 9);
}

TEST_CASE("tensors are counted unexpanded", "[layer]") {
  const LayerTensors tensors = layer_tensors(square(16, 32, 32, 3, 2, 1), 128);
  CHECK(tensors.input == 128 * 16 * 32 * 32);
  CHECK(tensors.weight == 32 * 16 * 9);
  CHECK(tensors.output == 128 * 32 * 16 * 16);
}

TEST_CASE("impossible layers are refused and the message names layer and field",
          "[layer][errors]") {
  const auto message = [](void (*damage)(Layer&)) {
    Layer layer = square(16, 32, 32, 3, 1, 1);
    damage(layer);
    return error_text([&] { layer.validate(); });
  };
  CHECK(message([](Layer&) {}).empty());
  CHECK_THAT(message([](Layer& l) { l.cin = 0; }), Contains("layer 'probe', input channels"));
  CHECK_THAT(message([](Layer& l) { l.cout = 0; }), Contains("output channels: found 0"));
  CHECK_THAT(message([](Layer& l) { l.hi = 0; }), Contains("input height"));
  CHECK_THAT(message([](Layer& l) { l.wi = 0; }), Contains("input width"));
  CHECK_THAT(message([](Layer& l) { l.kh = 0; }), Contains("kernel height"));
  CHECK_THAT(message([](Layer& l) { l.kw = 0; }), Contains("kernel width"));
  CHECK_THAT(message([](Layer& l) { l.stride_h = 0; }), Contains("vertical stride"));
  CHECK_THAT(message([](Layer& l) { l.stride_w = 0; }), Contains("horizontal stride"));
  CHECK_THAT(message([](Layer& l) { l.pad_h = ~std::uint64_t{0}; }), Contains("vertical padding"));
  CHECK_THAT(message([](Layer& l) { l.pad_w = 1 << 20; }), Contains("horizontal padding"));
  CHECK_THAT(message([](Layer& l) { l.dilation = 0; }), Contains("dilation"));
  CHECK_THAT(message([](Layer& l) { l.groups = 0; }), Contains("groups"));
  CHECK_THAT(message([](Layer& l) { l.groups = 3; }),
             Contains("groups: found 3") && Contains("16 and 32"));
  CHECK_THAT(message([](Layer& l) { l.groups = 32; }), Contains("groups: found 32"));
  CHECK_THAT(message([](Layer& l) { l.kh = 35; }),
             Contains("kernel: found 35x3") && Contains("34x34"));
  CHECK_THAT(message([](Layer& l) { l.dilation = 17; }), Contains("with dilation 17"));
  CHECK_THAT(message([](Layer& l) { l.dense = true; }), Contains("dense"));
  CHECK_THAT(message([](Layer& l) { l.hi = l.wi = l.cin = l.cout = 1U << 31; }),
             Contains("layer 'probe', MACs") && Contains("2^64"));
}

}  // namespace
}  // namespace bitcycle
