// When the memory behind AXI delivers and takes beats. Times in cycles of the machine, and where a
// beat can be ready between two edges in 1/256 cycle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/machine/recurrence.hpp"

namespace bitcycle {

class MemoryTimer {
 public:
  MemoryTimer() = default;
  MemoryTimer(const MemoryTimer&) = delete;
  MemoryTimer& operator=(const MemoryTimer&) = delete;
  virtual ~MemoryTimer() = default;

  /// A read burst is accepted in `cycle`: appends for each beat the time, in 1/256 cycle, from
  /// which it can be delivered (never before the next cycle). Cycles do not decrease from call to
  /// call.
  virtual void read(std::uint64_t cycle, std::uint64_t address, unsigned beats,
                    std::vector<std::uint64_t>& ready) = 0;
  /// Whether a write beat can be taken in `cycle`.
  virtual bool can_write(std::uint64_t cycle) const = 0;
  /// A write beat is taken in `cycle`. Returns the first cycle in which a response to a burst that
  /// ends with it may stand.
  virtual std::uint64_t write(std::uint64_t cycle, std::uint64_t address, bool last) = 0;
};

/// Latency and bandwidth, a server for each direction, in order; the recurrence is exact on it.
/// Read: a burst arrives `latency` cycles after its AR; a beat is ready at s = max(arrival, free),
/// then free = s + read_cost. Write: a beat can be taken in cycle c if c*256 >= wfree, then wfree =
/// max(wfree, (c-1)*256 + 1) + write_cost, so that fractions of a cycle are not lost.
class BandwidthTimer final : public MemoryTimer {
 public:
  explicit BandwidthTimer(const MemoryTiming& timing) : timing_(timing) {}

  void read(std::uint64_t cycle, std::uint64_t, unsigned beats,
            std::vector<std::uint64_t>& ready) override {
    free_ = std::max(free_, (cycle + timing_.latency) * 256);
    for (unsigned i = 0; i < beats; ++i) {
      ready.push_back(free_);
      free_ += timing_.read_cost;
    }
  }
  bool can_write(std::uint64_t cycle) const override { return cycle * 256 >= write_free_; }
  std::uint64_t write(std::uint64_t cycle, std::uint64_t, bool) override {
    const std::uint64_t earliest = cycle == 0 ? 0 : (cycle - 1) * 256 + 1;
    write_free_ = std::max(write_free_, earliest) + timing_.write_cost;
    return cycle + timing_.write_latency;
  }

 private:
  MemoryTiming timing_;
  std::uint64_t free_ = 0, write_free_ = 0;
};

}  // namespace bitcycle
