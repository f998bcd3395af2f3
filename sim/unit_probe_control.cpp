// Instruction queues, dispatch and engine control (rtl/bc_queue.sv, bc_dispatch.sv, bc_engine.sv)
// against their C++ models.
#include <fmt/format.h>

#include "model/machine/control.hpp"
#include "model/machine/dispatch.hpp"
#include "model/machine/layout.hpp"
#include "sim/unit_probe.hpp"

namespace bitcycle {
namespace {

// An instruction: sparse words, as addresses and sizes are.
void new_words(std::vector<std::uint64_t>& words, std::uint64_t a, std::uint64_t b) {
  for (std::size_t w = 0; w < words.size(); ++w) {
    words[w] = counter_random(a, w, b) & counter_random(a, w + 100, b) & 0x00ffffff0000ffffULL;
  }
}

// Jobs of one number: cycles between instructions.
std::vector<UnitJob> paced(std::initializer_list<int> every, std::uint64_t seed) {
  std::vector<UnitJob> jobs;
  for (const int size : every) {
    UnitJob j;
    j.label = fmt::format("an instruction in {} cycles", size);
    j.size = size;
    j.seed = seed + static_cast<std::uint64_t>(size);
    jobs.push_back(j);
  }
  return jobs;
}
std::vector<UnitJob> with_idle(std::vector<UnitJob> jobs) {
  jobs.insert(jobs.begin(), UnitJob{"idle", true});
  return jobs;
}

class QueueUnit final : public UnitProbe {
 public:
  QueueUnit(int words, int depth) : words_(words), depth_(depth) {
    module_ = "bc_queue";
    parameters_ = {{"WORDS", words}, {"QD", depth}, {"CLOCK_GATING", 1}};
    files_ = {"bc_clock_gate.sv", "bc_queue.sv"};
    const auto bits = static_cast<std::size_t>(words) * 64;
    ports({{"rst_ni", 1}, {"push_i", 1}, {"pop_i", 1}, {"data_i", bits}},
          {{"room_o", 1}, {"valid_o", 1}, {"full_o", 1}, {"data_o", bits}});
    add_feature("cycle", "1: clock, and registers that hold");
    add_feature("word", "words of the instruction that dispatch takes, one a cycle");
    add_feature("push", "1 if an instruction comes");
    add_feature("pop", "1 if one leaves");
  }
  std::vector<UnitJob> training() const override {
    return with_idle(paced({1, 2, 5, 20, 100}, 10));
  }
  std::vector<UnitJob> held_out() const override { return paced({3, 10, 40}, 900); }

  void run(const UnitJob& job, const std::function<void()>& cycle) override {
    Random random(job.seed);
    InstructionQueue queue(words_, depth_);
    std::vector<std::uint64_t> next(static_cast<std::size_t>(words_), 0), data = next;
    std::size_t word = data.size();  // dispatch assembles word by word
    std::uint64_t number = 0, since = 0;
    for (std::uint64_t i = 0; i < job.cycles; ++i) {
      const bool due = !job.idle && ++since >= static_cast<std::uint64_t>(job.size);
      if (due && word == data.size()) {
        new_words(next, job.seed, number++);
        word = 0;
        since = 0;
      }
      const bool fed = word < data.size();
      if (fed) data[word] = next[word], ++word;
      const bool pop = queue.valid() && random.chance(30);
      const bool push = fed && word == data.size() && queue.room(pop);
      if (fed && word == data.size() && !push) --word;  // again in the next cycle
      drive(0, 1);
      drive(1, push);
      drive(2, pop);
      drive(3, data.data());
      expect(0, queue.room(pop));
      expect(1, queue.valid());
      expect(2, queue.full());
      std::vector<std::uint64_t> head(data.size());
      queue.head(head.data());
      expect(3, head.data());
      count({1.0, fed ? 1.0 : 0.0, push ? 1.0 : 0.0, pop ? 1.0 : 0.0});
      cycle();
      queue.step(push, data.data(), pop);
    }
  }

 private:
  int words_, depth_;
};

class DispatchUnit final : public UnitProbe {
 public:
  DispatchUnit() {
    module_ = "bc_dispatch";
    parameters_ = {{"CLOCK_GATING", 1}};
    files_ = {"bc_machine_pkg.sv", "bc_clock_gate.sv", "bc_dispatch.sv"};
    ports({{"rst_ni", 1},
           {"flush_i", 1},
           {"inst_valid_i", 1},
           {"inst_data_i", 64},
           {"mm_valid_i", 1},
           {"mm_data_i", 64},
           {"room_i", 3}},
          {{"inst_ready_o", 1},
           {"mm_ready_o", 1},
           {"push_o", 3},
           {"busy_o", 1},
           {"err_o", 1},
           {"inst_o", static_cast<std::size_t>(layout::kExecWords) * 64}});
    add_feature("cycle", "1: clock, and registers that hold");
    add_feature("word", "1 if a word is taken");
    add_feature("push", "1 if an instruction leaves");
  }
  std::vector<UnitJob> training() const override { return with_idle(paced({1, 2, 5, 20, 60}, 20)); }
  std::vector<UnitJob> held_out() const override { return paced({3, 10, 40}, 700); }

