#include "golden/training.hpp"

#include <algorithm>
#include <cmath>

#include "golden/affine.hpp"
#include "golden/counter_random.hpp"
#include "golden/error.hpp"

namespace bitcycle {
namespace {

constexpr float kEpsilon = 1e-5F;  // batch norm, as in the published trainers

// A standard normal deviate by Box and Muller, from the position alone.
float normal(std::uint64_t seed, std::uint64_t tensor, std::uint64_t i) {
  const std::uint64_t r = counter_random(seed, tensor, i);
  const double u = (static_cast<double>(r >> 32U) + 0.5) / 4294967296.0;
  const double v = static_cast<double>(r & 0xFFFFFFFFU) / 4294967296.0;
  return static_cast<float>(std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v));
}

// The sums of a pass with one operand replaced by ones at every real position of one image: what
// the other operand's zero point is multiplied with.
ConvSums mask_sums(const ConvBackend& backend, const std::string& label, ConvPass pass,
                   ConvShape shape, const std::vector<std::int32_t>& codes, int bits) {
  shape.batch = 1;
  const std::vector<std::int32_t> ones(pass == ConvPass::kForward ? shape.x_size() : shape.y_size(),
                                       1);
  ConvRequest request;
  request.label = label;
  request.pass = pass;
  request.shape = shape;
  request.first = &ones;
  request.second = &codes;
  request.first_bits = 1;
  request.second_bits = bits;
  request.mask = true;
  return backend(request);
}

// Batch norm over pixels, scale and shift, per channel (the last dimension).
void batch_norm(ConvLayer& layer) {
  const std::size_t channels = layer.shape.cout;
  const std::size_t pixels = layer.output.size() / channels;
  layer.mean.assign(channels, 0.0F);
  layer.inverse_deviation.assign(channels, 0.0F);
  layer.normalised.resize(layer.output.size());
  for (std::size_t c = 0; c < channels; ++c) {
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t p = 0; p < pixels; ++p) {
      const double v = layer.output[p * channels + c];
      sum += v;
      squares += v * v;
    }
    const double mean = sum / static_cast<double>(pixels);
    const double variance = std::max(squares / static_cast<double>(pixels) - mean * mean, 0.0);
    layer.mean[c] = static_cast<float>(mean);
    layer.inverse_deviation[c] = 1.0F / std::sqrt(static_cast<float>(variance) + kEpsilon);
    for (std::size_t p = 0; p < pixels; ++p) {
      layer.normalised[p * channels + c] =
          (layer.output[p * channels + c] - layer.mean[c]) * layer.inverse_deviation[c];
    }
  }
}

}  // namespace

ConvSums golden_backend(const ConvRequest& request) {
  return golden_conv(request.pass, request.shape, *request.first, *request.second);
}

ResnetTrainer::ResnetTrainer(const TrainingOptions& options) : options_(options) {
  const auto check = [](const char* field, std::uint64_t value, std::uint64_t low,
                        std::uint64_t high) {
    if (value < low || value > high) {
      throw input_error("", 0, field, std::to_string(value),
                        std::to_string(low) + " to " + std::to_string(high));
    }
  };
  check("blocks", static_cast<std::uint64_t>(options.blocks), 1, 100);
  check("classes", static_cast<std::uint64_t>(options.classes), 2, 1000);
  check("batch", options.batch, 1, 65536);
  check("size", options.size, 4, 1024);
  set_bits(options.bits, options.grad_bits);

  std::uint64_t size = options.size;
  std::uint64_t channels = 16;
  add_layer("conv1", 3, channels, size, 3, 1);
  for (int stage = 0; stage < 3; ++stage) {
    for (int b = 0; b < options.blocks; ++b) {
      const std::uint64_t stride = stage > 0 && b == 0 ? 2 : 1;
      const std::uint64_t out = 16U << static_cast<unsigned>(stage);
      const std::string name = "stage" + std::to_string(stage + 1) + "." + std::to_string(b);
      Block block;
      block.first = add_layer(name + ".conv1", channels, out, size, 3, stride);
      const std::uint64_t next = (size - 1) / stride + 1;
      block.second = add_layer(name + ".conv2", out, out, next, 3, 1);
      if (stride != 1) {
        block.shortcut =
            static_cast<int>(add_layer(name + ".down", channels, out, size, 1, stride));
      }
      blocks_.push_back(block);
      channels = out;
      size = next;
    }
  }
  const auto classes = static_cast<std::size_t>(options.classes);
  fc_.resize(classes * (channels + 1), 0.0F);
  for (std::size_t i = 0; i < classes * channels; ++i) {
    fc_[i] = normal(options.seed, 999, i) / std::sqrt(static_cast<float>(channels));
  }
  fc_momentum_.assign(fc_.size(), 0.0F);
}

