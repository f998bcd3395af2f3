// The CIFAR ResNets: structure, published MAC counts, conventions.
#include <catch2/catch.hpp>
#include <map>

#include "tests/workloads/cifar_resnet_reference.hpp"
#include "tests/workloads/error_text.hpp"
#include "workloads/network.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("CIFAR ResNets have the published MACs per sample", "[network][published]") {
  // From the layer shapes of GATECH-EIC/CPT (a3cf5b05, cpt_cifar/models.py): quantised
  // convolutions.
  const std::map<std::string, std::uint64_t> published = {
      {"resnet20", 40'812'544},  {"resnet32", 69'124'096},   {"resnet38", 83'279'872},
      {"resnet74", 168'214'528}, {"resnet110", 253'149'184}, {"resnet152", 352'239'616}};
  for (const auto& [name, macs] : published) {
    INFO(name);
    const Network ten = make_network(name + "-cifar10", Convention::kCptCifar);
    const Network hundred = make_network(name + "-cifar100", Convention::kCptCifar);
    CHECK(ten.macs_per_sample() == macs);
    CHECK(hundred.macs_per_sample() == macs);
    CHECK(ten.macs_per_sample(false) == macs + 640);
    CHECK(hundred.macs_per_sample(false) == macs + 6'400);
    CHECK(make_network(name + "-cifar10", Convention::kAll).macs_per_sample() == macs + 640);
  }
}

TEST_CASE("published GBitOPs of static 8/8 are reproduced within the reading error",
          "[network][published]") {
  // 64,000 iterations of 128 samples, 192 bits^2 per MAC: 1.310, 2.646, 3.982, 5.540 e8 GBitOPs;
  // exp_cifar100.png shows up to 1 % more.
  const std::map<std::string, double> published = {{"resnet38-cifar100", 1.310e8},
                                                   {"resnet74-cifar100", 2.646e8},
                                                   {"resnet110-cifar100", 3.982e8},
                                                   {"resnet152-cifar100", 5.540e8}};
  for (const auto& [name, gbitops] : published) {
    INFO(name);
    const double macs =
        static_cast<double>(make_network(name, Convention::kCptCifar).macs_per_sample());
    CHECK(macs * 64000 * 128 * 192 / 1e9 == Approx(gbitops).epsilon(0.0004));
  }
}

TEST_CASE("the file of CIFAR ResNets equals the generator, layer by layer", "[network]") {
  for (const int classes : {10, 100}) {
    for (const int depth : {8, 20, 32, 38, 56, 74, 110, 152, 164}) {
      for (const Convention c :
           {Convention::kAll, Convention::kCptCifar, Convention::kCptImagenet}) {
        const std::string name = "resnet" + std::to_string(depth) + (depth == 164 ? "-basic" : "") +
                                 "-cifar" + std::to_string(classes);
        INFO(name << " " << to_string(c));
        const Network network = make_network(name, c);
        const std::vector<Layer> expected = cifar_resnet_reference(depth, classes, c);
        CHECK(network.name == name);
        CHECK(network.batch == 128);
        REQUIRE(network.layers.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const Layer& a = network.layers[i];
          const Layer& b = expected[i];
          INFO(b.name);
          CHECK(a.name == b.name);
          CHECK_NOTHROW(a.validate());
          for (const auto field :
               {&Layer::cin, &Layer::cout, &Layer::hi, &Layer::wi, &Layer::kh, &Layer::kw,
                &Layer::stride_h, &Layer::stride_w, &Layer::pad_h, &Layer::pad_w, &Layer::dilation,
                &Layer::groups, &Layer::output_pad_h, &Layer::output_pad_w}) {
            CHECK(a.*field == b.*field);
          }
          for (const auto flag :
               {&Layer::dense, &Layer::first, &Layer::downsample, &Layer::quantised}) {
            CHECK(a.*flag == b.*flag);
          }
          CHECK(a.kind == b.kind);
          CHECK_FALSE(a.pad_bottom.has_value());
          CHECK_FALSE(a.pad_right.has_value());
        }
      }
    }
  }
}

TEST_CASE("each layer reads what the layers before it write", "[network]") {
  const Network network = make_network("resnet38-cifar10", Convention::kAll);
  std::uint64_t channels = 3;
  std::uint64_t size = 32;
  for (const Layer& layer : network.layers) {
    INFO(layer.name);
    if (layer.dense) {
      CHECK(layer.cin == channels);
      CHECK(size == 8);
    } else if (layer.downsample) {
      CHECK(layer.cin == channels / 2);
      CHECK(layer.cout == channels);
      CHECK(layer.ho() == size);
      CHECK(layer.wo() == size);
    } else {
      CHECK(layer.cin == channels);
      CHECK(layer.hi == size);
      CHECK(layer.wi == size);
      channels = layer.cout;
      size = layer.ho();
    }
  }
}

TEST_CASE("layer names are unique", "[network]") {
  std::map<std::string, int> seen;
  for (const Layer& layer : make_network("resnet152-cifar10", Convention::kAll).layers) {
    CHECK(++seen[layer.name] == 1);
  }
}

TEST_CASE("conventions decide which layers are FP32", "[network]") {
  const auto fp32 = [](Convention convention) {
    std::vector<std::string> names;
    for (const Layer& layer : make_network("resnet20-cifar10", convention).layers) {
      if (!layer.quantised) names.push_back(layer.name);
    }
    return names;
  };
  CHECK(fp32(Convention::kAll).empty());
  CHECK(fp32(Convention::kCptCifar) == std::vector<std::string>{"fc"});
  CHECK(fp32(Convention::kCptImagenet) ==
        std::vector<std::string>{"conv1", "stage2.block1.downsample", "stage3.block1.downsample",
                                 "fc"});
}

TEST_CASE("names of networks, conventions and lowerings are parsed or refused with a suggestion",
          "[network][errors]") {
  CHECK_THAT(error_text([] { make_network("resnet47-cifar10", Convention::kAll); }),
             Contains("network: found 'resnet47-cifar10'") && Contains("did you mean 'resnet"));
  CHECK_THAT(error_text([] { make_network("", Convention::kAll); }), Contains("network"));
  for (const Convention c : {Convention::kAll, Convention::kCptCifar, Convention::kCptImagenet}) {
    CHECK(parse_convention(to_string(c)) == c);
  }
  CHECK_THAT(error_text([] { parse_convention("cpt-cifr"); }),
             Contains("did you mean 'cpt-cifar'"));
  CHECK(parse_lowering("dx=phases") == DxLowering::kPhases);
  CHECK(parse_lowering("dx=gemm") == DxLowering::kGemm);
  CHECK_THAT(error_text([] { parse_lowering("dx=gem"); }), Contains("did you mean 'dx=gemm'"));
  CHECK(to_string(GemmKind::kForward) == "fwd");
  CHECK(to_string(GemmKind::kDx) == "dx");
  CHECK(to_string(GemmKind::kDw) == "dw");
}

}  // namespace
}  // namespace bitcycle
