// Check values of the main job, and properties that hold for any job.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "golden/error.hpp"
#include "sim/compare.hpp"
#include "sim/compare_cost.hpp"

namespace {

using namespace bitcycle;

const CompareRow& find(const CompareResult& r, const std::string& arch,
                       const std::string& schedule) {
  for (const auto& row : r.rows) {
    if (row.arch == arch && row.schedule == schedule) return row;
  }
  FAIL("no row " << arch << " " << schedule);
  return r.rows.front();
}

ArrayConfig preset(const std::string& name) { return resolve_array(name); }

Workload resnet74() {
  return make_workload(make_network("resnet74-cifar10", Convention::kCptCifar), 128,
                       DxLowering::kPhases);
}

// The law without its constants, summed over descriptors, by kind.
std::array<std::uint64_t, 3> steady(const std::string& arch, const BitPair& pair,
                                    OperandOrder order) {
  const ArrayConfig config = preset(arch);
  std::array<std::uint64_t, 3> sum{};
  for (const auto& g : resnet74().gemms) {
    sum[static_cast<std::size_t>(g.kind)] += orient(config, g, pair, order).timing.steady * g.count;
  }
  return sum;
}

std::uint64_t total(const std::array<std::uint64_t, 3>& a) { return a[0] + a[1] + a[2]; }

// The same law for a whole schedule, best operand order.
double steady_of_schedule(const std::string& arch, const std::string& schedule) {
  ScheduleSpec spec;
  spec.name = schedule;
  double sum = 0.0;
  for (const auto& [pair, iterations] : summarise(spec).pairs) {
    sum += static_cast<double>(total(steady(arch, pair, OperandOrder::kBest))) *
           static_cast<double>(iterations);
  }
  return sum / 64000.0;
}

}  // namespace

TEST_CASE("ResNet-74 totals of the law without constants, table order", "[compare]") {
  using Sums = std::array<std::uint64_t, 3>;
  CHECK(steady("serial-1x1", {8, 8}, OperandOrder::kTable) == Sums{97386496, 98041856, 84148224});
  CHECK(steady("serial-1x1", {3, 8}, OperandOrder::kTable) == Sums{13795328, 36765696, 31555584});
  CHECK(total(steady("stripes-1x8", {8, 8}, OperandOrder::kTable)) == 253362176);
  CHECK(total(steady("brick-2x2", {8, 8}, OperandOrder::kTable)) == 253362176);
  CHECK(total(steady("nibble-4x4", {8, 8}, OperandOrder::kTable)) == 253329408);
  CHECK(total(steady("fixed-8x8", {8, 8}, OperandOrder::kTable)) == 253321216);
}

TEST_CASE("CR and RR against own static and static fixed-8x8, law without constants", "[compare]") {
  const double fixed = static_cast<double>(total(steady("fixed-8x8", {8, 8}, OperandOrder::kBest)));
  struct Value {
    const char* schedule;
    const char* arch;
    double own, reference;
  };
  for (const Value& v :
       {Value{"CR", "serial-1x1", .6310, .6964}, Value{"CR", "stripes-1x8", .6876, .6877},
        Value{"CR", "brick-2x2", .7032, .7033}, Value{"CR", "nibble-4x4", .7850, .7850},
        Value{"RR", "serial-1x1", .3957, .4367}, Value{"RR", "stripes-1x8", .4759, .4760}}) {
    INFO(v.schedule << " " << v.arch);
    const double cycles = steady_of_schedule(v.arch, v.schedule);
    const double own = static_cast<double>(total(steady(v.arch, {8, 8}, OperandOrder::kBest)));
    CHECK(std::abs(cycles / own - v.own) < 0.00006);
    CHECK(std::abs(cycles / fixed - v.reference) < 0.00006);
  }
}

