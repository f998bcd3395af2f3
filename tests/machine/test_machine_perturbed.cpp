// The checks of the campaigns must be able to fail: one wrong gate, one wrong bit, one wrong
// constant is noticed.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "golden/training.hpp"
#include "sim/machine_backend.hpp"
#include "tests/machine/lockstep_layer.hpp"

namespace bitcycle {
namespace {

namespace fs = std::filesystem;

using testing::conv_shape;
using testing::kAllPasses;
using testing::layer_job_of;
using testing::machine_of;

// A layer's instruction words and its DRAM, for machines that may go wrong.
struct Stream {
  std::vector<std::uint64_t> words;
  std::vector<std::uint8_t> dram;
};

Stream stream_of(const MachineConfig& config, const ConvJob& job) {
  Plan plan = compile(GemmProblem(config, job)).plan;
  DramAllocator allocator(4096);
  const std::uint64_t a = allocator.allocate(plan.problem().first.bytes());
  const std::uint64_t b = allocator.allocate(plan.problem().second.bytes());
  plan.set_addresses(a, b, allocator.allocate(plan.result_bytes()));
  Stream out;
  std::mt19937_64 random(5);
  out.dram.resize(allocator.end());
  for (auto& byte : out.dram) byte = static_cast<std::uint8_t>(random());
  plan.emit([&](const Instruction& i, const InstructionInfo&) {
    const auto words = encode(i);
    out.words.insert(out.words.end(), words.begin(), words.end());
  });
  return out;
}

// Runs every pass of a layer; the first difference that lockstep sees.
std::optional<Mismatch> first_difference(const MachineConfig& config, LockstepMachine& pair,
                                         const std::function<void(std::uint64_t)>& disturb = {}) {
  for (const ConvPass pass : kAllPasses) {
    const Stream stream = stream_of(config, layer_job_of(conv_shape(1, 20, 6, 10, 3, 2, 1), pass));
    MemoryTiming timing;
    timing.latency = 9;
    Memory memory(config.dw, std::make_unique<BandwidthTimer>(timing));
    memory.load(0, stream.dram.data(), stream.dram.size());
    MachineBench bench(config, pair, memory);
    WordList words(stream.words);
    bench.run(words, 100'000, [&] {
      if (disturb) disturb(bench.now());
      return pair.mismatch().has_value();
    });
    pair.compare_memories();
    if (pair.mismatch()) return pair.mismatch();
  }
  return std::nullopt;
}

// The RTL with one of the unit tests' mutations.
std::unique_ptr<RtlMachine> mutant(const MachineConfig& config, const std::string& name,
                                   const std::string& file) {
  const fs::path source = BITCYCLE_SOURCE_DIR;
  const fs::path work = fs::path(BITCYCLE_BUILD_DIR) / "tests/machine/whole-mutants" / name;
  fs::remove_all(work);
  fs::create_directories(work);
  fs::copy(source / "rtl", work / "rtl", fs::copy_options::recursive);
  const fs::path script = source / "tests/machine/unit/mutants" / (name + ".sed");
  const std::string changed = (work / "rtl" / file).string();
  const std::string command = "sed -E -i -f '" + script.string() + "' '" + changed +
                              "' && ! cmp -s '" + changed + "' '" +
                              (source / "rtl" / file).string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string out = (work / "machine.so").string();
  verilate_machine(config, RtlFlavour::kPlain, out, (work / "rtl").string(), 1);
  return load_rtl_machine(out, 1);
}

void kill(const std::string& name, const std::string& file) {
  CAPTURE(name);
  const MachineConfig config = machine_of("ci-4x4-s1");
  LockstepMachine pair(config, mutant(config, name, file));
  const std::optional<Mismatch> seen = first_difference(config, pair);
  REQUIRE(seen.has_value());
  WARN(name << ": cycle " << seen->cycle << ", " << seen->signal);
}

}  // namespace

TEST_CASE("machine perturbed: the RTL as it is passes what catches the mutants") {
  const MachineConfig config = machine_of("ci-4x4-s1");
  LockstepMachine pair(config, make_rtl_machine(config, RtlFlavour::kPlain, 1));
  CHECK_FALSE(first_difference(config, pair).has_value());
}

TEST_CASE("machine perturbed: a lost address step of a tap is noticed") {
  kill("pos-tap-b1-address-lost", "bc_pos_tap_add.sv");
}

TEST_CASE("machine perturbed: other wrong gates are noticed", "[.full]") {
  kill("pos-outer-carry-late", "bc_pos_outer_add.sv");
  kill("gather-rows-advance-early", "bc_gather.sv");
  kill("store-wlast-early", "bc_store.sv");
}

TEST_CASE("machine perturbed: most flipped register bits are noticed, with the name") {
  const MachineConfig config = machine_of("ci-4x4-s1");
  std::uint64_t seed = 20261130;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const std::size_t count = LockstepMachine(config, make_rtl_machine(config, RtlFlavour::kPlain, 1))
                                .rtl()
                                .registers()
                                .size();
  int noticed = 0;
  for (int i = 0; i < 60; ++i) {
    LockstepMachine pair(config, make_rtl_machine(config, RtlFlavour::kPlain, 1));
    const RegisterView& view = pair.rtl().registers()[random() % count];
    const std::size_t bit = random() % view.bits;
    const std::size_t element = random() % view.count;
    const std::uint64_t when = 200 + random() % 400;
    CAPTURE(view.name, element, bit, when);
    const auto seen = first_difference(config, pair, [&](std::uint64_t now) {
      if (now != when) return;
      static_cast<std::uint8_t*>(view.data)[element * view.bytes + bit / 8] ^=
          static_cast<std::uint8_t>(1U << bit % 8);
    });
    // A data register that is loaded in the same cycle forgets the flip; memories may be rewritten.
    if (seen) ++noticed;
  }
  WARN(noticed << " of 60 flips seen, out of " << count << " registers and memories");
  CHECK(noticed >= 40);
}

