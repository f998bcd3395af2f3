// A graph as a network file.
#include <fmt/format.h>

#include <map>
#include <set>

#include "workloads/network_file.hpp"

namespace bitcycle {
namespace {

// Always quoted where a plain scalar could be read as something else. $ begins a variable, so a
// name cannot hold one.
std::string quoted(const std::string& text) {
  const bool plain =
      !text.empty() &&
      text.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
          "0123456789_./-") == std::string::npos &&
      text.find_first_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == 0;
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

std::string list(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + quoted(word);
  return "[" + out + "]";
}

// Names that a file can hold: no $, and none of the words that stand for a node.
std::map<std::string, std::string> file_names(const Graph& graph) {
  std::map<std::string, std::string> out;
  std::set<std::string> taken;
  for (const Node& node : graph.nodes) taken.insert(node.name);
  for (const Node& node : graph.nodes) {
    std::string name = node.name;
    for (char& c : name) {
      if (c == '$') c = '_';
    }
    const bool reserved =
        name == "previous" ||
        (name.rfind("in", 0) == 0 && name.find_first_not_of("0123456789", 2) == std::string::npos);
    if (reserved) name += "_";
    if (name != node.name) {
      while (!taken.insert(name).second) name += "_";
    }
    out[node.name] = name;
  }
  return out;
}

}  // namespace

std::string network_yaml(const Graph& graph) {
  (void)infer_shapes(graph);
  const std::map<std::string, std::string> names = file_names(graph);
  std::string out = fmt::format("network: {}\n", quoted(graph.name));
  const auto text = [&out](const char* key, const std::string& value) {
    std::string plain = value;  // $ begins a variable
    for (char& c : plain) {
      if (c == '$') c = '_';
    }
    if (!plain.empty()) out += fmt::format("{}: {}\n", key, quoted(plain));
  };
  text("title", graph.title);
  text("source", graph.source);
  text("sample", graph.sample);
  out += fmt::format("batch: {}\n", graph.batch);
  if (!graph.conventions.empty()) out += "conventions:\n";
  for (const ConventionRule& rule : graph.conventions) {
    out += fmt::format("  {}:\n    text: {}\n", rule.name, quoted(rule.text));
    if (!rule.fp32.empty()) out += fmt::format("    fp32: {}\n", list(rule.fp32));
    if (!rule.quantised.empty()) out += fmt::format("    quantised: {}\n", list(rule.quantised));
  }
  out += "nodes:\n";
  for (const Node& node : graph.nodes) {
    out += fmt::format("  - {}: {{name: {}", to_string(node.op), quoted(names.at(node.name)));
    if (!node.kind.empty()) out += fmt::format(", kind: {}", node.kind);
    for (const auto& [name, value] : node.numbers) out += fmt::format(", {}: {}", name, value);
    if (!node.weights_of.empty()) {
      out += fmt::format(", weights_of: {}", quoted(names.at(node.weights_of)));
    }
    std::vector<std::string> inputs;
    for (const std::string& input : node.inputs) inputs.push_back(names.at(input));
    if (!inputs.empty()) out += fmt::format(", inputs: {}", list(inputs));
    out += "}\n";
  }
  return out;
}

}  // namespace bitcycle
