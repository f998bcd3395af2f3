// Shapes of all tensors of an ONNX model, and the values of those that shapes depend on. Internal
// to workloads/.
//
// Tensors that follow from initialisers alone are constant. The values of small constants, and of
// the arithmetic on shapes that exporters write (Shape, Gather, Unsqueeze, Concat, ...), are
// followed; all numbers are held as double, which is exact up to 2^53.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "golden/error.hpp"
#include "workloads/onnx_reader.hpp"

namespace bitcycle {

using Dims = std::vector<std::uint64_t>;

struct TensorInfo {
  bool known = false;  ///< dims hold
  Dims dims;
  bool constant = false;
  bool integer = false;
  std::optional<std::vector<double>> values;
  std::string origin;   ///< initialiser that this only rearranges; "" = none or several
  std::string unknown;  ///< why dims are not known: "after operator X"

  /// Throws InputError over 64 bits.
  std::uint64_t elements() const;
};

/// Larger sizes are refused.
constexpr std::uint64_t kMaxOnnxSize = std::uint64_t{1} << 48;

std::string dims_text(const Dims& dims);  ///< "[1, 3, 32, 32]"

/// A double as a whole number, held inside +-2^62; not a number becomes 0.
std::int64_t whole(double value);

/// 0 for a negative value.
inline std::uint64_t unsigned_size(std::int64_t value) {
  return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

/// Shape inference, node by node in the order of the file.
class OnnxShapes {
 public:
  explicit OnnxShapes(const OnnxModel& model) : model_(model) {}

  void set(const std::string& name, TensorInfo info) { tensors_[name] = std::move(info); }
  /// Info of a tensor; one that is unknown if nothing is known of it.
  const TensorInfo& of(const std::string& name) const;
  /// Info of input `i` of the node; unknown if it is left out.
  const TensorInfo& input(const OnnxNode& node, std::size_t i) const;
  bool has_input(const OnnxNode& node, std::size_t i) const;

  /// Whether the operator's output shapes are known here.
  static bool knows(const OnnxNode& node);

  /// Sets the outputs of the node. Throws InputError naming the node where its inputs do not fit.
  /// Outputs stay unknown if an input is, or if a value that shapes depend on is.
  void infer(const OnnxNode& node);

  /// Whole numbers of an attribute, or of input `i`.
  std::optional<std::vector<std::int64_t>> numbers(const OnnxNode& node, const char* attribute,
                                                   std::size_t i) const;

  InputError fail(const OnnxNode& node, const std::string& what, const std::string& found,
                  const std::string& allowed) const;

  /// axis as 0..rank-1. Throws InputError.
  std::size_t axis(const OnnxNode& node, std::int64_t axis, std::size_t rank) const;

  /// Begin and end padding of every spatial axis of a convolution or pooling, auto_pad resolved.
  struct Window {
    std::vector<std::uint64_t> kernel, stride, dilation, begin, end;
  };
  /// `spatial` are the sizes of the input's spatial axes. Throws InputError.
  Window window(const OnnxNode& node, const Dims& spatial, const Dims& kernel,
                bool transposed) const;

 private:
  using Shape = std::optional<Dims>;  // nothing: it depends on values that are not known
  Shape first(const OnnxNode& node) const;
  Shape special(const OnnxNode& node) const;
  Dims broadcast(const OnnxNode& node) const;
  Dims matmul(const OnnxNode& node) const;
  Dims gemm(const OnnxNode& node) const;
  Dims convolution(const OnnxNode& node) const;
  Dims pool(const OnnxNode& node) const;
  Dims concat(const OnnxNode& node) const;
  Dims gather(const OnnxNode& node) const;
  Dims flatten(const OnnxNode& node) const;
  Dims transpose(const OnnxNode& node) const;
  Dims shuffle(const OnnxNode& node) const;
  Shape reduce(const OnnxNode& node) const;
  Shape reshape(const OnnxNode& node) const;
  Shape slice(const OnnxNode& node) const;
  Shape resize(const OnnxNode& node) const;
  Shape pad(const OnnxNode& node) const;
  Shape squeeze(const OnnxNode& node) const;
  Shape unsqueeze(const OnnxNode& node) const;
  Shape expand(const OnnxNode& node) const;
  Shape range(const OnnxNode& node) const;
  void split(const OnnxNode& node);
  void recurrent(const OnnxNode& node);
  void finish(const OnnxNode& node, TensorInfo info);

  const OnnxModel& model_;
  std::unordered_map<std::string, TensorInfo> tensors_;
};

/// Values of the node's first output where they follow from known values of its inputs; `dims` are
/// its dims. Operators that are not folded give nothing.
std::optional<std::vector<double>> fold_values(const OnnxNode& node,
                                               const std::vector<const TensorInfo*>& inputs,
                                               const Dims& dims);

}  // namespace bitcycle
