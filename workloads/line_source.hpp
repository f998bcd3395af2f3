// Lines of a file or of standard input, in constant memory. Internal to workloads/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bitcycle {

/// Longest line that is read, bytes.
constexpr std::size_t kLongestTraceLine = std::size_t{4} << 20;

/// Reads through a buffer that never holds more than one line and a block. Lines are modifiable
/// (a parser may decode in place), end with a NUL, and are valid until the next call.
class LineSource {
 public:
  /// "-" is standard input. Throws InputError naming `what` if there is nothing to read.
  LineSource(const std::string& path, const std::string& what);
  ~LineSource();
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  /// False at the end. A BOM at the start and CR at a line's end are left out. Throws InputError
  /// for a line over kLongestTraceLine, or an error while reading.
  bool next(char*& text, std::size_t& size);

  int line() const { return line_; }                 ///< number of the line read last, from 1
  const std::string& name() const { return name_; }  ///< for messages
  bool ended_with_newline() const { return ended_; }

 private:
  bool fill();

  std::string name_;
  std::string what_;
  int file_ = -1;
  int line_ = 0;
  bool eof_ = false;
  bool ended_ = true;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // unread bytes
};

}  // namespace bitcycle
