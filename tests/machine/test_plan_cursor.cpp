#include <catch2/catch.hpp>
#include <random>

#include "model/machine/compile.hpp"
#include "model/machine/plan_cursor.hpp"
#include "model/machine/plan_time.hpp"
#include "model/machine/timed.hpp"
#include "tests/machine/compiled_run.hpp"

namespace bitcycle {
namespace {

using testing::emit_all;
using testing::Emitted;
using testing::machine_of;

struct Counts {
  std::uint64_t iterations = 0, regular = 0;
};

// next() alone is emit(); on every cut, regular iterations have the shapes of the one before; and a
// walk that passes over them goes on with the same words.
Counts check_cursor(const Plan& plan) {
  const Emitted whole = emit_all(plan);
  PlanCursor cursor(plan);
  const std::uint64_t steps = cursor.steps();
  std::vector<std::vector<std::uint32_t>> shapes(steps);
  std::vector<std::size_t> starts;
  std::vector<PlanProgress> places;
  std::size_t at = 0;
  while (cursor.position() < steps) {
    auto& mine = shapes[cursor.position()];
    starts.push_back(at);
    places.push_back(cursor.progress());
    cursor.next([&](const Instruction& i, const InstructionInfo& info) {
      REQUIRE(at < whole.program.size());
      if (disassemble(i) != disassemble(whole.program[at]) || info.step != whole.info[at].step) {
        FAIL("instruction " << at << " differs");
      }
      mine.push_back(whole.info[at].shape);
      ++at;
    });
  }
  places.push_back(cursor.progress());
  REQUIRE(at == whole.program.size());
  Counts counts;
  for (std::size_t cut = 0; cut < cursor.cuts(); ++cut) {
    const std::uint64_t each = cursor.steps_each(cut);
    REQUIRE(each * cursor.count(cut) == steps);
    if (cut + 1 == cursor.cuts()) REQUIRE(each == 1);
    counts.iterations += cursor.count(cut);
    for (std::uint64_t j = 1; j < cursor.count(cut); ++j) {
      if (!cursor.regular(cut, j)) continue;
      ++counts.regular;
      for (std::uint64_t i = 0; i < each; ++i) {
        if (shapes[j * each + i] != shapes[(j - 1) * each + i]) {
          FAIL("cut " << cut << ": iteration " << j << " is called regular and is not");
        }
      }
    }
    PlanCursor skipping(plan);
    while (skipping.position() < steps) {
      const std::uint64_t j = skipping.position() / each;
      const std::uint64_t run = skipping.regular_run(cut, j, skipping.count(cut));
      if (run > 1) skipping.skip(cut, run - 1, places[(j - 1) * each], places[j * each]);
      for (std::uint64_t i = 0; i < each; ++i) {
        std::size_t k = starts[skipping.position()];
        skipping.next([&](const Instruction& instruction, const InstructionInfo&) {
          if (encode(instruction) != encode(whole.program[k])) {
            FAIL("cut " << cut << ", after a skip instruction " << k << " is "
                        << disassemble(instruction) << ", not " << disassemble(whole.program[k]));
          }
          ++k;
        });
      }
    }
  }
  return counts;
}

// The time of a plan is that of all its instructions, one by one.
void check_time(const Plan& plan, const MemoryTiming& memory) {
  const MachineConfig& config = plan.problem().config;
  Recurrence slow(config, memory);
  std::uint64_t array = 0;
  plan.emit([&](const Instruction& i, const InstructionInfo&) {
    const TimedInstruction t = timed(i, config);
    array += t.array_cycles;
    slow.add(t);
  });
  const PlanTimes fast = time_plan(plan, memory);
  CHECK(fast.complete);
  CHECK(fast.cycles == slow.cycles());
  CHECK(fast.array_cycles == array);
  CHECK(fast.read_bursts == slow.read_bursts);
  CHECK(fast.write_bursts == slow.write_bursts);
  for (std::size_t e = 0; e < 3; ++e) {
    const EngineCycles want = slow.engine(static_cast<MachineEngine>(e));
    CHECK(fast.engines[e].run == want.run);
    CHECK(fast.engines[e].wait_in == want.wait_in);
    CHECK(fast.engines[e].wait_out == want.wait_out);
    CHECK(fast.engines[e].idle == want.idle);
  }
  CHECK(least_cycles(plan.problem(), plan.mapping(), plan.cost(), memory) <=
        static_cast<double>(slow.cycles()));
  CHECK_FALSE(time_plan(plan, memory, slow.cycles() - 1).complete);
  CHECK(time_plan(plan, memory, slow.cycles()).complete);
}

TEST_CASE("cursor: iterations that meet page borders at other beats are not regular",
          "[machine][cursor]") {
  ConvJob j;
  j.shape.cin = j.shape.cout = 16;
  j.shape.hi = 120;
  j.shape.wi = 30;
  const GemmProblem problem(machine_of("ci-1x1-s4"), j);
  CompileOptions options;
  options.mapping = parse_mapping(
      "rows (1, 2, 30) cols (1, 1, 16) reduction (1, 1, 1) out (1, 1, 15) (1, 1, 16) rows outer");
  Compiled c = compile(problem, options);
  c.plan.set_addresses(1 << 20, 2 << 20, 3 << 20);
  const Counts one = check_cursor(c.plan);
  CHECK(one.regular < 100);
}

TEST_CASE("cursor: iterations of random layers repeat as they say", "[machine][cursor]") {
  const std::uint64_t seed = 424242;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  Counts all;
  for (int i = 0; i < 120; ++i) {
    MachineConfig config = machine_of(pick(0, 1) == 0 ? "ci-1x1-s4" : "ci-4x4-s1");
    config.l1a_d = 64 << pick(0, 3);
    config.l1w_d = 128 << pick(0, 2);
    config.dw = 64 << pick(0, 2);
    ConvJob j;
    ConvShape& s = j.shape;
    s.groups = pick(0, 4) == 0 ? 1U << pick(1, 5) : 1;
    s.batch = pick(1, 30);
    s.cin = s.groups * pick(1, 3) * (s.groups == 1 ? 12 : 1);
    s.cout = s.groups * pick(1, 3) * (s.groups == 1 ? 16 : 1);
    s.hi = pick(2, 14);
    s.wi = pick(2, 14);
    s.kh = s.kw = pick(1, 2);
    s.stride_h = s.stride_w = pick(1, 2);
    s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = pick(0, 1);
    if (s.ho() == 0 || s.wo() == 0) continue;
    j.pass = static_cast<ConvPass>(pick(0, 2));
    j.first.bits = static_cast<int>(pick(1, 8));
    j.second.bits = static_cast<int>(pick(1, 8));
    if (pick(0, 2) == 0 && j.pass != ConvPass::kDw) j.out.form = OutputForm::kCodes;
    try {
      const GemmProblem problem(config, j);
      INFO(problem.name);
      CompileOptions options;
      if (pick(0, 1) == 1) options.mapping = naive_mapping(problem);
      Compiled c = compile(problem, options);
      c.plan.set_addresses(1 << 20, 2 << 20, 3 << 20);
      MemoryTiming memory;
      memory.latency = 1 + pick(0, 1) * pick(0, 300);
      memory.write_latency = 1 + pick(0, 1) * pick(0, 300);
      memory.read_cost = 256 + pick(0, 1) * pick(0, 9000);
      memory.write_cost = 256 + pick(0, 1) * pick(0, 9000);
      INFO("memory " << memory.latency << " " << memory.write_latency << " " << memory.read_cost
                     << " " << memory.write_cost << ", " << mapping_text(c.plan.mapping()));
      check_time(c.plan, memory);
      const Counts one = check_cursor(c.plan);
      all.iterations += one.iterations;
      all.regular += one.regular;
    } catch (const InputError&) {
    }
  }
  WARN("iterations " << all.iterations << ", regular " << all.regular);
  CHECK(all.regular > 500);
}

}  // namespace
}  // namespace bitcycle
