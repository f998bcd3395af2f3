// Rows of a small CSV file with fixed columns. Internal to workloads/.
#pragma once

#include <string>
#include <vector>

namespace bitcycle {

struct CsvRow {
  int line = 0;
  std::vector<std::string> fields;
};

/// Fields are trimmed; '#' starts a comment; blank lines, CRLF and a BOM are fine; a first row
/// equal to the column names is a header. Throws InputError with file and line: another number of
/// fields, control characters, no rows, a file over 4 MB.
std::vector<CsvRow> read_csv_rows(const std::string& path, const std::vector<std::string>& columns,
                                  const std::string& what);

}  // namespace bitcycle
