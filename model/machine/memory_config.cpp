#include "model/machine/memory_config.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "golden/error.hpp"
#include "golden/text_file.hpp"
#include "model/machine/dram_timer.hpp"

namespace bitcycle {
namespace {

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

/// A whole-number parameter of a DRAM.
struct IntField {
  const char* key;
  int DramConfig::*member;
};
constexpr IntField kDramFields[] = {
    {"channels", &DramConfig::channels},
    {"bank_groups", &DramConfig::bank_groups},
    {"banks_per_group", &DramConfig::banks_per_group},
    {"rows", &DramConfig::rows},
    {"row_bytes", &DramConfig::row_bytes},
    {"bus_width", &DramConfig::bus_width},
    {"device_width", &DramConfig::device_width},
    {"burst_length", &DramConfig::burst_length},
    {"tck_ps", &DramConfig::tck_ps},
    {"cl", &DramConfig::cl},
    {"cwl", &DramConfig::cwl},
    {"trcd", &DramConfig::trcd},
    {"trp", &DramConfig::trp},
    {"tras", &DramConfig::tras},
    {"trrd_s", &DramConfig::trrd_s},
    {"trrd_l", &DramConfig::trrd_l},
    {"tfaw", &DramConfig::tfaw},
    {"tccd_s", &DramConfig::tccd_s},
    {"tccd_l", &DramConfig::tccd_l},
    {"twtr_s", &DramConfig::twtr_s},
    {"twtr_l", &DramConfig::twtr_l},
    {"twr", &DramConfig::twr},
    {"trtp", &DramConfig::trtp},
    {"trtrs", &DramConfig::trtrs},
    {"trfc", &DramConfig::trfc},
    {"trefi", &DramConfig::trefi},
    {"controller_ps", &DramConfig::controller_ps},
    {"write_buffer", &DramConfig::write_buffer},
};
struct RailField {
  const char* key;
  double DramRail::*member;
};
constexpr RailField kRailFields[] = {
    {"volt", &DramRail::volt},   {"idd0", &DramRail::idd0},   {"idd2n", &DramRail::idd2n},
    {"idd3n", &DramRail::idd3n}, {"idd4r", &DramRail::idd4r}, {"idd4w", &DramRail::idd4w},
    {"idd5b", &DramRail::idd5b},
};
const std::vector<std::pair<std::string, DramField>> kMappingWords = {
    {"row", DramField::kRow},
    {"bank", DramField::kBank},
    {"group", DramField::kGroup},
    {"column", DramField::kColumn},
    {"channel", DramField::kChannel}};

class Parser {
 public:
  Parser(std::string path, MemoryConfig& out) : path_(std::move(path)), out_(out) {}

  void run(const YAML::Node& root) {
    const auto top = map(root, "memory file");
    only(top, "memory file", {"label", "kind", "sources", "parameters", "rails"});
    const std::string kind = text(need(top, root, "kind"), "kind");
    if (kind != "dram" && kind != "bandwidth") {
      fail(need(top, root, "kind"), "kind", "'" + kind + "'", "dram or bandwidth");
    }
    out_.is_dram = kind == "dram";
    if (top.count("label") != 0) out_.label = text(top.at("label"), "label");
    for (const auto& [key, node] : map(need(top, root, "sources"), "sources")) {
      source_texts_[key] = text(node, "sources." + key);
    }
    parameters_ = map(need(top, root, "parameters"), "parameters");
    parameters_node_ = top.at("parameters");
    if (out_.is_dram) {
      dram(root, top);
    } else {
      bandwidth();
      if (top.count("rails") != 0) {
        fail(top.at("rails"), "rails", "rails", "none in a memory of kind bandwidth");
      }
    }
    for (const auto& [key, node] : map(top.at("sources"), "sources")) {
      if (used_.count(key) == 0) {
        fail(node, "sources." + key, "a source that nothing refers to", "sources that are used");
      }
    }
  }

