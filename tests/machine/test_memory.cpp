#include <catch2/catch.hpp>
#include <cstring>
#include <memory>

#include "model/machine/dram_timer.hpp"
#include "model/machine/memory.hpp"
#include "model/machine/memory_config.hpp"
#include "tests/machine/axi_master.hpp"
#include "tests/machine/simple_memory.hpp"

using namespace bitcycle;

namespace {

std::unique_ptr<MemoryTimer> bandwidth(std::uint64_t latency, std::uint64_t read_cost,
                                       std::uint64_t write_latency = 1,
                                       std::uint64_t write_cost = 256) {
  MemoryTiming t;
  t.latency = latency;
  t.read_cost = read_cost;
  t.write_latency = write_latency;
  t.write_cost = write_cost;
  return std::make_unique<BandwidthTimer>(t);
}

PlayedBurst burst(std::uint64_t address, unsigned beats, bool is_write = false,
                  std::uint64_t not_before = 0) {
  PlayedBurst b;
  b.address = address;
  b.beats = beats;
  b.is_write = is_write;
  b.not_before = not_before;
  if (is_write) b.data.assign(beats * 8, static_cast<std::uint8_t>(address + 1));
  return b;
}

using Cycles = std::vector<std::uint64_t>;

/// Contents after the bursts, whatever the timing: writes in order (no two overlap a read here).
std::vector<std::uint8_t> contents(const Memory& memory, std::uint64_t span) {
  std::vector<std::uint8_t> out(span);
  memory.dump(0, out.data(), span);
  return out;
}

}  // namespace

TEST_CASE("memory store: written bytes come back, the rest is a fixed hash") {
  MemoryStore a(7), b(7), c(8);
  std::vector<std::uint8_t> before(10000), after(10000), other(10000);
  a.read(4090, before.data(), before.size());
  c.read(4090, other.data(), other.size());
  CHECK(before != other);
  CHECK(a.pages() == 0);
  const std::uint8_t bytes[] = {1, 2, 3, 4, 5};
  a.write(4094, bytes, 5);  // across a page
  CHECK(a.pages() == 2);
  a.read(4090, after.data(), after.size());
  auto expected = before;
  std::copy(bytes, bytes + 5, expected.begin() + 4);
  CHECK(after == expected);
  b.read(4090, other.data(), other.size());
  CHECK(other == before);
  // 2^40 wraps; odd offsets and single bytes agree with long reads.
  std::uint8_t byte = 0;
  for (const std::size_t i : {0U, 1U, 7U, 100U, 5000U}) {
    b.read((std::uint64_t{1} << 40U) + 4090 + i, &byte, 1);
    CHECK(byte == before[i]);
  }
}

TEST_CASE("memory: a read by hand") {
  // AR in cycle 0, latency 5: arrival 5. A cost of 1.5 cycles: 5, 6.5, 8, 9.5 -> 5, 7, 8, 10. The
  // second burst (AR in 1) waits for the server: 11, 12.5 -> 11, 13.
  Memory memory(64, bandwidth(5, 384));
  std::vector<PlayedBurst> b = {burst(0, 4), burst(4096, 2)};
  REQUIRE(play(memory, 64, b) == 14);
  CHECK(b[0].accepted == 0);
  CHECK(b[0].beat_at == Cycles{5, 7, 8, 10});
  CHECK(b[1].accepted == 1);
  CHECK(b[1].beat_at == Cycles{11, 13});
  CHECK(memory.traffic().read_beats == 6);
  CHECK(memory.violation().empty());
}

TEST_CASE("memory: an idle server waits for the latency again") {
  Memory memory(64, bandwidth(5, 256));
  std::vector<PlayedBurst> b = {burst(0, 2), burst(64, 1, false, 20)};
  REQUIRE(play(memory, 64, b) == 26);
  CHECK(b[0].beat_at == Cycles{5, 6});
  CHECK(b[1].beat_at == Cycles{25});
}

TEST_CASE("memory: a write by hand") {
  // AW in 0, beats offered from 1. Cost 1.5: taken in 1, free = 0*256+1+384 = 385 -> 2 (512);
  // max(385, 257)+384 = 769 -> 4 (1024); max(769, 769)+384 = 1153 -> 5. Answer 3 later.
  Memory memory(64, bandwidth(1, 256, 3, 384));
  std::vector<PlayedBurst> b = {burst(0, 4, true), burst(32, 1, true)};
  REQUIRE(play(memory, 64, b) == 11);
  CHECK(b[0].accepted == 0);
  CHECK(b[0].beat_at == Cycles{1, 2, 4, 5});
  CHECK(b[0].answered == 8);
  CHECK(b[1].beat_at == Cycles{7});
  CHECK(b[1].answered == 10);
}

