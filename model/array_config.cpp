#include "model/array_config.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "golden/error.hpp"
#include "golden/text_file.hpp"
#include "golden/yaml_text.hpp"

namespace bitcycle {
namespace {

// One row per parameter: the YAML key is the RTL's name in lower case.
struct Field {
  const char* key;
  int ArrayConfig::*member;
};
constexpr Field kFields[] = {
    {"ra", &ArrayConfig::ra},       {"rw", &ArrayConfig::rw},       {"kl", &ArrayConfig::kl},
    {"tm", &ArrayConfig::tm},       {"tn", &ArrayConfig::tn},       {"s", &ArrayConfig::s},
    {"ba", &ArrayConfig::ba},       {"bw", &ArrayConfig::bw},       {"ac_w", &ArrayConfig::ac_w},
    {"acc_w", &ArrayConfig::acc_w}, {"p_max", &ArrayConfig::p_max}, {"q", &ArrayConfig::q},
};

bool divides_or_multiple(int value, int of) {
  return value > 0 && (of % value == 0 || value % of == 0);
}

ArrayConfig make_preset(const char* name, int ra, int rw, int kl, int s, int ba, int bw) {
  ArrayConfig c;
  c.name = name;
  c.ra = ra;
  c.rw = rw;
  c.kl = kl;
  c.s = s;
  c.ba = ba;
  c.bw = bw;
  c.p_max = 8;
  c.ac_w = min_ac_w(kl);
  c.acc_w = 48;
  return c;
}

ArrayConfig make_ci(int ra, int rw, int s) {
  ArrayConfig c;
  c.name = fmt::format("ci-{}x{}-s{}", ra, rw, s);
  c.ra = ra;
  c.rw = rw;
  c.kl = 16;
  c.tm = c.tn = 4;
  c.s = s;
  c.ba = c.bw = 4;
  c.q = 4;
  return c;
}

}  // namespace

int min_ac_w(int kl) {
  int w = 2;
  while ((std::uint64_t{1} << (w - 1)) <= std::uint64_t{65025} * static_cast<std::uint64_t>(kl))
    ++w;
  return w;
}

void ArrayConfig::validate(const std::string& file, const std::map<std::string, int>& lines) const {
  const auto require = [&](bool ok, const char* field, int found, const std::string& allowed) {
    if (ok) return;
    const auto line = lines.find(field);
    throw input_error(file, line == lines.end() ? 0 : line->second,
                      fmt::format("array {}: {}", name, field), std::to_string(found), allowed);
  };
  const auto radix = [](int r) { return r == 1 || r == 2 || r == 4 || r == 8; };
  require(radix(ra), "ra", ra, "1, 2, 4 or 8");
  require(radix(rw), "rw", rw, "1, 2, 4 or 8");
  require(kl >= 1 && kl <= 256, "kl", kl, "1 to 256");
  require(tm >= 1 && tm <= 64, "tm", tm, "1 to 64");
  require(tn >= 1 && tn <= 64, "tn", tn, "1 to 64");
  require(s >= 1 && tm % s == 0, "s", s, fmt::format("a divisor of tm = {}", tm));
  require(p_max >= 1 && p_max <= 16, "p_max", p_max, "1 to 16");
  require(divides_or_multiple(ba, tm) && ba <= tm * p_max, "ba", ba,
          fmt::format("a divisor or multiple of tm = {}, at most tm*p_max", tm));
  require(divides_or_multiple(bw, tn) && bw <= tn * p_max, "bw", bw,
          fmt::format("a divisor or multiple of tn = {}, at most tn*p_max", tn));
  require(ac_w >= min_ac_w(kl) && ac_w <= 32, "ac_w", ac_w,
          fmt::format("{} to 32 (2^(ac_w-1) > 65025*kl, kl = {})", min_ac_w(kl), kl));
  const int least = ac_w + (p_max > 8 ? 16 : 0);
  require(acc_w >= least && acc_w <= 64, "acc_w", acc_w,
          fmt::format("{} to 64 (ac_w{})", least, p_max > 8 ? " + 16, as p_max > 8" : ""));
  require(divides_or_multiple(q, tn) && q <= tm * tn, "q", q,
          fmt::format("a divisor or multiple of tn = {}, at most tm*tn", tn));
}

std::string ArrayConfig::key() const {
  std::string out;
  for (const auto& f : kFields) {
    out += fmt::format("{}{}{}", out.empty() ? "" : "_", f.key, this->*f.member);
  }
  return out;
}

std::uint64_t ArrayConfig::bitops_per_cycle() const {
  return std::uint64_t{1} * static_cast<unsigned>(tm) * static_cast<unsigned>(tn) *
         static_cast<unsigned>(kl) * static_cast<unsigned>(ra) * static_cast<unsigned>(rw);
}

const std::vector<ArrayConfig>& array_presets() {
  static const std::vector<ArrayConfig> presets = {
      make_preset("serial-1x1", 1, 1, 64, 8, 8, 8),
      make_preset("stripes-1x8", 1, 8, 8, 2, 16, 64),
      make_preset("brick-2x2", 2, 2, 16, 4, 16, 16),
      make_preset("nibble-4x4", 4, 4, 4, 1, 64, 64),
      make_preset("fixed-8x8", 8, 8, 1, 1, 128, 128),
  };
  return presets;
}

const std::vector<ArrayConfig>& ci_configs() {
  static const std::vector<ArrayConfig> configs = [] {
    std::vector<ArrayConfig> out;
    for (const auto& [ra, rw] : {std::pair{1, 1}, {1, 8}, {2, 2}, {1, 4}, {4, 4}}) {
      for (const int s : {1, 4}) out.push_back(make_ci(ra, rw, s));
    }
    return out;
  }();
  return configs;
}

ArrayConfig resolve_array(const std::string& name_or_file) {
  std::vector<std::string> known;
  for (const auto* list : {&array_presets(), &ci_configs()}) {
    for (const auto& c : *list) {
      if (c.name == name_or_file) return c;
      known.push_back(c.name);
    }
  }
  const bool looks_like_file = name_or_file.find('/') != std::string::npos ||
                               name_or_file.find(".y") != std::string::npos ||
                               std::filesystem::exists(name_or_file);
  if (looks_like_file) return load_array_config(name_or_file);
  throw input_error("", 0, "--arch", "'" + name_or_file + "'" + suggestion(name_or_file, known),
                    join(known) + ", or a YAML file");
}

ArrayConfig load_array_config(const std::string& path) {
  return parse_array_config(read_text_file(path, "array file", "a readable YAML file"), path);
}

ArrayConfig parse_array_config(const std::string& content, const std::string& path) {
  const YAML::Node root = load_yaml(content, path);
  if (!root.IsMap()) {
    throw input_error(path, 1, "array file", "no map", "a map of parameters such as 'ra: 1'");
  }
  ArrayConfig config;
  config.name = std::filesystem::path(path).stem().string();
  std::vector<std::string> known = {"name", "preset"};
  for (const auto& f : kFields) known.emplace_back(f.key);

  std::map<std::string, int> lines;
  const auto scalar = [&](const YAML::Node& node, const std::string& field) {
    if (!node.IsScalar())
      throw input_error(path, node.Mark().line + 1, field, "no scalar", "one value");
    return node.Scalar();
  };
  for (const auto& entry : root) {
    const int line = entry.first.Mark().line + 1;
    const std::string key = scalar(entry.first, "key");
    if (!lines.emplace(key, line).second)
      throw input_error(path, line, key, "the key twice", "each key once");
    if (key == "preset") {
      const std::string own_name = config.name;
      const std::string wanted = scalar(entry.second, key);
      bool found = false;
      std::vector<std::string> presets;
      for (const auto& p : array_presets()) {
        presets.push_back(p.name);
        if (p.name == wanted) config = p, found = true;
      }
      if (!found) {
        throw input_error(path, line, key, "'" + wanted + "'" + suggestion(wanted, presets),
                          join(presets));
      }
      config.name = own_name;
    }
  }
  for (const auto& entry : root) {
    const int line = entry.first.Mark().line + 1;
    const std::string key = scalar(entry.first, "key");
    if (key == "preset") continue;
    if (key == "name") {
      config.name = scalar(entry.second, key);
      continue;
    }
    const Field* field = nullptr;
    for (const auto& f : kFields) {
      if (key == f.key) field = &f;
    }
    if (field == nullptr) {
      throw input_error(path, line, "key", "'" + key + "'" + suggestion(key, known), join(known));
    }
    const std::string text = scalar(entry.second, key);
    std::uint64_t value = 0;
    if (!read_decimal(text, 0, std::numeric_limits<int>::max(), value)) {
      throw input_error(path, line, key, "'" + text + "'", "a whole decimal number");
    }
    config.*(field->member) = static_cast<int>(value);
  }
  config.validate(path, lines);
  return config;
}

}  // namespace bitcycle
