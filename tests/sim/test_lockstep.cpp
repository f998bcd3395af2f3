// RTL = model in every register and cycle, = golden in every result, = formula in cycles and
// events, on the ten CI arrays: every precision pair, random work, directed corners, resets.
#include <catch2/catch.hpp>
#include <functional>
#include <vector>

#include "golden/error.hpp"
#include "tests/sim/lockstep_testing.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Equals;

// What the whole suite promises is 1e5 tiles: a tenth for each of the ten arrays.
constexpr std::uint64_t kLeastTiles = 10'000;

// Each array gets shapes and operands of its own.
void require_all_precisions(const char* name, std::uint64_t seed) {
  const ArrayConfig config = resolve_array(name);
  constexpr std::uint64_t kRepeat = 6;
  CAPTURE(name, seed);
  const LockstepRun run = run_lockstep(config, all_precisions(config, seed, kRepeat), seed);
  REQUIRE_THAT(run.failure, Equals(""));
  CHECK(run.totals.gemms == kRepeat * 16 * 16 * 4);
  CHECK(run.totals.tiles >= kLeastTiles);
  CHECK(run.registers > 100);
}

void require_random(const char* name, RtlFlavour flavour = RtlFlavour::kPlain) {
  const ArrayConfig config = resolve_array(name);
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(name, seed, to_string(flavour));
    const LockstepRun run = run_lockstep(config, random_jobs(config, seed, 300), seed, {}, flavour);
    REQUIRE_THAT(run.failure, Equals(""));
    CHECK(run.totals.gemms == 300);
    CHECK(run.totals.stalled > 10);
    CHECK(run.totals.refused > 0);
  }
}

Descriptor descriptor(std::uint64_t m, std::uint64_t n, std::uint64_t k, int pa, int pw,
                      bool a_signed = true, bool w_signed = true) {
  return {{m, n, k}, {pa, a_signed}, {pw, w_signed}};
}

// Every sign mode of one shape and width pair.
std::vector<Descriptor> signs(std::uint64_t m, std::uint64_t n, std::uint64_t k, int pa, int pw) {
  std::vector<Descriptor> out;
  for (const bool a : {false, true}) {
    for (const bool w : {false, true}) out.push_back(descriptor(m, n, k, pa, pw, a, w));
  }
  return out;
}

void require_everywhere(const std::vector<Descriptor>& list, OperandPattern pattern,
                        StallPattern stalls = {}, std::uint64_t seed = 1) {
  for (const auto& config : ci_configs()) {
    CAPTURE(config.name, operand_pattern_name(pattern), seed);
    const LockstepRun run = run_lockstep(config, listed_jobs(list, pattern, stalls), seed);
    REQUIRE_THAT(run.failure, Equals(""));
    REQUIRE(run.totals.gemms == list.size());
  }
}

}  // namespace

TEST_CASE("lockstep: every precision pair and sign mode on ci-1x1-s1") {
  require_all_precisions("ci-1x1-s1", 2024);
}
TEST_CASE("lockstep: every precision pair and sign mode on ci-1x1-s4") {
  require_all_precisions("ci-1x1-s4", 2025);
}
TEST_CASE("lockstep: every precision pair and sign mode on ci-1x4-s1") {
  require_all_precisions("ci-1x4-s1", 2026);
}
TEST_CASE("lockstep: every precision pair and sign mode on ci-1x4-s4") {
  require_all_precisions("ci-1x4-s4", 2027);
}
TEST_CASE("lockstep: every precision pair and sign mode on ci-1x8-s1") {
  require_all_precisions("ci-1x8-s1", 2028);
}
TEST_CASE("lockstep: every precision pair and sign mode on ci-1x8-s4") {
  require_all_precisions("ci-1x8-s4", 2029);
}
TEST_CASE("lockstep: every precision pair and sign mode on ci-2x2-s1") {
  require_all_precisions("ci-2x2-s1", 2030);
}
TEST_CASE("lockstep: every precision pair and sign mode on ci-2x2-s4") {
  require_all_precisions("ci-2x2-s4", 2031);
}
TEST_CASE("lockstep: every precision pair and sign mode on ci-4x4-s1") {
  require_all_precisions("ci-4x4-s1", 2032);
}
TEST_CASE("lockstep: every precision pair and sign mode on ci-4x4-s4") {
  require_all_precisions("ci-4x4-s4", 2033);
}

