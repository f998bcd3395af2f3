// Whole-number expressions of network files: "4 * width", "(depth - 2) / 6".
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace bitcycle {

using Variables = std::map<std::string, std::uint64_t>;

/// Value of `text`: whole decimal numbers, variables, + - * / and parentheses. Values are never
/// negative, and a quotient must be exact. Throws InputError with `file`, `line` and `field` for
/// anything else: signs, points, exponents, hexadecimal or leading zeros, unknown variables (with a
/// suggestion), differences below 0, inexact quotients, results over 64 bits, more than 256
/// characters.
std::uint64_t evaluate(const std::string& text, const Variables& variables, const std::string& file,
                       int line, const std::string& field);

/// `text` with $name and $(expression) replaced by values. Throws as evaluate.
std::string fill_in(const std::string& text, const Variables& variables, const std::string& file,
                    int line, const std::string& field);

/// A letter or _ first, then also digits; at most 64 characters.
bool is_variable_name(const std::string& text);

}  // namespace bitcycle
