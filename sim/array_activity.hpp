// What PEs of an array do at given widths and data: features of the event model, by the state that
// a PE is in, from a short run of the cycle-accurate core.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "golden/types.hpp"
#include "model/array_config.hpp"
#include "sim/gate_stimuli.hpp"

namespace bitcycle {

/// States of a PE in a cycle.
enum class PeState : std::size_t {
  kActive,      ///< adds digit products
  kOnesColumn,  ///< a PE of the ones column adds
  kOnesRow,     ///< a PE of the ones row adds
  kRowOff,      ///< its row lies outside the matrix: W toggles, nothing is stored
  kColumnOff,   ///< its column does: A toggles
  kBothOff,     ///< control toggles only
  kPause,       ///< idle cycle inside a pass (rule R2)
  kQuiet,       ///< nothing toggles but the clock
};
constexpr std::size_t kPeStates = 8;
std::string to_string(PeState state);

/// Operands as the statistics of a job have them.
struct ActivityKey {
  Precision a, w;
  OperandData a_data = OperandData::kUniform, w_data = OperandData::kUniform;
  int lanes = 8;  ///< eighths of the lanes that hold elements; the rest are zero
  std::uint64_t seed = 1;
  bool operator<(const ActivityKey& o) const;
};

/// Mean features of a cycle by state, and how well the sample knows them.
struct ArrayActivity {
  std::array<Eigen::VectorXd, kPeStates> features;
  std::vector<Eigen::VectorXd> batches;  ///< kActive, of consecutive parts of the sample
  std::uint64_t cycles = 0;              ///< of active PEs that were seen
};

/// Runs about `cycles` cycles of two tiles on small_array(config), every PE state at a time.
ArrayActivity sample_activity(const ArrayConfig& config, const ActivityKey& key,
                              std::uint64_t cycles);

/// Names of the features, in order: those of a characterised PE (PeActivity).
std::vector<std::string> pe_feature_names(const ArrayConfig& config);

}  // namespace bitcycle
