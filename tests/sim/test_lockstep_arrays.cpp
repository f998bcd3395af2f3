// Lockstep on arrays beside the CI ones: the presets, and odd parameters verilated on demand.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/sim/lockstep_testing.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Equals;

ArrayConfig array(int ra, int rw, int kl, int tm, int tn, int s, int ba, int bw, int ac_w,
                  int acc_w, int p_max, int q) {
  ArrayConfig c;
  c.ra = ra;
  c.rw = rw;
  c.kl = kl;
  c.tm = tm;
  c.tn = tn;
  c.s = s;
  c.ba = ba;
  c.bw = bw;
  c.ac_w = ac_w;
  c.acc_w = acc_w;
  c.p_max = p_max;
  c.q = q;
  c.name = c.key();
  c.validate();
  return c;
}

void require_odd(const ArrayConfig& config) {
  for (const std::uint64_t seed : {1, 2}) {
    CAPTURE(config.name, seed);
    const LockstepRun all = run_lockstep(config, all_precisions(config, seed, 1), seed);
    REQUIRE_THAT(all.failure, Equals(""));
    const LockstepRun random = run_lockstep(config, random_jobs(config, seed, 400), seed);
    REQUIRE_THAT(random.failure, Equals(""));
    CHECK(random.totals.stalled > 0);
    CHECK(random.totals.refused > 0);
  }
}

void require_overflows(int s) {
  // The narrowest legal ACC: sums of wide operands leave it.
  const ArrayConfig config = array(1, 1, 16, 4, 4, s, 4, 4, 21, 37, 16, 4);
  const std::uint64_t seed = 3;
  const DemandedFlags demanded = demanded_flags(config, wide_jobs(seed, 400));
  CHECK(demanded.set > 20);
  CHECK(demanded.clear > 20);
  const LockstepRun wide = run_lockstep(config, wide_jobs(seed, 400), seed);
  REQUIRE_THAT(wide.failure, Equals(""));
  CHECK(wide.totals.overflows >= static_cast<std::uint64_t>(demanded.set));
  CHECK(wide.totals.overflows <= wide.totals.gemms - static_cast<std::uint64_t>(demanded.clear));
  const LockstepRun random = run_lockstep(config, random_jobs(config, seed, 200), seed);
  REQUIRE_THAT(random.failure, Equals(""));
}

void require_preset(const char* name) {
  const ArrayConfig config = resolve_array(name);
  // Without the prebuilt model this would take minutes.
  const std::string built = std::string(BITCYCLE_BUILD_DIR) + "/rtl/plain/" + name + ".so";
  if (!std::filesystem::exists(built)) {
    WARN("skipped: " << built << " is not built (BITCYCLE_PRESETS=OFF)");
    return;
  }
  const std::uint64_t seed = 5;
  CAPTURE(name, seed);
  const LockstepRun all = run_lockstep(config, all_precisions(config, seed, 1), seed);
  REQUIRE_THAT(all.failure, Equals(""));
  CHECK(all.totals.gemms == 8 * 8 * 4);
  const LockstepRun random = run_lockstep(config, random_jobs(config, seed, 100), seed);
  REQUIRE_THAT(random.failure, Equals(""));
}

}  // namespace

TEST_CASE("lockstep: overflow of a narrow accumulator, shared by four PEs") {
  require_overflows(4);
}
TEST_CASE("lockstep: overflow of a narrow accumulator, private") { require_overflows(1); }

TEST_CASE("lockstep: 6x5 PEs of 7 lanes at 4x1, groups of 3, drains of 3 rows") {
  require_odd(array(4, 1, 7, 6, 5, 3, 2, 10, 20, 40, 16, 15));
}
TEST_CASE("lockstep: a single PE of a single lane") {
  require_odd(array(1, 1, 1, 1, 1, 1, 1, 1, 17, 33, 16, 1));
}
TEST_CASE("lockstep: 100 lanes, words of more than a machine word") {
  require_odd(array(1, 1, 100, 2, 2, 2, 2, 4, 24, 48, 16, 1));
}
TEST_CASE("lockstep: 8x3 PEs of 5 lanes at 2x8, one group of 8, operands of at most 3 bits") {
  require_odd(array(2, 8, 5, 8, 3, 8, 8, 3, 20, 20, 3, 3));
}
TEST_CASE("lockstep: a drain of two rows of five, beats of several planes, 64-bit accumulators") {
  require_odd(array(8, 2, 9, 5, 2, 1, 20, 6, 26, 64, 11, 4));
}

TEST_CASE("lockstep: preset serial-1x1") { require_preset("serial-1x1"); }
TEST_CASE("lockstep: preset stripes-1x8") { require_preset("stripes-1x8"); }
TEST_CASE("lockstep: preset brick-2x2") { require_preset("brick-2x2"); }
TEST_CASE("lockstep: preset nibble-4x4") { require_preset("nibble-4x4"); }
TEST_CASE("lockstep: preset fixed-8x8") { require_preset("fixed-8x8"); }
