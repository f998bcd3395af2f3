// The walk over the nodes, and tensors. Layers and vector work of single operators are in
// onnx_layers.cpp and onnx_vector.cpp.
#include "workloads/onnx_builder.hpp"

#include <algorithm>

#include "golden/checked.hpp"

namespace bitcycle {
namespace {

const char* const kAllowed =
    "Conv, ConvTranspose, Gemm, MatMul, LSTM, GRU, RNN, Gather, normalisation, activations, "
    "pooling, "
    "arithmetic, Reduce*, Concat, Resize and rearrangements; --allow-unsupported counts others as "
    "no work";

// Quantised operators are the same work: the schedule says the bits, not the file.
OnnxNode plain_node(const OnnxNode& node) {
  OnnxNode out = node;
  const auto keep = [&](const char* op, const std::vector<std::size_t>& inputs) {
    out.op = op;
    out.inputs.clear();
    for (const std::size_t i : inputs) {
      out.inputs.push_back(i < node.inputs.size() ? node.inputs[i] : std::string());
    }
  };
  if (!node.domain.empty()) return out;
  if (node.op == "QLinearConv") keep("Conv", {0, 3, 8});
  if (node.op == "ConvInteger") keep("Conv", {0, 1});
  if (node.op == "QLinearMatMul") keep("MatMul", {0, 3});
  if (node.op == "MatMulInteger") keep("MatMul", {0, 1});
  return out;
}

std::string full_op(const OnnxNode& node) {
  return node.domain.empty() ? node.op : node.domain + "." + node.op;
}

}  // namespace

std::string to_string(Fate fate) {
  switch (fate) {
    case Fate::kLayer:
      return "layer";
    case Fate::kVector:
      return "vector work";
    case Fate::kNone:
      return "no work";
    case Fate::kConstant:
      return "constant";
    case Fate::kUnsupported:
      return "unsupported: no work";
    case Fate::kUnreached:
      return "after an unsupported one: not counted";
  }
  return "?";
}

OnnxBuilder::OnnxBuilder(const OnnxModel& model, OnnxShapes& shapes, const ImportOptions& options,
                         std::uint64_t batch)
    : model_(model), shapes_(shapes), options_(options), batch_(batch) {
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    for (const auto& input : model.nodes[i].inputs) readers_[input].push_back(i);
  }
  for (const auto& output : model.outputs) ++outputs_[output.name];
  taken_.assign(model.nodes.size(), false);
  graph.file = model.file;
}

void OnnxBuilder::add_input(const std::string& name) {
  OnnxNode node;
  node.op = "input";
  node.name = name;
  const Dims& dims = shapes_.of(name).dims;
  Shape shape = shape_of(dims, node);
  // Indices of a look-up: one channel.
  for (const std::size_t reader : readers_[name]) {
    const OnnxNode& user = model_.nodes[reader];
    if (user.op == "Gather" && user.inputs.size() > 1 && user.inputs[1] == name) {
      shape = {1, shape.elements(), 1};
    }
  }
  active_[name] = emit(node, Op::kInput, {}, shape);
}

void OnnxBuilder::infer_all() {
  std::map<std::string, const OnnxValue*> declared;
  if (options_.allow_unsupported) {
    for (const auto& value : model_.values) declared[value.name] = &value;
    for (const auto& value : model_.outputs) declared[value.name] = &value;
  }
  for (const OnnxNode& original : model_.nodes) {
    const OnnxNode node = plain_node(original);
    if (OnnxShapes::knows(node)) {
      shapes_.infer(node);
      continue;
    }
    for (const auto& output : node.outputs) {
      TensorInfo info;
      info.unknown = "unsupported operator " + full_op(node);
      const auto found = declared.find(output);
      if (found != declared.end() && found->second->has_shape) {
        info.known = true;
        for (std::size_t i = 0; i < found->second->dims.size(); ++i) {
          const OnnxDim& dim = found->second->dims[i];
          const auto given = options_.dims.find(dim.name);
          info.dims.push_back(dim.value != 0                 ? dim.value
                              : given != options_.dims.end() ? given->second
                              : i == options_.batch_axis     ? batch_
                                                             : 0);
          info.known = info.known && info.dims.back() != 0;
        }
        (void)info.elements();
      }
      shapes_.set(output, info);
    }
  }
}

