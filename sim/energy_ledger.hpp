// Energy as a ledger: how often what happened, and what each costs. Totals, parts and uncertainty
// are sums over it, so that anyone can add them up again.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

namespace bitcycle {

/// Lines of an energy report, in its order.
enum class EnergyPart : std::size_t {
  kPe,              ///< PEs while a product runs
  kAccumulators,    ///< wide accumulators
  kChunkRegisters,  ///< chunk and digit registers of both operands
  kControl,         ///< sequencer, walkers, fill, drain
  kIdleClock,       ///< the clocked array while it waits: stalls, lead in and out, vector work
  kOperandBuffers,
  kPartialSums,
  kOutputBuffer,
  kResultUnit,      ///< requantisers
  kDma,             ///< fetch and store engines
  kMachineControl,  ///< instruction queues, dispatch, control of the engines
  kUnitsClock,      ///< of these three, in every cycle of the machine
  kWires,           ///< between memories and array, by length
  kDram,
  kVector,  ///< FP32 operations
  kLeakage,
};
constexpr std::size_t kEnergyParts = 16;
const char* key_of(EnergyPart part);      ///< "operand_buffers": JSON key
const char* heading_of(EnergyPart part);  ///< "operand buffers"
bool is_array(EnergyPart part);           ///< of the array: PE to idle clock
bool is_buffer(EnergyPart part);          ///< on-chip memory

/// A cause of error: energies lie between (1 - low) and (1 + high) times the figure.
struct EnergyTerm {
  std::string name;  ///< sampling, model, wires, clock_tree, netlist, memory, literature, scaling
  double low = 0.0, high = 0.0;
};

/// Errors of one name have one cause in all parts and all rows (the wires of the library, say),
/// except these, which are drawn anew for every part and row.
bool is_independent(const std::string& term);

/// What a part's figures come from.
struct EnergyPartInfo {
  std::string status = "not covered";  ///< or "gates", "table", "macros", "literature", ...
  std::string source;
  std::vector<EnergyTerm> terms;
};

/// An event with its energy.
struct EnergyItem {
  EnergyPart part = EnergyPart::kPe;
  std::string name;
  double joules = 0.0;  ///< of one
};

/// How often each item happened; items are numbered by their EnergyBook.
using EnergyCounts = std::vector<double>;
void add_counts(EnergyCounts& to, const EnergyCounts& from, double times = 1.0);

using EnergyParts = std::array<double, kEnergyParts>;
double total(const EnergyParts& parts);

/// Relative uncertainty of a figure.
struct RelativeBand {
  double low = 0.0, high = 0.0;
  std::map<std::string, std::pair<double, double>> by_term;  ///< each term alone
};

class EnergyBook {
 public:
  /// Number of the item; made at the first call. Its energy must not change.
  std::size_t item(EnergyPart part, const std::string& name, double joules);
  /// -1 if there is none of that name.
  int find(EnergyPart part, const std::string& name) const;
  const std::vector<EnergyItem>& items() const { return items_; }

  EnergyPartInfo& info(EnergyPart part) { return infos_[static_cast<std::size_t>(part)]; }
  const EnergyPartInfo& info(EnergyPart part) const {
    return infos_[static_cast<std::size_t>(part)];
  }

  EnergyParts parts(const EnergyCounts& counts) const;

  /// Of the total: terms of one cause add up over parts, independent ones as squares; causes add up
  /// as squares.
  RelativeBand band(const EnergyParts& parts) const;
  /// Of total(a)/total(b): a common cause moves both, and counts only as far as the shares of the
  /// parts differ; independent terms count for both.
  RelativeBand ratio_band(const EnergyParts& a, const EnergyParts& b) const;

 private:
  std::vector<EnergyItem> items_;
  std::map<std::pair<EnergyPart, std::string>, std::size_t> known_;
  std::array<EnergyPartInfo, kEnergyParts> infos_;
};

/// How terms are combined, in words: part of every report.
extern const char* const kBandRule;

}  // namespace bitcycle
