// ONNX operators that are GEMM work: convolutions, matrix products, recurrent layers, look-ups.
#include <algorithm>

#include "golden/checked.hpp"
#include "workloads/onnx_builder.hpp"

namespace bitcycle {
namespace {

void set_window(std::map<std::string, std::uint64_t>& numbers, const OnnxShapes::Window& w) {
  // One spatial axis is a height.
  const bool flat = w.kernel.size() == 1;
  const auto pair = [&](const char* name, const std::vector<std::uint64_t>& values,
                        std::uint64_t standard) {
    const std::uint64_t h = values[0];
    const std::uint64_t v = flat ? standard : values[1];
    if (h == v) {
      if (h != standard || std::string(name) == "kernel") numbers[name] = h;
      return;
    }
    numbers[std::string(name) + "_h"] = h;
    numbers[std::string(name) + "_w"] = v;
  };
  pair("kernel", w.kernel, 1);
  pair("stride", w.stride, 1);
  pair("dilation", w.dilation, 1);
}

void set_padding(std::map<std::string, std::uint64_t>& numbers, std::uint64_t top,
                 std::uint64_t left, std::uint64_t bottom, std::uint64_t right) {
  if (top == bottom && left == right) {
    if (top == left) {
      if (top != 0) numbers["padding"] = top;
    } else {
      numbers["padding_h"] = top;
      numbers["padding_w"] = left;
    }
    return;
  }
  numbers["padding_top"] = top;
  numbers["padding_left"] = left;
  numbers["padding_bottom"] = bottom;
  numbers["padding_right"] = right;
}

}  // namespace

bool OnnxBuilder::add_layer(const OnnxNode& node) {
  const std::string& op = node.op;
  if (op == "Conv" || op == "ConvTranspose") {
    convolution(node);
  } else if (op == "MaxPool" || op == "AveragePool") {
    pool(node);
    count(node, Fate::kVector);
    return true;
  } else if (op == "MatMul") {
    matmul(node);
  } else if (op == "Gemm") {
    gemm(node);
  } else if (op == "LSTM" || op == "GRU" || op == "RNN") {
    recurrent(node);
  } else if (op == "Gather" && shapes_.input(node, 0).constant) {
    gather(node);
    count(node, Fate::kVector);
    return true;
  } else {
    return false;
  }
  count(node, Fate::kLayer);
  return true;
}

void OnnxBuilder::convolution(const OnnxNode& node) {
  const bool transposed = node.op == "ConvTranspose";
  const Dims& w = shapes_.input(node, 1).dims;
  Dims x = shapes_.input(node, 0).dims;
  if (!shapes_.input(node, 1).constant) {
    throw shapes_.fail(node, "weights", "a computed tensor", "weights of the model");
  }
  if (x.size() > 4) {
    throw shapes_.fail(node, "input", std::to_string(x.size() - 2) + " spatial axes", "1 or 2");
  }
  if (x[0] != batch_) {
    throw shapes_.fail(node, "input", dims_text(x),
                       "the batch, " + std::to_string(batch_) + ", as its first size");
  }
  std::string source = node.inputs[0];
  const auto padded = padded_.find(source);
  Padded extra;
  // A transposed convolution spreads its input: padding it is another operation.
  if (padded != padded_.end() && !transposed) {
    extra = padded->second;
    source = extra.source;
  }
  const Dims whole(x.begin() + 2, x.end());
  OnnxShapes::Window win = shapes_.window(node, whole, Dims(w.begin() + 2, w.end()), transposed);
  x = shapes_.of(source).dims;
  const bool flat = x.size() == 3;
  if (flat) {
    win.begin.push_back(0);
    win.end.push_back(0);
  }
  const Dims& out = shapes_.of(node.outputs[0]).dims;
  Numbers numbers = {{"channels", out[1]}};
  set_window(numbers, win);
  const std::uint64_t groups = static_cast<std::uint64_t>(node.integer("group", 1));
  if (groups != 1) numbers["groups"] = groups;
  numbers["bias"] = shapes_.has_input(node, 2) ? 1 : 0;
  const Shape in_shape = {x[1], x[2], flat ? 1 : x[3]};
  const Shape out_shape = {out[1], out[2], flat ? 1 : out[3]};
  if (transposed) {
    // Padding and output padding follow from the output's size, which output_shape may set.
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const std::uint64_t full =
          (whole[i] - 1) * win.stride[i] + win.dilation[i] * (win.kernel[i] - 1) + 1;
      const std::uint64_t pads = win.begin[i] + win.end[i];
      const std::uint64_t size = out[2 + i];
      std::uint64_t more = size + pads >= full ? size + pads - full : win.stride[i];
      if (more >= win.stride[i]) {
        const std::uint64_t all = full > size ? full - size : 0;
        win.begin[i] = all / 2;
        win.end[i] = all - all / 2;
        more = size > full ? size - full : 0;
      }
      if (more != 0) numbers[i == 0 ? "output_padding_h" : "output_padding_w"] = more;
    }
  }
  set_padding(numbers, win.begin[0] + extra.top, win.begin[1] + extra.left,
              win.end[0] + extra.bottom, win.end[1] + extra.right);
  const Active in = as(of(source), in_shape, node);
  bind(node, emit(node, transposed ? Op::kConvTranspose : Op::kConv, {in}, out_shape, numbers));
  share_weights(node, 1);
}

