#include "workloads/onnx_shapes.hpp"

#include <algorithm>
#include <cmath>

#include "golden/checked.hpp"
#include "golden/error.hpp"

namespace bitcycle {
namespace {

const std::set<std::string>& same_shape() {
  static const std::set<std::string> ops = {"Abs",
                                            "Acos",
                                            "Acosh",
                                            "Asin",
                                            "Asinh",
                                            "Atan",
                                            "Atanh",
                                            "BatchNormalization",
                                            "Cast",
                                            "CastLike",
                                            "Ceil",
                                            "Celu",
                                            "Clip",
                                            "Cos",
                                            "Cosh",
                                            "CumSum",
                                            "DequantizeLinear",
                                            "Dropout",
                                            "DynamicQuantizeLinear",
                                            "Elu",
                                            "Erf",
                                            "Exp",
                                            "Floor",
                                            "Gelu",
                                            "GroupNormalization",
                                            "HardSigmoid",
                                            "HardSwish",
                                            "Hardmax",
                                            "Identity",
                                            "InstanceNormalization",
                                            "IsInf",
                                            "IsNaN",
                                            "LRN",
                                            "LayerNormalization",
                                            "LeakyRelu",
                                            "Log",
                                            "LogSoftmax",
                                            "LpNormalization",
                                            "MeanVarianceNormalization",
                                            "Mish",
                                            "Neg",
                                            "Not",
                                            "PRelu",
                                            "QuantizeLinear",
                                            "Reciprocal",
                                            "Relu",
                                            "Round",
                                            "Selu",
                                            "Shrink",
                                            "Sigmoid",
                                            "Sign",
                                            "Sin",
                                            "Sinh",
                                            "Softmax",
                                            "Softplus",
                                            "Softsign",
                                            "Sqrt",
                                            "Tan",
                                            "Tanh",
                                            "ThresholdedRelu",
                                            "Trilu"};
  return ops;
}

const std::set<std::string>& broadcasting() {
  static const std::set<std::string> ops = {
      "Add",  "And",         "BitShift", "Div",  "Equal", "Greater", "GreaterOrEqual",
      "Less", "LessOrEqual", "Max",      "Mean", "Min",   "Mod",     "Mul",
      "Or",   "Pow",         "Sub",      "Sum",  "Where", "Xor"};
  return ops;
}

const std::set<std::string>& reducing() {
  static const std::set<std::string> ops = {
      "ReduceL1",   "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
      "ReduceMean", "ReduceMin", "ReduceProd",   "ReduceSum",       "ReduceSumSquare"};
  return ops;
}

const std::set<std::string>& special_ops() {
  static const std::set<std::string> ops = {"ArgMax",
                                            "ArgMin",
                                            "AveragePool",
                                            "Compress",
                                            "Concat",
                                            "Constant",
                                            "ConstantOfShape",
                                            "Conv",
                                            "ConvTranspose",
                                            "DepthToSpace",
                                            "Expand",
                                            "Flatten",
                                            "GRU",
                                            "Gather",
                                            "Gemm",
                                            "GlobalAveragePool",
                                            "GlobalMaxPool",
                                            "LSTM",
                                            "MatMul",
                                            "MaxPool",
                                            "Pad",
                                            "RNN",
                                            "Range",
                                            "Reshape",
                                            "Resize",
                                            "Shape",
                                            "Size",
                                            "Slice",
                                            "SpaceToDepth",
                                            "Split",
                                            "Squeeze",
                                            "Tile",
                                            "Transpose",
                                            "Unsqueeze",
                                            "Upsample"};
  return ops;
}

}  // namespace

std::uint64_t TensorInfo::elements() const {
  std::uint64_t out = 1;
  for (const std::uint64_t dim : dims) out = checked_mul(out, dim, "elements of a tensor");
  return out;
}

std::string dims_text(const Dims& dims) {
  std::string out;
  for (const std::uint64_t dim : dims) out += (out.empty() ? "" : ", ") + std::to_string(dim);
  return "[" + out + "]";
}

std::int64_t whole(double value) {
  constexpr double kMost = 4611686018427387904.0;  // 2^62
  if (std::isnan(value)) return 0;
  return static_cast<std::int64_t>(std::clamp(value, -kMost, kMost));
}

const TensorInfo& OnnxShapes::of(const std::string& name) const {
  static const TensorInfo nothing;
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nothing : found->second;
}

bool OnnxShapes::has_input(const OnnxNode& node, std::size_t i) const {
  return i < node.inputs.size() && !node.inputs[i].empty();
}

const TensorInfo& OnnxShapes::input(const OnnxNode& node, std::size_t i) const {
  return of(has_input(node, i) ? node.inputs[i] : std::string());
}

bool OnnxShapes::knows(const OnnxNode& node) {
  return node.domain.empty() &&
         (same_shape().count(node.op) != 0 || broadcasting().count(node.op) != 0 ||
          reducing().count(node.op) != 0 || special_ops().count(node.op) != 0);
}

InputError OnnxShapes::fail(const OnnxNode& node, const std::string& what, const std::string& found,
                            const std::string& allowed) const {
  const std::string name = node.name.empty() ? "" : " '" + node.name + "'";
  return input_error(model_.file, 0, node.op + name + ", " + what, found, allowed);
}

std::size_t OnnxShapes::axis(const OnnxNode& node, std::int64_t axis, std::size_t rank) const {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) {
    throw fail(node, "axis", std::to_string(axis),
               "an axis of a tensor with " + std::to_string(rank) + " dimensions");
  }
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

std::optional<std::vector<std::int64_t>> OnnxShapes::numbers(const OnnxNode& node,
                                                             const char* attribute,
                                                             std::size_t i) const {
  if (node.has(attribute)) return node.integers(attribute);
  if (i == 0 || !has_input(node, i) || !input(node, i).values) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const double value : *input(node, i).values) out.push_back(whole(value));
  return out;
}