TEST_CASE("the main job reports the full law", "[compare]") {
  CompareOptions options;
  options.archs = {"all"};
  const CompareResult r = run_compare(options);
  REQUIRE(r.rows.size() == 55);
  // The constants of the law move these by less than 2e-4 from the values without them.
  CHECK(find(r, "serial-1x1", "CR").cycles_relative == Approx(.6310).margin(2e-4));
  CHECK(find(r, "serial-1x1", "CR").cycles_vs_reference == Approx(.6964).margin(2e-4));
  CHECK(find(r, "stripes-1x8", "RR").cycles_relative == Approx(.4759).margin(2e-4));
  CHECK(find(r, "brick-2x2", "CR").cycles_vs_reference == Approx(.7033).margin(2e-4));
  CHECK(find(r, "nibble-4x4", "CR").cycles_relative == Approx(.7850).margin(2e-4));
  CHECK(find(r, "fixed-8x8", "RR").cycles_relative == 1.0);
  const std::map<std::string, double> bitops = {
      {"CR", .633375},  {"CT", .633419},  {"LR", .627569},  {"LT", .627613}, {"ER", .822415},
      {"ETH", .822459}, {"ETV", .634786}, {"RTV", .637254}, {"RR", .398965}, {"RTH", .399009}};
  for (const auto& [name, value] : bitops) {
    const CompareRow& row = find(r, "serial-1x1", name);
    CHECK(row.bitops_relative == Approx(value).margin(5e-7));
    CHECK(row.precision_switches == (name.back() == 'R' ? 47 : 40));
  }
  const CompareRow& cr = find(r, "serial-1x1", "CR");
  CHECK(cr.sum_bits == 351984);
  CHECK(cr.sum_bits_sq == 2151168);
  // MACs per sample * batch * (S2 + 2 g S1).
  CHECK(cr.bitops == u128{168214528} * 128 * (2151168 + 16 * 351984));
  CHECK(find(r, "serial-1x1", "static").bitops_vs_fp32 == Approx(192.0 / 3072.0));
}

TEST_CASE("savings that CPT published", "[compare]") {
  struct Value {
    BitRange range;
    double saving, published, tolerance;
  };
  for (const Value& v :
       {Value{{3, 8, 8, 8}, 36.673, 36.67, .01}, Value{{3, 6, 6, 6}, 30.046, 30.04, .01},
        Value{{4, 8, 8, 8}, 30.108, 30.4, .4}, Value{{4, 6, 6, 6}, 20.689, 21.1, .5},
        Value{{5, 8, 8, 8}, 23.155, 23.2, .2}}) {
    CompareOptions options;
    options.schedules = {"CR"};
    options.cycles = 32;
    options.bits = {v.range};
    const CompareResult r = run_compare(options);
    const double saving = 100.0 * (1.0 - r.rows[1].bitops_relative);
    CHECK(saving == Approx(v.saving).margin(5e-4));
    CHECK(std::abs(saving - v.published) <= v.tolerance);
  }
}

TEST_CASE("an ideal GEMM: serial follows BitOps, other arrays do not", "[compare]") {
  CompareOptions options;
  options.gemm = Gemm{4096, 4096, 4096};
  options.archs = {"all"};
  options.schedules = {"CR"};
  options.bits = {{3, 8, 8, 8}, {5, 8, 8, 8}};
  CompareResult r = run_compare(options);
  REQUIRE(r.rows.size() == 20);
  const auto relative = [&](const char* arch, int qmin) {
    for (const auto& row : r.rows) {
      if (row.arch == arch && row.qmin == qmin && row.schedule == "CR") return row.cycles_relative;
    }
    return 0.0;
  };
  for (const auto& row : r.rows) {
    if (row.arch == "serial-1x1") {
      CHECK(std::abs(row.cycles_relative - row.bitops_relative) < 1e-6);
    }
    CHECK(row.lane_utilisation == 1.0);
  }
  CHECK(relative("serial-1x1", 3) == Approx(.633).margin(5e-4));
  CHECK(relative("brick-2x2", 3) == Approx(.703).margin(5e-4));
  CHECK(relative("stripes-1x8", 3) == Approx(.6875).margin(5e-5));
  CHECK(relative("serial-1x1", 5) == Approx(.769).margin(5e-4));
  CHECK(relative("brick-2x2", 5) == Approx(.844).margin(5e-4));
  CHECK(relative("nibble-4x4", 5) == 1.0);
  CHECK(relative("fixed-8x8", 5) == 1.0);
  options.operand_order = OperandOrder::kTable;
  r = run_compare(options);
  CHECK(relative("stripes-1x8", 3) == Approx(.896).margin(5e-4));
}

