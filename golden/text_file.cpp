#include "golden/text_file.hpp"

#include <filesystem>
#include <fstream>

#include "golden/error.hpp"

namespace bitcycle {

std::string read_text_file(const std::string& path, const std::string& what,
                           const std::string& allowed) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw input_error(path, 0, what, "a directory", allowed);
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw input_error(path, 0, what, "no readable file", allowed);
  std::string text(kLongestTextFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kLongestTextFile) {
    throw input_error(path, 0, what, "more than 4 MB", allowed + " of at most 4 MB");
  }
  return text;
}

}  // namespace bitcycle
