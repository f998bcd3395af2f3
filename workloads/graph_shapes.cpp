// Shapes of all tensors of a graph.
#include <algorithm>

#include "golden/checked.hpp"
#include "workloads/graph.hpp"
#include "workloads/graph_layers.hpp"

namespace bitcycle {
namespace {

class Inference {
 public:
  explicit Inference(const Graph& graph) : graph_(graph) {}

  Shape output(const Node& node, const std::vector<Shape>& in) const {
    switch (node.op) {
      case Op::kInput:
        return {node.number("channels", 1), node.number("height", 1), node.number("width", 1)};
      case Op::kConv:
      case Op::kDepthwise:
      case Op::kConvTranspose:
      case Op::kDense: {
        const Layer layer = node_layers(graph_, node, in).front();
        return {layer.cout, layer.ho(), layer.wo()};
      }
      case Op::kMatmul: {
        const Layer layer = node_layers(graph_, node, in).front();
        return {checked_mul(layer.cout / layer.groups, node.number("heads", 1), "channels"),
                in[0].height, 1};
      }
      case Op::kRecurrent:
        (void)node_layers(graph_, node, in);
        return {node.number("channels", 1), in[0].height, 1};
      case Op::kEmbedding:
        if (in[0].channels != 1) {
          throw fail(node, "input", to_string(in[0]), "one channel of indices");
        }
        return {node.number("channels", 1), in[0].height, in[0].width};
      case Op::kPool:
        return pool(node, in[0]);
      case Op::kGlobalPool:
        return {in[0].channels, 1, 1};
      case Op::kAdd:
      case Op::kMul:
      case Op::kElementwise:
        return broadcast(node, in);
      case Op::kConcat:
        return concat(node, in);
      case Op::kUpsample: {
        const std::uint64_t factor = node.number("factor", 2);
        return {in[0].channels, checked_mul(in[0].height, factor, "height"),
                checked_mul(in[0].width, factor, "width")};
      }
      case Op::kLoss:
        return {1, 1, 1};
      case Op::kSpmm:
        if (in[0].width != 1) throw fail(node, "input", to_string(in[0]), "nodes: width 1");
        return {in[0].channels, node.number("rows", in[0].height), 1};
      case Op::kReshape:
        return reshape(node, in[0]);
      case Op::kFlatten:
        return {in[0].elements(), 1, 1};
      case Op::kSelect:
        return select(node, in[0]);
      case Op::kBatchNorm:
      case Op::kLayerNorm:
      case Op::kGroupNorm:
      case Op::kRmsNorm:
      case Op::kActivation:
      case Op::kSoftmax:
        return in[0];
    }
    return {};
  }

 private:
  InputError fail(const Node& node, const std::string& what, const std::string& found,
                  const std::string& allowed) const {
    return input_error(graph_.file, node.line, "node '" + node.name + "', " + what, found, allowed);
  }

  // A window without weights is a depthwise convolution; its stride is its kernel unless given.
  Shape pool(const Node& node, const Shape& in) const {
    Node window = node;
    window.op = Op::kDepthwise;
    for (const char* end : {"_h", "_w"}) {
      const std::string stride = std::string("stride") + end;
      const std::uint64_t kernel =
          node.number(std::string("kernel") + end, node.number("kernel", 1));
      window.numbers[stride] = node.number(stride, node.number("stride", kernel));
    }
    const Layer layer = node_layers(graph_, window, {in}).front();
    return {layer.cout, layer.ho(), layer.wo()};
  }

  Shape broadcast(const Node& node, const std::vector<Shape>& in) const {
    Shape out = in[0];
    for (const Shape& shape : in) {
      out.channels = std::max(out.channels, shape.channels);
      out.height = std::max(out.height, shape.height);
      out.width = std::max(out.width, shape.width);
    }
    const auto fits = [](std::uint64_t size, std::uint64_t whole) {
      return size == whole || size == 1;
    };
    for (const Shape& shape : in) {
      if (fits(shape.channels, out.channels) && fits(shape.height, out.height) &&
          fits(shape.width, out.width)) {
        continue;
      }
      throw fail(node, "inputs", to_string(shape) + " beside " + to_string(out),
                 "equal sizes, or 1");
    }
    return out;
  }

  Shape concat(const Node& node, const std::vector<Shape>& in) const {
    Shape out = in[0];
    const auto along = node.kind == "height"  ? &Shape::height
                       : node.kind == "width" ? &Shape::width
                                              : &Shape::channels;
    for (std::size_t i = 1; i < in.size(); ++i) {
      for (const auto size : {&Shape::channels, &Shape::height, &Shape::width}) {
        if (size == along || in[i].*size == out.*size) continue;
        throw fail(node, "inputs", to_string(in[i]) + " beside " + to_string(in[0]),
                   "equal sizes but for " + (node.kind.empty() ? "channels" : node.kind));
      }
      out.*along = checked_add(out.*along, in[i].*along, "concatenated size");
    }
    return out;
  }

  Shape reshape(const Node& node, const Shape& in) const {
    const Shape out{node.number("channels", 1), node.number("height", 1), node.number("width", 1)};
    if (out.elements() != in.elements()) {
      throw fail(node, "shape", to_string(out),
                 std::to_string(in.elements()) + " elements, as its input " + to_string(in));
    }
    return out;
  }

  Shape select(const Node& node, const Shape& in) const {
    const Shape out{node.number("channels", in.channels), node.number("height", in.height),
                    node.number("width", in.width)};
    if (out.channels > in.channels || out.height > in.height || out.width > in.width) {
      throw fail(node, "shape", to_string(out), "a part of its input " + to_string(in));
    }
    return out;
  }

  const Graph& graph_;
};

}  // namespace

std::vector<Shape> infer_shapes(const Graph& graph) {
  const auto inputs = resolve_inputs(graph);
  const Inference inference(graph);
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    std::vector<Shape> in;
    for (const std::size_t place : inputs[i]) in.push_back(shapes[place]);
    try {
      shapes.push_back(inference.output(node, in));
      (void)shapes.back().elements();
    } catch (const InputError& error) {
      throw located(graph, node, error);
    }
  }
  return shapes;
}

}  // namespace bitcycle
