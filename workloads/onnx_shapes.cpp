#include "workloads/onnx_shapes.hpp"

#include <algorithm>
#include <cmath>

#include "golden/checked.hpp"
#include "golden/error.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 48;

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

std::uint64_t unsigned_size(std::int64_t value) {
  return value < 0 ? 0 : static_cast<std::uint64_t>(value);
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
    if (dim > kMaxSize) throw fail(node, "result", dims_text(info.dims), "sizes below 2^48");
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

Dims OnnxShapes::matmul(const OnnxNode& node) const {
  Dims a = input(node, 0).dims;
  Dims b = input(node, 1).dims;
  if (a.empty() || b.empty() || !has_input(node, 1)) {
    throw fail(node, "inputs", dims_text(a) + " and " + dims_text(b), "two tensors");
  }
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b[b.size() - 2]) {
    throw fail(node, "inputs", dims_text(a) + " and " + dims_text(b), "equal inner sizes");
  }
  Dims out;
  const std::size_t rank = std::max(a.size(), b.size()) - 2;
  for (std::size_t k = 0; k < rank; ++k) {
    const auto at = [&](const Dims& dims) {
      return k + dims.size() >= rank + 2 ? dims[k + dims.size() - rank - 2] : 1;
    };
    if (at(a) != at(b) && at(a) != 1 && at(b) != 1) {
      throw fail(node, "inputs", dims_text(a) + " and " + dims_text(b), "shapes that broadcast");
    }
    out.push_back(std::max(at(a), at(b)));
  }
  if (!row) out.push_back(a[a.size() - 2]);
  if (!column) out.push_back(b.back());
  return out;
}

Dims OnnxShapes::gemm(const OnnxNode& node) const {
  const Dims& a = input(node, 0).dims;
  const Dims& b = input(node, 1).dims;
  if (a.size() != 2 || b.size() != 2) {
    throw fail(node, "inputs", dims_text(a) + " and " + dims_text(b), "two matrices");
  }
  const bool ta = node.integer("transA", 0) != 0;
  const bool tb = node.integer("transB", 0) != 0;
  if (a[ta ? 0 : 1] != b[tb ? 1 : 0]) {
    throw fail(node, "inputs", dims_text(a) + " and " + dims_text(b), "equal inner sizes");
  }
  return {a[ta ? 1 : 0], b[tb ? 0 : 1]};
}

OnnxShapes::Window OnnxShapes::window(const OnnxNode& node, const Dims& spatial, const Dims& kernel,
                                      bool transposed) const {
  constexpr std::int64_t kMost = 0xFFFF;
  const std::size_t rank = spatial.size();
  const auto list = [&](const char* name, std::size_t count, std::int64_t least) {
    std::vector<std::uint64_t> out;
    for (const std::int64_t value : node.integers(name)) {
      if (value < least || value > kMost) {
        throw fail(node, name, std::to_string(value),
                   std::to_string(least) + " to " + std::to_string(kMost));
      }
      out.push_back(static_cast<std::uint64_t>(value));
    }
    if (out.empty()) out.assign(count, static_cast<std::uint64_t>(least));
    if (out.size() != count) {
      throw fail(node, name, std::to_string(out.size()) + " numbers", std::to_string(count));
    }
    return out;
  };
  Window w;
  w.kernel = kernel;
  w.stride = list("strides", rank, 1);
  w.dilation = list("dilations", rank, 1);
  const auto pads = list("pads", 2 * rank, 0);
  w.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  w.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "VALID") {
    w.begin.assign(rank, 0);
    w.end.assign(rank, 0);
  } else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    for (std::size_t i = 0; i < rank; ++i) {
      const std::uint64_t reach = checked_add(
          checked_mul(w.dilation[i], w.kernel[i] == 0 ? 0 : w.kernel[i] - 1, "kernel"), 1);
      const std::uint64_t steps = transposed ? spatial[i] : ceil_div(spatial[i], w.stride[i]);
      const std::uint64_t all = checked_mul(steps, w.stride[i], "padded size");
      const std::uint64_t from = steps == 0 ? 0 : checked_add(all - w.stride[i], reach, "padding");
      const std::uint64_t to = transposed ? all : spatial[i];
      const std::uint64_t pad = from > to ? from - to : 0;
      w.begin[i] = automatic == "SAME_UPPER" ? pad / 2 : pad - pad / 2;
      w.end[i] = pad - w.begin[i];
    }
  } else if (automatic != "NOTSET" && !automatic.empty()) {
    throw fail(node, "auto_pad", "'" + automatic + "'", "NOTSET, SAME_UPPER, SAME_LOWER, VALID");
  }
  return w;
}

