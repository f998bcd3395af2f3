// The whole machine in lockstep: verilated RTL and C++ core on the same memory, every register
// compared in every cycle.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/axi_memory.hpp"
#include "model/machine/machine_core.hpp"
#include "model/machine/recurrence.hpp"
#include "sim/register_compare.hpp"

namespace bitcycle {

/// Where a stream of instruction words comes from. Words are offered in every cycle, or withheld at
/// random.
class WordSource {
 public:
  WordSource() = default;
  WordSource(const WordSource&) = delete;
  WordSource& operator=(const WordSource&) = delete;
  virtual ~WordSource() = default;
  /// The next word, or nothing at the end of the stream (may be asked again later).
  virtual std::optional<std::uint64_t> next() = 0;
};

/// Words from memory.
class WordList final : public WordSource {
 public:
  explicit WordList(std::vector<std::uint64_t> words) : words_(std::move(words)) {}
  std::optional<std::uint64_t> next() override {
    if (at_ == words_.size()) return std::nullopt;
    return words_[at_++];
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t at_ = 0;
};

/// What a run of the machine took.
struct MachineRun {
  std::uint64_t cycles = 0;  ///< from the first word offered to the last completion, inclusive
  std::array<EngineCycles, kEngines> engines;  ///< their sum is `cycles`, for each engine
  std::uint64_t read_beats = 0, write_beats = 0, read_bursts = 0, write_bursts = 0;
  std::uint64_t withheld = 0;  ///< cycles of random stalls that the memory injected
  std::optional<Mismatch> mismatch;
  bool halted = false;  ///< an error stopped the machine
  bool timed_out = false;
};

/// Runs a machine, or two of them side by side, on one memory until the stream has ended and the
/// machine is idle. May be called again: state is kept.
class MachineBench {
 public:
  /// The core is always there and decides when a run has ended; `rtl` (may be null) runs in
  /// lockstep with it: its start values are copied to the core, its outputs and registers compared
  /// in every cycle, its memories at the end of each run.
  MachineBench(const MachineConfig& config, AxiMemory& memory, std::unique_ptr<Machine> rtl);

  /// `stall` in 1/256: how often an instruction word is withheld. Stops at a mismatch, when the
  /// machine halts, and after `most_cycles`.
  MachineRun run(WordSource& words, std::uint64_t most_cycles, int stall = 0,
                 std::uint64_t stall_seed = 0);

  /// One cycle without instructions, with the given AXI4-Lite signals. False at a mismatch.
  bool cycle(const AxiLiteReq& lite);
  /// AXI4-Lite accesses, each a few cycles. Throw InputError at a mismatch or an error response.
  std::uint32_t read_register(std::uint16_t address);
  void write_register(std::uint16_t address, std::uint32_t value);

  MachineCore& core() { return core_; }
  Machine* rtl() { return rtl_.get(); }
  const std::optional<Mismatch>& mismatch() const { return mismatch_; }
  std::uint64_t now() const { return now_; }

 private:
  void edge(MachineStep& step);
  bool ports_differ(std::string& what) const;
  void compare_memories();

  MachineConfig config_;
  AxiMemory& memory_;
  MachineCore core_;
  std::unique_ptr<Machine> rtl_;
  std::optional<RegisterCompare> registers_, memories_;
  std::optional<Mismatch> mismatch_;
  std::uint64_t now_ = 0;
  MachineRun totals_;
};

}  // namespace bitcycle
