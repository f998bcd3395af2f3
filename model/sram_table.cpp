// Reads SRAM tables: strict, because a number that lost its source is worse than none.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "golden/error.hpp"
#include "golden/text_file.hpp"
#include "golden/yaml_text.hpp"
#include "model/sram.hpp"

namespace bitcycle {
namespace {

constexpr double kMostWords = 1e12, kMostWidth = 65536, kMostPicojoule = 1e9, kMostMicrowatt = 1e12;

void check_point(const std::string& file, int line, const SramPoint& p, double width) {
  const auto fail = [&](const char* field, double found, const std::string& allowed) {
    throw input_error(file, line, field, fmt::format("{:g}", found), allowed);
  };
  if (!(p.words >= 1 && p.words <= kMostWords)) fail("words", p.words, "1 to 1e12");
  if (!(width >= 1 && width <= kMostWidth)) fail("width", width, "1 to 65536 bits");
  for (const double j : {p.read_j, p.write_j}) {
    if (!(j > 0 && j <= kMostPicojoule * 1e-12)) {
      fail("energy of an access, pJ", j * 1e12, "above 0, up to 1e9");
    }
  }
}

// Sorts, and refuses what makes no table.
void finish(SramTable& t, const std::string& file) {
  if (t.curves.empty()) throw input_error(file, 0, "curves", "none", "at least one width");
  std::sort(t.curves.begin(), t.curves.end(),
            [](const SramCurve& a, const SramCurve& b) { return a.width < b.width; });
  for (std::size_t i = 0; i < t.curves.size(); ++i) {
    auto& points = t.curves[i].points;
    const std::string field = fmt::format("width {:g}", t.curves[i].width);
    if (i > 0 && t.curves[i].width == t.curves[i - 1].width) {
      throw input_error(file, 0, field, "the width twice", "each width once");
    }
    if (points.empty()) throw input_error(file, 0, field, "no points", "at least one");
    std::sort(points.begin(), points.end(),
              [](const SramPoint& a, const SramPoint& b) { return a.words < b.words; });
    for (std::size_t p = 1; p < points.size(); ++p) {
      if (points[p].words == points[p - 1].words) {
        throw input_error(file, 0, field, fmt::format("{:g} words twice", points[p].words),
                          "each depth once");
      }
    }
  }
  std::sort(t.leakage.begin(), t.leakage.end());
}

class YamlReader {
 public:
  explicit YamlReader(std::string file) : file_(std::move(file)) {}

  SramTable run(const std::string& yaml) {
    const YAML::Node root = load_yaml(yaml, file_);
    const Map top = map(root, "SRAM table");
    only(root, top, "SRAM table",
         {"label", "node", "scaling_node", "voltage", "sources", "band", "curves", "leakage"});
    SramTable t;
    t.label = text(root, top, "label");
    t.node = text(root, top, "node");
    if (top.count("scaling_node") != 0) t.scaling_node = text(root, top, "scaling_node");
    t.voltage = number(root, top, "voltage", 100);
    for (const auto& [key, node] : map(need(root, top, "sources"), "sources")) {
      if (!node.IsScalar() || node.Scalar().empty())
        fail(node, "sources." + key, "no text", "text");
      sources_.insert(key);
      t.sources.emplace_back(key, node.Scalar());
    }
    const YAML::Node band = need(root, top, "band");
    const Map b = map(band, "band");
    only(band, b, "band", {"low", "high", "source"});
    t.band_low = number(band, b, "low", 1);
    t.band_high = number(band, b, "high", 1000);
    t.band_source = source(band, b, "source");
    for (const YAML::Node& node : list(root, top, "curves")) t.curves.push_back(curve(node));
    for (const YAML::Node& node : list(root, top, "leakage")) {
      const Map m = map(node, "leakage");
      only(node, m, "leakage", {"bytes", "microwatt", "source"});
      source(node, m, "source");
      const double bytes = number(node, m, "bytes", 1e12);
      const double watts = number(node, m, "microwatt", kMostMicrowatt) * 1e-6;
      if (bytes <= 0) fail(node, "bytes", "0", "above 0");
      t.leakage.emplace_back(bytes, watts);
    }
    finish(t, file_);
    return t;
  }

 private:
  using Map = std::map<std::string, YAML::Node>;