 private:
  using Map = std::map<std::string, YAML::Node>;

  [[noreturn]] void fail(const YAML::Node& at, const std::string& field, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(path_, line_of(at), field, found, allowed);
  }

  Map map(const YAML::Node& node, const std::string& what) const {
    if (!node.IsMap()) fail(node, what, "no map", "a map of keys and values");
    Map out;
    for (const auto& item : node) {
      const std::string key = text(item.first, what);
      if (!out.emplace(key, item.second).second) {
        fail(item.first, fmt::format("{}.{}", what, key), "the key twice", "each key once");
      }
    }
    return out;
  }

  void only(const Map& found, const std::string& what,
            const std::vector<std::string>& known) const {
    for (const auto& [key, node] : found) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        fail(node, what, "unknown key '" + key + "'" + suggestion(key, known), join(known));
      }
    }
  }

  const YAML::Node& need(const Map& found, const YAML::Node& at, const std::string& key) const {
    const auto it = found.find(key);
    if (it == found.end()) fail(at, key, "nothing", "'" + key + ": ...'");
    return it->second;
  }

  std::string text(const YAML::Node& node, const std::string& field) const {
    if (!node.IsScalar() || node.Scalar().empty()) {
      fail(node, field, "no text", "a text that is not empty");
    }
    return node.Scalar();
  }

  double number(const YAML::Node& node, const std::string& field) const {
    const std::string raw = text(node, field);
    double value = 0;
    if (!YAML::convert<double>::decode(node, value) || !std::isfinite(value) || value < 0) {
      fail(node, field, "'" + raw + "'", "a finite number, 0 or more");
    }
    return value;
  }

  int whole(const YAML::Node& node, const std::string& field) const {
    const std::string raw = text(node, field);
    int value = 0;
    if (!YAML::convert<int>::decode(node, value))
      fail(node, field, "'" + raw + "'", "a whole number");
    return value;
  }

  void source(const YAML::Node& node, const std::string& field) {
    const std::string key = text(node, field + ".source");
    const auto it = source_texts_.find(key);
    if (it == source_texts_.end()) {
      std::vector<std::string> known;
      for (const auto& [name, unused] : source_texts_) known.push_back(name);
      fail(node, field + ".source", "'" + key + "'" + suggestion(key, known), join(known));
    }
    used_.insert(key);
    out_.sources[field] = it->second;
  }

  /// The value node of parameter `key`, its source noted.
  const YAML::Node& parameter(const std::string& key) {
    const YAML::Node& node = need(parameters_, parameters_node_, key);
    lines_[key] = line_of(node);
    auto& entry = entries_[key] = map(node, key);
    only(entry, key, {"value", "source"});
    source(need(entry, node, "source"), key);
    return need(entry, node, "value");
  }

  void dram(const YAML::Node& root, const Map& top) {
    std::vector<std::string> known = {"mapping", "io_pj_per_bit"};
    for (const auto& f : kDramFields) known.emplace_back(f.key);
    only(parameters_, "parameters", known);
    DramConfig& d = out_.dram;
    d.name = out_.name;
    for (const auto& f : kDramFields) d.*(f.member) = whole(parameter(f.key), f.key);
    d.io_pj_per_bit = number(parameter("io_pj_per_bit"), "io_pj_per_bit");
    mapping(parameter("mapping"));

    const YAML::Node& rails = need(top, root, "rails");
    const auto list = map(rails, "rails");
    if (list.empty()) fail(rails, "rails", "none", "at least one supply");
    for (const auto& [name, node] : list) {
      const std::string field = "rail " + name;
      lines_[field] = line_of(node);
      const Map entry = map(node, field);
      std::vector<std::string> keys = {"source"};
      for (const auto& f : kRailFields) keys.emplace_back(f.key);
      only(entry, field, keys);
      DramRail rail;
      rail.name = name;
      for (const auto& f : kRailFields) {
        rail.*(f.member) = number(need(entry, node, f.key), field + "." + f.key);
      }
      source(need(entry, node, "source"), field);
      d.rails.push_back(rail);
    }
    d.validate(path_, lines_);
  }

