// Which reader, and layers without connections as a graph.
#include "workloads/import.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "golden/utf8.hpp"
#include "workloads/import_formats.hpp"
#include "workloads/onnx_import.hpp"

namespace bitcycle {
namespace {

std::string extension_of(const std::string& path) {
  std::string out = std::filesystem::path(path).extension().string();
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

ImportFormat format_of(const std::string& path) {
  const std::string extension = extension_of(path);
  if (extension == ".onnx") return ImportFormat::kOnnx;
  if (extension == ".csv") return ImportFormat::kScaleSim;
  if (extension == ".yaml" || extension == ".yml" || is_directory(path)) {
    return ImportFormat::kTimeloop;
  }
  throw input_error(path, 0, "file", "a name that ends in none of the known ways",
                    ".onnx, .csv (SCALE-Sim), .yaml or a directory (Timeloop), or --format");
}

void set_pair(Node& node, const char* name, std::uint64_t h, std::uint64_t w,
              std::uint64_t standard) {
  if (h == w) {
    if (h != standard) node.numbers[name] = h;
    return;
  }
  node.numbers[std::string(name) + "_h"] = h;
  node.numbers[std::string(name) + "_w"] = w;
}

Node input_node(const std::string& name, std::uint64_t channels, std::uint64_t height,
                std::uint64_t width, bool gradient, int line) {
  Node node;
  node.op = Op::kInput;
  node.name = name;
  node.line = line;
  node.numbers["channels"] = channels;
  if (height != 1) node.numbers["height"] = height;
  if (width != 1) node.numbers["width"] = width;
  if (gradient) node.numbers["gradient"] = 1;
  return node;
}

// Files of layers have no connections: each layer reads a tensor of its own.
void add_layer(Graph& graph, const ImportedLayer& row, const std::string& name) {
  const Layer& layer = row.layer;
  const bool gradient = !graph.nodes.empty();
  Node node;
  node.name = name;
  node.line = row.line;
  if (row.repeats > 1) {
    node.op = Op::kMatmul;
    node.kind = "nn";
    node.numbers["heads"] = row.repeats;
    const std::uint64_t k = checked_mul(layer.cin, row.repeats, "K * batch");
    const std::uint64_t n = checked_mul(layer.cout, row.repeats, "N * batch");
    graph.nodes.push_back(input_node(name + ".a", k, layer.hi, 1, gradient, row.line));
    graph.nodes.push_back(input_node(name + ".b", n, layer.cin, 1, gradient, row.line));
    node.inputs = {name + ".a", name + ".b"};
    graph.nodes.push_back(node);
    return;
  }
  graph.nodes.push_back(
      input_node(name + ".input", layer.cin, layer.hi, layer.wi, gradient, row.line));
  node.inputs = {name + ".input"};
  node.numbers["channels"] = layer.cout;
  node.numbers["bias"] = 0;
  node.op = row.gemm || layer.dense ? Op::kDense : Op::kConv;
  if (node.op == Op::kConv) {
    set_pair(node, "kernel", layer.kh, layer.kw, 0);
    set_pair(node, "stride", layer.stride_h, layer.stride_w, 1);
    set_pair(node, "dilation", layer.dilation, layer.dilation_w.value_or(layer.dilation), 1);
    if (layer.pad_bottom.value_or(0) != 0) node.numbers["padding_bottom"] = *layer.pad_bottom;
    if (layer.pad_right.value_or(0) != 0) node.numbers["padding_right"] = *layer.pad_right;
    if (layer.groups != 1) node.numbers["groups"] = layer.groups;
  }
  graph.nodes.push_back(node);
}

ImportedNetwork as_graph(const ImportedLayers& layers, ImportFormat format) {
  ImportedNetwork out;
  out.format = format;
  out.file_batch = layers.batch;
  out.graph.name = graph_name(layers.name);
  if (!layers.layers.empty()) out.graph.file = layers.layers.front().file;
  NodeNames names;
  for (const ImportedLayer& row : layers.layers) {
    out.graph.file = row.file;
    try {
      add_layer(out.graph, row, names.unique(row.layer.name));
    } catch (const InputError& e) {
      throw InputError(row.file + ":" + std::to_string(row.line) + ": " + e.what());
    }
  }
  if (layers.layers.size() > 1 && layers.layers.front().file != layers.layers.back().file) {
    out.graph.file.clear();  // several: lines would be ambiguous
    for (Node& node : out.graph.nodes) node.line = 0;
  }
  out.notes = layers.notes;
  out.notes.emplace_back(
      "layers only: the format knows no connections, activations, normalisation or pooling, so "
      "there is no vector work");
  return out;
}

bool is_gemm(Op op) {
  return op == Op::kConv || op == Op::kDepthwise || op == Op::kConvTranspose || op == Op::kDense ||
         op == Op::kMatmul || op == Op::kRecurrent;
}

// Conventions of papers, as far as the kind and place of a layer say them.
void add_conventions(Graph& graph) {
  std::vector<std::string> gemms;
  std::vector<std::string> dense;
  for (const Node& node : graph.nodes) {
    if (!is_gemm(node.op)) continue;
    gemms.push_back(node.name);
    if (node.op == Op::kDense) dense.push_back(node.name);
  }
  graph.conventions.push_back({"all", "every layer is quantised, also first and last", {}, {}});
  if (!dense.empty() && dense.size() < gemms.size()) {
    graph.conventions.push_back(
        {"cpt-cifar", "dense layers are FP32, as in CPT's CIFAR trainer", dense, {}});
  }
  if (gemms.size() > 2) {
    graph.conventions.push_back({"first-last-fp32",
                                 "the first and the last layer of the file are FP32",
                                 {gemms.front(), gemms.back()},
                                 {}});
  }
}

}  // namespace

std::string graph_name(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, 100)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte > 0x20 && byte < 0x7f && c != '*' && c != '/' && c != '\\' && c != '"';
    out += plain ? c : '_';
  }
  return out.empty() ? "network" : out;
}

