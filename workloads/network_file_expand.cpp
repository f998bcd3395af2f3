// Blocks, repeats and variables of a network file to the nodes of a graph.
#include <algorithm>
#include <set>

#include "golden/error.hpp"
#include "workloads/network_file.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kMostTimes = 10'000;
constexpr std::size_t kMostSteps = 200'000;  // entries walked, nodes made or not
constexpr int kDeepestBlock = 16;

// Where names are looked up: inside a block, what is its own and what came in.
struct Scope {
  std::string prefix;               // "stage1.block2."
  std::vector<std::string> inputs;  // of the block; in, in2, in3, ...
  Variables variables;
  const FileBlock* block = nullptr;
  int depth = 0;
};

class Expansion {
 public:
  Expansion(const NetworkFile& file, Variables globals)
      : file_(file), globals_(std::move(globals)) {
    Scope scope;
    scope.variables = globals_;
    walk(file.nodes, scope);
  }

  std::vector<Node> take() { return std::move(nodes_); }

 private:
  InputError fail(int line, const std::string& field, const std::string& found,
                  const std::string& allowed) const {
    return input_error(file_.file, line, field, found, allowed);
  }

  std::uint64_t value(const FileText& text, const Scope& scope, const std::string& field) const {
    return evaluate(text.text, scope.variables, file_.file, text.line, field);
  }

  std::string filled(const FileText& text, const Scope& scope, const std::string& field) const {
    return fill_in(text.text, scope.variables, file_.file, text.line, field);
  }

  void walk(const std::vector<FileEntry>& entries, const Scope& scope) {
    for (const FileEntry& entry : entries) {
      if (++steps_ > kMostSteps) {
        throw fail(entry.line, "nodes", "more than 200000 after expansion", "a smaller network");
      }
      const auto block = file_.blocks.find(entry.op);
      if (entry.op == "repeat") {
        repeat(entry, scope);
      } else if (block != file_.blocks.end()) {
        call(entry, block->second, scope);
      } else {
        add(entry, scope);
      }
    }
  }

  void repeat(const FileEntry& entry, const Scope& scope) {
    std::uint64_t times = 0, from = 1;
    bool timed = false;
    std::string index;
    for (const auto& [key, text] : entry.fields) {
      if (key == "times") {
        times = value(text, scope, "repeat, times");
        timed = true;
        if (times > kMostTimes) {
          throw fail(text.line, "repeat, times", std::to_string(times), "0 to 10000");
        }
      } else if (key == "from") {
        from = value(text, scope, "repeat, from");
        if (from > 0xFFFF'FFFF) {
          throw fail(text.line, "repeat, from", std::to_string(from), "0 to 4294967295");
        }
      } else if (key == "index") {
        index = text.text;
        if (!is_variable_name(index) || scope.variables.count(index) != 0) {
          throw fail(text.line, "repeat, index", "'" + index + "'",
                     "a name that no other variable has");
        }
      } else {
        throw fail(text.line, "repeat, key", "'" + key + "'", "times, index, from");
      }
    }
    if (!timed) throw fail(entry.line, "repeat, times", "nothing", "a number");
    Scope inner = scope;
    for (std::uint64_t i = 0; i < times; ++i) {
      if (!index.empty()) inner.variables[index] = from + i;
      if (++steps_ > kMostSteps) {
        throw fail(entry.line, "nodes", "more than 200000 after expansion", "a smaller network");
      }
      walk(entry.nodes, inner);
    }
  }

