// The whole machine cycle by cycle: a bench with a memory behind it, and RTL and C++ core in
// lockstep, every register compared in every cycle.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
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

/// RTL and core as one machine: both take every step, every output and register is compared after
/// it. Its outputs are the core's.
class LockstepMachine final : public Machine {
 public:
  /// The RTL's start values are copied to the core. Throws InputError if their registers differ.
  LockstepMachine(const MachineConfig& config, std::unique_ptr<Machine> rtl);

  void reset() override;
  void step(const MachineStep& in) override;
  const MachinePorts& ports() const override { return core_.ports(); }
  const std::vector<RegisterView>& registers() override { return core_.registers(); }

  /// Compares the memories; at the end of a run.
  void compare_memories();
  /// The first difference; nothing is compared after it.
  const std::optional<Mismatch>& mismatch() const { return mismatch_; }
  MachineCore& core() { return core_; }
  Machine& rtl() { return *rtl_; }
  std::size_t compared() const { return registers_->registers(); }

 private:
  void compare();

  MachineConfig config_;
  MachineCore core_;
  std::unique_ptr<Machine> rtl_;
  std::optional<RegisterCompare> registers_, memories_;
  std::optional<Mismatch> mismatch_;
  std::uint64_t now_ = 0;
};

/// Looks at a machine's engines from outside, through its registers.
class MachineProbe {
 public:
  /// Throws InputError if a register is missing.
  explicit MachineProbe(Machine& machine);
  /// No engine is busy, no queue holds an instruction, none is being assembled.
  bool idle() const;
  /// An error has stopped the machine, and what ran has ended.
  bool halted() const;
  /// idle, run, wait_in, wait_out since the last clearing.
  EngineCycles engine(MachineEngine e) const;

 private:
  std::vector<RegisterView> running_, waiting_, counters_;
  RegisterView halt_;
};

/// What a run of the machine took.
struct MachineRun {
  std::uint64_t cycles = 0;  ///< from the first word offered to the last completion, inclusive
  std::array<EngineCycles, kEngines> engines;  ///< their sum is `cycles`, for each engine
  std::uint64_t read_beats = 0, write_beats = 0, read_bursts = 0, write_bursts = 0;
  std::uint64_t withheld = 0;  ///< cycles of random stalls that the memory injected
  bool halted = false;         ///< an error stopped the machine
  bool timed_out = false;
};

/// Whoever runs a machine: a plain loop or the SystemC kernel. State is kept between runs.
class MachineRunner {
 public:
  MachineRunner() = default;
  MachineRunner(const MachineRunner&) = delete;
  MachineRunner& operator=(const MachineRunner&) = delete;
  virtual ~MachineRunner() = default;

  /// Offers the words and runs until they have ended and the machine is idle, or halted, or
  /// `most_cycles` have passed, or `stop` (asked in every cycle) says so.
  virtual MachineRun run(WordSource& words, std::uint64_t most_cycles,
                         const std::function<bool()>& stop) = 0;
};

/// A machine and the memory behind it, cycle by cycle.
class MachineBench final : public MachineRunner {
 public:
  MachineBench(const MachineConfig& config, Machine& machine, AxiMemory& memory);

  MachineRun run(WordSource& words, std::uint64_t most_cycles,
                 const std::function<bool()>& stop = {}) override;
  /// As run; words are withheld in `stall`/256 of the cycles.
  MachineRun run_stalled(WordSource& words, std::uint64_t most_cycles, int stall,
                         std::uint64_t stall_seed, const std::function<bool()>& stop = {});

  /// One cycle without instructions, with the given AXI4-Lite signals.
  void cycle(const AxiLiteReq& lite);
  /// AXI4-Lite accesses, each a few cycles. Throw InputError at an error response.
  std::uint32_t read_register(std::uint16_t address);
  void write_register(std::uint16_t address, std::uint32_t value);

  const MachineProbe& probe() const { return probe_; }
  std::uint64_t now() const { return now_; }

 private:
  void edge(MachineStep& step);

  Machine& machine_;
  AxiMemory& memory_;
  MachineProbe probe_;
  std::vector<std::uint64_t> w_data_;
  std::uint64_t now_ = 0;
  MachineRun totals_;
};

}  // namespace bitcycle
