// Partial-sum buffer and its adder: model of rtl/bc_psum.sv, register for register.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/array.hpp"
#include "model/machine/machine_config.hpp"

namespace bitcycle {

/// A result beat of the array, as on its ports (see ArrayPorts).
struct ResultBeat {
  bool last = false;
  bool overflow = false;  ///< the array's sticky flag
  const void* mask = nullptr;
  const void* data = nullptr;
  const void* sum_a = nullptr;
  const void* sum_w = nullptr;
};

class PartialSums {
 public:
  explicit PartialSums(const MachineConfig& config);

  // Outputs, functions of the registers: the beat of stage 1, all values sign-extended.
  bool valid() const { return valid_ != 0; }
  bool last() const { return last_ != 0; }
  bool overflow() const { return overflow_ != 0; }
  bool mask(std::size_t lane) const { return (mask_[lane / 64] >> (lane % 64) & 1U) != 0; }
  const std::vector<std::uint64_t>& mask_words() const { return mask_; }
  std::int64_t acc(std::size_t lane) const { return extend(acc_[lane]); }
  std::int64_t sum_a(std::size_t row) const { return extend(sum_a_[row]); }
  std::int64_t sum_w(std::size_t column) const { return extend(sum_w_[column]); }

  struct Inputs {
    bool clear = false;
    bool start = false;
    std::uint16_t base = 0;  ///< with start
    bool read = false, write = false;
    const ResultBeat* beat = nullptr;  ///< the array hands over a beat
  };
  /// One rising clock edge.
  void step(const Inputs& in);
  /// Control registers only.
  void reset() { valid_ = last_ = overflow_ = 0; }
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  std::int64_t extend(std::uint64_t value) const {
    return static_cast<std::int64_t>(value << (64U - width_)) >> (64U - width_);
  }
  /// Adds the packed elements of `in` to their saved ones, into `stage`. Returns whether one
  /// wrapped.
  bool add(const void* in, std::vector<std::uint64_t>& stage, const std::uint64_t* saved,
           bool read) const;

  unsigned width_;
  std::size_t q_, rows_, columns_, depth_;
  std::uint8_t valid_ = 0, last_ = 0, overflow_ = 0;
  std::vector<std::uint64_t> mask_;
  std::uint16_t entry_ = 0, saved_ = 0;
  std::vector<std::uint64_t> acc_, sum_a_, sum_w_;
  std::vector<std::uint64_t> memory_;  // lane after lane (Q lanes, rows, columns), an entry each
};

}  // namespace bitcycle