void ResnetTrainer::set_bits(int bits, int grad_bits) {
  for (const int b : {bits, grad_bits}) {
    if (b < 1 || b > 16) throw input_error("", 0, "bits", std::to_string(b), "1 to 16");
  }
  options_.bits = bits;
  options_.grad_bits = grad_bits;
}

std::size_t ResnetTrainer::add_layer(const std::string& name, std::uint64_t cin, std::uint64_t cout,
                                     std::uint64_t size, std::uint64_t kernel,
                                     std::uint64_t stride) {
  ConvLayer layer;
  layer.name = name;
  ConvShape& s = layer.shape;
  s.batch = options_.batch;
  s.cin = cin;
  s.cout = cout;
  s.hi = s.wi = size;
  s.kh = s.kw = kernel;
  s.stride_h = s.stride_w = stride;
  s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = kernel / 2;
  s.validate();
  layer.weight.resize(s.w_size());
  const float deviation = std::sqrt(2.0F / static_cast<float>(kernel * kernel * cin));
  for (std::size_t i = 0; i < layer.weight.size(); ++i) {
    layer.weight[i] = deviation * normal(options_.seed, 1000 + layers_.size(), i);
  }
  layer.momentum.assign(layer.weight.size(), 0.0F);
  layer.gamma.assign(cout, 1.0F);
  layer.beta.assign(cout, 0.0F);
  layer.gamma_momentum.assign(cout, 0.0F);
  layer.beta_momentum.assign(cout, 0.0F);
  layers_.push_back(std::move(layer));
  return layers_.size() - 1;
}

// y = sx*sw*S(qx*qw) + sx*zw*S(qx) + zx*sw*S(m*qw) + zx*zw*S(m); then batch norm (and ReLU).
std::vector<float> ResnetTrainer::forward(ConvLayer& layer, const std::vector<float>& x, bool relu,
                                          const ConvBackend& backend) {
  const ConvShape& s = layer.shape;
  layer.input = x;
  const AffineCodes qx = quantise_affine(x, options_.bits);
  const AffineCodes qw = quantise_affine(layer.weight, options_.bits, s.cout);
  ConvRequest request;
  request.label = layer.name + " fwd";
  request.pass = ConvPass::kForward;
  request.shape = s;
  request.first = &qx.codes;
  request.second = &qw.codes;
  request.first_bits = request.second_bits = options_.bits;
  const ConvSums sums = backend(request);
  // Without a border every window meets all of its filter.
  ConvSums mask;
  if (s.pad_top != 0) {
    mask = mask_sums(backend, layer.name + " fwd mask", ConvPass::kForward, s, qw.codes,
                     options_.bits);
  } else {
    for (std::uint64_t p = 0; p < s.ho() * s.wo(); ++p) {
      mask.value.insert(mask.value.end(), sums.sum_w.begin(), sums.sum_w.end());
    }
    mask.sum_a.assign(s.ho() * s.wo(), static_cast<std::int64_t>(s.kh * s.kw * s.cg()));
  }
  const std::size_t image = s.ho() * s.wo();
  layer.output.resize(s.y_size());
  const double sx = qx.scale[0];
  const double zx = qx.zero[0];
  for (std::size_t p = 0; p < s.batch * image; ++p) {
    const std::size_t at = p % image;
    for (std::size_t n = 0; n < s.cout; ++n) {
      const double sw = qw.scale[n];
      const double zw = qw.zero[n];
      layer.output[p * s.cout + n] =
          static_cast<float>(sx * sw * static_cast<double>(sums.value[p * s.cout + n]) +
                             sx * zw * static_cast<double>(sums.sum_a[p]) +
                             zx * sw * static_cast<double>(mask.value[at * s.cout + n]) +
                             zx * zw * static_cast<double>(mask.sum_a[at]));
    }
  }
  batch_norm(layer);
  std::vector<float> y(layer.output.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t c = i % s.cout;
    y[i] = layer.normalised[i] * layer.gamma[c] + layer.beta[c];
    if (relu) y[i] = std::max(y[i], 0.0F);
  }
  return y;
}