void OnnxShapes::finish(const OnnxNode& node, TensorInfo info) {
  for (const std::uint64_t dim : info.dims) {
    if (dim > kMaxOnnxSize) throw fail(node, "result", dims_text(info.dims), "sizes below 2^48");
  }
  (void)info.elements();
  for (const std::string& name : node.outputs) {
    if (!name.empty()) tensors_[name] = info;
    info.values.reset();
  }
}

void OnnxShapes::infer(const OnnxNode& node) {
  TensorInfo info;
  info.constant = true;
  std::vector<const TensorInfo*> in;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!has_input(node, i)) continue;
    const TensorInfo& one = input(node, i);
    in.push_back(&one);
    info.constant = info.constant && one.constant;
    if (!one.known && info.unknown.empty()) {
      info.unknown =
          one.unknown.empty() ? "tensor '" + node.inputs[i] + "' comes from nowhere" : one.unknown;
    }
  }
  if (node.op == "Shape" || node.op == "Size") info.constant = true;
  if (!info.unknown.empty()) {
    finish(node, info);
    return;
  }
  if (node.op == "Split") return split(node);
  if (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN") return recurrent(node);
  const Shape dims = first(node);
  if (!dims) {
    info.unknown = "the result of " + node.op + " '" + node.name + "' depends on computed values";
    finish(node, info);
    return;
  }
  info.known = true;
  info.dims = *dims;
  if (node.op == "Constant" || node.op == "ConstantOfShape") {
    const auto value = node.attributes.find("value");
    if (value != node.attributes.end() && value->second.has_tensor) {
      const OnnxTensor& tensor = value->second.tensor;
      if (tensor.has_values) {
        std::vector<double> values(tensor.floats);
        for (const std::int64_t v : tensor.ints) values.push_back(static_cast<double>(v));
        info.integer = tensor.floats.empty();
        if (node.op == "ConstantOfShape" && values.size() == 1 && info.elements() <= kMostValues) {
          values.assign(info.elements(), values.front());
        }
        if (values.size() == info.elements()) info.values = values;
      }
    } else if (node.has("value_int") || node.has("value_ints")) {
      info.integer = true;
      info.values.emplace();
      for (const auto v : node.integers("value_ints"))
        info.values->push_back(static_cast<double>(v));
      if (node.has("value_int")) {
        info.values->push_back(static_cast<double>(node.integer("value_int", 0)));
      }
    } else if (node.has("value_float")) {
      info.values = {node.real("value_float", 0.0)};
    } else if (node.op == "ConstantOfShape" && info.elements() <= kMostValues) {
      info.values.emplace(info.elements(), 0.0);
    }
  } else if (node.op == "Shape") {
    info.integer = true;
    info.values.emplace();
    const Dims& all = in.front()->dims;
    const auto rank = static_cast<std::int64_t>(all.size());
    std::int64_t start = node.integer("start", 0);
    start = std::clamp<std::int64_t>(start < 0 ? start + rank : start, 0, rank);
    for (std::size_t i = 0; i < dims->front(); ++i) {
      info.values->push_back(static_cast<double>(all[static_cast<std::size_t>(start) + i]));
    }
  } else if (node.op == "Size") {
    info.integer = true;
    info.values = {static_cast<double>(in.front()->elements())};
  } else if (info.constant) {
    info.integer = node.op == "Cast" ? node.integer("to", 1) != 1 && node.integer("to", 1) != 11
                                     : !in.empty() && in.front()->integer;
    static const std::set<std::string> rearranging = {"Cast",     "DequantizeLinear", "Flatten",
                                                      "Identity", "QuantizeLinear",   "Reshape",
                                                      "Squeeze",  "Transpose",        "Unsqueeze"};
    if (rearranging.count(node.op) != 0 && !in.empty()) info.origin = in.front()->origin;
    std::vector<const TensorInfo*> used = in;
    const bool data_only = node.op == "Reshape" || node.op == "Unsqueeze" || node.op == "Squeeze" ||
                           node.op == "Cast" || node.op == "Identity";
    if (data_only) used.resize(1);
    info.values = fold_values(node, used, info.dims);
  }
  finish(node, info);
}

