// The instruction stream of a layer for a person: disassembly with the cycles of the formula.
#pragma once

#include <string>

#include "sim/machine_run.hpp"

namespace bitcycle {

/// Forward, dX and dW of the only layer of result.request.network, without masked products: for
/// each instruction the cycles of its push, start and end, then its disassembly. Throws InputError
/// if a GEMM has more than 20,000 instructions.
std::string run_listing(const RunResult& result);

}  // namespace bitcycle