void OnnxBuilder::pool(const OnnxNode& node) {
  std::string source = node.inputs[0];
  const Dims whole = shapes_.of(source).dims;
  if (whole.size() > 4 || whole[0] != batch_) {
    throw shapes_.fail(node, "input", dims_text(whole), "batch, channels, and 1 or 2 axes");
  }
  Padded extra;
  const auto padded = padded_.find(source);
  if (padded != padded_.end()) {
    extra = padded->second;
    source = extra.source;
  }
  Dims kernel;
  for (const std::int64_t k : node.integers("kernel_shape")) {
    kernel.push_back(static_cast<std::uint64_t>(k));
  }
  OnnxShapes::Window win =
      shapes_.window(node, Dims(whole.begin() + 2, whole.end()), kernel, false);
  const Dims& out = shapes_.of(node.outputs[0]).dims;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (win.dilation[i] != 1) {
      throw shapes_.fail(node, "dilations", std::to_string(win.dilation[i]), "1");
    }
    // ceil_mode: the last window hangs over by what is missing.
    const std::uint64_t reach = (out[2 + i] - 1) * win.stride[i] + kernel[i];
    const std::uint64_t size = whole[2 + i] + win.begin[i] + win.end[i];
    if (reach > size) win.end[i] += reach - size;
  }
  const Dims& x = shapes_.of(source).dims;
  const bool flat = x.size() == 3;
  if (flat) {
    win.begin.push_back(0);
    win.end.push_back(0);
  }
  Numbers numbers;
  set_window(numbers, win);
  // A pooling strides by its kernel unless told otherwise; ONNX by 1.
  for (const char* name : {"dilation", "dilation_h", "dilation_w"}) numbers.erase(name);
  if (numbers.count("stride_h") == 0) {
    numbers["stride"] = win.stride[0];
  }
  set_padding(numbers, win.begin[0] + extra.top, win.begin[1] + extra.left,
              win.end[0] + extra.bottom, win.end[1] + extra.right);
  const Active in = as(of(source), {x[1], x[2], flat ? 1 : x[3]}, node);
  bind(node, emit(node, Op::kPool, {in}, {out[1], out[2], flat ? 1 : out[3]}, numbers,
                  node.op == "MaxPool" ? "max" : "average"));
}

