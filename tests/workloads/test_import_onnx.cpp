// ONNX models as networks: against what PyTorch itself executes, and odd cases made by hand.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/workloads/error_text.hpp"
#include "tests/workloads/onnx_testing.hpp"
#include "workloads/network_file.hpp"
#include "workloads/onnx_import.hpp"

namespace bitcycle {
namespace {

using namespace onnx_testing;  // NOLINT(google-build-using-namespace)
using Catch::Matchers::Contains;

const std::string kModels = BITCYCLE_SOURCE_DIR "/tests/workloads/onnx/";

ImportedNetwork import_parts(const Parts& parts, const ImportOptions& options = {}) {
  ImportedNetwork out = import_onnx(parse_onnx(model(parts), "m.onnx"), options);
  (void)infer_shapes(out.graph);
  return out;
}

Network network_of(const Parts& parts) { return build_network(import_parts(parts).graph); }

std::string refusal(const Parts& parts, const ImportOptions& options = {}) {
  return error_text([&] { import_parts(parts, options); });
}

std::uint64_t weights_of(const Network& network) {
  std::uint64_t sum = 0;
  for (const Layer& layer : network.layers) sum += layer.parameters();
  return sum;
}

std::uint64_t fate(const ImportedNetwork& imported, const std::string& name,
                   const std::string& fate) {
  for (const auto& op : imported.operators) {
    if (op.name == name && op.fate == fate) return op.count;
  }
  return 0;
}

// One convolution: x [1, 8, 9, 11] -> y.
Parts convolution(const Names& attributes, const Dims& weight = {4, 8, 3, 3},
                  const Dims& input = {1, 8, 9, 11}) {
  return {{value("x", input)},
          {value("y", {})},
          {tensor("w", weight)},
          {node("Conv", {"x", "w"}, {"y"}, attributes)}};
}

TEST_CASE("MACs and weights of every test model are those that PyTorch executes", "[onnx]") {
  std::ifstream in(kModels + "expected.json");
  const auto expected = nlohmann::json::parse(in);
  REQUIRE(expected.size() >= 14);
  for (const auto& [name, counts] : expected.items()) {
    CAPTURE(name);
    ImportOptions options;
    if (name == "encoder-dynamic") options.dims["length"] = 8;
    if (name == "lstm-time-first") options.batch_axis = 1;
    const ImportedNetwork imported = import_network({kModels + name + ".onnx"}, options);
    const Network network = build_network(imported.graph);
    CHECK(network.macs_per_sample(false) == counts["macs"].get<std::uint64_t>());
    CHECK(weights_of(network) == counts["weights"].get<std::uint64_t>());
    for (const auto& op : imported.operators)
      CHECK(op.fate.find("unsupported") == std::string::npos);
    // The file that is written is the same network.
    const Network again =
        build_network(expand_network(parse_network_file(network_yaml(imported.graph), "again")));
    CHECK(again.macs_per_sample(false) == network.macs_per_sample(false));
    CHECK(again.parameters() == network.parameters());
    CHECK(again.vector_ops.size() == network.vector_ops.size());
  }
}

TEST_CASE("the layer table of a residual stage", "[onnx]") {
  const auto imported = import_network({kModels + "residual.onnx"}, {});
  const Network network = build_network(imported.graph);
  std::vector<std::string> names;
  for (const Layer& layer : network.layers) names.push_back(layer.name);
  CHECK(names == std::vector<std::string>{"conv1", "conv2", "conv3", "shortcut", "fc"});
  CHECK(network.layers[0].first);
  CHECK_FALSE(network.layers[1].first);
  const Layer& conv2 = network.layers[1];
  CHECK(conv2.cin == 8);
  CHECK(conv2.cout == 16);
  CHECK(conv2.hi == 16);
  CHECK(conv2.ho() == 8);
  CHECK(conv2.stride_h == 2);
  CHECK(conv2.pad_h == 1);
  CHECK(network.layers[3].kh == 1);
  CHECK(network.layers[4].dense);
  CHECK(fate(imported, "BatchNormalization", "vector work") == 3);
  CHECK(fate(imported, "Flatten", "no work") == 1);
}

TEST_CASE("attention becomes matmuls with heads, LayerNorm and GELU one operation each", "[onnx]") {
  for (const char* name : {"encoder", "encoder-batch4"}) {
    const auto imported = import_network({kModels + name + ".onnx"}, {});
    const Network network = build_network(imported.graph);
    std::vector<Layer> products;
    for (const Layer& layer : network.layers) {
      if (layer.kind == LayerKind::kMatmul) products.push_back(layer);
    }
    REQUIRE(products.size() == 2);
    CHECK(products[0].groups == 4);  // scores: 8 x 8, over 8 features
    CHECK(products[0].hi == 8);
    CHECK(products[0].cin == 32);
    CHECK(products[0].cout == 32);
    CHECK(products[1].groups == 4);
    CHECK(fate(imported, "LayerNorm (several operators)", "vector work") == 2);
    CHECK(fate(imported, "GELU (several operators)", "vector work") == 1);
    CHECK(fate(imported, "Add (bias of a layer)", "vector work") == 6);
    CHECK(imported.graph.batch == (std::string(name) == "encoder" ? 1 : 4));
  }
}

TEST_CASE("the batch of the file is overridden without changing the sample", "[onnx]") {
  ImportOptions options;
  options.batch = 128;
  for (const char* name : {"conv", "conv-batch4", "encoder-batch4"}) {
    const auto own = import_network({kModels + name + ".onnx"}, {});
    const auto overridden = import_network({kModels + name + ".onnx"}, options);
    CHECK(overridden.graph.batch == 128);
    CHECK(own.graph.batch != 128);
    CHECK(build_network(own.graph).macs_per_sample(false) ==
          build_network(overridden.graph).macs_per_sample(false));
  }
}

TEST_CASE("open dimensions must be given, by name, once", "[onnx]") {
  const std::string path = kModels + "encoder-dynamic.onnx";
  CHECK_THAT(error_text([&] { import_network({path}, {}); }),
             Contains("no size for 'length', allowed: --dim length=N"));
  ImportOptions options;
  options.dims = {{"length", 8}, {"lenght", 8}};
  CHECK_THAT(error_text([&] { import_network({path}, options); }),
             Contains("'lenght', did you mean 'length'?"));
  // The position table of the test model has 8 entries.
  options.dims = {{"length", 16}};
  CHECK_THAT(error_text([&] { import_network({path}, options); }), Contains("broadcast"));
}

TEST_CASE("a model with time first needs --batch-axis, and says so", "[onnx]") {
  CHECK_THAT(error_text([&] { import_network({kModels + "lstm-time-first.onnx"}, {}); }),
             Contains("--batch-axis"));
}

TEST_CASE("convolutions: strides, dilations, groups, automatic and uneven padding", "[onnx]") {
  const auto layer = [](const Parts& parts) { return network_of(parts).layers.at(0); };
  Layer l = layer(convolution({attribute("strides", Dims{2, 1}), attribute("dilations", Dims{1, 2}),
                               attribute("pads", Dims{1, 0, 2, 3})}));
  CHECK(l.ho() == 5);   // (9 + 3 - 3) / 2 + 1
  CHECK(l.wo() == 10);  // 11 + 3 - 5 + 1
  CHECK(l.stride_w == 1);
  l = layer(convolution({attribute("auto_pad", "SAME_UPPER"), attribute("strides", Dims{2, 2})}));
  CHECK(l.ho() == 5);
  CHECK(l.wo() == 6);
  l = layer(convolution({attribute("auto_pad", "VALID")}));
  CHECK(l.ho() == 7);
  l = layer(convolution({attribute("group", std::int64_t{8})}, {16, 1, 3, 3}));
  CHECK(l.groups == 8);
  CHECK(l.macs_per_sample() == 7U * 9 * 16 * 9);
  l = layer(convolution({}, {4, 8, 3}, {1, 8, 20}));
  CHECK(l.ho() == 18);
  CHECK(l.wo() == 1);
  // A Pad in front is the convolution's own padding.
  Parts padded = convolution({});
  padded.initializers.push_back(integers("pads", {0, 0, 1, 2, 0, 0, 1, 2}));
  padded.nodes = {node("Pad", {"x", "pads"}, {"p"}), node("Conv", {"p", "w"}, {"y"})};
  l = layer(padded);
  CHECK(l.ho() == 9);
  CHECK(l.pad_w == 2);
  CHECK(l.hi == 9);
}

TEST_CASE("transposed convolutions: output padding and output shape", "[onnx]") {
  const auto parts = [](const Names& attributes) {
    return Parts{{value("x", {1, 8, 5, 5})},
                 {},
                 {tensor("w", {8, 3, 3, 3})},
                 {node("ConvTranspose", {"x", "w"}, {"y"}, attributes)}};
  };
  const auto size = [&](const Names& attributes) {
    const Layer l = network_of(parts(attributes)).layers.at(0);
    CHECK(l.kind == LayerKind::kTransposed);
    CHECK(l.macs_per_sample() == 25U * 8 * 3 * 9);
    return l.ho();
  };
  CHECK(size({}) == 7);
  CHECK(size({attribute("strides", Dims{2, 2})}) == 11);
  CHECK(size({attribute("strides", Dims{2, 2}), attribute("pads", Dims{1, 1, 1, 1}),
              attribute("output_padding", Dims{1, 1})}) == 10);
  CHECK(size({attribute("strides", Dims{2, 2}), attribute("output_shape", Dims{10, 10})}) == 10);
  CHECK(size({attribute("strides", Dims{2, 2}), attribute("auto_pad", "SAME_UPPER")}) == 10);
}

TEST_CASE("matrix products: constant on either side, transposed, tied weights", "[onnx]") {
  Network n = network_of(
      {{value("x", {2, 7, 12})}, {}, {tensor("w", {12, 5})}, {node("MatMul", {"x", "w"}, {"y"})}});
  CHECK(n.layers[0].macs_per_sample() == 7 * 12 * 5);
  n = network_of(
      {{value("x", {1, 12, 7})}, {}, {tensor("w", {5, 12})}, {node("MatMul", {"w", "x"}, {"y"})}});
  CHECK(n.layers[0].macs_per_sample() == 7 * 12 * 5);
  CHECK(n.layers[0].cin == 12);
  // The table of an embedding as decoder: counted once.
  const ImportedNetwork tied =
      import_parts({{value("x", {1, 6})},
                    {},
                    {tensor("table", {50, 16})},
                    {node("Gather", {"table", "x"}, {"e"}),
                     node("Transpose", {"table"}, {"t"}, {attribute("perm", Dims{1, 0})}),
                     node("MatMul", {"e", "t"}, {"y"})}});
  n = build_network(tied.graph);
  CHECK(n.layers[0].macs_per_sample() == 6 * 16 * 50);
  CHECK(n.parameters() == 800);
  CHECK_THAT(refusal({{value("x", {4, 12})},
                      {},
                      {},
                      {node("Transpose", {"x"}, {"t"}), node("MatMul", {"x", "t"}, {"y"})}}),
             Contains("a multiple of the batch 4"));
  CHECK_THAT(refusal({{value("x", {3, 7, 12})},
                      {},
                      {tensor("w", {3, 12, 5})},
                      {node("MatMul", {"x", "w"}, {"y"})}}),
             Contains("one matrix"));
}

TEST_CASE("unsupported operators are listed with their counts, never dropped", "[onnx]") {
  Parts parts = convolution({});
  parts.nodes.push_back(node("NonMaxSuppression", {"y"}, {"a"}));
  parts.nodes.push_back(node("NonMaxSuppression", {"y"}, {"b"}));
  parts.nodes.push_back(node("FusedThing", {"y"}, {"c"}, {}, "com.example"));
  parts.nodes.push_back(node("Relu", {"a"}, {"d"}));
  CHECK_THAT(refusal(parts), Contains("found NonMaxSuppression (2), com.example.FusedThing (1), "
                                      "allowed:"));
  ImportOptions options;
  options.allow_unsupported = true;
  const ImportedNetwork allowed = import_parts(parts, options);
  CHECK(fate(allowed, "NonMaxSuppression", "unsupported: no work") == 2);
  CHECK(fate(allowed, "Relu", "after an unsupported one: not counted") == 1);
  CHECK(build_network(allowed.graph).layers.size() == 1);
  // A layer behind an unsupported operator has no known shape: not even the option counts it as 0.
  parts.nodes.push_back(node("Conv", {"d", "w"}, {"e"}));
  CHECK_THAT(refusal(parts, options), Contains("unsupported operator NonMaxSuppression"));
}

TEST_CASE("quantised operators are the work of the plain ones", "[onnx]") {
  const Network n =
      network_of({{value("x", {1, 8, 9, 11})},
                  {},
                  {tensor("s", {}), tensor("w", {4, 8, 3, 3})},
                  {node("QuantizeLinear", {"x", "s"}, {"q"}),
                   node("QLinearConv", {"q", "s", "s", "w", "s", "s", "s", "s"}, {"c"}),
                   node("DequantizeLinear", {"c", "s"}, {"y"})}});
  REQUIRE(n.layers.size() == 1);
  CHECK(n.layers[0].macs_per_sample() == 7 * 9 * 4 * 72);
}

TEST_CASE("shapes that exporters compute are followed", "[onnx]") {
  // y = reshape(x, concat(shape(x)[0:1], [-1])), then a dense layer.
  const Parts parts = {
      {value("x", {-1, 4, 3, 5})},
      {},
      {tensor("w", {60, 7}), integers("zero", {0}), integers("one", {1}), integers("minus", {-1})},
      {node("Shape", {"x"}, {"s"}), node("Slice", {"s", "zero", "one", "zero"}, {"n"}),
       node("Concat", {"n", "minus"}, {"to"}, {attribute("axis", std::int64_t{0})}),
       node("Reshape", {"x", "to"}, {"flat"}), node("MatMul", {"flat", "w"}, {"y"})}};
  CHECK(network_of(parts).layers[0].macs_per_sample() == 420);
}

TEST_CASE("models that do not fit together are refused with the node", "[onnx]") {
  CHECK_THAT(refusal(convolution({}, {4, 7, 3, 3})), Contains("Conv 'Conv_node', groups"));
  CHECK_THAT(refusal(convolution({}, {4, 8, 30, 3})), Contains("no larger than the padded input"));
  CHECK_THAT(refusal(convolution({attribute("strides", Dims{0, 1})})),
             Contains("strides: found 0"));
  CHECK_THAT(refusal(convolution({attribute("strides", Dims{-1, 1})})), Contains("found -1"));
  CHECK_THAT(refusal(convolution({attribute("pads", Dims{1, 1})})),
             Contains("pads: found 2 numbers"));
  CHECK_THAT(refusal(convolution({attribute("group", std::int64_t{0})})), Contains("groups"));
  CHECK_THAT(refusal(convolution({}, {4, 8, 3, 3, 3}, {1, 8, 9, 9, 9})),
             Contains("3 spatial axes"));
  CHECK_THAT(refusal({{value("x", {1, 4})}, {}, {}, {node("Relu", {"z"}, {"y"})}}),
             Contains("'z' comes from nowhere"));
  CHECK_THAT(refusal({{value("x", {1, 4})}, {}, {}, {}}), Contains("no operators"));
  CHECK_THAT(refusal({{}, {}, {tensor("w", {3})}, {}}), Contains("inputs: found none"));
  CHECK_THAT(refusal({{value("x", {1, 1LL << 40})}, {}, {}, {node("Relu", {"x"}, {"y"})}}),
             Contains("sizes up to"));
  CHECK_THAT(refusal({{value("x", {1, 4})}, {}, {tensor("w", {2}), tensor("w", {2})}, {}}),
             Contains("the name twice"));
  CHECK_THAT(refusal({{value("x", {1, 4}), value("x", {1, 4})}, {}, {}, {}}), Contains("twice"));
  CHECK_THAT(refusal({{value("x", {1, 6})},
                      {},
                      {integers("to", {4, -1})},
                      {node("Reshape", {"x", "to"}, {"y"})}}),
             Contains("6 elements"));
}

}  // namespace
}  // namespace bitcycle
