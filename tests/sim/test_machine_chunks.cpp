// Counts of chunks, which energy follows from, against the events of every instruction.
#include <catch2/catch.hpp>
#include <random>

#include "model/formula.hpp"
#include "model/machine/compile.hpp"
#include "sim/machine_cost.hpp"

using namespace bitcycle;

TEST_CASE("machine: chunks of a plan are those of its instructions", "[machine]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](int most) { return 1 + random() % static_cast<unsigned>(most); };
  int exchanged = 0;
  for (const ArrayConfig& array : array_presets()) {
    MachineCostOptions options;
    options.machine = machine_for(array);
    options.memory = {64, 512, 256, 512};
    for (int i = 0; i < 12; ++i) {
      ConvJob job;
      job.pass = std::array{ConvPass::kForward, ConvPass::kDx, ConvPass::kDw}[random() % 3];
      ConvShape& s = job.shape;
      s.batch = below(4);
      s.cin = below(70);
      s.hi = s.wi = 2 + below(10);
      s.cout = below(40);
      s.kh = s.kw = 1 + 2 * (random() % 2);
      s.stride_h = s.stride_w = below(2);
      s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = s.kh / 2;
      job.first = {static_cast<int>(below(8)), false};
      job.second = {static_cast<int>(below(8)), false};
      job.out.form = OutputForm::kRaw32;
      job.out.sums = true;
      const CompiledLayer layer = compile_layer(options.machine, job, compile_options(options));
      for (const Compiled& c : layer.plans) {
        GemmEvents sum;
        std::uint64_t tiles = 0, pairs = 0, passes = 0, results = 0;
        int a_bits = 0, w_bits = 0;
        c.plan.emit([&](const Instruction& instruction, const InstructionInfo&) {
          const auto* e = std::get_if<ExecInstruction>(&instruction);
          if (e == nullptr) return;
          const Descriptor d{{e->m, e->n, e->k}, e->pa, e->pw};
          const GemmEvents events = gemm_events(array, d);
          const GemmTiming t = gemm_timing(array, d);
          sum.ac_adds += events.ac_adds;
          sum.acc_flushes += events.acc_flushes;
          sum.a_words_read += events.a_words_read;
          sum.w_words_read += events.w_words_read;
          sum.digit_cycles += events.digit_cycles;
          results += events.results;
          tiles += t.tiles * t.kc;
          pairs = t.digit_pairs;
          passes = t.passes;
          a_bits = e->pa.bits;
          w_bits = e->pw.bits;
        });
        const PlanCost& cost = c.plan.cost();
        const bool swapped = c.plan.mapping().exchange;
        exchanged += swapped ? 1 : 0;
        CHECK(cost.pe_chunks * pairs == sum.ac_adds);
        CHECK(cost.pe_chunks * passes == sum.acc_flushes);
        CHECK(cost.tile_chunks == tiles);
        CHECK(cost.tile_chunks * pairs == sum.digit_cycles);
        CHECK(cost.results == results);
        const auto a = static_cast<std::uint64_t>(a_bits);
        const auto w = static_cast<std::uint64_t>(w_bits);
        CHECK((swapped ? cost.second_chunks : cost.first_chunks) * a == sum.a_words_read);
        CHECK((swapped ? cost.first_chunks : cost.second_chunks) * w == sum.w_words_read);
      }
    }
  }
  CHECK(exchanged > 0);
}