TEST_CASE("lockstep: random work with stalls and refused descriptors, 1x1") {
  require_random("ci-1x1-s1");
  require_random("ci-1x1-s4");
}
TEST_CASE("lockstep: random work with stalls and refused descriptors, 1x4") {
  require_random("ci-1x4-s1");
  require_random("ci-1x4-s4");
}
TEST_CASE("lockstep: random work with stalls and refused descriptors, 1x8") {
  require_random("ci-1x8-s1");
  require_random("ci-1x8-s4");
}
TEST_CASE("lockstep: random work with stalls and refused descriptors, 2x2") {
  require_random("ci-2x2-s1");
  require_random("ci-2x2-s4");
}
TEST_CASE("lockstep: random work with stalls and refused descriptors, 4x4") {
  require_random("ci-4x4-s1");
  require_random("ci-4x4-s4");
}

TEST_CASE("lockstep: with clock gates, random work with stalls and refused descriptors") {
  require_random("ci-1x1-s4", RtlFlavour::kGated);
  require_random("ci-2x2-s1", RtlFlavour::kGated);
}

TEST_CASE("lockstep: with clock gates, every precision pair and sign mode") {
  for (const char* name : {"ci-1x1-s4", "ci-2x2-s1"}) {
    const ArrayConfig config = resolve_array(name);
    const LockstepRun run =
        run_lockstep(config, all_precisions(config, 7, 1), 7, {}, RtlFlavour::kGated);
    CAPTURE(name);
    REQUIRE_THAT(run.failure, Equals(""));
    CHECK(run.totals.gemms == 16 * 16 * 4);
  }
}

TEST_CASE("lockstep: extreme operands") {
  std::vector<Descriptor> list;
  for (const auto& [pa, pw] : {std::pair{1, 1}, {8, 8}, {9, 9}, {16, 16}, {3, 8}, {5, 16}}) {
    for (const auto& d : signs(5, 6, 33, pa, pw)) list.push_back(d);
  }
  for (const auto pattern : kOperandPatterns) require_everywhere(list, pattern);
}

TEST_CASE("lockstep: unequal precisions, where the weights of a mixed radix have holes") {
  std::vector<Descriptor> list;
  for (const auto& [pa, pw] : {std::pair{3, 8},
                               {8, 3},
                               {5, 16},
                               {16, 5},
                               {1, 16},
                               {16, 1},
                               {2, 9},
                               {9, 2},
                               {7, 12},
                               {12, 7},
                               {8, 9},
                               {9, 8}}) {
    for (const auto& d : signs(4, 4, 40, pa, pw)) list.push_back(d);
  }
  require_everywhere(list, OperandPattern::kUniform);
}

TEST_CASE("lockstep: one element, and one more or less than a tile or chunk") {
  std::vector<Descriptor> list;
  for (const std::uint64_t m : {1, 3, 4, 5}) {
    for (const std::uint64_t n : {1, 3, 4, 5}) {
      for (const std::uint64_t k : {1, 15, 16, 17, 32}) {
        list.push_back(descriptor(m, n, k, 3, 4, (m + n) % 2 == 0, k % 2 == 0));
        list.push_back(descriptor(m, n, k, 1, 1, false, false));
      }
    }
  }
  require_everywhere(list, OperandPattern::kUniform);
}

TEST_CASE("lockstep: many short tiles, which wait for the drain") {
  std::vector<Descriptor> list;
  for (const auto& d : signs(33, 41, 3, 1, 2)) list.push_back(d);
  for (const auto& d : signs(41, 9, 16, 2, 1)) list.push_back(d);
  require_everywhere(list, OperandPattern::kUniform);
  require_everywhere(list, OperandPattern::kUniform, {0, 0, 128, 0});
}

TEST_CASE("lockstep: back to back with a new precision each time") {
  std::vector<Descriptor> list;
  list.reserve(120);
  for (int i = 0; i < 120; ++i) {
    // Wide after narrow and narrow after wide, signed after unsigned: stale registers would show.
    list.push_back(descriptor(4, 4, 16, i % 2 == 0 ? 16 - i % 5 : 1 + i % 3,
                              i % 3 == 0 ? 15 : 1 + i % 9, i % 2 == 0, i % 4 < 2));
  }
  require_everywhere(list, OperandPattern::kUniform);
  require_everywhere(list, OperandPattern::kAllOnes);
}

TEST_CASE("lockstep: heavy stalls of one channel at a time, at every phase") {
  const std::vector<Descriptor> list = {descriptor(5, 9, 33, 3, 2), descriptor(9, 5, 17, 9, 1),
                                        descriptor(4, 4, 5, 1, 1), descriptor(13, 4, 16, 2, 2)};
  const StallPattern patterns[] = {{235, 0, 0, 0}, {0, 235, 0, 0},  {0, 0, 235, 0},
                                   {0, 0, 0, 235}, {60, 0, 235, 0}, {128, 128, 128, 128}};
  for (const auto& stalls : patterns) {
    CAPTURE(stalls.a, stalls.w, stalls.result, stalls.descriptor);
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      require_everywhere(list, OperandPattern::kUniform, stalls, seed);
    }
  }
}

