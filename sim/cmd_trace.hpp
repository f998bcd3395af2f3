// The command `bitcycle trace`: precision by layer and iteration, read, checked, made, converted.
#pragma once

#include <string>
#include <vector>

namespace bitcycle {

/// `args` are the words after "trace": show | validate | stats | convert | make, and its options.
/// Returns the exit code; throws InputError.
int cmd_trace(const std::vector<std::string>& args);

// Internal: one for each word, in a file of its own.
int cmd_trace_stats(const std::vector<std::string>& args);
int cmd_trace_convert(const std::vector<std::string>& args);
int cmd_trace_make(const std::vector<std::string>& args);

}  // namespace bitcycle
