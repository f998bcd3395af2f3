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
}

}  // namespace
}  // namespace bitcycle
