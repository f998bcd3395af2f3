// Policies against published ratios and rules.
#include <catch2/catch.hpp>
#include <cmath>

#include "trace_testing.hpp"
#include "workloads/policy_learning_rate.hpp"
#include "workloads/policy_mixed.hpp"
#include "workloads/policy_recorded.hpp"
#include "workloads/policy_stages.hpp"
#include "workloads/schedule_export.hpp"

namespace {

using namespace bitcycle;

std::string policy_error(const std::string& text) {
  return error_text([&] { policy_totals(text); });
}

// Work of a pass, layer-iterations times repetitions, by GEMM.
std::array<std::uint64_t, 3> work_of(const TraceTotals& totals, int pass, WorkMode mode) {
  std::array<std::uint64_t, 3> out{};
  for (const auto& c : totals.counts) {
    if (c.pass != pass || c.work.mode != mode) continue;
    for (std::size_t i = 0; i < 3; ++i) out[i] += c.iterations * c.work.passes[i];
  }
  return out;
}

std::vector<std::pair<std::uint64_t, int>> changes_of(const LearningRatePolicySpec& spec) {
  std::vector<std::pair<std::uint64_t, int>> out;
  for (std::uint64_t t = 0; t < spec.iterations; ++t) {
    const int bits = spec.at(t).bits;
    if (out.empty() || out.back().second != bits) out.emplace_back(t, bits);
  }
  return out;
}

}  // namespace

TEST_CASE("every built-in schedule is a policy with the same summary", "[policy]") {
  for (const auto& name : schedule_names()) {
    ScheduleSpec spec;
    spec.name = name;
    spec.cycles = name == "static" ? 1 : 8;
    const ScheduleSummary s = summarise(spec);
    const auto t = policy_totals(name).schedule;
    INFO(name);
    REQUIRE(t);
    CHECK(t->sum_bits() == s.sum_bits());
    CHECK(t->bitops_weight() == s.bitops_weight());
    CHECK(t->precision_switches == s.precision_switches);
    CHECK(t->first_bits == s.first_bits);
    CHECK(t->last_bits == s.last_bits);
  }
  // CPT as first published: n = 32, S1 and S2 exact, published saving 36.67 %.
  const auto cpt = policy_totals("cpt").schedule;
  CHECK(to_decimal(cpt->sum_bits()) == "351936");
  CHECK(to_decimal(cpt->sum_bits_sq()) == "2150656");
}

TEST_CASE("critical learning periods have the published ratios", "[policy]") {
  const auto ratio = [](const std::string& text) { return relative_to(policy_totals(text), 8, 8); };
  // CIFAR-10: the trainer's <= makes one more low step.
  CHECK(ratio("deficit deficit=16000 inclusive=yes") == Approx(.958637).margin(5e-7));
  CHECK(ratio("deficit deficit=32000 inclusive=yes") == Approx(.921873).margin(5e-7));
  CHECK(ratio("deficit deficit=64000 inclusive=yes") == Approx(.859373).margin(5e-7));
  CHECK(ratio("deficit deficit=128000 inclusive=yes") == Approx(.765623).margin(5e-7));
  CHECK(ratio("deficit deficit=256000 inclusive=yes") == Approx(.648436).margin(5e-7));
  CHECK(ratio("deficit deficit=0 inclusive=yes") == 1.0);
  // ImageNet 100 + 150 and 25 + 150 epochs, PTB 25, 50, 75 + 100 epochs.
  CHECK(ratio("deficit low=4/8 deficit=100 normal=150") == Approx(.766667).margin(5e-7));
  CHECK(ratio("deficit low=4/8 deficit=25 normal=150") == Approx(.916667).margin(5e-7));
  CHECK(ratio("deficit low=5/8 deficit=25 normal=100") == Approx(.909375).margin(5e-7));
  CHECK(ratio("deficit low=5/8 deficit=50 normal=100") == Approx(.848958).margin(5e-7));
  CHECK(ratio("deficit low=5/8 deficit=75 normal=100") == Approx(.805804).margin(5e-7));
  // Half of a run at 3/8, wherever the window lies.
  for (const char* start : {"0", "16000", "32000", "64000", "128000"}) {
    CHECK(ratio(std::string("probe start=") + start + " window=128000") == .6484375);
  }
  CHECK(policy_error("probe start=200000 window=128000").find("window") != std::string::npos);
}

