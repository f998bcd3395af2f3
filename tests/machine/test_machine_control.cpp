// The whole machine, RTL and core in lockstep, when something goes wrong or the host steps in: it
// stops at an instruction's end with the right cause, a soft reset brings it back, and the next
// product is right.
#include <catch2/catch.hpp>
#include <random>

#include "golden/conv.hpp"
#include "golden/error.hpp"
#include "model/machine/compile.hpp"
#include "model/machine/conv_data.hpp"
#include "model/machine/instruction.hpp"
#include "model/machine/memory.hpp"
#include "sim/machine_lockstep.hpp"
#include "sim/rtl_library.hpp"
#include "tests/machine/random_program.hpp"

namespace bitcycle {
namespace {

using layout::MachineCause;

std::vector<std::uint64_t> words_of(const std::vector<Instruction>& program) {
  std::vector<std::uint64_t> out;
  for (const Instruction& i : program) {
    const auto words = encode(i);
    out.insert(out.end(), words.begin(), words.end());
  }
  return out;
}

void put(std::vector<std::uint64_t>& words, layout::Field field, std::uint64_t value) {
  put_bits(words.data(), static_cast<std::size_t>(field.bit), static_cast<std::size_t>(field.width),
           value);
}

std::uint32_t bits(std::uint32_t value, layout::Field field) {
  return static_cast<std::uint32_t>(
      get_bits(&value, static_cast<std::size_t>(field.bit), static_cast<std::size_t>(field.width)));
}

std::uint32_t bit(layout::Field field) {
  return std::uint32_t{1} << static_cast<unsigned>(field.bit);
}

constexpr std::uint64_t kFaults = 1 << 20;  // accesses from here on can be made to fail

struct Rig {
  explicit Rig(std::uint64_t seed, const char* array = "ci-1x1-s4")
      : config(machine_for(resolve_array(array))),
        memory(config.dw, std::make_unique<BandwidthTimer>(MemoryTiming{20, 10, 256, 300}), seed),
        pair(config, make_rtl_machine(config, RtlFlavour::kPlain, seed)),
        bench(config, pair, memory) {}

  MachineRun run(const std::vector<std::uint64_t>& words, std::uint64_t cycles = 1'000'000) {
    WordList list(words);
    const std::uint64_t end = bench.now() + cycles;
    const MachineRun result = bench.run(
        list, 1'000'000, [&] { return pair.mismatch().has_value() || bench.now() >= end; });
    same();
    return result;
  }
  // RTL and core are equal, and the bus has been treated well.
  void same() {
    pair.compare_memories();
    if (const auto& m = pair.mismatch()) {
      FAIL("cycle " << m->cycle << " " << m->signal << " RTL " << m->rtl << " model " << m->model);
    }
    CHECK(memory.violation().empty());
  }
  std::uint32_t status(layout::Field field) {
    return bits(bench.read_register(layout::kRegStatus), field);
  }
  void control(layout::Field action) {
    bench.write_register(layout::kRegControl, bit(layout::kRegControlEnable) | bit(action));
  }
  void wait(int cycles) {
    for (int i = 0; i < cycles; ++i) bench.cycle({});
  }
  std::uint64_t counter(std::uint16_t low) {
    return bench.read_register(low) |
           std::uint64_t{bench.read_register(static_cast<std::uint16_t>(low + 4))} << 32U;
  }

  void stopped_by(MachineCause cause, int engine) {
    const std::uint32_t error = bench.read_register(layout::kRegError);
    CHECK(bits(error, layout::kRegErrorCause) == static_cast<std::uint32_t>(cause));
    CHECK(bits(error, layout::kRegErrorEngine) == static_cast<std::uint32_t>(engine));
    CHECK(status(layout::kRegStatusHalted) == 1);
    CHECK(bits(bench.read_register(layout::kRegIrqStatus), layout::kRegIrqStatusError) == 1);
  }

