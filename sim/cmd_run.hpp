// `bitcycle run`: one training iteration on the whole machine, layer by layer.
#pragma once

#include <string>
#include <vector>

namespace bitcycle {

/// Returns the exit code: 0 done, 1 a comparison failed. Throws InputError.
int cmd_run(const std::vector<std::string>& args);

}  // namespace bitcycle
