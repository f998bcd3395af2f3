// ONNX models made by hand: the protobuf wire format, written field by field.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace bitcycle::onnx_testing {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

inline std::string number(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(value);
}

inline std::string bytes(int field, const std::string& content) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(content.size()) + content;
}

inline std::string real(int field, float value) {
  std::string out(4, '\0');
  std::memcpy(out.data(), &value, 4);
  return varint(static_cast<std::uint64_t>(field) << 3 | 5) + out;
}

using Dims = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

inline std::string attribute(const std::string& name, std::int64_t value) {
  return bytes(1, name) + number(3, static_cast<std::uint64_t>(value)) + number(20, 2);
}
inline std::string attribute(const std::string& name, const std::string& value) {
  return bytes(1, name) + bytes(4, value) + number(20, 3);
}
inline std::string attribute(const std::string& name, const Dims& values) {
  std::string out = bytes(1, name);
  for (const auto v : values) out += number(8, static_cast<std::uint64_t>(v));
  return out + number(20, 7);
}

/// An initialiser of floats without values (its dims are all that counts).
inline std::string tensor(const std::string& name, const Dims& dims) {
  std::string out;
  for (const auto d : dims) out += number(1, static_cast<std::uint64_t>(d));
  return out + number(2, 1) + bytes(8, name);
}

/// An initialiser of int64, values in raw_data.
inline std::string integers(const std::string& name, const Dims& values) {
  std::string raw;
  for (const std::int64_t v : values) {
    std::string one(8, '\0');
    std::memcpy(one.data(), &v, 8);
    raw += one;
  }
  return number(1, values.size()) + number(2, 7) + bytes(8, name) + bytes(9, raw);
}

/// A graph input or output; -1 stands for an open dimension called "open".
inline std::string value(const std::string& name, const Dims& dims) {
  std::string shape;
  for (const auto d : dims) {
    shape += bytes(1, d < 0 ? bytes(2, "open") : number(1, static_cast<std::uint64_t>(d)));
  }
  return bytes(1, name) + bytes(2, bytes(1, number(1, 1) + bytes(2, shape)));
}

inline std::string node(const std::string& op, const Names& inputs, const Names& outputs,
                        const Names& attributes = {}, const std::string& domain = "") {
  std::string out;
  for (const auto& input : inputs) out += bytes(1, input);
  for (const auto& output : outputs) out += bytes(2, output);
  out += bytes(3, op + "_node") + bytes(4, op);
  for (const auto& one : attributes) out += bytes(5, one);
  return domain.empty() ? out : out + bytes(7, domain);
}

struct Parts {
  Names inputs, outputs, initializers, nodes;
};

inline std::string model(const Parts& parts) {
  std::string graph;
  for (const auto& one : parts.nodes) graph += bytes(1, one);
  graph += bytes(2, "graph");
  for (const auto& one : parts.initializers) graph += bytes(5, one);
  for (const auto& one : parts.inputs) graph += bytes(11, one);
  for (const auto& one : parts.outputs) graph += bytes(12, one);
  return number(1, 8) + bytes(2, "test") + bytes(7, graph) + bytes(8, number(2, 13));
}

}  // namespace bitcycle::onnx_testing
