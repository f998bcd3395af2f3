// Timeloop problem YAML: the CNN layer form of problem-shapes/cnn-layer.yaml (v3) and
// cnn_layer.yaml (v4) in the NVlabs/timeloop repository, its depthwise and grouped relatives, and
// GEMM. Other einsums are refused by name.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "golden/checked.hpp"
#include "golden/text_file.hpp"
#include "golden/utf8.hpp"
#include "golden/yaml_text.hpp"
#include "workloads/import_formats.hpp"

namespace bitcycle {
namespace {

constexpr const char* kShapes =
    "cnn-layer (R S P Q C K N; M for K; G for groups), depthwise (R S P Q C N), gemm (M N K)";
constexpr std::uint64_t kMaxSize = 0xFFFF'FFFF;
constexpr std::uint64_t kMaxWindow = 0xFFFF;
constexpr std::size_t kMostFiles = 10'000;

struct Entry {
  std::string key;
  YAML::Node value;
  int line = 0;
};
using Entries = std::vector<Entry>;
// One axis of a tensor: the sum of these dimensions, each times a coefficient or "".
using Rank = std::map<char, std::string>;
using Tensor = std::set<Rank>;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// "Wstride" or "WStride" -> "wstride"; "" if it is none of the four.
std::string coefficient(const std::string& key) {
  const std::string name = lower(key);
  return name == "wstride" || name == "hstride" || name == "wdilation" || name == "hdilation" ? name
                                                                                              : "";
}

class Reader {
 public:
  Reader(std::string path, const ImportOptions& options, ImportedLayers& out)
      : path_(std::move(path)), options_(options), out_(out) {}

  void read(const std::string& text) {
    const YAML::Node root = load_yaml(without_templates(text), path_);
    const Entries top = entries(root, "problem file");
    const Entry* problem = find(top, "problem");
    if (problem == nullptr) {
      throw input_error(path_, root.IsDefined() ? yaml_line(root) : 0, "problem file",
                        "no 'problem'", "a Timeloop problem: 'problem: {shape: ..., ...}'");
    }
    for (const auto& entry : top) {
      if (&entry != problem) note("'" + entry.key + "' ignored");
    }
    read_problem(problem->value);
  }

 private:
  [[noreturn]] void fail(int line, const std::string& field, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(path_, line, field, found, allowed);
  }

  void note(const std::string& text) {
    out_.notes.push_back(std::filesystem::path(path_).filename().string() + ": " + text);
  }

  // Timeloop v4 runs files through a template engine. The one template that published layer files
  // have includes problem_base.yaml, the CNN layer with every size 1; it is known here.
  std::string without_templates(const std::string& text) {
    std::string out;
    int line = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view one(text.data() + at, end - at);
      at = end + 1;
      ++line;
      if (!is_clean_utf8(
              one.substr(0, one.size() - (!one.empty() && one.back() == '\r' ? 1 : 0)))) {
        fail(line, "line", "bytes that are no text", "UTF-8 without control characters");
      }
      const bool tagged =
          one.find("{{") != std::string_view::npos || one.find("{%") != std::string_view::npos;
      const bool merged = one.find("*problem_base") != std::string_view::npos;
      if (tagged && one.find("problem_base") == std::string_view::npos) {
        fail(line, "template", "'" + std::string(one.substr(0, 80)) + "'",
             "no templates but the include of problem_base.yaml");
      }
      base_ = base_ || tagged || merged;
      if (!tagged && !merged) out.append(one);
      out += '\n';
    }
    return out;
  }

  Entries entries(const YAML::Node& node, const std::string& what) const {
    if (!node.IsMap()) fail(node.IsDefined() ? yaml_line(node) : 0, what, "no map", "a map");
    Entries out;
    std::set<std::string> seen;
    for (const auto& item : node) {
      const int line = yaml_line(item.first);
      if (!item.first.IsScalar()) fail(line, what, "a key that is no word", "words");
      const std::string& key = item.first.Scalar();
      if (!seen.insert(key).second) fail(line, what, "'" + key + "' twice", "each key once");
      out.push_back({key, item.second, line});
    }
    return out;
  }