// `grad` is that of the layer's result; returns that of its input. Updates the parameters.
std::vector<float> ResnetTrainer::backward(ConvLayer& layer, std::vector<float> grad, bool relu,
                                           const ConvBackend& backend) {
  const ConvShape& s = layer.shape;
  const std::size_t channels = s.cout;
  const std::size_t pixels = grad.size() / channels;
  std::vector<float> grad_gamma(channels), grad_beta(channels);
  if (relu) {
    for (std::size_t i = 0; i < grad.size(); ++i) {
      const std::size_t c = i % channels;
      if (layer.normalised[i] * layer.gamma[c] + layer.beta[c] <= 0.0F) grad[i] = 0.0F;
    }
  }
  for (std::size_t c = 0; c < channels; ++c) {
    double sum = 0.0;
    double product = 0.0;
    for (std::size_t p = 0; p < pixels; ++p) {
      const std::size_t i = p * channels + c;
      sum += grad[i];
      product += static_cast<double>(grad[i]) * layer.normalised[i];
    }
    grad_beta[c] = static_cast<float>(sum);
    grad_gamma[c] = static_cast<float>(product);
    const auto mean = static_cast<float>(sum / static_cast<double>(pixels));
    const auto slope = static_cast<float>(product / static_cast<double>(pixels));
    for (std::size_t p = 0; p < pixels; ++p) {
      const std::size_t i = p * channels + c;
      grad[i] = layer.gamma[c] * layer.inverse_deviation[c] *
                (grad[i] - mean - layer.normalised[i] * slope);
    }
  }
  layer.grad_output = grad;

  const AffineCodes qx = quantise_affine(layer.input, options_.bits);
  const AffineCodes qw = quantise_affine(layer.weight, options_.bits, s.cout);

  // dX = (G*scale of W) qW + sum over n of G_n z_n: the scale of each output channel is folded into
  // G before G is quantised, because dX adds over output channels. Relative to the largest one, or
  // the product would fall below the quantiser's smallest scale.
  const float top = *std::max_element(qw.scale.begin(), qw.scale.end());
  std::vector<float> folded(grad.size());
  std::vector<float> zero_part(pixels, 0.0F);
  for (std::size_t p = 0; p < pixels; ++p) {
    double sum = 0.0;
    for (std::size_t n = 0; n < channels; ++n) {
      folded[p * channels + n] = grad[p * channels + n] * (qw.scale[n] / top);
      sum += static_cast<double>(grad[p * channels + n]) * qw.zero[n];
    }
    zero_part[p] = static_cast<float>(sum);
  }
  const AffineCodes qf =
      quantise_affine(folded, options_.grad_bits, 1, RoundingNoise{options_.seed, next_tensor_++});
  ConvRequest request;
  request.label = layer.name + " dx";
  request.pass = ConvPass::kDx;
  request.shape = s;
  request.first = &qf.codes;
  request.second = &qw.codes;
  request.first_bits = options_.grad_bits;
  request.second_bits = options_.bits;
  const ConvSums dx = backend(request);
  const ConvSums mask =
      mask_sums(backend, layer.name + " dx mask", ConvPass::kDx, s, qw.codes, options_.bits);
  layer.grad_input.assign(s.x_size(), 0.0F);
  const std::size_t image = s.hi * s.wi;
  for (std::size_t p = 0; p < s.batch * image; ++p) {
    for (std::size_t c = 0; c < s.cin; ++c) {
      layer.grad_input[p * s.cin + c] = static_cast<float>(
          static_cast<double>(top) *
          (static_cast<double>(qf.scale[0]) * static_cast<double>(dx.value[p * s.cin + c]) +
           static_cast<double>(qf.zero[0]) *
               static_cast<double>(mask.value[p % image * s.cin + c])));
    }
  }
  // The second term, added for every tap that reads the input.
  for (std::size_t b = 0; b < s.batch; ++b) {
    for (std::size_t oy = 0; oy < s.ho(); ++oy) {
      for (std::size_t ox = 0; ox < s.wo(); ++ox) {
        const float z = zero_part[(b * s.ho() + oy) * s.wo() + ox];
        for (std::size_t ky = 0; ky < s.kh; ++ky) {
          for (std::size_t kx = 0; kx < s.kw; ++kx) {
            const std::size_t iy = oy * s.stride_h + ky - s.pad_top;
            const std::size_t ix = ox * s.stride_w + kx - s.pad_left;
            if (iy >= s.hi || ix >= s.wi) continue;
            float* at = &layer.grad_input[((b * s.hi + iy) * s.wi + ix) * s.cin];
            for (std::size_t c = 0; c < s.cin; ++c) at[c] += z;
          }
        }
      }
    }
  }

  // dW = sg*sx*S(qg*qx) + sg*zx*S(qg*m) + zg*sx*S(qx) + zg*zx*S(m).
  const AffineCodes qg =
      quantise_affine(grad, options_.grad_bits, 1, RoundingNoise{options_.seed, next_tensor_++});
  request.label = layer.name + " dw";
  request.pass = ConvPass::kDw;
  request.first = &qg.codes;
  request.second = &qx.codes;
  const ConvSums dw = backend(request);
  const std::size_t taps = s.kh * s.kw;
  ConvSums met;
  if (s.pad_top != 0) {
    ConvShape one_channel = s;
    one_channel.cin = 1;
    const std::vector<std::int32_t> ones(one_channel.x_size(), 1);
    ConvRequest masked = request;
    masked.label = layer.name + " dw mask";
    masked.shape = one_channel;
    masked.second = &ones;
    masked.second_bits = 1;
    masked.mask = true;
    met = backend(masked);
  } else {
    for (const std::int64_t sum : dw.sum_a) met.value.insert(met.value.end(), taps, sum);
    met.sum_w.assign(taps, static_cast<std::int64_t>(s.batch * s.ho() * s.wo()));
  }
  layer.grad_weight.resize(s.w_size());
  for (std::size_t n = 0; n < s.cout; ++n) {
    for (std::size_t tap = 0; tap < taps; ++tap) {
      for (std::size_t c = 0; c < s.cin; ++c) {
        const std::size_t i = (n * taps + tap) * s.cin + c;
        const double sg = qg.scale[0];
        const double zg = qg.zero[0];
        const double sx = qx.scale[0];
        const double zx = qx.zero[0];
        layer.grad_weight[i] =
            static_cast<float>(sg * sx * static_cast<double>(dw.value[i]) +
                               sg * zx * static_cast<double>(met.value[n * taps + tap]) +
                               zg * sx * static_cast<double>(dw.sum_w[tap * s.cin + c]) +
                               zg * zx * static_cast<double>(met.sum_w[tap]));
      }
    }
  }
  update(layer.weight, layer.momentum, layer.grad_weight, true);
  update(layer.gamma, layer.gamma_momentum, grad_gamma, false);
  update(layer.beta, layer.beta_momentum, grad_beta, false);
  return layer.grad_input;
}

