// Instructions of the machine as plain structs, and the 64-bit words that carry them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "golden/requantise.hpp"
#include "golden/types.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine_config.hpp"

namespace bitcycle {

/// Lines in DRAM, `n2` x `n1` x `n0` of `line_beats` beats each, n0 innermost; on the buffer's side
/// they lie without gaps. Strides are in beats.
struct LineWalk {
  std::uint64_t dram = 0;        ///< byte address of the first line, a multiple of the beat
  std::uint32_t line_beats = 1;  ///< beats of a line
  std::uint32_t n0 = 1, n1 = 1, n2 = 1;
  std::int32_t stride0 = 0, stride1 = 0, stride2 = 0;
  std::uint32_t buffer = 0;  ///< first beat in the on-chip buffer

  std::uint64_t beats() const { return std::uint64_t{line_beats} * n0 * n1 * n2; }
};

enum class OperandBuffer : std::uint8_t { kA = 0, kW = 1 };

struct FetchInstruction {
  OperandBuffer target = OperandBuffer::kA;
  std::uint32_t wait_e2f = 0, wait_r2f = 0;
  bool post_f2e = false;
  LineWalk lines;
};

struct StoreInstruction {
  std::uint32_t wait_e2r = 0;
  bool post_r2e = false, post_r2f = false;
  LineWalk lines;
};

/// The address rule of one side of exec, in natural strides (words). Element (o, t) of the operand:
/// a0 = o % r0, a1 = (o / r0) % r1, a2 = o / (r0*r1); mode N: o is the operand's row and t = k /
/// GL, lane k % GL; mode T: o = k and the row gives t and the lane. t is split by cg, kb0 into (cg,
/// b0, b1). Word = base + a2*A2 + a1*A1 + a0*A0 + b1*B1 + b0*B0 + cg*SC + plane; it is read as zero
/// unless y = a1*sy + b1*dy + y0 is in 0..h-1 and x = a0*sx + b0*dx + x0 is in 0..w-1.
struct OperandGather {
  std::uint32_t base = 0;
  bool transposed = false;  ///< mode T
  std::uint32_t r0 = 1, r1 = 1;
  std::int64_t a0 = 0, a1 = 0, a2 = 0;
  std::uint32_t h = 1, w = 1;
  std::int32_t sy = 0, sx = 0, y0 = 0, x0 = 0, dy = 0, dx = 0;
  std::uint32_t kb0 = 1, cg = 1;
  std::uint32_t br = 1;  ///< mode T: lanes of a granule that are rows; 1 in mode N
  std::uint32_t lo = 0;  ///< mode T: first lane; mode N: first lane of the first granule of a tap
  std::uint32_t hi = 0;  ///< mode N: lane after the last of the last granule
  std::int64_t b0 = 0, b1 = 0, sc = 0;
};

/// Where results go and how they are made.
struct ExecOutput {
  bool raw = false;  ///< accumulators (48 bits, or 32 if raw32), else codes
  bool raw32 = false;
  bool column = false;  ///< codes: lanes along the rows of the product
  bool sums = false;    ///< sums of A and W too
  Requantisation q;     ///< codes only
  std::uint32_t ob_base = 0;
  std::uint32_t or0 = 1, or1 = 1;
  std::int64_t o0 = 0, o1 = 0, o2 = 0;         ///< words for a step of a0, a1, a2 of the position
  std::int64_t oc = 0;                         ///< words from granule to granule
  std::uint32_t sum_a = 0, sum_w = 0;          ///< word addresses
  std::uint32_t element = 0, element_row = 0;  ///< element number = element + m*element_row + n
};

struct ExecInstruction {
  Precision pa, pw;
  bool ps_read = false, ps_write = false;
  std::uint32_t wait_f2e = 0, wait_r2e = 0;
  bool post_e2f = false, post_e2r = false;
  std::uint32_t m = 1, n = 1, k = 1;
  std::uint32_t ps_base = 0;
  OperandGather a, w;
  ExecOutput out;
};

using Instruction = std::variant<FetchInstruction, ExecInstruction, StoreInstruction>;

/// The instruction's words (6 or 27). Throws InputError naming the field if a value does not fit.
std::vector<std::uint64_t> encode(const Instruction& instruction);

/// Words of the instruction whose first word is `header`; 0 if no engine has it.
int instruction_words(std::uint64_t header);

/// Inverse of encode for the instruction at words[at]; `at` moves behind it. Throws InputError if
/// the header is illegal, words are missing, or bits are set that encode would not set (derived
/// wrap constants that contradict the strides, reserved bits).
Instruction decode(const std::vector<std::uint64_t>& words, std::size_t& at);

/// Why the hardware would drop the instruction: kNone, or the lowest cause that holds.
layout::MachineCause cause_of(const Instruction& instruction, const MachineConfig& config);

/// One line for fetch and store, a few for exec; natural strides, tokens last.
std::string disassemble(const Instruction& instruction);

}  // namespace bitcycle
