// The one generator of a co-simulation: listens to the ports of one array and says what goes in at
// the next clock edge, for every array that runs beside it. Collects results and events.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "golden/gemm.hpp"
#include "golden/operands.hpp"
#include "model/array.hpp"
#include "model/formula.hpp"
#include "sim/feeder.hpp"

namespace bitcycle {

/// One matrix product to run, with its operand codes (A is M x K, W is N x K).
struct GemmJob {
  Descriptor descriptor;
  Operands operands;
};

/// Probability, in 1/256, that a cycle is withheld on each handshake. 0 = never.
struct StallPattern {
  int a = 0, w = 0, result = 0, descriptor = 0;
  bool any() const { return a != 0 || w != 0 || result != 0 || descriptor != 0; }
};

/// What one job did on the array.
struct JobResult {
  std::uint64_t cycles = 0;  ///< acceptance of this descriptor to the array being ready again
  AccMatrix c;               ///< M x N, sign-extended
  std::vector<std::int64_t> sum_a, sum_w;
  bool overflow = false;
  GemmEvents events;         ///< counted from the ports; formula-only fields stay 0
  std::uint64_t freeze_cycles = 0;
  bool refused = false;
  Cause cause = Cause::kNone;
  /// Result masks were as M and N demand, sums of A and W alike in every beat that carried them.
  bool beats_consistent = true;
};

class Stimulus {
 public:
  Stimulus(const ArrayConfig& config, std::vector<GemmJob> jobs, StallPattern stalls,
           std::uint64_t seed);

  /// Reads the ports after an edge and makes the inputs of the next one.
  const ArrayStep& next(const ArrayPorts& ports);
  bool done() const { return done_; }
  const std::vector<JobResult>& results() const { return results_; }
  std::uint64_t cycle() const { return cycle_; }

 private:
  void settle(const ArrayPorts& ports);
  void offer();
  void count_events(const EventPulses& ev);
  void collect(const ArrayPorts& ports);
  void next_job();
  bool withheld(int probability, int channel) const;

  ArrayConfig config_;
  std::vector<GemmJob> jobs_;
  StallPattern stalls_;
  std::uint64_t seed_;
  std::size_t job_ = 0;
  bool active_ = false;    ///< a descriptor runs
  bool offered_ = false;   ///< a descriptor was on the port at the last edge
  bool a_taken_ = false, w_taken_ = false;  ///< a beat was taken at the last edge
  bool done_ = false;
  std::uint64_t cycle_ = 0;  ///< number of the coming edge
  std::uint64_t accepted_at_ = 0;
  BitPlanes a_planes_, w_planes_;
  std::unique_ptr<OperandFeeder> a_, w_;
  // Position of the next result beat.
  std::uint64_t row_tile_ = 0, col_tile_ = 0, row_ = 0, group_ = 0;
  ArrayStep step_;
  std::vector<bool> sum_a_seen_, sum_w_seen_;
  std::vector<JobResult> results_;
};

}  // namespace bitcycle
