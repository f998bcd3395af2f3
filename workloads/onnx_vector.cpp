// ONNX operators that are vector work or none: normalisation, activations, arithmetic, joins, cuts
// and rearrangements.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "golden/checked.hpp"
#include "workloads/onnx_builder.hpp"

namespace bitcycle {
namespace {

// FP32 operations per element, forward and backward, of operators that Graph has no name for. An
// exp, log, root or division counts as one.
struct Work {
  std::uint64_t forward, backward;
};
const std::map<std::string, Work>& unary_work() {
  static const std::map<std::string, Work> work = {{"Abs", {1, 1}},
                                                   {"Acos", {1, 4}},
                                                   {"Acosh", {1, 4}},
                                                   {"Asin", {1, 4}},
                                                   {"Asinh", {1, 4}},
                                                   {"Atan", {1, 3}},
                                                   {"Atanh", {1, 3}},
                                                   {"Ceil", {1, 0}},
                                                   {"Celu", {4, 3}},
                                                   {"Clip", {2, 2}},
                                                   {"Cos", {1, 2}},
                                                   {"Cosh", {3, 2}},
                                                   {"CumSum", {1, 1}},
                                                   {"Elu", {3, 3}},
                                                   {"Erf", {9, 4}},
                                                   {"Exp", {1, 1}},
                                                   {"Floor", {1, 0}},
                                                   {"Hardmax", {1, 0}},
                                                   {"IsInf", {1, 0}},
                                                   {"IsNaN", {1, 0}},
                                                   {"LRN", {8, 10}},
                                                   {"Log", {1, 1}},
                                                   {"LpNormalization", {4, 6}},
                                                   {"MeanVarianceNormalization", {5, 9}},
                                                   {"Mish", {10, 10}},
                                                   {"Neg", {1, 1}},
                                                   {"Not", {1, 0}},
                                                   {"PRelu", {2, 3}},
                                                   {"Reciprocal", {1, 2}},
                                                   {"Round", {1, 0}},
                                                   {"Selu", {4, 4}},
                                                   {"Shrink", {3, 1}},
                                                   {"Sign", {1, 0}},
                                                   {"Sin", {1, 2}},
                                                   {"Sinh", {3, 2}},
                                                   {"Softplus", {3, 4}},
                                                   {"Softsign", {3, 4}},
                                                   {"Sqrt", {1, 2}},
                                                   {"Tan", {1, 3}},
                                                   {"ThresholdedRelu", {2, 1}},
                                                   {"Trilu", {1, 1}}};
  return work;
}

const std::map<std::string, std::string>& activations() {
  static const std::map<std::string, std::string> kinds = {
      {"Relu", "relu"}, {"LeakyRelu", "leaky-relu"},     {"Sigmoid", "sigmoid"},
      {"Tanh", "tanh"}, {"HardSigmoid", "hard-sigmoid"}, {"HardSwish", "hard-swish"},
      {"Gelu", "gelu"}, {"Dropout", "dropout"}};
  return kinds;
}

const std::map<std::string, Work>& binary_work() {
  static const std::map<std::string, Work> work = {
      {"Add", {1, 1}},         {"Sub", {1, 1}},      {"Mul", {1, 1}},
      {"Div", {1, 1}},         {"Pow", {1, 2}},      {"Mod", {1, 0}},
      {"Min", {1, 1}},         {"Max", {1, 1}},      {"Mean", {1, 1}},
      {"Sum", {1, 1}},         {"And", {1, 0}},      {"Or", {1, 0}},
      {"Xor", {1, 0}},         {"BitShift", {1, 0}}, {"Equal", {1, 0}},
      {"Greater", {1, 0}},     {"Less", {1, 0}},     {"GreaterOrEqual", {1, 0}},
      {"LessOrEqual", {1, 0}}, {"Where", {1, 1}}};
  return work;
}

bool is_reduction(const std::string& op) {
  return op.compare(0, 6, "Reduce") == 0 || op == "ArgMax" || op == "ArgMin";
}

}  // namespace

bool OnnxBuilder::add_vector(const OnnxNode& node) {
  const std::string& op = node.op;
  const Dims& in = shapes_.input(node, 0).dims;
  if (fuse_bias(node)) return true;
  if (op == "BatchNormalization" || op == "InstanceNormalization" || op == "GroupNormalization") {
    // Statistics over another set of elements, but as much work per element.
    normalisation(node, Op::kBatchNorm, in.size() > 1 ? in[1] : 1);
  } else if (op == "LayerNormalization") {
    normalisation(node, Op::kLayerNorm, in.empty() ? 1 : in.back());
  } else if (op == "Softmax" || op == "LogSoftmax") {
    const Active x = of(node.inputs[0]);
    bind(node, emit(node, Op::kSoftmax, {x}, x.shape));
  } else if (activations().count(op) != 0) {
    const Active x = of(node.inputs[0]);
    bind(node, emit(node, Op::kActivation, {x}, x.shape, {}, activations().at(op)));
  } else if (unary_work().count(op) != 0 && is_active(node.inputs[0])) {
    unary(node, unary_work().at(op).forward, unary_work().at(op).backward);
  } else if (binary_work().count(op) != 0) {
    binary(node);
  } else if (is_reduction(op)) {
    reduce(node);
  } else if (op == "GlobalAveragePool" || op == "GlobalMaxPool") {
    Active x = of(node.inputs[0]);
    if (x.shape.channels != in[1]) x = as(x, {in[1], x.shape.elements() / in[1], 1}, node);
    bind(node, emit(node, Op::kGlobalPool, {x}, {x.shape.channels, 1, 1}, {},
                    op == "GlobalMaxPool" ? "max" : "average"));
  } else if (op == "Resize" || op == "Upsample") {
    resize(node);
  } else {
    return false;
  }
  count(node, Fate::kVector);
  return true;
}

void OnnxBuilder::normalisation(const OnnxNode& node, Op op, std::uint64_t channels) {
  Active x = of(node.inputs[0]);
  if (x.shape.channels != channels) {
    if (x.shape.elements() % channels != 0) {
      throw shapes_.fail(node, "input", to_string(x.shape) + " per sample",
                         std::to_string(channels) + " channels");
    }
    x = as(x, {channels, x.shape.elements() / channels, 1}, node);
  }
  bind(node, emit(node, op, {x}, x.shape));
}

void OnnxBuilder::unary(const OnnxNode& node, std::uint64_t forward, std::uint64_t backward) {
  const Active x = of(node.inputs[0]);
  if (node.op == "Clip") {
    // ReLU6, as PyTorch exports it.
    const auto limit = [&](const char* name, std::size_t i) -> double {
      if (node.has(name)) return node.real(name, 0.0);
      const auto& values = shapes_.input(node, i).values;
      return values && values->size() == 1 ? values->front() : std::nan("");
    };
    if (limit("min", 1) == 0.0 && limit("max", 2) == 6.0) {
      bind(node, emit(node, Op::kActivation, {x}, x.shape, {}, "relu6"));
      return;
    }
  }
  bind(node,
       emit(node, Op::kElementwise, {x}, x.shape, {{"ops", forward}, {"backward_ops", backward}}));
}

// Arithmetic of tensors that may broadcast.
void OnnxBuilder::binary(const OnnxNode& node) {
  const Dims& dims = shapes_.of(node.outputs[0]).dims;
  const std::uint64_t elements = per_sample(node, dims);
  const Work work = binary_work().at(node.op);
  Inputs whole;
  Inputs channels;  // one value a channel
  std::uint64_t others = 0;
  for (const std::string& name : node.inputs) {
    if (name.empty() || !is_active(name)) continue;
    Active x = of(name);
    if (x.shape.elements() == elements) {
      whole.push_back(whole.empty() ? x : as(x, whole.front().shape, node));
    } else if (!whole.empty() && x.shape.elements() == whole.front().shape.channels) {
      channels.push_back(x);
    } else {
      // Perhaps the larger tensor comes later.
      channels.push_back(x);
      ++others;
    }
  }
  if (whole.empty()) {
    ++notes["arithmetic whose result is larger than each operand: a new tensor and the operation"];
    whole.push_back(detached(label(node) + ".broadcast", shape_of(dims, node)));
    channels.clear();
  }
  const Shape shape = whole.front().shape;
  const bool sum = node.op == "Add" || node.op == "Sum";
  Inputs inputs = whole;
  bool fits = true;
  for (const Active& x : channels) {
    if (x.shape.elements() == shape.channels) {
      inputs.push_back(as(x, {shape.channels, 1, 1}, node));
    } else {
      fits = false;  // it broadcasts in another way: the work is the same
    }
  }
  if (fits && inputs.size() >= 2 && (sum || node.op == "Mul")) {
    bind(node, emit(node, sum ? Op::kAdd : Op::kMul, inputs, shape));
    return;
  }
  const std::uint64_t operands = std::max<std::uint64_t>(2, node.inputs.size()) - 1;
  const std::uint64_t factor = node.op == "Where" ? 1 : std::min<std::uint64_t>(operands, 1000);
  bind(node, emit(node, Op::kElementwise, inputs, shape,
                  {{"ops", work.forward * factor}, {"backward_ops", work.backward * factor}}));
}

void OnnxBuilder::reduce(const OnnxNode& node) {
  const Dims& in = shapes_.input(node, 0).dims;
  const Dims& out_dims = shapes_.of(node.outputs[0]).dims;
  Active x = of(node.inputs[0]);
  const std::uint64_t out = per_sample(node, out_dims);
  const bool average = node.op == "ReduceMean" || node.op == "ReduceSum";
  // All but the channels of a sample: a global pooling.
  const auto axes = shapes_.numbers(node, "axes", 1);
  if ((average || node.op == "ReduceMax") && axes && in.size() >= 3 && out < x.shape.elements()) {
    std::set<std::size_t> gone;
    for (const std::int64_t a : *axes) gone.insert(shapes_.axis(node, a, in.size()));
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (gone.count(i) == 0 && i != options_.batch_axis) kept.push_back(i);
    }
    if (gone.count(options_.batch_axis) == 0 && kept.size() == 1 && in[kept[0]] == out) {
      if (x.shape.channels != out) x = as(x, {out, x.shape.elements() / out, 1}, node);
      bind(node, emit(node, Op::kGlobalPool, {x}, {out, 1, 1}, {}, average ? "average" : "max"));
      return;
    }
  }
  static const std::map<std::string, Work> costs = {
      {"ReduceL1", {2, 1}},        {"ReduceL2", {2, 2}},   {"ReduceLogSum", {1, 1}},
      {"ReduceLogSumExp", {2, 2}}, {"ReduceProd", {1, 2}}, {"ReduceSumSquare", {2, 1}},
      {"ArgMax", {1, 0}},          {"ArgMin", {1, 0}}};
  const auto cost = costs.find(node.op);
  const Work work = cost == costs.end() ? Work{1, 1} : cost->second;
  const Active worked = emit(node, Op::kElementwise, {x}, x.shape,
                             {{"ops", work.forward}, {"backward_ops", work.backward}});
  bind(node, cut(worked, shape_of(out_dims, node), node));
}

