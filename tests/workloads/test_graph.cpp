// Graphs of operators: shapes, layers, vector work.
#include <catch2/catch.hpp>

#include "tests/workloads/error_text.hpp"
#include "workloads/graph.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;
using Numbers = std::map<std::string, std::uint64_t>;

Node node(const std::string& name, Op op, const Numbers& numbers = {}, const std::string& kind = "",
          const std::vector<std::string>& inputs = {}) {
  Node out;
  out.name = name;
  out.op = op;
  out.numbers = numbers;
  out.kind = kind;
  out.inputs = inputs;
  return out;
}

Graph graph_of(std::vector<Node> nodes) {
  Graph graph;
  graph.name = "graph";
  graph.nodes = std::move(nodes);
  return graph;
}

// A bottleneck of two convolutions and a shortcut.
Graph small() {
  return graph_of(
      {node("image", Op::kInput, {{"channels", 3}, {"height", 32}, {"width", 32}}),
       node("conv1", Op::kConv, {{"channels", 16}, {"kernel", 3}, {"padding", 1}}),
       node("bn1", Op::kBatchNorm), node("relu1", Op::kActivation),
       node("conv2", Op::kConv, {{"channels", 32}, {"kernel", 3}, {"stride", 2}, {"padding", 1}}),
       node("downsample", Op::kConv, {{"channels", 32}, {"kernel", 1}, {"stride", 2}}, "",
            {"relu1"}),
       node("add", Op::kAdd, {}, "", {"conv2", "downsample"}), node("pool", Op::kGlobalPool),
       node("fc", Op::kDense, {{"channels", 10}, {"bias", 1}}), node("loss", Op::kLoss)});
}

TEST_CASE("a graph gives shapes, layers and vector work", "[graph]") {
  const Graph graph = small();
  const auto shapes = infer_shapes(graph);
  CHECK(shapes[1] == Shape{16, 32, 32});
  CHECK(shapes[5] == Shape{32, 16, 16});
  CHECK(shapes[7] == Shape{32, 1, 1});
  const Network network = build_network(graph);
  REQUIRE(network.layers.size() == 4);
  CHECK(network.layers[0].first);
  CHECK_FALSE(network.layers[1].first);
  CHECK(network.layers[2].downsample);
  CHECK(network.layers[3].dense);
  CHECK(network.parameters() == 3 * 16 * 9 + 32 + 16 * 32 * 9 + 16 * 32 + 320 + 10);
  std::vector<std::string> names;
  for (const VectorOp& op : network.vector_ops) names.push_back(op.name);
  CHECK(names == std::vector<std::string>{"bn1", "relu1", "relu1.gradients", "add", "pool",
                                          "fc.bias", "loss"});
  CHECK(network.vector_ops[0].forward_ops == 5 * 16 * 32 * 32);
  CHECK(network.vector_ops[2].backward_ops == 16 * 32 * 32);
  // Two gradients of relu1 are read and their sum is written; both inputs of add get its gradient.
  CHECK(network.vector_ops[2].backward_in == 2 * 16 * 32 * 32);
  CHECK(network.vector_ops[2].backward_out == 16 * 32 * 32);
  CHECK(network.vector_ops[3].backward_in == 0);
  CHECK(network.vector_ops[3].backward_out == 0);
  CHECK(network.vector_ops[5].backward_in == 10);  // fc.bias
  CHECK(network.vector_ops[5].backward_out == 0);
}

// Output shape of the last of `nodes`.
Shape last_shape(std::vector<Node> nodes) {
  return infer_shapes(graph_of(std::move(nodes))).back();
}

Node image(std::uint64_t channels, std::uint64_t height, std::uint64_t width = 1) {
  return node("x", Op::kInput, {{"channels", channels}, {"height", height}, {"width", width}});
}

