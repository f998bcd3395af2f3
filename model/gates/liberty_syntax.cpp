#include "model/gates/liberty_syntax.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cctype>
#include <filesystem>

#include "golden/error.hpp"
#include "model/gates/hash.hpp"

namespace bitcycle {
namespace {

// A cell library nests five or six deep; more is no Liberty and would exhaust the stack.
constexpr int kDeepest = 64;
// The largest foundry libraries are some hundred MB; a bomb is stopped before memory is.
constexpr std::size_t kLargest = std::size_t{1} << 28;

class Parser {
 public:
  Parser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  LibertyGroup run() {
    skip();
    LibertyGroup library;
    Item item = statement(library, 0);
    if (item != Item::kGroup || library.groups[0].type != "library") {
      fail(1, "library", item == Item::kGroup ? quote(library.groups[0].type) : "no group",
           "a file that begins with library (NAME) {");
    }
    skip();
    if (at_ < text_.size()) fail(line_, "library", "text after its end", "one library a file");
    return std::move(library.groups[0]);
  }

 private:
  enum class Item { kNothing, kAttribute, kGroup };

  [[noreturn]] void fail(int line, const std::string& field, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(path_, line, field, found, allowed);
  }
  static std::string quote(std::string_view text) {
    return "'" + std::string(text.substr(0, 40)) + "'";
  }
  std::string here() const {
    if (at_ >= text_.size()) return "the end of the file";
    const char c = text_[at_];
    if (std::isprint(static_cast<unsigned char>(c)) != 0) return fmt::format("'{}'", c);
    return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
  }