  static const Entry* find(const Entries& list, const std::string& key) {
    for (const auto& entry : list) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }

  std::string scalar(const Entry& entry) const {
    if (!entry.value.IsScalar()) fail(entry.line, entry.key, "no single value", "one value");
    return entry.value.Scalar();
  }

  void read_problem(const YAML::Node& node) {
    const Entries problem = entries(node, "problem");
    line_ = problem.empty() ? yaml_line(node) : problem.front().line;
    name_ = std::filesystem::path(path_).stem().string();
    const Entry* instance = find(problem, "instance");
    Entries sizes;
    for (const auto& entry : problem) {
      if (entry.key == "shape") {
        read_shape(entry);
      } else if (entry.key == "name") {
        const std::string text = scalar(entry);
        if (!text.empty() && text.size() <= 200) name_ = text;
      } else if (entry.key == "instance") {
        sizes = entries(entry.value, "instance");
      } else if (entry.key.size() == 1 || !coefficient(entry.key).empty()) {
        if (instance != nullptr) {
          fail(entry.line, entry.key, "a size beside 'instance'", "sizes in one of both places");
        }
        sizes.push_back(entry);
      } else if (entry.key == "densities") {
        refuse_density(entry);
      } else if (entry.key == "version" || entry.key == "notes" || entry.key == "dnn_name") {
        continue;
      } else if (entry.key == "bitwidths" || entry.key == "histograms") {
        note("'" + entry.key + "' ignored");
      } else {
        fail(entry.line, "problem", "'" + entry.key + "'",
             "shape, instance, name, version, notes, or the sizes of a layer");
      }
    }
    if (find(problem, "shape") == nullptr) {
      if (!base_) fail(line_, "problem", "no 'shape'", std::string("a shape: ") + kShapes);
      dimensions_ = "CMRSNPQG";
    }
    read_sizes(sizes);
    add_layer();
  }

  void refuse_density(const Entry& entry) {
    if (!options_.ignore_sparsity) {
      fail(entry.line, "densities", "sparse tensors",
           "dense tensors, as the array multiplies zeros too; --sparsity ignore counts them as "
           "dense");
    }
    note("'densities' ignored: counted as dense");
  }

  void read_shape(const Entry& entry) {
    if (entry.value.IsScalar()) {
      std::string name = lower(entry.value.Scalar());
      std::replace(name.begin(), name.end(), '_', '-');
      if (name.size() > 5 && name.compare(name.size() - 5, 5, ".yaml") == 0) {
        name.resize(name.size() - 5);
      }
      if (name == "cnn-layer") {
        dimensions_ = "RSPQCKN";
      } else if (name == "dw-cnn-layer" || name == "depthwise") {
        dimensions_ = "RSPQCN";
      } else if (name == "gemm" || name == "gemm-abz") {
        dimensions_ = "MNK";
      } else {
        fail(entry.line, "shape", "'" + entry.value.Scalar() + "'", kShapes);
      }
      return;
    }
    const Entries shape = entries(entry.value, "shape");
    for (const auto& part : shape) {
      if (part.key == "name") {
        shape_name_ = scalar(part);
      } else if (part.key == "dimensions") {
        read_dimensions(part);
      } else if (part.key == "coefficients") {
        read_coefficients(part);
      } else if (part.key != "data-spaces" && part.key != "data_spaces" &&
                 part.key != "dataSpaces" && part.key != "version") {
        fail(part.line, "shape", "'" + part.key + "'",
             "name, dimensions, coefficients, data-spaces");
      }
    }
    for (const char* key : {"data-spaces", "data_spaces", "dataSpaces"}) {
      if (const Entry* spaces = find(shape, key)) {
        check_spaces(*spaces);
        return;
      }
    }
    fail(entry.line, "shape", "no data-spaces", "data-spaces with their projections");
  }

  [[noreturn]] void refuse_shape(int line, const std::string& why) const {
    fail(line, "shape '" + shape_name_ + "'", why, kShapes);
  }

