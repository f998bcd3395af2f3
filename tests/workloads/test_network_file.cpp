// Network files: what the format can say, and what it refuses with its line.
#include <catch2/catch.hpp>

#include "tests/workloads/error_text.hpp"
#include "tests/workloads/temporary_file.hpp"
#include "workloads/network_file.hpp"
#include "workloads/network_library.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;

Graph read(const std::string& text, const std::string& variant = "") {
  return expand_network(parse_network_file(text, "f.yaml"), variant);
}

std::string refusal(const std::string& text) {
  std::string message = error_text([&] { build_network(read(text)); });
  CHECK(message.find('\n') == std::string::npos);
  return message;
}

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> out;
  for (const Node& node : graph.nodes) out.push_back(node.name);
  return out;
}

const std::string kHead =
    "network: small\n"
    "nodes:\n"
    "  - input: {channels: 3, height: 8, width: 8}\n";

TEST_CASE("a file gives a graph", "[network-file]") {
  const Graph graph = read(
      "network: small\ntitle: A title\nsource: Someone, 2020\nsample: image\nbatch: 2 * n\n"
      "variables: {n: 3, wide: 4 * n}\n"
      "conventions:\n"
      "  paper: {text: all but fc, fp32: fc}\n"
      "  mixed: {fp32: [conv*, fc], quantised: relu}\n"
      "nodes:\n"
      "  - input: {name: image, channels: 3, height: 8, width: 8}\n"
      "  - conv: {channels: wide, kernel: 3, padding_bottom: 1, padding_right: 1, stride: 2}\n"
      "  - activation: relu\n"
      "  - activation: relu\n"
      "  - global-pool\n"
      "  - dense: {name: fc, channels: 10, bias: true}\n");
  CHECK(graph.name == "small");
  CHECK(graph.title == "A title");
  CHECK(graph.batch == 6);
  CHECK(names(graph) ==
        std::vector<std::string>{"image", "conv", "relu", "relu-2", "global-pool", "fc"});
  CHECK(infer_shapes(graph)[1] == Shape{12, 4, 4});
  CHECK(convention_names(graph) == std::vector<std::string>{"paper", "mixed", "all"});
  CHECK(build_network(graph).convention == "paper");
  CHECK_FALSE(build_network(graph, "paper").layers[1].quantised);
  CHECK(build_network(graph, "all").layers[1].quantised);
  const Network mixed = build_network(graph, "mixed");
  CHECK_FALSE(mixed.layers[0].quantised);
  CHECK(mixed.vector_ops[0].quantised);
  CHECK_FALSE(mixed.vector_ops[1].quantised);
}

TEST_CASE("variants set variables", "[network-file]") {
  const std::string text =
      "network: family\nvariables: {n: 1, m: n + 1}\nvariants:\n  a: {}\n  b: {n: 5}\n"
      "nodes:\n  - input: {channels: m}\n";
  CHECK(read(text, "a").nodes[0].number("channels", 0) == 2);
  CHECK(read(text, "b").nodes[0].number("channels", 0) == 6);
  CHECK(read(text, "b").name == "b");
  CHECK_THAT(error_text([&] { read(text); }), Contains("found no choice, allowed: a, b"));
  CHECK_THAT(error_text([&] { read(text, "c"); }), Contains("'c'"));
}

TEST_CASE("blocks and repeats name their nodes and see their inputs", "[network-file]") {
  const Graph graph = read(
      "network: blocks\n"
      "blocks:\n"
      "  residual:\n"
      "    takes: [c]\n"
      "    nodes:\n"
      "      - conv: {channels: c, kernel: 1}\n"
      "      - add: {inputs: [previous, in]}\n"
      "  two:\n"
      "    nodes:\n"
      "      - add: {name: sum, inputs: [in, in2]}\n"
      "      - residual: {name: inner, c: 4}\n"
      "nodes:\n"
      "  - input: {name: x, channels: 4}\n"
      "  - repeat: {times: 2, index: i, from: 5}\n"
      "    nodes:\n"
      "      - residual: {name: r$i, c: 4}\n"
      "  - repeat: {times: 0}\n"
      "    nodes:\n"
      "      - softmax\n"
      "  - two: {name: last, inputs: [x, r5]}\n"
      "  - add: {inputs: [last, r6.conv]}\n");
  CHECK(names(graph) == std::vector<std::string>{"x", "r5.conv", "r5.add", "r6.conv", "r6.add",
                                                 "last.sum", "last.inner.conv", "last.inner.add",
                                                 "add"});
  CHECK(graph.nodes[2].inputs == std::vector<std::string>{"r5.conv", "x"});
  CHECK(graph.nodes[4].inputs == std::vector<std::string>{"r6.conv", "r5.add"});
  CHECK(graph.nodes[5].inputs == std::vector<std::string>{"x", "r5.add"});
  CHECK(graph.nodes[7].inputs == std::vector<std::string>{"last.inner.conv", "last.sum"});
  CHECK(graph.nodes[8].inputs == std::vector<std::string>{"last.inner.add", "r6.conv"});
}

