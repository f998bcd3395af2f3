#pragma once

#include <string>
#include <vector>

namespace bitcycle {

/// `bitcycle characterise`: 0 done, 1 the netlist differs from the core. Throws InputError.
int cmd_characterise(const std::vector<std::string>& args);

}  // namespace bitcycle
