// A layer's plans with data on the untimed machine: every way to run it gives golden's results.
#include <catch2/catch.hpp>
#include <random>

#include "golden/error.hpp"
#include "model/machine/layer_data.hpp"
#include "tests/machine/compiled_run.hpp"

namespace bitcycle {
namespace {

using testing::Codes;
using testing::machine_of;
using testing::make_codes;

struct Runner {
  MachineConfig config;
  int plans = 0;
  PlanRunner run() {
    return [this](const Plan& plan, std::vector<std::uint8_t>& dram) {
      ++plans;
      FunctionalMachine machine(config);
      machine.run(testing::emit_all(plan).program, &dram, FunctionalOrder::kProgram);
    };
  }
};

ConvJob conv(ConvPass pass, std::uint64_t cin, std::uint64_t size, std::uint64_t cout,
             std::uint64_t kernel, std::uint64_t stride, std::uint64_t pad,
             std::uint64_t groups = 1, std::uint64_t dilation = 1) {
  ConvJob j;
  j.shape.batch = 2;
  j.shape.cin = cin;
  j.shape.hi = j.shape.wi = size;
  j.shape.cout = cout;
  j.shape.kh = j.shape.kw = kernel;
  j.shape.stride_h = j.shape.stride_w = stride;
  j.shape.pad_top = j.shape.pad_bottom = j.shape.pad_left = j.shape.pad_right = pad;
  j.shape.groups = groups;
  j.shape.dilation_h = j.shape.dilation_w = dilation;
  j.pass = pass;
  j.first = {3, false};
  j.second = {5, true};
  j.out.form = OutputForm::kRaw48;
  return j;
}

struct Operands {
  std::vector<std::int32_t> first, second;
};

Operands operands(const ConvJob& j, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const ConvShape& s = j.shape;
  return {make_codes(j.pass == ConvPass::kForward ? s.x_size() : s.y_size(), j.first,
                     Codes::kRandom, random),
          make_codes(j.pass == ConvPass::kDw ? s.x_size() : s.w_size(), j.second, Codes::kRandom,
                     random)};
}

void check(const ConvSums& got, const ConvSums& want) {
  CHECK(got.value == want.value);
  CHECK(got.sum_a == want.sum_a);
  CHECK(got.sum_w == want.sum_w);
}

// One way: a layer of plans that the test makes itself.
int run_way(const MachineConfig& config, const ConvJob& job, const CompiledLayer& made) {
  CompiledLayer layer = made;
  const Operands o = operands(job, 5);
  Runner runner{config};
  check(run_conv(layer, job, o.first, o.second, runner.run()),
        golden_conv(job.pass, job.shape, o.first, o.second));
  return runner.plans;
}

CompiledLayer phases(const MachineConfig& config, const ConvJob& job) {
  CompiledLayer layer;
  layer.phases_apart = true;
  for (int y = 0; y < static_cast<int>(job.shape.stride_h); ++y) {
    for (int x = 0; x < static_cast<int>(job.shape.stride_w); ++x) {
      ConvJob one = job;
      one.phase_y = y;
      one.phase_x = x;
      layer.plans.push_back(compile(GemmProblem(config, one)));
    }
  }
  return layer;
}

CompiledLayer expanded(const MachineConfig& config, const ConvJob& job, std::uint64_t parts) {
  const ConvShape& s = job.shape;
  const bool forward = job.pass == ConvPass::kForward;
  const std::uint64_t pixels = s.batch * s.ho() * s.wo(), taps = s.kh * s.kw * s.cin;
  MatmulJob m;
  m.m = forward ? pixels : s.cout;
  m.n = forward ? s.cout : taps;
  m.k = forward ? taps : pixels / parts;
  m.a_columns = m.w_columns = !forward;
  m.first = job.first;
  m.second = job.second;
  m.out = job.out;
  CompiledLayer layer;
  layer.expanded = true;
  layer.plans.push_back(compile(GemmProblem(config, m)));
  return layer;
}

}  // namespace

TEST_CASE("layer data: what compile_layer chooses gives golden's sums") {
  int expanded = 0, apart = 0;
  for (const char* array : {"ci-1x1-s4", "ci-1x8-s1"}) {
    const MachineConfig config = machine_of(array);
    for (const ConvPass pass : {ConvPass::kForward, ConvPass::kDx, ConvPass::kDw}) {
      for (const ConvJob& job :
           {conv(pass, 3, 9, 8, 5, 2, 2), conv(pass, 16, 6, 16, 3, 2, 1),
            conv(pass, 16, 5, 16, 3, 1, 1, 16), conv(pass, 12, 5, 20, 3, 2, 1, 2),
            conv(pass, 8, 7, 4, 3, 3, 2, 1, 2), conv(pass, 20, 4, 17, 1, 2, 0)}) {
        INFO(array << " " << GemmProblem(config, job).name);
        CompiledLayer layer = compile_layer(config, job);
        expanded += layer.expanded ? 1 : 0;
        apart += layer.phases_apart ? 1 : 0;
        run_way(config, job, layer);
      }
    }
  }
  WARN(expanded << " expanded, " << apart << " phase by phase");
}

TEST_CASE("layer data: dX phase by phase, also where a phase has no taps") {
  const MachineConfig config = machine_of("ci-4x4-s1");
  for (const ConvJob& job :
       {conv(ConvPass::kDx, 16, 6, 16, 3, 2, 1), conv(ConvPass::kDx, 5, 7, 9, 1, 2, 0),
        conv(ConvPass::kDx, 12, 5, 20, 3, 2, 1, 2)}) {
    CHECK(run_way(config, job, phases(config, job)) == 4);
    CompiledLayer short_of_one = phases(config, job);
    short_of_one.plans.pop_back();
    CHECK_THROWS_AS(run_way(config, job, short_of_one), InputError);
    CompiledLayer one_twice = phases(config, job);
    one_twice.plans.push_back(one_twice.plans.front());
    CHECK_THROWS_AS(run_way(config, job, one_twice), InputError);
  }
}

TEST_CASE("layer data: dX as a GEMM with the host's col2im") {
  const MachineConfig config = machine_of("ci-4x4-s1");
  for (ConvJob job :
       {conv(ConvPass::kDx, 16, 6, 16, 3, 2, 1), conv(ConvPass::kDx, 5, 7, 9, 3, 1, 1),
        conv(ConvPass::kDx, 8, 7, 4, 3, 1, 2, 1, 2), conv(ConvPass::kDx, 12, 5, 20, 3, 2, 1, 2)}) {
    job.dx_as_gemm = true;
    CompiledLayer layer;
    layer.plans.push_back(compile(GemmProblem(config, job)));
    INFO(layer.plans.front().plan.problem().name);
    CHECK(run_way(config, job, layer) == 1);
  }
}

TEST_CASE("layer data: expanded by the host") {
  const MachineConfig config = machine_of("ci-4x4-s1");
  for (const ConvPass pass : {ConvPass::kForward, ConvPass::kDw}) {
    for (const ConvJob& job : {conv(pass, 3, 9, 8, 5, 2, 2), conv(pass, 5, 6, 7, 3, 1, 1, 1, 2)}) {
      CHECK(run_way(config, job, expanded(config, job, 1)) == 1);
    }
  }
}

TEST_CASE("layer data: dW in parts of the batch, whose results are added") {
  const MachineConfig config = machine_of("ci-4x4-s1");
  const ConvJob job = conv(ConvPass::kDw, 12, 5, 20, 3, 2, 1, 2);
  ConvJob half = job;
  half.shape.batch = 1;
  CompiledLayer layer;
  layer.plans.push_back(compile(GemmProblem(config, half)));
  CHECK(run_way(config, job, layer) == 2);
  const ConvJob few = conv(ConvPass::kDw, 3, 9, 8, 5, 2, 2);
  CHECK(run_way(config, few, expanded(config, few, 2)) == 2);
}

TEST_CASE("layer data: products of matrices, however they are stored") {
  const MachineConfig config = machine_of("ci-1x1-s4");
  for (int ways = 0; ways < 4; ++ways) {
    MatmulJob job;
    job.batch = 3;
    job.m = 19;
    job.n = 7;
    job.k = 33;
    job.a_columns = (ways & 1) != 0;
    job.w_columns = (ways & 2) != 0;
    job.first = {4, false};
    job.second = {3, true};
    std::mt19937_64 random(9);
    const auto first = make_codes(3 * 19 * 33, job.first, Codes::kRandom, random);
    const auto second = make_codes(3 * 7 * 33, job.second, Codes::kRandom, random);
    Compiled compiled = compile(GemmProblem(config, job));
    Runner runner{config};
    check(run_matmul(compiled.plan, first, second, runner.run()),
          golden_matmul(job, first, second));
    CHECK_THROWS_AS(run_matmul(compiled.plan, second, second, runner.run()), InputError);
  }
}

// By hand: 2 x 1 = (1 2; 3 4) (5 6)^T.
TEST_CASE("layer data: golden product of matrices by hand") {
  MatmulJob job;
  job.m = job.k = 2;
  const ConvSums sums = golden_matmul(job, {1, 2, 3, 4}, {5, 6});
  CHECK(sums.value == std::vector<std::int64_t>{17, 39});
  CHECK(sums.sum_a == std::vector<std::int64_t>{3, 7});
  CHECK(sums.sum_w == std::vector<std::int64_t>{11});
}

TEST_CASE("layer data: a wrong bit in DRAM is seen") {
  const MachineConfig config = machine_of("ci-4x4-s1");
  const ConvJob job = conv(ConvPass::kForward, 16, 5, 8, 3, 1, 1);
  const Operands o = operands(job, 6);
  CompiledLayer layer = compile_layer(config, job);
  Runner runner{config};
  const PlanRunner right = runner.run();
  const ConvSums got = run_conv(
      layer, job, o.first, o.second, [&](const Plan& plan, std::vector<std::uint8_t>& dram) {
        right(plan, dram);
        plan.outputs([&](const OutputBlock& b) { dram[b.values_bit / 8] ^= 1U; });
      });
  CHECK(got.value != golden_conv(job.pass, job.shape, o.first, o.second).value);
}

}  // namespace bitcycle
