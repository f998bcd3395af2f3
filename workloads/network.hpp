// Networks as layers, and the GEMMs of one training iteration (DESIGN section 5).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "golden/types.hpp"

namespace bitcycle {

/// A convolution or dense layer; dense is a 1x1 convolution on a 1x1 image.
struct Layer {
  std::string name;
  std::uint64_t cin = 1, cout = 1;  ///< channels (features for dense)
  std::uint64_t hi = 1, wi = 1;     ///< input height and width, pixels
  std::uint64_t kh = 1, kw = 1;     ///< kernel
  std::uint64_t stride_h = 1, stride_w = 1;
  std::uint64_t pad_h = 0, pad_w = 0;
  std::uint64_t dilation = 1;
  std::uint64_t groups = 1;  ///< divides cin and cout; cin = depthwise
  bool dense = false;
  bool first = false;       ///< reads the network's input (its dX is of no use)
  bool downsample = false;  ///< 1x1 convolution on a residual shortcut
  bool quantised = true;    ///< false = FP32 under the convention in force

  std::uint64_t ho() const;
  std::uint64_t wo() const;
  /// Multiply-accumulates of the forward GEMM for one sample, padding included.
  std::uint64_t macs_per_sample() const;
  std::uint64_t parameters() const;  ///< weights, without bias
  /// Throws InputError naming the layer: zero sizes, channels or pixels of 2^32 and more, kernel,
  /// stride, padding or dilation over 65,535, kernel larger than the padded input, groups that do
  /// not divide, products over 64 bits.
  void validate() const;
};

/// Which layers a paper quantises.
enum class Convention {
  kAll,          ///< every layer, also first and last
  kCptCifar,     ///< CPT's CIFAR trainer: all convolutions; the fc layer is FP32
  kCptImagenet,  ///< CPT's ImageNet trainer: first convolution, 1x1 downsample, fc FP32
};

struct Network {
  std::string name;
  std::vector<Layer> layers;
  /// Forward MACs per sample over the quantised layers (or all with `quantised_only` false).
  std::uint64_t macs_per_sample(bool quantised_only = true) const;
};

enum class GemmKind { kForward, kDx, kDw };
enum class DxLowering { kPhases, kGemm };

/// Whose bits an operand has: forward bits b or gradient bits g.
enum class Width { kForward, kGradient };

/// A descriptor of one training iteration, `count` times the same (groups).
struct TrainingGemm {
  std::size_t layer = 0;  ///< index into Network::layers
  GemmKind kind = GemmKind::kForward;
  Gemm shape;  ///< in the order of DESIGN's table; operands are A x W
  Width a = Width::kForward;
  Width w = Width::kForward;
  std::uint64_t count = 1;
  std::uint64_t macs_useful = 0;  ///< of one descriptor: products with padding are excluded
};

/// Tensor sizes of one GEMM of a layer, unexpanded, in elements, for the given batch.
struct LayerTensors {
  std::uint64_t input = 0;   ///< X: batch*cin*hi*wi
  std::uint64_t weight = 0;  ///< W
  std::uint64_t output = 0;  ///< Y: batch*cout*ho*wo
};
LayerTensors layer_tensors(const Layer& layer, std::uint64_t batch);

/// Names known to make_network, for messages and `--help`.
std::vector<std::string> network_names();

/// "resnet74-cifar10" and its family (20, 32, 38, 56, 74, 110, 152; cifar10 or cifar100), built
/// from the structure (6n+2). Throws InputError with a suggestion for an unknown name.
Network make_network(const std::string& name, Convention convention);

/// All GEMMs of one training iteration: forward, dX, dW of every quantised layer, by DESIGN's
/// table. Layers that are FP32 under the convention give none. dX descriptors with K = 0 are
/// dropped. Ordered layer by layer, inside a layer forward, dX (phases row by row), dW. Throws
/// InputError if batch is 0, a layer is not valid, a size exceeds 64 bits or a layer has more than
/// 65,536 dX phases.
std::vector<TrainingGemm> training_gemms(const Network& network, std::uint64_t batch,
                                         DxLowering lowering = DxLowering::kPhases);

std::string to_string(Convention convention);  ///< "all", "cpt-cifar", "cpt-imagenet"
std::string to_string(GemmKind kind);          ///< "fwd", "dx", "dw"
Convention parse_convention(const std::string& text);
DxLowering parse_lowering(const std::string& text);  ///< "dx=phases" | "dx=gemm"

}  // namespace bitcycle