// Activations times weights: rows of one sample, each a vector of `in`.
void OnnxBuilder::dense(const OnnxNode& node, std::size_t weight, std::uint64_t in,
                        std::uint64_t out, bool bias) {
  const std::string& tensor = node.inputs[1 - weight];
  Active x = of(tensor);
  const std::uint64_t elements = x.shape.elements();
  if (in == 0 || elements % in != 0) {
    throw shapes_.fail(node, "input", dims_text(shapes_.of(tensor).dims),
                       "whole rows per sample (is axis " + std::to_string(options_.batch_axis) +
                           " the batch? --batch-axis)");
  }
  if (x.shape.channels != in) x = as(x, {in, elements / in, 1}, node);
  bind(node, emit(node, Op::kDense, {x}, {out, x.shape.height, x.shape.width},
                  {{"channels", out}, {"bias", bias ? 1U : 0U}}));
  share_weights(node, weight);
  if (!bias) unbiased_[node.outputs[0]] = graph.nodes.size() - 1;
}

void OnnxBuilder::matmul(const OnnxNode& node) {
  const TensorInfo& a = shapes_.input(node, 0);
  const TensorInfo& b = shapes_.input(node, 1);
  if (!a.constant && !b.constant) {
    product(node);
    return;
  }
  const std::size_t weight = b.constant ? 1 : 0;
  const Dims& w = weight == 1 ? b.dims : a.dims;
  for (std::size_t i = 0; i + 2 < w.size(); ++i) {
    if (w[i] != 1) {
      throw shapes_.fail(node, "weights", dims_text(w),
                         "one matrix (not one for each batch entry)");
    }
  }
  const std::uint64_t last = w.back();
  const std::uint64_t before = w.size() < 2 ? 1 : w[w.size() - 2];
  if (weight == 1) {
    dense(node, 1, w.size() < 2 ? last : before, w.size() < 2 ? 1 : last, false);
  } else {
    dense(node, 0, last, before, false);
  }
}

// Two activations: one product per sample and head.
void OnnxBuilder::product(const OnnxNode& node) {
  const Dims& a = shapes_.input(node, 0).dims;
  const Dims& b = shapes_.input(node, 1).dims;
  const auto refuse = [&] {
    return shapes_.fail(
        node, "inputs", dims_text(a) + " and " + dims_text(b),
        "two batches of matrices with equal leading sizes, a multiple of the batch " +
            std::to_string(batch_));
  };
  if (a.size() < 2 || a.size() != b.size()) throw refuse();
  std::uint64_t heads = 1;
  for (std::size_t i = 0; i + 2 < a.size(); ++i) {
    if (a[i] != b[i]) throw refuse();
    heads = checked_mul(heads, a[i], "heads");
  }
  if (heads % batch_ != 0) throw refuse();
  heads /= batch_;
  const std::uint64_t m = a[a.size() - 2];
  const std::uint64_t k = a.back();
  const std::uint64_t n = b.back();
  const Shape left = {checked_mul(heads, k, "heads * K"), m, 1};
  const Shape right_nt = {left.channels, n, 1};
  const Shape right_nn = {checked_mul(heads, n, "heads * N"), k, 1};
  const Active in_a = of(node.inputs[0]);
  const Active in_b = of(node.inputs[1]);
  const bool nt = in_b.swapped || (in_b.shape == right_nt && in_b.shape != right_nn);
  const Active x = as(in_a, left, node);
  const Active y = as(in_b, nt ? right_nt : right_nn, node);
  Numbers numbers;
  if (heads != 1) numbers["heads"] = heads;
  bind(node, emit(node, Op::kMatmul, {x, y}, {right_nn.channels, m, 1}, numbers, nt ? "nt" : "nn"));
}

void OnnxBuilder::gemm(const OnnxNode& node) {
  const TensorInfo& a = shapes_.input(node, 0);
  const TensorInfo& b = shapes_.input(node, 1);
  const bool ta = node.integer("transA", 0) != 0;
  const bool tb = node.integer("transB", 0) != 0;
  if (!b.constant || a.constant || (ta && batch_ != 1)) {
    throw shapes_.fail(node, "inputs", dims_text(a.dims) + " and " + dims_text(b.dims),
                       "rows of activations times constant weights");
  }
  dense(node, 1, b.dims[tb ? 1 : 0], b.dims[tb ? 0 : 1], shapes_.has_input(node, 2));
}

