// A file for one test.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace bitcycle {

/// A file that lives as long as the object.
class TemporaryFile {
 public:
  /// Test processes run side by side: each name is used once.
  explicit TemporaryFile(const std::string& content) : path_(unique_path()) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  static std::string unique_path() {
    static const unsigned run = std::random_device()();
    static int number = 0;
    const std::string name =
        "bitcycle_" + std::to_string(run) + "_" + std::to_string(number++) + ".csv";
    return (std::filesystem::temp_directory_path() / name).string();
  }
  std::string path_;
};

}  // namespace bitcycle