Dims OnnxShapes::convolution(const OnnxNode& node) const {
  const Dims& x = input(node, 0).dims;
  const Dims& w = input(node, 1).dims;
  const bool transposed = node.op == "ConvTranspose";
  if (x.size() < 3 || x.size() != w.size()) {
    throw fail(node, "inputs", dims_text(x) + " and weights " + dims_text(w),
               "equally many dimensions, three or more");
  }
  const std::uint64_t groups = unsigned_size(node.integer("group", 1));
  const std::uint64_t channels = transposed ? w[0] : checked_mul(w[1], groups, "channels");
  if (groups == 0 || channels != x[1] || w[0] % groups != 0) {
    throw fail(
        node, "groups",
        std::to_string(groups) + " with input " + dims_text(x) + " and weights " + dims_text(w),
        "groups that fit the channels");
  }
  const Dims spatial(x.begin() + 2, x.end());
  const Window win = window(node, spatial, Dims(w.begin() + 2, w.end()), transposed);
  Dims out = {x[0], transposed ? checked_mul(w[1], groups, "channels") : w[0]};
  const auto extra = node.integers("output_padding");
  const auto wanted = node.integers("output_shape");
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    const std::uint64_t pads = win.begin[i] + win.end[i];
    if (win.kernel[i] == 0 || win.kernel[i] > kMaxSize || spatial[i] == 0) {
      throw fail(node, "sizes", dims_text(x) + " and weights " + dims_text(w), "1 or more");
    }
    const std::uint64_t reach = win.dilation[i] * (win.kernel[i] - 1) + 1;
    if (!transposed) {
      if (spatial[i] + pads < reach) {
        throw fail(node, "kernel", dims_text(w), "no larger than the padded input " + dims_text(x));
      }
      out.push_back((spatial[i] + pads - reach) / win.stride[i] + 1);
      continue;
    }
    const std::uint64_t more = i < extra.size() ? unsigned_size(extra[i]) : 0;
    const std::uint64_t full = checked_add(checked_mul(spatial[i] - 1, win.stride[i], "output"),
                                           reach + std::min(more, kMaxSize), "output");
    if (wanted.size() >= spatial.size()) {
      out.push_back(unsigned_size(wanted[wanted.size() - spatial.size() + i]));
    } else {
      if (full <= pads) throw fail(node, "pads", std::to_string(pads), "less than the output");
      out.push_back(full - pads);
    }
  }
  return out;
}

Dims OnnxShapes::pool(const OnnxNode& node) const {
  const Dims& x = input(node, 0).dims;
  if (x.size() < 3) throw fail(node, "input", dims_text(x), "three dimensions or more");
  const Dims spatial(x.begin() + 2, x.end());
  Dims kernel;
  for (const std::int64_t size : node.integers("kernel_shape")) {
    if (size < 1 || size > 0xFFFF) {
      throw fail(node, "kernel_shape", std::to_string(size), "1 to 65535");
    }
    kernel.push_back(static_cast<std::uint64_t>(size));
  }
  if (kernel.size() != spatial.size()) {
    throw fail(node, "kernel_shape", std::to_string(kernel.size()) + " numbers",
               std::to_string(spatial.size()));
  }
  const Window win = window(node, spatial, kernel, false);
  Dims out = {x[0], x[1]};
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    const std::uint64_t reach = win.dilation[i] * (kernel[i] - 1) + 1;
    const std::uint64_t padded = spatial[i] + win.begin[i] + win.end[i];
    if (padded < reach) {
      throw fail(node, "kernel_shape", dims_text(kernel), "no larger than the padded input");
    }
    const bool up = node.integer("ceil_mode", 0) != 0;
    std::uint64_t size =
        (up ? ceil_div(padded - reach, win.stride[i]) : (padded - reach) / win.stride[i]) + 1;
    // A window that begins in the padding at the end does not count.
    if (up && (size - 1) * win.stride[i] >= spatial[i] + win.begin[i]) --size;
    out.push_back(size);
  }
  return out;
}