TEST_CASE("slots add up to all cycles, and explain the difference to BitOps", "[compare]") {
  CompareOptions options;
  options.archs = {"all", "ci-1x4-s4"};
  options.networks = {"resnet20-cifar10"};
  options.batch = 3;
  const CompareResult r = run_compare(options);
  for (const auto& block : r.blocks) {
    const CompareRow& base = r.rows[block.first_row];
    for (std::size_t i = 0; i < block.rows; ++i) {
      const CompareRow& row = r.rows[block.first_row + i];
      const u128 per_cycle = preset(row.arch).bitops_per_cycle();
      CHECK(row.slots.total() == row.cycles * per_cycle);
      u128 useful = 0;
      for (const auto& p : row.per_bits) {
        const unsigned weight =
            static_cast<unsigned>(p.pair.bits * p.pair.bits + 2 * p.pair.bits * p.pair.grad_bits);
        useful += u128{row.macs_useful / 3 / row.iterations} * p.iterations * weight;
      }
      CHECK(row.slots[SlotUse::kUseful] == useful);
      double points = 0.0;
      for (std::size_t u = 1; u < kSlotUses; ++u) {
        points += (static_cast<double>(row.slots.slots[u]) -
                   row.bitops_relative * static_cast<double>(base.slots.slots[u])) /
                  static_cast<double>(base.slots.total());
      }
      CHECK(row.bitops_relative + points == Approx(row.cycles_relative).epsilon(1e-12));
      CHECK(row.bitop_efficiency > 0.0);
      CHECK(row.bitop_efficiency <= 1.0);
      CHECK(row.lane_utilisation <= 1.0);
    }
  }
}

TEST_CASE("rows are consistent in themselves", "[compare]") {
  CompareOptions options;
  options.schedules = {"CR", "static"};
  options.baseline = BitPair{6, 6};
  options.bits = {{3, 8, 6, 8}};
  const CompareResult r = run_compare(options);
  REQUIRE(r.rows.size() == 3);
  CHECK(r.rows[0].qmax == 6);
  CHECK(r.rows[1].schedule == "static");
  CHECK(r.rows[1].qmax == 8);
  CHECK(r.rows[0].cycles_relative == 1.0);
  for (const auto& row : r.rows) {
    std::uint64_t cycles = 0, iterations = 0;
    double energy = 0.0;
    for (const auto& p : row.per_bits) {
      cycles += p.cycles_per_iteration * p.iterations;
      energy += p.energy_per_iteration_j * static_cast<double>(p.iterations);
      iterations += p.iterations;
    }
    CHECK(cycles == row.cycles);
    CHECK(iterations == row.iterations);
    CHECK(energy == Approx(row.energy.total()));
    std::uint64_t by_kind = 0;
    for (const auto& g : row.gemms) {
      by_kind += g.cycles;
      CHECK(g.macs_useful * 3 == row.macs_useful);
    }
    CHECK(by_kind == row.cycles);
    CHECK(row.seconds == Approx(static_cast<double>(row.cycles) / 500e6));
  }
}

TEST_CASE("traffic: unexpanded tensors, each once per GEMM", "[compare]") {
  const EnergyTable& t = literature_energy_table();
  const Workload w = make_gemm_workload({100, 20, 30});
  const auto dram = [&](const BitPair& pair, std::optional<int> result_bits) {
    std::array<double, 3> out{};
    const IterationCost c =
        iteration_cost(w, preset("serial-1x1"), t, pair, {OperandOrder::kBest, result_bits});
    for (std::size_t i = 0; i < 3; ++i) out[i] = c.gemms[i].energy.dram / t.dram_bit_j;
    return out;
  };
  const double x = 3000, wt = 600, y = 2000;
  auto d = dram({4, 6}, 32);
  CHECK(d[0] == Approx((x + wt) * 4 + y * 32));
  CHECK(d[1] == Approx(y * 6 + wt * 4 + x * 32));
  CHECK(d[2] == Approx(y * 6 + x * 4 + wt * 32));
  d = dram({4, 6}, std::nullopt);
  CHECK(d[0] == Approx((x + wt) * 4 + y * 4));
  CHECK(d[1] == Approx(y * 6 + wt * 4 + x * 6));
  CHECK(d[2] == Approx(y * 6 + x * 4 + wt * 6));
}

