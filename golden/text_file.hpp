// Reading small text files with a limit, so that no input can eat the memory.
#pragma once

#include <cstddef>
#include <string>

namespace bitcycle {

/// Largest description file (array, energy table, accuracy list) that is read: 4 MB.
constexpr std::size_t kLongestTextFile = std::size_t{4} << 20;

/// The whole file. Throws InputError naming `what` if it cannot be read, is a directory or is
/// longer than kLongestTextFile; `allowed` says what would do.
std::string read_text_file(const std::string& path, const std::string& what,
                           const std::string& allowed);

}  // namespace bitcycle
