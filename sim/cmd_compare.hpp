// The command `bitcycle compare`.
#pragma once

#include <string>
#include <vector>

#include "sim/compare.hpp"

namespace bitcycle {

/// Runs the command with the arguments after its name; returns the exit code: 0 done, 1 the RTL
/// check failed. Throws InputError for wrong use and bad input (exit code 2).
int cmd_compare(const std::vector<std::string>& args);

/// The job that the arguments describe, for tests and other commands. Throws InputError.
CompareOptions parse_compare_options(const std::vector<std::string>& args);

}  // namespace bitcycle