  void read_dimensions(const Entry& entry) {
    if (!entry.value.IsSequence() || entry.value.size() == 0 || entry.value.size() > 16) {
      fail(entry.line, "dimensions", "no list", "a list such as [R, S, P, Q, C, K, N]");
    }
    dimensions_.clear();
    for (const auto& item : entry.value) {
      const std::string text = item.IsScalar() ? item.Scalar() : "";
      if (text.size() != 1 || std::string("RSPQCKMNG").find(text) == std::string::npos) {
        refuse_shape(yaml_line(item), "dimension '" + text + "'");
      }
      if (has(text[0])) refuse_shape(yaml_line(item), "dimension '" + text + "' twice");
      dimensions_ += text;
    }
  }

  void read_coefficients(const Entry& entry) {
    if (!entry.value.IsSequence() || entry.value.size() > 16) {
      fail(entry.line, "coefficients", "no list", "a list of names and defaults");
    }
    for (const auto& item : entry.value) {
      const Entries one = entries(item, "coefficient");
      const Entry* name = find(one, "name");
      const Entry* value = find(one, "default");
      if (name == nullptr || coefficient(scalar(*name)).empty()) {
        refuse_shape(yaml_line(item), "a coefficient other than strides and dilations");
      }
      if (value != nullptr) sizes_[coefficient(scalar(*name))] = number(*value, kMaxWindow);
    }
  }

  bool has(char dimension) const { return dimensions_.find(dimension) != std::string::npos; }

  Tensor read_projection(const Entry& entry) const {
    if (!entry.value.IsSequence() || entry.value.size() > 16) {
      refuse_shape(entry.line, "a projection that is no list of axes");
    }
    Tensor out;
    for (const auto& axis : entry.value) {
      Rank rank;
      if (!axis.IsSequence() || axis.size() == 0 || axis.size() > 2) {
        refuse_shape(yaml_line(axis), "an axis that is no sum of one or two dimensions");
      }
      for (const auto& term : axis) {
        const bool fits = term.IsSequence() && (term.size() == 1 || term.size() == 2) &&
                          term[0].IsScalar() && term[0].Scalar().size() == 1 &&
                          (term.size() == 1 || term[1].IsScalar());
        const std::string factor = fits && term.size() == 2 ? term[1].Scalar() : "";
        if (!fits || (!factor.empty() && coefficient(factor).empty()) ||
            !has(term[0].Scalar()[0])) {
          refuse_shape(yaml_line(term), "a term that is no dimension times a stride or dilation");
        }
        rank[term[0].Scalar()[0]] = coefficient(factor);
      }
      if (!out.insert(rank).second) refuse_shape(yaml_line(axis), "an axis twice");
    }
    return out;
  }

  // The two ways of a pair such as (R, P): both present, with coefficients or without; or one.
  Rank window(char kernel, char position, const char* dilation, const char* stride,
              bool with_factors) const {
    Rank out;
    if (has(kernel)) out[kernel] = with_factors ? dilation : "";
    if (has(position)) out[position] = with_factors ? stride : "";
    return out;
  }

  Tensor axes(const std::string& names) const {
    Tensor out;
    for (const char c : names) {
      if (has(c)) out.insert(Rank{{c, ""}});
    }
    return out;
  }

