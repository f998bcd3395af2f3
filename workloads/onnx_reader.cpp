#include "workloads/onnx_reader.hpp"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "golden/utf8.hpp"

namespace bitcycle {
namespace {

using google::protobuf::io::CodedInputStream;

constexpr int kMostRank = 16;
constexpr std::size_t kLongestName = 4096;
constexpr std::size_t kLongestVarint = 10;
constexpr const char* kWhat = "an ONNX model";

// TensorProto.DataType
constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kInt16 = 5, kInt32 = 6, kInt64 = 7, kBool = 9,
              kDouble = 11;

enum Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

class Reader {
 public:
  Reader(google::protobuf::io::ZeroCopyInputStream* stream, int size, std::string path)
      : in_(stream), size_(size), path_(std::move(path)) {
    in_.SetTotalBytesLimit(INT_MAX);
  }

  OnnxModel read() {
    model_.file = path_;
    const auto limit = in_.PushLimit(size_);
    bool graph = false;
    fields([&](int field, int wire) {
      if (field == 1 && wire == kVarint) {
        model_.ir_version = static_cast<std::int64_t>(varint());
      } else if (field == 2 && wire == kBytes) {
        model_.producer = text("producer name");
      } else if (field == 7 && wire == kBytes) {
        if (graph) fail("a second graph", "one graph");
        graph = true;
        message([&] { read_graph(); });
      } else if (field == 8 && wire == kBytes) {
        message([&] { read_opset(); });
      } else {
        if (field == 25) ++model_.functions;
        skip(wire);
      }
    });
    in_.PopLimit(limit);
    if (!graph) fail("no graph", kWhat);
    return std::move(model_);
  }

 private:
  [[noreturn]] void fail(const std::string& found, const std::string& allowed) {
    throw input_error(path_, 0, "byte " + std::to_string(in_.CurrentPosition()), found, allowed);
  }

  // Calls `handle(field, wire type)` for each field up to the current limit.
  template <typename Handle>
  void fields(const Handle& handle) {
    while (in_.BytesUntilLimit() > 0) {
      const std::uint32_t tag = in_.ReadTag();
      const int field = static_cast<int>(tag >> 3);
      const int wire = static_cast<int>(tag & 7);
      if (tag == 0 || field == 0) fail("a malformed or cut field", kWhat);
      handle(field, wire);
    }
  }

  // Runs `body` with the limit of the message that begins here.
  template <typename Body>
  void message(const Body& body) {
    const int size = length();
    const auto limit = in_.PushLimit(size);
    body();
    in_.PopLimit(limit);
  }

  int length() {
    int size = 0;
    if (!in_.ReadVarintSizeAsInt(&size) || size < 0 || size > in_.BytesUntilLimit()) {
      fail("a length that goes past the end (cut off?)", kWhat);
    }
    return size;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    if (!in_.ReadVarint64(&value)) fail("a malformed or cut number", kWhat);
    return value;
  }

  std::uint64_t size_number(const char* what) {
    const auto value = static_cast<std::int64_t>(varint());
    if (value < 0) fail(std::string(what) + " " + std::to_string(value), "0 or more");
    return static_cast<std::uint64_t>(value);
  }

  std::uint32_t fixed32() {
    std::uint32_t value = 0;
    if (!in_.ReadLittleEndian32(&value)) fail("a cut number", kWhat);
    return value;
  }

  std::uint64_t fixed64() {
    std::uint64_t value = 0;
    if (!in_.ReadLittleEndian64(&value)) fail("a cut number", kWhat);
    return value;
  }

  static double as_float(std::uint32_t bits) {
    float value = 0.0F;
    std::memcpy(&value, &bits, sizeof value);
    return static_cast<double>(value);
  }