TEST_CASE("memory: long runs keep fractional rates") {
  // 1.25 cycles a beat: 1024 beats take 1280 cycles, reading and writing.
  for (const bool is_write : {false, true}) {
    Memory memory(64, bandwidth(1, 320, 1, 320));
    std::vector<PlayedBurst> b;
    for (unsigned i = 0; i < 16; ++i) b.push_back(burst(i * 512ULL, 64, is_write));
    const auto cycles = play(memory, 64, b);
    INFO("write " << is_write);
    CHECK(cycles >= 1280);
    CHECK(cycles <= 1284);
  }
}

TEST_CASE("memory: equals the plain model of the recurrence in every cycle") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    MemoryTiming t;
    t.latency = 1 + seed * 7 % 50;
    t.write_latency = 1 + seed * 3 % 20;
    t.read_cost = 256 + seed * 97 % 700;
    t.write_cost = 256 + seed * 61 % 700;
    auto a = random_bursts(seed, 64, 200, 1 << 16, 32, 40, seed % 3 * 30);
    auto b = a;
    Memory memory(64, std::make_unique<BandwidthTimer>(t));
    SimpleMemory plain(64, 1 << 16, t);
    std::vector<std::uint8_t> start(1 << 16);
    memory.dump(0, start.data(), start.size());
    plain.load(0, start.data(), start.size());
    const auto cycles = play(memory, 64, a);
    REQUIRE(cycles == play(plain, 64, b));
    REQUIRE(cycles != 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      REQUIRE(a[i].beat_at == b[i].beat_at);
      REQUIRE(a[i].answered == b[i].answered);
      REQUIRE(a[i].data == b[i].data);
    }
    CHECK(memory.violation().empty());
  }
}

TEST_CASE("memory: more bandwidth or less latency never costs cycles") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::uint64_t before = 0;
    for (const std::uint64_t cost : {256U, 257U, 300U, 384U, 511U, 1024U, 5000U}) {
      Memory memory(64, bandwidth(20, cost, 20, cost));
      auto b = random_bursts(seed, 64, 100, 1 << 16, 16, 50, 40);
      const auto cycles = play(memory, 64, b);
      INFO("seed " << seed << " cost " << cost);
      CHECK(cycles >= before);
      before = cycles;
    }
    before = 0;
    for (const std::uint64_t latency : {1U, 2U, 10U, 100U, 500U}) {
      Memory memory(64, bandwidth(latency, 300, latency, 300));
      auto b = random_bursts(seed, 64, 100, 1 << 16, 16, 50, 40);
      const auto cycles = play(memory, 64, b);
      INFO("seed " << seed << " latency " << latency);
      CHECK(cycles >= before);
      before = cycles;
    }
  }
}

TEST_CASE("memory: random stalls change cycles within the bound, never data") {
  std::uint64_t slowed = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    // Writes above, reads below: what is read does not depend on the order of both streams.
    const auto make = [&] {
      auto b = random_bursts(seed, 64, 150, 1 << 15, 16, 50, 20);
      for (auto& x : b) {
        if (x.is_write) x.address += 1 << 15;
      }
      return b;
    };
    auto plain = make(), stalled = make();
    Memory a(64, bandwidth(7, 300, 9, 280), 3), b(64, bandwidth(7, 300, 9, 280), 3);
    StallSpec spec;
    spec.seed = seed;
    spec.ar = spec.r = spec.aw = spec.w = spec.b = 0.1 * static_cast<double>(seed % 10);
    if (seed % 5 == 0) spec.ar = spec.b = 0;
    b.stall(spec);
    const auto free = play(a, 64, plain);
    const auto slow = play(b, 64, stalled);
    REQUIRE(free != 0);
    REQUIRE(slow >= free);
    CHECK(slow <= free + b.withheld());
    CHECK(a.withheld() == 0);
    slowed += slow > free ? 1 : 0;
    for (std::size_t i = 0; i < plain.size(); ++i) REQUIRE(plain[i].data == stalled[i].data);
    CHECK(contents(a, 1 << 16) == contents(b, 1 << 16));
    CHECK(b.violation().empty());
  }
  CHECK(slowed > 20);
}

