// Operators by name, their attributes, and how nodes refer to each other.
#include "workloads/graph.hpp"

#include <array>
#include <unordered_map>
#include <utility>

#include "golden/checked.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kMostSize = 0xFFFF'FFFF;  // as Layer
constexpr std::uint64_t kMostWindow = 0xFFFF;     // as Layer
constexpr std::uint64_t kMostEdges = std::uint64_t{1} << 48;
constexpr std::size_t kMostNodes = 200'000;
constexpr std::size_t kMostInputs = 4096;
constexpr std::size_t kLongestName = 200;

constexpr std::array<std::pair<Op, const char*>, 26> kOps = {{
    {Op::kInput, "input"},
    {Op::kConv, "conv"},
    {Op::kDepthwise, "depthwise"},
    {Op::kConvTranspose, "conv-transpose"},
    {Op::kDense, "dense"},
    {Op::kMatmul, "matmul"},
    {Op::kRecurrent, "recurrent"},
    {Op::kEmbedding, "embedding"},
    {Op::kBatchNorm, "batch-norm"},
    {Op::kLayerNorm, "layer-norm"},
    {Op::kGroupNorm, "group-norm"},
    {Op::kRmsNorm, "rms-norm"},
    {Op::kActivation, "activation"},
    {Op::kPool, "pool"},
    {Op::kGlobalPool, "global-pool"},
    {Op::kAdd, "add"},
    {Op::kMul, "mul"},
    {Op::kSoftmax, "softmax"},
    {Op::kConcat, "concat"},
    {Op::kUpsample, "upsample"},
    {Op::kLoss, "loss"},
    {Op::kSpmm, "spmm"},
    {Op::kElementwise, "elementwise"},
    {Op::kReshape, "reshape"},
    {Op::kFlatten, "flatten"},
    {Op::kSelect, "select"},
}};

using Attributes = std::vector<AttributeInfo>;

AttributeInfo size(const char* name, bool required = false) {
  return {name, required, 1, kMostSize};
}
AttributeInfo count(const char* name, std::uint64_t most = kMostSize) {
  return {name, false, 0, most};
}

Attributes join_all(std::initializer_list<Attributes> lists) {
  Attributes out;
  for (const Attributes& list : lists) out.insert(out.end(), list.begin(), list.end());
  return out;
}

Attributes window(bool dilated) {
  Attributes out;
  for (const char* name : {"kernel", "kernel_h", "kernel_w", "stride", "stride_h", "stride_w"}) {
    out.push_back({name, false, 1, kMostWindow});
  }
  for (const char* name : {"padding", "padding_h", "padding_w", "padding_top", "padding_bottom",
                           "padding_left", "padding_right"}) {
    out.push_back({name, false, 0, kMostWindow});
  }
  if (dilated) {
    for (const char* name : {"dilation", "dilation_h", "dilation_w"}) {
      out.push_back({name, false, 1, kMostWindow});
    }
  }
  return out;
}

