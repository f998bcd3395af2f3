#include <catch2/catch.hpp>

#include "model/machine/timed.hpp"
#include "sim/machine_systemc.hpp"
#include "tests/machine/random_program.hpp"
#include "tests/machine/simple_memory.hpp"

namespace bitcycle {

TEST_CASE("machine: under the SystemC kernel it takes the formula's cycles") {
  const MachineConfig config = machine_for(resolve_array("ci-1x1-s4"));
  MemoryTiming timing;
  timing.latency = 23;
  timing.write_latency = 9;
  timing.read_cost = 512;
  SimpleMemory memory(config.dw, 1 << 18, timing);
  const auto program = RandomProgram(config, 5).make(40);
  std::vector<std::uint64_t> words;
  Recurrence formula(config, timing);
  for (const Instruction& i : program) {
    const auto w = encode(i);
    words.insert(words.end(), w.begin(), w.end());
    formula.add(timed(i, config));
  }
  MachineCore core(config);
  WordList list(words);
  SystemcBench bench(config, core, memory);
  const MachineRun run = bench.run(list, 10'000'000);
  CHECK_FALSE(run.timed_out);
  CHECK(run.cycles == formula.cycles());
  CHECK(run.read_beats == formula.read_beats);
  CHECK(run.write_beats == formula.write_beats);
  for (int e = 0; e < kEngines; ++e) {
    const EngineCycles& got = run.engines[static_cast<std::size_t>(e)];
    CHECK(got.run == formula.engine(static_cast<MachineEngine>(e)).run);
    CHECK(got.total() == run.cycles);
  }
  // The kernel goes on where it paused.
  WordList again(words);
  const MachineRun second = bench.run(again, 10'000'000);
  // (tokens that the first run left over make waits shorter)
  CHECK_FALSE(second.timed_out);
  CHECK(second.cycles <= run.cycles);
  CHECK(second.read_beats == run.read_beats);
  CHECK(second.write_beats == run.write_beats);
}

}  // namespace bitcycle
