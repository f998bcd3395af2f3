// Activity of the array's modules, cycle by cycle, as event models see it: how many bits of what
// change. The PE has its own (pe_activity.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/gates/array_wires.hpp"

namespace bitcycle {

/// Features of one module: the constant 1 first, then counts, then square roots of counts
/// (glitches grow less than in proportion to what starts them).
class FeatureList {
 public:
  /// A count that is given (add) or a group of bits whose changes are counted.
  std::size_t add_count(const std::string& name, const std::string& description);
  std::size_t add_bits(const std::string& name, const std::string& description, std::size_t bits);
  /// After the last add: appends the roots.
  void finish();

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& descriptions() const { return descriptions_; }

  void count(std::size_t feature, double value) { counts_[feature] = value; }
  /// Present value of the group, words of 64 bits, to be written before write().
  std::uint64_t* bits(std::size_t feature) { return groups_[feature].now.data(); }
  void set(std::size_t feature, std::uint64_t word) { groups_[feature].now[0] = word; }
  /// Whether any word differs from the one there.
  bool copy(std::size_t feature, const std::uint64_t* words);
  /// Changed bits of every group since the last call; names().size() values.
  void write(double* features);

 private:
  struct Group {
    std::vector<std::uint64_t> now, before;
  };
  std::vector<std::string> names_, descriptions_;
  std::vector<double> counts_;
  std::vector<Group> groups_;  ///< empty for counts
};

class ModuleActivity {
 public:
  ModuleActivity() = default;
  ModuleActivity(const ModuleActivity&) = delete;
  ModuleActivity& operator=(const ModuleActivity&) = delete;
  virtual ~ModuleActivity() = default;
  const std::vector<std::string>& names() const { return list_.names(); }
  const std::vector<std::string>& descriptions() const { return list_.descriptions(); }

 protected:
  FeatureList list_;
};

/// What a flush does in bc_acc, this cycle.
struct AccFlush {
  bool ours = false;      ///< a register of this group takes the total
  bool overflow = false;  ///< and the total overflows
  /// Selected sum, the same shifted, the selected register, that register or 0, the new value.
  std::uint64_t raw = 0, addend = 0, old = 0, base = 0, total = 0;
};
/// Of bc_acc with `g` registers a bank.
AccFlush acc_flush(const AccPins& pins, const ArrayConfig& config, int g);

/// bc_acc with G registers a bank and RD of them on the read port.
class AccActivity final : public ModuleActivity {
 public:
  AccActivity(const ArrayConfig& config, int g, int rd);
  void step(const AccPins& pins, double* features);
  /// Outputs in this cycle, after step().
  bool overflow() const { return overflow_; }
  const std::vector<std::uint64_t>& read() const { return read_; }

 private:
  ArrayConfig config_;
  int g_, rd_;
  bool overflow_ = false;
  std::vector<std::uint64_t> read_;
  std::size_t f_[17] = {};
};

/// bc_chunk of rows (planes of BA, radix RA) or of columns.
class ChunkActivity final : public ModuleActivity {
 public:
  ChunkActivity(const ArrayConfig& config, bool is_a);
  void step(const ChunkPins& pins, double* features);

 private:
  /// What has changed since the cycle before.
  int changed_chunk(const std::uint64_t* chunk);
  int changed_tree(const ChunkPins& pins);
  void mask(const ChunkPins& pins, std::uint64_t* masked) const;
  void select(const ChunkPins& pins, std::uint64_t* selected) const;
  int kl_, radix_, planes_, p_max_;
  std::size_t words_;
  std::uint32_t address_ = 0;  ///< and signs of the selected digit
  std::vector<std::uint64_t> chunk_, level_, tree_;
  std::size_t f_[16] = {};
};

class FillActivity final : public ModuleActivity {
 public:
  FillActivity(const ArrayConfig& config, bool is_a);
  void step(const FillPins& pins, double* features);

 private:
  std::size_t f_[7] = {};
};

class WalkerActivity final : public ModuleActivity {
 public:
  explicit WalkerActivity(const ArrayConfig& config);
  void step(const WalkerPins& pins, double* features);

 private:
  std::uint32_t tm_, tn_, kl_;
  std::size_t f_[9] = {};
};

class SeqActivity final : public ModuleActivity {
 public:
  explicit SeqActivity(const ArrayConfig& config);
  void step(const SeqPins& pins, double* features);

 private:
  int ra_, rw_;
  std::size_t f_[16] = {};
};

class DrainActivity final : public ModuleActivity {
 public:
  explicit DrainActivity(const ArrayConfig& config);
  void step(const DrainPins& pins, double* features);

 private:
  int q_, acc_w_, rpb_, cpb_;
  std::size_t f_[11] = {};
};

}  // namespace bitcycle