TEST_CASE("every operator has the shape of its kind", "[graph]") {
  using N = Numbers;
  CHECK(last_shape({image(3, 224, 224),
                    node("c", Op::kConv,
                         N{{"channels", 64}, {"kernel", 7}, {"stride", 2}, {"padding", 3}})}) ==
        Shape{64, 112, 112});
  CHECK(last_shape({image(3, 10, 20), node("c", Op::kConv,
                                           N{{"channels", 4},
                                             {"kernel_h", 3},
                                             {"kernel_w", 5},
                                             {"stride_w", 2},
                                             {"padding_top", 2},
                                             {"padding_right", 1},
                                             {"dilation_h", 2}})}) == Shape{4, 8, 9});
  CHECK(last_shape({image(8, 6, 6), node("d", Op::kDepthwise,
                                         N{{"kernel", 3}, {"padding", 1}, {"multiplier", 2}})}) ==
        Shape{16, 6, 6});
  CHECK(last_shape({image(8, 6, 6), node("t", Op::kConvTranspose,
                                         N{{"channels", 4},
                                           {"kernel", 3},
                                           {"stride", 2},
                                           {"padding", 1},
                                           {"output_padding", 1}})}) == Shape{4, 12, 12});
  CHECK(last_shape({image(8, 6, 5), node("d", Op::kDense, N{{"channels", 3}})}) == Shape{3, 6, 5});
  CHECK(last_shape({image(8, 6), node("r", Op::kRecurrent, N{{"channels", 3}})}) == Shape{3, 6, 1});
  CHECK(last_shape(
            {image(1, 6), node("e", Op::kEmbedding, N{{"channels", 32}, {"vocabulary", 100}})}) ==
        Shape{32, 6, 1});
  CHECK(last_shape({image(8, 7, 7), node("p", Op::kPool, N{{"kernel", 2}})}) == Shape{8, 3, 3});
  CHECK(last_shape({image(8, 7, 7),
                    node("p", Op::kPool, N{{"kernel", 3}, {"stride", 2}, {"padding", 1}})}) ==
        Shape{8, 4, 4});
  CHECK(last_shape({image(8, 7, 7), node("p", Op::kGlobalPool)}) == Shape{8, 1, 1});
  CHECK(last_shape({image(8, 7, 7), node("u", Op::kUpsample, N{{"factor", 3}})}) ==
        Shape{8, 21, 21});
  CHECK(last_shape({image(8, 7, 7), node("f", Op::kFlatten)}) == Shape{392, 1, 1});
  CHECK(last_shape({image(8, 7, 7), node("r", Op::kReshape, N{{"channels", 49}, {"height", 8}})}) ==
        Shape{49, 8, 1});
  CHECK(last_shape({image(8, 7, 7), node("s", Op::kSelect, N{{"height", 1}})}) == Shape{8, 1, 7});
  CHECK(last_shape({image(8, 7), node("s", Op::kSpmm, N{{"edges", 20}, {"rows", 3}})}) ==
        Shape{8, 3, 1});
  CHECK(last_shape({image(8, 7), node("l", Op::kLoss)}) == Shape{1, 1, 1});
  const std::vector<std::string> twice = {"x", "x"};
  CHECK(last_shape({image(8, 7, 7), node("c", Op::kConcat, {}, "", twice)}) == Shape{16, 7, 7});
  CHECK(last_shape({image(8, 7, 7), node("c", Op::kConcat, {}, "height", twice)}) ==
        Shape{8, 14, 7});
  CHECK(last_shape({image(8, 7, 7), node("c", Op::kConcat, {}, "width", twice)}) ==
        Shape{8, 7, 14});
  CHECK(last_shape({image(8, 7, 7), node("g", Op::kGlobalPool),
                    node("m", Op::kMul, {}, "", {"x", "g"})}) == Shape{8, 7, 7});
  for (const Op op : {Op::kBatchNorm, Op::kLayerNorm, Op::kGroupNorm, Op::kRmsNorm, Op::kActivation,
                      Op::kSoftmax}) {
    CHECK(last_shape({image(8, 7, 5), node("n", op)}) == Shape{8, 7, 5});
  }
}

TEST_CASE("attention has heads x positions channels of scores", "[graph]") {
  const std::vector<Node> nodes = {
      image(64, 10), node("k", Op::kDense, {{"channels", 16}}, "", {"x"}),
      node("scores", Op::kMatmul, {{"heads", 8}, {"kv_heads", 2}}, "nt", {"x", "k"}),
      node("context", Op::kMatmul, {{"heads", 8}, {"kv_heads", 2}}, "nn", {"scores", "k"})};
  const Graph graph = graph_of(nodes);
  CHECK(infer_shapes(graph)[2] == Shape{80, 10, 1});
  CHECK(infer_shapes(graph)[3] == Shape{64, 10, 1});
  const Network network = build_network(graph);
  // Four heads of queries share one head of keys: their rows are one product.
  const auto gemms = training_gemms(network, 3);
  CHECK(gemms[3].shape == Gemm{40, 10, 8});
  CHECK(gemms[3].count == 6);
  CHECK(gemms[6].shape == Gemm{40, 8, 10});
  CHECK(network.layers[1].macs_per_sample() == 8 * 10 * 10 * 8);
  CHECK(network.layers[2].macs_per_sample() == 8 * 10 * 10 * 8);
  CHECK(layer_tensors(network.layers[1], 1).weight == 16 * 10);
  CHECK(layer_tensors(network.layers[1], 1).input == 64 * 10);
}