std::string NodeNames::unique(const std::string& text) {
  std::string base;
  for (const char c : text.substr(0, 150)) {
    const auto byte = static_cast<unsigned char>(c);
    base += byte > 0x20 && byte != 0x7f && c != '*' ? c : '_';
  }
  // A cut may have split a character.
  while (!base.empty() && !is_clean_utf8(base)) base.pop_back();
  if (base.empty()) base = "node";
  std::string out = base;
  for (std::size_t& n = next_.emplace(base, 2).first->second; !taken_.insert(out).second; ++n) {
    out = base + "_" + std::to_string(n);
  }
  return out;
}

OutputSize parse_output_size(const std::string& text) {
  if (text == "floor") return OutputSize::kFloor;
  if (text == "scalesim") return OutputSize::kCeil;
  throw input_error("", 0, "--output-size", "'" + text + "'",
                    "floor (as frameworks do), scalesim (rounds up, as SCALE-Sim does)");
}

ImportFormat parse_import_format(const std::string& text) {
  for (const ImportFormat format : {ImportFormat::kAuto, ImportFormat::kOnnx,
                                    ImportFormat::kScaleSim, ImportFormat::kTimeloop}) {
    if (text == to_string(format)) return format;
  }
  const std::vector<std::string> known = {"auto", "onnx", "scalesim", "timeloop"};
  throw input_error("", 0, "--format", "'" + text + "'" + suggestion(text, known), join(known));
}

std::string to_string(ImportFormat format) {
  switch (format) {
    case ImportFormat::kOnnx:
      return "onnx";
    case ImportFormat::kScaleSim:
      return "scalesim";
    case ImportFormat::kTimeloop:
      return "timeloop";
    default:
      return "auto";
  }
}

bool is_import_path(const std::string& path) {
  const std::string extension = extension_of(path);
  return extension == ".onnx" || extension == ".csv";
}

ImportedNetwork import_network(const std::vector<std::string>& paths,
                               const ImportOptions& options) {
  if (paths.empty()) throw input_error("", 0, "file", "none", "a network to import");
  const ImportFormat format =
      options.format == ImportFormat::kAuto ? format_of(paths.front()) : options.format;
  if (format != ImportFormat::kTimeloop && paths.size() > 1) {
    throw input_error("", 0, "files", std::to_string(paths.size()),
                      "one; only Timeloop problems come in several files");
  }
  ImportedNetwork out;
  if (format == ImportFormat::kOnnx) {
    out = import_onnx(paths.front(), options);
  } else if (format == ImportFormat::kScaleSim) {
    out = as_graph(read_scalesim(paths.front(), options), format);
  } else {
    out = as_graph(read_timeloop(paths, options), format);
  }
  out.graph.batch = options.batch != 0 ? options.batch : out.file_batch;
  if (out.graph.title.empty()) {
    const std::filesystem::path path(paths.front());
    const auto name = path.has_filename() ? path.filename() : path.parent_path().filename();
    out.graph.title = "imported from " + graph_name(name.string());
  }
  add_conventions(out.graph);
  (void)infer_shapes(out.graph);
  return out;
}

}  // namespace bitcycle