  // The projections decide what the einsum is: a transposed convolution may have the same
  // dimensions.
  void check_spaces(const Entry& entry) const {
    if (!entry.value.IsSequence() || entry.value.size() != 3) {
      refuse_shape(entry.line, "data-spaces other than two operands and a result");
    }
    std::vector<Tensor> operands;
    std::optional<Tensor> result;
    for (const auto& item : entry.value) {
      const Entries space = entries(item, "data-space");
      const Entry* projection = find(space, "projection");
      if (projection == nullptr) refuse_shape(yaml_line(item), "a data-space without projection");
      bool written = false;
      for (const char* key : {"read-write", "read_write", "readWrite"}) {
        if (const Entry* flag = find(space, key)) written = lower(scalar(*flag)) == "true";
      }
      if (written && result) refuse_shape(yaml_line(item), "two results");
      if (written) {
        result = read_projection(*projection);
      } else {
        operands.push_back(read_projection(*projection));
      }
    }
    if (!result || operands.size() != 2) refuse_shape(entry.line, "no result (read-write: true)");
    const auto is = [&](const Tensor& a, const Tensor& b, const Tensor& z) {
      const bool either =
          (operands[0] == a && operands[1] == b) || (operands[0] == b && operands[1] == a);
      return either && *result == z;
    };
    if (is_gemm()) {
      if (is(axes("MK"), axes("NK"), axes("MN"))) return;
    } else if (!(has('K') && has('M'))) {
      const bool depthwise = !has('K') && !has('M');
      const Tensor weight = axes("CKMRSG");
      const Tensor written = axes(depthwise ? "NCPQG" : "NKMPQG");
      for (const bool factors : {true, false}) {
        Tensor input = axes("NCG");
        for (const Rank& rank : {window('R', 'P', "wdilation", "wstride", factors),
                                 window('S', 'Q', "hdilation", "hstride", factors)}) {
          if (!rank.empty()) input.insert(rank);
        }
        if (is(weight, input, written)) return;
      }
    }
    refuse_shape(entry.line, "projections of another operation");
  }

  bool is_gemm() const { return has('M') && has('N') && has('K') && dimensions_.size() == 3; }

  std::uint64_t number(const Entry& entry, std::uint64_t high) const {
    const std::string text = scalar(entry);
    std::uint64_t value = 0;
    if (!read_decimal(text, 1, high, value)) {
      fail(entry.line, entry.key, "'" + text + "'",
           "a whole decimal number from 1 to " + std::to_string(high));
    }
    return value;
  }

  void read_sizes(const Entries& list) {
    std::string seen;
    for (const auto& entry : list) {
      const std::string factor = coefficient(entry.key);
      if (!factor.empty()) {
        sizes_[factor] = number(entry, kMaxWindow);
      } else if (entry.key.size() == 1 && has(entry.key[0])) {
        sizes_[entry.key] = number(entry, kMaxSize);
        seen += entry.key;
      } else if (entry.key == "densities") {
        refuse_density(entry);
      } else if (entry.key == "bitwidths") {
        note("'bitwidths' ignored: a schedule or trace sets them");
      } else {
        std::string known;
        for (const char c : dimensions_) known += std::string(1, c) + ", ";
        fail(entry.line, "instance", "'" + entry.key + "'",
             known + "Wstride, Hstride, Wdilation, Hdilation");
      }
    }
    if (base_) return;  // the base has 1 for all
    for (const char c : dimensions_) {
      if (seen.find(c) == std::string::npos) {
        fail(line_, "instance", "no '" + std::string(1, c) + "'",
             "a size for each dimension of the shape");
      }
    }
  }

  std::uint64_t size(const std::string& key) const {
    const auto found = sizes_.find(key);
    return found == sizes_.end() ? 1 : found->second;
  }

  void add_layer() {
    ImportedLayer row;
    row.file = path_;
    row.line = line_;
    Layer& layer = row.layer;
    layer.name = name_;
    if (is_gemm()) {
      row.gemm = true;
      layer.hi = size("M");
      layer.cout = size("N");
      layer.cin = size("K");
      note_batch(1);
    } else {
      read_layer(layer);
      note_batch(size("N"));
    }
    try {
      layer.validate();
    } catch (const InputError& e) {
      throw InputError(path_ + ":" + std::to_string(line_) + ": " + e.what());
    }
    out_.layers.push_back(std::move(row));
  }