Dims OnnxShapes::concat(const OnnxNode& node) const {
  Dims out = input(node, 0).dims;
  const std::size_t at = axis(node, node.integer("axis", 0), out.size());
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const Dims& in = input(node, i).dims;
    bool fits = in.size() == out.size();
    for (std::size_t k = 0; fits && k < in.size(); ++k) fits = k == at || in[k] == out[k];
    if (!fits) {
      throw fail(node, "inputs", dims_text(in) + " beside " + dims_text(out),
                 "shapes that differ in one axis only");
    }
    out[at] = checked_add(out[at], in[at], "concatenated size");
  }
  return out;
}

Dims OnnxShapes::gather(const OnnxNode& node) const {
  const Dims& data = input(node, 0).dims;
  if (!has_input(node, 1)) throw fail(node, "inputs", "one", "data and indices");
  const Dims& indices = input(node, 1).dims;
  const std::size_t at = axis(node, node.integer("axis", 0), data.size());
  Dims out(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(at));
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(at) + 1, data.end());
  return out;
}

Dims OnnxShapes::flatten(const OnnxNode& node) const {
  const Dims& in = input(node, 0).dims;
  std::int64_t at = node.integer("axis", 1);
  const auto rank = static_cast<std::int64_t>(in.size());
  if (at < 0) at += rank;
  if (at < 0 || at > rank) throw fail(node, "axis", std::to_string(at), "an axis of the input");
  Dims out = {1, 1};
  for (std::size_t i = 0; i < in.size(); ++i) {
    std::uint64_t& size = out[static_cast<std::int64_t>(i) < at ? 0 : 1];
    size = checked_mul(size, in[i], "flattened size");
  }
  return out;
}

Dims OnnxShapes::transpose(const OnnxNode& node) const {
  const Dims& in = input(node, 0).dims;
  const auto order = node.integers("perm");
  if (order.empty()) return {in.rbegin(), in.rend()};
  Dims out;
  std::set<std::size_t> seen;
  for (const std::int64_t place : order) {
    const std::size_t from = axis(node, place, in.size());
    if (!seen.insert(from).second) throw fail(node, "perm", "an axis twice", "each axis once");
    out.push_back(in[from]);
  }
  if (out.size() != in.size()) throw fail(node, "perm", "too few axes", "each axis once");
  return out;
}

Dims OnnxShapes::shuffle(const OnnxNode& node) const {
  Dims out = input(node, 0).dims;
  const std::uint64_t block = unsigned_size(node.integer("blocksize", 0));
  const bool deep = node.op == "SpaceToDepth";
  const bool fits =
      out.size() == 4 && block > 0 && block < 0xFFFF &&
      (deep ? out[2] % block == 0 && out[3] % block == 0 : out[1] % (block * block) == 0);
  if (!fits) throw fail(node, "blocksize", std::to_string(block), "a divisor of " + dims_text(out));
  if (deep) {
    out = {out[0], checked_mul(out[1], block * block, "channels"), out[2] / block, out[3] / block};
  } else {
    out = {out[0], out[1] / (block * block), checked_mul(out[2], block, "height"),
           checked_mul(out[3], block, "width")};
  }
  return out;
}

OnnxShapes::Shape OnnxShapes::reduce(const OnnxNode& node) const {
  const Dims& in = input(node, 0).dims;
  std::optional<std::vector<std::int64_t>> axes = numbers(node, "axes", 1);
  if (node.op == "ArgMax" || node.op == "ArgMin") axes = {{node.integer("axis", 0)}};
  if (!axes && has_input(node, 1)) return std::nullopt;
  std::vector<bool> gone(in.size(), !axes || axes->empty());
  if ((!axes || axes->empty()) && node.integer("noop_with_empty_axes", 0) != 0) return in;
  for (const std::int64_t a : axes.value_or(std::vector<std::int64_t>{})) {
    gone[axis(node, a, in.size())] = true;
  }
  Dims out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!gone[i]) {
      out.push_back(in[i]);
    } else if (node.integer("keepdims", 1) != 0) {
      out.push_back(1);
    }
  }
  return out;
}

