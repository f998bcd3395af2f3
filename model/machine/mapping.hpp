// How a GEMM may be cut: block sizes to try, output sub-blocks, the naive mapping, and what a
// mapping's time is about.
#pragma once

#include <cstdint>
#include <vector>

#include "model/machine/gemm_problem.hpp"
#include "model/machine/plan.hpp"
#include "model/machine/recurrence.hpp"

namespace bitcycle {

/// Time of a plan by its totals: the longest of the three engines' work and of the instruction
/// words, plus what nothing can hide, the first blocks' fetch and the last block's store. A
/// transfer's latency is part of its engine's work: an engine starts an instruction when the one
/// before has ended.
struct OverlapTime {
  double read_cost = 1, write_cost = 1;  ///< cycles per beat
  double latency = 1;                    ///< cycles to the first beat
  double write_latency = 1;              ///< cycles from the last beat to its response

  OverlapTime() = default;
  explicit OverlapTime(const MemoryTiming& memory);
  double operator()(const PlanCost& cost) const;
};

/// Cycles that a mapping takes at least on `memory`, whatever overlaps: never more than the
/// recurrence's.
double least_cycles(const GemmProblem& problem, const Mapping& mapping, const PlanCost& cost,
                    const MemoryTiming& memory);

/// Multiples that a block's innermost digit must keep unless it is the whole extent: whole beats of
/// codes along x, whole granules along the lanes.
struct OutputUnits {
  std::int64_t rows = 1, cols = 1;
};
OutputUnits output_units(const GemmProblem& problem);

/// Sizes to try for an extent: with `all` every distinct ceil(extent/j), else extent and its halves
/// down to 1 (rounded up, and up to whole multiples of `unit`). Ascending.
std::vector<std::int64_t> candidate_sizes(std::int64_t extent, std::int64_t unit, bool all);

/// Blocks of a space: the outer digit is split first, an inner one only when all outside are 1;
/// and, beside these, the innermost digit split while the others are whole.
std::vector<Index3> candidate_blocks(const Index3& extent, const std::array<bool, 3>& may_split,
                                     std::int64_t unit, bool all);

/// Blocks of the outputs: the sub-blocks that fit into the output buffer and take the fewest tiles,
/// rows split before columns. False if none fits. `parts` > 1: they may take that part of the room
/// only, so that the last store is shorter.
bool choose_sub_blocks(const GemmProblem& problem, Mapping& mapping, std::uint64_t parts = 1);

/// Starts with everything in one block, rows outside; as long as something does not fit, halves the
/// outermost digit that helps (see mapping.cpp). Throws InputError if nothing fits.
Mapping naive_mapping(const GemmProblem& problem);

}  // namespace bitcycle
