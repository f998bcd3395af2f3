// The cycle-accurate core alone: golden results, formula cycles and events on arrays of any shape.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "golden/error.hpp"
#include "golden/widths.hpp"
#include "model/core.hpp"
#include "tests/model/random_array.hpp"
#include "tests/sim/model_testing.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Equals;

ArrayConfig array(int ra, int rw, int kl, int tm, int tn, int s, int ba, int bw, int p_max, int q) {
  ArrayConfig c;
  c.ra = ra;
  c.rw = rw;
  c.kl = kl;
  c.tm = tm;
  c.tn = tn;
  c.s = s;
  c.ba = ba;
  c.bw = bw;
  c.p_max = p_max;
  c.q = q;
  c.ac_w = min_ac_w(kl);
  c.acc_w = c.ac_w + (p_max > 8 ? 16 : 0) + 4;
  c.name = c.key();
  c.validate();
  return c;
}

void require_random_campaign(const ArrayConfig& config, std::uint64_t jobs) {
  for (const std::uint64_t seed : {1, 2}) {
    CAPTURE(config.key(), seed);
    ArrayCore core(config);
    const CampaignTotals totals = run_alone(core, config, random_jobs(config, seed, jobs), seed);
    REQUIRE_THAT(totals.failure, Equals(""));
    REQUIRE(totals.gemms == jobs);
  }
}

Descriptor descriptor(std::uint64_t m, std::uint64_t n, std::uint64_t k, Precision a, Precision w) {
  return {{m, n, k}, a, w};
}

JudgedJobs::Maker one_job(const Descriptor& d, OperandPattern pattern, StallPattern stalls = {}) {
  return [=](std::uint64_t number) -> std::optional<GemmJob> {
    if (number > 0) return std::nullopt;
    const Gemm& g = d.gemm;
    return GemmJob{d, make_operands(pattern, g.m, g.n, g.k, d.a, d.w, 5), stalls, "directed"};
  };
}

}  // namespace

TEST_CASE("core: one PE, one lane") {
  require_random_campaign(array(1, 1, 1, 1, 1, 1, 1, 1, 16, 1), 200);
}

TEST_CASE("core: lanes that are no power of two") {
  require_random_campaign(array(1, 1, 7, 4, 4, 2, 4, 4, 16, 4), 100);
  require_random_campaign(array(4, 1, 7, 6, 5, 3, 2, 10, 16, 15), 100);
  require_random_campaign(array(2, 8, 13, 3, 4, 3, 3, 8, 16, 2), 100);
}

TEST_CASE("core: lanes beyond a machine word") {
  require_random_campaign(array(1, 1, 65, 3, 3, 1, 3, 3, 16, 3), 60);
  require_random_campaign(array(1, 1, 100, 2, 4, 2, 2, 4, 16, 4), 60);
  require_random_campaign(array(1, 1, 256, 2, 2, 1, 2, 2, 16, 2), 30);
  require_random_campaign(array(2, 4, 100, 2, 3, 2, 2, 3, 16, 3), 30);
  require_random_campaign(array(8, 8, 256, 2, 2, 2, 4, 4, 16, 4), 30);
}

TEST_CASE("core: a whole column shares one accumulator") {
  require_random_campaign(array(1, 1, 16, 8, 3, 8, 8, 3, 16, 3), 80);
  require_random_campaign(array(2, 2, 16, 12, 4, 12, 4, 4, 16, 4), 60);
  // The ones row shares as well where S divides TN, else it does not.
  require_random_campaign(array(1, 1, 16, 4, 8, 4, 4, 8, 16, 8), 80);
  require_random_campaign(array(1, 1, 16, 4, 6, 4, 4, 6, 16, 6), 80);
}

