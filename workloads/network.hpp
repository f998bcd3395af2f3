// Networks as layers, and the GEMMs of one training iteration (DESIGN section 5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "golden/types.hpp"

namespace bitcycle {

/// What a layer's second operand is, and when its GEMMs can run.
enum class LayerKind {
  kWeight,      ///< convolution or dense: a weight, all positions of the batch in one GEMM
  kTransposed,  ///< transposed convolution: the GEMMs of the mirrored convolution, exchanged
  kMatmul,      ///< product of two activations: one GEMM per sample and head
  kRecurrent,   ///< dense, but position t needs position t-1: one GEMM per step
};

/// GEMM work of a network. A dense layer is a 1x1 convolution; its rows are hi*wi positions. A
/// matmul C = A B with H heads (A: M x K, B: K x N each) is a grouped dense layer with hi = M,
/// cin = H*K, cout = H*N, groups = H, whose "weight" is B, new for every sample. A recurrent layer
/// has hi = steps.
struct Layer {
  std::string name;
  std::uint64_t cin = 1, cout = 1;  ///< channels (features for dense)
  std::uint64_t hi = 1, wi = 1;     ///< input height and width, pixels
  std::uint64_t kh = 1, kw = 1;     ///< kernel
  std::uint64_t stride_h = 1, stride_w = 1;
  std::uint64_t pad_h = 0, pad_w = 0;  ///< top and left; also bottom and right unless given below
  std::uint64_t dilation = 1;          ///< vertical; also horizontal unless given below
  std::uint64_t groups = 1;            ///< divides cin and cout; cin = depthwise
  bool dense = false;
  bool first = false;       ///< reads the network's input (its dX is of no use)
  bool downsample = false;  ///< 1x1 convolution on a residual shortcut
  bool quantised = true;    ///< false = FP32 under the convention in force
  LayerKind kind = LayerKind::kWeight;
  std::optional<std::uint64_t> pad_bottom, pad_right;
  std::optional<std::uint64_t> dilation_w;
  std::uint64_t output_pad_h = 0, output_pad_w = 0;  ///< of a transposed convolution
  std::string weights_of;  ///< layer whose weights this one uses too; "" = its own

  std::uint64_t ho() const;
  std::uint64_t wo() const;
  /// Multiply-accumulates of the forward GEMM for one sample, padding included.
  std::uint64_t macs_per_sample() const;
  /// Elements of the second operand: weights without bias, or B of a matmul (of one sample).
  std::uint64_t weight_elements() const;
  /// Trained weights that this layer owns, without bias: 0 for a matmul and for shared weights.
  std::uint64_t parameters() const;
  /// The forward convolution whose dX GEMMs are this transposed convolution's forward GEMMs:
  /// input and output exchanged. The layer itself if it is of another kind.
  Layer mirrored() const;
  /// Throws InputError naming the layer: zero sizes, channels or pixels of 2^32 and more, kernel,
  /// stride, padding or dilation over 65,535, kernel larger than the padded input, groups that do
  /// not divide, a dense layer, matmul or recurrent layer with a window, products over 64 bits.
  void validate() const;
};

/// FP32 work around the GEMMs, of one sample: what a cost model of the vector unit needs.
struct VectorOp {
  std::string name;                ///< node, or NODE.bias, NODE.gradients, NODE.cell
  std::string op;                  ///< "batch-norm", "relu", "spmm", ...
  std::uint64_t elements_in = 0;   ///< elements read forward, each tensor once
  std::uint64_t elements_out = 0;  ///< elements written forward
  std::uint64_t parameters = 0;    ///< trained, FP32, whatever the batch
  std::uint64_t forward_ops = 0;   ///< FP32 operations; an exp, division or root counts as one
  std::uint64_t backward_ops = 0;  ///< gradients of inputs and parameters
  std::uint64_t indices = 0;       ///< integers read beside the elements: edges, tokens, arg max
  /// Elements read and written backward; unset: the gradient of the output and the saved input are
  /// read, the gradient of the input is written.
  std::optional<std::uint64_t> backward_in, backward_out;
  bool sparse_parameters = false;  ///< forward reads the rows in elements_in, not all parameters
  std::string rule;                ///< how the operations follow, for people
  bool quantised = false;          ///< its input has the forward width under the convention
};

/// Conventions of the two CPT trainers and "all"; a network may define more, see graph.hpp.
enum class Convention {
  kAll,          ///< every layer, also first and last
  kCptCifar,     ///< CPT's CIFAR trainer: all convolutions; the fc layer is FP32
  kCptImagenet,  ///< CPT's ImageNet trainer: first convolution, 1x1 downsample, fc FP32
};

struct Network {
  std::string name;
  std::vector<Layer> layers;
  std::vector<VectorOp> vector_ops;
  std::string title, source;
  std::string sample = "sample";   ///< what one sample is
  std::uint64_t batch = 128;       ///< the usual batch
  std::string convention = "all";  ///< in force
  std::string convention_text;     ///< what it means
  /// Forward MACs per sample over the quantised layers (or all with `quantised_only` false).
  std::uint64_t macs_per_sample(bool quantised_only = true) const;
  /// Trained parameters: weights, biases, norms, embeddings.
  std::uint64_t parameters() const;
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
  std::uint64_t input = 0;   ///< X (A of a matmul): batch*cin*hi*wi
  std::uint64_t weight = 0;  ///< W; batch times as much for a matmul
  std::uint64_t output = 0;  ///< Y: batch*cout*ho*wo
};
LayerTensors layer_tensors(const Layer& layer, std::uint64_t batch);

/// Names known to make_network, for messages and `--help`.
std::vector<std::string> network_names();

/// A network of the library or of a network file ("FILE.yaml", "FILE.yaml#NAME") under a convention
/// ("" = the network's own first one). Throws InputError with a suggestion for an unknown name or
/// convention, and for a file that cannot be used. See network_library.hpp for its graph.
Network make_network(const std::string& name, const std::string& convention = "");
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