TEST_CASE("FracTrain's stages have the published weights", "[policy]") {
  const TraceTotals t = policy_totals("pfq borders=16000,32000,48000");
  REQUIRE(t.schedule);
  std::vector<int> weights;
  for (const auto& p : t.schedule->pairs) {
    CHECK(p.iterations == 16000);
    weights.push_back(p.pair.bits * p.pair.bits + 2 * p.pair.bits * p.pair.grad_bits);
  }
  CHECK(weights == std::vector<int>{45, 64, 132, 192});
  CHECK(relative_to(t, 8, 8) == Approx((45.0 + 64 + 132 + 192) / (4 * 192)));
  CHECK(policy_error("pfq").find("neither borders nor losses") != std::string::npos);
  CHECK(policy_error("pfq borders=1,2,3,4").find("at most 3") != std::string::npos);
  CHECK(policy_error("pfq borders=5,4,6").find("stage border") != std::string::npos);
  CHECK(policy_error("pfq borders=1 grad=6,8").find("4, as fwd has") != std::string::npos);
}

TEST_CASE("FracTrain's rule: flat losses advance, five periods at the earliest", "[policy]") {
  const PfqRule rule;
  CHECK(pfq_switches(std::vector<double>(30, 1.0), rule) == std::vector<std::size_t>{4, 9, 14});
  // Falling by 2 % of the mean a period: 8 % over four periods is not flat at eps 5 %.
  std::vector<double> falling;
  for (int i = 0; i < 20; ++i) falling.push_back(1.0 - 0.02 * i);
  CHECK(pfq_switches(falling, rule).empty());
  // 1 % a period is flat for the first stage (4 % <= 5 %), not for the second (eps 1.5 %).
  falling.clear();
  for (int i = 0; i < 20; ++i) falling.push_back(1.0 - 0.01 * i);
  CHECK(pfq_switches(falling, rule) == std::vector<std::size_t>{4});
  const TemporaryFile losses("# loss\n1\n1\n1\n1\n1\n");
  const auto t = policy_totals("pfq iterations=4000 losses=" + losses.path()).schedule;
  REQUIRE(t->pairs.size() == 2);
  CHECK(t->pairs[0].iterations == 2000);  // five periods of 400
  const TemporaryFile bad("1\nx\n");
  CHECK(policy_error("pfq losses=" + bad.path()).find(":2: value") != std::string::npos);
}

TEST_CASE("MuPPET climbs its word lengths, the last is FP32", "[policy]") {
  const TraceTotals t = policy_totals(
      "muppet epoch_iterations=10 switch_epochs=10,20,30,40 "
      "iterations=1000");
  std::map<int, std::uint64_t> seen;
  std::uint64_t fp32 = 0;
  for (const auto& c : t.counts) {
    if (c.layer != 0) continue;
    if (c.work.mode == WorkMode::kFp32) {
      fp32 += c.iterations;
    } else {
      CHECK(c.work.bits == LayerBits(c.work.bits.fwd_x, c.work.bits.fwd_x));
      seen[c.work.bits.fwd_x] += c.iterations;
    }
  }
  CHECK(seen == std::map<int, std::uint64_t>{{8, 100}, {12, 100}, {14, 100}, {16, 100}});
  CHECK(fp32 == 600);
  CHECK(policy_error("muppet switch_epochs=1,2,3,4,5").find("at most 4") != std::string::npos);
}

