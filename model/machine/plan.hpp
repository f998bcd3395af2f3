// A GEMM with a mapping: what it costs before it runs, and its instructions one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/blocking.hpp"
#include "model/machine/gemm_problem.hpp"
#include "model/machine/instruction.hpp"

namespace bitcycle {

/// How a GEMM is cut. Blocks are what the operand buffers hold; a block's outputs are computed in
/// sub-blocks that fit into the output buffer. The reduction is innermost.
struct Mapping {
  bool exchange = false;    ///< the second operand goes to the array's rows
  bool cols_outer = false;  ///< loop order columns, rows, reduction (else rows, columns, reduction)
  Index3 rows{1, 1, 1}, cols{1, 1, 1}, ks{1, 1, 1};  ///< block sizes
  Index3 sub_rows{1, 1, 1}, sub_cols{1, 1, 1};       ///< output sub-blocks, at most the block

  friend bool operator==(const Mapping& a, const Mapping& b) {
    return a.exchange == b.exchange && a.cols_outer == b.cols_outer && a.rows == b.rows &&
           a.cols == b.cols && a.ks == b.ks && a.sub_rows == b.sub_rows && a.sub_cols == b.sub_cols;
  }
};

/// "rows (4, 8, 8) cols (1, 1, 16) reduction (3, 3, 2), rows outer": readable back by
/// parse_mapping.
std::string mapping_text(const Mapping& m);
/// Inverse of mapping_text. Throws InputError saying what it expected.
Mapping parse_mapping(const std::string& text);

/// What a plan will do, known before any instruction is made. Beats are of the bus.
struct PlanCost {
  std::uint64_t exec_cycles = 0;  ///< exec engine busy: sum of T + set-up + 5
  std::uint64_t execs = 0, fetches = 0, stores = 0;
  std::uint64_t first_beats = 0, second_beats = 0;    ///< read from DRAM, by operand
  std::uint64_t out_beats = 0;                        ///< written to DRAM
  std::uint64_t first_unique = 0, second_unique = 0;  ///< beats of the tensors
  std::uint64_t first_box = 0, second_box = 0;        ///< beats of the largest block
  std::uint64_t last_out = 0;                         ///< beats of the largest output sub-block
  std::uint64_t psb_entries = 0;                      ///< used at a time
  std::uint64_t psb_written = 0, psb_read = 0;        ///< entries
  std::uint64_t macs_issued = 0;  ///< M*N*K over instructions (with padding of lanes and borders)
  std::uint64_t macs_padded = 0;  ///< the same with whole tiles and chunks
  // Chunks, for energy: sums over instructions, Kc = ceil(K/KL), by the sides of the GEMM (not of
  // the array).
  std::uint64_t pe_chunks = 0;      ///< M*N*Kc
  std::uint64_t first_chunks = 0;   ///< rows of the first operand that are filled
  std::uint64_t second_chunks = 0;  ///< of the second
  std::uint64_t tile_chunks = 0;    ///< tiles*Kc
  std::uint64_t results = 0;        ///< M*N
};

/// Whether all `blocks` of an operand, of at most `beats` beats, stay in a buffer of `depth` beats:
/// then each is fetched once; else two halves take turns.
constexpr bool stays_resident(std::uint64_t blocks, std::uint64_t beats, std::uint64_t depth) {
  return beats <= depth && blocks <= depth / (beats == 0 ? 1 : beats);
}

/// Whether all results are one output sub-block, which may then use the whole output buffer.
bool outputs_alone(const GemmProblem& problem, const Mapping& mapping);

/// Where a block's results lie in DRAM.
struct OutputBlock {
  std::uint64_t unit = 0;
  const GemmPart* part = nullptr;
  Range3 rows, cols;                           ///< of the part
  std::uint64_t row_count = 0, col_count = 0;  ///< in elements
  // Raw forms only: byte addresses; element (r, c) at values + (r*row_step + c*col_step) bits/8.
  std::uint64_t values_bit = 0, sum_first_bit = 0, sum_second_bit = 0;  ///< bit addresses
  std::uint64_t row_step_bits = 0, col_step_bits = 0, step_bits = 0;    ///< step_bits: of the sums
  bool sums = false;
};

constexpr std::uint64_t kPageBytes = 4096;  ///< no AXI burst crosses a multiple

/// What an instruction is for, beside itself.
struct InstructionInfo {
  std::uint64_t step = 0;  ///< block visit: unit, then the loops of the mapping
  std::uint64_t unit = 0, row_block = 0, col_block = 0, k_block = 0;
  std::uint32_t shape =
      0;  ///< equal numbers: equal timing (engine, tokens, transfer, M, N, K, bits)
};

class Plan {
 public:
  /// Throws InputError if the mapping does not fit the problem or the machine, with the reason.
  Plan(GemmProblem problem, const Mapping& mapping);

  const GemmProblem& problem() const { return problem_; }
  const Mapping& mapping() const { return mapping_; }
  const PlanCost& cost() const { return cost_; }

  /// DRAM bytes for the results: of the tensor (codes) or a slot for every store (raw).
  std::uint64_t result_bytes() const;
  /// Bytes from one store's raw results to the next: a power of two below a page, else whole pages,
  /// so that stores are alike to the bus.
  std::uint64_t slot_bytes() const;
  /// Where raw results go; codes, operands: problem().first.base and so on.
  void set_addresses(std::uint64_t first, std::uint64_t second, std::uint64_t result);

  /// Whether the stream waits at its start for a token r2f and posts one at its end, so that a
  /// later layer reads what this one wrote.
  bool wait_r2f = false, post_r2f = false;

  using Sink = std::function<void(const Instruction&, const InstructionInfo&)>;
  using OutputSink = std::function<void(const OutputBlock&)>;
  /// All instructions in program order; holds a few at a time. Tokens are balanced: none is left at
  /// the end but r2f, none is posted that nobody waits for. Every instruction depends on earlier
  /// ones only, so that no queue depth can deadlock.
  void emit(const Sink& sink) const;
  /// All output blocks, in the order in which they are stored.
  void outputs(const OutputSink& sink) const;

  /// The mapping with its blocks, loops, traffic and buffers for a person.
  std::string describe() const;

 private:
  friend class PlanWalk;
  GemmProblem problem_;
  Mapping mapping_;
  PlanCost cost_;
  std::uint64_t result_base_ = 0;
};

/// Parts with equal extents, with their number: one stands for all where only sizes count.
struct PartClass {
  GemmPart part;
  std::uint64_t count = 1;
};
std::vector<PartClass> part_classes(const std::vector<GemmPart>& parts);

/// The reason why a mapping cannot run, or its cost.
struct PlanCheck {
  std::string refused;  ///< empty: `cost` holds
  PlanCost cost;
};
PlanCheck check_mapping(const GemmProblem& problem, const Mapping& mapping,
                        BoxCache* cache = nullptr);

/// Reads raw results back: value(first index, second index) per part. `on_value(block, r, c,
/// value)` for every element, `on_sum(block, of_first, index, value)` for the sums.
void read_raw(const Plan& plan, const std::vector<std::uint8_t>& dram,
              const std::function<void(const OutputBlock&, std::uint64_t r, std::uint64_t c,
                                       std::int64_t value)>& on_value,
              const std::function<void(const OutputBlock&, bool of_first, std::uint64_t index,
                                       std::int64_t value)>& on_sum);

}  // namespace bitcycle