void OnnxBuilder::concat(const OnnxNode& node) {
  const Dims& dims = shapes_.of(node.outputs[0]).dims;
  const std::uint64_t elements = per_sample(node, dims);
  const std::size_t axis = shapes_.axis(node, node.integer("axis", 0), dims.size());
  Inputs inputs;
  std::uint64_t sum = 0;
  for (const std::string& name : node.inputs) {
    const Dims& own = shapes_.of(name).dims;
    const std::uint64_t size = shapes_.of(name).elements();
    if (size == 0) continue;
    if (is_active(name)) {
      inputs.push_back(of(name));
    } else {
      const Shape shape = size % batch_ == 0 ? shape_of(own, node) : Shape{size, 1, 1};
      inputs.push_back(detached(label(node) + ".constant", shape));
      ++notes
          ["constant joined to activations (a class token, for instance): a tensor with gradient"];
    }
    sum = checked_add(sum, inputs.back().shape.elements(), "concatenated size");
  }
  if (sum != elements || inputs.size() < 2) {
    if (inputs.size() == 1 && sum == elements) {
      bind(node, inputs.front());
      return;
    }
    throw shapes_.fail(node, "axis", std::to_string(axis), "another axis than the batch");
  }
  // As channels or rows where all agree, else as flat vectors.
  const Shape& first = inputs.front().shape;
  bool channels = true;
  bool height = true;
  std::size_t at = 0;
  for (const std::string& name : node.inputs) {
    if (shapes_.of(name).elements() == 0) continue;
    const Shape& s = inputs[at++].shape;
    const std::uint64_t size = shapes_.of(name).dims[axis];
    channels = channels && s.channels == size && s.height == first.height && s.width == first.width;
    height = height && s.height == size && s.channels == first.channels && s.width == first.width;
  }
  if (channels) {
    bind(node, emit(node, Op::kConcat, inputs,
                    {elements / (first.height * first.width), first.height, first.width}, {},
                    "channels"));
  } else if (height) {
    bind(node, emit(node, Op::kConcat, inputs,
                    {first.channels, elements / (first.channels * first.width), first.width}, {},
                    "height"));
  } else {
    for (Active& x : inputs) x = as(x, {x.shape.elements(), 1, 1}, node);
    const Active flat = emit(node, Op::kConcat, inputs, {elements, 1, 1}, {}, "channels");
    bind(node, as(flat, shape_of(dims, node), node));
  }
}

