// The machine's timing as a recurrence over instructions: every start, burst and completion in
// closed form, equal to the RTL's cycles on a bandwidth-latency memory.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/machine/machine_config.hpp"

namespace bitcycle {

enum class MachineEngine : std::uint8_t { kFetch = 0, kExec = 1, kStore = 2 };

/// Memory behind the AXI ports: separate read and write servers, in order. Times in cycles, costs
/// in 1/256 cycle per beat (256 = one beat per cycle, the most that a port can do).
struct MemoryTiming {
  std::uint64_t latency = 1;        ///< AR handshake to first beat, >= 1
  std::uint64_t write_latency = 1;  ///< last W beat to B, >= 1
  std::uint64_t read_cost = 256;    ///< >= 256
  std::uint64_t write_cost = 256;   ///< >= 256
};

/// Lines of a DMA instruction, as FETCH and STORE give them.
struct TimedTransfer {
  std::uint64_t address = 0;  ///< bytes, beat aligned
  std::uint32_t line_beats = 1;
  std::uint32_t n0 = 1, n1 = 1, n2 = 1;
  std::int64_t stride0 = 0, stride1 = 0, stride2 = 0;  ///< beats

  std::uint64_t lines() const { return std::uint64_t{n0} * n1 * n2; }
  std::uint64_t beats() const { return lines() * line_beats; }
};

/// What the timing of an instruction depends on.
struct TimedInstruction {
  MachineEngine engine = MachineEngine::kFetch;
  std::uint32_t wait_in = 0;       ///< fetch: r2f, exec: f2e, store: e2r
  std::uint32_t wait_out = 0;      ///< fetch: e2f, exec: r2e
  bool post_down = false;          ///< fetch: f2e, exec: e2r, store: r2f
  bool post_up = false;            ///< exec: e2f, store: r2e
  TimedTransfer transfer;          ///< fetch and store
  std::uint64_t array_cycles = 0;  ///< exec: T of its M, N, K
};

/// What the split of the lines into bursts depends on, apart from counts and strides: 0 if no line
/// meets a page border inside, else 1 + the first line's beat in its page.
std::uint64_t page_place(const TimedTransfer& transfer, std::uint64_t beat_bytes);

/// Words of an instruction in the stream.
int stream_words(MachineEngine engine);

/// Cycles of one engine over a run: every cycle is exactly one of the four.
struct EngineCycles {
  std::uint64_t idle = 0, run = 0, wait_in = 0, wait_out = 0;
  std::uint64_t total() const { return idle + run + wait_in + wait_out; }
};

/// When an instruction started and ended (first and last cycle of its run).
struct InstructionTimes {
  std::uint64_t pushed = 0;  ///< cycle in which it entered its queue
  std::uint64_t start = 0;
  std::uint64_t done = 0;
};

/// Evaluates a stream of instructions in program order. Cycle 0 is the one in which the first word
/// is offered; words are offered whenever the machine takes them.
class Recurrence {
 public:
  /// Throws InputError for an illegal configuration or timing.
  Recurrence(const MachineConfig& config, const MemoryTiming& memory);

  /// Appends an instruction. Its times may only be known after later ones are appended (it may wait
  /// for a token that a later instruction posts). Throws InputError for a count of 0 in a transfer
  /// or an address that is not beat aligned.
  void add(const TimedInstruction& instruction);

  /// Appends `body` `times` times. The addresses of repetition i are shifted by i*`advance` bytes
  /// for each instruction of the body (empty = no shift). Costs as many steps as it takes until the
  /// relative state repeats, then none. Same result as add() in a loop.
  void repeat(const std::vector<TimedInstruction>& body, std::uint64_t times,
              const std::vector<std::int64_t>& advance = {});

  /// Where a run stands: to find out that it repeats itself, and to skip repetitions.
  struct Mark {
    std::uint64_t base = 0;
    std::array<EngineCycles, 3> cycles;
    std::array<std::uint64_t, 3> evaluated{};
    std::uint64_t read_bursts = 0, write_bursts = 0, read_beats = 0, write_beats = 0;
  };
  Mark mark() const;
  /// Everything that decides what later instructions take, relative to mark().base: equal states
  /// and equal instructions from there on give equal distances.
  std::vector<std::uint64_t> state() const;
  /// Goes on as if what happened between `before` and `here` (the present) happened `times` more.
  void skip(const Mark& before, const Mark& here, std::uint64_t times);

