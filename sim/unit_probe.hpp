// Bench of one unit of the machine around the array: its netlist is driven with the pins of the C++
// unit, or of its golden definition, and must answer what that answers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "golden/counter_random.hpp"
#include "model/machine/machine_config.hpp"
#include "sim/module_probe.hpp"

namespace bitcycle {

/// One workload of a unit. What the numbers mean is up to the unit; all have a default.
struct UnitJob {
  std::string label;
  bool idle = false;  ///< clocked, nothing to do
  int busy = 100;     ///< percent: how often its partners are ready, or work comes
  int kind = 0;       ///< of work: see unit_jobs() of the unit
  int size = 16;      ///< of work
  std::uint64_t seed = 1;
  std::uint64_t cycles = 512;
};

/// A unit counts events (cycles, beats, bursts, results...) that the machine's recurrence and
/// reports count too; its event model is the energy of each.
class UnitProbe : public ModuleProbe {
 public:
  /// Runs the job from a reset and calls `cycle` once a cycle, when pins, expected outputs and
  /// features are set.
  virtual void run(const UnitJob& job, const std::function<void()>& cycle) = 0;
  virtual std::vector<UnitJob> training() const = 0;
  virtual std::vector<UnitJob> held_out() const = 0;

  void observe(const ArrayStep& coming) override;  ///< std::logic_error: not part of an array

 protected:
  /// Repeatable random numbers of a run.
  class Random {
   public:
    explicit Random(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t word() { return counter_random(seed_, 7, count_++); }
    std::uint64_t below(std::uint64_t n) { return word() % n; }
    bool chance(int percent) { return below(100) < static_cast<std::uint64_t>(percent); }
    /// Standard normal, from twelve uniform numbers.
    double normal();

   private:
    std::uint64_t seed_, count_ = 0;
  };
  void ports(std::initializer_list<std::pair<const char*, std::size_t>> inputs,
             std::initializer_list<std::pair<const char*, std::size_t>> outputs);
  void drive_all(std::initializer_list<std::uint64_t> values);
  void hide(std::size_t output) { outputs_[output].known = false; }
  /// Features of this cycle.
  void count(std::initializer_list<double> values);
};

/// Units: "requant" (one result a cycle), "fetch", "store", "queue-exec", "queue-dma", "dispatch",
/// "engine".
const std::vector<std::string>& unit_names();
/// How many of them the machine has.
std::size_t unit_instances(const std::string& name, const MachineConfig& config);
/// Throws InputError with a suggestion for an unknown name.
std::unique_ptr<UnitProbe> make_unit(const std::string& name, const MachineConfig& config);

// By file.
std::unique_ptr<UnitProbe> make_requant_unit(const MachineConfig& config);
std::unique_ptr<UnitProbe> make_fetch_unit(const MachineConfig& config);
std::unique_ptr<UnitProbe> make_store_unit(const MachineConfig& config);
std::unique_ptr<UnitProbe> make_queue_unit(const MachineConfig& config, int words);
std::unique_ptr<UnitProbe> make_dispatch_unit();
std::unique_ptr<UnitProbe> make_engine_unit();

}  // namespace bitcycle