void OnnxBuilder::resize(const OnnxNode& node) {
  const Dims& in = shapes_.input(node, 0).dims;
  const Dims& out = shapes_.of(node.outputs[0]).dims;
  const Active x = of(node.inputs[0]);
  if (in == out) {
    bind(node, x);
    return;
  }
  const std::string mode = node.text("mode", "nearest");
  const bool images = in.size() == 4 && in[0] == batch_ && out[0] == in[0] && out[1] == in[1];
  if (images && mode == "nearest" && out[2] % in[2] == 0 && out[3] % in[3] == 0 &&
      out[2] / in[2] == out[3] / in[3] && out[2] / in[2] <= 0xFFFF) {
    const Active image = as(x, {in[1], in[2], in[3]}, node);
    bind(node, emit(node, Op::kUpsample, {image}, {out[1], out[2], out[3]},
                    {{"factor", out[2] / in[2]}}));
    return;
  }
  // Linear: two weights and one sum per axis; cubic: four of each.
  const std::uint64_t ops = mode == "nearest" ? 0 : mode == "linear" ? 6 : 30;
  ++notes["Resize other than by a whole factor: a new tensor and its interpolation"];
  const Active fresh = detached(label(node) + ".resized", shape_of(out, node));
  bind(node,
       emit(node, Op::kElementwise, {fresh}, fresh.shape, {{"ops", ops}, {"backward_ops", ops}}));
}