  void mapping(const YAML::Node& node) {
    const std::string allowed = "row, bank, group, column and channel, each once, highest first";
    if (!node.IsSequence() || node.size() != 5) fail(node, "mapping", "no list of five", allowed);
    std::set<DramField> seen;
    for (std::size_t i = 0; i < 5; ++i) {
      const std::string word = text(node[i], "mapping");
      const auto it = std::find_if(kMappingWords.begin(), kMappingWords.end(),
                                   [&](const auto& pair) { return pair.first == word; });
      if (it == kMappingWords.end() || !seen.insert(it->second).second) {
        fail(node[i], "mapping", "'" + word + "'", allowed);
      }
      out_.dram.mapping[i] = it->second;
    }
  }

  void bandwidth() {
    only(parameters_, "parameters",
         {"read_latency", "write_latency", "read_bytes_per_cycle", "write_bytes_per_cycle"});
    const auto latency = [&](const char* key) {
      const YAML::Node& node = parameter(key);
      const int value = whole(node, key);
      if (value < 1 || value > 1000000)
        fail(node, key, std::to_string(value), "1 to 1000000 cycles");
      return value;
    };
    const auto rate = [&](const char* key) {
      const YAML::Node& node = parameter(key);
      const double value = number(node, key);
      if (value != 0 && (value < 0.001 || value > 1e6)) {
        fail(node, key, node.Scalar(),
             "0.001 to 1000000 bytes per cycle, or 0: as fast as the bus");
      }
      return value;
    };
    out_.read_latency = latency("read_latency");
    out_.write_latency = latency("write_latency");
    out_.read_bytes_per_cycle = rate("read_bytes_per_cycle");
    out_.write_bytes_per_cycle = rate("write_bytes_per_cycle");
  }

  std::string path_;
  MemoryConfig& out_;
  Map parameters_;
  YAML::Node parameters_node_;
  std::map<std::string, Map> entries_;
  std::map<std::string, std::string> source_texts_;
  std::map<std::string, int> lines_;
  std::set<std::string> used_;
};

}  // namespace

MemoryTiming MemoryConfig::timing(int dw) const {
  if (is_dram) {
    throw input_error("", 0, "memory " + name, "kind dram",
                      "kind bandwidth for an exact recurrence");
  }
  const auto cost = [&](double rate) {
    if (rate == 0) return std::uint64_t{256};
    return std::max<std::uint64_t>(256,
                                   static_cast<std::uint64_t>(std::ceil(256 * (dw / 8.0) / rate)));
  };
  MemoryTiming out;
  out.latency = static_cast<std::uint64_t>(read_latency);
  out.write_latency = static_cast<std::uint64_t>(write_latency);
  out.read_cost = cost(read_bytes_per_cycle);
  out.write_cost = cost(write_bytes_per_cycle);
  return out;
}

std::unique_ptr<MemoryTimer> MemoryConfig::timer(int dw, int period_ps) const {
  if (is_dram) return std::make_unique<DramTimer>(dram, dw, period_ps);
  return std::make_unique<BandwidthTimer>(timing(dw));
}

MemoryConfig parse_memory_config(const std::string& yaml, const std::string& path) {
  YAML::Node root;
  try {
    root = YAML::Load(yaml);
  } catch (const YAML::Exception& e) {
    throw input_error(path, e.mark.line + 1, "YAML", e.msg, "well-formed YAML");
  }
  MemoryConfig out;
  out.name = std::filesystem::path(path).stem().string();
  out.label = out.name;
  Parser(path, out).run(root);
  return out;
}

MemoryConfig load_memory_config(const std::string& path) {
  return parse_memory_config(read_text_file(path, "memory file", "a readable YAML file"), path);
}

}  // namespace bitcycle
