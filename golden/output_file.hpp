// Files that appear complete or not at all.
#pragma once

#include <cstdio>
#include <string>

namespace bitcycle {

/// A name beside `path` that no other process uses, for a file that is then renamed to it.
std::string temporary_beside(const std::string& path);

/// The file that `path` means: links followed, "." and ".." resolved; `path` itself if the system
/// cannot say.
std::string canonical_path(const std::string& path);

/// Written beside its place and renamed by commit(); without commit() nothing is left of it. Links
/// are followed and stay. A device or a pipe is written into directly: renaming would replace it by
/// a file. Opening a pipe waits for its reader, as in any program.
class OutputFile {
 public:
  /// Throws InputError for a directory, no name, or a place that cannot be written.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const std::string& text);  ///< throws InputError
  /// All bytes are out and the file is closed: what can fail has failed. Throws InputError.
  void close();
  void commit();  ///< closes if needed, then renames. Throws InputError

 private:
  [[noreturn]] void fail(const std::string& why);

  std::string path_, temporary_, target_;
  std::FILE* file_ = nullptr;
};

}  // namespace bitcycle
