// The commands that run the RTL: cosim and verilate.
#pragma once

#include <string>
#include <vector>

namespace bitcycle {

/// `bitcycle cosim`: 0 RTL, model, golden and formula agree; 1 they do not. Throws InputError.
int cmd_cosim(const std::vector<std::string>& args);

/// `bitcycle verilate`: builds the RTL of one array into a shared object. Throws InputError.
int cmd_verilate(const std::vector<std::string>& args);

}  // namespace bitcycle
