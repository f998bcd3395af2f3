// GEMM layers of a node.
#include "workloads/graph_layers.hpp"

#include "golden/checked.hpp"

namespace bitcycle {
namespace {

// A size that may be given for both axes or for one.
std::uint64_t axis(const Node& node, const std::string& name, const char* suffix,
                   std::uint64_t fallback) {
  return node.number(name + suffix, node.number(name, fallback));
}

void set_window(const Graph& graph, const Node& node, Layer& layer) {
  layer.kh = axis(node, "kernel", "_h", 0);
  layer.kw = axis(node, "kernel", "_w", 0);
  if (layer.kh == 0 || layer.kw == 0) {
    throw input_error(graph.file, node.line, "node '" + node.name + "', kernel", "nothing",
                      "kernel, or kernel_h and kernel_w");
  }
  layer.stride_h = axis(node, "stride", "_h", 1);
  layer.stride_w = axis(node, "stride", "_w", 1);
  const std::uint64_t rows = axis(node, "padding", "_h", 0);
  const std::uint64_t columns = axis(node, "padding", "_w", 0);
  layer.pad_h = node.number("padding_top", rows);
  layer.pad_w = node.number("padding_left", columns);
  const std::uint64_t bottom = node.number("padding_bottom", rows);
  const std::uint64_t right = node.number("padding_right", columns);
  if (bottom != layer.pad_h) layer.pad_bottom = bottom;
  if (right != layer.pad_w) layer.pad_right = right;
  layer.dilation = axis(node, "dilation", "_h", 1);
  const std::uint64_t dilation_w = axis(node, "dilation", "_w", 1);
  if (dilation_w != layer.dilation) layer.dilation_w = dilation_w;
  layer.output_pad_h = axis(node, "output_padding", "_h", 0);
  layer.output_pad_w = axis(node, "output_padding", "_w", 0);
}

InputError shape_error(const Graph& graph, const Node& node, const std::string& what,
                       const std::string& found, const std::string& allowed) {
  return input_error(graph.file, node.line, "node '" + node.name + "', " + what, found, allowed);
}

// C = A B^T or A B: which sizes of B must agree with A, and the columns of C. Heads that share one
// head of B are more rows of the same product.
Layer matmul(const Graph& graph, const Node& node, const Shape& a, const Shape& b) {
  const std::uint64_t heads = node.number("heads", 1);
  Layer layer;
  layer.kind = LayerKind::kMatmul;
  layer.groups = node.number("kv_heads", heads);
  if (a.width != 1 || b.width != 1) {
    throw shape_error(graph, node, "inputs", to_string(a) + " and " + to_string(b), "width 1");
  }
  if (heads % layer.groups != 0) {
    throw shape_error(graph, node, "kv_heads", std::to_string(layer.groups),
                      "a divisor of heads, " + std::to_string(heads));
  }
  if (a.channels % heads != 0 || b.channels % layer.groups != 0) {
    throw shape_error(graph, node, "heads",
                      std::to_string(heads) + " and " + std::to_string(layer.groups),
                      "divisors of the channels of the inputs, " + std::to_string(a.channels) +
                          " and " + std::to_string(b.channels));
  }
  const std::uint64_t k = a.channels / heads;
  const bool exchanged = node.kind != "nn";
  const std::uint64_t b_k = exchanged ? b.channels / layer.groups : b.height;
  const std::uint64_t n = exchanged ? b.height : b.channels / layer.groups;
  if (b_k != k) {
    throw shape_error(graph, node, "reduction", std::to_string(k) + " and " + std::to_string(b_k),
                      "equal sizes in " + to_string(a) + " and " + to_string(b));
  }
  layer.hi = checked_mul(a.height, heads / layer.groups, "rows");
  layer.cin = checked_mul(k, layer.groups, "channels");
  layer.cout = checked_mul(n, layer.groups, "channels");
  return layer;
}

std::uint64_t gates(const Node& node) {
  if (node.kind == "gru") return 3;
  return node.kind == "rnn" ? 1 : 4;
}

std::vector<Layer> recurrent(const Graph& graph, const Node& node, const Shape& in) {
  if (in.width != 1) {
    throw shape_error(graph, node, "input", to_string(in), "a sequence: width 1");
  }
  const std::uint64_t hidden = node.number("channels", 0);
  Layer input;
  input.dense = true;
  input.name = node.name + ".input";
  input.cin = in.channels;
  input.cout = checked_mul(hidden, gates(node), "channels");
  input.hi = in.height;
  Layer state = input;
  state.name = node.name + ".recurrent";
  state.cin = hidden;
  state.kind = LayerKind::kRecurrent;
  return {input, state};
}

Layer plain(const Graph& graph, const Node& node, const Shape& in) {
  Layer layer;
  layer.cin = in.channels;
  layer.hi = in.height;
  layer.wi = in.width;
  layer.cout = node.number("channels", 0);
  if (node.op == Op::kDense) {
    layer.dense = true;
    return layer;
  }
  set_window(graph, node, layer);
  layer.groups = node.number("groups", 1);
  if (node.op == Op::kDepthwise) {
    layer.groups = in.channels;
    layer.cout = checked_mul(in.channels, node.number("multiplier", 1), "channels");
  }
  if (node.op == Op::kConvTranspose) layer.kind = LayerKind::kTransposed;
  return layer;
}

}  // namespace

InputError located(const Graph& graph, const Node& node, const InputError& error) {
  const std::string text = error.what();
  if (!graph.file.empty() && text.rfind(graph.file, 0) == 0) return error;
  std::string place = graph.file;
  if (!place.empty() && node.line > 0) place += ":" + std::to_string(node.line);
  if (!place.empty()) place += ": ";
  const bool named = text.find("'" + node.name) != std::string::npos;
  return InputError(place + (named ? "" : "node '" + node.name + "', ") + text);
}

std::vector<Layer> node_layers(const Graph& graph, const Node& node,
                               const std::vector<Shape>& inputs) {
  std::vector<Layer> layers;
  try {
    switch (node.op) {
      case Op::kConv:
      case Op::kDepthwise:
      case Op::kConvTranspose:
      case Op::kDense:
        layers = {plain(graph, node, inputs[0])};
        break;
      case Op::kMatmul:
        layers = {matmul(graph, node, inputs[0], inputs[1])};
        break;
      case Op::kRecurrent:
        layers = recurrent(graph, node, inputs[0]);
        break;
      default:
        return {};
    }
    for (Layer& layer : layers) {
      if (layer.name.empty()) layer.name = node.name;
      layer.weights_of = node.weights_of;
      layer.validate();
    }
  } catch (const InputError& error) {
    throw located(graph, node, error);
  }
  return layers;
}

}  // namespace bitcycle
