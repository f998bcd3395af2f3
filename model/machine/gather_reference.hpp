// The address rule of a gather, straight from its definition with divisions: the oracle of
// rtl/bc_gather.sv and of its fast model.
#pragma once

#include <cstdint>

#include "model/machine/instruction.hpp"
#include "model/machine/operand_memory.hpp"

namespace bitcycle {

/// Bit `plane` (0 = most significant) of element (i, k) of the operand: 0 or 1. `gl` is the width
/// of a word, i < rows and k < reduction else 0.
std::uint64_t gather_bit(const OperandGather& side, const OperandMemory& memory, int gl,
                         std::uint64_t i, std::uint64_t k, std::uint64_t rows,
                         std::uint64_t reduction, int plane);

}  // namespace bitcycle
