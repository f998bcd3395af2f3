// The structure of an ONNX model, without its weights. Field numbers are those of onnx.proto (ONNX
// 1.12, IR version 8); unknown fields are skipped, as protobuf demands.
//
// What is guaranteed: the file is read once, front to back, through a buffer of 64 KB. Of tensors
// only names, types and dims are kept, and values if there are at most kMostValues of them (shapes,
// axes, scales); the rest is skipped without being read. External data files are never opened. What
// is kept may take kMostKept bytes; a model with more structure is refused. So a file of 2 GB, the
// most that protobuf allows, is read in bounded memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bitcycle {

constexpr std::size_t kMostValues = 4096;
constexpr std::size_t kMostKept = std::size_t{256} << 20;

struct OnnxTensor {
  std::string name;
  int type = 0;  ///< TensorProto.DataType
  std::vector<std::uint64_t> dims;
  bool has_values = false;         ///< one of the two below holds all elements
  std::vector<std::int64_t> ints;  ///< of the integer types and bool
  std::vector<double> floats;      ///< of float and double
  bool external = false;

  /// Product of the dims; throws InputError over 64 bits.
  std::uint64_t elements() const;
};

struct OnnxAttribute {
  std::int64_t i = 0;
  double f = 0.0;
  std::string s;
  std::vector<std::int64_t> ints;
  std::vector<double> floats;
  OnnxTensor tensor;
  bool has_i = false, has_f = false, has_tensor = false;
  bool has_graph = false;  ///< a subgraph: its content is skipped
};

/// A dimension: a size, or a name ("" = anything) if value is 0.
struct OnnxDim {
  std::uint64_t value = 0;
  std::string name;
};

struct OnnxValue {
  std::string name;
  bool has_shape = false;
  std::vector<OnnxDim> dims;
};

struct OnnxNode {
  std::string name, op, domain;              ///< domain "" = ONNX's own ("ai.onnx" too)
  std::vector<std::string> inputs, outputs;  ///< "" = left out
  std::map<std::string, OnnxAttribute> attributes;

  std::int64_t integer(const std::string& attribute, std::int64_t fallback) const;
  double real(const std::string& attribute, double fallback) const;
  std::string text(const std::string& attribute, const std::string& fallback) const;
  std::vector<std::int64_t> integers(const std::string& attribute) const;
  bool has(const std::string& attribute) const { return attributes.count(attribute) != 0; }
};

struct OnnxModel {
  std::string file;
  std::int64_t ir_version = 0;
  std::int64_t opset = 0;  ///< of ONNX's own operators; 0 = not said
  std::string producer;
  std::string graph_name;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxValue> inputs, outputs, values;
  std::uint64_t initializer_bytes = 0;  ///< inside the file
  std::size_t external = 0;             ///< initialisers whose data is in other files
  std::size_t functions = 0;            ///< model-local functions: not read
};

/// Throws InputError with the byte offset: not readable, over 2 GB, truncated, malformed, more
/// structure than kMostKept, negative sizes, no graph.
OnnxModel read_onnx(const std::string& path);
/// The same from memory.
OnnxModel parse_onnx(const std::string& bytes, const std::string& path);

}  // namespace bitcycle
