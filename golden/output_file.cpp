#include "golden/output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "golden/error.hpp"

namespace bitcycle {

std::string temporary_beside(const std::string& path) {
  return path + ".part" + std::to_string(::getpid());
}

std::string canonical_path(const std::string& path) {
  std::error_code failed;
  const auto found = std::filesystem::weakly_canonical(std::filesystem::absolute(path), failed);
  return failed ? path : found.string();
}

namespace {

// canonical_path, also through a link to a file that is not there yet; "" for links in a circle.
std::string behind_links(std::string path) {
  constexpr int kMostLinks = 40;  // as the system's
  std::error_code failed;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, failed); ++i) {
    const std::filesystem::path to = std::filesystem::read_symlink(path, failed);
    if (failed) break;
    path = (std::filesystem::path(path).parent_path() / to).string();  // an absolute one as it is
  }
  return std::filesystem::is_symlink(path, failed) ? "" : canonical_path(path);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  std::error_code ignored;
  if (path.empty() || std::filesystem::is_directory(path, ignored)) fail("a directory or no name");
  const auto status = std::filesystem::status(path, ignored);
  const bool device = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  if (!device) {
    // The file behind a link is replaced, not the link: beside it, for it may lie on another disk.
    target_ = behind_links(path);
    if (target_.empty()) fail("links in a circle");
    temporary_ = temporary_beside(target_);
  }
  file_ = std::fopen((device ? path : temporary_).c_str(), "wb");
  if (file_ == nullptr) {
    temporary_.clear();
    fail(std::strerror(errno));
  }
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")),
      target_(std::move(other.target_)),
      file_(std::exchange(other.file_, nullptr)) {}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void OutputFile::fail(const std::string& why) {
  throw input_error(path_, 0, "output file", why, "a writable path");
}

void OutputFile::write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail(std::strerror(errno));
}

void OutputFile::close() {
  if (file_ == nullptr) return;
  errno = 0;
  const bool flushed = std::fflush(file_) == 0 && std::ferror(file_) == 0;
  const int error = errno;
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  if (!flushed || !closed) fail(std::strerror(flushed ? errno : error));
}

void OutputFile::commit() {
  close();
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(std::strerror(errno));
  temporary_.clear();
}

}  // namespace bitcycle