void OnnxBuilder::add_nodes() {
  if (model_.functions != 0) ++notes["model-local functions are not read"];
  infer_all();
  for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
    if (!taken_[i]) add_node(i);
  }
  if (!options_.allow_unsupported) refuse_unsupported();
  const bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                               [](const Node& node) { return op_info(node.op).weights; });
  if (!any && graph.nodes.size() < 2) {
    throw input_error(model_.file, 0, "graph", "no operators", "a model with layers");
  }
}

void OnnxBuilder::refuse_unsupported() const {
  std::vector<std::string> found;
  for (const auto& [key, count] : fates) {
    if (key.first != Fate::kUnsupported) continue;
    if (found.size() < 20) found.push_back(key.second + " (" + std::to_string(count) + ")");
  }
  if (found.empty()) return;
  // Not through input_error, which shortens what was found.
  throw InputError(model_.file + ": operators: found " + join(found) + ", allowed: " + kAllowed);
}

void OnnxBuilder::count(const OnnxNode& node, Fate fate) { ++fates[{fate, full_op(node)}]; }

void OnnxBuilder::add_node(std::size_t index) {
  const OnnxNode node = plain_node(model_.nodes[index]);
  if (!OnnxShapes::knows(node)) {
    count(node, Fate::kUnsupported);
    for (const auto& output : node.outputs) {
      const TensorInfo& info = shapes_.of(output);
      if (info.known && !output.empty()) {
        active_[output] = detached(label(node), shape_of(info.dims, node));
      }
    }
    return;
  }
  bool constant = true;
  std::string unknown;
  for (const auto& output : node.outputs) {
    const TensorInfo& info = shapes_.of(output);
    if (output.empty() || &output != &node.outputs.front()) continue;
    constant = info.constant;
    if (!info.known && !info.constant) unknown = info.unknown;
  }
  if (node.outputs.empty() || constant) {
    count(node, Fate::kConstant);
    return;
  }
  if (!unknown.empty()) {
    // Without --allow-unsupported the list of unsupported operators is the better message.
    const bool caused = unknown.compare(0, 11, "unsupported") == 0;
    static const std::set<std::string> gemms = {"Conv", "ConvTranspose", "Gemm", "MatMul",
                                                "LSTM", "GRU",           "RNN"};
    if (!caused || (options_.allow_unsupported && gemms.count(node.op) != 0)) {
      throw shapes_.fail(node, "input", "no known shape: " + unknown,
                         "shapes that follow from the inputs");
    }
    count(node, Fate::kUnreached);
    return;
  }
  if (layer_norm_pattern(index) || gelu_pattern(index)) return;
  if (add_layer(node) || add_vector(node) || add_arrangement(node)) return;
  count(node, Fate::kUnsupported);
}

std::string OnnxBuilder::label(const OnnxNode& node) const {
  std::string name = node.name;
  if (name.empty()) {
    name = node.op;
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name;
  }
  // PyTorch: "/layer1/conv1/Conv".
  if (name.size() > 1 && name.front() == '/') name.erase(0, 1);
  static const std::set<std::string> named = {"Conv",      "ConvTranspose",
                                              "Gemm",      "MatMul",
                                              "LSTM",      "GRU",
                                              "RNN",       "BatchNormalization",
                                              "Gather",    "LayerNormalization",
                                              "ReduceMean"};
  const std::size_t slash = name.rfind('/');
  if (slash != std::string::npos && slash > 0 && named.count(node.op) != 0 &&
      name.compare(slash + 1, std::string::npos, node.op) == 0) {
    name.resize(slash);
  }
  return name;
}

std::uint64_t OnnxBuilder::per_sample(const OnnxNode& node, const Dims& dims) const {
  TensorInfo info;
  info.dims = dims;
  const std::uint64_t elements = info.elements();
  if (elements == 0) throw shapes_.fail(node, "tensor", dims_text(dims), "sizes of 1 or more");
  if (elements % batch_ != 0) {
    throw shapes_.fail(node, "tensor", dims_text(dims),
                       "a multiple of the batch, " + std::to_string(batch_) + " (is axis " +
                           std::to_string(options_.batch_axis) + " the batch? --batch-axis)");
  }
  return elements / batch_;
}

// [N, C, H, W] -> CxHxW; [N, T, D] -> DxTx1; [N, F] -> Fx1x1; others: last axis x the rest.
Shape OnnxBuilder::shape_of(const Dims& dims, const OnnxNode& node) const {
  const std::uint64_t elements = per_sample(node, dims);
  if (dims.size() == 4 && dims[0] == batch_) return {dims[1], dims[2], dims[3]};
  if (dims.empty() || elements % dims.back() != 0) return {elements, 1, 1};
  if (dims.size() == 2) return {dims.back(), elements / dims.back(), 1};
  return {dims.back(), elements / dims.back(), 1};
}

