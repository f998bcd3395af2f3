// From a graph to the network that costs are computed of: layers, vector work, conventions.
#include <algorithm>

#include "golden/checked.hpp"
#include "workloads/graph.hpp"
#include "workloads/graph_layers.hpp"

namespace bitcycle {
namespace {

bool is_gemm(Op op) {
  return op == Op::kConv || op == Op::kDepthwise || op == Op::kConvTranspose || op == Op::kDense ||
         op == Op::kMatmul || op == Op::kRecurrent;
}

bool has_parameters(const Node& node) {
  return (is_gemm(node.op) && node.op != Op::kMatmul) || node.op == Op::kEmbedding ||
         node.op == Op::kBatchNorm || node.op == Op::kGroupNorm || node.op == Op::kLayerNorm ||
         node.op == Op::kRmsNorm;
}

ConventionRule find_convention(const Graph& graph, const std::string& name) {
  ConventionRule all = {"all", "every layer is quantised, also first and last", {}, {}};
  if (name.empty()) return graph.conventions.empty() ? all : graph.conventions.front();
  for (const ConventionRule& rule : graph.conventions) {
    if (rule.name == name) return rule;
  }
  if (name == "all") return all;
  const std::vector<std::string> known = convention_names(graph);
  throw input_error("", 0, "convention", "'" + name + "'" + suggestion(name, known),
                    join(known) + " (of network " + graph.name + ")");
}

// Nodes that `patterns` select; each pattern must select one that `may` be selected.
template <typename May>
std::vector<bool> select_nodes(const Graph& graph, const ConventionRule& rule,
                               const std::vector<std::string>& patterns, const char* what,
                               const May& may) {
  std::vector<bool> out(graph.nodes.size(), false);
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (!may(graph.nodes[i]) || !matches_pattern(graph.nodes[i].name, pattern)) continue;
      out[i] = any = true;
    }
    if (!any) {
      throw input_error(
          graph.file, 0, "convention '" + rule.name + "', " + what, "'" + pattern + "'",
          "a pattern that matches a node of network " + graph.name + " (* = any characters)");
    }
  }
  return out;
}

class Builder {
 public:
  Builder(const Graph& graph, const ConventionRule& rule)
      : graph_(graph),
        shapes_(infer_shapes(graph)),
        inputs_(resolve_inputs(graph)),
        fp32_(select_nodes(graph, rule, rule.fp32, "fp32",
                           [](const Node& node) { return is_gemm(node.op); })),
        quantised_(select_nodes(graph, rule, rule.quantised, "quantised",
                                [](const Node& node) { return !is_gemm(node.op); })) {
    network_.name = graph.name;
    network_.title = graph.title;
    network_.source = graph.source;
    network_.sample = graph.sample;
    network_.batch = graph.batch;
    network_.convention = rule.name;
    network_.convention_text = rule.text;
  }

  Network run() {
    trained_.assign(graph_.nodes.size(), false);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      try {
        add(i);
      } catch (const InputError& error) {
        throw located(graph_, graph_.nodes[i], error);
      }
    }
    (void)network_.macs_per_sample(false);
    (void)network_.parameters();
    return std::move(network_);
  }

 private:
  void add(std::size_t i) {
    const Node& node = graph_.nodes[i];
    std::vector<Shape> in;
    bool gradients = false;  // some input depends on a parameter, so its gradient is wanted
    for (const std::size_t place : inputs_[i]) {
      in.push_back(shapes_[place]);
      gradients = gradients || trained_[place];
    }
    trained_[i] = gradients || has_parameters(node) || node.number("gradient", 0) == 1;
    for (Layer& layer : node_layers(graph_, node, in)) {
      // A hidden state always needs its gradient.
      layer.first = !gradients && layer.kind != LayerKind::kRecurrent;
      layer.quantised = !fp32_[i];
      layer.downsample = node.op == Op::kConv && layer.kh == 1 && layer.kw == 1 &&
                         matches_pattern(node.name, "*downsample");
      check_shared(node, layer);
      network_.layers.push_back(std::move(layer));
    }
    for (VectorOp& op : node_vector_ops(node, in, shapes_[i])) {
      op.quantised = quantised_[i];
      network_.vector_ops.push_back(std::move(op));
    }
    add_gradient_sum(i);
  }

  void check_shared(const Node& node, const Layer& layer) const {
    if (node.weights_of.empty()) return;
    std::uint64_t elements = 0;
    for (const Layer& other : network_.layers) {
      if (other.name == node.weights_of) elements = other.weight_elements();
    }
    for (const VectorOp& other : network_.vector_ops) {
      if (other.name == node.weights_of && other.op == "embedding") elements = other.parameters;
    }
    if (elements == layer.weight_elements()) return;
    throw input_error(graph_.file, node.line, "node '" + node.name + "', weights_of",
                      "'" + node.weights_of + "' with " + std::to_string(elements) + " weights",
                      "a node with " + std::to_string(layer.weight_elements()));
  }

  // A tensor that several nodes read gets as many gradients, which are summed. Nodes that select
  // different parts count as one reader.
  void add_gradient_sum(std::size_t i) {
    if (readers_.empty()) count_readers();
    if (!trained_[i] || readers_[i] < 2) return;
    VectorOp op;
    op.name = graph_.nodes[i].name + ".gradients";
    op.op = "gradient-sum";
    op.backward_ops = checked_mul(shapes_[i].elements(), readers_[i] - 1, "vector operations");
    op.backward_in = checked_mul(shapes_[i].elements(), readers_[i], "vector operations");
    op.backward_out = shapes_[i].elements();
    op.rule = "backward one sum per further reader of the tensor, all their gradients read";
    network_.vector_ops.push_back(op);
  }

  void count_readers() {
    readers_.assign(graph_.nodes.size(), 0);
    std::vector<bool> selected(graph_.nodes.size(), false);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const std::size_t place : inputs_[i]) {
        if (graph_.nodes[i].op != Op::kSelect) {
          ++readers_[place];
        } else {
          selected[place] = true;
        }
      }
    }
    for (std::size_t i = 0; i < readers_.size(); ++i) readers_[i] += selected[i] ? 1 : 0;
  }

  const Graph& graph_;
  std::vector<Shape> shapes_;
  std::vector<std::vector<std::size_t>> inputs_;
  std::vector<bool> fp32_, quantised_;
  std::vector<bool> trained_;  // depends on a parameter
  std::vector<std::uint64_t> readers_;
  Network network_;
};

}  // namespace

Network build_network(const Graph& graph, const std::string& convention) {
  return Builder(graph, find_convention(graph, convention)).run();
}

}  // namespace bitcycle