void OnnxBuilder::pad(const OnnxNode& node) {
  const Dims& in = shapes_.input(node, 0).dims;
  const Dims& out = shapes_.of(node.outputs[0]).dims;
  const auto pads = shapes_.numbers(node, "pads", 1);
  const std::size_t rank = in.size();
  const bool spatial =
      pads && (rank == 3 || rank == 4) && in[0] == out[0] && in[1] == out[1] &&
      std::all_of(pads->begin(), pads->end(), [](std::int64_t p) { return p >= 0 && p < 0x8000; });
  if (in == out) {
    bind(node, of(node.inputs[0]));
  } else if (spatial) {
    const auto at = [&](std::size_t i) { return static_cast<std::uint64_t>((*pads)[i]); };
    Padded padded;
    padded.source = node.inputs[0];
    padded.top = at(2);
    padded.bottom = at(rank + 2);
    if (rank == 4) {
      padded.left = at(3);
      padded.right = at(rank + 3);
    }
    const auto before = padded_.find(node.inputs[0]);
    if (before != padded_.end()) {
      padded.source = before->second.source;
      padded.top += before->second.top;
      padded.bottom += before->second.bottom;
      padded.left += before->second.left;
      padded.right += before->second.right;
    }
    padded_[node.outputs[0]] = padded;
    active_[node.outputs[0]] = active_[padded.source];  // is_active holds; of() decides
  } else {
    ++notes["Pad that no convolution takes over: a new tensor, no work"];
    bind(node, detached(label(node), shape_of(out, node)));
  }
}

// Slice, Split and Gather by constant indices.
void OnnxBuilder::select(const OnnxNode& node) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string& name = node.outputs[i];
    if (name.empty() || (readers_.count(name) == 0 && outputs_.count(name) == 0)) continue;
    const TensorInfo& info = shapes_.of(name);
    if (info.elements() == 0) continue;
    const Shape shape = shape_of(info.dims, node);
    const Active x = of(node.inputs[0]);
    if (shape.elements() > x.shape.elements()) {
      ++notes["look-up whose result is larger than its source: a new tensor, no work"];
      bind(node, detached(label(node), shape), i);
      continue;
    }
    // A cut along the channels of an image keeps its rows and columns.
    bind(node, cut(x, shape, node), i);
  }
}

bool OnnxBuilder::add_arrangement(const OnnxNode& node) {
  static const std::set<std::string> renaming = {
      "Cast",    "CastLike",  "DepthToSpace",   "DequantizeLinear", "DynamicQuantizeLinear",
      "Flatten", "Identity",  "QuantizeLinear", "Reshape",          "SpaceToDepth",
      "Squeeze", "Transpose", "Unsqueeze"};
  const std::string& op = node.op;
  if (renaming.count(op) != 0) {
    Active x = of(node.inputs[0]);
    if (op == "Transpose") {
      const Dims& dims = shapes_.input(node, 0).dims;
      const auto order = node.integers("perm");
      const std::size_t rank = dims.size();
      const bool last = order.empty()
                            ? rank == 2
                            : rank >= 2 && order[rank - 1] != static_cast<std::int64_t>(rank) - 1;
      x.swapped = x.swapped != last;
    }
    if (op == "QuantizeLinear" || op == "DequantizeLinear" || op == "DynamicQuantizeLinear") {
      ++notes["quantisation in the file is ignored: a schedule or trace sets the bits"];
    }
    bind(node, x);
  } else if (op == "Slice" || op == "Split" || op == "Gather") {
    select(node);
  } else if (op == "Concat") {
    concat(node);
  } else if (op == "Pad") {
    pad(node);
  } else if (op == "Expand" || op == "Tile") {
    const Active x = of(node.inputs[0]);
    const Shape shape = shape_of(shapes_.of(node.outputs[0]).dims, node);
    if (shape.elements() == x.shape.elements()) {
      bind(node, x);
    } else {
      ++notes["repeated activations (Expand, Tile): a new tensor, no work"];
      bind(node, detached(label(node), shape));
    }
  } else {
    return false;
  }
  count(node, Fate::kNone);
  return true;
}

}  // namespace bitcycle
