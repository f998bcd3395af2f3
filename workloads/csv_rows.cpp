#include "workloads/csv_rows.hpp"

#include <sstream>

#include "golden/error.hpp"
#include "golden/text_file.hpp"
#include "workloads/number_text.hpp"

namespace bitcycle {

std::vector<CsvRow> read_csv_rows(const std::string& path, const std::vector<std::string>& columns,
                                  const std::string& what) {
  const std::string allowed = "columns " + join(columns, ",");
  std::string text = read_text_file(path, what, "a CSV file: " + join(columns, ","));
  if (text.compare(0, 3, "\xEF\xBB\xBF") == 0) text.erase(0, 3);
  std::istringstream in(text);
  std::vector<CsvRow> out;
  std::string line;
  bool first = true;
  for (int number = 1; std::getline(in, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::string_view rest = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (rest.empty()) continue;
    for (const char c : rest) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte < 0x20 && c != '\t') || byte == 0x7f) {
        throw input_error(path, number, what, "byte " + std::to_string(byte), allowed);
      }
    }
    CsvRow row{number, {}};
    for (;;) {
      const std::size_t comma = rest.find(',');
      row.fields.emplace_back(trimmed(rest.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    if (row.fields.size() != columns.size()) {
      throw input_error(path, number, what, std::to_string(row.fields.size()) + " column(s)",
                        allowed);
    }
    if (!(first && row.fields == columns)) out.push_back(std::move(row));
    first = false;
  }
  if (out.empty()) throw input_error(path, 0, what, "no rows", allowed);
  return out;
}

}  // namespace bitcycle