OnnxShapes::Shape OnnxShapes::reshape(const OnnxNode& node) const {
  const TensorInfo& data = input(node, 0);
  const auto wanted = numbers(node, "shape", 1);
  if (!wanted) return std::nullopt;
  Dims out;
  std::size_t open = wanted->size();
  std::uint64_t rest = 1;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    const std::int64_t size = (*wanted)[i];
    const bool copied = size == 0 && node.integer("allowzero", 0) == 0;
    if (size < -1 || (size == -1 && open != wanted->size()) || (copied && i >= data.dims.size())) {
      throw fail(node, "shape", std::to_string(size), "sizes, 0 for a copied one, -1 once");
    }
    if (size == -1) open = i;
    out.push_back(copied ? data.dims[i] : size == -1 ? 1 : static_cast<std::uint64_t>(size));
    rest = checked_mul(rest, out.back(), "reshaped size");
  }
  const std::uint64_t elements = data.elements();
  if (open < out.size() && rest != 0 && elements % rest == 0) out[open] = elements / rest;
  TensorInfo result;
  result.dims = out;
  if (result.elements() != elements) {
    throw fail(node, "shape", dims_text(out),
               std::to_string(elements) + " elements, as its input " + dims_text(data.dims) +
                   " (a batch or size that was fixed when the model was exported?)");
  }
  return out;
}

OnnxShapes::Shape OnnxShapes::slice(const OnnxNode& node) const {
  Dims out = input(node, 0).dims;
  const auto starts = numbers(node, "starts", 1);
  const auto ends = numbers(node, "ends", 2);
  if (!starts || !ends) return std::nullopt;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> steps(starts->size(), 1);
  for (std::size_t i = 0; i < starts->size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  for (auto& [list, name, place] : {std::tuple(&axes, "axes", 3), std::tuple(&steps, "steps", 4)}) {
    const auto given = numbers(node, name, static_cast<std::size_t>(place));
    if (given) *list = *given;
    if (!given && has_input(node, static_cast<std::size_t>(place))) return std::nullopt;
  }
  if (ends->size() != starts->size() || axes.size() != starts->size() ||
      steps.size() != starts->size()) {
    throw fail(node, "starts", std::to_string(starts->size()) + " numbers",
               "as many starts, ends, axes and steps");
  }
  for (std::size_t i = 0; i < starts->size(); ++i) {
    std::uint64_t& size = out[axis(node, axes[i], out.size())];
    const auto length = static_cast<std::int64_t>(size);
    const std::int64_t step = steps[i];
    if (step == 0 || step == INT64_MIN) throw fail(node, "steps", std::to_string(step), "not 0");
    const auto place = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
      return std::clamp<std::int64_t>(at < 0 ? at + length : at, low, high);
    };
    const std::int64_t from = place((*starts)[i], 0, step > 0 ? length : length - 1);
    const std::int64_t to =
        (*ends)[i] < -length ? (step > 0 ? 0 : -1) : place((*ends)[i], step > 0 ? 0 : -1, length);
    const std::int64_t span = step > 0 ? to - from : from - to;
    const std::uint64_t stride = static_cast<std::uint64_t>(step > 0 ? step : -step);
    size = span <= 0 ? 0 : ceil_div(static_cast<std::uint64_t>(span), stride);
  }
  return out;
}

OnnxShapes::Shape OnnxShapes::resize(const OnnxNode& node) const {
  const Dims& in = input(node, 0).dims;
  const bool old = node.op == "Upsample" || (model_.opset != 0 && model_.opset < 11);
  const std::size_t sizes_at = 3;
  const std::size_t scales_at = old ? 1 : 2;
  if (has_input(node, sizes_at)) {
    const auto sizes = numbers(node, "sizes", sizes_at);
    if (!sizes) return std::nullopt;
    Dims out;
    for (const std::int64_t size : *sizes) out.push_back(unsigned_size(size));
    if (out.size() != in.size()) throw fail(node, "sizes", dims_text(out), "a size for each axis");
    return out;
  }
  std::vector<double> scales;
  if (node.has("scales")) {
    scales = node.attributes.at("scales").floats;
  } else {
    if (!has_input(node, scales_at) || !input(node, scales_at).values) return std::nullopt;
    scales = *input(node, scales_at).values;
  }
  if (scales.size() != in.size()) {
    throw fail(node, "scales", std::to_string(scales.size()) + " numbers",
               "one for each axis of " + dims_text(in));
  }
  Dims out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!(scales[i] > 0.0) || scales[i] > 1e6) {
      throw fail(node, "scales", std::to_string(scales[i]), "above 0, up to 1000000");
    }
    out.push_back(unsigned_size(whole(std::floor(static_cast<double>(in[i]) * scales[i]))));
  }
  return out;
}

