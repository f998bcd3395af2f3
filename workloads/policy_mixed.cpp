#include "workloads/policy_mixed.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "golden/error.hpp"
#include "golden/text_file.hpp"
#include "workloads/csv_rows.hpp"
#include "workloads/number_text.hpp"
#include "workloads/policy_settings.hpp"
#include "workloads/schedule_curve.hpp"

namespace bitcycle {
namespace {

const std::vector<std::string> kColumns = {"layer", "bits_w", "bits_a", "bits_g"};

int bits_of(const std::string& text, const std::string& file, int line, const std::string& field) {
  std::uint64_t value = 0;
  if (!read_number(text, kMinBits, kMaxBits, value)) {
    throw input_error(file, line, field, "'" + text + "'", "a whole number from 1 to 16");
  }
  return static_cast<int>(value);
}

LayerSelection layer_of(const std::string& text, const std::string& file, int line) {
  if (text.empty()) throw input_error(file, line, "layer", "nothing", "a name, index or pattern");
  if (text == "all") return LayerSelection{};
  std::uint64_t index = 0;
  if (read_number(text, 0, kMostTraceLayers, index)) return LayerSelection::index(index);
  return LayerSelection::named(text);
}

MixedRow row_of(const std::vector<std::string>& fields, const std::string& file, int line) {
  const auto bits = [&](std::size_t i) { return bits_of(fields[i], file, line, kColumns[i]); };
  return {layer_of(fields[0], file, line), LayerBits(bits(1), bits(2), bits(3)), line};
}

std::vector<MixedRow> read_yaml(const std::string& path) {
  const std::string allowed = "a YAML list of maps: layer, bits_w, bits_a, bits_g";
  const std::string text = read_text_file(path, "per-layer list", allowed);
  std::vector<MixedRow> out;
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsSequence() || root.size() == 0) {
      throw input_error(path, root.Mark().line + 1, "per-layer list", "no list", allowed);
    }
    for (const auto& node : root) {
      const int line = node.Mark().line + 1;
      if (!node.IsMap()) throw input_error(path, line, "row", "no map", allowed);
      std::vector<std::string> fields(kColumns.size());
      std::set<std::string> seen;
      for (const auto& item : node) {
        const std::string key = item.first.IsScalar() ? item.first.Scalar() : "?";
        std::size_t place = 0;
        while (place < kColumns.size() && kColumns[place] != key) ++place;
        if (place == kColumns.size() || !item.second.IsScalar()) {
          throw input_error(path, line, "row", "'" + key + "'" + suggestion(key, kColumns),
                            join(kColumns));
        }
        if (!seen.insert(key).second) {
          throw input_error(path, line, key, "the key twice", "each key once");
        }
        fields[place] = item.second.Scalar();
      }
      if (seen.size() != kColumns.size()) {
        throw input_error(path, line, "row", fmt::format("{} keys", seen.size()), join(kColumns));
      }
      out.push_back(row_of(fields, path, line));
    }
  } catch (const YAML::Exception& e) {
    throw input_error(path, e.mark.line + 1, "YAML", e.msg, allowed);
  }
  return out;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

std::vector<MixedRow> read_mixed_list(const std::string& path) {
  if (ends_with(path, ".yaml") || ends_with(path, ".yml")) return read_yaml(path);
  std::vector<MixedRow> out;
  for (const auto& row : read_csv_rows(path, kColumns, "per-layer list")) {
    out.push_back(row_of(row.fields, path, row.line));
  }
  return out;
}

std::vector<NamedConfig> read_configs(const std::string& path) {
  std::vector<NamedConfig> out;
  std::set<std::string> names;
  const std::vector<std::string> columns = {"name", "bits_w", "bits_a", "bits_g"};
  for (const auto& row : read_csv_rows(path, columns, "list of configurations")) {
    if (row.fields[0].empty() || !names.insert(row.fields[0]).second) {
      throw input_error(path, row.line, "name",
                        row.fields[0].empty() ? "nothing" : "'" + row.fields[0] + "' twice",
                        "a name, each once");
    }
    const auto bits = [&](std::size_t i) {
      return bits_of(row.fields[i], path, row.line, columns[i]);
    };
    out.push_back({row.fields[0], LayerBits(bits(1), bits(2), bits(3))});
  }
  return out;
}

MixedPolicy::MixedPolicy(std::vector<MixedRow> rows, std::string file, std::uint64_t iterations)
    : rows_(std::move(rows)), file_(std::move(file)), iterations_(iterations) {}

bool MixedPolicy::by_layer() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const MixedRow& row) {
    return row.layers.kind != LayerSelection::Kind::kAll;
  });
}

void MixedPolicy::write(const TraceLayers& layers, TraceSink& sink) const {
  for (const auto& row : rows_) {
    select_layers(layers, row.layers, file_, row.line);  // a message with the list's line
    TraceRecord record = network_record(0, row.bits);
    record.layers = row.layers;
    sink.add(record);
  }
}

std::unique_ptr<Policy> make_mixed_policy(const std::string& /*name*/, PolicySettings& settings) {
  const std::string file = settings.text("file", "");
  if (file.empty()) {
    throw settings.error("file", "nothing", "a list of layer,bits_w,bits_a,bits_g (CSV or YAML)");
  }
  const std::uint64_t iterations = settings.iterations(64000);
  return std::make_unique<MixedPolicy>(read_mixed_list(file), file, iterations);
}

std::unique_ptr<Policy> make_uniform_policy(const std::string& /*name*/, PolicySettings& settings) {
  const auto bits = [&](const char* key) {
    return static_cast<int>(settings.number(key, 8, kMinBits, kMaxBits));
  };
  const LayerBits widths(bits("w"), bits("a"), bits("g"));
  const std::uint64_t iterations = settings.iterations(64000);
  return std::make_unique<MixedPolicy>(std::vector<MixedRow>{{LayerSelection{}, widths, 0}}, "",
                                       iterations);
}

}  // namespace bitcycle
