// Chooses the mapping of a layer's GEMM.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/gemm_problem.hpp"
#include "model/machine/plan.hpp"

namespace bitcycle {

/// Time of a plan, in any unit: less is better. Must not depend on anything but its arguments.
using PlanTime = std::function<double(const GemmProblem&, const PlanCost&)>;

/// Cycles of a plan by a closer look than PlanTime: slow, so it sees the best few only.
using PlanJudge = std::function<double(const Plan&)>;

/// The default: the longest of the three engines' work and of the instruction words, plus what
/// nothing can hide, the first blocks' fetch and the last block's store. A transfer's latency is
/// part of its engine's work: an engine starts an instruction when the one before has ended.
struct OverlapTime {
  double read_cost = 1, write_cost = 1;  ///< cycles per beat
  double latency = 1;                    ///< cycles to the first beat
  double write_latency = 1;              ///< cycles from the last beat to its response
  double operator()(const GemmProblem& problem, const PlanCost& cost) const;
};

struct CompileOptions {
  std::optional<Mapping> mapping;  ///< fixed by the user: nothing is searched
  bool exchange = true;            ///< the operands may change places
  OverlapTime memory;              ///< guides the search (lower bounds) and is the default time
  PlanTime time;                   ///< if set, judges the plans instead
  /// If set, decides between the `judged` best plans (and the naive one) by the measure above;
  /// Compiled::time and naive_time are then its verdicts.
  PlanJudge judge;
  std::size_t judged = 8;
  /// Most block triples (rows, columns, reduction) that are looked at one by one; spaces with more
  /// are searched by the rule of candidate_sizes(..., false).
  std::uint64_t exhaustive = 4096;
  /// Cycles per byte of the host's expansion of a convolution into a matrix (compile_layer).
  double host_cycles_per_byte = 1.0 / 64;
};

/// The chosen plan and how it was found.
struct Compiled {
  Plan plan;
  double time = 0;        ///< by the options' measure
  double naive_time = 0;  ///< of naive_mapping
  std::uint64_t candidates = 0, evaluated = 0;
  bool exhaustive = false;
};

/// Sizes to try for an extent: with `all` every distinct ceil(extent/j), else extent and its halves
/// down to 1 (rounded up, and up to whole multiples of `unit`). Ascending.
std::vector<std::int64_t> candidate_sizes(std::int64_t extent, std::int64_t unit, bool all);

/// Starts with everything in one block, rows outside; as long as something does not fit, halves the
/// outermost digit that helps (see compile.cpp). Throws InputError if nothing fits.
Mapping naive_mapping(const GemmProblem& problem);

/// Blocks of the outputs: the sub-blocks that fit into the output buffer and take the fewest tiles,
/// rows split before columns. False if none fits. `parts` > 1: they may take that part of the room
/// only, so that the last store is shorter.
bool choose_sub_blocks(const GemmProblem& problem, Mapping& mapping, std::uint64_t parts = 1);

/// The best mapping by the options' time; never worse than the naive one by the same measure.
/// Throws InputError if the layer cannot run on the machine.
Compiled compile(const GemmProblem& problem, const CompileOptions& options = {});

/// A layer's plans, to be run one after the other.
struct CompiledLayer {
  std::vector<Compiled> plans;
  bool expanded = false;         ///< the host expands the input into a matrix first
  bool phases_apart = false;     ///< one plan for each phase of dX
  std::uint64_t host_bytes = 0;  ///< read and written by the expansion
  double time = 0;               ///< of all plans and the expansion
  std::string reason;            ///< the times that were compared, for the report
};

/// Of the ways to run a convolution the one that costs least: as it is; forward and dW of layers
/// with one group whose channels do not fill granules also expanded by the host into a matrix of
/// kh*kw*Cg columns; dX with a stride and raw results also phase by phase (more traffic, smaller
/// blocks). Throws InputError if none fits the machine.
CompiledLayer compile_layer(const MachineConfig& config, const ConvJob& job,
                            const CompileOptions& options = {});

}  // namespace bitcycle