  // After it nothing of the past is left.
  void soft_reset() {
    control(layout::kRegControlSoftReset);
    int waits = 0;
    while (status(layout::kRegStatusSoftPending) != 0) REQUIRE(++waits < 5000);
    CHECK(memory.idle());
    wait(3);
    CHECK(status(layout::kRegStatusHalt) == 0);
    CHECK(status(layout::kRegStatusIdle) == 1);
    CHECK(status(layout::kRegStatusQueueFull) == 0);
    CHECK(bench.read_register(layout::kRegError) == 0);
    for (std::uint16_t token = layout::kRegF2e; token <= layout::kRegR2f; token += 4) {
      CHECK(bench.read_register(token) == 0);
    }
    control(layout::kRegControlSnapshot);
    CHECK(counter(layout::kRegFetchRunLow) == 0);
    CHECK(counter(layout::kRegExecRunLow) == 0);
    CHECK(counter(layout::kRegStoreRunLow) == 0);
    CHECK(counter(layout::kRegFetchIdleLow) == counter(layout::kRegCyclesLow));
    same();
  }

  // A convolution behind a memory of its own equals golden.
  void product_is_right(std::uint64_t seed) {
    ConvJob job;
    job.shape.cin = 9;
    job.shape.hi = job.shape.wi = 4;
    job.shape.cout = 5;
    job.shape.kh = job.shape.kw = 3;
    job.shape.pad_top = job.shape.pad_bottom = job.shape.pad_left = job.shape.pad_right = 1;
    job.first = {3, false};
    job.second = {2, false};
    job.out.sums = true;
    std::mt19937_64 random(seed);
    std::vector<std::int32_t> x(job.shape.x_size()), w(job.shape.w_size());
    for (auto& code : x) code = static_cast<std::int32_t>(random() % 8);
    for (auto& code : w) code = static_cast<std::int32_t>(random() % 4);
    Plan plan = compile(GemmProblem(config, job), {}).plan;
    DramAllocator allocator(4096);
    const std::uint64_t first = allocator.allocate(plan.problem().first.bytes());
    const std::uint64_t second = allocator.allocate(plan.problem().second.bytes());
    plan.set_addresses(first, second, allocator.allocate(plan.result_bytes()));
    std::vector<Instruction> program;
    plan.emit([&](const Instruction& i, const InstructionInfo&) { program.push_back(i); });
    std::vector<std::uint8_t> dram(allocator.end());
    pack_conv(plan, x, w, dram);
    Memory own(config.dw, std::make_unique<BandwidthTimer>(MemoryTiming{30, 20, 256, 256}));
    own.load(0, dram.data(), dram.size());
    MachineBench own_bench(config, pair, own);
    WordList words(words_of(program));
    const MachineRun run =
        own_bench.run(words, 1'000'000, [&] { return pair.mismatch().has_value(); });
    same();
    CHECK_FALSE(run.halted);
    CHECK_FALSE(run.timed_out);
    CHECK(own.violation().empty());
    own.dump(0, dram.data(), dram.size());
    const ConvSums found = unpack_conv(plan, dram);
    const ConvSums want = golden_conv(job.pass, job.shape, x, w);
    CHECK(found.value == want.value);
    CHECK(found.sum_a == want.sum_a);
    CHECK(found.sum_w == want.sum_w);
  }

