// The shape of one layer.
#include "golden/checked.hpp"
#include "workloads/network.hpp"

namespace bitcycle {
namespace {

// Channels and pixels: far above any network, and output sizes cannot wrap.
constexpr std::uint64_t kMaxSize = 0xFFFF'FFFF;
// Kernel, stride, padding, dilation: lowering walks over the taps of an axis.
constexpr std::uint64_t kMaxWindow = 0xFFFF;

std::uint64_t output_size(std::uint64_t in, std::uint64_t kernel, std::uint64_t stride,
                          std::uint64_t pad, std::uint64_t dilation) {
  if (kernel == 0 || stride == 0) return 0;  // refused by validate()
  const std::uint64_t reach = dilation * (kernel - 1) + 1;
  const std::uint64_t padded = in + 2 * pad;
  return padded < reach ? 0 : (padded - reach) / stride + 1;
}

std::uint64_t product(const Layer& layer, const char* what,
                      std::initializer_list<std::uint64_t> factors) {
  const std::string field = "layer '" + layer.name + "', " + what;
  std::uint64_t out = 1;
  for (const std::uint64_t factor : factors) out = checked_mul(out, factor, field.c_str());
  return out;
}

}  // namespace

std::uint64_t Layer::ho() const { return output_size(hi, kh, stride_h, pad_h, dilation); }
std::uint64_t Layer::wo() const { return output_size(wi, kw, stride_w, pad_w, dilation); }

std::uint64_t Layer::macs_per_sample() const {
  if (groups == 0) return 0;  // refused by validate()
  return product(*this, "MACs", {ho(), wo(), cout, kh, kw, cin / groups});
}

std::uint64_t Layer::parameters() const {
  if (groups == 0) return 0;
  return product(*this, "parameters", {cout, kh, kw, cin / groups});
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
  check("dilation", dilation, 1, kMaxWindow);
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
                          std::to_string(hi + 2 * pad_h) + "x" + std::to_string(wi + 2 * pad_w));
  }
  if (dense && (kh != 1 || kw != 1 || stride_h != 1 || stride_w != 1 || pad_h != 0 || pad_w != 0 ||
                groups != 1)) {
    throw input_error("", 0, "layer '" + name + "', dense", "a kernel, stride, padding or groups",
                      "a 1x1 kernel, stride 1, no padding, one group");
  }
  (void)macs_per_sample();
  (void)parameters();
  (void)layer_tensors(*this, 1);
}

LayerTensors layer_tensors(const Layer& layer, std::uint64_t batch) {
  return {product(layer, "input tensor", {batch, layer.cin, layer.hi, layer.wi}),
          layer.parameters(),
          product(layer, "output tensor", {batch, layer.cout, layer.ho(), layer.wo()})};
}

}  // namespace bitcycle
