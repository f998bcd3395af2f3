// Instruction queues, tokens, engines and resets of the machine: rtl/bc_queue.sv, bc_semaphore.sv,
// bc_engine.sv, bc_reset.sv. Combinational outputs are functions of the registers and of the
// arguments named; step() is one rising edge; reset() gives control registers their reset value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/array.hpp"

namespace bitcycle {

/// The machine's engines, in the order of their numbers in headers, errors and counters.
enum Engine : std::uint8_t { kFetchEngine = 0, kExecEngine = 1, kStoreEngine = 2 };
constexpr int kEngines = 3;

/// FIFO of instructions of `words` 64-bit words (bc_queue).
class InstructionQueue {
 public:
  InstructionQueue(int words, int depth);

  bool valid() const { return count_ != 0; }
  bool full() const { return count_ == depth_; }
  bool room(bool pop) const { return !full() || pop; }
  /// Word `w` of the instruction at the output, meaningful while valid().
  std::uint64_t head(int w) const { return word_[static_cast<std::size_t>(w) * depth_ + rd_]; }
  /// The whole instruction at the output.
  void head(std::uint64_t* out) const;

  /// `data`: words() words, read only with `push`.
  void step(bool push, const std::uint64_t* data, bool pop);
  void reset();
  void list(const std::string& prefix, std::vector<RegisterView>& out);
  int words() const { return words_; }

 private:
  int words_;
  std::uint8_t depth_;
  std::uint8_t count_ = 0, rd_ = 0, wr_ = 0;
  std::vector<std::uint64_t> word_;  ///< [word][entry]
};

/// Counter of tokens between two engines (bc_semaphore).
class Semaphore {
 public:
  bool ok(std::uint16_t need) const { return count_ >= need; }
  std::uint16_t count() const { return count_; }
  /// A token more is lost.
  bool overflow(bool post, std::uint16_t need, bool take) const {
    return post && static_cast<std::uint16_t>(count_ - (take ? need : 0)) == 0xffff;
  }
  void step(bool post, std::uint16_t need, bool take) {
    const bool lost = overflow(post, need, take);
    count_ = static_cast<std::uint16_t>(count_ - (take ? need : 0) + (post && !lost ? 1 : 0));
  }
  void reset() { count_ = 0; }
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  std::uint16_t count_ = 0;
};

/// Start, end and counters of one engine (bc_engine).
class EngineControl {
 public:
  struct Inputs {
    bool enable = true, halt = false, clear = false;
    bool valid = false, illegal = false, in_ok = false, out_ok = false;  // head of the queue
    std::uint8_t post = 0;                                               // 2 bits
    bool done = false, err = false;                                      // unit
  };
  struct Counters {
    std::uint64_t idle = 0, run = 0, wait_in = 0, wait_out = 0;  // 48 bits each
  };

  bool busy() const { return busy_ != 0; }
  bool pop(const Inputs& in) const {
    return busy_ == 0 && in.valid && in.in_ok && in.out_ok && in.enable && !in.halt;
  }
  bool start(const Inputs& in) const { return pop(in) && !in.illegal; }
  bool drop(const Inputs& in) const { return pop(in) && in.illegal; }
  /// Tokens posted in this cycle.
  std::uint8_t post(const Inputs& in) const { return in.done && !in.err ? post_ : 0; }
  const Counters& counters() const { return counters_; }

  void step(const Inputs& in);
  void reset();
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  std::uint8_t busy_ = 0, post_ = 0;
  Counters counters_;
};

/// External reset, released synchronously, and the soft reset of the core (bc_reset).
class ResetControl {
 public:
  bool rst_n() const { return sync_ != 0; }       ///< register block
  bool core_rst_n() const { return core_ != 0; }  ///< everything else
  void step(bool soft) {
    core_ = meta_ != 0 && !soft ? 1 : 0;
    sync_ = meta_;
    meta_ = 1;
  }
  void reset() { meta_ = sync_ = core_ = 0; }
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  std::uint8_t meta_ = 0, sync_ = 0, core_ = 0;
};

/// clog2, as in SystemVerilog.
inline int ceil_log2(std::uint64_t value) {
  int bits = 0;
  while ((std::uint64_t{1} << static_cast<unsigned>(bits)) < value) ++bits;
  return bits;
}

/// Adds a register of one value.
template <class T>
void list_register(std::vector<RegisterView>& out, const std::string& name, T& value, int bits) {
  out.push_back({name, &value, 1, sizeof(T), static_cast<std::size_t>(bits)});
}

}  // namespace bitcycle
