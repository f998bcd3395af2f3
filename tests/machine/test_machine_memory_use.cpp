// Memory of a simulation does not grow with simulated time: bytes on the heap after some runs of a
// layer and after four times as many.
#include <malloc.h>

#include <catch2/catch.hpp>
#include <memory>

#include "model/machine/memory.hpp"
#include "sim/machine_systemc.hpp"
#include "sim/memory_choice.hpp"
#include "sim/plan_words.hpp"
#include "tests/machine/compiled_run.hpp"

namespace bitcycle {
namespace {

constexpr int kRuns = 5;
constexpr std::size_t kSlack = 4096;  // bytes; a run of the layer takes 10000 cycles

std::size_t heap() { return mallinfo2().uordblks; }

ConvJob layer(std::uint64_t images) {
  ConvJob job;
  job.shape.batch = images;
  job.shape.cin = job.shape.cout = 16;
  job.shape.hi = job.shape.wi = 16;
  job.shape.kh = job.shape.kw = 3;
  job.shape.pad_top = job.shape.pad_bottom = job.shape.pad_left = job.shape.pad_right = 1;
  job.first = job.second = {4, false};
  return job;
}

struct Growth {
  std::uint64_t cycles = 0, more_cycles = 0;
  std::size_t bytes = 0, more_bytes = 0;  // after kRuns and after 5 * kRuns
};

// Runs the layer on a DRAM, again and again. `words` makes the stream of one run.
template <class Words>
Growth grow(MachineRunner& runner, Words&& words) {
  Growth out;
  const auto runs = [&](int times) {
    std::uint64_t cycles = 0;
    for (int i = 0; i < times; ++i) {
      const MachineRun run = runner.run(words(), 10'000'000, {});
      REQUIRE_FALSE(run.timed_out);
      REQUIRE_FALSE(run.halted);
      cycles += run.cycles;
    }
    return cycles;
  };
  runs(1);  // pages of the memory appear, buffers take their size
  out.cycles = runs(kRuns);
  out.bytes = heap();
  out.more_cycles = runs(4 * kRuns);
  out.more_bytes = heap();
  return out;
}

struct Bench {
  MachineConfig config = testing::machine_of("ci-4x4-s1");
  Plan plan = compile(GemmProblem(config, layer(1))).plan;
  Memory memory{config.dw, resolve_memory("ddr4-3200").timer(config.dw, 1000)};
  MachineCore core{config};
  std::unique_ptr<PlanWords> words;
  Bench() { plan.set_addresses(0, 1U << 20U, 1U << 21U); }
  PlanWords& stream() {
    words = std::make_unique<PlanWords>(plan);
    return *words;
  }
};

void check_bounded(const Growth& g) {
  INFO(g.cycles << " cycles, " << g.bytes << " bytes; " << g.more_cycles << " more, "
                << g.more_bytes << " bytes");
  CHECK(g.cycles > 40'000);
  CHECK(g.more_cycles > 3 * g.cycles);
  CHECK(g.more_bytes <= g.bytes + kSlack);
}

TEST_CASE("machine memory use: the model on a DRAM holds as much after four times the cycles") {
  Bench b;
  MachineBench runner(b.config, b.core, b.memory);
  check_bounded(grow(runner, [&]() -> WordSource& { return b.stream(); }));
}

TEST_CASE("machine memory use: so does it under the SystemC kernel") {
  Bench b;
  SystemcBench runner(b.config, b.core, b.memory);
  check_bounded(grow(runner, [&]() -> WordSource& { return b.stream(); }));
}

// What the two above look for can be seen: streams that are kept.
TEST_CASE("machine memory use: a host that keeps every word is seen") {
  Bench b;
  MachineBench runner(b.config, b.core, b.memory);
  std::vector<std::unique_ptr<WordList>> kept;
  const Growth g = grow(runner, [&]() -> WordSource& {
    std::vector<std::uint64_t> words;
    b.plan.emit([&](const Instruction& i, const InstructionInfo&) {
      for (const std::uint64_t w : encode(i)) words.push_back(w);
    });
    kept.push_back(std::make_unique<WordList>(std::move(words)));
    return *kept.back();
  });
  CHECK(g.more_bytes > g.bytes + kSlack);
}

TEST_CASE("machine memory use: a stream holds one iteration, however many there are") {
  const MachineConfig config = testing::machine_of("ci-4x4-s1");
  const auto held = [&](std::uint64_t images, std::uint64_t& words) {
    CompileOptions options;
    options.mapping = naive_mapping(GemmProblem(config, layer(1)));
    const Plan plan = compile(GemmProblem(config, layer(images)), options).plan;
    PlanWords stream(plan);
    words = 0;
    while (stream.next()) ++words;
    return stream.held();
  };
  std::uint64_t few = 0, many = 0;
  const std::size_t one = held(64, few), more = held(256, many);
  CHECK(many > 3 * few);
  CHECK(more <= one);
  CHECK(more < many / 50);
}

// In the order of emit(), and every instruction is told of.
TEST_CASE("plan words: the words of the stream, once each") {
  const MachineConfig config = testing::machine_of("ci-1x1-s4");
  const Plan plan = compile(GemmProblem(config, layer(3))).plan;
  std::vector<std::uint64_t> want, got;
  std::size_t instructions = 0, seen = 0;
  plan.emit([&](const Instruction& i, const InstructionInfo&) {
    for (const std::uint64_t w : encode(i)) want.push_back(w);
    ++instructions;
  });
  PlanWords stream(plan, [&](const Instruction&) { ++seen; });
  while (const auto word = stream.next()) got.push_back(*word);
  CHECK(got == want);
  CHECK(seen == instructions);
  CHECK_FALSE(stream.next());
}

}  // namespace
}  // namespace bitcycle
