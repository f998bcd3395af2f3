// Where the results of an output sub-block lie in the output buffer and in DRAM.
#pragma once

#include <cstdint>
#include <vector>

#include "model/machine/blocking.hpp"
#include "model/machine/gemm_problem.hpp"
#include "model/machine/instruction.hpp"

namespace bitcycle {

/// Bits of a raw result.
int raw_bits(OutputForm form);

/// Codes: the lines of the result tensor that the sub-block covers, over all parts.
FetchBox output_box(const GemmProblem& problem, const std::vector<GemmPart>& parts,
                    const Range3& rows, const Range3& cols);

/// Parts whose results of one sub-block leave together.
struct OutputGroup {
  std::size_t first = 0, count = 0;  ///< parts
  std::uint64_t beats = 0;           ///< in the output buffer and in DRAM
};

/// Codes: all parts together, for they interleave. Raw: as many parts as fit into half the output
/// buffer (into the whole one if `alone`, the only sub-block, needs just one group); of each the
/// results, then, with `sums`, its sums of the first and of the second operand; a group is padded
/// to whole beats. Parts that the sub-block does not reach are skipped. A group may be too large.
std::vector<OutputGroup> output_groups(const GemmProblem& problem,
                                       const std::vector<GemmPart>& parts, const Range3& rows,
                                       const Range3& cols, bool sums, bool alone);

/// Fills the place of a part's codes in the output buffer (ob_base, radices, strides, column).
void place_codes(const GemmProblem& problem, const GemmPart& part, const FetchBox& box,
                 std::uint32_t buffer_beat, const Range3& rows, const Range3& cols, bool exchange,
                 ExecOutput& out);

}  // namespace bitcycle