  [[noreturn]] void fail(const YAML::Node& at, const std::string& field, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(file_, yaml_line(at), field, found, allowed);
  }
  Map map(const YAML::Node& node, const std::string& what) const {
    if (!node.IsMap()) fail(node, what, "no map", "a map of keys and values");
    Map out;
    for (const auto& item : node) {
      if (!item.first.IsScalar()) fail(item.first, what, "a key that is no word", "words");
      if (!out.emplace(item.first.Scalar(), item.second).second) {
        fail(item.first, what + "." + item.first.Scalar(), "the key twice", "each key once");
      }
    }
    return out;
  }
  void only(const YAML::Node& at, const Map& m, const std::string& what,
            const std::vector<std::string>& known) const {
    for (const auto& [key, node] : m) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      fail(at, what, "unknown key '" + key + "'" + suggestion(key, known), join(known));
    }
  }
  YAML::Node need(const YAML::Node& at, const Map& m, const std::string& key) const {
    const auto found = m.find(key);
    if (found == m.end()) fail(at, key, "nothing", "'" + key + ": ...'");
    return found->second;
  }
  std::string text(const YAML::Node& at, const Map& m, const std::string& key) const {
    const YAML::Node node = need(at, m, key);
    if (!node.IsScalar() || node.Scalar().empty()) fail(node, key, "no text", "text");
    return node.Scalar();
  }
  double number(const YAML::Node& at, const Map& m, const std::string& key, double most) const {
    const YAML::Node node = need(at, m, key);
    double out = 0.0;
    if (!node.IsScalar() || !read_decimal(node.Scalar(), out) || out > most) {
      fail(node, key, node.IsScalar() ? "'" + node.Scalar() + "'" : "no number",
           fmt::format("a number, 0 to {:g}", most));
    }
    return out;
  }
  std::string source(const YAML::Node& at, const Map& m, const std::string& key) const {
    if (m.count(key) == 0) fail(at, key, "a number without source", "a key of sources");
    std::string out = text(at, m, key);
    if (sources_.count(out) == 0) {
      fail(at, key, "'" + out + "'",
           "a key of sources: " + join(std::vector<std::string>(sources_.begin(), sources_.end())));
    }
    return out;
  }
  std::vector<YAML::Node> list(const YAML::Node& at, const Map& m, const std::string& key) const {
    const YAML::Node node = need(at, m, key);
    if (!node.IsSequence()) fail(node, key, "no list", "a list");
    return {node.begin(), node.end()};
  }
  SramCurve curve(const YAML::Node& node) const {
    const Map m = map(node, "curves");
    only(node, m, "curves", {"width", "points"});
    SramCurve out;
    out.width = number(node, m, "width", kMostWidth);
    for (const YAML::Node& p : list(node, m, "points")) {
      const Map point = map(p, "points");
      only(p, point, "points", {"words", "read_pj", "write_pj", "source", "write_source"});
      source(p, point, "source");
      if (point.count("write_source") != 0) source(p, point, "write_source");
      out.points.push_back({number(p, point, "words", kMostWords),
                            number(p, point, "read_pj", kMostPicojoule) * 1e-12,
                            number(p, point, "write_pj", kMostPicojoule) * 1e-12});
      check_point(file_, yaml_line(p), out.points.back(), out.width);
    }
    return out;
  }

  std::string file_;
  std::set<std::string> sources_;
};

std::string stem_of(const std::string& path) {
  std::string stem = std::filesystem::path(path).stem().string();
  if (stem.rfind("sram-", 0) == 0) stem = stem.substr(5);
  return stem;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

SramTable parse_sram_yaml(const std::string& yaml, const std::string& path) {
  SramTable out = YamlReader(path).run(yaml);
  out.name = stem_of(path);
  return out;
}

SramTable parse_sram_csv(const std::string& csv, const std::string& path) {
  const std::string heading = "words,width,read_pj,write_pj,leakage_uw,source";
  SramTable t;
  t.name = stem_of(path);
  t.label = t.name + " (user's table)";
  t.node = "as the user says";
  t.band_low = 0.5;
  t.band_high = 1.0;
  t.band_source = "bitcycle: an assumption for tables without a band, a factor of 2";
  std::map<double, SramCurve> curves;
  std::set<std::string> sources;
  std::istringstream in(csv);
  std::string raw;
  int line = 0;
  while (std::getline(in, raw)) {
    ++line;
    const std::string row = trimmed(raw);
    if (row.empty() || row[0] == '#') continue;
    if (row == heading) continue;
    // The source is the rest of the line: it may hold commas.
    std::vector<std::string> cells;
    std::size_t at = 0;
    while (cells.size() < 5) {
      const std::size_t comma = row.find(',', at);
      if (comma == std::string::npos) break;
      cells.push_back(trimmed(row.substr(at, comma - at)));
      at = comma + 1;
    }
    if (cells.size() < 5) throw input_error(path, line, "row", "'" + row + "'", heading);
    const std::string source = trimmed(row.substr(at));
    if (source.empty()) {
      throw input_error(path, line, "source", "a number without source", "text after the comma");
    }
    sources.insert(source);
    const auto number = [&](std::size_t i, const char* field) {
      double out = 0.0;
      if (!read_decimal(cells[i], out)) {
        throw input_error(path, line, field, "'" + cells[i] + "'", "a decimal number");
      }
      return out;
    };
    const double width = number(1, "width");
    const SramPoint p{number(0, "words"), number(2, "read_pj") * 1e-12,
                      number(3, "write_pj") * 1e-12};
    check_point(path, line, p, width);
    SramCurve& curve = curves[width];
    curve.width = width;
    curve.points.push_back(p);
    if (!cells[4].empty()) {
      t.leakage.emplace_back(p.words * width / 8.0, number(4, "leakage_uw") * 1e-6);
    }
  }
  for (const auto& [width, curve] : curves) t.curves.push_back(curve);
  for (const auto& s : sources) t.sources.emplace_back("user", s);
  finish(t, path);
  return t;
}

SramTable load_sram_table(const std::string& path) {
  const std::string text = read_text_file(path, "SRAM table", "a readable YAML or CSV file");
  const bool csv = path.size() > 4 && path.compare(path.size() - 4, 4, ".csv") == 0;
  return csv ? parse_sram_csv(text, path) : parse_sram_yaml(text, path);
}

}  // namespace bitcycle