OnnxShapes::Shape OnnxShapes::first(const OnnxNode& node) const {
  const std::string& op = node.op;
  const bool needs_input = op != "Constant";
  if (needs_input && !has_input(node, 0)) throw fail(node, "inputs", "none", "its operands");
  if (same_shape().count(op) != 0) return input(node, 0).dims;
  if (broadcasting().count(op) != 0) return broadcast(node);
  if (reducing().count(op) != 0 || op == "ArgMax" || op == "ArgMin") return reduce(node);
  return special(node);
}

OnnxShapes::Shape OnnxShapes::special(const OnnxNode& node) const {
  const std::string& op = node.op;
  const Dims& in = input(node, 0).dims;
  if (op == "Constant") {
    const auto value = node.attributes.find("value");
    if (value != node.attributes.end() && value->second.has_tensor) {
      return value->second.tensor.dims;
    }
    if (node.has("value_ints")) return Dims{node.integers("value_ints").size()};
    if (node.has("value_floats")) return Dims{node.attributes.at("value_floats").floats.size()};
    if (node.has("value_strings")) return std::nullopt;
    return Dims{};
  }
  if (op == "Conv" || op == "ConvTranspose") return convolution(node);
  if (op == "MaxPool" || op == "AveragePool") return pool(node);
  if (op == "GlobalAveragePool" || op == "GlobalMaxPool") {
    if (in.size() < 3) throw fail(node, "input", dims_text(in), "three dimensions or more");
    Dims out(in.size(), 1);
    out[0] = in[0];
    out[1] = in[1];
    return out;
  }
  if (op == "MatMul") return matmul(node);
  if (op == "Gemm") return gemm(node);
  if (op == "Concat") return concat(node);
  if (op == "Gather") return gather(node);
  if (op == "Flatten") return flatten(node);
  if (op == "Transpose") return transpose(node);
  if (op == "DepthToSpace" || op == "SpaceToDepth") return shuffle(node);
  if (op == "Reshape") return reshape(node);
  if (op == "Slice") return slice(node);
  if (op == "Resize" || op == "Upsample") return resize(node);
  if (op == "Pad") return pad(node);
  if (op == "Squeeze") return squeeze(node);
  if (op == "Unsqueeze") return unsqueeze(node);
  if (op == "Expand" || op == "Tile" || op == "ConstantOfShape") return expand(node);
  if (op == "Range") return range(node);
  if (op == "Size") return Dims{};
  if (op == "Shape") {
    const auto rank = static_cast<std::int64_t>(in.size());
    const auto place = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t end = place(node.integer("end", rank));
    return Dims{unsigned_size(end - place(node.integer("start", 0)))};
  }
  return std::nullopt;
}

Dims OnnxShapes::broadcast(const OnnxNode& node) const {
  Dims out;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!has_input(node, i)) continue;
    const Dims& in = input(node, i).dims;
    if (in.size() > out.size()) out.insert(out.begin(), in.size() - out.size(), 1);
    for (std::size_t k = 0; k < in.size(); ++k) {
      std::uint64_t& size = out[out.size() - 1 - k];
      const std::uint64_t own = in[in.size() - 1 - k];
      if (size == 1) {
        size = own;
      } else if (own != 1 && own != size) {
        throw fail(node, "inputs", dims_text(in) + " beside " + dims_text(out),
                   "shapes that broadcast");
      }
    }
  }
  return out;
}

}  // namespace bitcycle
