#include "model/machine/dram_estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bitcycle {
namespace {

constexpr int kShares = 16;         // read shares are told apart in sixteenths
constexpr unsigned kBursts = 1024;  // of a sample
constexpr std::uint64_t kFar = 5;   // tensors lie this many sevenths of the capacity apart

double accesses_of(const DramConfig& c, const DramWork& w) {
  return (w.read_bits + w.written_bits) / (8.0 * c.access_bytes());
}

}  // namespace

DramEstimate::DramEstimate(const DramConfig& config, unsigned burst_bytes)
    : config_(config),
      burst_bytes_(std::max<unsigned>(burst_bytes, static_cast<unsigned>(config.access_bytes()))) {}

double DramEstimate::activations_per_access(double read_share) {
  const int share = std::clamp(static_cast<int>(std::lround(read_share * kShares)), 0, kShares);
  const auto found = known_.find(share);
  if (found != known_.end()) return found->second;
  Dram dram(config_);
  const std::uint64_t capacity =
      static_cast<std::uint64_t>(config_.rows) * static_cast<unsigned>(config_.banks()) *
      static_cast<unsigned>(config_.row_bytes) * static_cast<unsigned>(config_.channels);
  const auto access = static_cast<unsigned>(config_.access_bytes());
  // An odd number of rows apart, so that streams do not march in step through the same banks.
  std::array<std::uint64_t, 3> at{};
  for (std::size_t s = 0; s < at.size(); ++s) {
    at[s] = (capacity / 7 * (kFar * s) % capacity) / access * access;
  }
  int owed = 0;
  std::size_t turn = 0;
  std::int64_t clock = 0;
  for (unsigned b = 0; b < kBursts; ++b) {
    // Bresenham: so many of sixteen bursts are reads, the two read streams in turn.
    owed += share;
    const bool is_write = owed < kShares;
    if (!is_write) owed -= kShares;
    std::uint64_t& address = is_write ? at[2] : at[turn++ % 2];
    for (unsigned done = 0; done < burst_bytes_; done += access, address += access) {
      clock = std::max(clock, dram.access(address, is_write, clock) - 1);
    }
  }
  const DramCounts n = dram.counts(clock + 1);
  const double out = static_cast<double>(n.activations()) / static_cast<double>(n.reads + n.writes);
  known_.emplace(share, out);
  return out;
}

DramEnergy DramEstimate::with_activations(const DramWork& w, double activations) const {
  const DramEventEnergy event = dram_event_energy(config_);
  const double devices = config_.devices();
  const double bits_of_access = 8.0 * config_.access_bytes();
  const double clocks = w.seconds * 1e12 / config_.tck_ps;
  DramEnergy out;
  out.activate = activations * event.activate * devices;
  out.read = w.read_bits / bits_of_access * event.read * devices;
  out.write = w.written_bits / bits_of_access * event.write * devices;
  out.refresh = clocks / config_.trefi * config_.channels * event.refresh * devices;
  out.standby_open = clocks * config_.channels * event.open_clock * devices;
  out.io = (w.read_bits + w.written_bits) * config_.io_pj_per_bit;
  return out;
}

DramEnergy DramEstimate::energy(const DramWork& w) {
  const double bits = w.read_bits + w.written_bits;
  const double each = bits > 0 ? activations_per_access(w.read_bits / bits) : 0.0;
  return with_activations(w, each * accesses_of(config_, w));
}

DramEnergy DramEstimate::least(const DramWork& w) {
  return with_activations(w, (w.read_bits + w.written_bits) / (8.0 * config_.row_bytes));
}

DramEnergy DramEstimate::most(const DramWork& w) {
  return with_activations(w, accesses_of(config_, w));
}

}  // namespace bitcycle