TEST_CASE("core: drains of one result, of a whole tile and of rows that do not divide it") {
  require_random_campaign(array(1, 1, 8, 4, 4, 4, 4, 4, 16, 1), 80);
  require_random_campaign(array(4, 4, 8, 4, 4, 1, 16, 16, 16, 1), 80);
  require_random_campaign(array(4, 4, 8, 4, 4, 2, 16, 16, 16, 16), 80);
  require_random_campaign(array(2, 1, 8, 5, 3, 1, 5, 3, 16, 6), 80);   // 2 of 5 rows a beat
  require_random_campaign(array(2, 1, 8, 7, 2, 7, 7, 2, 16, 10), 80);  // 5 of 7 rows
  require_random_campaign(array(1, 2, 8, 8, 6, 4, 8, 6, 16, 2), 80);   // a third of a row
}

TEST_CASE("core: beats of a part of a plane and of several planes") {
  require_random_campaign(array(1, 1, 16, 8, 8, 4, 1, 2, 16, 8), 60);
  require_random_campaign(array(1, 1, 16, 4, 4, 4, 64, 20, 16, 4), 60);
  require_random_campaign(array(4, 4, 8, 2, 3, 1, 10, 48, 16, 3), 60);  // 5 planes of 16
}

TEST_CASE("core: operands of at most a few bits") {
  require_random_campaign(array(1, 1, 16, 4, 4, 4, 4, 4, 1, 4), 60);
  require_random_campaign(array(1, 1, 16, 4, 4, 2, 8, 12, 3, 4), 60);
  require_random_campaign(array(2, 8, 5, 8, 3, 8, 8, 3, 3, 3), 60);
  require_random_campaign(array(8, 4, 16, 4, 4, 2, 8, 8, 8, 8), 60);
  require_random_campaign(array(8, 4, 16, 4, 4, 2, 8, 8, 9, 8), 60);
}

TEST_CASE("core: random arrays of every kind") {
  const unsigned seed = 4711;
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::set<int> radices;
  for (int i = 0; i < 250; ++i) {
    const ArrayConfig config = random_array(random, 9);
    radices.insert(config.ra * 16 + config.rw);
    CAPTURE(config.key());
    ArrayCore core(config);
    const CampaignTotals totals = run_alone(core, config, random_jobs(config, seed, 12), seed);
    REQUIRE_THAT(totals.failure, Equals(""));
    REQUIRE(totals.gemms == 12);
  }
  CHECK(radices.size() == 16);  // every pair of digit widths
}

TEST_CASE("core: the presets with every precision pair") {
  for (const auto& config : array_presets()) {
    CAPTURE(config.name);
    ArrayCore core(config);
    const auto make = [&](std::uint64_t number) {
      return all_precisions_job(config, 3, number, 1);
    };
    const CampaignTotals totals = run_alone(core, config, make, 3);
    REQUIRE_THAT(totals.failure, Equals(""));
    REQUIRE(totals.gemms == 256);  // 8 x 8 widths, 4 sign modes
  }
}

TEST_CASE("core: a narrow accumulator wraps as golden says and raises its flag") {
  ArrayConfig config = array(1, 1, 16, 4, 4, 4, 4, 4, 16, 4);
  config.acc_w = config.ac_w + 16;
  REQUIRE(config.acc_w == 37);
  ArrayCore core(config);
  const Precision wide{16, false};
  // 2^32 * 64 needs 38 bits and a sign; one product never overflows.
  const auto flag = [&](std::uint64_t k, OperandPattern pattern, Precision a, Precision w) {
    const auto totals = run_alone(core, config, one_job(descriptor(3, 5, k, a, w), pattern), 1);
    REQUIRE_THAT(totals.failure, Equals(""));
    REQUIRE(totals.gemms == 1);
    return totals.overflows == 1;
  };
  CHECK(flag(64, OperandPattern::kMaximum, wide, wide));
  CHECK_FALSE(flag(16, OperandPattern::kMaximum, wide, wide));
  CHECK_FALSE(flag(64, OperandPattern::kZero, wide, wide));
  CHECK(flag(64, OperandPattern::kMaximum, wide, wide));
  CHECK(flag(200, OperandPattern::kMinimum, {16, true}, {16, true}));
  CHECK_FALSE(flag(32, OperandPattern::kMinimum, {8, true}, {16, true}));

  const DemandedFlags demanded = demanded_flags(config, wide_jobs(9, 400));
  CHECK(demanded.set > 20);
  CHECK(demanded.clear > 20);
  const CampaignTotals totals = run_alone(core, config, wide_jobs(9, 400), 9);
  CHECK_THAT(totals.failure, Equals(""));
  CHECK(totals.overflows >= static_cast<std::uint64_t>(demanded.set));
  CHECK(totals.overflows <= totals.gemms - static_cast<std::uint64_t>(demanded.clear));
}