TEST_CASE("the first node of a block reads the block's input wherever that is", "[network-file]") {
  const Graph graph = read(
      "network: blocks\n"
      "blocks:\n"
      "  inner: {nodes: [softmax]}\n"
      "  outer: {nodes: [inner]}\n"
      "nodes:\n"
      "  - input: {name: x, channels: 4}\n"
      "  - activation: {kind: relu, name: other}\n"
      "  - outer: {name: block, inputs: x}\n");
  CHECK(graph.nodes[2].inputs == std::vector<std::string>{"x"});
}

TEST_CASE("errors of structure say file, line, field, found and allowed",
          "[network-file][errors]") {
  struct Case {
    std::string text, expected;
  };
  const std::vector<Case> cases = {
      {"", "f.yaml:"},
      {"- a\n", "f.yaml:1: network file: found no map"},
      {"network: a\n", "f.yaml:1: nodes: found nothing"},
      {"nodes: []\n", "network: found nothing"},
      {"network: a b\nnodes: [softmax]\n", "f.yaml:1: network: found 'a b'"},
      {"network: a\nnodez: 1\n",
       "f.yaml:2: network file, key: found 'nodez', did you mean 'nodes'?"},
      {"network: a\nnetwork: b\n", "f.yaml:2: network file, key: found 'network' twice"},
      {"network: [a]\nnodes: []\n", "f.yaml:1: network: found a list"},
      {"network: a\nnodes: {}\n", "f.yaml:2: nodes: found no list"},
      {"network: a\nnodes: []\n", "f.yaml:2: nodes: found an empty list"},
      {"network: a\nbatch: 0\nnodes: [{input: {channels: 1}}]\n", "f.yaml:2: batch: found 0"},
      {"network: a\nbatch: -1\nnodes: [{input: {channels: 1}}]\n", "f.yaml:2: batch: found '-1'"},
      {"network: a\nvariables: {1a: 2}\nnodes: []\n", "f.yaml:2: variable: found '1a'"},
      {"network: a\nvariables: {a: b, b: 1}\nnodes: [softmax]\n",
       "f.yaml:2: variable a: found 'b'"},
      {"network: a\nvariants: {x: {n: 1}}\nnodes: []\n", "f.yaml:2: variant x, key: found 'n'"},
      {"network: a\nblocks: {conv: {nodes: [softmax]}}\nnodes: []\n",
       "f.yaml:2: block: found 'conv'"},
      {"network: a\nblocks: {b: {nodes: [b]}}\nnodes: [{input: {channels: 1}}, b]\n",
       "blocks more than 16 deep"},
      {kHead + "  - {}\n", "f.yaml:4: node: found an empty map"},
      {kHead + "  - convv: {channels: 1}\n",
       "f.yaml:4: operator: found 'convv', did you mean 'conv'"},
      {kHead + "  - conv: {channels: 1, kernel: 1}\n    pool: {kernel: 2}\n",
       "f.yaml:5: node: found 'pool' beside 'conv'"},
      {kHead + "  - conv: {channels: 1, kernal: 3}\n",
       "f.yaml:4: conv, key: found 'kernal', did you mean 'kernel'?"},
      {kHead + "  - conv: {channels: 1, kernel: 3, kernel: 3}\n",
       "f.yaml:4: conv, key: found 'kernel' twice"},
      {kHead + "  - conv: {kernel: 3}\n", "f.yaml:4: node 'conv', channels: found nothing"},
      {kHead + "  - conv: {channels: 4}\n", "f.yaml:4: node 'conv', kernel: found nothing"},
      {kHead + "  - conv: {channels: 0, kernel: 3}\n", "f.yaml:4: node 'conv', channels: found 0"},
      {kHead + "  - conv: {channels: [4], kernel: 3}\n", "f.yaml:4: conv, channels: found a list"},
      {kHead + "  - conv: {channels: 4, kernel: 9}\n", "f.yaml:4: layer 'conv', kernel: found 9x9"},
      {kHead + "  - conv: {channels: 4, kernel: 3, groups: 2}\n", "f.yaml:4: layer 'conv', groups"},
      {kHead + "  - conv: {channels: 4, kernel: 3, stride: 70000}\n", "stride: found 70000"},
      {kHead + "  - conv: {channels: 99999999999, kernel: 3}\n", "channels: found 99999999999"},
      {kHead + "  - activation: rellu\n",
       "f.yaml:4: node 'rellu', kind: found 'rellu', did you mean"},
      {kHead + "  - softmax: relu\n", "f.yaml:4: softmax, key: found 'kind'"},
      {kHead + "  - add: {inputs: [input, inptu]}\n",
       "f.yaml:4: add, inputs: found 'inptu', did you mean 'input'?"},
      {kHead + "  - add: {inputs: [input]}\n", "f.yaml:4: node 'add', inputs: found 1"},
      {kHead + "  - add: {inputs: [in, in]}\n", "f.yaml:4: add, inputs: found 'in'"},
      {kHead + "  - softmax: {name: input}\n",
       "f.yaml:4: node 'input', name: found the name twice"},
      {kHead + "  - softmax: {name: in2}\n", "f.yaml:4: softmax, name: found 'in2'"},
      {kHead + "  - repeat: {times: 3}\n", "f.yaml:4: repeat: found no nodes"},
      {kHead + "  - repeat: {}\n    nodes: [softmax]\n", "f.yaml:4: repeat, times: found nothing"},
      {kHead + "  - repeat: {times: 10001}\n    nodes: [softmax]\n", "f.yaml:4: repeat, times"},
      {kHead + "  - repeat: {time: 1}\n    nodes: [softmax]\n", "repeat, key: found 'time'"},
      {kHead + "  - repeat: {times: 2, index: 2}\n    nodes: [softmax]\n",
       "repeat, index: found '2'"},
      {kHead + "  - matmul: {inputs: [input, input]}\n", "width 1"},
      {kHead + "  - reshape: {channels: 5}\n", "192 elements"},
      {kHead + "  - select: {channels: 4}\n", "a part of its input 3x8x8"},
      {kHead + "  - embedding: {channels: 4, vocabulary: 5}\n", "one channel of indices"},
      {kHead + "  - conv: {channels: 3, kernel: 1, name: a}\n"
               "  - conv: {channels: 4, kernel: 1, weights_of: a}\n",
       "f.yaml:5: node 'conv', weights_of: found 'a' with 9 weights"},
      {kHead + "  - conv: {channels: 3, kernel: 1}\nconventions: {p: {fp32: [fc]}}\n",
       "convention 'p', fp32: found 'fc'"},
      {kHead + "  - conv: {channels: 3, kernel: 1}\nconventions: {p: {fp23: [fc]}}\n",
       "f.yaml:5: convention p, key: found 'fp23', did you mean 'fp32'"},
      {"network: a\nnodes: [", "YAML"},
      {"network: a\n--- \nnetwork: b\n", "after the first document"},
      {"network: \xc3\x28\n", "f.yaml:1: network file: found bytes that are not UTF-8"},
      {"network: a\n\n# \xed\xa0\x80\n", "f.yaml:3: network file: found bytes that are not UTF-8"},
      {"network: a" + std::string(1, '\0') + "b\n",
       "f.yaml:1: network file: found a control character"},
      {"network: a\x01\n", "a control character"},
      {"? [a]\n: b\n", "key"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    CHECK_THAT(refusal(c.text), Contains(c.expected));
  }
}

TEST_CASE("numbers of every wrong form are refused", "[network-file][errors]") {
  for (const char* number : {"-3",
                             "+3",
                             "3.0",
                             "1e30",
                             "0x10",
                             "0o17",
                             "010",
                             "NaN",
                             ".nan",
                             ".inf",
                             "1_000",
                             "''",
                             "null",
                             "~",
                             "yes",
                             "'3 '3",
                             "[3]",
                             "{a: 3}",
                             "18446744073709551616",
                             "2147483648 * 2147483648 * 4"}) {
    INFO(number);
    const std::string message =
        refusal(kHead + "  - conv: {channels: " + std::string(number) + ", kernel: 1}\n");
    CHECK_THAT(message, Contains("f.yaml:"));
  }
}

TEST_CASE("hostile files end quickly", "[network-file][errors]") {
  CHECK_THAT(refusal(std::string(4096, '[')), Contains("f.yaml:"));
  CHECK_THAT(refusal("network: " + std::string(100'000, '{')), Contains("f.yaml:"));
  CHECK_THAT(refusal("a: " + std::string(3'000, '-') + "\n"), Contains("f.yaml:"));
  std::string deep;
  for (int i = 0; i < 2'000; ++i) deep += "- ";
  CHECK_THAT(refusal(deep), Contains("f.yaml:"));
  CHECK_THAT(refusal(std::string(kLongestNetworkFile + 1, ' ')), Contains("at most 1 MB"));
  // Aliases of aliases: a page that would be 10^9 nodes.
  std::string bomb = "network: a\nblocks:\n  b0: {nodes: &l0 [softmax, softmax]}\n";
  for (int i = 1; i < 8; ++i) {
    bomb.append("  b").append(std::to_string(i)).append(": {nodes: [");
    for (int k = 0; k < 8; ++k) bomb.append(k > 0 ? ", b" : "b").append(std::to_string(i - 1));
    bomb += "]}\n";
  }
  bomb += "nodes:\n  - input: {channels: 1}\n  - b7\n";
  CHECK_THAT(refusal(bomb), Contains("more than 200000"));
  // Repeats of nothing.
  std::string idle = "network: a\nnodes:\n  - input: {channels: 1}\n";
  std::string indent = "  ";
  for (int i = 0; i < 7; ++i) {
    idle.append(indent).append("- repeat: {times: 10000}\n").append(indent).append("  nodes:\n");
    indent += "    ";
  }
  idle += indent + "- repeat: {times: 0}\n" + indent + "  nodes: [softmax]\n";
  CHECK_THAT(refusal(idle), Contains("more than 200000"));
}

TEST_CASE("a file on disk is read, by name of its network too", "[network-file]") {
  const TemporaryFile file(
      "network: mine\nnodes: [{input: {channels: 2}}, {dense: {channels: 3}}]\n");
  CHECK(read_network_file(file.path()).names() == std::vector<std::string>{"mine"});
  CHECK_THAT(error_text([] { read_network_file("/nowhere/net.yaml"); }),
             Contains("/nowhere/net.yaml: network file: found no readable file"));
  CHECK(find_graph(file.path() + "#mine").nodes.size() == 2);
  CHECK_THAT(error_text([&] { find_graph(file.path() + "#other"); }), Contains("'other'"));
}

TEST_CASE("every network of the library survives being written and read", "[network-file]") {
  for (const LibraryNetwork& entry : library_networks()) {
    INFO(entry.name);
    const Graph graph = find_graph(entry.name);
    const Graph again = read(network_yaml(graph));
    CHECK(again.name == graph.name);
    CHECK(again.title == graph.title);
    CHECK(again.source == graph.source);
    CHECK(again.batch == graph.batch);
    CHECK(names(again) == names(graph));
    CHECK(infer_shapes(again) == infer_shapes(graph));
    for (const std::string& convention : convention_names(graph)) {
      const Network a = build_network(graph, convention);
      const Network b = build_network(again, convention);
      CHECK(a.macs_per_sample() == b.macs_per_sample());
      CHECK(a.parameters() == b.parameters());
      REQUIRE(a.vector_ops.size() == b.vector_ops.size());
    }
  }
}

TEST_CASE("names that a file cannot hold are changed when it is written", "[network-file]") {
  Graph graph;
  graph.name = "odd";
  for (const char* name : {"in", "a$b", "a_b", "previous", "x:y", "it's"}) {
    Node node;
    node.name = name;
    node.op = graph.nodes.empty() ? Op::kInput : Op::kSoftmax;
    if (graph.nodes.empty()) node.numbers["channels"] = 4;
    graph.nodes.push_back(node);
  }
  graph.nodes[5].inputs = {"a$b"};
  const Graph again = read(network_yaml(graph));
  CHECK(names(again) == std::vector<std::string>{"in_", "a_b_", "a_b", "previous_", "x:y", "it's"});
  CHECK(again.nodes[5].inputs == std::vector<std::string>{"a_b_"});
}

}  // namespace
}  // namespace bitcycle
