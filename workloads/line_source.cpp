#include "workloads/line_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

}  // namespace

LineSource::LineSource(const std::string& path, const std::string& what)
    : name_(path == "-" ? "standard input" : path), what_(what), buffer_(kBlock + 1) {
  if (path == "-") {
    file_ = STDIN_FILENO;
    return;
  }
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) throw input_error(path, 0, what, std::strerror(errno), "a readable file");
  struct stat status {};
  if (::fstat(file_, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(file_);
    throw input_error(path, 0, what, "a directory", "a readable file");
  }
}

LineSource::~LineSource() {
  if (file_ > STDIN_FILENO) ::close(file_);
}

bool LineSource::fill() {
  if (eof_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ + 1 == buffer_.size()) buffer_.resize(2 * buffer_.size());
  ssize_t got = 0;
  do {
    got = ::read(file_, buffer_.data() + end_, buffer_.size() - 1 - end_);
  } while (got < 0 && errno == EINTR);
  if (got < 0) throw input_error(name_, line_ + 1, what_, std::strerror(errno), "a readable file");
  eof_ = got == 0;
  end_ += static_cast<std::size_t>(got);
  return !eof_;
}

bool LineSource::next(char*& text, std::size_t& size) {
  std::size_t searched = 0;
  char* newline = nullptr;
  for (;;) {
    char* const begin = buffer_.data() + begin_;
    newline = static_cast<char*>(std::memchr(begin + searched, '\n', end_ - begin_ - searched));
    searched = end_ - begin_;
    if (newline != nullptr) break;
    if (searched > kLongestTraceLine) break;
    if (!fill()) break;
  }
  text = buffer_.data() + begin_;
  size = newline != nullptr ? static_cast<std::size_t>(newline - text) : end_ - begin_;
  if (newline == nullptr && size == 0) return false;
  ++line_;
  if (size > kLongestTraceLine) {
    throw input_error(name_, line_, "line", "more than 4 MB", "lines of at most 4 MB");
  }
  ended_ = newline != nullptr;
  begin_ += size + (ended_ ? 1 : 0);
  if (size > 0 && text[size - 1] == '\r') --size;
  text[size] = '\0';
  if (line_ == 1 && size >= 3 && std::memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
    text += 3;
    size -= 3;
  }
  return true;
}

}  // namespace bitcycle