TEST_CASE("memory: a stalled valid stands once it is up") {
  StallSpec spec;
  spec.r = 0.5;
  Memory memory(64, bandwidth(1, 256));
  memory.stall(spec);
  AxiReadReq req;
  req.arvalid = true;
  req.arlen = 15;
  memory.step(req, {});
  req = {};
  bool stood = false;
  std::uint64_t data = 0;
  unsigned taken = 0;
  for (int cycle = 0; taken < 16; ++cycle) {
    REQUIRE(cycle < 1000);
    const auto r = memory.read();
    if (stood) {
      REQUIRE(r.rvalid);
      REQUIRE(*r.rdata == data);
    }
    if (r.rvalid) data = *r.rdata;
    req.rready = cycle % 3 == 0;
    stood = r.rvalid && !req.rready;
    taken += r.rvalid && req.rready ? 1 : 0;
    memory.step(req, {});
  }
  CHECK(memory.idle());
}

TEST_CASE("memory: faults by address and by burst") {
  Memory memory(64, bandwidth(1, 256), 1);
  std::vector<std::uint8_t> before(4096);
  memory.dump(0, before.data(), 4096);
  MemoryFault range;
  range.first = 64;
  range.last = 71;
  range.response = kAxiDecErr;
  memory.inject(range);
  MemoryFault second;
  second.reads = false;
  second.burst = 1;
  memory.inject(second);
  std::vector<PlayedBurst> b = {burst(0, 8),        burst(32, 8),        burst(72, 1),
                                burst(48, 4, true), burst(256, 2, true), burst(512, 1, true)};
  REQUIRE(play(memory, 64, b) != 0);
  CHECK(b[0].response == kAxiOkay);  // ends at 63
  CHECK(b[1].response == kAxiDecErr);
  CHECK(std::all_of(b[1].data.begin() + 32, b[1].data.begin() + 40, [](int x) { return x == 0; }));
  CHECK(b[2].response == kAxiOkay);
  CHECK(b[3].response == kAxiDecErr);  // one beat of four
  CHECK(b[4].response == kAxiSlvErr);  // the second write burst
  CHECK(b[5].response == kAxiOkay);
  std::vector<std::uint8_t> after(4096);
  memory.dump(0, after.data(), 4096);
  auto expected = before;
  for (const int i : {48, 56, 72}) std::fill_n(expected.begin() + i, 8, std::uint8_t{49});
  std::fill_n(expected.begin() + 512, 8, std::uint8_t{1});
  CHECK(after == expected);
}

TEST_CASE("memory: names what the master does wrong") {
  const auto violation = [](auto&& act) {
    Memory memory(64, bandwidth(1, 256));
    StallSpec never;
    never.ar = 0.99;  // the first handshake is withheld
    memory.stall(never);
    act(memory);
    return memory.violation();
  };
  AxiReadReq read;
  read.arvalid = true;
  read.araddr = 4088;
  CHECK(violation([&](Memory& m) { m.step(read, {}); }).empty());
  read.arlen = 1;
  CHECK_THAT(violation([&](Memory& m) { m.step(read, {}); }), Catch::Contains("cross 4 KB"));
  read.arlen = 0;
  CHECK_THAT(violation([&](Memory& m) {
               m.step(read, {});
               m.step({}, {});
             }),
             Catch::Contains("AR: valid fell"));
  CHECK_THAT(violation([&](Memory& m) {
               m.step(read, {});
               AxiReadReq other = read;
               other.araddr = 0;
               m.step(other, {});
             }),
             Catch::Contains("AR: payload changed"));
  read.araddr = 4;
  CHECK_THAT(violation([&](Memory& m) { m.step(read, {}); }),
             Catch::Contains("not that of a beat"));
  CHECK_THAT(violation([&](Memory& m) {
               AxiWriteReq w;
               w.awvalid = true;
               w.awlen = 1;
               m.step({}, w);
               const std::uint64_t data = 0;
               w = {};
               w.wvalid = w.wlast = true;  // of two
               w.wdata = &data;
               m.step({}, w);
             }),
             Catch::Contains("W: last"));
}

TEST_CASE("memory: bad settings are refused") {
  Memory memory(64, bandwidth(1, 256));
  StallSpec spec;
  spec.w = 1;
  CHECK_THROWS_WITH(memory.stall(spec), Catch::Contains("stall probability of w"));
  CHECK_THROWS_WITH(Memory(48, bandwidth(1, 256)), Catch::Contains("dw"));
}