Active OnnxBuilder::of(const std::string& tensor) {
  const auto pad = padded_.find(tensor);
  if (pad != padded_.end()) {
    // Nobody took the padding: a larger tensor of its own.
    OnnxNode node;
    node.op = "Pad";
    node.name = tensor;
    ++notes["Pad that no convolution takes over: a new tensor, no work"];
    active_[tensor] = detached(tensor, shape_of(shapes_.of(tensor).dims, node));
    padded_.erase(pad);
  }
  const auto found = active_.find(tensor);
  if (found == active_.end()) {
    throw input_error(model_.file, 0, "tensor '" + tensor + "'", "no value",
                      "the result of an earlier node or an input");
  }
  return found->second;
}

Active OnnxBuilder::emit(const OnnxNode& node, Op op, const Inputs& inputs, const Shape& shape,
                         const Numbers& numbers, const std::string& kind,
                         const std::string& suffix) {
  Node out;
  out.op = op;
  out.name = names_.unique(label(node) + suffix);
  out.numbers = numbers;
  out.kind = kind;
  for (const Active& input : inputs) out.inputs.push_back(graph.nodes[input.node].name);
  if (op == Op::kInput) {
    out.numbers["channels"] = shape.channels;
    if (shape.height != 1) out.numbers["height"] = shape.height;
    if (shape.width != 1) out.numbers["width"] = shape.width;
  }
  graph.nodes.push_back(out);
  node_shapes.push_back(shape);
  return {graph.nodes.size() - 1, shape, false};
}

Active OnnxBuilder::detached(const std::string& name, const Shape& shape) {
  OnnxNode node;
  node.op = node.name = name;
  return emit(node, Op::kInput, {}, shape, {{"gradient", 1}});
}

Active OnnxBuilder::as(const Active& tensor, const Shape& shape, const OnnxNode& node) {
  if (tensor.shape == shape) return tensor;
  if (tensor.shape.elements() != shape.elements()) {
    throw shapes_.fail(node, "input", to_string(tensor.shape) + " per sample",
                       to_string(shape) + " (is axis " + std::to_string(options_.batch_axis) +
                           " the batch? --batch-axis)");
  }
  // A reshape of a reshape is one.
  Active source = tensor;
  const Node& from = graph.nodes[tensor.node];
  if (from.op == Op::kReshape) {
    for (std::size_t i = tensor.node; i-- > 0;) {
      if (graph.nodes[i].name != from.inputs.front()) continue;
      source.node = i;
      break;
    }
  }
  Numbers numbers = {{"channels", shape.channels}};
  if (shape.height != 1) numbers["height"] = shape.height;
  if (shape.width != 1) numbers["width"] = shape.width;
  Active out = emit(node, Op::kReshape, {source}, shape, numbers, "", ".reshape");
  out.swapped = tensor.swapped;
  return out;
}

// A part of a tensor, which has fewer elements.
Active OnnxBuilder::cut(const Active& tensor, const Shape& shape, const OnnxNode& node) {
  if (tensor.shape.elements() == shape.elements()) return as(tensor, shape, node);
  const auto select = [&](const Active& from, const Shape& to) {
    return emit(node, Op::kSelect, {from}, to,
                {{"channels", to.channels}, {"height", to.height}, {"width", to.width}});
  };
  const Shape& in = tensor.shape;
  if (shape.channels <= in.channels && shape.height <= in.height && shape.width <= in.width) {
    return select(tensor, shape);
  }
  const Active flat = as(tensor, {in.elements(), 1, 1}, node);
  return as(select(flat, {shape.elements(), 1, 1}), shape, node);
}

void OnnxBuilder::bind(const OnnxNode& node, const Active& tensor, std::size_t output) {
  if (output >= node.outputs.size() || node.outputs[output].empty()) return;
  active_[node.outputs[output]] = tensor;
}

// The node just emitted uses the weights of an earlier one if both read the same initialiser.
void OnnxBuilder::share_weights(const OnnxNode& node, std::size_t weight) {
  const std::string& origin = shapes_.input(node, weight).origin;
  if (origin.empty()) return;
  const auto [owner, fresh] = owners_.emplace(origin, graph.nodes.back().name);
  if (fresh) return;
  graph.nodes.back().weights_of = owner->second;
  ++notes["weights that an earlier layer has too: counted once"];
}

}  // namespace bitcycle
