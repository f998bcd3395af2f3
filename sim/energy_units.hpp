// Energy of the machine's units around the array: what reports count times the event models of
// their gates.
#pragma once

#include <string>
#include <vector>

#include "model/gates/characterisation.hpp"
#include "model/machine/machine_config.hpp"
#include "sim/energy_ledger.hpp"

namespace bitcycle {

struct EnergySettings;

/// Work of the units, in counts that formula and simulation have.
struct UnitWork {
  double cycles = 0;                          ///< in which they are clocked
  double execs = 0, fetches = 0, stores = 0;  ///< instructions
  double read_bursts = 0, write_bursts = 0;
  double read_beats = 0, write_beats = 0;
  double results = 0;  ///< that leave as integers; partial sums that are saved do not

  double instructions() const { return execs + fetches + stores; }
};

/// Bits of a stored beat that differ from the beat before, as a share: half of the low half of
/// integers.
constexpr double kStoredToggles = 0.25;

class EnergyUnits {
 public:
  struct Event {
    EnergyPart part;
    std::string name;
    double joules;                     ///< of one
    double (*count)(const UnitWork&);  ///< how many of them
    double times = 1.0;                ///< each
  };

  EnergyUnits() = default;
  /// Takes units from the user's files, then from configs/characterised/machine-TECHNOLOGY.json.
  /// Fills the parts' sources and bands in `book`; `notes` says which units this machine is not
  /// covered for. Throws InputError if a record is of another library than `pe`.
  EnergyUnits(const EnergySettings& settings, const MachineConfig& machine,
              const Characterisation& pe, double scale, EnergyBook& book,
              std::vector<std::string>& notes);

  const std::vector<Event>& events() const { return events_; }
  double idle_cycle() const { return idle_cycle_; }  ///< J, all units
  double leakage() const { return leakage_; }        ///< W, all units

 private:
  std::vector<Event> events_;
  double idle_cycle_ = 0.0, leakage_ = 0.0;
};

}  // namespace bitcycle
