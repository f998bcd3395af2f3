// Random instruction streams: none deadlocks unless the formula says so, on any machine.
#include <catch2/catch.hpp>

#include "golden/error.hpp"
#include "model/machine/memory.hpp"
#include "model/machine/timed.hpp"
#include "sim/machine_lockstep.hpp"
#include "sim/rtl_library.hpp"
#include "tests/machine/random_program.hpp"

namespace bitcycle {
namespace {

std::uint64_t pick(std::mt19937_64& random, std::uint64_t low, std::uint64_t high) {
  return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
}

MemoryTiming random_timing(std::mt19937_64& random) {
  MemoryTiming t;
  t.latency = pick(random, 0, 3) == 0 ? pick(random, 1, 500) : pick(random, 1, 30);
  t.write_latency = pick(random, 1, 60);
  t.read_cost = pick(random, 0, 1) == 0 ? 256 : pick(random, 256, 900);
  t.write_cost = pick(random, 0, 1) == 0 ? 256 : pick(random, 256, 900);
  return t;
}

StallSpec random_stalls(std::mt19937_64& random) {
  StallSpec s;
  const auto chance = [&] {
    return pick(random, 0, 1) == 0 ? 0.0 : static_cast<double>(pick(random, 1, 60)) / 100;
  };
  s.ar = chance();
  s.r = chance();
  s.aw = chance();
  s.w = chance();
  s.b = chance();
  s.seed = random();
  return s;
}

// Short transfers, so that a stream is about its order.
std::vector<Instruction> short_stream(const MachineConfig& config, std::mt19937_64& random) {
  const auto length = static_cast<int>(pick(random, 1, 14));
  std::vector<Instruction> out = RandomProgram(config, random()).make(length);
  for (Instruction& i : out) {
    LineWalk* lines = nullptr;
    if (auto* f = std::get_if<FetchInstruction>(&i)) lines = &f->lines;
    if (auto* s = std::get_if<StoreInstruction>(&i)) lines = &s->lines;
    if (lines != nullptr) lines->line_beats = std::min<std::uint32_t>(lines->line_beats, 24);
  }
  return out;
}

// Takes a post away or asks for tokens that may never come.
void disturb(std::vector<Instruction>& program, std::mt19937_64& random) {
  Instruction& i = program[pick(random, 0, program.size() - 1)];
  const auto more = static_cast<std::uint32_t>(pick(random, 0, 2));
  if (auto* f = std::get_if<FetchInstruction>(&i)) {
    f->post_f2e = false;
    f->wait_e2f += more;
  } else if (auto* e = std::get_if<ExecInstruction>(&i)) {
    e->post_e2f = e->post_e2r = false;
    e->wait_f2e += more;
    e->wait_r2e += more / 2;
  } else if (auto* s = std::get_if<StoreInstruction>(&i)) {
    s->post_r2e = s->post_r2f = false;
    s->wait_e2r += more;
  }
}

std::vector<std::uint64_t> words_of(const std::vector<Instruction>& program) {
  std::vector<std::uint64_t> out;
  for (const Instruction& i : program) {
    const auto words = encode(i);
    out.insert(out.end(), words.begin(), words.end());
  }
  return out;
}

MachineConfig random_machine(std::mt19937_64& random) {
  constexpr const char* kArrays[] = {"ci-1x1-s4", "ci-4x4-s1", "ci-1x8-s1", "ci-2x2-s4"};
  MachineConfig c = machine_for(resolve_array(kArrays[pick(random, 0, 3)]));
  c.qd = 1 << pick(random, 0, 3);
  c.out = 1 << pick(random, 0, 3);
  c.burst = 1 << pick(random, 0, 6);
  return c;
}

struct Totals {
  std::uint64_t streams = 0, instructions = 0, cycles = 0, stalled = 0, stuck = 0;
};

enum class Tokens { kSound, kDisturbed };

// One stream on `machine`; `stop` ends a run that has gone wrong.
template <class Machine>
void run_stream(const MachineConfig& config, Machine& machine, Tokens tokens,
                std::mt19937_64& random, Totals& totals, const std::function<bool()>& stop) {
  const MemoryTiming timing = random_timing(random);
  std::vector<Instruction> program = short_stream(config, random);
  if (tokens == Tokens::kDisturbed) {
    for (int i = 0; i < 2; ++i) disturb(program, random);
  }
  Recurrence formula(config, timing);
  for (const Instruction& i : program) formula.add(timed(i, config));
  if (tokens == Tokens::kSound) REQUIRE(formula.settled());

  Memory memory(config.dw, std::make_unique<BandwidthTimer>(timing), random());
  const bool stalled = pick(random, 0, 1) == 1;
  if (stalled) memory.stall(random_stalls(random));
  MachineBench bench(config, machine, memory);
  WordList words(words_of(program));
  // A stream that stops is given far more than its work.
  const std::uint64_t most = formula.settled() ? 2'000'000 : 60'000;
  const MachineRun run = bench.run(words, most, stop);
  CAPTURE(formula.stuck());
  CHECK_FALSE(run.halted);
  CHECK(run.timed_out == !formula.settled());
  CHECK(memory.violation().empty());
  for (const EngineCycles& e : run.engines) CHECK(e.total() == run.cycles);
  if (formula.settled()) {
    CHECK(formula.cycles() <= run.cycles);
    CHECK(run.cycles <= formula.cycles() + run.withheld);
    if (!stalled) CHECK(run.cycles == formula.cycles());
    CHECK(memory.idle());
  }
  ++totals.streams;
  totals.instructions += program.size();
  totals.cycles += run.cycles;
  totals.stalled += stalled ? 1 : 0;
  totals.stuck += formula.settled() ? 0 : 1;
}

void on_core(int streams, Tokens tokens, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Totals totals;
  for (int s = 0; s < streams; ++s) {
    CAPTURE(seed, s);
    const MachineConfig config = random_machine(random);
    MachineCore core(config);
    run_stream(config, core, tokens, random, totals, {});
  }
  WARN("core alone: " << totals.streams << " streams, " << totals.instructions << " instructions, "
                      << totals.cycles << " cycles, " << totals.stalled << " on a stalling memory, "
                      << totals.stuck << " stopped as foretold");
  CHECK((totals.stuck > 0) == (tokens == Tokens::kDisturbed));
  CHECK(totals.stuck < totals.streams);
}

void on_rtl(const char* array, int streams, Tokens tokens, std::uint64_t seed) {
  const MachineConfig config = machine_for(resolve_array(array));
  std::mt19937_64 random(seed);
  Totals totals;
  std::unique_ptr<LockstepMachine> pair;
  for (int s = 0; s < streams; ++s) {
    CAPTURE(array, seed, s);
    // A machine that stops keeps its tokens; the next stream needs a new one.
    if (!pair || tokens == Tokens::kDisturbed || s % 10 == 0) {
      pair = std::make_unique<LockstepMachine>(
          config, make_rtl_machine(config, RtlFlavour::kPlain, random()));
    }
    // Streams leave tokens behind, which the formula of the next does not know.
    pair->reset();
    run_stream(config, *pair, tokens, random, totals, [&] { return pair->mismatch().has_value(); });
    pair->compare_memories();
    if (const auto& m = pair->mismatch()) {
      FAIL("cycle " << m->cycle << " " << m->signal << " RTL " << m->rtl << " model " << m->model);
    }
  }
  WARN("RTL in lockstep, " << array << ": " << totals.streams << " streams, " << totals.instructions
                           << " instructions, " << totals.cycles << " cycles, " << totals.stalled
                           << " on a stalling memory, " << totals.stuck << " stopped as foretold");
  CHECK((totals.stuck > 0) == (tokens == Tokens::kDisturbed));
}

}  // namespace

TEST_CASE("machine streams: 350 random streams end on random machines") {
  on_core(350, Tokens::kSound, 501);
}

TEST_CASE("machine streams: 150 random streams end on the RTL") {
  on_rtl("ci-4x4-s1", 100, Tokens::kSound, 502);
  on_rtl("ci-1x1-s4", 50, Tokens::kSound, 503);
}

TEST_CASE("machine streams: a stream stops exactly when the formula says so") {
  on_core(40, Tokens::kDisturbed, 504);
  on_rtl("ci-4x4-s1", 8, Tokens::kDisturbed, 505);
}

TEST_CASE("machine streams: 10000 random streams end", "[.full]") {
  on_core(9000, Tokens::kSound, 601);
  on_rtl("ci-4x4-s1", 600, Tokens::kSound, 602);
  on_rtl("ci-1x1-s4", 400, Tokens::kSound, 603);
  on_core(500, Tokens::kDisturbed, 604);
}

}  // namespace bitcycle
