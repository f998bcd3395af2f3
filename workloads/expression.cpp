#include "workloads/expression.hpp"

#include <charconv>
#include <string_view>
#include <vector>

#include "golden/checked.hpp"

namespace bitcycle {
namespace {

constexpr std::size_t kLongest = 256;
constexpr std::size_t kLongestName = 64;
constexpr int kDeepest = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::vector<std::string> names_of(const Variables& variables) {
  std::vector<std::string> names;
  names.reserve(variables.size());
  for (const auto& entry : variables) names.push_back(entry.first);
  return names;
}

class Parser {
 public:
  Parser(const std::string& text, const Variables& variables, const std::string& file, int line,
         const std::string& field)
      : text_(text), variables_(variables), file_(file), line_(line), field_(field) {}

  std::uint64_t run() {
    if (text_.size() > kLongest) throw fail("at most 256 characters");
    const std::uint64_t value = sum(0);
    skip();
    if (place_ != text_.size()) throw malformed();
    return value;
  }

 private:
  InputError fail(const std::string& allowed) const {
    return input_error(file_, line_, field_, "'" + text_ + "'", allowed);
  }
  InputError malformed() const {
    return fail("a whole number from 0, or an expression with variables, + - * / and ( )");
  }

  void skip() {
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
  }

  // The operator at this place, if it is one of two.
  char take(char first, char second) {
    skip();
    if (place_ >= text_.size()) return '\0';
    const char c = text_[place_];
    if (c != first && c != second) return '\0';
    ++place_;
    return c;
  }

  std::uint64_t sum(int depth) {
    std::uint64_t value = product(depth);
    while (const char op = take('+', '-')) {
      const std::uint64_t other = product(depth);
      if (op == '-') {
        if (other > value) throw fail("a difference of at least 0");
        value -= other;
      } else if (__builtin_add_overflow(value, other, &value)) {
        throw fail("a result below 2^64");
      }
    }
    return value;
  }

  std::uint64_t product(int depth) {
    std::uint64_t value = factor(depth);
    while (const char op = take('*', '/')) {
      const std::uint64_t other = factor(depth);
      if (op == '/') {
        if (other == 0 || value % other != 0) throw fail("a division without remainder");
        value /= other;
      } else if (__builtin_mul_overflow(value, other, &value)) {
        throw fail("a result below 2^64");
      }
    }
    return value;
  }

  std::uint64_t factor(int depth) {
    if (depth > kDeepest) throw fail("at most 32 parentheses in each other");
    if (take('(', '(') != '\0') {
      const std::uint64_t value = sum(depth + 1);
      if (take(')', ')') == '\0') throw malformed();
      return value;
    }
    if (place_ >= text_.size()) throw malformed();
    return is_digit(text_[place_]) ? number() : variable();
  }

  std::uint64_t number() {
    const std::size_t begin = place_;
    while (place_ < text_.size() && is_digit(text_[place_])) ++place_;
    const std::string_view digits = std::string_view(text_).substr(begin, place_ - begin);
    if (digits.size() > 1 && digits[0] == '0') throw fail("decimal numbers without leading zeros");
    if (place_ < text_.size() && (is_letter(text_[place_]) || text_[place_] == '.')) {
      throw malformed();
    }
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc()) throw fail("numbers below 2^64");
    return value;
  }

  std::uint64_t variable() {
    const std::size_t begin = place_;
    while (place_ < text_.size() && (is_letter(text_[place_]) || is_digit(text_[place_]))) ++place_;
    const std::string name = text_.substr(begin, place_ - begin);
    if (name.empty()) throw malformed();
    const auto found = variables_.find(name);
    if (found == variables_.end()) {
      const std::vector<std::string> known = names_of(variables_);
      throw input_error(file_, line_, field_, "'" + text_ + "'" + suggestion(name, known),
                        known.empty() ? "a whole number: there are no variables here"
                                      : "a whole number, or the variables " + join(known));
    }
    return found->second;
  }

  const std::string& text_;
  const Variables& variables_;
  const std::string& file_;
  int line_;
  const std::string& field_;
  std::size_t place_ = 0;
};

}  // namespace

std::uint64_t evaluate(const std::string& text, const Variables& variables, const std::string& file,
                       int line, const std::string& field) {
  return Parser(text, variables, file, line, field).run();
}

std::string fill_in(const std::string& text, const Variables& variables, const std::string& file,
                    int line, const std::string& field) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    if (text[i] != '$') {
      out += text[i++];
      continue;
    }
    std::size_t end = i + 1;
    std::string inner;
    if (end < text.size() && text[end] == '(') {
      int depth = 0;
      do {
        depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
        ++end;
      } while (depth > 0 && end < text.size());
      inner = text.substr(i + 1, end - i - 1);
    } else {
      while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
      inner = text.substr(i + 1, end - i - 1);
    }
    if (inner.empty() || is_digit(inner[0])) {
      throw input_error(file, line, field, "'" + text + "'", "$name or $(expression)");
    }
    out += std::to_string(evaluate(inner, variables, file, line, field));
    i = end;
  }
  return out;
}

bool is_variable_name(const std::string& text) {
  if (text.empty() || text.size() > kLongestName || !is_letter(text[0])) return false;
  for (const char c : text) {
    if (!is_letter(c) && !is_digit(c)) return false;
  }
  return true;
}

}  // namespace bitcycle
