// Builds a Graph from the nodes of an ONNX model, one after the other. Internal to workloads/.
//
// ONNX tensors have any rank and hold the whole batch; tensors of a Graph are channels x height x
// width of one sample. So each ONNX tensor is a graph node and a shape with as many elements per
// sample; rearrangements (Reshape, Transpose, Flatten, ...) only rename it, and where an operator
// needs another arrangement, a reshape node is put between.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "workloads/import.hpp"
#include "workloads/import_formats.hpp"
#include "workloads/onnx_shapes.hpp"

namespace bitcycle {

/// A tensor of one sample.
struct Active {
  std::size_t node = 0;  ///< in Graph::nodes
  Shape shape;
  bool swapped = false;  ///< the last two axes of the ONNX tensor were exchanged since the node
};

/// What became of an operator.
enum class Fate { kLayer, kVector, kNone, kConstant, kUnsupported, kUnreached };
std::string to_string(Fate fate);

class OnnxBuilder {
 public:
  OnnxBuilder(const OnnxModel& model, OnnxShapes& shapes, const ImportOptions& options,
              std::uint64_t batch);

  /// The graph input of that name, whose dims are set in the shapes.
  void add_input(const std::string& name);
  /// All nodes of the model. Throws InputError.
  void add_nodes();

  Graph graph;
  std::vector<Shape> node_shapes;  ///< of the graph's nodes, as the builder believes them
  std::map<std::pair<Fate, std::string>, std::uint64_t> fates;
  std::map<std::string, std::uint64_t> notes;  ///< text and how often

 private:
  using Inputs = std::vector<Active>;
  using Numbers = std::map<std::string, std::uint64_t>;

  void infer_all();
  void add_node(std::size_t index);
  bool add_layer(const OnnxNode& node);
  bool add_vector(const OnnxNode& node);
  bool add_arrangement(const OnnxNode& node);
  void refuse_unsupported() const;

  // Layers.
  void convolution(const OnnxNode& node);
  void matmul(const OnnxNode& node);
  void dense(const OnnxNode& node, std::size_t weight, std::uint64_t in, std::uint64_t out,
             bool bias);
  void product(const OnnxNode& node);
  void gemm(const OnnxNode& node);
  void recurrent(const OnnxNode& node);
  void gather(const OnnxNode& node);

  // Vector work.
  void normalisation(const OnnxNode& node, Op op, std::uint64_t channels);
  void unary(const OnnxNode& node, std::uint64_t forward, std::uint64_t backward);
  void binary(const OnnxNode& node);
  void pool(const OnnxNode& node);
  void reduce(const OnnxNode& node);
  void concat(const OnnxNode& node);
  void resize(const OnnxNode& node);
  void pad(const OnnxNode& node);
  void select(const OnnxNode& node);
  bool fuse_bias(const OnnxNode& node);

  // Patterns of several nodes (onnx_patterns.cpp). They mark the nodes that they take.
  bool layer_norm_pattern(std::size_t index);
  bool gelu_pattern(std::size_t index);
  const OnnxNode* only_reader(const std::string& tensor, const char* op) const;
  bool constant_operand(const OnnxNode& node, const std::string& other) const;
  void take(const OnnxNode& node);

  // Tensors.
  bool is_active(const std::string& tensor) const { return active_.count(tensor) != 0; }
  Active of(const std::string& tensor);
  Shape shape_of(const Dims& dims, const OnnxNode& node) const;
  std::uint64_t per_sample(const OnnxNode& node, const Dims& dims) const;
  Active as(const Active& tensor, const Shape& shape, const OnnxNode& node);
  Active emit(const OnnxNode& node, Op op, const Inputs& inputs, const Shape& shape,
              const Numbers& numbers = {}, const std::string& kind = "",
              const std::string& suffix = "");
  Active detached(const std::string& name, const Shape& shape);
  Active cut(const Active& tensor, const Shape& shape, const OnnxNode& node);
  void bind(const OnnxNode& node, const Active& tensor, std::size_t output = 0);
  void share_weights(const OnnxNode& node, std::size_t weight);
  void count(const OnnxNode& node, Fate fate);
  std::string label(const OnnxNode& node) const;

  const OnnxModel& model_;
  OnnxShapes& shapes_;
  const ImportOptions& options_;
  std::uint64_t batch_;
  NodeNames names_;
  std::unordered_map<std::string, Active> active_;
  std::unordered_map<std::string, std::vector<std::size_t>> readers_;
  std::unordered_map<std::string, std::size_t> outputs_;  // graph outputs by name
  std::map<std::string, std::string> owners_;  // initialiser -> graph node with these weights
  // A zero-padded tensor that a convolution or pooling may take as its own padding.
  struct Padded {
    std::string source;
    std::uint64_t top = 0, left = 0, bottom = 0, right = 0;
  };
  std::unordered_map<std::string, Padded> padded_;
  std::unordered_map<std::string, std::size_t> unbiased_;  // results of dense nodes without bias
  std::vector<bool> taken_;
};

}  // namespace bitcycle
