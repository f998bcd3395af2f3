// Text of a network file to its structure.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "golden/error.hpp"
#include "golden/text_file.hpp"
#include "golden/yaml_text.hpp"
#include "workloads/network_file.hpp"

namespace bitcycle {
namespace {

constexpr int kDeepestRepeat = 8;
constexpr std::size_t kMostItems = 100'000;  // entries of the whole file, aliases counted each time
constexpr std::size_t kLongestText = 2'000;

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

// Length of the UTF-8 character that begins at `i`, 0 if there is none (RFC 3629).
std::size_t utf8_length(const std::string& text, std::size_t i) {
  const auto byte = [&text](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const unsigned lead = byte(i);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned least = 0x80, most = 0xBF;  // of the second byte
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) least = 0xA0;
    if (lead == 0xED) most = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) least = 0x90;
    if (lead == 0xF4) most = 0x8F;
  } else {
    return 0;
  }
  if (byte(i + 1) < least || byte(i + 1) > most) return 0;
  for (std::size_t k = 2; k < length; ++k) {
    if (byte(i + k) < 0x80 || byte(i + k) > 0xBF) return 0;
  }
  return length;
}

void check_characters(const std::string& text, const std::string& file) {
  int line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    const char c = text[i];
    const bool control =
        length == 1 &&
        ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') ||
         c == 0x7f);
    if (length == 0 || control) {
      throw input_error(file, line, "network file",
                        control ? "a control character" : "bytes that are not UTF-8",
                        "YAML text in UTF-8");
    }
    if (c == '\n') ++line;
    i += length;
  }
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  NetworkFile read(const YAML::Node& root) {
    NetworkFile out;
    out.file = file_;
    const Map top = map(root, "network file",
                        {"network", "title", "source", "sample", "batch", "variables", "variants",
                         "conventions", "blocks", "nodes"});
    out.network = required(top, root, "network");
    check_name(out.network, "network");
    out.title = optional(top, "title", "");
    out.source = optional(top, "source", "");
    out.sample = optional(top, "sample", "sample");
    out.batch = optional(top, "batch", "1");
    if (const Field* field = find(top, "variables")) read_variables(field->node, out);
    if (const Field* field = find(top, "variants")) read_variants(field->node, out);
    if (const Field* field = find(top, "conventions")) read_conventions(field->node, out);
    if (const Field* field = find(top, "blocks")) read_blocks(field->node, out);
    const Field* nodes = find(top, "nodes");
    if (nodes == nullptr) throw fail(line_of(root), "nodes", "nothing", "a list of nodes");
    out.nodes = entries(nodes->node, "nodes", 0);
    return out;
  }

 private:
  struct Field {
    std::string key;
    int line;
    YAML::Node node;
  };
  using Map = std::vector<Field>;

  InputError fail(int line, const std::string& field, const std::string& found,
                  const std::string& allowed) const {
    return input_error(file_, line, field, found, allowed);
  }

  void count(int line) {
    if (++items_ > kMostItems) {
      throw fail(line, "network file", "more than 100000 items", "fewer: use repeat and blocks");
    }
  }

  // A map with scalar keys, each once; `known` empty = any key.
  Map map(const YAML::Node& node, const std::string& what, const std::vector<std::string>& known) {
    if (!node.IsMap()) throw fail(line_of(node), what, "no map", "a map, key: value");
    Map out;
    std::set<std::string> seen;
    for (const auto& entry : node) {
      count(line_of(entry.first));
      const FileText key = scalar(entry.first, what + ", key");
      if (!known.empty() && std::find(known.begin(), known.end(), key.text) == known.end()) {
        throw fail(key.line, what + ", key", "'" + key.text + "'" + suggestion(key.text, known),
                   join(known));
      }
      if (!seen.insert(key.text).second) {
        throw fail(key.line, what + ", key", "'" + key.text + "' twice", "each key once");
      }
      out.push_back({key.text, key.line, entry.second});
    }
    return out;
  }

  FileText scalar(const YAML::Node& node, const std::string& what) const {
    if (!node.IsScalar()) {
      throw fail(line_of(node), what,
                 node.IsMap()        ? "a map"
                 : node.IsSequence() ? "a list"
                                     : "nothing",
                 "one value");
    }
    const std::string& text = node.Scalar();
    if (text.size() > kLongestText || text.find('\0') != std::string::npos) {
      throw fail(line_of(node), what, "more than 2000 characters, or a zero byte", "a short text");
    }
    return {text, line_of(node)};
  }

  std::vector<FileText> scalars(const YAML::Node& node, const std::string& what) {
    if (node.IsScalar()) return {scalar(node, what)};
    if (!node.IsSequence()) throw fail(line_of(node), what, "no list", "a list such as [a, b]");
    std::vector<FileText> out;
    for (const auto& item : node) {
      count(line_of(item));
      out.push_back(scalar(item, what));
    }
    return out;
  }

  static const Field* find(const Map& map, const char* key) {
    for (const Field& field : map) {
      if (field.key == key) return &field;
    }
    return nullptr;
  }

  FileText required(const Map& map, const YAML::Node& parent, const char* key) const {
    const Field* field = find(map, key);
    if (field == nullptr) throw fail(line_of(parent), key, "nothing", "a value");
    return scalar(field->node, key);
  }

  FileText optional(const Map& map, const char* key, const char* fallback) const {
    const Field* field = find(map, key);
    return field == nullptr ? FileText{fallback, 0} : scalar(field->node, key);
  }

  void check_name(const FileText& name, const std::string& what) const {
    bool good = !name.text.empty() && name.text.size() <= 100;
    for (const char c : name.text) {
      good = good && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.');
    }
    if (!good) {
      throw fail(name.line, what, "'" + name.text + "'", "letters, digits, - _ . (at most 100)");
    }
  }

  void check_variable(const std::string& name, int line) const {
    if (!is_variable_name(name)) {
      throw fail(line, "variable", "'" + name + "'", "a letter, then letters, digits and _");
    }
  }

  void read_variables(const YAML::Node& node, NetworkFile& out) {
    for (const Field& field : map(node, "variables", {})) {
      check_variable(field.key, field.line);
      out.variables.emplace_back(field.key, scalar(field.node, "variable " + field.key));
    }
  }

  void read_variants(const YAML::Node& node, NetworkFile& out) {
    std::vector<std::string> known;
    for (const auto& entry : out.variables) known.push_back(entry.first);
    for (const Field& field : map(node, "variants", {})) {
      check_name({field.key, field.line}, "variant");
      FileVariant variant{field.key, field.line, {}};
      // With no variables nothing may be set, but an empty list of keys would allow all.
      const Map values = map(field.node, "variant " + field.key,
                             known.empty() ? std::vector<std::string>{"(none)"} : known);
      for (const Field& value : values) {
        variant.values[value.key] = scalar(value.node, "variable " + value.key);
      }
      out.variants.push_back(std::move(variant));
    }
    if (out.variants.empty()) throw fail(line_of(node), "variants", "none", "at least one");
  }

  void read_conventions(const YAML::Node& node, NetworkFile& out) {
    for (const Field& field : map(node, "conventions", {})) {
      check_name({field.key, field.line}, "convention");
      const std::string what = "convention " + field.key;
      const Map fields = map(field.node, what, {"text", "fp32", "quantised"});
      ConventionRule rule;
      rule.name = field.key;
      rule.text = optional(fields, "text", "").text;
      const auto patterns = [&](const char* key, std::vector<std::string>& list) {
        const Field* found = find(fields, key);
        if (found == nullptr) return;
        for (const FileText& text : scalars(found->node, what + ", " + key)) {
          list.push_back(text.text);
        }
      };
      patterns("fp32", rule.fp32);
      patterns("quantised", rule.quantised);
      out.conventions.emplace_back(std::move(rule), field.line);
    }
  }

  void read_blocks(const YAML::Node& node, NetworkFile& out) {
    std::vector<std::string> reserved = op_names();
    reserved.emplace_back("repeat");
    for (const Field& field : map(node, "blocks", {})) {
      check_name({field.key, field.line}, "block");
      if (std::find(reserved.begin(), reserved.end(), field.key) != reserved.end()) {
        throw fail(field.line, "block", "'" + field.key + "'", "a name that no operator has");
      }
      const std::string what = "block " + field.key;
      const Map fields = map(field.node, what, {"takes", "nodes"});
      FileBlock block;
      block.line = field.line;
      if (const Field* takes = find(fields, "takes")) {
        block.takes = scalars(takes->node, what + ", takes");
        std::set<std::string> seen;
        for (const FileText& name : block.takes) {
          check_variable(name.text, name.line);
          if (!seen.insert(name.text).second || name.text == "name" || name.text == "inputs") {
            throw fail(name.line, what + ", takes", "'" + name.text + "'",
                       "each name once, and neither name nor inputs");
          }
        }
      }
      const Field* nodes = find(fields, "nodes");
      if (nodes == nullptr) throw fail(field.line, what, "no nodes", "a list of nodes");
      block.nodes = entries(nodes->node, what + ", nodes", 0);
      out.blocks.emplace(field.key, std::move(block));
    }
  }

  std::vector<FileEntry> entries(const YAML::Node& node, const std::string& what, int depth) {
    if (depth > kDeepestRepeat) {
      throw fail(line_of(node), "repeat", "more than 8 in each other", "fewer");
    }
    if (!node.IsSequence()) throw fail(line_of(node), what, "no list", "a list: - conv: {...}");
    std::vector<FileEntry> out;
    for (const auto& item : node) {
      count(line_of(item));
      out.push_back(entry(item, depth));
    }
    if (out.empty()) throw fail(line_of(node), what, "an empty list", "at least one node");
    return out;
  }

  // "- softmax", "- activation: relu", "- conv: {channels: 16}", "- repeat: {...}" with nodes.
  FileEntry entry(const YAML::Node& node, int depth) {
    FileEntry out;
    out.line = line_of(node);
    if (node.IsScalar()) {
      out.op = scalar(node, "node").text;
      return out;
    }
    const Map fields = map(node, "node", {});
    if (fields.empty()) throw fail(out.line, "node", "an empty map", "an operator and its fields");
    out.op = fields[0].key;
    const bool repeats = out.op == "repeat";
    for (std::size_t i = 1; i < fields.size(); ++i) {
      if (!repeats || fields[i].key != "nodes" || i > 1) {
        throw fail(fields[i].line, "node", "'" + fields[i].key + "' beside '" + out.op + "'",
                   "one operator a node (a repeat also has nodes)");
      }
      out.nodes = entries(fields[i].node, "repeat, nodes", depth + 1);
    }
    if (repeats && out.nodes.empty()) {
      throw fail(out.line, "repeat", "no nodes", "a list of nodes beside it");
    }
    read_fields(fields[0].node, out);
    return out;
  }

  void read_fields(const YAML::Node& node, FileEntry& out) {
    if (node.IsNull()) return;
    if (node.IsScalar()) {
      out.fields["kind"] = scalar(node, out.op);
      return;
    }
    for (const Field& field : map(node, out.op, {})) {
      if (field.key == "inputs") {
        out.inputs = scalars(field.node, out.op + ", inputs");
        if (out.inputs.empty()) throw fail(field.line, out.op + ", inputs", "none", "names");
      } else {
        out.fields[field.key] = scalar(field.node, out.op + ", " + field.key);
      }
    }
  }

  std::string file_;
  std::size_t items_ = 0;
};

}  // namespace

std::vector<std::string> NetworkFile::names() const {
  std::vector<std::string> out;
  for (const FileVariant& variant : variants) out.push_back(variant.name);
  if (out.empty()) out.push_back(network.text);
  return out;
}

NetworkFile parse_network_file(const std::string& text, const std::string& file) {
  if (text.size() > kLongestNetworkFile) {
    throw input_error(file, 0, "network file", "more than 1 MB", "at most 1 MB");
  }
  check_characters(text, file);
  const YAML::Node root = load_yaml(text, file);
  try {
    return Reader(file).read(root);
  } catch (const YAML::Exception& e) {
    throw input_error(file, e.mark.line + 1, "YAML", e.msg, "well-formed YAML");
  }
}

NetworkFile read_network_file(const std::string& path) {
  return parse_network_file(read_text_file(path, "network file", "a readable YAML file"), path);
}

}  // namespace bitcycle
