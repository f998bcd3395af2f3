// Boolean functions as Liberty writes them: ! ' * & (juxtaposition) ^ + | ( ) 0 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

/// A parsed function of named signals. Precedence, highest first: ' (after) and ! (before),
/// ^, AND (* & or nothing between operands), OR (+ |): as the Liberty reference states it.
class BoolExpr {
 public:
  /// Throws InputError at `file`:`line` naming `field`; `text` must not be empty.
  static BoolExpr parse(std::string_view text, const std::string& file, int line,
                        const std::string& field);

  /// Names in order of first appearance.
  const std::vector<std::string>& names() const { return names_; }

  /// Binds the names to bits of a word: bit b stands for signals[b] (at most 63 signals).
  /// Throws InputError for a name that is not among them.
  BoolExpr bind(const std::vector<std::string>& signals) const;
  /// Value with name i in bit i of `bits` (after bind(): signal i).
  bool eval(std::uint64_t bits) const;

  bool operator==(const BoolExpr& other) const { return text_ == other.text_; }
  const std::string& text() const { return text_; }

 private:
  friend class BoolExprParser;
  enum class Op : std::uint8_t { kSignal, kZero, kOne, kNot, kAnd, kOr, kXor };
  struct Step {  // postfix
    Op op;
    std::uint8_t signal;
  };
  std::string text_, file_, field_;
  int line_ = 0;
  std::vector<std::string> names_;
  std::vector<Step> steps_;
};

}  // namespace bitcycle
