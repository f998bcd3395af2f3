// The command `bitcycle schedule`.
#pragma once

#include <string>
#include <vector>

namespace bitcycle {

/// Runs the command with the arguments after its name; returns the exit code, 0. Throws InputError
/// for wrong use and bad input (exit code 2).
int cmd_schedule(const std::vector<std::string>& args);

}  // namespace bitcycle