TEST_CASE("lockstep: refused descriptors between good ones change nothing") {
  std::vector<Descriptor> list;
  for (int i = 0; i < 6; ++i) {
    Descriptor bad = descriptor(2, 2, 2, 2, 2);
    if (i == 0) bad.gemm.m = 0;
    if (i == 1) bad.gemm.n = 0;
    if (i == 2) bad.gemm.k = 0;
    if (i == 3) bad.a.bits = 0;
    if (i == 4) bad.w.bits = 0;
    if (i == 5) bad.w.bits = 17;
    list.push_back(bad);
    list.push_back(descriptor(3, 5, 18, 4, 9));
  }
  const auto make = [&](std::uint64_t number) -> std::optional<GemmJob> {
    if (number >= list.size()) return std::nullopt;
    const Descriptor& d = list[number];
    const Descriptor& good = list[1];
    return GemmJob{d,
                   make_operands(OperandPattern::kUniform, good.gemm.m, good.gemm.n, good.gemm.k,
                                 good.a, good.w, 1),
                   {},
                   "refused or not"};
  };
  for (const auto& config : ci_configs()) {
    CAPTURE(config.name);
    const LockstepRun run = run_lockstep(config, make, 1);
    REQUIRE_THAT(run.failure, Equals(""));
    CHECK(run.totals.refused == 6);
  }
}

TEST_CASE("lockstep: reset of both in the middle of a job, then work as if nothing had been") {
  for (const char* name : {"ci-1x1-s4", "ci-2x2-s1", "ci-1x8-s4"}) {
    const ArrayConfig config = resolve_array(name);
    const std::vector<Descriptor> list = {descriptor(9, 6, 40, 10, 3)};
    const std::uint64_t length = gemm_timing(config, list[0]).cycles;
    const auto rtl = make_rtl_model(config, RtlFlavour::kPlain, 7);
    for (std::uint64_t at = 1; at < length; at += 1 + length / 60) {
      CAPTURE(name, at);
      ArrayCore model(config);
      JudgedJobs jobs(config, listed_jobs(list, OperandPattern::kUniform));
      Stimulus stimulus(config, jobs, at);
      LockstepOptions options;
      options.max_cycles = at;
      Lockstep pair(*rtl, model, stimulus, options);
      REQUIRE(pair.run().cycles == at);
      REQUIRE_FALSE(pair.outcome().mismatch);
      // Data registers keep what they hold, control registers start again: on both sides alike.
      rtl->reset();
      model.reset();
      const RegisterCompare compare(rtl->registers(), model.registers());
      const auto difference = compare.compare();
      INFO((difference ? difference->signal : ""));
      REQUIRE_FALSE(difference);
      const LockstepRun run = run_lockstep(*rtl, config, random_jobs(config, at, 3), at);
      REQUIRE_THAT(run.failure, Equals(""));
    }
  }
}

TEST_CASE("lockstep: a cycle limit and a mismatch stop a run, and say so") {
  const ArrayConfig config = resolve_array("ci-1x1-s4");
  LockstepOptions options;
  options.max_cycles = 50;
  const LockstepRun run = run_lockstep(config, random_jobs(config, 1, 100), 1, options);
  CHECK(run.outcome.cycles == 50);
  CHECK(run.outcome.stopped == "stopped at --max-cycles 50");
  CHECK_FALSE(run.outcome.mismatch);

  // A model that is off by a single bit of a single register is told from the RTL.
  const auto rtl = make_rtl_model(config, RtlFlavour::kPlain, 1);
  ArrayCore model(config);
  JudgedJobs jobs(config, random_jobs(config, 1, 100));
  Stimulus stimulus(config, jobs, 1);
  Lockstep pair(*rtl, model, stimulus);
  for (int i = 0; i < 20; ++i) {
    const ArrayStep* step = pair.tick();
    REQUIRE(step != nullptr);
    rtl->step(*step);
    model.step(*step);
  }
  for (const auto& view : model.registers()) {
    if (view.name != "bc_array.g_col[2].g_acc[0].u_acc.acc_q") continue;
    put_bits(view.data, 64 * 5 + 47, 1, get_bits(view.data, 64 * 5 + 47, 1) ^ 1U);
  }
  CHECK(pair.tick() == nullptr);
  REQUIRE(pair.outcome().mismatch);
  CHECK(pair.outcome().mismatch->cycle == 20);
  CHECK(pair.outcome().mismatch->signal == "bc_array.g_col[2].g_acc[0].u_acc.acc_q[5]");
  CHECK(pair.tick() == nullptr);  // and stays stopped
}

