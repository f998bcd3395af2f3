// Writes a trace record by record. The file appears when it is complete, or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "golden/output_file.hpp"
#include "workloads/trace.hpp"

namespace bitcycle {

/// One record as one line of JSON, without newline: the shortest keys that say it.
std::string trace_record_json(const TraceRecord& record);

/// Streams records into a file ("-" is standard output), in constant memory.
class TraceWriter : public TraceSink {
 public:
  /// Writes the header. Throws InputError if the place cannot be written or the header is not
  /// what a reader accepts (iterations, control characters).
  TraceWriter(const std::string& path, const TraceHeader& header);

  /// Throws InputError: an error while writing, or a record that starts before the one before.
  void add(const TraceRecord& record) override;

  /// The end line; then the file is there. Without it nothing is left. Throws InputError.
  void finish();

  std::uint64_t records() const { return records_; }

 private:
  void put(const std::string& text);

  std::optional<OutputFile> file_;  // none: standard output
  std::string buffer_;
  std::uint64_t records_ = 0, last_start_ = 0;
};

}  // namespace bitcycle