  static double as_double(std::uint64_t bits) {
    double value = 0.0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  void keep(std::size_t bytes) {
    kept_ += bytes;
    if (kept_ > kMostKept) {
      fail("more than 256 MB of structure", "a model whose bulk is in its tensors");
    }
  }

  // A name: bounded, and text.
  std::string text(const char* what) {
    const int size = length();
    if (static_cast<std::size_t>(size) > kLongestName) {
      fail(std::string(what) + " of " + std::to_string(size) + " bytes",
           "at most " + std::to_string(kLongestName));
    }
    std::string out;
    if (!in_.ReadString(&out, size)) fail("a cut text", kWhat);
    if (!is_clean_utf8(out)) fail(std::string(what) + " that is no text", "UTF-8");
    keep(out.size() + sizeof(std::string));
    return out;
  }

  void skip_bytes(int size) {
    if (!in_.Skip(size)) fail("a cut field", kWhat);
  }

  void skip(int wire) {
    switch (wire) {
      case kVarint:
        (void)varint();
        return;
      case kFixed64:
        (void)fixed64();
        return;
      case kFixed32:
        (void)fixed32();
        return;
      case kBytes:
        skip_bytes(length());
        return;
      default:
        fail("wire type " + std::to_string(wire), kWhat);
    }
  }

  void read_opset() {
    std::string domain;
    std::int64_t version = 0;
    fields([&](int field, int wire) {
      if (field == 1 && wire == kBytes) {
        domain = text("operator set");
      } else if (field == 2 && wire == kVarint) {
        version = static_cast<std::int64_t>(varint());
      } else {
        skip(wire);
      }
    });
    if (domain.empty() || domain == "ai.onnx") model_.opset = version;
  }

  void read_graph() {
    fields([&](int field, int wire) {
      if (wire != kBytes) {
        skip(wire);
        return;
      }
      switch (field) {
        case 1:
          keep(sizeof(OnnxNode));
          model_.nodes.emplace_back();
          message([&] { read_node(model_.nodes.back()); });
          return;
        case 2:
          model_.graph_name = text("graph name");
          return;
        case 5:
          keep(sizeof(OnnxTensor));
          model_.initializers.emplace_back();
          message([&] { read_tensor(model_.initializers.back(), true); });
          return;
        case 11:
          read_value(model_.inputs);
          return;
        case 12:
          read_value(model_.outputs);
          return;
        case 13:
          read_value(model_.values);
          return;
        case 15:
          fail("a sparse initialiser", "dense initialisers");
        default:
          skip(wire);
      }
    });
  }

  void read_value(std::vector<OnnxValue>& list) {
    keep(sizeof(OnnxValue));
    list.emplace_back();
    OnnxValue& value = list.back();
    message([&] {
      fields([&](int field, int wire) {
        if (field == 1 && wire == kBytes) {
          value.name = text("value name");
        } else if (field == 2 && wire == kBytes) {
          message([&] { read_type(value); });
        } else {
          skip(wire);
        }
      });
    });
  }

  void read_type(OnnxValue& value) {
    fields([&](int field, int wire) {
      if (field != 1 || wire != kBytes) {  // a sequence or map: no tensor
        skip(wire);
        return;
      }
      message([&] {
        fields([&](int inner, int inner_wire) {
          if (inner == 2 && inner_wire == kBytes) {
            value.has_shape = true;
            message([&] { read_shape(value); });
          } else {
            skip(inner_wire);
          }
        });
      });
    });
  }

  void read_shape(OnnxValue& value) {
    fields([&](int field, int wire) {
      if (field != 1 || wire != kBytes) {
        skip(wire);
        return;
      }
      if (value.dims.size() == kMostRank) fail("more than 16 dimensions", "at most 16");
      keep(sizeof(OnnxDim));
      value.dims.emplace_back();
      message([&] {
        fields([&](int inner, int inner_wire) {
          if (inner == 1 && inner_wire == kVarint) {
            value.dims.back().value = size_number("dimension");
          } else if (inner == 2 && inner_wire == kBytes) {
            value.dims.back().name = text("dimension name");
          } else {
            skip(inner_wire);
          }
        });
      });
    });
  }

  void read_node(OnnxNode& node) {
    fields([&](int field, int wire) {
      if (wire != kBytes) {
        skip(wire);
        return;
      }
      switch (field) {
        case 1:
          node.inputs.push_back(text("input name"));
          return;
        case 2:
          node.outputs.push_back(text("output name"));
          return;
        case 3:
          node.name = text("node name");
          return;
        case 4:
          node.op = text("operator");
          return;
        case 5:
          read_attribute(node);
          return;
        case 7:
          node.domain = text("domain");
          if (node.domain == "ai.onnx") node.domain.clear();
          return;
        default:
          skip(wire);
      }
    });
  }

  void read_attribute(OnnxNode& node) {
    keep(sizeof(OnnxAttribute) + 64);
    std::string name;
    OnnxAttribute value;
    overflow_ = false;
    message([&] {
      fields([&](int field, int wire) {
        if (field == 1 && wire == kBytes) {
          name = text("attribute name");
        } else if (field == 2 && wire == kFixed32) {
          value.f = as_float(fixed32());
          value.has_f = true;
        } else if (field == 3 && wire == kVarint) {
          value.i = static_cast<std::int64_t>(varint());
          value.has_i = true;
        } else if (field == 4 && wire == kBytes) {
          read_bytes(value.s);
        } else if (field == 5 && wire == kBytes) {
          value.has_tensor = true;
          message([&] { read_tensor(value.tensor, false); });
        } else if (field == 7) {
          read_floats(wire, value.floats);
        } else if (field == 8) {
          read_integers(wire, value.ints);
        } else {
          value.has_graph = value.has_graph || field == 6 || field == 11;
          skip(wire);
        }
      });
    });
    if (overflow_ && !value.has_tensor) {
      fail("attribute '" + name + "' with more numbers", std::to_string(kMostValues));
    }
    node.attributes[name] = std::move(value);
  }

  // Bytes of an attribute: kept if they can be a word that matters.
  void read_bytes(std::string& out) {
    const int size = length();
    if (static_cast<std::size_t>(size) > kLongestName) {
      skip_bytes(size);
      return;
    }
    if (!in_.ReadString(&out, size)) fail("a cut text", kWhat);
    keep(out.size());
  }

  // Repeated numbers, packed or one by one. More than kMostValues are dropped without being read
  // where they are packed; `overflow_` says so.
  template <typename Number, typename Take>
  void repeated(int wire, int single, std::vector<Number>& out, const Take& take) {
    const auto push = [&] {
      const Number value = take();
      if (out.size() < kMostValues) {
        keep(sizeof value);
        out.push_back(value);
      } else {
        overflow_ = true;
      }
    };
    if (wire == single) {
      push();
      return;
    }
    if (wire != kBytes) fail("wire type " + std::to_string(wire), kWhat);
    const int size = length();
    if (static_cast<std::size_t>(size) > kMostValues * kLongestVarint) {
      skip_bytes(size);
      overflow_ = true;
      return;
    }
    const auto limit = in_.PushLimit(size);
    while (in_.BytesUntilLimit() > 0) push();
    in_.PopLimit(limit);
  }

  void read_integers(int wire, std::vector<std::int64_t>& out) {
    repeated(wire, kVarint, out, [&] { return static_cast<std::int64_t>(varint()); });
  }
  void read_floats(int wire, std::vector<double>& out) {
    repeated(wire, kFixed32, out, [&] { return as_float(fixed32()); });
  }
  void read_doubles(int wire, std::vector<double>& out) {
    repeated(wire, kFixed64, out, [&] { return as_double(fixed64()); });
  }

  // A tensor. Its bulk is skipped by length, not read, unless it is small.
  void read_tensor(OnnxTensor& tensor, bool initializer) {
    std::string raw;
    overflow_ = false;
    const int start = in_.CurrentPosition();
    fields([&](int field, int wire) {
      switch (field) {
        case 1:
          read_dims(wire, tensor);
          return;
        case 2:
          if (wire != kVarint) fail("wire type " + std::to_string(wire), kWhat);
          tensor.type = static_cast<int>(std::min<std::uint64_t>(varint(), 1000));
          return;
        case 4:
          read_floats(wire, tensor.floats);
          return;
        case 10:
          read_doubles(wire, tensor.floats);
          return;
        case 5:
        case 7:
        case 11:
          read_integers(wire, tensor.ints);
          return;
        case 8:
          if (wire != kBytes) fail("wire type " + std::to_string(wire), kWhat);
          tensor.name = text("tensor name");
          return;
        case 9:
          if (wire != kBytes) fail("wire type " + std::to_string(wire), kWhat);
          read_raw(raw);
          return;
        case 14:
          if (wire != kVarint) fail("wire type " + std::to_string(wire), kWhat);
          tensor.external = varint() == 1;
          return;
        default:
          skip(wire);
      }
    });
    finish_tensor(tensor, raw);
    if (initializer) {
      model_.initializer_bytes += static_cast<std::uint64_t>(in_.CurrentPosition() - start);
      model_.external += tensor.external ? 1 : 0;
    }
  }

  void read_raw(std::string& raw) {
    const int size = length();
    if (static_cast<std::size_t>(size) > kMostValues * 8) {
      skip_bytes(size);
      overflow_ = true;
    } else if (!in_.ReadString(&raw, size)) {
      fail("a cut tensor", kWhat);
    }
  }

  void read_dims(int wire, OnnxTensor& tensor) {
    const auto push = [&] {
      if (tensor.dims.size() == kMostRank) fail("more than 16 dimensions", "at most 16");
      tensor.dims.push_back(size_number("dimension"));
    };
    if (wire == kVarint) {
      push();
    } else if (wire == kBytes) {
      message([&] {
        while (in_.BytesUntilLimit() > 0) push();
      });
    } else {
      fail("wire type " + std::to_string(wire), kWhat);
    }
  }

  void finish_tensor(OnnxTensor& tensor, const std::string& raw) {
    const std::uint64_t elements = tensor.elements();
    if (!tensor.external && !overflow_ && elements <= kMostValues) {
      if (!raw.empty()) decode(tensor, raw);
      const bool floating = tensor.type == kFloat || tensor.type == kDouble;
      const std::size_t found = floating ? tensor.floats.size() : tensor.ints.size();
      tensor.has_values = found == elements;
    }
    if (!tensor.has_values) {
      tensor.ints = {};
      tensor.floats = {};
    }
  }

  void decode(OnnxTensor& tensor, const std::string& raw) {
    const auto each = [&](std::size_t size, const auto& take) {
      if (raw.size() % size != 0) return;
      keep(raw.size() / size * 8);
      for (std::size_t at = 0; at < raw.size(); at += size) take(raw.data() + at);
    };
    const auto integer = [&](auto zero) {
      each(sizeof zero, [&](const char* from) {
        auto value = zero;
        std::memcpy(&value, from, sizeof value);
        tensor.ints.push_back(static_cast<std::int64_t>(value));
      });
    };
    switch (tensor.type) {
      case kFloat:
        each(4, [&](const char* from) {
          std::uint32_t bits = 0;
          std::memcpy(&bits, from, 4);
          tensor.floats.push_back(as_float(bits));
        });
        return;
      case kDouble:
        each(8, [&](const char* from) {
          std::uint64_t bits = 0;
          std::memcpy(&bits, from, 8);
          tensor.floats.push_back(as_double(bits));
        });
        return;
      case kInt64:
        integer(std::int64_t{0});
        return;
      case kInt32:
        integer(std::int32_t{0});
        return;
      case kInt16:
        integer(std::int16_t{0});
        return;
      case kInt8:
        integer(std::int8_t{0});
        return;
      case kUint8:
      case kBool:
        integer(std::uint8_t{0});
        return;
      default:
        return;  // no values known: half floats, strings
    }
  }

  CodedInputStream in_;
  int size_;
  std::string path_;
  OnnxModel model_;
  std::size_t kept_ = 0;
  bool overflow_ = false;  // more values than kMostValues in the tensor or attribute at hand
};

}  // namespace

std::uint64_t OnnxTensor::elements() const {
  std::uint64_t out = 1;
  for (const std::uint64_t dim : dims) out = checked_mul(out, dim, "elements of a tensor");
  return out;
}

std::int64_t OnnxNode::integer(const std::string& attribute, std::int64_t fallback) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() || !found->second.has_i ? fallback : found->second.i;
}

double OnnxNode::real(const std::string& attribute, double fallback) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() || !found->second.has_f ? fallback : found->second.f;
}