OnnxShapes::Shape OnnxShapes::pad(const OnnxNode& node) const {
  Dims out = input(node, 0).dims;
  const auto pads = numbers(node, "pads", 1);
  if (!pads || has_input(node, 3)) return std::nullopt;
  if (pads->size() != 2 * out.size()) {
    throw fail(node, "pads", std::to_string(pads->size()) + " numbers",
               "two for each axis of " + dims_text(out));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::int64_t size = static_cast<std::int64_t>(out[i]);
    for (const std::int64_t p : {(*pads)[i], (*pads)[i + out.size()]}) {
      if (p < -(std::int64_t{1} << 40) || p > (std::int64_t{1} << 40)) {
        throw fail(node, "pads", std::to_string(p), "up to 2^40");
      }
      size += p;
    }
    if (size < 0) throw fail(node, "pads", std::to_string(size), "a size of 0 or more");
    out[i] = static_cast<std::uint64_t>(size);
  }
  return out;
}

OnnxShapes::Shape OnnxShapes::squeeze(const OnnxNode& node) const {
  const Dims& in = input(node, 0).dims;
  const auto axes = numbers(node, "axes", 1);
  if (!axes && has_input(node, 1)) return std::nullopt;
  std::vector<bool> gone(in.size(), false);
  for (std::size_t i = 0; i < in.size() && !axes; ++i) gone[i] = in[i] == 1;
  for (const std::int64_t a : axes.value_or(std::vector<std::int64_t>{})) {
    const std::size_t at = axis(node, a, in.size());
    if (in[at] != 1) throw fail(node, "axes", std::to_string(a), "an axis of size 1");
    gone[at] = true;
  }
  Dims out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!gone[i]) out.push_back(in[i]);
  }
  return out;
}

OnnxShapes::Shape OnnxShapes::unsqueeze(const OnnxNode& node) const {
  const Dims& in = input(node, 0).dims;
  const auto axes = numbers(node, "axes", 1);
  if (!axes) return std::nullopt;
  const std::size_t rank = in.size() + axes->size();
  if (rank > 32) throw fail(node, "axes", std::to_string(axes->size()), "at most 32 dimensions");
  std::vector<bool> fresh(rank, false);
  for (const std::int64_t a : *axes) {
    const std::size_t at = axis(node, a, rank);
    if (fresh[at]) throw fail(node, "axes", "an axis twice", "each once");
    fresh[at] = true;
  }
  Dims out;
  std::size_t from = 0;
  for (std::size_t i = 0; i < rank; ++i) out.push_back(fresh[i] ? 1 : in[from++]);
  return out;
}

OnnxShapes::Shape OnnxShapes::expand(const OnnxNode& node) const {
  const bool filled = node.op == "ConstantOfShape";
  const auto sizes = filled ? std::optional<std::vector<std::int64_t>>() : numbers(node, "", 1);
  const TensorInfo& first = input(node, 0);
  if (filled ? !first.values : !sizes) return std::nullopt;
  Dims wanted;
  if (filled) {
    for (const double v : *first.values) wanted.push_back(unsigned_size(whole(v)));
  } else {
    for (const std::int64_t v : *sizes) wanted.push_back(unsigned_size(v));
  }
  if (wanted.size() > 32) throw fail(node, "shape", "more dimensions", "at most 32");
  if (filled) return wanted;
  Dims out = first.dims;
  if (node.op == "Tile") {
    if (wanted.size() != out.size()) throw fail(node, "repeats", dims_text(wanted), "one per axis");
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = checked_mul(out[i], wanted[i], "size");
    return out;
  }
  if (wanted.size() > out.size()) out.insert(out.begin(), wanted.size() - out.size(), 1);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    std::uint64_t& size = out[out.size() - 1 - k];
    const std::uint64_t to = wanted[wanted.size() - 1 - k];
    if (size == 1) {
      size = to;
    } else if (to != 1 && to != size) {
      throw fail(node, "shape", dims_text(wanted), "one that " + dims_text(first.dims) + " fits");
    }
  }
  return out;
}

