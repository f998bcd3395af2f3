// Result unit: model of rtl/bc_result.sv with its parts, register for register. Partial sums,
// requantiser, packing to bit planes or integers, output buffer. Costs nothing while idle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "golden/requantise.hpp"
#include "model/array.hpp"
#include "model/machine/machine_config.hpp"
#include "model/machine/out_position.hpp"
#include "model/machine/output_buffer.hpp"
#include "model/machine/partial_sums.hpp"

namespace bitcycle {

class ResultUnit {
 public:
  /// Throws InputError where the RTL would not elaborate (Q not a power of two, ...).
  explicit ResultUnit(const MachineConfig& config);

  // Outputs, all functions of the registers.
  bool done() const { return valid_[4].last != 0; }  ///< the last beat is being written
  std::int64_t minimum() const { return min_; }
  std::int64_t maximum() const { return max_; }
  bool overflow() const { return sums_.overflow(); }
  /// Combinational read port of the store engine: DW/8 bytes.
  const std::uint8_t* read_beat(std::uint32_t beat) const { return buffer_.beat(beat); }

  struct Inputs {
    bool clear = false;  ///< extremes and overflow start anew
    /// Not null: an exec instruction starts; its 27 words.
    const std::uint64_t* start = nullptr;
    /// Not null: the array hands over a beat. Never in the cycle of a start.
    const ResultBeat* beat = nullptr;
  };
  /// One rising clock edge.
  void step(const Inputs& in);
  /// Control registers take their reset value; data registers and memories keep theirs.
  void reset();
  /// Registers, and the memories (names ending in _mem).
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  struct Stage {  // stages 2 to 4; valid: with results to write
    std::uint8_t valid = 0, last = 0;
    std::vector<std::uint64_t> mask;
  };
  struct Lane {
    std::uint64_t v = 0;
    std::uint32_t element = 0;
    std::uint64_t lo = 0;
    std::uint16_t hi = 0, random = 0;
    std::uint64_t out = 0;
  };
  struct Position {
    std::uint32_t pos2 = 0, addr3 = 0, addr4 = 0;
  };

  void load(const std::uint64_t* words);
  void start_walk();
  void walk();
  void write_sums();
  void write_codes();
  void write_integers();
  void stage2();
  void stage3();
  void stage4();
  void extremes();
  bool column() const { return column_ != 0 && raw_ == 0; }
  bool stochastic() const { return raw_ == 0 && rounding_ == 3; }
  std::uint32_t integer_words() const { return (raw32_ != 0 ? 32U : 48U) / gl_; }
  std::size_t used_positions() const { return column() ? columns_ : rows_; }
  bool masked_in(const Stage& stage, std::size_t lane) const {
    return (stage.mask[lane / 64] >> (lane % 64) & 1U) != 0;
  }

  MachineConfig config_;
  std::uint32_t gl_, rows_, columns_, groups_, tm_, tn_;
  std::size_t lr_, lc_;  // lanes of a granule that a beat holds in either orientation
  std::uint32_t word_mask_;

  // Instruction.
  std::uint8_t ps_read_ = 0, ps_write_ = 0, raw_ = 0, column_ = 0, sums_on_ = 0, raw32_ = 0;
  std::uint8_t out_signed_ = 0, out_bits_ = 0, rounding_ = 0, shift_ = 0;
  std::uint32_t n_total_ = 0, ob_base_ = 0, sum_a_base_ = 0, sum_w_base_ = 0;
  std::uint16_t or0_ = 0, or1_ = 0, mult_ = 0;
  std::uint32_t o0_ = 0, o1w_ = 0, o2w_ = 0, oc_ = 0;
  std::uint32_t za_ = 0, zw_ = 0, zout_ = 0;  // 17 bits
  std::uint64_t kzz_ = 0;
  std::uint32_t seed_ = 0, element_base_ = 0, row_stride_ = 0;
  // ... and what follows from it: no registers.
  Requantisation requant_;
  OutRadices radices_;

  PartialSums sums_;
  OutPositions positions_;
  OutputBuffer buffer_;

  // Walk: of the beat in stage 1.
  std::uint8_t row_ = 0, grp_ = 0, first_row_tile_ = 0, first_col_tile_ = 0;
  std::uint32_t left_ = 0, n_ = 0, n_tile_ = 0, n_oc_ = 0, n_oc_tile_ = 0;
  std::uint32_t m_ = 0, m_tile_ = 0, m_oc_ = 0, m_oc_tile_ = 0;
  std::uint32_t element_ = 0, element_tile_ = 0;

  Stage valid_[5];  // 2..4 are used
  std::vector<Lane> lanes_;
  std::vector<Position> position_;
  std::uint32_t base2_ = 0;
  std::uint8_t lane2_ = 0, lane3_ = 0, lane4_ = 0;
  std::int64_t min_, max_;
  std::vector<std::uint64_t> zero_col_;  // scratch
};

}  // namespace bitcycle
