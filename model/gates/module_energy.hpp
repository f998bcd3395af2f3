// Energy of the array from its modules' characterisations: run the cycle-accurate core on a
// stretch of work, show every cycle to an ArrayEnergy, read joules by module.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/gates/array_modules.hpp"
#include "model/gates/array_wires.hpp"
#include "model/gates/characterisation.hpp"

namespace bitcycle {

/// Dynamic energy of all instances of one module since the start or the last clear().
struct ModuleEnergy {
  std::string module;         ///< as in array_modules()
  std::size_t instances = 0;  ///< in the array
  double joules = 0.0;
  double idle_cycle = 0.0;  ///< J of one clocked cycle in which nothing moves
  double leakage = 0.0;     ///< W
  double area = 0.0;        ///< um^2
};

/// Energy of an idle clocked cycle, J: of the gates where the record has that workload ("idle"),
/// else what the event model says.
double idle_cycle_energy(const Characterisation& c);

/// Throws InputError if a characterisation does not belong to a module of this array: other
/// parameters or other events than the features that this program counts.
class ArrayEnergy {
 public:
  /// `characterisations`: in any order, at most one a module; all in one library. Modules without
  /// one are listed by missing() and cost nothing here. `stride`: only every stride-th row and
  /// column of PEs, accumulator and chunk is looked at (1: all), and stands for its neighbours
  /// that are enabled alike. `core` must outlive it.
  ArrayEnergy(const ArrayConfig& config, const ArrayCore& core,
              const std::vector<Characterisation>& characterisations, int stride = 1);
  ~ArrayEnergy();
  ArrayEnergy(const ArrayEnergy&) = delete;
  ArrayEnergy& operator=(const ArrayEnergy&) = delete;

  /// The cycle that the last edge began. `coming`: inputs of the next edge, which are pins of this
  /// cycle (an ArrayStep{} where nothing comes). Call after reset() and after every step() but the
  /// last: for (;;) { step = next(core.ports()); energy.observe(step); core.step(step); }
  void observe(const ArrayStep& coming);
  /// Joules and cycles to 0; activity is still relative to the last observed cycle.
  void clear();

  std::uint64_t cycles() const { return cycles_; }
  const std::vector<ModuleEnergy>& modules() const { return modules_; }
  const std::vector<std::string>& missing() const { return missing_; }
  double joules() const;      ///< sum over modules
  double idle_cycle() const;  ///< J
  double leakage() const;     ///< W
  double area() const;        ///< um^2

 private:
  class Part;
  class PePart;
  template <class Activity, class Pins>
  class PinPart;
  ArrayWires wires_;
  std::vector<ModuleEnergy> modules_;
  std::vector<std::unique_ptr<Part>> parts_;  ///< one for each of modules_
  std::vector<std::string> missing_;
  std::uint64_t cycles_ = 0;
};

}  // namespace bitcycle