std::vector<OpInfo> make_infos() {
  const Attributes bias = {count("bias", 1)};
  const Attributes channels = {size("channels", true)};
  const Attributes area = {size("height"), size("width")};
  return {
      {Op::kInput, 0, 0, join_all({channels, area, {count("gradient", 1)}}), {}, false},
      {Op::kConv, 1, 1, join_all({channels, window(true), {size("groups")}, bias}), {}, true},
      {Op::kDepthwise, 1, 1, join_all({window(true), {size("multiplier")}, bias}), {}, true},
      {Op::kConvTranspose,
       1,
       1,
       join_all({channels,
                 window(true),
                 {size("groups"), count("output_padding", kMostWindow),
                  count("output_padding_h", kMostWindow), count("output_padding_w", kMostWindow)},
                 bias}),
       {},
       true},
      {Op::kDense, 1, 1, join_all({channels, bias}), {}, true},
      {Op::kMatmul, 2, 2, {size("heads"), size("kv_heads")}, {"nt", "nn"}, false},
      {Op::kRecurrent,
       1,
       1,
       join_all({channels, {count("bias", 2)}}),
       {"lstm", "gru", "rnn"},
       false},
      {Op::kEmbedding, 1, 1, join_all({channels, {size("vocabulary", true)}}), {}, true},
      {Op::kBatchNorm, 1, 1, {}, {}, false},
      {Op::kLayerNorm, 1, 1, {}, {}, false},
      {Op::kGroupNorm, 1, 1, {}, {}, false},
      {Op::kRmsNorm, 1, 1, {}, {}, false},
      {Op::kActivation, 1, 1, {}, activation_kinds(), false},
      {Op::kPool, 1, 1, window(false), {"max", "average"}, false},
      {Op::kGlobalPool, 1, 1, {}, {"average", "max"}, false},
      {Op::kAdd, 2, kMostInputs, {}, {}, false},
      {Op::kMul, 2, kMostInputs, {}, {}, false},
      {Op::kSoftmax, 1, 1, {}, {}, false},
      {Op::kConcat, 2, kMostInputs, {}, {"channels", "height", "width"}, false},
      {Op::kUpsample, 1, 1, {{"factor", false, 1, kMostWindow}}, {}, false},
      {Op::kLoss, 1, 1, {}, {"cross-entropy", "mse", "focal", "smooth-l1"}, false},
      {Op::kSpmm,
       1,
       1,
       {{"edges", true, 0, kMostEdges}, size("rows")},
       {"weighted", "sum", "mean"},
       false},
      {Op::kElementwise,
       1,
       kMostInputs,
       {{"ops", true, 0, kMostWindow}, count("backward_ops", kMostWindow)},
       {},
       false},
      {Op::kReshape, 1, 1, join_all({channels, area}), {}, false},
      {Op::kFlatten, 1, 1, {}, {}, false},
      {Op::kSelect, 1, 1, join_all({{size("channels")}, area}), {}, false},
  };
}

InputError node_error(const Graph& graph, const Node& node, const std::string& what,
                      const std::string& found, const std::string& allowed) {
  return input_error(graph.file, node.line, "node '" + node.name + "', " + what, found, allowed);
}

void check_name(const Graph& graph, const Node& node) {
  bool printable = !node.name.empty() && node.name.size() <= kLongestName;
  for (const char c : node.name) {
    printable = printable && static_cast<unsigned char>(c) > 0x20 && c != 0x7f && c != '*';
  }
  if (!printable) {
    throw node_error(graph, node, "name", "'" + node.name + "'",
                     "1 to 200 characters without blanks and *");
  }
}

void check_attributes(const Graph& graph, const Node& node) {
  const OpInfo& info = op_info(node.op);
  std::vector<std::string> known;
  for (const AttributeInfo& attribute : info.attributes) {
    known.push_back(attribute.name);
    const auto found = node.numbers.find(attribute.name);
    if (found == node.numbers.end()) {
      if (!attribute.required) continue;
      throw node_error(graph, node, attribute.name, "nothing",
                       "a number: " + to_string(node.op) + " needs it");
    }
    if (found->second < attribute.least || found->second > attribute.most) {
      throw node_error(graph, node, attribute.name, std::to_string(found->second),
                       std::to_string(attribute.least) + " to " + std::to_string(attribute.most));
    }
  }
  for (const auto& [name, value] : node.numbers) {
    bool fits = false;
    for (const std::string& word : known) fits = fits || word == name;
    if (!fits) {
      throw node_error(graph, node, "attribute", "'" + name + "'" + suggestion(name, known),
                       known.empty() ? to_string(node.op) + " takes none" : join(known));
    }
  }
  bool kind_fits = node.kind.empty();
  for (const std::string& kind : info.kinds) kind_fits = kind_fits || kind == node.kind;
  if (!kind_fits) {
    throw node_error(graph, node, "kind", "'" + node.kind + "'" + suggestion(node.kind, info.kinds),
                     info.kinds.empty() ? to_string(node.op) + " takes none" : join(info.kinds));
  }
  if (!node.weights_of.empty() && !info.weights) {
    throw node_error(graph, node, "weights_of", "'" + node.weights_of + "'",
                     to_string(node.op) + " takes none");
  }
}

}  // namespace