  void call(const FileEntry& entry, const FileBlock& block, const Scope& scope) {
    if (scope.depth >= kDeepestBlock) {
      throw fail(entry.line, entry.op, "blocks more than 16 deep", "no block that uses itself");
    }
    Scope inner;
    inner.depth = scope.depth + 1;
    inner.variables = globals_;
    std::vector<std::string> known;
    for (const FileText& name : block.takes) {
      known.push_back(name.text);
      const auto found = entry.fields.find(name.text);
      if (found == entry.fields.end()) {
        throw fail(entry.line, entry.op + ", " + name.text, "nothing",
                   "a number: the block takes it");
      }
      inner.variables[name.text] = value(found->second, scope, entry.op + ", " + name.text);
    }
    for (const auto& [key, text] : entry.fields) {
      if (key == "name" || std::find(known.begin(), known.end(), key) != known.end()) continue;
      std::vector<std::string> all = known;
      all.insert(all.end(), {"name", "inputs"});
      throw fail(text.line, entry.op + ", key", "'" + key + "'" + suggestion(key, all), join(all));
    }
    const std::string name = scope.prefix + own_name(entry, scope, entry.op);
    inner.prefix = name + ".";
    inner.inputs = inputs_of(entry, scope);
    if (inner.inputs.empty() && fresh(scope)) inner.inputs.push_back(scope.inputs.front());
    if (inner.inputs.empty() && !nodes_.empty()) inner.inputs.push_back(nodes_.back().name);
    walk(block.nodes, inner);
    // The last node of a block is what its name stands for outside.
    if (!nodes_.empty()) aliases_[name] = nodes_.back().name;
  }

  // The given name, or that of the operator with a number if it is taken.
  std::string own_name(const FileEntry& entry, const Scope& scope, const std::string& fallback) {
    const auto given = entry.fields.find("name");
    if (given != entry.fields.end()) {
      std::string name = filled(given->second, scope, entry.op + ", name");
      if (name.empty() || name == "previous" || name.rfind("in", 0) == 0) {
        const bool reserved = name.empty() || name == "previous" ||
                              name.find_first_not_of("0123456789", 2) == std::string::npos;
        if (reserved) {
          throw fail(given->second.line, entry.op + ", name", "'" + name + "'",
                     "a name other than previous, in, in2, ...");
        }
      }
      used_.insert(scope.prefix + name);
      return name;
    }
    std::uint64_t& count = counts_[scope.prefix + fallback];
    std::string name;
    do {
      ++count;
      name = count == 1 ? fallback : fallback + "-" + std::to_string(count);
    } while (!used_.insert(scope.prefix + name).second);
    return name;
  }

  std::string resolve(const std::string& name, int line, const FileEntry& entry,
                      const Scope& scope) const {
    const std::string field = entry.op + ", inputs";
    if (name == "previous") {
      if (nodes_.empty()) throw fail(line, field, "'previous'", "a node before this one");
      return nodes_.back().name;
    }
    for (std::size_t i = 0; i < scope.inputs.size(); ++i) {
      if (name == (i == 0 ? "in" : "in" + std::to_string(i + 1))) return scope.inputs[i];
    }
    // Names of the own block first, then of those around it.
    std::string prefix = scope.prefix;
    while (true) {
      const std::string full = prefix + name;
      if (made_.count(full) != 0) return full;
      const auto alias = aliases_.find(full);
      if (alias != aliases_.end()) return alias->second;
      if (prefix.empty()) break;
      prefix.pop_back();
      const std::size_t dot = prefix.rfind('.');
      prefix.resize(dot == std::string::npos ? 0 : dot + 1);
    }
    std::vector<std::string> known;
    for (const std::string& made : made_) {
      if (made.rfind(scope.prefix, 0) == 0) known.push_back(made.substr(scope.prefix.size()));
      if (known.size() > 200) break;
    }
    throw fail(line, field, "'" + name + "'" + suggestion(name, known),
               "the name of an earlier node, previous, or in inside a block");
  }

  std::vector<std::string> inputs_of(const FileEntry& entry, const Scope& scope) const {
    std::vector<std::string> out;
    for (const FileText& text : entry.inputs) {
      out.push_back(resolve(filled(text, scope, entry.op + ", inputs"), text.line, entry, scope));
    }
    return out;
  }

