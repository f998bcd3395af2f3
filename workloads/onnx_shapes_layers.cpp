// Shapes of operators with GEMMs, and of windows: matrix products, convolutions, pooling,
// recurrence.
#include <algorithm>
#include <cmath>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "workloads/onnx_shapes.hpp"

namespace bitcycle {

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
    if (win.kernel[i] == 0 || win.kernel[i] > kMaxOnnxSize || spatial[i] == 0) {
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
                                           reach + std::min(more, kMaxOnnxSize), "output");
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

void OnnxShapes::recurrent(const OnnxNode& node) {
  const Dims x = input(node, 0).dims;
  const Dims w = input(node, 1).dims;
  const Dims r = input(node, 2).dims;
  const std::uint64_t gates = node.op == "LSTM" ? 4 : node.op == "GRU" ? 3 : 1;
  const std::uint64_t directions = node.text("direction", "forward") == "bidirectional" ? 2 : 1;
  const bool fits = x.size() == 3 && w.size() == 3 && r.size() == 3 && r[0] == directions &&
                    w[0] == directions && w[1] == r[1] && w[2] == x[2] &&
                    r[2] <= kMaxOnnxSize / 4 && r[1] == gates * r[2] && r[2] > 0;
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
