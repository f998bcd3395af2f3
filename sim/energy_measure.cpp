#include "sim/energy_measure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bitcycle {

EnergyMeter::EnergyMeter(const ArrayConfig& config, const ArrayCore& core, const EnergyModel& model,
                         std::uint64_t one_in)
    : energy_(config, core, {model.pe()},
              std::clamp(std::min(config.tm, config.tn) / 2, 1, kStride)),
      period_(kWindow * one_in) {}

void EnergyMeter::cycle() {
  ++cycles_;
  const std::uint64_t at = at_;
  at_ = at + 1 == period_ ? 0 : at + 1;
  if (at > kWindow) return;
  // Activity is relative to the cycle before: the first one only sets it.
  energy_.observe(ArrayStep{});
  if (at == 0) {
    energy_.clear();
  } else if (at == kWindow || period_ == kWindow) {
    windows_.push_back(energy_.joules() / static_cast<double>(energy_.cycles()));
    sampled_ += energy_.cycles();
    energy_.clear();
  }
}

MeasuredEnergy EnergyMeter::result() const {
  MeasuredEnergy out;
  out.cycles = cycles_;
  out.sampled = sampled_;
  if (windows_.empty()) return out;
  const auto n = static_cast<double>(windows_.size());
  const double mean = std::accumulate(windows_.begin(), windows_.end(), 0.0) / n;
  double squares = 0.0;
  for (const double w : windows_) squares += (w - mean) * (w - mean);
  out.joules = mean * static_cast<double>(cycles_);
  if (n > 1 && mean > 0) out.error = std::sqrt(squares / (n - 1) / n) / mean;
  return out;
}

}  // namespace bitcycle
