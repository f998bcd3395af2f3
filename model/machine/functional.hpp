// The machine without time: what a stream of instructions computes, and whether it can run at all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "golden/codes.hpp"
#include "model/machine/instruction.hpp"
#include "model/machine/machine_config.hpp"

namespace bitcycle {

/// Which engine goes first where tokens leave a choice. A stream whose tokens order all that must
/// be ordered gives the same memory in every order.
enum class FunctionalOrder : std::uint8_t {
  kProgram,     ///< the earliest instruction that can run
  kEagerFetch,  ///< fetch as far ahead as tokens and queues allow, then exec, then store
  kLateFetch    ///< store first, then exec, fetch last
};

/// What a run leaves behind, apart from memory.
struct FunctionalResult {
  std::uint64_t fetched_beats_a = 0, fetched_beats_w = 0, stored_beats = 0;
  std::uint64_t psb_entries_written = 0, psb_entries_read = 0;
  std::uint64_t result_beats = 0;  ///< beats of the array that became output
  std::uint64_t macs_issued = 0;   ///< sum of M*N*K
  bool any_value = false;          ///< some result left; then vmin and vmax hold
  std::int64_t vmin = 0, vmax = 0;
  /// An exact sum, a sum of an operand or a partial-sum addition does not fit in ACC_W. (The array
  /// may raise its flag earlier: prefixes can be larger, see golden/gemm.hpp.)
  bool must_overflow = false;
};

/// Executes instructions one at a time on buffers and DRAM, with the address rules by division and
/// exact products. The oracle of the compiler and of the RTL's memory contents.
class FunctionalMachine {
 public:
  /// `data` false: addresses, tokens and written-before-read only; `dram` may then be null.
  explicit FunctionalMachine(const MachineConfig& config, bool data = true);

  /// Runs the stream to its end. Throws InputError "instruction 17 (exec): ..." for what cannot run
  /// or must not: an illegal instruction, a stream that stops (a token that never comes, a queue
  /// that never empties), more than 65535 tokens, addresses beyond a buffer or DRAM, words read
  /// that nobody wrote, tokens left over at the end.
  FunctionalResult run(const std::vector<Instruction>& program, std::vector<std::uint8_t>* dram,
                       FunctionalOrder order = FunctionalOrder::kProgram);

  /// Word (GL bits) of a buffer; for comparing with the RTL's memories.
  std::uint16_t l1_word(OperandBuffer which, std::size_t word) const {
    return buffers_[static_cast<std::size_t>(which)].words.at(word);
  }
  std::uint16_t ob_word(std::size_t word) const { return buffers_[2].words.at(word); }
  /// Entries of the partial-sum buffer: Q results, then RPB sums of A, then CPB sums of W.
  const std::vector<std::int64_t>& psb_entry(std::size_t entry) const { return psb_.at(entry); }

 private:
  struct Buffer {
    std::vector<std::uint16_t> words;
    std::vector<char> written;
  };
  struct Operand {
    CodeMatrix codes;
    std::vector<std::int64_t> sums;
  };

  void fetch(const FetchInstruction& i, const std::vector<std::uint8_t>* dram);
  void store(const StoreInstruction& i, std::vector<std::uint8_t>* dram);
  void exec(const ExecInstruction& i);
  Operand gather(const OperandGather& s, OperandBuffer which, Precision p, std::uint32_t rows,
                 std::uint32_t k) const;
  void through_psb(const ExecInstruction& i, std::vector<std::int64_t>& acc,
                   std::vector<std::int64_t>& sum_a, std::vector<std::int64_t>& sum_w);
  void write_results(const ExecInstruction& i, const std::vector<std::int64_t>& acc,
                     const std::vector<std::int64_t>& sum_a,
                     const std::vector<std::int64_t>& sum_w);
  void write_raw(std::int64_t word, bool raw32, std::int64_t value);
  void write_code(std::int64_t word, std::uint32_t lane, std::int32_t code, int bits);
  std::size_t ob_index(std::int64_t word) const;
  std::int64_t accumulate(i128 value);

  MachineConfig config_;
  bool data_;
  std::array<Buffer, 3> buffers_;  // L1A, L1W, OB
  std::vector<std::vector<std::int64_t>> psb_;
  std::vector<char> psb_written_;
  FunctionalResult result_;
};

/// The reason why `program` must not run on `config` ("instruction 17 (exec): ..."), or nothing.
/// Looks at tokens, queues, addresses and words never written, not at data.
std::optional<std::string> refuse_stream(const MachineConfig& config,
                                         const std::vector<Instruction>& program);

}  // namespace bitcycle
