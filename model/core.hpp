// Cycle-accurate model of the array in plain C++: every architectural register of the RTL, equal
// after every clock edge. Run-time sized structure of arrays; SystemC wraps it in one thin shell.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/array.hpp"
#include "model/array_config.hpp"

namespace bitcycle {

class ArrayCore final : public Array {
 public:
  /// Throws InputError if the configuration is illegal. Starts in reset, data registers zero.
  explicit ArrayCore(const ArrayConfig& config);

  void reset() override;
  void step(const ArrayStep& in) override;
  const ArrayPorts& ports() const override { return ports_; }
  const std::vector<RegisterView>& registers() override { return registers_; }

  /// Reads the wires between modules (model/gates).
  friend class ArrayWires;

 private:
  // Registers carry the RTL's names without _q; one struct per RTL module.
  struct Walker {
    std::uint32_t m_rem = 0, n_rem = 0, k_rem = 0;
    std::uint8_t first_k = 1;
  };
  struct Fill {
    std::vector<std::uint64_t> in_data;
    std::uint8_t in_valid = 0, filling = 0, bank = 0, full = 0, plane = 0, grp = 0;
    // Sizes of this side.
    int t = 0, b = 0, planes_per_beat = 0, groups = 0;
  };
  struct Pass {  // what the pipeline carries along with a digit pair
    std::uint8_t shift = 0, load = 0, tile_last = 0, bank = 0;
    std::uint64_t row_en = 0, col_en = 0;
  };
  struct Pair {
    std::uint8_t f, s, d;
  };
  struct Side {  // chunk and operand registers of the rows (columns)
    int count = 0, radix = 1;
    std::size_t digit_words = 1;       ///< 64-bit words of a packed digit
    std::vector<std::uint64_t> chunk;  ///< [row][bank*p_max + plane][word]
    std::vector<std::uint64_t> digit;  ///< [row][digit word], lane-major
    std::vector<std::int32_t> value;   ///< decoded digits (not architectural)
  };

  // Combinational signals, functions of the registers alone.
  struct FillComb {
    bool write = false, last_beat = false, done = false, ready = false;
    bool last_chunk = false;
    int planes = 0;  ///< planes the beat really carries
  };
  struct Comb {
    FillComb a, w;
    bool en = true;
    bool step = false, digit = false, idle = false, pass_end = false, chunk_done = false;
    bool last_k = false, last_tile = false;
    bool fl_end = false;
    bool drain = false;
  };

  std::uint64_t row_mask(const Walker& w) const;
  std::uint64_t col_mask(const Walker& w) const;
  void load(Walker& w, const RawDescriptor& d, std::uint32_t k);
  void advance(Walker& w, std::uint32_t kl, std::uint32_t k);
  bool last_tile(const Walker& w) const;
  void evaluate();
  void evaluate_fill(FillComb& out, const Fill& fill, const Walker& walker, int bits) const;
  void publish();
  void list_registers();

  void drain(const ArrayStep& in);
  void flush();
  void accumulate();
  void select();
  void select_side(Side& side, std::uint64_t enabled, int digit, int bits, bool is_signed,
                   bool negative);
  void write_chunk(Side& side, const Fill& fill, const FillComb& comb, const Walker& walker,
                   std::uint64_t enabled, int bits);
  void step_fill(Fill& fill, const FillComb& comb, bool valid, const std::uint64_t* data,
                 std::uint8_t freed, bool start);
  void step_pipeline();
  void step_sequencer(bool start);
  const std::vector<Pair>& pairs(int na, int nw) const;
  int digits(int bits, int radix, int second) const;

  ArrayConfig c_;
  int groups_ = 1;      ///< accumulator groups of a column
  int ones_group_ = 1;  ///< PEs of a group of the ones row
  int rows_per_beat_ = 1, cols_per_beat_ = 1;
  std::size_t lane_words_ = 1;
  std::uint32_t ac_mask_ = 0;
  std::uint64_t acc_mask_ = 0;
  bool a_fast_ = true;
  bool bit_serial_ = true;  ///< 1x1 and a digit fits a machine word: PEs are popcounts

  // bc_array
  std::uint8_t busy_ = 0, err_ = 0, cause_ = 0, overflow_ = 0;
  std::uint32_t m_ = 0, n_ = 0, k_ = 0;
  std::uint8_t pa_ = 0, pw_ = 0, a_signed_ = 0, w_signed_ = 0;
  Walker walk_a_, walk_w_, walk_seq_, walk_drain_;
  Fill fill_a_, fill_w_;
  // bc_seq
  std::uint8_t run_ = 0, init_ = 0, bank_ = 0, acc_bank_ = 0, si_ = 0, sj_ = 0;
  std::uint8_t f_ = 0, s_ = 0, d_ = 0, first_ = 0, idle_ = 0;
  std::size_t position_ = 0;                      ///< in the pass (not architectural)
  const std::vector<Pair>* pass_ = nullptr;       ///< the pass (not architectural)
  std::array<std::vector<Pair>, 81> pair_table_;  ///< walk of every pass size
  // operand stage
  Side a_, w_;
  std::uint8_t op_valid_ = 0, op_first_ = 0, op_last_ = 0, op_a_neg_ = 0, op_w_neg_ = 0;
  std::uint8_t op_a_one_ = 0, op_w_one_ = 0, op_d_ = 0;
  Pass op_;
  // AC stage
  std::uint8_t ac_valid_ = 0;
  Pass ac_info_;
  std::vector<std::uint32_t> ac_, ah_;              ///< [row][tn]
  std::vector<std::uint32_t> ac_sum_a_, ah_sum_a_;  ///< ones column: [row]
  std::vector<std::uint32_t> ac_sum_w_, ah_sum_w_;  ///< ones row: [column]
  // flush stage (s > 1 only)
  std::uint8_t hold_valid_ = 0, hold_index_ = 0;
  Pass hold_;
  std::vector<std::uint64_t> acc_;        ///< [column incl. ones][group][bank*s + index]
  std::vector<std::uint64_t> acc_sum_w_;  ///< ones row: [group][bank*ones_group + index]
  // bc_drain
  std::uint8_t dr_busy_ = 0, dr_bank_ = 0, dr_row_ = 0, dr_grp_ = 0, dr_valid_ = 0, dr_last_ = 0;
  std::vector<std::uint64_t> mask_, data_, sum_a_, sum_w_;  ///< packed

  Comb comb_;
  bool flush_overflow_ = false;
  std::vector<std::int32_t> ones_value_;  ///< KL ones (not architectural)
  std::vector<std::uint64_t> ones_lanes_;
  ArrayPorts ports_;
  std::vector<RegisterView> registers_;
};

}  // namespace bitcycle