  /// True if every appended instruction has been evaluated. False = the stream waits for a token
  /// that nobody posts, or for a queue that never empties: a deadlock.
  bool settled() const;
  /// "exec instruction 3 waits for ..." of the first engine that is stuck; "" if settled.
  std::string stuck() const;

  /// Cycles from cycle 0 to the last completion, inclusive.
  std::uint64_t cycles() const { return end_; }
  /// Counters as the machine holds them after cycles() cycles. Call when settled.
  EngineCycles engine(MachineEngine which) const;
  /// Times of the last evaluated instruction of an engine.
  const InstructionTimes& last(MachineEngine e) const { return engines_[index(e)].last; }
  /// Evaluated instructions of an engine.
  std::uint64_t count(MachineEngine e) const { return engines_[index(e)].evaluated; }

  /// If set, every evaluated instruction's times are appended here (not during skipped repeats, so
  /// repeat() does not skip while it is set).
  std::vector<std::pair<MachineEngine, InstructionTimes>>* trace = nullptr;

  /// Bursts and beats so far.
  std::uint64_t read_bursts = 0, write_bursts = 0, read_beats = 0, write_beats = 0;

 private:
  static std::size_t index(MachineEngine e) { return static_cast<std::size_t>(e); }

  struct Waiting {
    TimedInstruction instruction;
    std::uint64_t pushed = 0;
  };
  struct EngineState {
    std::deque<Waiting> queue;         // pushed, not yet started
    std::deque<std::uint64_t> starts;  // of the last QD instructions
    std::uint64_t pushed_count = 0;
    std::uint64_t evaluated = 0;
    std::uint64_t free_from = 0;  // first cycle in which it may start
    EngineCycles cycles;          // without idle: what is left of the run
    InstructionTimes last;
  };
  struct Tokens {
    std::deque<std::uint64_t> posts;  // cycles of posts not yet taken
  };
  // What the split of a transfer into bursts depends on.
  using LinesKey = std::array<std::uint64_t, 7>;
  struct LinesHash {
    std::size_t operator()(const LinesKey& key) const {
      std::uint64_t h = 0xCBF29CE484222325ULL;
      for (const std::uint64_t part : key) {
        h = (h ^ part) * 0x9E3779B97F4A7C15ULL;
        h ^= h >> 29U;
      }
      return h;
    }
  };
  struct TransferTime {  // from its start
    std::uint64_t done = 0, server_free = 0, bursts = 0;
  };
  struct Port {                     // a DMA direction
    std::uint64_t server_free = 0;  // 1/256 cycle
    std::unordered_map<LinesKey, TransferTime, LinesHash> known;
  };
  struct Bursts {               // of one transfer, on the way
    std::uint64_t request = 0;  // first cycle in which a request may be made
    std::uint64_t done = 0;     // of the last burst
  };

  void dispatch();
  bool evaluate(MachineEngine which);
  void settle();
  std::uint64_t fetch(const TimedTransfer& t, std::uint64_t start);
  std::uint64_t store(const TimedTransfer& t, std::uint64_t start);
  template <class Burst>
  std::uint64_t transfer(bool read, const TimedTransfer& t, std::uint64_t start, bool fresh,
                         Burst&& burst);
  template <class Burst>
  void walk(const TimedTransfer& t, Burst&& burst) const;
  void shift(std::uint64_t delta);

  MachineConfig config_;
  MemoryTiming memory_;
  std::uint64_t beat_bytes_;
  std::array<EngineState, 3> engines_;
  // f2e, e2r, r2f (down), e2f, r2e (up)
  Tokens f2e_, e2r_, r2f_, e2f_, r2e_;
  Port read_, write_;
  std::deque<TimedInstruction> stream_;  // offered, not yet pushed
  std::uint64_t first_word_ = 0;         // earliest cycle of the next instruction's first word
  std::uint64_t end_ = 0;
};

}  // namespace bitcycle
