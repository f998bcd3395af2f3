// The one exception type for wrong use and bad input: main() prints it and exits with code 2.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace bitcycle {

/// Wrong use or bad input. what() is ONE line: "[file:line: ]field: found ..., allowed ...".
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Builds the one-line message; empty parts are left out. `line` 0 means unknown.
InputError input_error(const std::string& file, int line, const std::string& field,
                       const std::string& found, const std::string& allowed);

/// ", did you mean 'x'?" for the first of `known` that begins with `found`, else the nearest one
/// (edit distance at most 3), else "".
std::string suggestion(const std::string& found, const std::vector<std::string>& known);

/// "a, b, c": for the "allowed" part of a message.
std::string join(const std::vector<std::string>& words, const std::string& separator = ", ");

}  // namespace bitcycle
