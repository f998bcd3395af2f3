// ONNX: which axis is the batch, sizes of open dimensions, and what the report says.
#include "workloads/onnx_import.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "golden/checked.hpp"
#include "workloads/onnx_builder.hpp"
#include "workloads/onnx_shapes.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kMaxSize = 0xFFFF'FFFF;

class Importer {
 public:
  Importer(const OnnxModel& model, const ImportOptions& options)
      : model_(model), options_(options), shapes_(model) {}

  ImportedNetwork run() {
    add_initializers();
    const std::vector<std::string> inputs = size_inputs();
    OnnxBuilder builder(model_, shapes_, options_, batch_);
    builder.graph.name = graph_name(std::filesystem::path(model_.file).stem().string());
    builder.graph.batch = batch_;
    builder.graph.source =
        "ONNX file " + graph_name(std::filesystem::path(model_.file).filename().string()) +
        (model_.producer.empty() ? "" : ", written by " + graph_name(model_.producer));
    for (const auto& name : inputs) builder.add_input(name);
    builder.add_nodes();
    // Two inferences, ONNX's and the graph's, must agree.
    const std::vector<Shape> shapes = infer_shapes(builder.graph);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i] == builder.node_shapes[i]) continue;
      throw std::logic_error("import of " + model_.file + ": node '" + builder.graph.nodes[i].name +
                             "' has shape " + to_string(shapes[i]) + ", not " +
                             to_string(builder.node_shapes[i]));
    }
    return result(builder);
  }

 private:
  void add_initializers() {
    std::set<std::string> seen;
    for (const OnnxTensor& tensor : model_.initializers) {
      if (!seen.insert(tensor.name).second) {
        throw input_error(model_.file, 0, "initialiser '" + tensor.name + "'", "the name twice",
                          "each name once");
      }
      TensorInfo info;
      info.known = info.constant = true;
      info.dims = tensor.dims;
      info.integer = tensor.floats.empty();
      info.origin = tensor.name;
      (void)info.elements();
      if (tensor.has_values) {
        info.values.emplace(tensor.floats);
        for (const std::int64_t v : tensor.ints) info.values->push_back(static_cast<double>(v));
      }
      shapes_.set(tensor.name, std::move(info));
    }
    initializers_ = std::move(seen);
  }

  // Sizes of all inputs that are not initialisers.
  std::vector<std::string> size_inputs() {
    std::vector<const OnnxValue*> inputs;
    std::set<std::string> names;
    for (const OnnxValue& value : model_.inputs) {
      if (initializers_.count(value.name) != 0) continue;
      if (!names.insert(value.name).second) {
        throw input_error(model_.file, 0, "input '" + value.name + "'", "twice", "each once");
      }
      if (!value.has_shape) {
        throw input_error(model_.file, 0, "input '" + value.name + "'", "no shape",
                          "tensors with a shape");
      }
      inputs.push_back(&value);
    }
    if (inputs.empty()) throw input_error(model_.file, 0, "inputs", "none", "a model with inputs");
    find_batch(inputs);
    std::set<std::string> used;
    std::vector<std::string> out;
    for (const OnnxValue* value : inputs) {
      TensorInfo info;
      info.known = true;
      for (std::size_t i = 0; i < value->dims.size(); ++i) {
        info.dims.push_back(size_of(*value, i, used));
      }
      (void)info.elements();
      shapes_.set(value->name, std::move(info));
      out.push_back(value->name);
    }
    for (const auto& [name, size] : options_.dims) {
      if (used.count(name) != 0) continue;
      const std::vector<std::string> known(open_.begin(), open_.end());
      throw input_error(model_.file, 0, "--dim", "'" + name + "'" + suggestion(name, known),
                        known.empty() ? "none: the model has no open dimensions" : join(known));
    }
    return out;
  }

  static std::string open_name(const OnnxValue& value, std::size_t i) {
    const std::string& name = value.dims[i].name;
    return name.empty() ? value.name + "." + std::to_string(i) : name;
  }

  void find_batch(const std::vector<const OnnxValue*>& inputs) {
    for (const OnnxValue* value : inputs) {
      for (std::size_t i = 0; i < value->dims.size(); ++i) {
        if (value->dims[i].value == 0) open_.insert(open_name(*value, i));
      }
    }
    const auto first = std::find_if(inputs.begin(), inputs.end(), [&](const OnnxValue* value) {
      return value->dims.size() > options_.batch_axis;
    });
    if (first == inputs.end()) return;
    const OnnxDim& dim = (*first)->dims[options_.batch_axis];
    if (dim.value != 0) {
      batch_ = dim.value;
    } else {
      batch_dim_ = open_name(**first, options_.batch_axis);
      const auto given = options_.dims.find(batch_dim_);
      if (given != options_.dims.end()) batch_ = given->second;
    }
  }

  std::uint64_t size_of(const OnnxValue& value, std::size_t i, std::set<std::string>& used) const {
    const OnnxDim& dim = value.dims[i];
    if (dim.value != 0) {
      if (dim.value > kMaxSize) {
        throw input_error(model_.file, 0, "input '" + value.name + "'", std::to_string(dim.value),
                          "sizes up to " + std::to_string(kMaxSize));
      }
      return dim.value;
    }
    const std::string name = open_name(value, i);
    const auto given = options_.dims.find(name);
    if (given != options_.dims.end()) {
      used.insert(name);
      return given->second;
    }
    if (name == batch_dim_ || i == options_.batch_axis) return batch_;
    throw input_error(model_.file, 0, "input '" + value.name + "', dimension " + std::to_string(i),
                      "no size for '" + name + "'", "--dim " + name + "=N");
  }

  ImportedNetwork result(OnnxBuilder& builder) const {
    ImportedNetwork out;
    out.format = ImportFormat::kOnnx;
    out.file_batch = batch_;
    for (const auto& [key, count] : builder.fates) {
      out.operators.push_back({key.second, to_string(key.first), count});
    }
    out.notes.push_back(
        batch_dim_.empty()
            ? "batch in the file: " + std::to_string(batch_) + " (axis " +
                  std::to_string(options_.batch_axis) + " of the inputs); sizes are of one sample"
            : "batch: dimension '" + batch_dim_ + "' is open; sizes are of one sample");
    out.notes.push_back(std::to_string(model_.initializers.size()) +
                        (model_.initializers.size() == 1 ? " initialiser, " : " initialisers, ") +
                        std::to_string(model_.initializer_bytes) +
                        " bytes: only their dimensions were kept" +
                        (model_.external == 0 ? ""
                                              : "; the data of " + std::to_string(model_.external) +
                                                    " is in other files, which were not opened"));
    for (const auto& [text, count] : builder.notes) {
      out.notes.push_back(count == 1 ? text : text + " (" + std::to_string(count) + " times)");
    }
    out.graph = std::move(builder.graph);
    return out;
  }

  const OnnxModel& model_;
  const ImportOptions& options_;
  OnnxShapes shapes_;
  std::set<std::string> initializers_;
  std::set<std::string> open_;
  std::string batch_dim_;  // open dimension that counts samples
  std::uint64_t batch_ = 1;
};

}  // namespace

ImportedNetwork import_onnx(const OnnxModel& model, const ImportOptions& options) {
  return Importer(model, options).run();
}

ImportedNetwork import_onnx(const std::string& path, const ImportOptions& options) {
  return import_onnx(read_onnx(path), options);
}

}  // namespace bitcycle