  void read_layer(Layer& layer) const {
    layer.kw = size("R");
    layer.kh = size("S");
    if (layer.kw > kMaxWindow || layer.kh > kMaxWindow) {
      fail(line_, "R, S", "a kernel over " + std::to_string(kMaxWindow), "a smaller kernel");
    }
    layer.stride_w = size("wstride");
    layer.stride_h = size("hstride");
    layer.dilation = size("hdilation");
    layer.dilation_w = size("wdilation");
    // Padding is no part of the form: the input is what the output needs.
    layer.wi = (size("P") - 1) * layer.stride_w + (layer.kw - 1) * *layer.dilation_w + 1;
    layer.hi = (size("Q") - 1) * layer.stride_h + (layer.kh - 1) * layer.dilation + 1;
    const std::uint64_t groups = size("G");
    if (has('K') || has('M')) {
      layer.groups = groups;
      layer.cin = checked_mul(size("C"), groups, "C * G");
      layer.cout = checked_mul(size(has('K') ? "K" : "M"), groups, "K * G");
    } else {
      layer.groups = layer.cin = layer.cout = checked_mul(size("C"), groups, "C * G");
    }
    layer.dense = layer.wi == 1 && layer.hi == 1 && layer.kw == 1 && layer.kh == 1 &&
                  layer.stride_w == 1 && layer.stride_h == 1 && layer.groups == 1;
  }

  void note_batch(std::uint64_t batch) {
    if (!out_.layers.empty() && batch != out_.batch && options_.batch == 0) {
      fail(line_, "N", std::to_string(batch),
           "the N of the layers before, " + std::to_string(out_.batch) +
               "; --batch sets one for all");
    }
    if (out_.layers.empty()) out_.batch = batch;
  }

  std::string path_;
  const ImportOptions& options_;
  ImportedLayers& out_;
  bool base_ = false;
  int line_ = 0;
  std::string name_;
  std::string shape_name_;
  std::string dimensions_;
  std::map<std::string, std::uint64_t> sizes_;
};

// Numbers inside names by value: "layer2" before "layer10".
bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t k = 0;
  const auto digits = [](const std::string& text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    return end;
  };
  while (i < a.size() && k < b.size()) {
    const std::size_t end_a = digits(a, i);
    const std::size_t end_b = digits(b, k);
    if (end_a == i || end_b == k) {
      if (a[i] != b[k]) return a[i] < b[k];
      ++i, ++k;
      continue;
    }
    while (i + 1 < end_a && a[i] == '0') ++i;
    while (k + 1 < end_b && b[k] == '0') ++k;
    if (end_a - i != end_b - k) return end_a - i < end_b - k;
    const int order = a.compare(i, end_a - i, b, k, end_b - k);
    if (order != 0) return order < 0;
    i = end_a, k = end_b;
  }
  if (a.size() - i != b.size() - k) return a.size() - i < b.size() - k;
  return a < b;
}

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const auto& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      out.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& item : std::filesystem::directory_iterator(path)) {
      const std::string extension = item.path().extension().string();
      const bool base = item.path().stem() == "problem_base";
      if ((extension == ".yaml" || extension == ".yml") && !base && item.is_regular_file()) {
        found.push_back(item.path().string());
      }
      if (found.size() > kMostFiles) {
        throw input_error(path, 0, "directory", "more files", std::to_string(kMostFiles));
      }
    }
    if (found.empty()) {
      throw input_error(path, 0, "directory", "no .yaml or .yml file", "Timeloop problem files");
    }
    std::sort(found.begin(), found.end(), natural_less);
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

}  // namespace

void parse_timeloop(const std::string& text, const std::string& path, const ImportOptions& options,
                    ImportedLayers& out) {
  Reader(path, options, out).read(text);
}

ImportedLayers read_timeloop(const std::vector<std::string>& paths, const ImportOptions& options) {
  ImportedLayers out;
  const auto files = files_of(paths);
  for (const auto& file : files) {
    parse_timeloop(read_text_file(file, "Timeloop problem", "a readable YAML file"), file, options,
                   out);
  }
  std::map<std::string, int> copies;
  for (auto& row : out.layers) {
    const int n = ++copies[row.layer.name];
    if (n > 1) row.layer.name += "_" + std::to_string(n);
  }
  out.name = std::filesystem::path(paths.front()).stem().string();
  out.notes.emplace_back("padding: no part of the form; input sizes follow from P, Q, R, S");
  return out;
}

}  // namespace bitcycle