TEST_CASE("traffic of a product of activations and of a recurrent layer", "[compare]") {
  // A: 2 heads of 5 x 4, B: 2 heads of 4 x 3, four samples: B exists once for each sample.
  Layer product;
  product.name = "scores";
  product.kind = LayerKind::kMatmul;
  product.groups = 2;
  product.cin = 8;
  product.hi = 5;
  product.cout = 6;
  // The state of 7 steps: its weight exists once.
  Layer state;
  state.name = "state";
  state.kind = LayerKind::kRecurrent;
  state.dense = true;
  state.cin = 3;
  state.cout = 12;
  state.hi = 7;
  const auto traffic = [](const Layer& layer) {
    Network network;
    network.name = "one";
    network.layers = {layer};
    return make_workload(network, 4, DxLowering::kPhases).traffic;
  };
  const auto a = traffic(product);
  CHECK(a[0].read_input + a[0].read_weight == 4 * (8 * 5 + 2 * 4 * 3));
  CHECK(a[0].written == 4 * 6 * 5);
  CHECK(a[1].read_gradient == 4 * 6 * 5);
  CHECK(a[1].read_input + a[1].read_weight == 4 * 2 * 4 * 3);
  CHECK(a[1].written == 4 * 8 * 5);
  CHECK(a[2].read_gradient == 4 * 6 * 5);
  CHECK(a[2].read_input + a[2].read_weight == 4 * 8 * 5);
  CHECK(a[2].written == 4 * 2 * 4 * 3);
  const auto r = traffic(state);
  CHECK(r[0].read_input + r[0].read_weight == 4 * 3 * 7 + 36);
  CHECK(r[0].written == 4 * 12 * 7);
  CHECK(r[2].written == 36);
}

TEST_CASE("operand order: best never takes more cycles than the table", "[compare]") {
  const Workload w = resnet74();
  for (const auto& config : array_presets()) {
    for (int b = 1; b <= 8; ++b) {
      for (const auto& g : w.gemms) {
        const auto table = orient(config, g, {b, 8}, OperandOrder::kTable);
        const auto best = orient(config, g, {b, 8}, OperandOrder::kBest);
        CHECK(best.timing.cycles <= table.timing.cycles);
        if (best.timing.cycles == table.timing.cycles) {
          CHECK(best.descriptor.gemm == table.descriptor.gemm);
        }
      }
    }
  }
}

TEST_CASE("every distinct descriptor of the job is offered to the RTL check", "[compare]") {
  CompareOptions options;
  options.gemm = Gemm{10, 20, 30};
  options.schedules = {"CR"};
  const CompareResult r = run_compare(options);
  // Reference: three at 8/8. The array: bits 3 to 8 for three GEMMs each; dX and Y differ in
  // shape, so nothing coincides.
  CHECK(r.check_items.size() == 3 + 3 * 6);
  for (const auto& item : r.check_items) {
    CHECK(item.count == 1);
    CHECK_FALSE(item.label.empty());
    CHECK_NOTHROW(check_descriptor(item.array, item.descriptor));
  }
}

TEST_CASE("counts of long runs fit or are refused and ratios do not depend on the length",
          "[compare]") {
  CompareOptions options;
  options.schedules = {"CR"};
  const double before = run_compare(options).rows[1].cycles_relative;
  options.iterations = 64000000;
  const CompareResult r = run_compare(options);
  CHECK(r.rows[1].cycles_relative == Approx(before).epsilon(1e-4));
  CHECK(r.rows[0].bitops == u128{168214528} * 128 * 192 * 64000000);
  options.iterations = std::uint64_t{1} << 53;
  CHECK_THROWS_AS(run_compare(options), InputError);
}

TEST_CASE("absolute energy across arrays is withheld", "[compare]") {
  CompareOptions options;
  options.schedules = {"CR"};
  CHECK(run_compare(options).rows[0].energy_shown);
  options.archs = {"serial-1x1", "brick-2x2"};
  CHECK_FALSE(run_compare(options).rows[0].energy_shown);
  options.force = true;
  CHECK(run_compare(options).rows[0].energy_shown);
}
