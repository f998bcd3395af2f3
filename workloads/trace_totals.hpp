// What a whole trace comes to: how often each layer does each kind of work. All costs follow from
// it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "golden/checked.hpp"
#include "workloads/trace.hpp"
#include "workloads/trace_reader.hpp"

namespace bitcycle {

/// One layer at one kind of work, in one of the step's passes.
struct WorkCount {
  std::uint32_t layer = 0;
  int pass = 0;
  LayerWork work;
  std::uint64_t iterations = 0;
};

/// Sums of a trace. Their size depends on layers and distinct widths, not on records.
struct TraceTotals {
  std::string name;
  std::uint64_t iterations = 0;
  std::uint64_t records = 0;
  std::uint64_t switches = 0;  ///< t > 0 in which some layer's work (pass 0) differs from t-1
  std::vector<WorkCount> counts;
  /// Set if all quantised layers have the same pair of bits in every iteration and one pass: then
  /// the trace is a schedule.
  std::optional<ScheduleSummary> schedule;

  u128 averaging_read_bits = 0, averaging_written_bits = 0;  ///< of the whole run
  std::uint64_t averaging_updates = 0;
  std::map<int, std::uint64_t> exchange_iterations;  ///< bits per parameter -> iterations

  /// Iterations of layer-passes by work mode, weighted by nothing.
  std::uint64_t work_iterations(WorkMode mode) const;
  int most_bits() const;  ///< widest operand on the array; 0 if there is none
  /// Lowest and highest forward (X, W) and gradient bits on the array; 8:8/8:8 if there are none.
  BitRange range() const;
};

/// Adds up records in constant memory and checks that they fit each other:
/// - starts never fall; a record holds from its start to its end, or to the layer's next record;
/// - a later record with the same start replaces the earlier one for its layers ("all, except");
/// - a closed range must end before the layer's next record starts (overlap), and in pass 0 that
///   record must follow at once (gap); all quantised layers are covered from 0 to N.
class TraceAccumulator : public TraceSink {
 public:
  /// Throws InputError for no quantised layer, or no iterations.
  TraceAccumulator(TraceLayers layers, std::uint64_t iterations, std::string file = "");
  ~TraceAccumulator() override;

  /// Line of the record that add() gets next, for messages.
  void at_line(int line);
  /// Throws InputError (file and line): unknown layers, order, gaps, overlaps, more distinct work
  /// than 128 MB of counters hold.
  void add(const TraceRecord& record) override;
  /// Call once, after the last record.
  TraceTotals finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads a trace to its end.
TraceTotals total_trace(TraceReader& reader, const TraceLayers& layers);

}  // namespace bitcycle