TEST_CASE("vector work follows its rules", "[graph]") {
  const Graph graph = graph_of(
      {image(1, 6), node("e", Op::kEmbedding, {{"channels", 4}, {"vocabulary", 100}}),
       node("lstm", Op::kRecurrent, {{"channels", 5}, {"bias", 2}}, "lstm"),
       node("agg", Op::kSpmm, {{"edges", 20}}), node("mean", Op::kSpmm, {{"edges", 20}}, "mean"),
       node("norm", Op::kLayerNorm), node("soft", Op::kSoftmax),
       node("ops", Op::kElementwise, {{"ops", 7}, {"backward_ops", 2}}),
       node("tied", Op::kDense, {{"channels", 3}, {"bias", 1}}),
       node("drop", Op::kActivation, {}, "dropout"), node("loss", Op::kLoss)});
  std::map<std::string, VectorOp> ops;
  for (const VectorOp& op : build_network(graph).vector_ops) {
    CHECK_FALSE(op.rule.empty());
    CHECK(ops.emplace(op.name, op).second);
  }
  CHECK(ops.size() == 11);
  CHECK(ops.at("e").parameters == 400);
  CHECK(ops.at("e").indices == 6);
  CHECK(ops.at("e").backward_ops == 24);
  CHECK(ops.at("lstm.bias").parameters == 2 * 4 * 5);
  CHECK(ops.at("lstm.bias").forward_ops == 2 * 4 * 5 * 6);
  CHECK(ops.at("lstm.cell").forward_ops == 30 * 30);
  CHECK(ops.at("lstm.cell").backward_ops == 22 * 30);
  CHECK(ops.at("agg").forward_ops == 2 * 20 * 5);
  CHECK(ops.at("agg").backward_ops == 2 * 20 * 5);
  CHECK(ops.at("agg").indices == 40);
  CHECK(ops.at("mean").forward_ops == 20 * 5 + 30);
  CHECK(ops.at("norm").parameters == 10);
  CHECK(ops.at("norm").forward_ops == 7 * 30);
  CHECK(ops.at("norm").backward_ops == 13 * 30);
  CHECK(ops.at("soft").forward_ops == 5 * 30);
  CHECK(ops.at("ops").forward_ops == 7 * 30);
  CHECK(ops.at("ops").backward_ops == 2 * 30);
  CHECK(ops.at("tied.bias").parameters == 3);
  CHECK(ops.at("drop").indices == 18);
  CHECK(ops.at("loss").forward_ops == 5 * 18);
}

TEST_CASE("only layers before any parameter are first", "[graph]") {
  const Network two = build_network(graph_of({image(8, 6), node("agg", Op::kSpmm, {{"edges", 9}}),
                                              node("a", Op::kDense, {{"channels", 4}}),
                                              node("b", Op::kDense, {{"channels", 4}}, "", {"x"}),
                                              node("add", Op::kAdd, {}, "", {"a", "b"}),
                                              node("c", Op::kDense, {{"channels", 2}})}));
  CHECK(two.layers[0].first);
  CHECK(two.layers[1].first);
  CHECK_FALSE(two.layers[2].first);
  // An embedding is trained: what follows needs its dX. A hidden state always does.
  const Network words = build_network(
      graph_of({image(1, 6), node("e", Op::kEmbedding, {{"channels", 4}, {"vocabulary", 100}}),
                node("r", Op::kRecurrent, {{"channels", 5}})}));
  for (const Layer& layer : words.layers) CHECK_FALSE(layer.first);
  const Network series =
      build_network(graph_of({image(3, 6), node("r", Op::kRecurrent, {{"channels", 5}}, "gru")}));
  CHECK(series.layers[0].first);
  CHECK_FALSE(series.layers[1].first);
  CHECK(series.layers[0].cout == 15);
}

