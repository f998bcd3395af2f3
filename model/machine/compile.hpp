// Chooses the mapping of a layer's GEMM.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/machine/gemm_problem.hpp"
#include "model/machine/mapping_search.hpp"
#include "model/machine/plan.hpp"
#include "model/machine/plan_time.hpp"

namespace bitcycle {

/// Mappings of one product on one machine that are worth timing, whatever its widths and the
/// memory: the best few by OverlapTime at widths and memories that stand for all (compile.cpp lists
/// them).
struct MappingPool {
  std::vector<Mapping> mappings;
  std::uint64_t candidates = 0, evaluated = 0;
  bool exhaustive = true;
};

/// Pools that were made before. Not for several threads at once.
class MappingPools {
 public:
  /// Of `problem`, whose widths do not count; `exchange` and `most` as in CompileOptions.
  const MappingPool& of(const GemmProblem& problem, bool exchange, std::uint64_t most);

 private:
  std::unordered_map<std::string, MappingPool> pools_;
};

struct CompileOptions {
  std::optional<Mapping> mapping;  ///< fixed by the user: nothing is searched
  bool exchange = true;            ///< the operands may change places
  MemoryTiming memory;             ///< that plans are timed on
  PlanTime time;                   ///< if set, chooses among all candidates in place of cycles
  /// Most block triples (rows, columns, reduction) that are looked at one by one; spaces with more
  /// are searched by the rule of candidate_sizes(..., false).
  std::uint64_t exhaustive = 4096;
  /// Cycles per byte of the host's expansion of a convolution into a matrix (compile_layer).
  double host_cycles_per_byte = 1.0 / 64;
  std::shared_ptr<MappingPools> pools;  ///< kept between calls if set
};

/// The chosen plan and how it was found.
struct Compiled {
  Plan plan;
  double time = 0;  ///< cycles, or by the options' measure
  /// Of naive_mapping: exact if it came into question, else a lower bound that is above `time`;
  /// infinite if it does not fit.
  double naive_time = 0;
  std::uint64_t candidates = 0, evaluated = 0;
  bool exhaustive = false;
  std::optional<PlanTimes> times;  ///< on the options' memory; unset with a measure
};

/// The mapping that takes the fewest cycles by the recurrence of those in the problem's pool and
/// the naive one. The pool depends neither on widths nor on the memory, so that a mapping that
/// serves more bits or less bandwidth is at hand for fewer bits and more bandwidth too: they never
/// cost cycles where the mapping itself takes none more. Throws InputError if the layer cannot run
/// on the machine.
Compiled compile(const GemmProblem& problem, const CompileOptions& options = {});

/// A layer's plans, to be run one after the other.
struct CompiledLayer {
  std::vector<Compiled> plans;
  bool expanded = false;      ///< the host expands the input into a matrix first
  bool phases_apart = false;  ///< one plan for each phase of dX
  /// The plans run so many times, each time on batch/batch_parts samples; the host adds the parts'
  /// dW.
  std::uint64_t batch_parts = 1;
  std::uint64_t host_bytes = 0;  ///< read and written by the expansion or the sum of parts
  double time = 0;               ///< of all plans and the host's work
  std::string reason;            ///< the times that were compared, for the report
};

/// Of the ways to run a convolution the one that costs least: as it is; forward and dW of layers
/// with one group whose channels do not fill granules also expanded by the host into a matrix of
/// kh*kw*Cg columns; dX with a stride and raw results also phase by phase (more traffic, smaller
/// blocks); dW of a batch also in parts of the batch. Throws InputError if none fits the machine.
CompiledLayer compile_layer(const MachineConfig& config, const ConvJob& job,
                            const CompileOptions& options = {});

}  // namespace bitcycle
