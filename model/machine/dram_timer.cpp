#include "model/machine/dram_timer.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "golden/checked.hpp"
#include "golden/error.hpp"

namespace bitcycle {
namespace {

void check_period(int period_ps) {
  if (period_ps < 50 || period_ps > 100000) {
    throw input_error("", 0, "clock period (ps)", std::to_string(period_ps), "50 to 100000");
  }
}

}  // namespace

DramTimer::DramTimer(const DramConfig& config, int dw, int period_ps)
    : dram_(config),
      beat_bytes_(static_cast<std::uint64_t>(dw) / 8),
      access_bytes_(static_cast<std::uint64_t>(config.access_bytes())),
      period_(static_cast<std::uint64_t>(period_ps)),
      tck_(static_cast<std::uint64_t>(config.tck_ps)),
      controller_(static_cast<std::uint64_t>(config.controller_ps)) {
  check_period(period_ps);
}

/// First DRAM edge at or after the end of a cycle.
std::int64_t DramTimer::clock_after(std::uint64_t cycle) const {
  return static_cast<std::int64_t>(ceil_div((cycle + 1) * period_, tck_));
}

std::int64_t DramTimer::until(std::uint64_t cycle) const {
  return std::max(clock_after(cycle), last_end_);
}

/// When the machine sees what ended in a DRAM clock, in 1/256 cycle.
std::uint64_t DramTimer::time256(std::int64_t clock) const {
  const auto ps = static_cast<u128>(static_cast<std::uint64_t>(clock)) * tck_ + controller_;
  return static_cast<std::uint64_t>((ps * 256 + period_ - 1) / period_);
}

std::int64_t DramTimer::access(std::uint64_t address, bool is_write, std::int64_t arrive) {
  if (trace != nullptr) trace->push_back({address, access_bytes_, is_write});
  const std::int64_t end = dram_.access(address, is_write, arrive);
  last_end_ = std::max(last_end_, end);
  return end;
}

void DramTimer::read(std::uint64_t cycle, std::uint64_t address, unsigned beats,
                     std::vector<std::uint64_t>& ready) {
  const std::int64_t arrive = clock_after(cycle);
  std::uint64_t next = address / access_bytes_;  // access that has not been made yet
  std::uint64_t time = 0;
  for (unsigned i = 0; i < beats; ++i) {
    const std::uint64_t end = address + (i + std::uint64_t{1}) * beat_bytes_ - 1;
    for (; next <= end / access_bytes_; ++next) {
      time = std::max(time, time256(access(next * access_bytes_, false, arrive)));
    }
    ready.push_back(time);
  }
}

bool DramTimer::can_write(std::uint64_t cycle) const {
  if (writing_.size() < static_cast<std::size_t>(dram_.config().write_buffer)) return true;
  return static_cast<std::uint64_t>(writing_.top()) * tck_ <= cycle * period_;
}

std::uint64_t DramTimer::write(std::uint64_t cycle, std::uint64_t address, bool last) {
  while (!writing_.empty() &&
         static_cast<std::uint64_t>(writing_.top()) * tck_ <= cycle * period_) {
    writing_.pop();
  }
  const std::int64_t arrive = clock_after(cycle);
  const std::uint64_t end = address + beat_bytes_;
  for (std::uint64_t a = address / access_bytes_; a * access_bytes_ < end; ++a) {
    if ((a + 1) * access_bytes_ > end && !last) break;  // its other beats are to come
    const std::int64_t done = access(a * access_bytes_, true, arrive);
    burst_end_ = std::max(burst_end_, done);
    writing_.push(done);
  }
  if (!last) return 0;
  const std::uint64_t from = ceil_div(time256(burst_end_), 256);
  burst_end_ = 0;
  return std::max(from, cycle + 1);
}

// ------------------------------------------------------------------ bounds

DramTimingBounds dram_timing_bounds(const DramConfig& c, int dw, int period_ps,
                                    unsigned shortest_burst) {
  check_period(period_ps);
  c.validate();
  const double beat = dw / 8.0;
  const double access = c.access_bytes();
  const double clock = static_cast<double>(c.tck_ps) / period_ps;  // cycles of the machine
  const double controller = static_cast<double>(c.controller_ps) / period_ps;
  DramTimingBounds out;
  const auto whole = [](double x) { return static_cast<std::uint64_t>(std::max(1.0, x)); };

  // Lower: every access hits and all channels work. An access delivers its beats at once, so the
  // first of them may be a column gap ahead of the mean rate.
  const double gap = c.column_gap_s() * clock;
  out.lower.read_cost = std::max<std::uint64_t>(
      256, static_cast<std::uint64_t>(std::floor(256 * beat / access * gap / c.channels)));
  out.lower.latency = whole(std::floor(1 + (c.cl + c.burst_clocks()) * clock + controller - gap));
  // The write buffer takes beats as they come.
  out.lower.write_cost = 256;
  out.lower.write_latency = whole(std::floor(1 + (c.cwl + c.burst_clocks()) * clock + controller));

  // Upper: every access misses on one and the same channel. A burst of b beats at a bad offset
  // touches ceil((access - beat + b*beat) / access) of them.
  double worst_ratio = 0;
  for (unsigned b = std::max(1U, shortest_burst); b <= 256; ++b) {
    const double touched =
        beat >= access ? b * beat / access : std::ceil((access - beat + b * beat) / access);
    worst_ratio = std::max(worst_ratio, touched / b);
  }
  const double read = static_cast<double>(dram_worst_access(c, false, true, false)) * clock;
  const double write = static_cast<double>(dram_worst_access(c, true, false, true)) * clock;
  const auto cost = [&](double worst) {
    return std::max<std::uint64_t>(
        256, static_cast<std::uint64_t>(std::ceil(256 * worst * worst_ratio)));
  };
  const double per_beat = std::max(1.0, beat / access);
  out.upper.read_cost = cost(read);
  out.upper.latency = whole(std::ceil(1 + clock + (1 + per_beat) * read + controller));
  out.upper.write_cost = cost(write);
  out.upper.write_latency = whole(std::ceil(1 + clock + (1 + per_beat) * write + controller));
  out.per_read_access = static_cast<double>(dram_worst_access(c, false, true, true)) * clock;
  out.per_write_access = static_cast<double>(dram_worst_access(c, true, true, true)) * clock;
  out.per_refresh = static_cast<double>(dram_worst_refresh(c, true)) * clock;
  out.refresh_interval = c.trefi * clock;
  out.config = c;
  out.clock = clock;
  out.controller = controller;
  return out;
}

std::uint64_t DramTimingBounds::lower_cycles(std::uint64_t cycles_on_lower,
                                             std::uint64_t bits) const {
  const auto access = static_cast<std::uint64_t>(config.access_bytes()) * 8;
  const auto channels = static_cast<std::uint64_t>(config.channels);
  const std::uint64_t accesses = ceil_div(ceil_div(bits, access), channels);  // of the busiest
  if (accesses == 0) return cycles_on_lower;
  // Data of both directions cannot overlap; the first access arrives a cycle after the start.
  const std::int64_t clocks =
      std::min(config.cl, config.cwl) +
      dram_least_span(config, static_cast<std::int64_t>(accesses), config.burst_clocks()) +
      config.burst_clocks();
  const double cycles = 1 + static_cast<double>(clocks) * clock + controller;
  return std::max(cycles_on_lower, static_cast<std::uint64_t>(std::floor(cycles)));
}

std::uint64_t DramTimingBounds::upper_cycles(std::uint64_t cycles_on_upper,
                                             std::uint64_t read_accesses,
                                             std::uint64_t write_accesses) const {
  double total = static_cast<double>(cycles_on_upper);
  // One direction alone has no other to wait for.
  if (read_accesses != 0 && write_accesses != 0) {
    total += static_cast<double>(read_accesses) * per_read_access +
             static_cast<double>(write_accesses) * per_write_access;
  }
  // Refreshes that fit into the time that they make longer (they take less than half of it).
  const double share = per_refresh / refresh_interval;
  return static_cast<std::uint64_t>(std::ceil((total + per_refresh) / (1 - share)));
}

}  // namespace bitcycle