TEST_CASE("MuPPET's rule: two violations of the falling threshold", "[policy]") {
  const MuppetRule rule;
  // Thresholds at epochs 2, 5, 8, 11: 2.228, 1.910, 1.674, 1.499.
  CHECK(muppet_switches({2.0, 1.0, 1.0, 1.0}, rule, 4) == std::vector<std::uint64_t>{9});
  CHECK(muppet_switches({1.9, 1.0, 1.0, 1.0}, rule, 4) == std::vector<std::uint64_t>{12});
  CHECK(muppet_switches({1.0, 1.0, 1.0, 1.0}, rule, 4).empty());
  CHECK(muppet_switches({1.0, 2.0, 3.0, 4.0}, rule, 4).empty());
  // A switch forgets the largest value.
  CHECK(muppet_switches({9.0, 1.0, 1.0, 1.0, 1.0, 1.0}, rule, 4) == std::vector<std::uint64_t>{9});
  CHECK(muppet_switches({9.0, 1.0, 1.0, 9.0, 1.0, 1.0}, rule, 4) ==
        std::vector<std::uint64_t>{9, 18});
  CHECK(muppet_switches({9.0, 1.0, 1.0, 9.0, 1.0, 1.0}, rule, 1).size() == 1);
}

TEST_CASE("HALP costs 2 + batches / T of SGD", "[policy]") {
  struct Case {
    std::uint64_t recentre, batches;
  };
  for (const Case c : {Case{391, 391}, Case{196, 391}, Case{1173, 391}, Case{1, 1}}) {
    const std::uint64_t n = 391 * 12;
    const TraceTotals t = policy_totals("halp iterations=" + std::to_string(n) +
                                        " batches=" + std::to_string(c.batches) +
                                        " recentre=" + std::to_string(c.recentre));
    const auto low = work_of(t, 0, WorkMode::kArray);
    const auto centre = work_of(t, 1, WorkMode::kFp32);
    const auto sweep = work_of(t, 2, WorkMode::kFp32);
    INFO(c.recentre);
    const std::uint64_t sweeps = (n + c.recentre - 1) / c.recentre;
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(low[i] == 3 * n);
      CHECK(centre[i] == 3 * n);
      CHECK(sweep[i] == 3 * sweeps * c.batches);
      const double multiplier =
          static_cast<double>(low[i] + centre[i] + sweep[i]) / static_cast<double>(3 * n);
      const double exact = 2.0 + static_cast<double>(c.batches) / static_cast<double>(c.recentre);
      CHECK(multiplier == Approx(exact).epsilon(n % c.recentre == 0 ? 1e-12 : 0.01));
    }
  }
  CHECK(work_of(policy_totals("halp centre=16"), 1, WorkMode::kArray)[0] == 3 * 64000);
}

TEST_CASE("SWALP averages from its epoch on, SPEQ runs forward twice", "[policy]") {
  const TraceTotals swalp = policy_totals("swalp epoch_iterations=10");
  CHECK(swalp.iterations == 3000);
  CHECK(swalp.averaging_updates == 100);  // once an epoch
  const TraceTotals each = policy_totals("swalp epoch_iterations=10 average_every=5");
  CHECK(each.averaging_updates == 200);
  CHECK(to_decimal(each.averaging_read_bits) == std::to_string(200 * 1000 * (8 + 32)));
  CHECK(to_decimal(each.averaging_written_bits) == std::to_string(200 * 1000 * 32));
  REQUIRE(each.schedule);
  CHECK(each.schedule->pairs.size() == 1);

  const TraceTotals speq = policy_totals("speq iterations=7000");
  CHECK(work_of(speq, 0, WorkMode::kArray) == std::array<std::uint64_t, 3>{21000, 21000, 21000});
  CHECK(work_of(speq, 1, WorkMode::kArray) == std::array<std::uint64_t, 3>{21000, 0, 0});
  std::map<int, std::uint64_t> drawn;
  for (const auto& c : speq.counts) {
    if (c.pass != 1) continue;
    CHECK(c.work.bits.fwd_w == 2);
    drawn[c.work.bits.fwd_x] += c.iterations;
  }
  REQUIRE(drawn.size() == 7);
  for (const auto& [bits, iterations] : drawn) {
    CHECK(std::abs(static_cast<double>(iterations) - 3000.0) < 300.0);  // 6 standard deviations
  }
}

