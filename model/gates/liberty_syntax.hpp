// Liberty text as groups and attributes, whatever they mean; every node knows its line.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

/// `name : value;` or `name (value, ...);`. Quotes and line continuations are removed.
struct LibertyAttribute {
  std::string_view name;
  std::vector<std::string_view> values;
  int line = 0;
};

/// `type (names) { ... }`.
struct LibertyGroup {
  std::string_view type;
  std::vector<std::string_view> names;
  std::vector<LibertyAttribute> attributes;
  std::vector<LibertyGroup> groups;
  int line = 0;

  /// The last attribute of that name, or nullptr.
  const LibertyAttribute* find(std::string_view name) const;
  /// First value of an attribute, or "" if there is none.
  std::string_view text(std::string_view name) const;
};

/// One file. Views point into `text`; moving the object keeps them valid.
class LibertyFile {
 public:
  /// Reads a plain or gzipped file. Throws InputError with file and line.
  static LibertyFile read(const std::string& path);
  /// The same from text; `path` is named in messages.
  static LibertyFile parse(std::string text, const std::string& path);

  const LibertyGroup& library() const { return library_; }
  const std::string& path() const { return path_; }
  /// SHA-256 of the (unpacked) text, in hex.
  const std::string& sha256() const { return sha256_; }

 private:
  std::string path_;
  std::string sha256_;
  std::deque<std::string> text_;  // a deque: elements stay where they are when it is moved
  LibertyGroup library_;
};

/// Whole content of a plain or gzipped file; throws InputError if it cannot be read or unpacked.
std::string read_maybe_gzipped(const std::string& path);

}  // namespace bitcycle