  void add(const FileEntry& entry, const Scope& scope) {
    Node node;
    node.line = entry.line;
    try {
      node.op = parse_op(entry.op);
    } catch (const InputError&) {
      std::vector<std::string> known = op_names();
      known.emplace_back("repeat");
      for (const auto& block : file_.blocks) known.push_back(block.first);
      throw fail(entry.line, "operator", "'" + entry.op + "'" + suggestion(entry.op, known),
                 join(known));
    }
    std::vector<std::string> known = {"name", "inputs"};
    const OpInfo& info = op_info(node.op);
    for (const AttributeInfo& attribute : info.attributes) known.push_back(attribute.name);
    if (!info.kinds.empty()) known.emplace_back("kind");
    if (info.weights) known.emplace_back("weights_of");
    for (const auto& [key, text] : entry.fields) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        throw fail(text.line, entry.op + ", key", "'" + key + "'" + suggestion(key, known),
                   join(known));
      }
      if (key == "kind") {
        node.kind = text.text;
      } else if (key == "weights_of") {
        node.weights_of = resolve(filled(text, scope, key), text.line, entry, scope);
      } else if (key == "bias" && (text.text == "true" || text.text == "false")) {
        node.numbers[key] = text.text == "true" ? 1 : 0;
      } else if (key != "name") {
        node.numbers[key] = value(text, scope, entry.op + ", " + key);
      }
    }
    node.inputs = inputs_of(entry, scope);
    // The first node of a block reads the block's input, which need not be the node before.
    if (node.inputs.empty() && info.least_inputs > 0 && fresh(scope)) {
      node.inputs.push_back(scope.inputs.front());
    }
    const std::string fallback =
        node.op == Op::kActivation && !node.kind.empty() ? node.kind : entry.op;
    node.name = scope.prefix + own_name(entry, scope, fallback);
    made_.insert(node.name);
    nodes_.push_back(std::move(node));
  }

  // Whether no node of this block has been made yet.
  bool fresh(const Scope& scope) const {
    if (scope.inputs.empty()) return false;
    return nodes_.empty() || nodes_.back().name.rfind(scope.prefix, 0) != 0;
  }

  const NetworkFile& file_;
  Variables globals_;
  std::vector<Node> nodes_;
  std::set<std::string> made_, used_;
  std::map<std::string, std::string> aliases_;  // block names to their last nodes
  std::map<std::string, std::uint64_t> counts_;
  std::size_t steps_ = 0;
};

const FileVariant* find_variant(const NetworkFile& file, const std::string& name) {
  for (const FileVariant& variant : file.variants) {
    if (variant.name == name) return &variant;
  }
  const bool only = file.variants.empty() && (name.empty() || name == file.network.text);
  if (only) return nullptr;
  if (name.empty() && file.variants.size() == 1) return &file.variants.front();
  throw input_error(file.file, 0, "network",
                    name.empty() ? "no choice" : "'" + name + "'" + suggestion(name, file.names()),
                    join(file.names()) + (name.empty() ? " (write FILE#NAME)" : ""));
}

}  // namespace

Graph expand_network(const NetworkFile& file, const std::string& variant) {
  const FileVariant* chosen = find_variant(file, variant);
  Variables variables;
  for (const auto& [name, text] : file.variables) {
    FileText own = text;
    if (chosen != nullptr && chosen->values.count(name) != 0) own = chosen->values.at(name);
    variables[name] = evaluate(own.text, variables, file.file, own.line, "variable " + name);
  }
  Graph graph;
  graph.file = file.file;
  graph.name = chosen == nullptr ? file.network.text : chosen->name;
  const auto fill = [&](const FileText& text, const char* field) {
    return fill_in(text.text, variables, file.file, text.line, field);
  };
  graph.title = fill(file.title, "title");
  graph.source = fill(file.source, "source");
  graph.sample = fill(file.sample, "sample");
  graph.batch = evaluate(file.batch.text, variables, file.file, file.batch.line, "batch");
  if (graph.batch == 0 || graph.batch > 0xFFFF'FFFF) {
    throw input_error(file.file, file.batch.line, "batch", std::to_string(graph.batch),
                      "1 to 4294967295");
  }
  for (const auto& entry : file.conventions) graph.conventions.push_back(entry.first);
  graph.nodes = Expansion(file, variables).take();
  (void)infer_shapes(graph);
  return graph;
}

}  // namespace bitcycle
