// Traces, policies and configurations as rows of `compare`: where they run, and what they cost.
// Internal to sim/.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/compare.hpp"
#include "sim/compare_cost.hpp"
#include "workloads/trace_totals.hpp"

namespace bitcycle {

/// A trace, brought to its sums.
struct NamedTrace {
  TraceTotals totals;
  std::string group;  ///< "trace", "policy" or "configuration"
  std::string file;   ///< for messages; may be empty
};

/// A network of the table and the traces that run on it.
struct CompareWorkload {
  Workload workload;
  Network network;
  std::uint64_t parameters = 0;
  std::string convention;
  std::vector<Workload> classes;      ///< layers that cost the same, each once
  std::vector<std::size_t> class_of;  ///< by layer; of no meaning for FP32 layers
  std::vector<NamedTrace> traces;

  /// MACs per iteration of one layer's forward GEMM.
  std::uint64_t layer_macs(std::size_t layer) const;
};

/// The network a trace names or holds, by its own convention or else the command's. `batch` is the
/// trace's, or else the command's. Throws InputError.
Network trace_network(const TraceHeader& header, const std::string& file,
                      const std::string& default_network, const std::string& convention);

/// All networks of the job with their traces; traces, policies and configurations are read here.
/// Sets options.iterations to the longest trace if the user gave none. Throws InputError: what
/// readers throw, networks or batches that contradict the command, rows of one name.
std::vector<CompareWorkload> compare_workloads(CompareOptions& options);

/// Costs of traces on one network and array; every distinct (layer shape, GEMM, bits) once.
class TraceCoster {
 public:
  TraceCoster(const CompareWorkload& workload, const ArrayConfig& config, const EnergyTable& table,
              const CostOptions& options)
      : workload_(workload), config_(config), table_(table), options_(options) {}

  /// Fills all sums of the row: array work, FP32 work, mean bits, BitOps. Throws InputError for
  /// bits over P_MAX and counts over 64 bits (BitOps: 128).
  void add_costs(CompareRow& row, const TraceTotals& totals);

  /// What ran, for --check.
  struct Used {
    const Workload* workload;
    GemmKind kind;
    LayerBits bits;
  };
  std::vector<Used> used() const;

 private:
  using Key = std::tuple<std::size_t, GemmKind, int, int>;  // class, kind, bits of both operands
  const KindCost& cost(const Key& key);

  const CompareWorkload& workload_;
  const ArrayConfig& config_;
  const EnergyTable& table_;
  CostOptions options_;
  std::map<Key, KindCost> costs_;
};

/// Averaging and exchange of a row: beside the array, never in its cycles.
void add_communication(CompareRow& row, const CompareWorkload& workload, const TraceTotals* totals,
                       const CompareOptions& options, const EnergyTable& table);

}  // namespace bitcycle
