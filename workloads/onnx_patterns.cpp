// Operators that exporters spell as several: LayerNorm and GELU, as PyTorch writes them for
// operator sets without them.
#include <cmath>

#include "workloads/onnx_builder.hpp"

namespace bitcycle {

// The one reader of a tensor, if it has this operator and the tensor is no result of the model.
const OnnxNode* OnnxBuilder::only_reader(const std::string& tensor, const char* op) const {
  const auto readers = readers_.find(tensor);
  if (readers == readers_.end() || readers->second.size() != 1 || outputs_.count(tensor) != 0) {
    return nullptr;
  }
  const OnnxNode& node = model_.nodes[readers->second.front()];
  return node.op == op && node.domain.empty() && !node.outputs.empty() ? &node : nullptr;
}

// Whether the operand beside `other` is constant.
bool OnnxBuilder::constant_operand(const OnnxNode& node, const std::string& other) const {
  if (node.inputs.size() != 2) return false;
  const std::size_t place = node.inputs[0] == other ? 1 : 0;
  return shapes_.input(node, place).constant;
}

void OnnxBuilder::take(const OnnxNode& node) {
  taken_[static_cast<std::size_t>(&node - model_.nodes.data())] = true;
}

// x - mean(x), divided by sqrt(mean(its square) + eps), times gamma, plus beta.
bool OnnxBuilder::layer_norm_pattern(std::size_t index) {
  const OnnxNode& mean = model_.nodes[index];
  if (mean.op != "ReduceMean" || mean.inputs.empty() || mean.outputs.empty()) return false;
  const std::string& x = mean.inputs[0];
  const auto axes = shapes_.numbers(mean, "axes", 1);
  const Dims& dims = shapes_.of(x).dims;
  const bool last =
      axes && axes->size() == 1 && !dims.empty() &&
      (axes->front() == -1 || axes->front() == static_cast<std::int64_t>(dims.size()) - 1);
  const OnnxNode* sub = only_reader(mean.outputs[0], "Sub");
  if (!last || sub == nullptr || sub->inputs.empty() || sub->inputs[0] != x) return false;

  const std::string& centred = sub->outputs[0];
  const auto readers = readers_.find(centred);
  if (readers == readers_.end() || outputs_.count(centred) != 0) return false;
  const OnnxNode* square = nullptr;
  const OnnxNode* div = nullptr;
  for (const std::size_t place : readers->second) {
    const OnnxNode& node = model_.nodes[place];
    if (node.op == "Pow" || (node.op == "Mul" && node.inputs.size() == 2 &&
                             node.inputs[0] == centred && node.inputs[1] == centred)) {
      square = &node;
    } else if (node.op == "Div" && !node.inputs.empty() && node.inputs[0] == centred) {
      div = &node;
    } else {
      return false;
    }
  }
  if (square == nullptr || div == nullptr || square->outputs.empty()) return false;
  const OnnxNode* variance = only_reader(square->outputs[0], "ReduceMean");
  const OnnxNode* add = variance ? only_reader(variance->outputs[0], "Add") : nullptr;
  const OnnxNode* root = add ? only_reader(add->outputs[0], "Sqrt") : nullptr;
  if (root == nullptr || only_reader(root->outputs[0], "Div") != div) return false;

  const OnnxNode* end = div;
  const OnnxNode* gamma = only_reader(div->outputs[0], "Mul");
  if (gamma != nullptr && constant_operand(*gamma, div->outputs[0])) {
    end = gamma;
    const OnnxNode* beta = only_reader(gamma->outputs[0], "Add");
    if (beta != nullptr && constant_operand(*beta, gamma->outputs[0])) {
      take(*beta);
      end = beta;
    }
    take(*gamma);
  }
  for (const OnnxNode* node : {&mean, sub, square, div, variance, add, root}) take(*node);
  Active in = of(x);
  if (in.shape.channels != dims.back()) {
    in = as(in, {dims.back(), in.shape.elements() / dims.back(), 1}, mean);
  }
  active_[end->outputs[0]] = emit(mean, Op::kLayerNorm, {in}, in.shape);
  ++fates[{Fate::kVector, "LayerNorm (several operators)"}];
  return true;
}

// x / sqrt(2), erf, plus 1, times x, times a half; the last two in either order.
bool OnnxBuilder::gelu_pattern(std::size_t index) {
  const OnnxNode& scale = model_.nodes[index];
  if ((scale.op != "Div" && scale.op != "Mul") || scale.inputs.size() != 2 ||
      scale.outputs.empty()) {
    return false;
  }
  const std::size_t place = is_active(scale.inputs[0]) ? 0 : 1;
  const std::string& x = scale.inputs[place];
  if (!constant_operand(scale, x)) return false;
  const OnnxNode* erf = only_reader(scale.outputs[0], "Erf");
  const OnnxNode* add = erf ? only_reader(erf->outputs[0], "Add") : nullptr;
  if (add == nullptr || !constant_operand(*add, erf->outputs[0])) return false;
  const OnnxNode* first = only_reader(add->outputs[0], "Mul");
  if (first == nullptr || first->inputs.size() != 2) return false;
  const OnnxNode* second = only_reader(first->outputs[0], "Mul");
  const std::size_t other = first->inputs[0] == add->outputs[0] ? 1 : 0;
  const OnnxNode* half = nullptr;  // x * 0.5 before
  if (first->inputs[other] == x) {
    if (second == nullptr || !constant_operand(*second, first->outputs[0])) return false;
  } else {
    for (const std::size_t reader : readers_[x]) {
      const OnnxNode& node = model_.nodes[reader];
      if (node.op == "Mul" && !node.outputs.empty() && node.outputs[0] == first->inputs[other] &&
          constant_operand(node, x)) {
        half = &node;
      }
    }
    const std::size_t at = half ? static_cast<std::size_t>(half - model_.nodes.data()) : 0;
    if (half == nullptr || taken_[at] || only_reader(half->outputs[0], "Mul") != first ||
        is_active(half->outputs[0])) {
      return false;
    }
    second = nullptr;
  }
  for (const OnnxNode* node : {&scale, erf, add, first}) take(*node);
  if (second != nullptr) take(*second);
  if (half != nullptr) take(*half);
  const OnnxNode& end = second != nullptr ? *second : *first;
  const Active in = of(x);
  OnnxNode named = *erf;
  const std::size_t at = named.name.rfind("Erf");
  if (at != std::string::npos) named.name.replace(at, 3, "gelu");
  active_[end.outputs[0]] = emit(named, Op::kActivation, {in}, in.shape, {}, "gelu");
  ++fates[{Fate::kVector, "GELU (several operators)"}];
  return true;
}

}  // namespace bitcycle
