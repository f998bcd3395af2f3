// `bitcycle network`: the networks of the library and of files, as tables of layers.
#pragma once

#include <string>
#include <vector>

namespace bitcycle {

/// `args` without the command's name. Returns the exit code. Throws InputError.
int cmd_network(const std::vector<std::string>& args);

int cmd_network_list(const std::vector<std::string>& args);
int cmd_network_show(const std::vector<std::string>& args);
int cmd_network_validate(const std::vector<std::string>& args);
int cmd_network_import(const std::vector<std::string>& args);

}  // namespace bitcycle
