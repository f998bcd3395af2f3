// Gather of one operand between the operand buffer and the array: rtl/bc_gather.sv.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/machine/operand_memory.hpp"
#include "model/machine/positions.hpp"

namespace bitcycle {

struct GatherConfig {
  int t = 16;              ///< rows (columns) of a tile on this side
  int t_other = 16;        ///< those of the other side
  int b = 8;               ///< words of a beat
  int kl = 64, gl = 16;    ///< lanes of a word, of a stored word
  bool rows_first = true;  ///< side A: its tiles are outermost
};

/// Inputs of one edge.
struct GatherStep {
  bool start = false;
  const std::uint64_t* side = nullptr;  ///< the eight words of the side; read if start
  bool setup = false;
  int setup_k = 0;
  bool load = false;                        ///< the array takes the descriptor
  std::uint32_t own = 0, other = 0, k = 0;  ///< M, N (N, M) and K, held while the instruction runs
  std::uint8_t bits = 0;                    ///< planes of the operand, likewise
  bool ready = false;                       ///< the array takes the beat, if there is one
};

class Gather {
 public:
  explicit Gather(const GatherConfig& config);

  void reset();
  void step(const GatherStep& in);

  // Functions of the registers:
  bool valid() const { return valid_ != 0; }
  bool illegal() const { return outer_.illegal() || tap_.illegal() || br_bad_ != 0; }
  /// The beat of this cycle while valid(), as ArrayStep wants it; `bits` as in GatherStep. Costs
  /// time: call it only if the array takes the beat. Valid until the next call.
  const std::uint64_t* beat(const OperandMemory& memory, std::uint8_t bits);

  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  /// Positions as columns of a table; a mask of 0 reads zeros.
  struct Places {
    std::vector<std::uint32_t> addr, mask;
    std::vector<std::uint16_t> y, x;
    explicit Places(int count);
    void set(int i, const Element& at, std::uint32_t mask_bits);
  };
  struct Run {  ///< neighbouring rows of mode T that are bits of the same words
    int first = 0, count = 0;
  };

  void locate();
  void locate_rows();
  void locate_elements();
  void cross(const Places& many, int count, const Places& one, int index, int site);
  void granules(const OperandMemory& memory, int first_row, int planes);
  void runs(const OperandMemory& memory, int first_row, int planes);
  void spread(const OperandMemory& memory, int first_row, int planes);
  void turn(const OperandMemory& memory, int first_row, int planes);
  void turn_rows(const Run& run, int first_row, int plane);

  GatherConfig c_;
  int rows_per_beat_ = 1, planes_per_beat_ = 1, groups_ = 1;
  int log_t_ = 0, log_kl_ = 0, log_granules_ = 0;

  // Registers.
  std::uint8_t mode_ = 0, lo_ = 0, hi_ = 0, br_bad_ = 0;
  std::uint16_t h_ = 0, w_ = 0;
  std::uint8_t valid_ = 0, plane_ = 0, grp_ = 0;
  std::uint32_t own_rem_ = 0, other_rem_ = 0, k_rem_ = 0;
  PosOuter outer_;
  PosTap tap_;

  // Not architectural: positions of the current tile and chunk, found again when their base moves,
  // and the words where they meet: [row or run][granule or lane].
  bool rows_known_ = false, elements_known_ = false;
  Places rows_, elements_;
  std::vector<std::uint8_t> row_bit_;  ///< mode T: bit of the word
  std::vector<Run> runs_;              ///< mode T
  std::vector<std::uint32_t> site_addr_, site_mask_;
  std::vector<PosTap::Tap> taps_;         ///< scratch
  std::vector<std::uint8_t> low_, high_;  ///< scratch: a byte a lane
  std::vector<std::uint64_t> data_;
};

}  // namespace bitcycle
