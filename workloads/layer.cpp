// The shape of one layer.
#include <utility>

#include "golden/checked.hpp"
#include "workloads/network.hpp"

namespace bitcycle {
namespace {

// Channels and pixels: far above any network, and output sizes cannot wrap.
constexpr std::uint64_t kMaxSize = 0xFFFF'FFFF;
// Kernel, stride, padding, dilation: lowering walks over the taps of an axis.
constexpr std::uint64_t kMaxWindow = 0xFFFF;

// One axis of a window, as convolution and transposed convolution see it.
struct Window {
  std::uint64_t in, kernel, stride, pad, dilation, output_pad;  // pad: both ends together

  std::uint64_t reach() const { return dilation * (kernel - 1) + 1; }
  std::uint64_t convolved() const {
    if (kernel == 0 || stride == 0) return 0;  // refused by validate()
    return in + pad < reach() ? 0 : (in + pad - reach()) / stride + 1;
  }
  std::uint64_t transposed() const {
    if (kernel == 0 || stride == 0 || in == 0) return 0;
    const std::uint64_t full = (in - 1) * stride + reach() + output_pad;
    return full > pad ? full - pad : 0;
  }
};

Window vertical(const Layer& l) {
  return {l.hi,       l.kh,          l.stride_h, l.pad_h + l.pad_bottom.value_or(l.pad_h),
          l.dilation, l.output_pad_h};
}

Window horizontal(const Layer& l) {
  return {l.wi,
          l.kw,
          l.stride_w,
          l.pad_w + l.pad_right.value_or(l.pad_w),
          l.dilation_w.value_or(l.dilation),
          l.output_pad_w};
}

std::uint64_t size_after(const Layer& layer, const Window& window) {
  return layer.kind == LayerKind::kTransposed ? window.transposed() : window.convolved();
}

std::uint64_t product(const Layer& layer, const char* what,
                      std::initializer_list<std::uint64_t> factors) {
  const std::string field = "layer '" + layer.name + "', " + what;
  std::uint64_t out = 1;
  for (const std::uint64_t factor : factors) out = checked_mul(out, factor, field.c_str());
  return out;
}

}  // namespace

std::uint64_t Layer::ho() const { return size_after(*this, vertical(*this)); }
std::uint64_t Layer::wo() const { return size_after(*this, horizontal(*this)); }

std::uint64_t Layer::macs_per_sample() const {
  if (groups == 0) return 0;  // refused by validate()
  // A transposed convolution multiplies every input pixel with the whole kernel.
  const bool transposed = kind == LayerKind::kTransposed;
  return product(*this, "MACs",
                 {transposed ? hi : ho(), transposed ? wi : wo(), cout, kh, kw, cin / groups});
}

std::uint64_t Layer::weight_elements() const {
  if (groups == 0) return 0;
  return product(*this, "parameters", {cout, kh, kw, cin / groups});
}

std::uint64_t Layer::parameters() const {
  return kind == LayerKind::kMatmul || !weights_of.empty() ? 0 : weight_elements();
}

Layer Layer::mirrored() const {
  Layer out = *this;
  if (kind != LayerKind::kTransposed) return out;
  out.kind = LayerKind::kWeight;
  std::swap(out.cin, out.cout);
  out.hi = ho();
  out.wi = wo();
  out.output_pad_h = out.output_pad_w = 0;
  return out;
}

void Layer::validate() const {
  const auto check = [this](const char* what, std::uint64_t value, std::uint64_t low,
                            std::uint64_t high) {
    if (value >= low && value <= high) return;
    throw input_error("", 0, "layer '" + name + "', " + what, std::to_string(value),
                      std::to_string(low) + " to " + std::to_string(high));
  };
  check("input channels", cin, 1, kMaxSize);
  check("output channels", cout, 1, kMaxSize);
  check("input height", hi, 1, kMaxSize);
  check("input width", wi, 1, kMaxSize);
  check("kernel height", kh, 1, kMaxWindow);
  check("kernel width", kw, 1, kMaxWindow);
  check("vertical stride", stride_h, 1, kMaxWindow);
  check("horizontal stride", stride_w, 1, kMaxWindow);
  check("vertical padding", pad_h, 0, kMaxWindow);
  check("horizontal padding", pad_w, 0, kMaxWindow);
  check("bottom padding", pad_bottom.value_or(pad_h), 0, kMaxWindow);
  check("right padding", pad_right.value_or(pad_w), 0, kMaxWindow);
  check("dilation", dilation, 1, kMaxWindow);
  check("horizontal dilation", dilation_w.value_or(dilation), 1, kMaxWindow);
  const bool transposed = kind == LayerKind::kTransposed;
  check("vertical output padding", output_pad_h, 0, transposed ? stride_h - 1 : 0);
  check("horizontal output padding", output_pad_w, 0, transposed ? stride_w - 1 : 0);
  check("groups", groups, 1, kMaxSize);
  if (cin % groups != 0 || cout % groups != 0) {
    throw input_error("", 0, "layer '" + name + "', groups", std::to_string(groups),
                      "a divisor of the input and output channels, " + std::to_string(cin) +
                          " and " + std::to_string(cout));
  }
  if (ho() == 0 || wo() == 0) {
    throw input_error("", 0, "layer '" + name + "', kernel",
                      std::to_string(kh) + "x" + std::to_string(kw) + " with dilation " +
                          std::to_string(dilation),
                      "a kernel no larger than the padded input, " +
                          std::to_string(hi + vertical(*this).pad) + "x" +
                          std::to_string(wi + horizontal(*this).pad));
  }
  const bool window = kh != 1 || kw != 1 || stride_h != 1 || stride_w != 1 ||
                      vertical(*this).pad != 0 || horizontal(*this).pad != 0;
  const bool plain = dense || kind == LayerKind::kMatmul || kind == LayerKind::kRecurrent;
  if (plain && (window || (groups != 1 && kind != LayerKind::kMatmul))) {
    throw input_error("", 0, "layer '" + name + "', dense", "a kernel, stride, padding or groups",
                      "a 1x1 kernel, stride 1, no padding, one group");
  }
  check("output height", ho(), 1, kMaxSize);
  check("output width", wo(), 1, kMaxSize);
  (void)macs_per_sample();
  (void)parameters();
  (void)layer_tensors(*this, 1);
}

LayerTensors layer_tensors(const Layer& layer, std::uint64_t batch) {
  const std::uint64_t copies = layer.kind == LayerKind::kMatmul ? batch : 1;
  return {product(layer, "input tensor", {batch, layer.cin, layer.hi, layer.wi}),
          product(layer, "weight tensor", {copies, layer.weight_elements()}),
          product(layer, "output tensor", {batch, layer.cout, layer.ho(), layer.wo()})};
}

}  // namespace bitcycle
