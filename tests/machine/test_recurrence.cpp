#include <catch2/catch.hpp>
#include <random>

#include "golden/error.hpp"
#include "model/machine/recurrence.hpp"

namespace bitcycle {
namespace {

MachineConfig small_machine() {
  for (const ArrayConfig& a : ci_configs()) {
    if (a.name == "ci-1x1-s4") return machine_for(a);
  }
  throw std::logic_error("no ci-1x1-s4");
}

TimedInstruction fetch(std::uint64_t address, std::uint32_t beats) {
  TimedInstruction t;
  t.engine = MachineEngine::kFetch;
  t.transfer.address = address;
  t.transfer.line_beats = beats;
  return t;
}

TimedInstruction exec(std::uint64_t cycles) {
  TimedInstruction t;
  t.engine = MachineEngine::kExec;
  t.array_cycles = cycles;
  return t;
}

// A double-buffered loop body: two fetches, an exec, a store, all chained by tokens.
std::vector<TimedInstruction> loop_body(std::mt19937_64& random) {
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return low + random() % (high - low + 1);
  };
  TimedInstruction a = fetch(pick(0, 100) * 8, static_cast<std::uint32_t>(pick(1, 90)));
  a.transfer.n0 = static_cast<std::uint32_t>(pick(1, 4));
  a.transfer.stride0 = static_cast<std::int64_t>(pick(0, 300));
  a.wait_out = 1;
  TimedInstruction w = fetch(pick(0, 100) * 8, static_cast<std::uint32_t>(pick(1, 60)));
  w.post_down = true;
  TimedInstruction e = exec(pick(1, 400));
  e.wait_in = 1;
  e.wait_out = 1;
  e.post_up = e.post_down = true;
  TimedInstruction s = fetch(pick(0, 100) * 8, static_cast<std::uint32_t>(pick(1, 60)));
  s.engine = MachineEngine::kStore;
  s.wait_in = 1;
  s.post_up = true;
  return {a, w, e, s};
}

// What makes the first tokens of a loop available: two free halves of each buffer.
void prime(Recurrence& r) {
  for (int i = 0; i < 2; ++i) {
    TimedInstruction e = exec(1);
    e.post_up = true;
    r.add(e);
    TimedInstruction s = fetch(0, 1);
    s.engine = MachineEngine::kStore;
    s.post_up = true;
    r.add(s);
  }
}

}  // namespace

TEST_CASE("recurrence: a lone fetch takes latency, beats and a start cycle") {
  MemoryTiming memory;
  memory.latency = 10;
  Recurrence r(small_machine(), memory);
  r.add(fetch(0, 5));
  REQUIRE(r.settled());
  // Words 0..5, pushed in 6, visible and started in 7, AR in 8, first beat in 18, last in 22.
  CHECK(r.last(MachineEngine::kFetch).pushed == 6);
  CHECK(r.last(MachineEngine::kFetch).start == 7);
  CHECK(r.last(MachineEngine::kFetch).done == 22);
  CHECK(r.cycles() == 23);
  CHECK(r.engine(MachineEngine::kFetch).run == 16);
  CHECK(r.engine(MachineEngine::kFetch).idle == 7);
  CHECK(r.engine(MachineEngine::kExec).idle == 23);
}

TEST_CASE("recurrence: an exec takes its array cycles, the set-up and the result pipeline") {
  const MachineConfig config = small_machine();
  Recurrence r(config, {});
  r.add(exec(100));
  // 27 words, pushed in 27, started in 28.
  CHECK(r.last(MachineEngine::kExec).start == 28);
  CHECK(r.last(MachineEngine::kExec).done == 28 + 100 + 4 + 4);
  r.add(exec(50));
  CHECK(r.last(MachineEngine::kExec).start == 28 + 100 + 4 + 4 + 1);
}

TEST_CASE("recurrence: bursts end at pages and at the longest burst") {
  Recurrence r(small_machine(), {});
  r.add(fetch(4096 - 3 * 8, 40));  // 3 + 16 + 16 + 5
  CHECK(r.read_bursts == 4);
  CHECK(r.read_beats == 40);
}

TEST_CASE("recurrence: a fractional rate is kept over many beats") {
  MemoryTiming memory;
  memory.read_cost = 384;  // a beat every 1.5 cycles
  memory.write_cost = 384;
  MachineConfig config = small_machine();
  Recurrence r(config, memory);
  TimedInstruction t = fetch(0, 1024);
  r.add(t);
  const auto f = r.last(MachineEngine::kFetch);
  CHECK(f.done - f.start >= 1023 * 3 / 2);
  CHECK(f.done - f.start <= 1023 * 3 / 2 + 4);
  t.engine = MachineEngine::kStore;
  r.add(t);
  const auto s = r.last(MachineEngine::kStore);
  CHECK(s.done - s.start >= 1023 * 3 / 2);
  CHECK(s.done - s.start <= 1023 * 3 / 2 + 8);
}

TEST_CASE("recurrence: a token nobody posts is named") {
  Recurrence r(small_machine(), {});
  TimedInstruction e = exec(5);
  e.wait_in = 1;
  r.add(e);
  CHECK_FALSE(r.settled());
  CHECK(r.stuck() == "exec instruction 0 waits for 1 tokens f2e");
  TimedInstruction f = fetch(0, 1);
  f.post_down = true;
  r.add(f);
  CHECK(r.settled());
  CHECK(r.stuck().empty());
}

TEST_CASE("recurrence: a repeated body gives what adding one by one gives") {
  const std::uint64_t seed = 20261130;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 60; ++trial) {
    CAPTURE(trial);
    MemoryTiming memory;
    memory.latency = 1 + random() % 60;
    memory.write_latency = 1 + random() % 20;
    memory.read_cost = 256 + 32 * (random() % 20);
    memory.write_cost = 256 + 32 * (random() % 20);
    MachineConfig config = small_machine();
    config.out = 1 << (random() % 4);
    config.qd = 1 << (random() % 4);
    const auto body = loop_body(random);
    const std::vector<std::int64_t> advance = {static_cast<std::int64_t>(random() % 3) * 2048, 0, 0,
                                               1024};
    const std::uint64_t times = 1 + random() % 400;
    Recurrence fast(config, memory);
    prime(fast);
    fast.repeat(body, times, advance);
    fast.repeat(body, times / 2);
    Recurrence slow(config, memory);
    std::vector<std::pair<MachineEngine, InstructionTimes>> trace;
    slow.trace = &trace;
    prime(slow);
    slow.repeat(body, times, advance);
    slow.repeat(body, times / 2);
    REQUIRE(slow.settled());
    REQUIRE(fast.settled());
    CHECK(fast.cycles() == slow.cycles());
    for (const MachineEngine e :
         {MachineEngine::kFetch, MachineEngine::kExec, MachineEngine::kStore}) {
      CHECK(fast.engine(e).idle == slow.engine(e).idle);
      CHECK(fast.engine(e).run == slow.engine(e).run);
      CHECK(fast.engine(e).wait_in == slow.engine(e).wait_in);
      CHECK(fast.engine(e).wait_out == slow.engine(e).wait_out);
      CHECK(fast.engine(e).total() == fast.cycles());
      CHECK(fast.count(e) == slow.count(e));
      CHECK(fast.last(e).done == slow.last(e).done);
    }
    CHECK(fast.read_bursts == slow.read_bursts);
    CHECK(fast.write_beats == slow.write_beats);
  }
}

}  // namespace bitcycle