  // White space, comments and line continuations.
  void skip(bool over_newlines = true) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!over_newlines) return;
        ++line_;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
        ++at_;
      } else if (c == '\\') {
        std::size_t next = at_ + 1;
        while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\r')) ++next;
        if (next >= text_.size() || text_[next] != '\n') return;
        at_ = next + 1;
        ++line_;
      } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '*') {
        const int start = line_;
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) fail(start, "comment", "no end", "'*/' at its end");
        for (; at_ < end; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
        at_ = end + 2;
      } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view quoted() {
    const int start = line_;
    const std::size_t from = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\n') {
        if (text_[at_ - 1] != '\\' && !(at_ >= 2 && text_[at_ - 1] == '\r')) {
          fail(start, "string", "no closing quote in its line", "'\"' at its end");
        }
        ++line_;
      }
      ++at_;
    }
    if (at_ >= text_.size()) fail(start, "string", "no closing quote", "'\"' at its end");
    return text_.substr(from, at_++ - from);
  }

  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
           c == '+' || c == '[' || c == ']' || c == '$' || c == '<' || c == '>' || c == '!' ||
           c == '*' || c == '&' || c == '|' || c == '^' || c == '\'' || c == '%' || c == '/' ||
           c == '=' || c == '@' || c == '#' || c == '~';
  }
  // Inside parentheses a colon belongs to a word: A[7:0].
  std::string_view word(bool colon) {
    const std::size_t from = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || (colon && text_[at_] == ':'))) ++at_;
    return text_.substr(from, at_ - from);
  }

  // The value of a simple attribute: a string, or all up to the end of the statement.
  std::string_view simple_value() {
    skip(false);
    if (at_ < text_.size() && text_[at_] == '"') {
      const auto value = quoted();
      skip(false);
      // "1" + "2" and the like are legal Liberty that no known library uses.
      if (at_ < text_.size() && text_[at_] != ';' && text_[at_] != '\n' && text_[at_] != '}') {
        fail(line_, "attribute", here() + " after its string", "';'");
      }
      return value;
    }
    const std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] != ';' && text_[at_] != '\n' && text_[at_] != '}' &&
           text_[at_] != '{') {
      if (text_[at_] == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '*') break;
      ++at_;
    }
    std::size_t to = at_;
    while (to > from && std::isspace(static_cast<unsigned char>(text_[to - 1])) != 0) --to;
    if (to == from) fail(line_, "attribute", "no value", "a value after ':'");
    return text_.substr(from, to - from);
  }

  std::vector<std::string_view> arguments() {
    std::vector<std::string_view> out;
    const int start = line_;
    ++at_;  // (
    for (;;) {
      skip();
      if (at_ >= text_.size()) fail(start, "(", "no closing parenthesis", "')'");
      const char c = text_[at_];
      if (c == ')') {
        ++at_;
        return out;
      }
      if (c == ',') {
        ++at_;
      } else if (c == '"') {
        out.push_back(quoted());
      } else {
        const auto value = word(true);
        if (value.empty()) fail(line_, "argument", here(), "a name, number or string");
        out.push_back(value);
      }
    }
  }

  Item statement(LibertyGroup& parent, int depth) {
    const int line = line_;
    std::string_view name;
    if (at_ < text_.size() && text_[at_] == '"') {
      name = quoted();
    } else {
      name = word(false);
    }
    if (name.empty()) fail(line, "statement", here(), "a name");
    skip();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == ':') {
      ++at_;
      parent.attributes.push_back({name, {simple_value()}, line});
      semicolon();
      return Item::kAttribute;
    }
    if (c != '(') {
      fail(line_, std::string(name.substr(0, 40)), here(), "':' or '('");
    }
    auto values = arguments();
    skip();
    if (at_ < text_.size() && text_[at_] == '{') {
      if (depth >= kDeepest) fail(line, "group", "deeper nesting", "at most 64 levels");
      ++at_;
      LibertyGroup group;
      group.type = name;
      group.names = std::move(values);
      group.line = line;
      body(group, depth + 1);
      parent.groups.push_back(std::move(group));
      semicolon();
      return Item::kGroup;
    }
    parent.attributes.push_back({name, std::move(values), line});
    semicolon();
    return Item::kAttribute;
  }

  void semicolon() {
    skip();
    while (at_ < text_.size() && text_[at_] == ';') {
      ++at_;
      skip();
    }
  }

  void body(LibertyGroup& group, int depth) {
    for (;;) {
      skip();
      if (at_ >= text_.size()) {
        fail(group.line, std::string(group.type.substr(0, 40)), "no end of this group", "'}'");
      }
      if (text_[at_] == '}') {
        ++at_;
        return;
      }
      if (text_[at_] == ';') {
        ++at_;
        continue;
      }
      statement(group, depth);
    }
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

const LibertyAttribute* LibertyGroup::find(std::string_view name) const {
  for (auto it = attributes.rbegin(); it != attributes.rend(); ++it) {
    if (it->name == name) return &*it;
  }
  return nullptr;
}

std::string_view LibertyGroup::text(std::string_view name) const {
  const auto* attribute = find(name);
  return attribute == nullptr || attribute->values.empty() ? std::string_view{}
                                                           : attribute->values[0];
}

std::string read_maybe_gzipped(const std::string& path) {
  const char* const allowed = "a readable plain or gzipped file";
  if (std::filesystem::is_directory(path)) {
    throw input_error(path, 0, "file", "a directory", allowed);
  }
  gzFile file = gzopen(path.c_str(), "rb");  // reads plain files as they are
  if (file == nullptr) throw input_error(path, 0, "file", "no such file", allowed);
  std::string out;
  std::string block(std::size_t{1} << 20, '\0');
  int got = 0;
  while ((got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0) {
    out.append(block.data(), static_cast<std::size_t>(got));
    if (out.size() > kLargest) {
      gzclose(file);
      throw input_error(path, 0, "file", "more than 256 MiB of text", allowed);
    }
  }
  int code = Z_OK;
  const std::string message = gzerror(file, &code);
  // A truncated file shows only when it is closed.
  const int closed = gzclose(file);
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END) || closed != Z_OK) {
    throw input_error(path, 0, "file",
                      message.empty() ? "a damaged gzip file" : "an error (" + message + ")",
                      allowed);
  }
  return out;
}

LibertyFile LibertyFile::read(const std::string& path) {
  return parse(read_maybe_gzipped(path), path);
}

LibertyFile LibertyFile::parse(std::string text, const std::string& path) {
  LibertyFile file;
  file.path_ = path;
  file.sha256_ = sha256_hex(text);
  file.text_.push_back(std::move(text));
  file.library_ = Parser(file.text_.front(), path).run();
  return file;
}

}  // namespace bitcycle
