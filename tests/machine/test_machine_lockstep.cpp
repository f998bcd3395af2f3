#include <catch2/catch.hpp>
#include <random>

#include "model/machine/instruction.hpp"
#include "model/machine/timed.hpp"
#include "sim/machine_lockstep.hpp"
#include "sim/rtl_library.hpp"
#include "tests/machine/random_program.hpp"
#include "tests/machine/simple_memory.hpp"

namespace bitcycle {
namespace {

std::vector<std::uint64_t> words_of(const std::vector<Instruction>& program) {
  std::vector<std::uint64_t> out;
  for (const Instruction& i : program) {
    const auto words = encode(i);
    out.insert(out.end(), words.begin(), words.end());
  }
  return out;
}

void fill(AxiMemory& memory, std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> data(bytes / 8);
  for (auto& d : data) d = random();
  memory.load(0, data.data(), bytes);
}

MemoryTiming random_timing(std::mt19937_64& random) {
  MemoryTiming t;
  t.latency = 1 + random() % (random() % 3 == 0 ? 500 : 40);
  t.write_latency = 1 + random() % 60;
  t.read_cost = random() % 2 == 0 ? 256 : 256 + random() % 1500;
  t.write_cost = random() % 2 == 0 ? 256 : 256 + random() % 1500;
  return t;
}

// RTL, core and recurrence on random streams and memories.
void run_streams(const char* array, int streams, int length, std::uint64_t seed,
                 RtlFlavour flavour = RtlFlavour::kPlain) {
  constexpr std::size_t kBytes = 1 << 18;
  std::mt19937_64 random(seed);
  const MachineConfig config = machine_for(resolve_array(array));
  for (int s = 0; s < streams; ++s) {
    CAPTURE(array, seed, s);
    const MemoryTiming timing = random_timing(random);
    SimpleMemory memory(config.dw, kBytes, timing);
    fill(memory, kBytes, random());
    const auto program = RandomProgram(config, random()).make(length);
    LockstepMachine pair(config, make_rtl_machine(config, flavour, random()));
    MachineBench bench(config, pair, memory);
    WordList words(words_of(program));
    const MachineRun run =
        bench.run(words, 10'000'000, [&] { return pair.mismatch().has_value(); });
    pair.compare_memories();
    if (const auto& m = pair.mismatch()) {
      FAIL("cycle " << m->cycle << " " << m->signal << " RTL " << m->rtl << " model " << m->model);
    }
    REQUIRE_FALSE(run.timed_out);
    Recurrence formula(config, timing);
    for (const Instruction& i : program) formula.add(timed(i, config));
    REQUIRE(formula.stuck().empty());
    CHECK(formula.cycles() == run.cycles);
    for (int e = 0; e < kEngines; ++e) {
      CAPTURE(e);
      const EngineCycles want = formula.engine(static_cast<MachineEngine>(e));
      const EngineCycles& got = run.engines[static_cast<std::size_t>(e)];
      CHECK(got.run == want.run);
      CHECK(got.idle == want.idle);
      CHECK(got.wait_in == want.wait_in);
      CHECK(got.wait_out == want.wait_out);
      CHECK(got.total() == run.cycles);
    }
    CHECK(formula.read_beats == run.read_beats);
    CHECK(formula.read_bursts == run.read_bursts);
    CHECK(formula.write_beats == run.write_beats);
    CHECK(formula.write_bursts == run.write_bursts);
  }
}

}  // namespace

TEST_CASE("machine: RTL, core and formula agree on random streams, ci-1x1-s4") {
  run_streams("ci-1x1-s4", 8, 60, 1);
}

TEST_CASE("machine: RTL, core and formula agree on random streams, ci-4x4-s1") {
  run_streams("ci-4x4-s1", 8, 60, 2);
}

TEST_CASE("machine: RTL with clock gates, core and formula agree on random streams") {
  run_streams("ci-4x4-s1", 8, 60, 3, RtlFlavour::kGated);
}

}  // namespace bitcycle