TEST_CASE("core: stalls of each channel alone leave results right and cycles in their bound") {
  const ArrayConfig config = array(1, 1, 7, 4, 4, 4, 2, 4, 16, 2);
  const Descriptor d = descriptor(9, 10, 30, {3, true}, {10, false});
  const StallPattern patterns[] = {
      {240, 0, 0, 0}, {0, 240, 0, 0}, {0, 0, 250, 0}, {0, 0, 0, 250}, {200, 200, 200, 200}};
  for (const StallPattern& stalls : patterns) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(stalls.a, stalls.w, stalls.result, stalls.descriptor, seed);
      ArrayCore core(config);
      const auto totals =
          run_alone(core, config, one_job(d, OperandPattern::kUniform, stalls), seed);
      REQUIRE_THAT(totals.failure, Equals(""));
      REQUIRE(totals.stalled == 1);
    }
  }
}

TEST_CASE("core: reset at any cycle of a job leaves nothing behind for the next one") {
  const ArrayConfig config = array(2, 1, 7, 4, 4, 4, 2, 4, 16, 2);
  const Descriptor d = descriptor(5, 9, 20, {10, true}, {3, false});
  ArrayCore core(config);
  const std::uint64_t length = gemm_timing(config, d).cycles;
  for (std::uint64_t at = 0; at <= length; at += 3) {
    CAPTURE(at);
    {
      JudgedJobs jobs(config, one_job(d, OperandPattern::kUniform));
      Stimulus stimulus(config, jobs, at);
      for (std::uint64_t i = 0; i < at; ++i) core.step(stimulus.next(core.ports()));
    }
    core.reset();
    REQUIRE(core.ports().desc_ready);
    REQUIRE_FALSE(core.ports().a_ready);
    REQUIRE_FALSE(core.ports().w_ready);
    REQUIRE_FALSE(core.ports().res_valid);
    REQUIRE_FALSE(core.ports().overflow);
    const auto totals = run_alone(core, config, random_jobs(config, at, 2), at);
    REQUIRE_THAT(totals.failure, Equals(""));
  }
}

TEST_CASE("core: an illegal descriptor is refused with its cause and harms nothing") {
  const ArrayConfig config = array(1, 1, 16, 4, 4, 4, 4, 4, 9, 4);
  ArrayCore core(config);
  const RawDescriptor good{1, 1, 1, 1, 1, false, false};
  const auto cause = [&](RawDescriptor d) {
    ArrayStep step;
    step.desc_valid = true;
    step.desc = d;
    step.res_ready = true;
    core.step(step);
    const bool refused = core.ports().err;
    const auto why = static_cast<Cause>(core.ports().cause);
    CHECK(core.ports().desc_ready == refused);
    CHECK(refused == (why != Cause::kNone));
    if (refused) {
      core.step(ArrayStep{});
      CHECK_FALSE(core.ports().err);                         // a pulse
      CHECK(static_cast<Cause>(core.ports().cause) == why);  // kept
    }
    return why;
  };
  const auto with = [&](auto change) {
    RawDescriptor d = good;
    change(d);
    return cause(d);
  };
  CHECK(with([](RawDescriptor& d) { d.m = 0; }) == Cause::kDimZero);
  CHECK(with([](RawDescriptor& d) { d.n = 0; }) == Cause::kDimZero);
  CHECK(with([](RawDescriptor& d) { d.k = 0; }) == Cause::kDimZero);
  CHECK(with([](RawDescriptor& d) { d.pa = 0; }) == Cause::kWidthZero);
  CHECK(with([](RawDescriptor& d) { d.pw = 0; }) == Cause::kWidthZero);
  CHECK(with([](RawDescriptor& d) { d.pa = 10; }) == Cause::kWidthOver);
  CHECK(with([](RawDescriptor& d) { d.pw = 31; }) == Cause::kWidthOver);
  // Several faults: dimensions before widths, 0 before too wide.
  CHECK(with([](RawDescriptor& d) { d.m = 0, d.pa = 0, d.pw = 31; }) == Cause::kDimZero);
  CHECK(with([](RawDescriptor& d) { d.pa = 0, d.pw = 31; }) == Cause::kWidthZero);
  CHECK_THAT(run_alone(core, config, random_jobs(config, 1, 3), 1).failure, Equals(""));
  CHECK(cause(good) == Cause::kNone);
}

