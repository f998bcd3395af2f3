// Reports of `bitcycle run`.
#pragma once

#include <string>

#include "sim/machine_run.hpp"

namespace bitcycle {

std::string run_text(const RunResult& result);  ///< tables for a terminal
std::string run_csv(const RunResult& result);   ///< one row a layer and GEMM, then vector work
std::string run_json(const RunResult& result);  ///< everything

}  // namespace bitcycle
