// One training step of a CIFAR ResNet under cyclic precision training, with real tensor values.
// The matrix products are integers and come from a backend (golden loops, a model or the RTL);
// everything else (quantiser, batch norm, shortcuts, loss, update) is FP32 here, on the host.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "golden/conv.hpp"

namespace bitcycle {

/// What a backend is asked: the sums of one pass, unsigned codes. Operands as golden_conv.
struct ConvRequest {
  std::string label;  ///< "conv1 fwd", "stage2.0.conv1 dx mask", ...
  ConvPass pass = ConvPass::kForward;
  ConvShape shape;
  int first_bits = 8, second_bits = 8;
  const std::vector<std::int32_t>* first = nullptr;
  const std::vector<std::int32_t>* second = nullptr;
  bool mask = false;  ///< a masked product: one operand is ones of one bit
};
using ConvBackend = std::function<ConvSums(const ConvRequest&)>;

/// The backend that this file is judged by: golden_conv.
ConvSums golden_backend(const ConvRequest& request);

struct TrainingOptions {
  int blocks = 1;  ///< n of 6n+2: residual blocks per stage
  int classes = 10;
  std::uint64_t batch = 4;
  std::uint64_t size = 32;  ///< height and width of the images
  int bits = 4;             ///< forward: W and A
  int grad_bits = 8;        ///< G
  std::uint64_t seed = 1;
  float learning_rate = 0.1F, momentum = 0.9F, weight_decay = 1e-4F;
};

/// A convolution with its batch norm, and what an iteration leaves behind.
struct ConvLayer {
  std::string name;
  ConvShape shape;
  std::vector<float> weight, momentum;  ///< FP32 master copy
  std::vector<float> gamma, beta, gamma_momentum, beta_momentum;
  // Of the last step:
  std::vector<float> input, output, normalised, grad_output, grad_input, grad_weight;
  std::vector<float> mean, inverse_deviation;
};

/// FP32 operations and tensors of a network in training. Deterministic: the same options, backend
/// results and number of steps give the same bits.
class ResnetTrainer {
 public:
  /// Random He initialisation, seeded. Throws InputError for sizes of 0 or bits outside 1..16.
  explicit ResnetTrainer(const TrainingOptions& options);

  /// Forward, backward and update on a seeded batch of synthetic images (class-dependent means and
  /// noise). Returns the loss before the update.
  float step(const ConvBackend& backend);

  /// Changes the precision of the next step: what a schedule does.
  void set_bits(int bits, int grad_bits);

  const std::vector<ConvLayer>& layers() const { return layers_; }
  /// Weights and bias of the FP32 classifier.
  const std::vector<float>& classifier() const { return fc_; }

 private:
  struct Block {
    std::size_t first = 0, second = 0;
    int shortcut = -1;  ///< layer of the 1x1 shortcut, or -1
    std::vector<float> input, sum;
  };

  std::size_t add_layer(const std::string& name, std::uint64_t cin, std::uint64_t cout,
                        std::uint64_t size, std::uint64_t kernel, std::uint64_t stride);
  std::vector<float> forward(ConvLayer& layer, const std::vector<float>& x, bool relu,
                             const ConvBackend& backend);
  std::vector<float> backward(ConvLayer& layer, std::vector<float> grad, bool relu,
                              const ConvBackend& backend);
  void update(std::vector<float>& value, std::vector<float>& momentum,
              const std::vector<float>& grad, bool decay) const;

  TrainingOptions options_;
  std::vector<ConvLayer> layers_;
  std::vector<Block> blocks_;
  std::vector<float> fc_, fc_momentum_;
  std::uint64_t iteration_ = 0;
  std::uint64_t next_tensor_ = 0;
};

}  // namespace bitcycle
