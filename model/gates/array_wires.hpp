// Wires between the modules of the array in one cycle, read from the cycle-accurate core.
#pragma once

#include <cstdint>
#include <vector>

#include "model/array_config.hpp"
#include "model/core.hpp"

namespace bitcycle {

/// Pins of bc_acc in one cycle, and its registers after the edge that began it.
struct AccPins {
  bool flush = false, load = false, bank = false, rd_bank = false;
  std::uint8_t index = 0, shift = 0, rd_index = 0;
  std::uint64_t en = 0;
  std::vector<std::uint64_t> sum;      ///< packed, G sums of AC_W bits
  const std::uint64_t* acc = nullptr;  ///< 2*G registers
};

/// Pins of bc_chunk. Bits of data and digits are packed.
struct ChunkPins {
  bool we = false, wr_bank = false, sel = false, bank = false, is_signed = false;
  std::uint8_t plane = 0, digit = 0, bits = 0;
  std::vector<std::uint64_t> data;         ///< WPB words of KL lanes
  std::vector<std::uint64_t> lane_en;      ///< KL bits
  const std::uint64_t* chunk = nullptr;    ///< 2*P_MAX planes of ceil(KL/64) words
  const std::uint64_t* digit_q = nullptr;  ///< KL*R bits
};

/// Pins of bc_fill.
struct FillPins {
  bool start = false, valid = false, last_chunk = false;
  bool ready = false, chunk_done = false, we = false, bank = false;
  std::uint8_t bits = 0, free = 0, plane = 0, full = 0;
  std::uint64_t row_sel = 0;
  bool filling = false, in_valid = false;
  std::uint8_t grp = 0;
  const std::uint64_t* data = nullptr;     ///< input pins; the last beat while not valid
  const std::uint64_t* in_data = nullptr;  ///< register = output
};

/// Pins of bc_tile_walker.
struct WalkerPins {
  bool load = false, step = false;
  std::uint32_t m = 0, n = 0, k = 0;
  std::uint32_t m_rem = 0, n_rem = 0, k_rem = 0;
  bool first_k = false, last_k = false, last_tile = false;
};

/// Pins of bc_seq.
struct SeqPins {
  bool start = false, en = false, a_signed = false, w_signed = false;
  std::uint8_t a_bits = 0, w_bits = 0, a_full = 0, w_full = 0;
  bool first_k = false, last_k = false, last_tile = false;
  bool chunk_done = false, digit = false, idle = false, bank = false;
  bool a_neg = false, w_neg = false, first = false, last = false, load = false;
  bool tile_last = false, acc_bank = false;
  std::uint8_t free = 0, a_digit = 0, w_digit = 0, d = 0, shift = 0;
  std::uint8_t f_q = 0, s_q = 0, idle_q = 0;  ///< registers
  std::uint8_t flags_q = 0;                   ///< run, init, banks, super-digits, first
};

/// Pins of bc_drain.
struct DrainPins {
  std::uint8_t tile_done = 0, busy = 0, rd_row = 0;
  bool rd_bank = false, last_tile = false, tile_read = false;
  bool valid = false, ready = false, last = false;
  std::uint64_t row_en = 0, col_en = 0;
  std::vector<std::uint64_t> acc, sum_a, sum_w;  ///< read ports, packed
  const std::uint64_t* mask = nullptr;           ///< result registers
  const std::uint64_t* data = nullptr;
  const std::uint64_t* out_sum_a = nullptr;
  const std::uint64_t* out_sum_w = nullptr;
};

/// Enables of the operand and AC stages, the same for all PEs but for their row and column.
struct PeControl {
  bool add = false, hold = false, first = false, a_neg = false, w_neg = false;
  bool a_one = false, w_one = false;  ///< digits of the ones row and column
  std::uint8_t d = 0;
  std::uint64_t row_en = 0, col_en = 0, hold_row_en = 0, hold_col_en = 0;
};

/// What bc_array has between its modules: its registers and the wires that they make.
struct GluePins {
  /// A stage of the pipeline behind the sequencer.
  struct Stage {
    bool valid = false, load = false, tile_last = false, bank = false;
    std::uint8_t shift = 0;
    std::uint64_t row_en = 0, col_en = 0;
  };
  bool desc_valid = false, start = false, busy = false, en = false;
  bool a_valid = false, w_valid = false, res_ready = false;
  bool a_we = false, w_we = false, res_valid = false, res_last = false;
  std::uint8_t cause = 0, tile_done = 0;
  bool err = false, overflow = false;
  RawDescriptor desc, held;  ///< on the inputs, in the registers
  SeqPins seq;
  std::uint8_t a_plane = 0, w_plane = 0;
  std::uint64_t a_sel = 0, w_sel = 0;        ///< row (column) selects of the fills
  std::uint64_t a_row_en = 0, w_col_en = 0;  ///< enables of the fills' walkers
  std::uint64_t seq_row_en = 0, seq_col_en = 0;
  PeControl pe;
  bool op_last = false;
  Stage op, ac, fl;
  std::uint8_t fl_index = 0;
  EventPulses ev;
  std::uint8_t rd_row = 0;
  bool rd_bank = false;
  /// Read ports of all accumulators of columns, [column, ones last][group], one word each; empty
  /// where the drain reads all rows at once, without multiplexers.
  std::vector<std::uint64_t> rd;
};

/// Which of the array's walkers.
enum class Walk : std::uint8_t { kA, kW, kSeq, kDrain };

/// Reads `core` (which must outlive it) after an edge. Row `tm` and column `tn` are those of ones.
class ArrayWires {
 public:
  ArrayWires(const ArrayConfig& config, const ArrayCore& core);

