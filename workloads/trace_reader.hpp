// Reads a trace line by line: every byte of the file is untrusted, and memory does not grow with
// it.
#pragma once

#include <memory>
#include <string>

#include "workloads/trace.hpp"

namespace bitcycle {

/// A trace being read. Every message names the file and the line.
class TraceReader {
 public:
  /// Opens the file ("-" is standard input) and reads its header. Throws InputError: unreadable
  /// file, no header, another version, unknown or duplicate keys, wrong types, sizes out of range.
  explicit TraceReader(const std::string& path);
  ~TraceReader();
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  const TraceHeader& header() const;
  const std::string& name() const;  ///< of the file, for messages
  int line() const;                 ///< of the record read last

  /// The next record; false after the end line. Throws InputError: not one JSON object a line,
  /// nesting, duplicate or unknown keys, wrong types, values out of range, keys that contradict
  /// each other, a missing end line (a truncated file), a wrong count in it, lines after it.
  bool next(TraceRecord& record);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bitcycle
