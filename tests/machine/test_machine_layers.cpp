// Layers of every kind on the RTL: results, cycles, counters and traffic.
#include <catch2/catch.hpp>

#include "tests/machine/lockstep_layer.hpp"

namespace bitcycle {
namespace {

using testing::Codes;
using testing::conv_shape;
using testing::dense_shape;
using testing::kAllPasses;
using testing::layer_job_of;
using testing::LayerBench;
using testing::machine_of;

struct Kind {
  const char* name;
  ConvShape shape;
};

void report(const LayerBench& bench) {
  WARN(bench.layers << " GEMMs, " << bench.cycles << " cycles, " << bench.elements
                    << " results compared");
}

void run_kinds(LayerBench& bench, const std::vector<Kind>& kinds, int first = 4, int second = 4) {
  for (const Kind& kind : kinds) {
    INFO(kind.name);
    bench.all_passes(kind.shape, first, second);
  }
  CHECK(bench.layers == 3 * static_cast<int>(kinds.size()));
  report(bench);
}

MemoryTiming some_memory() {
  MemoryTiming t;
  t.latency = 23;
  t.write_latency = 9;
  t.read_cost = 300;
  t.write_cost = 410;
  return t;
}

// M of the forward GEMM of an image layer as wide as DESIGN's [12544, 27, 32].
ConvShape tall(std::uint64_t size) { return conv_shape(1, 3, size, 32, 3, 2, 1); }

}  // namespace

TEST_CASE("machine layers: kernels, strides, groups and dilation on the RTL") {
  LayerBench bench(machine_of("ci-4x4-s1"), 11);
  bench.timing = some_memory();
  run_kinds(bench, {{"7x7 stride 2 padding 3", conv_shape(1, 3, 8, 8, 7, 2, 3)},
                    {"3x3", conv_shape(2, 16, 4, 16, 3, 1, 1)},
                    {"3x3 stride 2", conv_shape(1, 16, 7, 16, 3, 2, 1)},
                    {"3x3 stride 2, even size", conv_shape(1, 16, 6, 16, 3, 2, 1)},
                    {"1x1", conv_shape(1, 32, 4, 16, 1)},
                    {"1x1 stride 2", conv_shape(1, 16, 5, 32, 1, 2)},
                    {"depthwise", conv_shape(1, 16, 4, 16, 3, 1, 1, 16)},
                    {"depthwise stride 2", conv_shape(1, 8, 5, 8, 3, 2, 1, 8)},
                    {"two groups", conv_shape(1, 32, 4, 16, 3, 1, 1, 2)},
                    {"two groups of 3 and 5", conv_shape(1, 6, 5, 10, 3, 1, 1, 2)},
                    {"32 groups", conv_shape(1, 64, 3, 64, 3, 1, 1, 32)},
                    {"dilated", conv_shape(1, 16, 5, 16, 3, 1, 2, 1, 2)},
                    {"dilated and strided", conv_shape(1, 8, 7, 8, 3, 2, 2, 1, 2)},
                    {"batch 5, 2x2 kernel on 4x4", conv_shape(5, 2, 4, 2, 2)},
                    {"a smaller [12544, 27, 32]", tall(16)}});
}

TEST_CASE("machine layers: extents of one, and around the lanes, on the RTL") {
  const MachineConfig config = machine_of("ci-4x4-s1");
  const auto kl = static_cast<std::uint64_t>(config.array.kl);
  LayerBench bench(config, 12);
  bench.timing = some_memory();
  run_kinds(bench, {{"M = 1", dense_shape(1, 9, 40)},
                    {"N = 1", dense_shape(9, 1, 40)},
                    {"K = 1", dense_shape(9, 7, 1)},
                    {"all of them 1", dense_shape(1, 1, 1)},
                    {"one below the lanes", dense_shape(kl - 1, kl - 1, kl - 1)},
                    {"the lanes", dense_shape(kl, kl, kl)},
                    {"one above the lanes", dense_shape(kl + 1, kl + 1, kl + 1)},
                    {"one above twice the lanes", dense_shape(5, 6, 2 * kl + 1)},
                    {"5x2x2", dense_shape(5, 2, 2)}});
}

TEST_CASE("machine layers: the bit-serial array runs them too") {
  LayerBench bench(machine_of("ci-1x1-s4"), 13);
  run_kinds(bench,
            {{"3x3 stride 2", conv_shape(1, 16, 5, 16, 3, 2, 1)},
             {"depthwise", conv_shape(1, 16, 3, 16, 3, 1, 1, 16)},
             {"dilated", conv_shape(1, 8, 5, 8, 3, 1, 2, 1, 2)},
             {"M = 1", dense_shape(1, 9, 17)},
             {"5x2x2", dense_shape(5, 2, 2)}},
            3, 5);
}

TEST_CASE("machine layers: unequal precisions and extreme codes on the RTL") {
  LayerBench bench(machine_of("ci-4x4-s1"), 14);
  bench.timing = some_memory();
  const ConvShape shape = conv_shape(1, 17, 4, 6, 3, 2, 1);
  for (const auto& [first, second] : {std::pair(3, 8), std::pair(8, 3), std::pair(5, 16),
                                      std::pair(16, 5), std::pair(1, 1), std::pair(16, 16)}) {
    bench.all_passes(shape, first, second);
  }
  for (const Codes codes : {Codes::kLow, Codes::kHigh}) {
    bench.all_passes(shape, 4, 4, codes);
    bench.all_passes(shape, 5, 16, codes);
    bench.all_passes(shape, 16, 16, codes);
  }
  // All zero: the smallest unsigned code.
  for (const ConvPass pass : kAllPasses) {
    ConvJob job = layer_job_of(shape, pass, 8, 8);
    job.first.is_signed = job.second.is_signed = false;
    bench.run(job, Codes::kLow);
    bench.run(job, Codes::kHigh);
  }
  report(bench);
}

// Requantised codes are written along rows (Y, dX) and along columns (dW and exchanged operands).
TEST_CASE("machine layers: requantised codes in both orientations on the RTL") {
  LayerBench bench(machine_of("ci-4x4-s1"), 15);
  bench.timing = some_memory();
  int rows = 0, columns = 0;
  for (const ConvShape& shape :
       {conv_shape(1, 16, 5, 20, 3, 2, 1), conv_shape(2, 20, 3, 16, 3, 1, 1),
        conv_shape(1, 32, 3, 32, 1, 1, 0, 2)}) {
    for (const ConvPass pass : kAllPasses) {
      for (const bool exchange : {false, true}) {
        for (const Rounding rounding :
             {Rounding::kNearestEven, Rounding::kHalfUp, Rounding::kFloor, Rounding::kStochastic}) {
          // Element numbers count by rows of the first operand: no stochastic rounding exchanged.
          const bool stochastic = rounding == Rounding::kStochastic;
          if (stochastic && (exchange || pass == ConvPass::kDw)) continue;
          INFO(to_string(pass) << " exchange " << exchange << " rounding "
                               << static_cast<int>(rounding));
          ConvJob job = layer_job_of(shape, pass, 5, 3);
          job.out.form = OutputForm::kCodes;
          job.out.q.mult = 311;
          job.out.q.shift = 11;
          job.out.q.out_bits = pass == ConvPass::kDw ? 8 : 5;
          job.out.q.out_signed = true;
          job.out.q.rounding = rounding;
          job.out.q.seed = 99;
          job.out.q.za = pass == ConvPass::kDx ? 0 : 3;
          job.out.q.zw = -2;
          job.out.q.zout = 1;
          CompileOptions options;
          Mapping m = naive_mapping(GemmProblem(bench.config(), job));
          m.exchange = exchange;
          options.mapping = m;
          const auto run = bench.run(job, Codes::kRandom, options);
          run.plan.emit([&](const Instruction& i, const InstructionInfo&) {
            if (const auto* e = std::get_if<ExecInstruction>(&i)) {
              REQUIRE_FALSE(e->out.raw);
              ++(e->out.column ? columns : rows);
            }
          });
        }
      }
    }
  }
  report(bench);
  WARN(rows << " instructions along rows, " << columns << " along columns");
  CHECK(rows > 0);
  CHECK(columns > 0);
}

TEST_CASE("machine layers: [12544, 27, 32] and larger layers on the RTL", "[.full]") {
  LayerBench bench(machine_of("ci-4x4-s1"), 16);
  bench.timing = some_memory();
  run_kinds(bench, {{"[12544, 27, 32] as a convolution", tall(224)},
                    {"[12544, 27, 32] as a matrix product", dense_shape(12544, 32, 27)},
                    {"7x7 stride 2 padding 3", conv_shape(1, 3, 32, 16, 7, 2, 3)},
                    {"32 groups", conv_shape(1, 128, 7, 128, 3, 1, 1, 32)},
                    {"depthwise", conv_shape(1, 64, 14, 64, 3, 2, 1, 64)}});
}

}  // namespace bitcycle