  void run(const UnitJob& job, const std::function<void()>& cycle) override {
    Random random(job.seed);
    Dispatch dispatch;
    dispatch.reset();
    std::vector<std::uint64_t> words(static_cast<std::size_t>(layout::kExecWords), 0);
    std::size_t word = 0, size = 0;
    std::uint64_t number = 0, wait = 0;
    for (std::uint64_t i = 0; i < job.cycles; ++i) {
      if (!job.idle && word == size && ++wait >= static_cast<std::uint64_t>(job.size)) {
        new_words(words, job.seed, number++);
        const std::uint64_t kind = random.below(3);
        words[0] = (words[0] & ~std::uint64_t{3}) | kind;
        size = static_cast<std::size_t>(kind == 1 ? layout::kExecWords : layout::kFetchWords);
        word = 0;
        wait = 0;
      }
      Dispatch::Inputs in;
      in.inst_valid = word < size;
      in.inst_data = words[word < size ? word : 0];
      in.room = random.chance(80) ? 7 : 0;
      drive_all({1, 0, in.inst_valid, in.inst_data, 0, 0, in.room});
      const bool taken = in.inst_valid && dispatch.inst_ready(in);
      const std::uint8_t push = dispatch.push(in);
      expect(0, dispatch.inst_ready(in));
      expect(1, dispatch.mm_ready(in));
      expect(2, push);
      expect(3, dispatch.busy());
      expect(4, dispatch.err(in));
      expect(5, dispatch.inst());
      count({1.0, taken ? 1.0 : 0.0, push != 0 ? 1.0 : 0.0});
      cycle();
      if (taken) ++word;
      dispatch.step(in);
    }
  }
};

class EngineUnit final : public UnitProbe {
 public:
  EngineUnit() {
    module_ = "bc_engine";
    files_ = {"bc_engine.sv"};
    ports({{"rst_ni", 1},
           {"enable_i", 1},
           {"halt_i", 1},
           {"clear_i", 1},
           {"valid_i", 1},
           {"illegal_i", 1},
           {"in_ok_i", 1},
           {"out_ok_i", 1},
           {"post_i", 2},
           {"done_i", 1},
           {"err_i", 1}},
          {{"pop_o", 1},
           {"start_o", 1},
           {"drop_o", 1},
           {"busy_o", 1},
           {"post_o", 2},
           {"idle_o", 48},
           {"run_o", 48},
           {"wait_in_o", 48},
           {"wait_out_o", 48}});
    add_feature("cycle", "1: clock and one of the counters");
    add_feature("start", "1 if an instruction starts");
  }
  std::vector<UnitJob> training() const override { return with_idle(paced({4, 10, 50, 200}, 30)); }
  std::vector<UnitJob> held_out() const override { return paced({6, 20, 100}, 500); }

  void run(const UnitJob& job, const std::function<void()>& cycle) override {
    Random random(job.seed);
    EngineControl engine;
    engine.reset();
    std::uint64_t left = 0;
    for (std::uint64_t i = 0; i < job.cycles; ++i) {
      EngineControl::Inputs in;
      in.valid = !job.idle && random.chance(70);
      in.in_ok = random.chance(80);
      in.out_ok = random.chance(80);
      in.post = static_cast<std::uint8_t>(random.below(4));
      in.done = engine.busy() && left == 0;
      drive_all({1, in.enable, in.halt, in.clear, in.valid, in.illegal, in.in_ok, in.out_ok,
                 in.post, in.done, in.err});
      const bool start = engine.start(in);
      expect(0, engine.pop(in));
      expect(1, start);
      expect(2, engine.drop(in));
      expect(3, engine.busy());
      expect(4, engine.post(in));
      const auto& c = engine.counters();
      expect(5, c.idle);
      expect(6, c.run);
      expect(7, c.wait_in);
      expect(8, c.wait_out);
      count({1.0, start ? 1.0 : 0.0});
      cycle();
      if (start)
        left = static_cast<std::uint64_t>(job.size);
      else if (left > 0)
        --left;
      engine.step(in);
    }
  }
};

}  // namespace

std::unique_ptr<UnitProbe> make_queue_unit(const MachineConfig& config, int words) {
  return std::make_unique<QueueUnit>(words, config.qd);
}
std::unique_ptr<UnitProbe> make_dispatch_unit() { return std::make_unique<DispatchUnit>(); }
std::unique_ptr<UnitProbe> make_engine_unit() { return std::make_unique<EngineUnit>(); }

}  // namespace bitcycle