TEST_CASE("block replacement: block j runs in FP32 in j mixed networks", "[policy]") {
  const TraceTotals t = policy_totals("block-replacement blocks=3 iterations=10 teacher=no");
  CHECK(work_of(t, 0, WorkMode::kArray) == std::array<std::uint64_t, 3>{30, 30, 30});
  CHECK(work_of(t, 1, WorkMode::kFp32) == std::array<std::uint64_t, 3>{30, 30, 0});  // 0 + 1 + 2
  const TraceTotals with = policy_totals("block-replacement blocks=3 iterations=10");
  CHECK(work_of(with, 1, WorkMode::kFp32) == std::array<std::uint64_t, 3>{60, 30, 0});
  CHECK(policy_error("block-replacement blocks=4").find("quantised layers, 3") !=
        std::string::npos);
}

TEST_CASE("FAST's front reaches late layers first and never falls", "[policy]") {
  const TraceTotals t = policy_totals("fast iterations=1000");
  std::array<std::uint64_t, 3> low{};
  for (const auto& c : t.counts) {
    CHECK((c.work.bits.fwd_x == 2 || c.work.bits.fwd_x == 4));
    if (c.work.bits.fwd_w == 2) low[c.layer] += c.iterations;
  }
  CHECK(low == std::array<std::uint64_t, 3>{900, 650, 400});  // 0.4 + 0.5 * (1, 1/2, 0)
}

TEST_CASE("FP4 pre-training ends in its target precision", "[policy]") {
  const TraceTotals t = policy_totals("target-precision attention=conv2 iterations=100 phase=0.08");
  std::map<std::pair<std::uint32_t, int>, std::uint64_t> seen;
  for (const auto& c : t.counts) seen[{c.layer, c.work.bits.fwd_x}] += c.iterations;
  CHECK(seen[{0, 4}] == 92);
  CHECK(seen[{1, 8}] == 92);
  CHECK(seen[{0, 16}] == 8);
  CHECK(seen[{1, 16}] == 8);
  const TraceTotals fp32 =
      policy_totals("target-precision target=fp32 target_from=60 iterations=100");
  CHECK(work_of(fp32, 0, WorkMode::kFp32)[0] == 120);
}

TEST_CASE("learning rates become bits", "[policy]") {
  using Profile = LearningRatePolicySpec::Profile;
  LearningRatePolicySpec s;
  s.iterations = 64000;
  // l = 1, 0.1, 0.01: 8 - 5l = 3, 7.5 -> 8 (half to even), 7.95 -> 8.
  CHECK(changes_of(s) == std::vector<std::pair<std::uint64_t, int>>{{0, 3}, {32000, 8}});
  s.gamma = 0.5;
  CHECK(changes_of(s) ==
        std::vector<std::pair<std::uint64_t, int>>{{0, 3}, {32000, 6}, {48000, 7}});
  s.inverse = false;
  CHECK(changes_of(s).front().second == 8);
  s = {};
  s.profile = Profile::kPolynomial;
  s.iterations = 1000;
  // Linear decay in inverse direction is LR in one cycle.
  ScheduleSpec lr;
  lr.name = "LR";
  lr.cycles = 1;
  lr.iterations = 1000;
  int different = 0;
  for (std::uint64_t t = 0; t < 1000; ++t) different += s.at(t) == bits_at(lr, t) ? 0 : 1;
  CHECK(different <= 5);  // exact halves, where the order of operations decides
  s.profile = Profile::kCosine;
  lr.name = "CR";
  different = 0;
  for (std::uint64_t t = 0; t < 1000; ++t) different += s.at(t) == bits_at(lr, t) ? 0 : 1;
  CHECK(different <= 2);
  // k-decay with k = 1 is the plain schedule; with larger k the rate stays up longer.
  s.profile = Profile::kKDecayCosine;
  CHECK(s.rate(500) == Approx(0.5));
  s.k = 2;
  CHECK(s.rate(500) == Approx(0.5 * (1 + std::cos(M_PI * 0.25))));
  s.profile = Profile::kKDecay;
  CHECK(s.rate(500) == Approx(0.75));
  // Restarts at 100, 300, 700 with T0 = 100 and factor 2.
  s.profile = Profile::kWarmRestarts;
  s.first_cycle = 100;
  s.multiple = 2;
  for (const std::uint64_t t : {0U, 100U, 300U, 700U}) CHECK(s.rate(t) == 1.0);
  CHECK(s.rate(200) == Approx(0.5));
  CHECK(s.rate(699) < 1e-3);
  s.profile = Profile::kOneCycle;
  CHECK(s.rate(0) == Approx(s.start));
  CHECK(s.rate(300) == Approx(1.0));
  CHECK(s.rate(999) == Approx(s.end).margin(1e-4));
  // As CR: the warm restarts of cosine are CPT's cycles.
  const auto restarts =
      policy_totals("learning-rate profile=warm-restarts first_cycle=8000").schedule;
  CHECK(std::abs(restarts->mean_bits() - policy_totals("CR").schedule->mean_bits()) < 1e-3);
  CHECK(policy_error("learning-rate profile=stp").find("did you mean 'step'?") !=
        std::string::npos);
  CHECK(policy_error("learning-rate gamma=nan").find("gamma") != std::string::npos);
  CHECK(policy_error("learning-rate power=2").find("'power'") != std::string::npos);
  CHECK(policy_error("learning-rate milestones=5,3").find("ascending") != std::string::npos);
}