namespace {

// A model whose registers are right and one of whose ports is not.
class WrongPort : public Array {
 public:
  using Tamper = std::function<void(ArrayPorts&)>;
  WrongPort(const ArrayConfig& config, Tamper tamper) : core_(config), tamper_(std::move(tamper)) {
    publish();
  }
  void reset() override {
    core_.reset();
    publish();
  }
  void step(const ArrayStep& in) override {
    core_.step(in);
    publish();
  }
  const ArrayPorts& ports() const override { return ports_; }
  const std::vector<RegisterView>& registers() override { return core_.registers(); }

 private:
  void publish() {
    ports_ = core_.ports();
    tamper_(ports_);
  }
  ArrayCore core_;
  Tamper tamper_;
  ArrayPorts ports_;
};

}  // namespace

TEST_CASE("lockstep: every port is compared, not only the registers behind it") {
  const ArrayConfig config = resolve_array("ci-1x1-s4");
  const std::pair<const char*, WrongPort::Tamper> ports[] = {
      {"desc_ready_o", [](ArrayPorts& p) { p.desc_ready = !p.desc_ready; }},
      {"err_o", [](ArrayPorts& p) { p.err = !p.err; }},
      {"cause_o", [](ArrayPorts& p) { p.cause ^= 1U; }},
      {"a_ready_o", [](ArrayPorts& p) { p.a_ready = !p.a_ready; }},
      {"w_ready_o", [](ArrayPorts& p) { p.w_ready = !p.w_ready; }},
      {"res_valid_o", [](ArrayPorts& p) { p.res_valid = !p.res_valid; }},
      {"res_last_o", [](ArrayPorts& p) { p.res_last = !p.res_last; }},
      {"overflow_o", [](ArrayPorts& p) { p.overflow = !p.overflow; }},
      {"ev_digit_o", [](ArrayPorts& p) { p.ev.digit = false; }},
      {"ev_idle_o", [](ArrayPorts& p) { p.ev.idle = false; }},
      {"ev_freeze_o", [](ArrayPorts& p) { p.ev.freeze = true; }},
      {"ev_add_o", [](ArrayPorts& p) { p.ev.add = false; }},
      {"ev_flush_o", [](ArrayPorts& p) { p.ev.flush = false; }},
      {"ev_rows_o", [](ArrayPorts& p) { p.ev.rows = 0; }},
      {"ev_cols_o", [](ArrayPorts& p) { p.ev.cols = 0; }},
      {"ev_flush_rows_o", [](ArrayPorts& p) { p.ev.flush_rows = 0; }},
      {"ev_flush_ones_o", [](ArrayPorts& p) { p.ev.flush_ones = 0; }},
      {"ev_flush_cols_o", [](ArrayPorts& p) { p.ev.flush_cols = 0; }},
      {"ev_a_words_o", [](ArrayPorts& p) { p.ev.a_words = 0; }},
      {"ev_w_words_o", [](ArrayPorts& p) { p.ev.w_words = 0; }}};
  for (const auto& [name, tamper] : ports) {
    CAPTURE(name);
    const auto rtl = make_rtl_model(config, RtlFlavour::kPlain, 1);
    WrongPort model(config, tamper);
    JudgedJobs jobs(config, listed_jobs({descriptor(5, 6, 40, 3, 1)}, OperandPattern::kUniform));
    Stimulus stimulus(config, jobs, 1);
    Lockstep pair(*rtl, model, stimulus);
    pair.run();
    REQUIRE(pair.outcome().mismatch);
    CHECK(pair.outcome().mismatch->signal == std::string("port ") + name);
    CHECK(pair.outcome().mismatch->rtl != pair.outcome().mismatch->model);
  }
}

TEST_CASE("lockstep: progress is reported about every 65,536 cycles") {
  const ArrayConfig config = resolve_array("ci-4x4-s1");
  std::vector<std::uint64_t> seen;
  LockstepOptions options;
  options.progress = [&](std::uint64_t cycle) { seen.push_back(cycle); };
  options.max_cycles = 200'000;
  run_lockstep(config, random_jobs(config, 1, 1'000'000), 1, options);
  CHECK(seen == std::vector<std::uint64_t>{65536, 131072, 196608});
}