TEST_CASE("core: an idle array stands still") {
  const ArrayConfig config = array(1, 1, 16, 4, 4, 4, 4, 4, 16, 4);
  ArrayCore core(config);
  run_alone(core, config, random_jobs(config, 1, 3), 1);
  const auto snapshot = [&] {
    std::vector<std::uint8_t> bytes;
    for (const auto& view : core.registers()) {
      const auto* from = static_cast<const std::uint8_t*>(view.data);
      bytes.insert(bytes.end(), from, from + view.count * view.bytes);
    }
    return bytes;
  };
  core.step(ArrayStep{});
  const auto before = snapshot();
  std::vector<std::uint64_t> garbage(8, ~std::uint64_t{0});
  for (int i = 0; i < 20; ++i) {
    ArrayStep step;
    step.a_valid = step.w_valid = i % 2 == 0;
    step.a_data = step.w_data = garbage.data();
    step.res_ready = i % 3 == 0;
    core.step(step);
    REQUIRE(snapshot() == before);
    REQUIRE_FALSE(core.ports().ev.digit);
    REQUIRE_FALSE(core.ports().ev.flush);
  }
}

TEST_CASE("core: registers are listed once each, as wide as their storage allows") {
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    const ArrayConfig config = random_array(random, 6);
    CAPTURE(config.key());
    ArrayCore core(config);
    std::set<std::string> names;
    for (const auto& view : core.registers()) {
      CAPTURE(view.name);
      REQUIRE(view.name.rfind("bc_array.", 0) == 0);
      REQUIRE(view.name.substr(view.name.size() - 2) == "_q");
      REQUIRE(names.insert(view.name).second);
      REQUIRE(view.data != nullptr);
      REQUIRE(view.bits >= 1);
      REQUIRE(view.bits <= view.bytes * 8);
      REQUIRE(view.count >= 1);
    }
    // Two PEs in every corner, with hold registers only where accumulators are shared.
    REQUIRE(names.count("bc_array.g_col[0].g_pe[0].u_pe.ac_q") == 1);
    REQUIRE(names.count("bc_array.g_col[0].g_pe[0].u_pe.g_hold.ah_q") == (config.s > 1 ? 1 : 0));
  }
}

TEST_CASE("core: an illegal configuration is refused") {
  ArrayConfig config;
  config.s = 3;
  CHECK_THROWS_AS(ArrayCore(config), InputError);
}

TEST_CASE("get_bits and put_bits are inverse at every offset and width") {
  std::mt19937_64 random(11);
  std::vector<std::uint8_t> bytes(32);
  for (int round = 0; round < 20000; ++round) {
    const std::size_t width = 1 + random() % 64;
    const std::size_t bit = random() % (bytes.size() * 8 - width);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
    const std::vector<std::uint8_t> before = bytes;
    const std::uint64_t value = random();
    put_bits(bytes.data(), bit, width, value);
    const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    REQUIRE(get_bits(bytes.data(), bit, width) == (value & mask));
    for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
      if (i >= bit && i < bit + width) continue;
      REQUIRE(get_bits(bytes.data(), i, 1) == get_bits(before.data(), i, 1));
    }
  }
}