TEST_CASE("machine perturbed: a difference of one in any number of a product is not exact") {
  const MachineConfig config = machine_of("ci-4x4-s1");
  MachineCore core(config);
  MemoryTiming timing;
  timing.latency = 30;
  MachineBackend machine(config, core, timing);
  const ConvShape s = conv_shape(1, 16, 4, 16, 3, 1, 1);
  std::vector<std::int32_t> x(s.x_size(), 3), w(s.w_size(), 5);
  ConvRequest request;
  request.shape = s;
  request.pass = ConvPass::kForward;
  request.first = &x;
  request.second = &w;
  request.first_bits = request.second_bits = 4;
  machine.run(request);
  const ProductRun run = machine.products().back();
  REQUIRE(run.exact());
  const auto off_by_one = [&](auto&& number) {
    for (const std::uint64_t change : {std::uint64_t{1}, ~std::uint64_t{0}}) {
      ProductRun wrong = run;
      number(wrong) += change;
      CHECK_FALSE(wrong.exact());
    }
  };
  off_by_one([](ProductRun& r) -> std::uint64_t& { return r.formula_cycles; });
  off_by_one([](ProductRun& r) -> std::uint64_t& { return r.formula_read_beats; });
  off_by_one([](ProductRun& r) -> std::uint64_t& { return r.formula_write_beats; });
  off_by_one([](ProductRun& r) -> std::uint64_t& { return r.machine.cycles; });
  for (std::size_t e = 0; e < kEngines; ++e) {
    off_by_one([e](ProductRun& r) -> std::uint64_t& { return r.formula_engines[e].idle; });
    off_by_one([e](ProductRun& r) -> std::uint64_t& { return r.formula_engines[e].run; });
    off_by_one([e](ProductRun& r) -> std::uint64_t& { return r.formula_engines[e].wait_in; });
    off_by_one([e](ProductRun& r) -> std::uint64_t& { return r.formula_engines[e].wait_out; });
  }
}

TEST_CASE("machine perturbed: every wrong constant of the formula gives other cycles") {
  const MachineConfig config = machine_of("ci-4x4-s1");
  MemoryTiming timing;
  timing.latency = 30;
  timing.write_latency = 12;
  timing.read_cost = timing.write_cost = 300;
  std::vector<Instruction> program;
  std::vector<std::uint64_t> stream;
  // Rows one by one: fetches, execs and stores take turns.
  const GemmProblem problem(config,
                            layer_job_of(conv_shape(2, 16, 8, 16, 3, 1, 1), ConvPass::kForward));
  Mapping m = naive_mapping(problem);
  m.rows[1] = 1;
  REQUIRE(choose_sub_blocks(problem, m));
  Plan(problem, m).emit([&](const Instruction& i, const InstructionInfo&) {
    program.push_back(i);
    const auto words = encode(i);
    stream.insert(stream.end(), words.begin(), words.end());
  });
  MachineCore core(config);
  Memory memory(config.dw, std::make_unique<BandwidthTimer>(timing), 1);
  MachineBench bench(config, core, memory);
  WordList words(stream);
  const MachineRun run = bench.run(words, 10'000'000);
  REQUIRE_FALSE(run.timed_out);
  const auto agrees = [&](const MachineConfig& c, const MemoryTiming& t, std::uint64_t exec_more) {
    Recurrence formula(c, t);
    for (const Instruction& i : program) {
      TimedInstruction one = timed(i, config);
      if (one.engine == MachineEngine::kExec) one.array_cycles += exec_more;
      formula.add(one);
    }
    bool same = formula.cycles() == run.cycles;
    for (std::size_t e = 0; e < kEngines; ++e) {
      const EngineCycles f = formula.engine(static_cast<MachineEngine>(e));
      const EngineCycles& r = run.engines[e];
      same = same && f.run == r.run && f.idle == r.idle && f.wait_in == r.wait_in &&
             f.wait_out == r.wait_out;
    }
    return same && formula.read_bursts == run.read_bursts;
  };
  REQUIRE(agrees(config, timing, 0));
  CHECK_FALSE(agrees(config, timing, 1));
  const auto with = [&](std::uint64_t MemoryTiming::*field) {
    MemoryTiming t = timing;
    t.*field += 1;
    return agrees(config, t, 0);
  };
  CHECK_FALSE(with(&MemoryTiming::latency));
  CHECK_FALSE(with(&MemoryTiming::write_latency));
  CHECK_FALSE(with(&MemoryTiming::read_cost));
  CHECK_FALSE(with(&MemoryTiming::write_cost));
  MachineConfig other = config;
  other.burst = 8;
  CHECK_FALSE(agrees(other, timing, 0));
  other = config;
  other.out = 1;
  CHECK_FALSE(agrees(other, timing, 0));
}

}  // namespace bitcycle
