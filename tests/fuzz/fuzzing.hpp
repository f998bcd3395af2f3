// What every fuzz target shares: only InputError may come out of a parser, with one line of text.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "golden/error.hpp"

namespace bitcycle {

inline std::string as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Runs `action`. InputError is the answer to bad input; anything else ends the process.
template <typename Action>
int accept_input_errors(const Action& action) {
  try {
    action();
  } catch (const InputError& e) {
    const std::string what = e.what();
    if (what.empty() || what.find('\n') != std::string::npos || what.size() > 20'000) std::abort();
  }
  return 0;
}

/// A file in memory, for parsers that open files.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("fuzz", 0)) {
    if (descriptor_ < 0 || write(descriptor_, data, size) != static_cast<ssize_t>(size)) {
      std::abort();
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace bitcycle