void ResnetTrainer::update(std::vector<float>& value, std::vector<float>& momentum,
                           const std::vector<float>& grad, bool decay) const {
  for (std::size_t i = 0; i < value.size(); ++i) {
    const float g = grad[i] + (decay ? options_.weight_decay * value[i] : 0.0F);
    momentum[i] = options_.momentum * momentum[i] + g;
    value[i] -= options_.learning_rate * momentum[i];
  }
}

float ResnetTrainer::step(const ConvBackend& backend) {
  const std::uint64_t seed = options_.seed;
  const std::size_t pixels = options_.size * options_.size;
  std::vector<float> x(options_.batch * pixels * 3);
  std::vector<std::size_t> label(options_.batch);
  for (std::size_t b = 0; b < options_.batch; ++b) {
    const std::uint64_t image = iteration_ * options_.batch + b;
    label[b] = counter_random(seed, 1, image) % static_cast<std::uint64_t>(options_.classes);
    for (std::size_t i = 0; i < pixels * 3; ++i) {
      const float mean = 0.5F * normal(seed, 100 + label[b], i % 3);
      x[b * pixels * 3 + i] = mean + normal(seed, 2, image * pixels * 3 + i);
    }
  }

  std::vector<float> h = forward(layers_[0], x, true, backend);
  for (Block& block : blocks_) {
    block.input = h;
    const std::vector<float> middle = forward(layers_[block.first], h, true, backend);
    block.sum = forward(layers_[block.second], middle, false, backend);
    const std::vector<float> skip =
        block.shortcut < 0
            ? h
            : forward(layers_[static_cast<std::size_t>(block.shortcut)], h, false, backend);
    h.resize(block.sum.size());
    for (std::size_t i = 0; i < h.size(); ++i) {
      block.sum[i] += skip[i];
      h[i] = std::max(block.sum[i], 0.0F);
    }
  }

  // Global average, classifier, softmax and cross entropy: FP32.
  const ConvShape& last = layers_[blocks_.back().second].shape;
  const std::size_t channels = last.cout;
  const std::size_t area = last.ho() * last.wo();
  const auto classes = static_cast<std::size_t>(options_.classes);
  std::vector<float> grad(h.size());
  std::vector<float> grad_fc(fc_.size(), 0.0F);
  double loss = 0.0;
  for (std::size_t b = 0; b < options_.batch; ++b) {
    std::vector<float> mean(channels, 0.0F);
    for (std::size_t p = 0; p < area; ++p) {
      for (std::size_t c = 0; c < channels; ++c) mean[c] += h[(b * area + p) * channels + c];
    }
    for (float& m : mean) m /= static_cast<float>(area);
    std::vector<float> logit(classes);
    for (std::size_t k = 0; k < classes; ++k) {
      logit[k] = fc_[classes * channels + k];
      for (std::size_t c = 0; c < channels; ++c) logit[k] += fc_[k * channels + c] * mean[c];
    }
    const float most = *std::max_element(logit.begin(), logit.end());
    float sum = 0.0F;
    for (float& l : logit) sum += l = std::exp(l - most);
    loss -= std::log(static_cast<double>(logit[label[b]] / sum));
    for (std::size_t k = 0; k < classes; ++k) {
      const float delta =
          (logit[k] / sum - (k == label[b] ? 1.0F : 0.0F)) / static_cast<float>(options_.batch);
      grad_fc[classes * channels + k] += delta;
      for (std::size_t c = 0; c < channels; ++c) {
        grad_fc[k * channels + c] += delta * mean[c];
        const float g = delta * fc_[k * channels + c] / static_cast<float>(area);
        for (std::size_t p = 0; p < area; ++p) grad[(b * area + p) * channels + c] += g;
      }
    }
  }

  for (std::size_t i = blocks_.size(); i-- > 0;) {
    Block& block = blocks_[i];
    for (std::size_t k = 0; k < grad.size(); ++k) {
      if (block.sum[k] <= 0.0F) grad[k] = 0.0F;
    }
    std::vector<float> through = backward(layers_[block.second], grad, false, backend);
    through = backward(layers_[block.first], std::move(through), true, backend);
    const std::vector<float> skip =
        block.shortcut < 0
            ? grad
            : backward(layers_[static_cast<std::size_t>(block.shortcut)], grad, false, backend);
    grad.resize(through.size());
    for (std::size_t k = 0; k < grad.size(); ++k) grad[k] = through[k] + skip[k];
  }
  (void)backward(layers_[0], std::move(grad), true, backend);
  update(fc_, fc_momentum_, grad_fc, true);
  ++iteration_;
  return static_cast<float>(loss / static_cast<double>(options_.batch));
}

}  // namespace bitcycle
