// FP32 work of a node. The operation counts follow from the usual training formulas; each VectorOp
// states its own as text. An exp, division or square root counts as one operation.
#include <algorithm>
#include <array>
#include <string>

#include "golden/checked.hpp"
#include "workloads/graph_layers.hpp"

namespace bitcycle {
namespace {

// Operations per output element.
struct PerElement {
  const char* name;
  std::uint64_t forward, backward;
  const char* rule;
};

constexpr std::array<PerElement, 11> kActivations = {{
    {"relu", 1, 1, "one comparison; the gradient is masked"},
    {"relu6", 2, 2, "two comparisons; the gradient is masked twice"},
    {"leaky-relu", 2, 2, "comparison and product; the same for the gradient"},
    {"sigmoid", 4, 3, "negation, exp, sum, division; backward y*(1-y)*g"},
    {"tanh", 5, 3, "two sums, product, exp, division; backward (1-y*y)*g"},
    {"gelu", 13, 14, "tanh form: 8 and a tanh of 5; backward 14"},
    {"silu", 5, 5, "sigmoid of 4 and a product; backward s*(1+x*(1-s))*g"},
    {"hard-sigmoid", 4, 1, "sum, product, two comparisons; the gradient is masked"},
    {"hard-swish", 5, 5, "sum, two comparisons, two products; the same for the gradient"},
    {"dropout", 1, 1, "product with a mask; random numbers are not counted"},
    {"identity", 0, 0, "no work"},
}};

constexpr std::array<PerElement, 4> kLosses = {{
    {"cross-entropy", 5, 2, "maximum, difference, exp, sum, log; backward p - target, scaled"},
    {"mse", 3, 2, "difference, square, sum; backward difference, scaled"},
    {"focal", 12, 10, "sigmoid of 4 and 8 for the weighted logarithm; backward 10"},
    {"smooth-l1", 4, 3, "difference, comparison, square, sum; backward 3"},
}};

constexpr std::array<PerElement, 3> kCells = {{
    {"lstm", 30, 22,
     "of one unit and step: sums of gates 4, sigmoids 12, tanh 10, products 4; backward 22"},
    {"gru", 21, 19, "of one unit and step: sigmoids 8, tanh 5, sums and products 8; backward 19"},
    {"rnn", 6, 3, "of one unit and step: sum 1, tanh 5; backward 3"},
}};

const PerElement* per_element(const Node& node) {
  static constexpr PerElement kBatchNorm = {
      "batch-norm", 5, 9,
      "sum 1, square and sum 2, scale and shift 2; backward two sums 5, combination 4"};
  static constexpr PerElement kLayerNorm = {
      "layer-norm", 7, 13,
      "sum 1, square and sum 2, normalise 2, scale and shift 2; backward products with gamma 1, "
      "sums 8, combination 4"};
  static constexpr PerElement kRmsNorm = {"rms-norm", 4, 9,
                                          "square and sum 2, normalise 1, scale 1; backward 9"};
  static constexpr PerElement kSoftmax = {
      "softmax", 5, 4, "maximum, difference, exp, sum, division; backward product, sum, y*(g-sum)"};
  static constexpr PerElement kUpsample = {"upsample", 0, 1,
                                           "copies; backward one sum per output element"};
  const auto find = [&node](const auto& table) {
    for (const PerElement& entry : table) {
      if (node.kind == entry.name) return &entry;
    }
    return &table[0];
  };
  switch (node.op) {
    case Op::kBatchNorm:
      return &kBatchNorm;
    case Op::kLayerNorm:
    case Op::kGroupNorm:
      return &kLayerNorm;
    case Op::kRmsNorm:
      return &kRmsNorm;
    case Op::kSoftmax:
      return &kSoftmax;
    case Op::kUpsample:
      return &kUpsample;
    case Op::kActivation:
      return find(kActivations);
    case Op::kLoss:
      return find(kLosses);
    case Op::kRecurrent:
      return find(kCells);
    default:
      return nullptr;
  }
}

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return checked_mul(a, b, "vector operations");
}

std::uint64_t elements(const std::vector<Shape>& inputs) {
  std::uint64_t sum = 0;
  for (const Shape& shape : inputs) sum = checked_add(sum, shape.elements(), "elements");
  return sum;
}

void count(VectorOp& op, std::uint64_t elements, std::uint64_t forward, std::uint64_t backward) {
  op.forward_ops = times(elements, forward);
  op.backward_ops = times(elements, backward);
}

void move_backward(VectorOp& op, std::uint64_t in, std::uint64_t out) {
  op.backward_in = in;
  op.backward_out = out;
}

void pool(const Node& node, VectorOp& op, const Shape& in) {
  const bool whole = node.op == Op::kGlobalPool;
  const bool average = node.kind.empty() ? whole : node.kind == "average";
  const std::uint64_t window = whole ? times(in.height, in.width)
                                     : times(node.number("kernel_h", node.number("kernel", 1)),
                                             node.number("kernel_w", node.number("kernel", 1)));
  op.op = average ? "average-pool" : "max-pool";
  count(op, op.elements_out, average ? window : window - 1, average ? window : 1);
  op.rule = average ? "one sum per element of a window, one product less a sum; backward the same"
                    : "window - 1 comparisons; backward one sum per output element";
  if (!average) op.indices = op.elements_out;
  move_backward(op, op.elements_out, op.elements_in);  // the window or its arg max is known
}

void spmm(const Node& node, VectorOp& op, const Shape& in) {
  const std::uint64_t edges = node.number("edges", 0);
  const std::uint64_t products = times(edges, in.channels);
  const bool weighted = node.kind.empty() || node.kind == "weighted";
  op.forward_ops = times(products, weighted ? 2 : 1);
  if (node.kind == "mean") {
    op.forward_ops = checked_add(op.forward_ops, op.elements_out, "vector operations");
  }
  op.backward_ops = op.forward_ops;
  op.elements_in = products;  // a row is read for every edge: no reuse is promised
  op.indices = times(edges, 2);
  move_backward(op, products, in.elements());
  op.rule = weighted ? "product and sum per edge and channel; backward the transposed matrix"
                     : "sum per edge and channel; backward the transposed matrix";
}

// Fills everything but the name. False if the node has no vector work.
bool fill(const Node& node, const std::vector<Shape>& inputs, const Shape& output, VectorOp& op) {
  op.op = to_string(node.op);
  op.elements_in = elements(inputs);
  op.elements_out = output.elements();
  if (const PerElement* entry = per_element(node)) {
    op.rule = entry->rule;
    if (node.op == Op::kActivation || node.op == Op::kRecurrent) op.op = entry->name;
    count(op, node.op == Op::kLoss ? op.elements_in : op.elements_out, entry->forward,
          entry->backward);
  }
  switch (node.op) {
    case Op::kBatchNorm:
    case Op::kLayerNorm:
    case Op::kGroupNorm:
      op.parameters = times(output.channels, 2);
      return true;
    case Op::kRmsNorm:
      op.parameters = output.channels;
      return true;
    case Op::kActivation:
      if (op.op == "dropout") {
        op.indices = op.elements_out;
        move_backward(op, op.elements_out, op.elements_in);  // the mask is what was saved
      }
      return op.op != "identity";
    case Op::kSoftmax:
    case Op::kLoss:
      return true;
    case Op::kUpsample:
      move_backward(op, op.elements_out, op.elements_in);
      return true;
    case Op::kRecurrent:
      // The gate sums of both products, and the state, come in.
      op.elements_in = times(op.elements_out, node.kind == "gru" ? 7 : node.kind == "rnn" ? 2 : 9);
      if (node.kind != "gru" && node.kind != "rnn") op.elements_out = times(op.elements_out, 2);
      return true;
    case Op::kPool:
    case Op::kGlobalPool:
      pool(node, op, inputs[0]);
      return true;
    case Op::kAdd:
    case Op::kMul: {
      const std::uint64_t more = inputs.size() - 1;
      const bool product = node.op == Op::kMul;
      count(op, op.elements_out, more, product ? 2 * more : 0);
      op.rule = product
                    ? "one product per further input; backward two"
                    : "one sum per further input; backward one per element for a broadcast input";
      if (product) return true;
      // The gradient is that of every input, as it is; for a broadcast input it is summed.
      std::uint64_t read = 0, written = 0;
      for (const Shape& shape : inputs) {
        if (shape.elements() == op.elements_out) continue;
        read = checked_add(read, op.elements_out, "vector operations");
        written = checked_add(written, shape.elements(), "vector operations");
      }
      op.backward_ops = read;
      move_backward(op, read, written);
      return true;
    }
    case Op::kSpmm:
      spmm(node, op, inputs[0]);
      return true;
    case Op::kElementwise: {
      const std::uint64_t forward = node.number("ops", 0);
      count(op, op.elements_out, forward, node.number("backward_ops", forward));
      op.rule = "as the network states";
      return true;
    }
    case Op::kEmbedding:
      op.elements_in = op.elements_out;  // rows of the table
      op.parameters =
          node.weights_of.empty() ? times(node.number("vocabulary", 0), output.channels) : 0;
      op.indices = inputs[0].elements();
      op.backward_ops = op.elements_out;
      op.sparse_parameters = true;
      move_backward(op, times(op.elements_out, 2),
                    op.elements_out);  // rows of the gradients' table
      op.rule = "a copy of one row per position; backward one sum per element";
      return true;
    case Op::kConcat:
      move_backward(op, op.elements_out, op.elements_in);
      op.rule = "a copy, if tensors do not lie side by side already";
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<std::string> activation_kinds() {
  std::vector<std::string> names;
  names.reserve(kActivations.size());
  for (const PerElement& entry : kActivations) names.emplace_back(entry.name);
  return names;
}

std::vector<VectorOp> node_vector_ops(const Node& node, const std::vector<Shape>& inputs,
                                      const Shape& output) {
  std::vector<VectorOp> out;
  const std::uint64_t biases = node.number("bias", 0);
  if (biases > 0) {
    VectorOp bias;
    bias.name = node.name + ".bias";
    bias.op = "bias";
    std::uint64_t width = 1;
    if (node.op == Op::kRecurrent) width = node.kind == "gru" ? 3 : node.kind == "rnn" ? 1 : 4;
    bias.elements_in = bias.elements_out = times(output.elements(), width);
    bias.parameters = node.weights_of.empty() ? times(times(output.channels, width), biases) : 0;
    count(bias, bias.elements_out, biases, biases);
    move_backward(bias, bias.elements_out, 0);  // the input's gradient is the output's
    bias.rule = "one sum per element and bias; backward the same";
    out.push_back(bias);
  }
  VectorOp op;
  if (fill(node, inputs, output, op)) {
    op.name = node.op == Op::kRecurrent ? node.name + ".cell" : node.name;
    out.push_back(op);
  }
  return out;
}

}  // namespace bitcycle