TEST_CASE("shared weights are counted once and must have one shape", "[graph][errors]") {
  std::vector<Node> nodes = {image(4, 6), node("a", Op::kDense, {{"channels", 4}}),
                             node("b", Op::kDense, {{"channels", 4}})};
  nodes[2].weights_of = "a";
  const Network network = build_network(graph_of(nodes));
  CHECK(network.parameters() == 16);
  CHECK(network.macs_per_sample() == 2 * 6 * 16);
  nodes[2].numbers["channels"] = 5;
  CHECK_THAT(error_text([&] { build_network(graph_of(nodes)); }),
             Contains("node 'b', weights_of: found 'a' with 16 weights, allowed: a node with 20"));
  nodes[2].weights_of = "b";
  CHECK_THAT(error_text([&] { build_network(graph_of(nodes)); }), Contains("an earlier node"));
}

TEST_CASE("patterns match whole names", "[graph]") {
  CHECK(matches_pattern("layer1.block1.conv1", "*.conv1"));
  CHECK(matches_pattern("layer1.block1.conv1", "layer1*conv*"));
  CHECK(matches_pattern("fc", "fc"));
  CHECK(matches_pattern("", "*"));
  CHECK(matches_pattern("aab", "*ab"));
  CHECK_FALSE(matches_pattern("fc1", "fc"));
  CHECK_FALSE(matches_pattern("fc", "fc1"));
  CHECK_FALSE(matches_pattern("conv10", "*.conv1"));
  CHECK_FALSE(matches_pattern("a", ""));
  CHECK_FALSE(matches_pattern(std::string(200, 'a'), "*a*a*a*a*a*b"));
}

TEST_CASE("every operator says what it takes, and names are read back", "[graph]") {
  for (const std::string& name : op_names()) {
    INFO(name);
    const Op op = parse_op(name);
    CHECK(to_string(op) == name);
    CHECK(op_info(op).op == op);
    CHECK(op_info(op).least_inputs <= op_info(op).most_inputs);
  }
  CHECK_THAT(error_text([] { parse_op("sofmax"); }), Contains("did you mean 'softmax'?"));
}

TEST_CASE("what does not fit is refused with the node's name", "[graph][errors]") {
  const auto refusal = [](std::vector<Node> nodes) {
    return error_text([&] { infer_shapes(graph_of(std::move(nodes))); });
  };
  CHECK_THAT(refusal({}), Contains("nodes: found none"));
  CHECK_THAT(refusal({node("a", Op::kSoftmax)}), Contains("node 'a', inputs: found none"));
  CHECK_THAT(refusal({image(4, 4), node("", Op::kSoftmax)}), Contains("name"));
  CHECK_THAT(refusal({image(4, 4), node("a b", Op::kSoftmax)}), Contains("'a b'"));
  CHECK_THAT(refusal({image(4, 4), node("a", Op::kSoftmax, {}, "", {"a"})}),
             Contains("node 'a', inputs: found 'a'"));
  CHECK_THAT(refusal({image(4, 4), node("a", Op::kAdd)}), Contains("node 'a', inputs: found 1"));
  CHECK_THAT(refusal({image(4, 4), image(4, 4)}), Contains("node 'x', name"));
  CHECK_THAT(refusal({image(4, 4), image(4, 4), node("y", Op::kSoftmax, {{"axis", 1}})}),
             Contains("node 'y', attribute: found 'axis', allowed: softmax takes none") ||
                 Contains("name"));
  CHECK_THAT(refusal({image(4, 4), node("a", Op::kPool, {{"kernel", 5}})}), Contains("'a'"));
  CHECK_THAT(refusal({image(4, 4), node("m", Op::kMatmul, {{"heads", 3}}, "", {"x", "x"})}),
             Contains("node 'm', heads: found 3"));
  CHECK_THAT(refusal({image(4, 5), node("m", Op::kMatmul, {}, "nn", {"x", "x"})}),
             Contains("node 'm', reduction: found 4 and 5"));
  CHECK_THAT(refusal({image(4, 5), image(0, 1)}), Contains("channels: found 0"));
  CHECK_THAT(refusal({image(0xFFFF'FFFF, 0xFFFF'FFFF, 2)}), Contains("2^64"));
  CHECK_THAT(
      refusal({image(0xFFFF'FFFF, 2), node("r", Op::kRecurrent, {{"channels", 0xFFFF'FFFF}})}),
      Contains("'r"));
}

}  // namespace
}  // namespace bitcycle
