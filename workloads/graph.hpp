// A network as a graph of operators: what users write, importers make, and everything else reads.
//
// Sizes are of ONE sample. What a sample is, is the network's choice: an image, a sequence of
// tokens, a whole graph. A tensor is channels x height x width; a sequence of T vectors of C
// features is C x T x 1, a graph with V nodes is C x V x 1.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workloads/network.hpp"

namespace bitcycle {

struct Shape {
  std::uint64_t channels = 1, height = 1, width = 1;
  std::uint64_t elements() const;  ///< throws InputError over 64 bits

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.channels == b.channels && a.height == b.height && a.width == b.width;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }
};
std::string to_string(const Shape& shape);  ///< "16x32x32", channels first

/// Operators. GEMM operators become Layers, the others vector work. Attributes in brackets have
/// defaults; `op_info` holds the same list for programs.
enum class Op {
  kInput,      ///< channels [height width gradient]: a tensor from outside; gradient 1 = it comes
               ///< from a layer that is not described, which wants its gradient
  kConv,       ///< channels kernel [stride padding dilation groups bias]; each size also per axis,
               ///< stride_h, stride_w; padding also as padding_top, _bottom, _left, _right
  kDepthwise,  ///< kernel [multiplier stride padding dilation bias]: groups = input channels
  kConvTranspose,  ///< as kConv, and [output_padding]
  kDense,          ///< channels [bias]: the same matrix for every position (height x width rows)
  kMatmul,         ///< inputs A and B, neither a weight; [heads, kv_heads = heads]. With H heads,
                   ///< A is H*K x M x 1.
                   ///< kind "nt" (default): B is H*K x N x 1, C = A B^T is H*N x M x 1 (Q K^T);
                   ///< kind "nn": B is H*N x K x 1, C = A B is H*N x M x 1 (P V).
                   ///< B may have fewer heads: kv_heads, each used by heads/kv_heads of A
  kRecurrent,      ///< channels [bias, 0 to 2]; kind "lstm" (default), "gru", "rnn"; height = steps
  kEmbedding,      ///< channels vocabulary: a table look-up for every position
  kBatchNorm,
  kLayerNorm,
  kGroupNorm,  ///< also instance norm
  kRmsNorm,
  kActivation,  ///< kind, one of activation_kinds()
  kPool,        ///< kernel [stride padding]; kind "max" (default) or "average"; stride = kernel
  kGlobalPool,  ///< kind "average" (default) or "max": to channels x 1 x 1
  kAdd,         ///< two inputs or more of one shape; a size of 1 is broadcast
  kMul,         ///< likewise
  kSoftmax,
  kConcat,       ///< two inputs or more; kind "channels" (default), "height" or "width"
  kUpsample,     ///< [factor = 2]: nearest neighbour
  kLoss,         ///< kind "cross-entropy" (default), "mse", "focal", "smooth-l1"; to 1x1x1
  kSpmm,         ///< edges [rows = height]: a sparse matrix of rows x height with so many nonzeros
                 ///< times the features; kind "weighted" (default), "sum", "mean"
  kElementwise,  ///< ops [backward_ops = ops]: FP32 operations per output element
  kReshape,      ///< channels height width: the same elements, no work
  kFlatten,      ///< to (channels*height*width) x 1 x 1, no work
  kSelect,       ///< [channels height width]: a part of a tensor, no work
};
std::string to_string(Op op);                 ///< "conv", "conv-transpose", "batch-norm", ...
Op parse_op(const std::string& text);         ///< throws InputError with a suggestion
std::vector<std::string> op_names();          ///< in the order of the enum
std::vector<std::string> activation_kinds();  ///< relu relu6 leaky-relu sigmoid tanh gelu silu ...

/// A whole number that an operator takes.
struct AttributeInfo {
  std::string name;
  bool required = false;
  std::uint64_t least = 0, most = 0;
};

/// What an operator takes.
struct OpInfo {
  Op op = Op::kInput;
  std::size_t least_inputs = 1, most_inputs = 1;
  std::vector<AttributeInfo> attributes;
  std::vector<std::string> kinds;  ///< allowed `kind`s, the default first; empty = takes none
  bool weights = false;            ///< may share the weights of another node (Node::weights_of)
};
const OpInfo& op_info(Op op);

struct Node {
  std::string name;  ///< unique in the graph
  Op op = Op::kInput;
  std::vector<std::string> inputs;  ///< names of earlier nodes; empty = the node before this one
  std::map<std::string, std::uint64_t> numbers;  ///< attributes by name, see Op
  std::string kind;                              ///< "" = the operator's default
  std::string weights_of;  ///< an earlier node of the same weight shape, whose weights this uses
  int line = 0;            ///< in Graph::file; 0 = unknown

  /// The attribute, or `fallback`.
  std::uint64_t number(const std::string& attribute, std::uint64_t fallback) const;
};

/// Which layers a paper keeps in FP32, as patterns over node names (* = any characters).
struct ConventionRule {
  std::string name;                    ///< for --convention
  std::string text;                    ///< one sentence for reports
  std::vector<std::string> fp32;       ///< GEMM nodes that are not quantised; each must match one
  std::vector<std::string> quantised;  ///< vector nodes (spmm) that ARE; each must match one
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;  ///< in an order in which inputs come first

  std::string title;              ///< one line
  std::string source;             ///< publication, section, code
  std::string sample = "sample";  ///< what one sample is: "image", "sequence of 35 tokens"
  std::uint64_t batch = 1;        ///< the usual batch, in samples
  /// The first is the default. "all" (every GEMM quantised) is always known and need not be here.
  std::vector<ConventionRule> conventions;
  std::string file;  ///< for messages; "" = made by the program
};

/// Checks names, inputs, attributes and shapes and returns the output shape of every node, in
/// order. Throws InputError naming file, line and node: names that are empty, not unique or not
/// printable, inputs that do not come earlier, wrong attributes or kinds (with a suggestion),
/// shapes that do not fit, sizes over 64 bits.
std::vector<Shape> infer_shapes(const Graph& graph);

/// Indices of the inputs of every node ("the node before" resolved). Throws as infer_shapes.
std::vector<std::vector<std::size_t>> resolve_inputs(const Graph& graph);

/// The network of a graph under a convention ("" = the graph's first, "all" if it has none):
/// layers (GEMM work) and vector operations, in the order of the nodes. A recurrent node gives two
/// layers, NAME.input (all steps at once) and NAME.recurrent (step after step). A bias gives a
/// vector operation NAME.bias; a tensor with several readers one NAME.gradients, the backward sum.
/// Throws InputError as infer_shapes, and for an unknown convention or a pattern without a match.
Network build_network(const Graph& graph, const std::string& convention = "");

/// Names for --convention: the graph's own, and "all".
std::vector<std::string> convention_names(const Graph& graph);

/// Whether `name` matches `pattern`, in which * stands for any characters.
bool matches_pattern(const std::string& name, const std::string& pattern);

}  // namespace bitcycle
