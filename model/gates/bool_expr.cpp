#include "model/gates/bool_expr.hpp"

#include <algorithm>
#include <cctype>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

constexpr std::size_t kMostSignals = 63;
constexpr std::size_t kMostSteps = 4096;
constexpr int kDeepest = 63;  // eval() keeps its stack in one word

}  // namespace

class BoolExprParser {
 public:
  BoolExprParser(std::string_view text, BoolExpr& out) : text_(text), out_(out) {}

  void run() {
    disjunction(0);
    skip();
    if (at_ < text_.size()) fail("'" + std::string(1, text_[at_]) + "'", "an operator or the end");
  }

 private:
  using Op = BoolExpr::Op;

  [[noreturn]] void fail(const std::string& found, const std::string& allowed) const {
    throw input_error(out_.file_, out_.line_, out_.field_,
                      found + " in \"" + out_.text_.substr(0, 80) + "\"", allowed);
  }
  void skip() {
    while (at_ < text_.size() &&
           (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '\\')) {
      ++at_;
    }
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void push(Op op, std::uint8_t signal = 0) {
    if (out_.steps_.size() >= kMostSteps) fail("a longer function", "at most 4096 terms");
    out_.steps_.push_back({op, signal});
  }
  static bool is_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '[' || c == ']' ||
           c == '.' || c == '$' || c == ':' || c == '/';
  }
  bool starts_operand(char c) const { return is_name(c) || c == '(' || c == '!' || c == '"'; }

  void disjunction(int depth) {
    if (depth > kDeepest) fail("deeper nesting", "at most 63 levels");
    conjunction(depth);
    for (char c = peek(); c == '+' || c == '|'; c = peek()) {
      ++at_;
      if (c == '|' && at_ < text_.size() && text_[at_] == '|') ++at_;
      conjunction(depth + 1);
      push(Op::kOr);
    }
  }
  void conjunction(int depth) {
    exclusive(depth);
    for (char c = peek(); c == '*' || c == '&' || starts_operand(c); c = peek()) {
      if (c == '*' || c == '&') ++at_;
      if (c == '&' && at_ < text_.size() && text_[at_] == '&') ++at_;
      exclusive(depth + 1);
      push(Op::kAnd);
    }
  }
  void exclusive(int depth) {
    unary(depth);
    while (peek() == '^') {
      ++at_;
      unary(depth + 1);
      push(Op::kXor);
    }
  }
  void unary(int depth) {
    if (depth > kDeepest) fail("deeper nesting", "at most 63 levels");
    const char c = peek();
    if (c == '!') {
      ++at_;
      unary(depth + 1);
      push(Op::kNot);
      return;
    }
    if (c == '(') {
      ++at_;
      disjunction(depth + 1);
      if (peek() != ')') fail(at_ < text_.size() ? "no ')'" : "the end", "')'");
      ++at_;
    } else {
      operand(c);
    }
    while (peek() == '\'') {
      ++at_;
      push(Op::kNot);
    }
  }
  void operand(char c) {
    const bool in_quotes = c == '"';
    if (in_quotes) ++at_;
    const std::size_t from = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const std::string name(text_.substr(from, at_ - from));
    if (name.empty()) {
      fail(from < text_.size() ? "'" + std::string(1, text_[from]) + "'" : "the end",
           "a signal, '!' or '('");
    }
    if (in_quotes) {
      if (at_ >= text_.size() || text_[at_] != '"') fail("no closing quote", "'\"'");
      ++at_;
    }
    if (name == "0") return push(Op::kZero);
    if (name == "1") return push(Op::kOne);
    auto it = std::find(out_.names_.begin(), out_.names_.end(), name);
    if (it == out_.names_.end()) {
      if (out_.names_.size() >= kMostSignals) fail("more signals", "at most 63");
      out_.names_.push_back(name);
      it = out_.names_.end() - 1;
    }
    push(Op::kSignal, static_cast<std::uint8_t>(it - out_.names_.begin()));
  }

  std::string_view text_;
  BoolExpr& out_;
  std::size_t at_ = 0;
};

BoolExpr BoolExpr::parse(std::string_view text, const std::string& file, int line,
                         const std::string& field) {
  BoolExpr out;
  out.text_ = text;
  out.file_ = file;
  out.line_ = line;
  out.field_ = field;
  BoolExprParser(text, out).run();
  return out;
}

BoolExpr BoolExpr::bind(const std::vector<std::string>& signals) const {
  BoolExpr out = *this;
  out.names_ = signals;
  for (auto& step : out.steps_) {
    if (step.op != Op::kSignal) continue;
    const auto it = std::find(signals.begin(), signals.end(), names_[step.signal]);
    if (it == signals.end()) {
      throw input_error(file_, line_, field_, "'" + names_[step.signal] + "' in \"" + text_ + "\"",
                        "signals of the cell: " + join(signals));
    }
    step.signal = static_cast<std::uint8_t>(it - signals.begin());
  }
  return out;
}

bool BoolExpr::eval(std::uint64_t bits) const {
  std::uint64_t stack = 0;  // top in bit 0
  for (const auto& step : steps_) {
    switch (step.op) {
      case Op::kSignal:
        stack = stack << 1 | (bits >> step.signal & 1);
        break;
      case Op::kZero:
        stack <<= 1;
        break;
      case Op::kOne:
        stack = stack << 1 | 1;
        break;
      case Op::kNot:
        stack ^= 1;
        break;
      case Op::kAnd:
        stack = (stack >> 1) & (stack | ~std::uint64_t{1});
        break;
      case Op::kOr:
        stack = (stack >> 1) | (stack & 1);
        break;
      case Op::kXor:
        stack = (stack >> 1) ^ (stack & 1);
        break;
    }
  }
  return (stack & 1) != 0;
}

}  // namespace bitcycle