TEST_CASE("lists of bits, of layers and of configurations", "[policy]") {
  const auto t = policy_totals("piecewise steps=0:3/8,40:8/8 iterations=100").schedule;
  CHECK(t->pairs[0].iterations == 40);
  CHECK(policy_error("piecewise steps=1:3/8").find("rise from 0") != std::string::npos);
  CHECK(policy_error("piecewise steps=0-3/8").find("a list such as") != std::string::npos);

  const std::string csv =
      "layer,bits_w,bits_a,bits_g\nconv*,4,8,8 # most\n1,2,3,8\nblock.conv3,8,8,8\n";
  const std::string yaml =
      "- {layer: \"conv*\", bits_w: 4, bits_a: 8, bits_g: 8}\n- layer: 1\n  bits_w: 2\n  bits_a: "
      "3\n"
      "  bits_g: 8\n- {layer: block.conv3, bits_w: 8, bits_a: 8, bits_g: 8}\n";
  for (const std::string& ending : {std::string(".csv"), std::string(".yaml")}) {
    const TemporaryFile plain("");
    const std::string path = plain.path() + ending;
    std::ofstream(path) << (ending == ".csv" ? csv : yaml);
    const TraceTotals mixed = policy_totals("mixed file=" + path + " iterations=10");
    REQUIRE(mixed.counts.size() == 3);
    CHECK(mixed.counts[0].work.bits == LayerBits(4, 8, 8));
    CHECK(mixed.counts[1].work.bits == LayerBits(2, 3, 8));
    CHECK(mixed.counts[2].work.bits == LayerBits(8, 8, 8));
    std::filesystem::remove(path);
  }
  const TemporaryFile unknown("conv1,4,4,8\nconv9,4,4,8\n");
  CHECK(policy_error("mixed file=" + unknown.path()).find(":2: layer: found 'conv9'") !=
        std::string::npos);
  const TemporaryFile whole("all,4,4,8\n2,8,8,8\n");
  CHECK(policy_totals("mixed iterations=10 file=" + whole.path()).counts.size() == 3);
  const TemporaryFile wide("conv1,4,17,8\n");
  CHECK(policy_error("mixed file=" + wide.path()).find(":1: bits_a: found '17'") !=
        std::string::npos);
  const TemporaryFile partly("conv1,4,4,8\n");
  CHECK(policy_error("mixed file=" + partly.path()).find("conv2: found no record") !=
        std::string::npos);
  const TemporaryFile configs("name,bits_w,bits_a,bits_g\na,2,4,8\nb,4,4,8\n");
  REQUIRE(read_configs(configs.path()).size() == 2);
  CHECK(read_configs(configs.path())[0].bits == LayerBits(2, 4, 8));
  const TemporaryFile twice("a,2,4,8\na,4,4,8\n");
  CHECK(error_text([&] { read_configs(twice.path()); }).find(":2: name: found 'a' twice") !=
        std::string::npos);
}

