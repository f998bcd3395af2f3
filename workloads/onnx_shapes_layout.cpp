// Shapes of operators that move, cut, join or reduce tensors.
#include <algorithm>
#include <cmath>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "workloads/onnx_shapes.hpp"

namespace bitcycle {

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
  for (const auto& [list, name, place] :
       {std::tuple(&axes, "axes", 3), std::tuple(&steps, "steps", 4)}) {
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

}  // namespace bitcycle
