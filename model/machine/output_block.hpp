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

/// Beats of a sub-block in the output buffer (= in DRAM). Raw: the results of each part, then, with
/// `sums`, its sums of the first and of the second operand; the whole padded to beats.
std::uint64_t output_beats(const GemmProblem& problem, const std::vector<GemmPart>& parts,
                           const Range3& rows, const Range3& cols, bool sums);

/// Fills the place of a part's codes in the output buffer (ob_base, radices, strides, column).
void place_codes(const GemmProblem& problem, const GemmPart& part, const FetchBox& box,
                 std::uint32_t buffer_beat, const Range3& rows, const Range3& cols, bool exchange,
                 ExecOutput& out);

}  // namespace bitcycle
