// Other programs.
#pragma once

#include <string>
#include <vector>

namespace bitcycle {

/// Runs a program (found in PATH) with its output in the file `log`; returns its exit code, 127 if
/// it cannot be started.
int run_logged(const std::vector<std::string>& words, const std::string& log);

/// First line that a program prints, or "" if it cannot be run.
std::string first_line_of(const std::vector<std::string>& words);

}  // namespace bitcycle
