// Rows of `compare` on the whole machine. Internal to sim/.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/compare.hpp"
#include "sim/compare_trace.hpp"
#include "sim/machine_cost.hpp"
#include "sim/memory_choice.hpp"

namespace bitcycle {

/// One machine on one memory. Remembers every GEMM, so that networks that share shapes share work.
class CompareMachine {
 public:
  /// options.memory is set. Throws InputError: results of other widths than the machine stores, a
  /// clock that a DRAM cannot have, an array without a machine.
  /// `energy` may be null; it must outlive this.
  CompareMachine(const ArrayConfig& array, const CompareOptions& options,
                 EnergyModel* energy = nullptr);

  /// Throws InputError if a layer cannot run on the machine, naming it, and for counts over 64
  /// bits.
  MachineTotals schedule(const CompareWorkload& workload, const ScheduleSummary& summary);

  /// Of a trace whose layers differ, layer by layer. The network's own vector operators (batch
  /// norm, ReLU) run once an iteration, forward and backward. Throws as schedule.
  MachineTotals trace(const CompareWorkload& workload, const TraceTotals& totals);

  /// Machine cycles of an iteration: what schedule() adds up.
  std::uint64_t iteration_cycles(const CompareWorkload& workload, const BitPair& pair);

  /// J of the same, with vector work.
  double iteration_energy(const CompareWorkload& workload, const BitPair& pair);

  const MachineCostOptions& options() const { return options_; }

 private:
  // Of one iteration, or of the run.
  struct Sums {
    u128 gemm = 0, compute = 0, fill_drain = 0, wait_fetch = 0, wait_store = 0, lead = 0;
    u128 read_bits = 0, written_bits = 0;
    u128 upper_gemm = 0, upper_read = 0, upper_written = 0;  // on the upper timing of a DRAM
    u128 upper = 0;                                          // bound of the GEMMs
    long double vector = 0, vector_bytes = 0, vector_ops = 0;
    std::array<EnergyCounts, 3> energy;

    void add(const Sums& other, std::uint64_t times);
  };
  const Sums& iteration(const CompareWorkload& workload, const BitPair& pair);
  void add_layer(Sums& sums, const CompareWorkload& workload, const WorkCount& count);
  void add_gemm(Sums& sums, const CompareWorkload& workload, std::size_t layer, GemmKind kind,
                const IterationBits& bits, std::uint64_t times);
  void add_vector(Sums& sums, const Network& network, std::uint64_t batch, const BitPair& bits,
                  bool backward, long double times) const;
  u128 upper_bound(const Sums& sums) const;
  MachineTotals finish(const Sums& sums) const;

  MachineCostOptions options_;
  EnergyModel* energy_;
  double clock_hz_;
  std::optional<DramTimingBounds> dram_;
  std::uint64_t access_bits_ = 0;  ///< of a DRAM
  std::unique_ptr<MachineCost> cost_, upper_;
  std::map<std::pair<const CompareWorkload*, BitPair>, Sums> iterations_;
};

}  // namespace bitcycle