// PyTorch writes a linear layer on sequences as MatMul and Add.
bool OnnxBuilder::fuse_bias(const OnnxNode& node) {
  if (node.op != "Add" || node.inputs.size() != 2) return false;
  const std::size_t at = is_active(node.inputs[0]) ? 0 : 1;
  const std::string& tensor = node.inputs[at];
  const auto found = unbiased_.find(tensor);
  if (found == unbiased_.end() || outputs_.count(tensor) != 0 || readers_[tensor].size() != 1) {
    return false;
  }
  const TensorInfo& bias = shapes_.input(node, 1 - at);
  Node& layer = graph.nodes[found->second];
  if (!bias.constant || bias.elements() != layer.numbers["channels"] || bias.dims.empty() ||
      bias.dims.back() != bias.elements()) {
    return false;
  }
  layer.numbers["bias"] = 1;
  bind(node, of(tensor));
  ++fates[{Fate::kVector, "Add (bias of a layer)"}];
  return true;
}

void OnnxBuilder::recurrent(const OnnxNode& node) {
  const Dims& x = shapes_.input(node, 0).dims;
  const Dims& r = shapes_.input(node, 2).dims;
  const bool batch_first = node.integer("layout", 0) != 0;
  const std::uint64_t batch = x[batch_first ? 0 : 1];
  const std::uint64_t steps = x[batch_first ? 1 : 0];
  if (batch != batch_) {
    throw shapes_.fail(node, "batch", std::to_string(batch),
                       std::to_string(batch_) + ", as axis " + std::to_string(options_.batch_axis) +
                           " of the inputs says (--batch-axis for models with time first)");
  }
  if (!shapes_.input(node, 1).constant || !shapes_.input(node, 2).constant) {
    throw shapes_.fail(node, "weights", "a computed tensor", "weights of the model");
  }
  const Active in = as(of(node.inputs[0]), {x[2], steps, 1}, node);
  const std::string kind = node.op == "LSTM" ? "lstm" : node.op == "GRU" ? "gru" : "rnn";
  const std::uint64_t bias = shapes_.has_input(node, 3) ? 2 : 0;  // one each for W and R
  const Numbers numbers = {{"channels", r[2]}, {"bias", bias}};
  const Shape shape = {r[2], steps, 1};
  Active out;
  if (r[0] == 1) {
    out = emit(node, Op::kRecurrent, {in}, shape, numbers, kind);
  } else {
    const Active forward = emit(node, Op::kRecurrent, {in}, shape, numbers, kind, ".forward");
    const Active reverse = emit(node, Op::kRecurrent, {in}, shape, numbers, kind, ".reverse");
    out =
        emit(node, Op::kConcat, {forward, reverse}, {2 * r[2], steps, 1}, {}, "channels", ".both");
  }
  bind(node, out);
  // The last state, and an LSTM's cell.
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty() || readers_.count(node.outputs[i]) == 0) continue;
    bind(node, cut(out, {out.shape.channels, 1, 1}, node), i);
  }
}

// A table that is looked up: an embedding.
void OnnxBuilder::gather(const OnnxNode& node) {
  const Dims& table = shapes_.input(node, 0).dims;
  const Shape out = shape_of(shapes_.of(node.outputs[0]).dims, node);
  const std::size_t axis = shapes_.axis(node, node.integer("axis", 0), table.size());
  const std::uint64_t vocabulary = table[axis];
  if (vocabulary == 0) throw shapes_.fail(node, "table", dims_text(table), "entries");
  const std::uint64_t width = shapes_.input(node, 0).elements() / vocabulary;
  const Active indices = of(node.inputs[1]);
  const std::uint64_t count = indices.shape.elements();
  if (checked_mul(count, width, "embedding") != out.elements()) {
    throw shapes_.fail(node, "indices", to_string(indices.shape), "indices of each sample");
  }
  const Active in = as(indices, {1, count, 1}, node);
  bind(node, emit(node, Op::kEmbedding, {in}, {width, count, 1},
                  {{"channels", width}, {"vocabulary", vocabulary}}));
  share_weights(node, 0);
}

}  // namespace bitcycle