  MachineConfig config;
  Memory memory;
  LockstepMachine pair;
  MachineBench bench;
};

FetchInstruction fetch_lines(std::uint64_t address, std::uint32_t beats, std::uint32_t lines) {
  FetchInstruction f;
  f.lines.dram = address;
  f.lines.line_beats = beats;
  f.lines.n0 = lines;
  f.lines.stride0 = static_cast<std::int32_t>(beats) + 3;
  f.post_f2e = true;
  return f;
}

StoreInstruction store_lines(std::uint64_t address, std::uint32_t beats, std::uint32_t lines) {
  StoreInstruction s;
  s.lines.dram = address;
  s.lines.line_beats = beats;
  s.lines.n0 = lines;
  s.lines.stride0 = static_cast<std::int32_t>(beats) + 3;
  s.post_r2e = s.post_r2f = true;
  return s;
}

ExecInstruction legal_exec(const MachineConfig& config) {
  for (std::uint64_t seed = 1;; ++seed) {
    for (const Instruction& i : RandomProgram(config, seed).make(10)) {
      const auto* e = std::get_if<ExecInstruction>(&i);
      if (e == nullptr || e->out.raw || e->ps_write || e->ps_read) continue;
      ExecInstruction out = *e;
      out.wait_f2e = out.wait_r2e = 0;
      out.post_e2f = out.post_e2r = true;
      return out;
    }
  }
}

}  // namespace

TEST_CASE("control: a bus error stops the machine at the instruction's end, nothing is posted") {
  Rig rig(1);
  for (const std::uint8_t response : {kAxiSlvErr, kAxiDecErr}) {
    for (const bool reads : {true, false}) {
      CAPTURE(int{response}, reads);
      const std::uint64_t base = kFaults + (response * 2U + (reads ? 1U : 0U)) * 65536U;
      MemoryFault fault;
      fault.first = base + 700;  // in the middle of the transfer
      fault.last = base + 720;
      fault.response = response;
      rig.memory.inject(fault);
      std::vector<Instruction> program;
      const std::uint32_t beats = 40, lines = 5;
      if (reads) {
        program.emplace_back(fetch_lines(base, beats, lines));
        ExecInstruction e = legal_exec(rig.config);
        e.wait_f2e = 1;
        program.emplace_back(e);
      } else {
        program.emplace_back(store_lines(base, beats, lines));
        FetchInstruction f = fetch_lines(0, 4, 1);
        f.wait_r2f = 1;
        program.emplace_back(f);
      }
      const MachineRun run = rig.run(words_of(program));
      CHECK(run.halted);
      // The whole transfer has been done.
      CHECK((reads ? run.read_beats : run.write_beats) == beats * lines);
      rig.stopped_by(response == kAxiSlvErr ? MachineCause::kSlverr : MachineCause::kDecerr,
                     reads ? kFetchEngine : kStoreEngine);
      for (std::uint16_t token = layout::kRegF2e; token <= layout::kRegR2f; token += 4) {
        CHECK(rig.bench.read_register(token) == 0);
      }
      CHECK(run.engines[reads ? kExecEngine : kFetchEngine].run == 0);
      rig.soft_reset();
      rig.product_is_right(response);
    }
  }
}

TEST_CASE("control: an illegal instruction is dropped with its cause, what came before has ended") {
  Rig rig(2);
  const MachineConfig& c = rig.config;
  struct Case {
    const char* what;
    std::vector<std::uint64_t> words;
    MachineCause cause;
    int engine;
  };
  std::vector<Case> cases;
  const auto add = [&](const char* what, const Instruction& legal, layout::Field field,
                       std::uint64_t value, MachineCause cause, int engine) {
    auto words = encode(legal);
    put(words, field, value);
    cases.push_back({what, words, cause, engine});
  };
  const Instruction fetch = fetch_lines(64, 3, 2);
  const Instruction store = store_lines(64, 3, 2);
  const Instruction exec = legal_exec(c);
  cases.push_back({"header 3", {3}, MachineCause::kHeader, 3});
  add("fetch of empty lines", fetch, layout::kFetchLineBeats, 0, MachineCause::kCountZero, 0);
  add("fetch n0", fetch, layout::kFetchN0, 0, MachineCause::kCountZero, 0);
  add("fetch n1", fetch, layout::kFetchN1, 0, MachineCause::kCountZero, 0);
  add("fetch n2", fetch, layout::kFetchN2, 0, MachineCause::kCountZero, 0);
  add("fetch inside a beat", fetch, layout::kFetchDram, 4, MachineCause::kUnaligned, 0);
  add("store n1", store, layout::kStoreN1, 0, MachineCause::kCountZero, 2);
  add("store inside a beat", store, layout::kStoreDram, 1, MachineCause::kUnaligned, 2);
  add("m", exec, layout::kExecM, 0, MachineCause::kDimZero, 1);
  add("k", exec, layout::kExecK, 0, MachineCause::kDimZero, 1);
  add("pa", exec, layout::kExecPa, 0, MachineCause::kWidthZero, 1);
  add("pw", exec, layout::kExecPw, 17, MachineCause::kWidthOver, 1);
  add("out_bits", exec, layout::kExecOutBits, 0, MachineCause::kOutBits, 1);
  add("or0", exec, layout::kExecOr0, 0, MachineCause::kRadix, 1);
  for (const Case& each : cases) {
    CAPTURE(each.what);
    std::vector<std::uint64_t> words = words_of({fetch, store});
    words.insert(words.end(), each.words.begin(), each.words.end());
    const std::vector<std::uint64_t> after = words_of({fetch, exec, store});
    words.insert(words.end(), after.begin(), after.end());
    const MachineRun run = rig.run(words);
    CHECK(run.halted);
    rig.stopped_by(each.cause, each.engine);
    // Of the instructions before it none is cut off: whole transfers only.
    CHECK(run.read_beats % 6 == 0);
    CHECK(run.write_beats % 6 == 0);
    rig.soft_reset();
  }
  rig.product_is_right(2);
}

TEST_CASE("control: a soft reset in mid-run waits for the bus; the next product is right") {
  std::mt19937_64 random(3);
  Rig rig(3);
  StallSpec stalls;
  stalls.ar = stalls.r = stalls.aw = stalls.w = stalls.b = 0.3;
  rig.memory.stall(stalls);
  for (int round = 0; round < 12; ++round) {
    const auto program = RandomProgram(rig.config, random()).make(40);
    const std::uint64_t cycles = 50 + random() % 3000;
    CAPTURE(round, cycles);
    rig.run(words_of(program), cycles);
    rig.soft_reset();
    rig.product_is_right(random());
  }
}

// The external reset takes the memory's side of the bus with it.
TEST_CASE("control: an external reset in the middle of bursts; the next product is right") {
  std::mt19937_64 random(8);
  Rig rig(8);
  int reading = 0, writing = 0;
  for (int round = 0; round < 12; ++round) {
    // Reads under way in one half of the rounds, writes in the other.
    const bool write = round % 2 != 0;
    const std::vector<Instruction> program = {write ? Instruction(store_lines(0x400, 16, 8))
                                                    : Instruction(fetch_lines(0, 16, 8))};
    const std::uint64_t before = rig.memory.traffic().read_beats + rig.memory.traffic().write_beats;
    rig.run(words_of(program), 45 + random() % 60);
    CAPTURE(round, write);
    CHECK(rig.memory.traffic().read_beats + rig.memory.traffic().write_beats > before);
    CHECK_FALSE(rig.memory.idle());
    (write ? writing : reading) += rig.memory.idle() ? 0 : 1;
    rig.memory.abandon();
    rig.pair.reset();
    CHECK_FALSE(rig.pair.ports().read.arvalid);
    CHECK_FALSE(rig.pair.ports().read.rready);
    CHECK_FALSE(rig.pair.ports().write.awvalid);
    CHECK_FALSE(rig.pair.ports().write.wvalid);
    CHECK(rig.status(layout::kRegStatusIdle) == 1);
    CHECK(rig.bench.read_register(layout::kRegError) == 0);
    for (std::uint16_t token = layout::kRegF2e; token <= layout::kRegR2f; token += 4) {
      CHECK(rig.bench.read_register(token) == 0);
    }
    rig.product_is_right(random());
  }
  CHECK(reading == 6);
  CHECK(writing == 6);
}

TEST_CASE(
    "control: a host that hangs in mid-instruction starts nothing, and a soft reset ends it") {
  Rig rig(9);
  std::vector<std::uint64_t> words = words_of({fetch_lines(0, 4, 2)});
  words.resize(3);  // half of it
  const MachineRun run = rig.run(words, 2000);
  CHECK_FALSE(run.halted);
  CHECK(run.cycles == 2000);
  CHECK(rig.status(layout::kRegStatusDispatchBusy) == 1);
  CHECK(rig.status(layout::kRegStatusIdle) == 0);
  for (const EngineCycles& e : run.engines) CHECK(e.idle == run.cycles);
  CHECK(rig.memory.traffic().read_bursts == 0);
  // No engine waits for anything: this is none of the watchdog's business.
  rig.bench.write_register(layout::kRegWatchdog, 100);
  rig.wait(500);
  CHECK(rig.bench.read_register(layout::kRegError) == 0);
  rig.soft_reset();
  rig.product_is_right(9);
}

TEST_CASE("control: a host that does not take its answer gets it whenever it comes back") {
  Rig rig(10);
  AxiLiteReq read;
  read.arvalid = true;
  read.araddr = layout::kRegId;
  while (!rig.pair.ports().lite.arready) rig.bench.cycle({});
  rig.bench.cycle(read);
  rig.wait(300);  // not ready all the time, work goes on
  CHECK(rig.pair.ports().lite.rvalid);
  CHECK(rig.pair.ports().lite.rdata == 0x42435943);
  const MachineRun run = rig.run(words_of({fetch_lines(0, 4, 2)}));
  CHECK_FALSE(run.timed_out);
  CHECK(rig.pair.ports().lite.rvalid);
  CHECK(rig.pair.ports().lite.rdata == 0x42435943);
  AxiLiteReq take;
  take.rready = true;
  rig.bench.cycle(take);
  CHECK_FALSE(rig.pair.ports().lite.rvalid);
  CHECK(rig.bench.read_register(layout::kRegId) == 0x42435943);
}

// Takes requests and never answers.
class DeadMemory final : public AxiMemory {
 public:
  AxiReadResp read() const override {
    AxiReadResp out;
    out.arready = true;
    return out;
  }
  AxiWriteResp write() const override {
    AxiWriteResp out;
    out.awready = out.wready = true;
    return out;
  }
  void step(const AxiReadReq&, const AxiWriteReq&) override {}
  void load(std::uint64_t, const void*, std::size_t) override {}
  void dump(std::uint64_t, void*, std::size_t) const override {}
  std::uint64_t withheld() const override { return 0; }
};

TEST_CASE("control: a soft reset on a memory that never answers waits, and the watchdog says so") {
  for (const bool write : {false, true}) {
    Rig rig(write ? 12 : 11);
    DeadMemory dead;
    MachineBench bench(rig.config, rig.pair, dead);
    bench.write_register(layout::kRegWatchdog, 300);
    bench.write_register(layout::kRegIrqEnable, bit(layout::kRegIrqEnableWatchdog));
    WordList words(
        words_of({write ? Instruction(store_lines(0, 4, 2)) : Instruction(fetch_lines(0, 4, 2))}));
    const std::uint64_t start = bench.now();
    bench.run(words, 1000, [&] { return bench.now() > start + 40; });
    bench.write_register(layout::kRegControl,
                         bit(layout::kRegControlEnable) | bit(layout::kRegControlSoftReset));
    CHECK_FALSE(rig.pair.ports().irq);
    for (int i = 0; i < 1000; ++i) bench.cycle({});
    // It cannot end: the bus owes an answer. The host learns why and resets from outside.
    const std::uint32_t status = bench.read_register(layout::kRegStatus);
    CHECK(bits(status, layout::kRegStatusSoftPending) == 1);
    CHECK(rig.pair.ports().irq);
    CHECK(bits(bench.read_register(layout::kRegError), layout::kRegErrorCause) ==
          static_cast<std::uint32_t>(MachineCause::kWatchdog));
    rig.pair.reset();
    CHECK_FALSE(rig.pair.ports().irq);
    rig.product_is_right(11);
  }
}

TEST_CASE("control: the watchdog ends a wait for a token that never comes") {
  Rig rig(4);
  FetchInstruction f = fetch_lines(0, 4, 2);
  f.wait_r2f = 1;
  rig.bench.write_register(layout::kRegWatchdog, 200);
  rig.bench.write_register(layout::kRegIrqEnable, bit(layout::kRegIrqEnableWatchdog));
  CHECK_FALSE(rig.pair.ports().irq);
  const MachineRun run = rig.run(words_of({f}));
  CHECK(run.halted);
  CHECK(run.cycles >= 200);
  CHECK(run.cycles < 220);
  CHECK(run.engines[kFetchEngine].wait_in >= 199);
  CHECK(rig.pair.ports().irq);
  rig.stopped_by(MachineCause::kWatchdog, 3);
  rig.bench.write_register(layout::kRegIrqStatus, 7);
  CHECK_FALSE(rig.pair.ports().irq);
  rig.soft_reset();
  // Work that moves on, with pauses shorter than the limit, is let alone.
  rig.product_is_right(4);
  CHECK(rig.bench.read_register(layout::kRegError) == 0);
  // A configuration register outlives the soft reset.
  CHECK(rig.bench.read_register(layout::kRegWatchdog) == 200);
}

TEST_CASE("control: instructions pushed through registers; done interrupt; counters add up") {
  Rig rig(5);
  rig.bench.write_register(layout::kRegIrqEnable, bit(layout::kRegIrqEnableDone));
  const auto push = [&](std::uint64_t word) {
    rig.bench.write_register(layout::kRegInstLo, static_cast<std::uint32_t>(word));
    rig.bench.write_register(layout::kRegInstHi, static_cast<std::uint32_t>(word >> 32U));
  };
  const MemoryTraffic before = rig.memory.traffic();
  FetchInstruction f = fetch_lines(4096, 30, 3);
  StoreInstruction s = store_lines(65536, 20, 2);
  for (const std::uint64_t word : words_of({f, s, legal_exec(rig.config)})) push(word);
  rig.wait(2000);
  CHECK(rig.pair.ports().irq);
  CHECK(rig.status(layout::kRegStatusIdle) == 1);
  CHECK(rig.memory.traffic().read_beats - before.read_beats == 90);
  CHECK(rig.memory.traffic().write_beats - before.write_beats == 40);
  CHECK(rig.bench.read_register(layout::kRegF2e) == 1);
  CHECK(rig.bench.read_register(layout::kRegR2f) == 1);
  CHECK(rig.bench.read_register(layout::kRegE2r) == 1);
  rig.bench.write_register(layout::kRegIrqStatus, bit(layout::kRegIrqStatusDone));
  CHECK_FALSE(rig.pair.ports().irq);

  rig.control(layout::kRegControlSnapshot);
  const std::uint64_t cycles = rig.counter(layout::kRegCyclesLow);
  CHECK(cycles > 2000);
  for (int e = 0; e < kEngines; ++e) {
    std::uint64_t sum = 0;
    for (int i = 0; i < 4; ++i) {
      sum += rig.counter(static_cast<std::uint16_t>(layout::kRegFetchIdleLow + e * 32 + i * 8));
    }
    CHECK(sum == cycles);
  }
  // The snapshot stands; a clearing starts all counters anew.
  CHECK(rig.counter(layout::kRegCyclesLow) == cycles);
  rig.control(layout::kRegControlClearCounters);
  rig.control(layout::kRegControlSnapshot);
  CHECK(rig.counter(layout::kRegCyclesLow) < 20);
  CHECK(rig.counter(layout::kRegFetchRunLow) == 0);

  // Full queues refuse a push at the register, not on the bus.
  f.wait_e2f = 255;
  bool refused = false;
  for (int i = 0; i < rig.config.qd + 2 && !refused; ++i) {
    for (const std::uint64_t word : words_of({f})) {
      rig.wait(4);
      if (rig.status(layout::kRegStatusPushReady) == 0) {
        CHECK_THROWS_AS(push(word), InputError);
        refused = true;
        break;
      }
      push(word);
    }
  }
  CHECK(refused);
  CHECK(bits(rig.status(layout::kRegStatusQueueFull), {0, 1, false}) == 1);
  rig.soft_reset();
  rig.product_is_right(5);
}

TEST_CASE("control: disabled, the machine starts nothing and counts nothing") {
  Rig rig(6);
  rig.bench.write_register(layout::kRegControl, 0);
  const MachineRun run = rig.run(words_of({fetch_lines(0, 4, 2)}), 500);
  CHECK(run.read_bursts == 0);
  CHECK(run.engines[kFetchEngine].total() == 0);
  rig.bench.write_register(layout::kRegControl, bit(layout::kRegControlEnable));
  rig.wait(100);
  CHECK(rig.status(layout::kRegStatusIdle) == 1);
  CHECK(rig.bench.read_register(layout::kRegF2e) == 1);
  rig.soft_reset();
  rig.product_is_right(6);
}

}  // namespace bitcycle
