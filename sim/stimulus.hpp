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

/// Probability, in 1/256, that a cycle is withheld on each handshake. 0 = never.
struct StallPattern {
  int a = 0, w = 0, result = 0, descriptor = 0;
  bool any() const { return a != 0 || w != 0 || result != 0 || descriptor != 0; }
};

/// One matrix product to run, with its operand codes (A is M x K, W is N x K).
struct GemmJob {
  Descriptor descriptor;
  Operands operands;
  StallPattern stalls;
  std::string label;  ///< for messages
};

/// What one job did on the array.
struct JobResult {
  std::uint64_t cycles = 0;  ///< acceptance of this descriptor to the array being ready again
  AccMatrix c;               ///< M x N, sign-extended
  std::vector<std::int64_t> sum_a, sum_w;
  bool overflow = false;
  GemmEvents events;                  ///< counted from the ports; formula-only fields stay 0
  std::uint64_t freeze_cycles = 0;    ///< the pipeline waited for the drain
  std::uint64_t injected_cycles = 0;  ///< cycles in which something was withheld
  bool refused = false;
  Cause cause = Cause::kNone;
  /// Result masks were as M and N demand, sums of A and W alike in every beat that carried them.
  bool beats_consistent = true;
};

/// Where the work comes from and where its results go. One job is alive at a time.
class JobSource {
 public:
  JobSource() = default;
  JobSource(const JobSource&) = delete;
  JobSource& operator=(const JobSource&) = delete;
  virtual ~JobSource() = default;
  /// The next job, or nothing when all are done.
  virtual std::optional<GemmJob> next() = 0;
  /// Called once for every job, when the array is ready again (or has refused it).
  virtual void finished(const GemmJob& job, JobResult result) = 0;
};

class Stimulus {
 public:
  /// `source` must outlive the stimulus. `seed` decides stalls and the garbage in unused lanes.
  Stimulus(const ArrayConfig& config, JobSource& source, std::uint64_t seed);

  /// Reads the ports after an edge and makes the inputs of the next one.
  const ArrayStep& next(const ArrayPorts& ports);
  bool done() const { return !job_; }
  /// Number of the coming edge, from 1.
  std::uint64_t cycle() const { return cycle_; }
  /// The job that runs, for messages; valid while not done().
  const GemmJob& job() const { return *job_; }
  std::uint64_t jobs_done() const { return jobs_done_; }
  /// Whether the formula gives the exact cycles of the job that runs: legal and without stalls.
  bool timed() const { return job_ && legal_ && !job_->stalls.any(); }

 private:
  void settle(const ArrayPorts& ports);
  void offer();
  void count_events(const EventPulses& ev);
  void collect(const ArrayPorts& ports);
  void next_job();
  bool withheld(int probability, int channel);

  ArrayConfig config_;
  JobSource& source_;
  std::uint64_t seed_;
  std::optional<GemmJob> job_;
  std::uint64_t jobs_done_ = 0;
  bool active_ = false;   ///< a descriptor runs
  bool legal_ = false;    ///< the job on offer or running is one that the array accepts
  bool offered_ = false;  ///< a descriptor was on the port at the last edge
  bool a_taken_ = false, w_taken_ = false;  ///< a beat was taken at the last edge
  bool injected_ = false;                   ///< something was withheld at the last edge
  std::uint64_t cycle_ = 0;
  std::uint64_t accepted_at_ = 0;
  BitPlanes a_planes_, w_planes_;
  std::unique_ptr<OperandFeeder> a_, w_;
  // Position of the next result beat.
  std::uint64_t row_tile_ = 0, col_tile_ = 0, row_ = 0, group_ = 0;
  ArrayStep step_;
  std::vector<bool> sum_a_seen_, sum_w_seen_;
  JobResult result_;
};

}  // namespace bitcycle