  /// Inputs of the coming edge: part of this cycle's wires. Call once after every edge, first of
  /// all.
  void observe(const ArrayStep& coming);

  PeControl pe_control() const;
  const std::uint64_t* a_digit(int row) const;  ///< KL*RA bits
  const std::uint64_t* w_digit(int col) const;
  std::uint32_t ac(int row, int col) const;
  std::uint32_t ah(int row, int col) const;  ///< AC where there is no AH
  void acc(int col, int group, AccPins& out) const;
  void ones_acc(int group, AccPins& out) const;
  void chunk_a(int row, ChunkPins& out) const;
  void chunk_w(int col, ChunkPins& out) const;
  void fill_a(FillPins& out) const;
  void fill_w(FillPins& out) const;
  void walker(Walk which, WalkerPins& out) const;
  void seq(SeqPins& out) const;
  void drain(DrainPins& out) const;
  void glue(GluePins& out) const;

  /// Columns that are flushed; rows (columns) whose operands are selected.
  int flush_columns() const;
  int selected(bool is_a) const;

  const ArrayConfig& config() const { return config_; }
  int groups() const { return config_.tm / config_.s; }
  /// PEs of a group of the ones row, and how many such groups there are.
  int ones_group() const { return config_.tn % config_.s == 0 ? config_.s : 1; }
  int ones_groups() const { return config_.tn / ones_group(); }
  /// Rows and columns of a result beat, rows that a read port delivers at once.
  int rows_per_beat() const { return config_.q > config_.tn ? config_.q / config_.tn : 1; }
  int cols_per_beat() const { return config_.q > config_.tn ? config_.tn : config_.q; }
  bool read_multiplexers() const { return rows_per_beat() == 1; }
  int read_rows() const { return rows_per_beat() > 1 ? config_.tm : 1; }
  int planes_a() const { return config_.ba >= config_.tm ? config_.ba / config_.tm : 1; }
  int planes_w() const { return config_.bw >= config_.tn ? config_.bw / config_.tn : 1; }

 private:
  void flush_pins(AccPins& out) const;
  void chunk(bool is_a, int row, ChunkPins& out) const;
  void fill(bool is_a, FillPins& out) const;
  std::uint64_t acc_register(int row, int col, int bank) const;

  ArrayConfig config_;
  const ArrayCore& core_;
  bool desc_valid_ = false, start_ = false, a_valid_ = false, w_valid_ = false, res_ready_ = false;
  RawDescriptor desc_;
  std::vector<std::uint64_t> a_data_, w_data_;
  std::vector<std::uint64_t> zero_, one_a_, one_w_;
};

}  // namespace bitcycle
