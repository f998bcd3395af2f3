// A compiled convolution's data: codes into DRAM, results out of it, in golden_conv's order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "golden/conv.hpp"
#include "model/machine/plan.hpp"

namespace bitcycle {

/// Code of element (img, y, x, c) of a channel-last image tensor; `codes` must outlive it.
CodeAt image_code(const std::vector<std::int32_t>& codes, std::uint64_t h, std::uint64_t w,
                  std::uint64_t c);
/// The same for weights W[cout][kh][kw][cin/groups] laid out as a tensor.
CodeAt weight_code(const std::vector<std::int32_t>& codes, const ConvShape& shape);

/// Writes both operands (sizes and order as golden_conv takes them) at their layouts' addresses;
/// `dram` must reach so far. Throws InputError if a size is wrong or a code does not fit.
void pack_conv(const Plan& plan, const std::vector<std::int32_t>& first,
               const std::vector<std::int32_t>& second, std::vector<std::uint8_t>& dram);

/// Index of element (r, c) of a raw output block in golden_conv's order; nothing for lanes that
/// carry no channel of the group.
std::optional<std::size_t> golden_index(const GemmProblem& problem, const OutputBlock& block,
                                        std::uint64_t r, std::uint64_t c);

/// Reads the results of a plan with raw output and sums: what golden_conv returns. Throws
/// InputError if an element is missing or lies there twice, or the plan's results are no raw ones.
ConvSums unpack_conv(const Plan& plan, const std::vector<std::uint8_t>& dram);

}  // namespace bitcycle
