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
  struct Row : Element {  // of the tile
    bool enabled = false;
    std::uint8_t bit = 0;  ///< mode T: bit of the word
  };

  bool inside(const Element& row, const Element& element) const;
  void locate();
  void granules(const OperandMemory& memory, const Row* rows, int planes);
  void runs(const OperandMemory& memory, const Row* rows, int planes);
  void lanes(const OperandMemory& memory, const Row* rows, int planes);
  void transpose(const Row* rows, int count, int first_word);

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

  // Positions of the current tile and chunk, found again when their base moves.
  bool rows_known_ = false, elements_known_ = false;
  std::vector<Row> rows_;
  std::vector<Element> elements_;         ///< granules (mode N) or lanes (mode T) of the chunk
  std::vector<std::uint32_t> lane_mask_;  ///< enabled lanes, by granule
  std::vector<PosTap::Tap> taps_;         ///< scratch
  std::vector<std::uint16_t> words_;      ///< scratch: mode T, a word a lane
  std::vector<std::uint64_t> data_;
};

}  // namespace bitcycle
