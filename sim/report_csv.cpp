#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/report.hpp"

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::pair<std::string, std::string>>;

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

void flatten(const std::string& prefix, const Json& value, Cells& out) {
  if (value.is_structured()) {
    std::size_t index = 0;
    for (const auto& item : value.items()) {
      const std::string name = value.is_array() ? std::to_string(index++) : item.key();
      std::string path = prefix;
      if (!path.empty()) path += ".";
      path += name;
      flatten(path, item.value(), out);
    }
    return;
  }
  out.emplace_back(prefix, value.is_null()     ? std::string()
                           : value.is_string() ? value.get<std::string>()
                                               : value.dump());
}

}  // namespace

std::string report_csv(const CompareResult& result) {
  // per_bits is the last key and the only one whose length differs between rows, so the longest
  // row has every column, in order.
  std::vector<Cells> rows;
  const Cells* longest = nullptr;
  for (const auto& row : result.rows) {
    Cells cells;
    flatten("", row_json(row, result), cells);
    rows.push_back(std::move(cells));
  }
  for (const auto& cells : rows) {
    if (longest == nullptr || cells.size() > longest->size()) longest = &cells;
  }
  if (longest == nullptr) return "";
  std::string out;
  for (std::size_t i = 0; i < longest->size(); ++i) {
    out += (i > 0 ? "," : "") + quoted((*longest)[i].first);
  }
  out += "\n";
  for (const auto& cells : rows) {
    for (std::size_t i = 0; i < longest->size(); ++i) {
      out += (i > 0 ? "," : "") + (i < cells.size() ? quoted(cells[i].second) : std::string());
    }
    out += "\n";
  }
  return out;
}

}  // namespace bitcycle
