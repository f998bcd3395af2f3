// Energy of a DRAM from bits moved and time, where no run is simulated.
#pragma once

#include <map>

#include "model/machine/dram.hpp"

namespace bitcycle {

/// What a job does to its memory.
struct DramWork {
  double read_bits = 0, written_bits = 0;
  double seconds = 0;
};

/// Splits the work into what model/machine/dram.hpp counts. Bursts, refresh and standby follow from
/// bits and time: rows stay open, so standby is that of open banks, and each channel is refreshed
/// every tREFI. Activations follow from a sample: two streams that are read and one that is
/// written, in bursts that take turns, run through the state model; at least one activation a row,
/// at most one an access.
class DramEstimate {
 public:
  /// `burst_bytes`: of the AXI bursts that take turns.
  DramEstimate(const DramConfig& config, unsigned burst_bytes);

  DramEnergy energy(const DramWork& work);  ///< pJ
  DramEnergy least(const DramWork& work);   ///< one activation a row
  DramEnergy most(const DramWork& work);    ///< one an access

 private:
  double activations_per_access(double read_share);
  DramEnergy with_activations(const DramWork& work, double activations) const;

  DramConfig config_;
  unsigned burst_bytes_;
  std::map<int, double> known_;  ///< by read share in 1/16
};

}  // namespace bitcycle
