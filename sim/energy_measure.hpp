// Energy of a running array from its own activity, on a stated sample of cycles.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/gates/module_energy.hpp"
#include "sim/energy_model.hpp"

namespace bitcycle {

/// What was measured, and what the model's stated statistics say of the same work.
struct MeasuredEnergy {
  std::uint64_t cycles = 0;   ///< of the run
  std::uint64_t sampled = 0;  ///< of these
  double joules = 0.0;        ///< PEs, of all cycles, from the sample
  double error = 0.0;         ///< relative standard error of the sample
  double predicted = 0.0;     ///< J of as many cycles by the stated statistics
};

/// Looks at windows of cycles, every `one_in`-th window.
class EnergyMeter {
 public:
  static constexpr std::uint64_t kWindow = 32;
  static constexpr int kStride = 8;  ///< most rows and columns of PEs from one to the next

  /// `core` must outlive it; its PEs are those of the model's characterisation.
  EnergyMeter(const ArrayConfig& config, const ArrayCore& core, const EnergyModel& model,
              std::uint64_t one_in);

  /// Once in every cycle of the machine.
  void cycle();

  MeasuredEnergy result() const;

 private:
  ArrayEnergy energy_;
  std::uint64_t period_;
  std::uint64_t cycles_ = 0, sampled_ = 0;
  std::uint64_t at_ = 0;         ///< cycle of the period
  std::vector<double> windows_;  ///< J a cycle
};

}  // namespace bitcycle