OnnxShapes::Shape OnnxShapes::range(const OnnxNode& node) const {
  std::vector<double> v;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!input(node, i).values || input(node, i).values->size() != 1) return std::nullopt;
    v.push_back(input(node, i).values->front());
  }
  const double steps = std::ceil((v[1] - v[0]) / v[2]);
  return Dims{std::isfinite(steps) ? unsigned_size(whole(steps)) : 0};
}

void OnnxShapes::split(const OnnxNode& node) {
  const TensorInfo data = input(node, 0);
  if (!has_input(node, 0) || node.outputs.empty()) throw fail(node, "inputs", "none", "a tensor");
  const std::size_t at = axis(node, node.integer("axis", 0), data.dims.size());
  auto parts = numbers(node, "split", 1);
  TensorInfo info;
  info.constant = data.constant;
  if (!parts && has_input(node, 1)) {
    info.unknown = "the sizes of Split '" + node.name + "' are computed";
    finish(node, info);
    return;
  }
  const std::uint64_t size = data.dims[at];
  if (!parts) {
    const std::uint64_t each = ceil_div(size, node.outputs.size());
    parts.emplace();
    for (std::uint64_t i = 0, done = 0; i < node.outputs.size(); ++i) {
      parts->push_back(static_cast<std::int64_t>(std::min(each, size - done)));
      done += static_cast<std::uint64_t>(parts->back());
    }
  }
  std::uint64_t sum = 0;
  for (const std::int64_t part : *parts) sum = checked_add(sum, unsigned_size(part), "split");
  if (parts->size() != node.outputs.size() || sum != size) {
    throw fail(node, "split", std::to_string(parts->size()) + " parts, " + std::to_string(sum),
               std::to_string(node.outputs.size()) + " parts of " + std::to_string(size));
  }
  info.known = true;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    info.dims = data.dims;
    info.dims[at] = unsigned_size((*parts)[i]);
    info.values.reset();
    if (data.values && data.dims.size() == 1) {
      std::size_t from = 0;
      for (std::size_t k = 0; k < i; ++k) from += unsigned_size((*parts)[k]);
      const auto begin = data.values->begin() + static_cast<std::ptrdiff_t>(from);
      info.values.emplace(begin, begin + (*parts)[i]);
      info.integer = data.integer;
    }
    if (!node.outputs[i].empty()) tensors_[node.outputs[i]] = info;
  }
}

void OnnxShapes::recurrent(const OnnxNode& node) {
  const Dims x = input(node, 0).dims;
  const Dims w = input(node, 1).dims;
  const Dims r = input(node, 2).dims;
  const std::uint64_t gates = node.op == "LSTM" ? 4 : node.op == "GRU" ? 3 : 1;
  const std::uint64_t directions = node.text("direction", "forward") == "bidirectional" ? 2 : 1;
  const bool fits = x.size() == 3 && w.size() == 3 && r.size() == 3 && r[0] == directions &&
                    w[0] == directions && w[1] == r[1] && w[2] == x[2] && r[2] <= kMaxSize / 4 &&
                    r[1] == gates * r[2] && r[2] > 0;
  if (!fits) {
    throw fail(node, "inputs", dims_text(x) + ", W " + dims_text(w) + ", R " + dims_text(r),
               "X [steps, batch, input], W [directions, gates * hidden, input], R "
               "[directions, gates * hidden, hidden]");
  }
  const bool batch_first = node.integer("layout", 0) != 0;
  const std::uint64_t steps = batch_first ? x[1] : x[0];
  const std::uint64_t batch = batch_first ? x[0] : x[1];
  TensorInfo info;
  info.known = true;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (batch_first) {
      info.dims = i == 0 ? Dims{batch, steps, directions, r[2]} : Dims{batch, directions, r[2]};
    } else {
      info.dims = i == 0 ? Dims{steps, directions, batch, r[2]} : Dims{directions, batch, r[2]};
    }
    (void)info.elements();
    tensors_[node.outputs[i]] = info;
  }
}

}  // namespace bitcycle