std::uint64_t Shape::elements() const {
  return checked_mul(checked_mul(channels, height, "elements"), width, "elements");
}

std::string to_string(const Shape& shape) {
  return std::to_string(shape.channels) + "x" + std::to_string(shape.height) + "x" +
         std::to_string(shape.width);
}

std::string to_string(Op op) {
  for (const auto& [known, name] : kOps) {
    if (known == op) return name;
  }
  return "?";
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  names.reserve(kOps.size());
  for (const auto& [op, name] : kOps) names.emplace_back(name);
  return names;
}

Op parse_op(const std::string& text) {
  for (const auto& [op, name] : kOps) {
    if (text == name) return op;
  }
  throw input_error("", 0, "operator", "'" + text + "'" + suggestion(text, op_names()),
                    join(op_names()));
}

const OpInfo& op_info(Op op) {
  static const std::vector<OpInfo> infos = make_infos();
  return infos.at(static_cast<std::size_t>(op));
}

std::uint64_t Node::number(const std::string& attribute, std::uint64_t fallback) const {
  const auto found = numbers.find(attribute);
  return found == numbers.end() ? fallback : found->second;
}

bool matches_pattern(const std::string& name, const std::string& pattern) {
  // Greedy with one point of return: linear in practice, quadratic at worst.
  std::size_t n = 0, p = 0, star = std::string::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<std::vector<std::size_t>> resolve_inputs(const Graph& graph) {
  if (graph.nodes.empty()) throw input_error(graph.file, 0, "nodes", "none", "at least one");
  if (graph.nodes.size() > kMostNodes) {
    throw input_error(graph.file, 0, "nodes", std::to_string(graph.nodes.size()),
                      "at most " + std::to_string(kMostNodes));
  }
  std::unordered_map<std::string, std::size_t> places;
  std::vector<std::vector<std::size_t>> out;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    check_name(graph, node);
    check_attributes(graph, node);
    const OpInfo& info = op_info(node.op);
    std::vector<std::size_t> inputs;
    for (const std::string& name : node.inputs) {
      const auto place = places.find(name);
      if (place == places.end()) {
        throw node_error(graph, node, "inputs", "'" + name + "'", "the name of an earlier node");
      }
      inputs.push_back(place->second);
    }
    if (node.inputs.empty() && info.least_inputs > 0) {
      if (i == 0) throw node_error(graph, node, "inputs", "none", "an earlier node");
      inputs.push_back(i - 1);
    }
    if (inputs.size() < info.least_inputs || inputs.size() > info.most_inputs) {
      throw node_error(graph, node, "inputs", std::to_string(inputs.size()),
                       std::to_string(info.least_inputs) +
                           (info.most_inputs == info.least_inputs ? "" : " or more"));
    }
    if (!node.weights_of.empty() && places.count(node.weights_of) == 0) {
      throw node_error(graph, node, "weights_of", "'" + node.weights_of + "'",
                       "the name of an earlier node");
    }
    if (!places.emplace(node.name, i).second) {
      throw node_error(graph, node, "name", "the name twice", "each name once");
    }
    out.push_back(std::move(inputs));
  }
  return out;
}

std::vector<std::string> convention_names(const Graph& graph) {
  std::vector<std::string> names;
  bool all = false;
  for (const ConventionRule& rule : graph.conventions) {
    names.push_back(rule.name);
    all = all || rule.name == "all";
  }
  if (!all) names.emplace_back("all");
  return names;
}

}  // namespace bitcycle
