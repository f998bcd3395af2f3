// Arithmetic on small constants: what exporters write to compute shapes.
#include <algorithm>
#include <cmath>

#include "golden/error.hpp"
#include "workloads/onnx_shapes.hpp"

namespace bitcycle {
namespace {

using Values = std::vector<double>;
using Inputs = std::vector<const TensorInfo*>;

std::size_t product(const Dims& dims) {
  std::size_t out = 1;
  for (const std::uint64_t dim : dims) {
    if (dim == 0) return 0;
    if (dim > kMostValues || out > kMostValues) return kMostValues + 1;
    out *= dim;
  }
  return out;
}

// Element of `info` that position `at` of a tensor of shape `dims` sees, numpy broadcasting.
double broadcast_value(const TensorInfo& info, const Dims& dims, std::size_t at) {
  std::size_t index = 0;
  std::size_t step = 1;
  for (std::size_t k = 0; k < info.dims.size(); ++k) {
    const std::uint64_t own = info.dims[info.dims.size() - 1 - k];
    const std::uint64_t size = dims[dims.size() - 1 - k];
    if (own > 1) index += at % size * step;
    at /= size;
    step *= own;
  }
  return index < info.values->size() ? (*info.values)[index] : 0.0;
}

std::optional<double> binary(const std::string& op, double a, double b, bool integer) {
  if (op == "Add" || op == "Sum") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return integer ? (b == 0.0 ? 0.0 : std::trunc(a / b)) : a / b;
  if (op == "Mod") return b == 0.0 ? 0.0 : a - b * std::floor(a / b);
  if (op == "Pow") return std::pow(a, b);
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Equal") return a == b ? 1.0 : 0.0;
  if (op == "Greater") return a > b ? 1.0 : 0.0;
  if (op == "GreaterOrEqual") return a >= b ? 1.0 : 0.0;
  if (op == "Less") return a < b ? 1.0 : 0.0;
  if (op == "LessOrEqual") return a <= b ? 1.0 : 0.0;
  if (op == "And") return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
  if (op == "Or") return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
  return std::nullopt;
}

std::optional<double> unary(const std::string& op, double a) {
  if (op == "Neg") return -a;
  if (op == "Abs") return std::fabs(a);
  if (op == "Floor") return std::floor(a);
  if (op == "Ceil") return std::ceil(a);
  if (op == "Round") return std::nearbyint(a);
  if (op == "Sqrt") return std::sqrt(a);
  if (op == "Reciprocal") return 1.0 / a;
  if (op == "Not") return a == 0.0 ? 1.0 : 0.0;
  return std::nullopt;
}

std::optional<Values> elementwise(const OnnxNode& node, const Inputs& in, const Dims& dims) {
  Values out(product(dims));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (node.op == "Where") {
      if (in.size() != 3) return std::nullopt;
      const bool first = broadcast_value(*in[0], dims, i) != 0.0;
      out[i] = broadcast_value(*in[first ? 1 : 2], dims, i);
      continue;
    }
    std::optional<double> value = broadcast_value(*in[0], dims, i);
    if (in.size() == 1) {
      value = unary(node.op, *value);
    } else {
      for (std::size_t k = 1; k < in.size() && value; ++k) {
        value = binary(node.op, *value, broadcast_value(*in[k], dims, i),
                       in[0]->integer && in[k]->integer);
      }
    }
    if (!value) return std::nullopt;
    out[i] = *value;
  }
  return out;
}

// Along axis 0 of vectors, which is how shapes are cut and joined.
std::optional<Values> gather(const OnnxNode& node, const Inputs& in) {
  if (in.size() != 2 || in[0]->dims.size() != 1 || node.integer("axis", 0) > 0) return std::nullopt;
  const auto size = static_cast<std::int64_t>(in[0]->values->size());
  Values out;
  for (const double index : *in[1]->values) {
    std::int64_t at = whole(index);
    if (at < 0) at += size;
    if (at < 0 || at >= size) return std::nullopt;
    out.push_back((*in[0]->values)[static_cast<std::size_t>(at)]);
  }
  return out;
}

std::optional<Values> slice(const OnnxNode& node, const Inputs& in, std::size_t length) {
  if (in[0]->dims.size() != 1) return std::nullopt;
  const auto size = static_cast<std::int64_t>(in[0]->values->size());
  const auto given = [&](const char* attribute, std::size_t i, std::int64_t fallback) {
    if (i < in.size() && !in[i]->values->empty()) return whole(in[i]->values->front());
    const auto list = node.integers(attribute);
    return list.empty() ? fallback : list.front();
  };
  const std::int64_t step = given("steps", 4, 1);
  std::int64_t at = given("starts", 1, 0);
  if (at < 0) at += size;
  at = std::clamp<std::int64_t>(at, 0, step < 0 ? size - 1 : size);
  Values out;
  for (std::size_t i = 0; i < length; ++i, at += step) {
    if (at < 0 || at >= size) return std::nullopt;
    out.push_back((*in[0]->values)[static_cast<std::size_t>(at)]);
  }
  return out;
}

std::optional<Values> reduce(const OnnxNode& node, const Inputs& in, std::size_t length) {
  if (length != 1 || in[0]->values->empty()) return std::nullopt;
  const Values& values = *in[0]->values;
  double out = values.front();
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (node.op == "ReduceProd") out *= values[i];
    if (node.op == "ReduceSum") out += values[i];
    if (node.op == "ReduceMax") out = std::max(out, values[i]);
    if (node.op == "ReduceMin") out = std::min(out, values[i]);
  }
  return Values{out};
}

}  // namespace

std::optional<Values> fold_values(const OnnxNode& node, const Inputs& in, const Dims& dims) {
  const std::size_t length = product(dims);
  if (length > kMostValues || in.empty()) return std::nullopt;
  bool wide = false;
  for (const TensorInfo* info : in) {
    if (!info->values) return std::nullopt;
    wide = wide || info->dims.size() > dims.size();
  }
  const std::string& op = node.op;
  std::optional<Values> out;
  if (op == "Identity" || op == "Cast" || op == "Unsqueeze" || op == "Squeeze" || op == "Reshape" ||
      op == "Flatten" || (op == "Transpose" && dims.size() < 2)) {
    out = in[0]->values;
    if (op == "Cast" && node.integer("to", 1) != 1) {
      for (double& value : *out) value = std::trunc(value);
    }
  } else if (op == "Concat" && dims.size() == 1) {
    out = Values();
    for (const TensorInfo* info : in) {
      out->insert(out->end(), info->values->begin(), info->values->end());
    }
  } else if (op == "Gather") {
    out = gather(node, in);
  } else if (op == "Slice") {
    out = slice(node, in, length);
  } else if (op == "Expand" || op == "Tile") {
    if (in[0]->values->size() == 1) out = Values(length, in[0]->values->front());
  } else if (op == "ReduceProd" || op == "ReduceSum" || op == "ReduceMax" || op == "ReduceMin") {
    out = reduce(node, {in[0]}, length);
  } else if (op == "Range") {
    out = Values();
    for (std::size_t i = 0; i < length; ++i) {
      out->push_back(in[0]->values->front() + static_cast<double>(i) * in[2]->values->front());
    }
  } else if (!wide) {
    out = elementwise(node, in, dims);
  }
  if (out && out->size() != length) return std::nullopt;
  return out;
}

}  // namespace bitcycle
