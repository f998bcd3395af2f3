// The DRAM behind AXI: bursts cut into accesses, clocks of the machine and of the DRAM.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "model/machine/dram.hpp"
#include "model/machine/memory_timer.hpp"

namespace bitcycle {

/// Bursts are served in the order in which they arrive, reads and writes alike (AR handshake; a
/// write access when its last beat has been taken). A beat can be delivered when all its accesses
/// have ended and controller_ps have passed; a write is answered when its last access has ended.
/// At most write_buffer accesses wait to be written.
class DramTimer final : public MemoryTimer {
 public:
  /// dw: bits of a beat; period_ps: of the machine's clock, 50 to 100000.
  DramTimer(const DramConfig& config, int dw, int period_ps);

  void read(std::uint64_t cycle, std::uint64_t address, unsigned beats,
            std::vector<std::uint64_t>& ready) override;
  bool can_write(std::uint64_t cycle) const override;
  std::uint64_t write(std::uint64_t cycle, std::uint64_t address, bool last) override;

  /// Counts and energy until the end of `cycle`, or of the last data if that is later.
  DramCounts counts(std::uint64_t cycle) { return dram_.counts(until(cycle)); }
  DramEnergy energy(std::uint64_t cycle) { return dram_.energy(until(cycle)); }
  /// If set, every access is appended (for the bounds).
  std::vector<DramBurst>* trace = nullptr;

 private:
  std::int64_t clock_after(std::uint64_t cycle) const;
  std::int64_t until(std::uint64_t cycle) const;
  std::uint64_t time256(std::int64_t clock) const;
  std::int64_t access(std::uint64_t address, bool is_write, std::int64_t arrive);

  Dram dram_;
  std::uint64_t beat_bytes_, access_bytes_;
  std::uint64_t period_, tck_, controller_;
  std::int64_t last_end_ = 0;
  std::int64_t burst_end_ = 0;  // of the write burst that is being taken
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> writing_;
};

/// Two bandwidth-latency memories between which the DRAM lies, for the recurrence: a run on `lower`
/// takes no more, one on `upper` no less, when all bursts go one way and nothing is refreshed.
struct DramTimingBounds {
  MemoryTiming lower, upper;
  /// What one access of the other direction, and one refresh, can add to `upper`, in cycles.
  double per_read_access = 0, per_write_access = 0, per_refresh = 0;
  double refresh_interval = 0;  ///< cycles
  DramConfig config;
  double clock = 0;       ///< cycles of a DRAM clock
  double controller = 0;  ///< cycles

  /// A run on `lower` knows of neither the other direction nor refresh, but both share a channel's
  /// data bus: no run is shorter than its data takes there. `bits` of all reads and writes.
  std::uint64_t lower_cycles(std::uint64_t cycles_on_lower, std::uint64_t bits) const;

  /// upper's cycles plus everything that reads, writes and refreshes can add; accesses as counted
  /// in DramCounts.
  std::uint64_t upper_cycles(std::uint64_t cycles_on_upper, std::uint64_t read_accesses,
                             std::uint64_t write_accesses) const;
};

/// shortest_burst: fewest beats of a burst in the run; the more, the closer the upper bound.
DramTimingBounds dram_timing_bounds(const DramConfig& config, int dw, int period_ps,
                                    unsigned shortest_burst = 1);

}  // namespace bitcycle