TEST_CASE("recorded policies follow their rules", "[policy]") {
  CHECK(ldp_bits(0.0, 3, 8) == 3);
  CHECK(ldp_bits(0.5, 3, 8) == 6);  // 5.5, half to even
  CHECK(ldp_bits(0.3, 3, 8) == 4);  // 4.5, half to even
  CHECK(ldp_bits(7.0, 3, 8) == 8);
  CHECK(ldp_bits(-1.0, 3, 8) == 3);
  const TemporaryFile betas("iteration,layer,value\n0,conv1,0.5\n10,all,1\n20,2,0\n");
  const TraceTotals ldp = policy_totals("ldp iterations=100 values=" + betas.path());
  std::map<std::pair<std::uint32_t, int>, std::uint64_t> seen;
  for (const auto& c : ldp.counts) seen[{c.layer, c.work.bits.fwd_x}] += c.iterations;
  const std::map<std::pair<std::uint32_t, int>, std::uint64_t> wanted = {
      {{0, 6}, 10}, {{0, 8}, 90}, {{1, 3}, 10}, {{1, 8}, 90}, {{2, 3}, 90}, {{2, 8}, 10}};
  CHECK(seen == wanted);

  const AptRule rule;
  CHECK(rule.next(6, 0.5) == 7);
  CHECK(rule.next(6, 5.0) == 6);
  CHECK(rule.next(6, 11.0) == 5);
  CHECK(rule.next(16, 0.5) == 16);
  CHECK(rule.next(2, 99.0) == 2);
  const TemporaryFile gavg("0,all,0.1\n50,all,0.1\n");
  const auto apt = policy_totals("apt iterations=100 values=" + gavg.path()).schedule;
  REQUIRE(apt->pairs.size() == 2);
  CHECK(apt->pairs[0].pair == BitPair{7, 7});

  const TemporaryFile dps("iteration,tensor,overflow,error\n0,W,0,1\n10,W,0.1,0\n20,G,0,0\n");
  const TraceTotals d =
      policy_totals("dps iterations=100 integer=4 fraction=8 values=" + dps.path());
  // W: 4+8 -> 3+9 -> 4+8; G: 4+8 -> 3+7.
  std::map<std::pair<int, int>, std::uint64_t> widths;
  for (const auto& c : d.counts) {
    if (c.layer == 0) widths[{c.work.bits.fwd_w, c.work.bits.dx_g}] += c.iterations;
  }
  CHECK(widths == std::map<std::pair<int, int>, std::uint64_t>{{{12, 12}, 20}, {{12, 10}, 80}});
  const TemporaryFile back("5,all,1\n4,all,1\n");
  CHECK(policy_error("ldp values=" + back.path()).find(":2: iteration: found '4'") !=
        std::string::npos);
  const TemporaryFile inf("5,all,inf\n");
  CHECK(policy_error("apt values=" + inf.path()).find("a finite number") != std::string::npos);
}

TEST_CASE("policies refuse wrong settings in one line", "[policy]") {
  CHECK(policy_error("pqf").find("did you mean 'pfq'?") != std::string::npos);
  CHECK(policy_error("halp bit=8").find("did you mean 'bits'?") != std::string::npos);
  CHECK(policy_error("halp bits").find("key=value") != std::string::npos);
  CHECK(policy_error("halp bits=").find("key=value") != std::string::npos);
  CHECK(policy_error("halp bits=8 bits=8").find("the key twice") != std::string::npos);
  for (const char* value : {"0", "17", "-1", "8.0", "1e1"}) {
    CHECK(policy_error(std::string("halp bits=") + value).find("policy halp: bits") !=
          std::string::npos);
  }
  CHECK(policy_error("swalp bits=3:8/8").find("one pair") != std::string::npos);
  CHECK(policy_error("CR cycles=0").find("cycles") != std::string::npos);
  CHECK(policy_error("").find("found nothing") != std::string::npos);
  for (const auto& info : policy_infos()) CHECK(std::string(info.settings).find('=') != 0);
}