std::string OnnxNode::text(const std::string& attribute, const std::string& fallback) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? fallback : found->second.s;
}

std::vector<std::int64_t> OnnxNode::integers(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? std::vector<std::int64_t>{} : found->second.ints;
}

OnnxModel read_onnx(const std::string& path) {
  struct File {
    int descriptor;
    ~File() {
      if (descriptor >= 0) ::close(descriptor);
    }
  };
  const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};  // NOLINT(*-vararg)
  struct stat status {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &status) != 0) {
    throw input_error(path, 0, "ONNX file", "no readable file", kWhat);
  }
  if (!S_ISREG(status.st_mode)) {
    throw input_error(path, 0, "ONNX file", "a directory or device", kWhat);
  }
  if (status.st_size == 0) throw input_error(path, 0, "ONNX file", "an empty file", kWhat);
  if (status.st_size >= INT_MAX) {
    throw input_error(path, 0, "ONNX file", std::to_string(status.st_size) + " bytes",
                      "under 2 GB, protobuf's limit (larger models have external data)");
  }
  constexpr int kBuffer = 1 << 16;
  google::protobuf::io::FileInputStream stream(file.descriptor, kBuffer);
  return Reader(&stream, static_cast<int>(status.st_size), path).read();
}

OnnxModel parse_onnx(const std::string& bytes, const std::string& path) {
  if (bytes.size() >= INT_MAX) throw input_error(path, 0, "ONNX file", "2 GB or more", "less");
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  return Reader(&stream, static_cast<int>(bytes.size()), path).read();
}

}  // namespace bitcycle
