// The same lockstep under the SystemC kernel. A process elaborates once: one run per TEST_CASE.
#include <catch2/catch.hpp>
#include <stdexcept>
#include <systemc>

#include "model/systemc_array.hpp"
#include "tests/sim/lockstep_testing.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Equals;

// One RTL-model pair with its work.
struct Pair {
  Pair(const char* name, std::uint64_t seed, std::uint64_t count, LockstepOptions options = {})
      : config(resolve_array(name)),
        rtl(make_rtl_model(config, options.inject ? RtlFlavour::kInject : RtlFlavour::kPlain,
                           seed)),
        model(config),
        jobs(config, random_jobs(config, seed, count)),
        stimulus(config, jobs, seed),
        lockstep(*rtl, model, stimulus, std::move(options)) {}
  std::string failure() const { return failure_of(lockstep.outcome(), jobs.totals()); }

  ArrayConfig config;
  std::unique_ptr<RtlModel> rtl;
  ArrayCore model;
  JudgedJobs jobs;
  Stimulus stimulus;
  Lockstep lockstep;
};

void check_same(const Pair& x, const Pair& y) {
  const LockstepOutcome& a = x.lockstep.outcome();
  const LockstepOutcome& b = y.lockstep.outcome();
  CHECK(a.cycles == b.cycles);
  CHECK(a.cycles_rtl == b.cycles_rtl);
  CHECK(a.cycles_model == b.cycles_model);
  CHECK(a.stopped == b.stopped);
  CHECK(a.mismatch.has_value() == b.mismatch.has_value());
  if (a.mismatch && b.mismatch) {
    CHECK(a.mismatch->cycle == b.mismatch->cycle);
    CHECK(a.mismatch->signal == b.mismatch->signal);
    CHECK(a.mismatch->rtl == b.mismatch->rtl);
    CHECK(a.mismatch->model == b.mismatch->model);
  }
  CHECK(x.failure() == y.failure());
  CHECK(x.jobs.totals().gemms == y.jobs.totals().gemms);
  CHECK(x.jobs.totals().cycles == y.jobs.totals().cycles);
}

}  // namespace

TEST_CASE("systemc: a lockstep under the kernel is the lockstep without it") {
  Pair plain("ci-1x1-s4", 11, 200);
  plain.lockstep.run();
  Pair kernel("ci-1x1-s4", 11, 200);
  run_under_systemc({&kernel.lockstep});
  CHECK_THAT(kernel.failure(), Equals(""));
  CHECK(kernel.jobs.totals().gemms == 200);
  check_same(plain, kernel);
}

TEST_CASE("systemc: a mismatch is found at the same cycle") {
  LockstepOptions options;
  options.inject = Injection{"bc_array.g_w[1].u_chunk.digit_q", 5, 300};
  Pair plain("ci-1x1-s4", 12, 100, options);
  plain.lockstep.run();
  Pair kernel("ci-1x1-s4", 12, 100, options);
  run_under_systemc({&kernel.lockstep});
  REQUIRE(kernel.lockstep.outcome().mismatch);
  check_same(plain, kernel);
}

TEST_CASE("systemc: a cycle limit stops the kernel") {
  LockstepOptions options;
  options.max_cycles = 100;
  Pair plain("ci-4x4-s1", 13, 100, options);
  plain.lockstep.run();
  Pair kernel("ci-4x4-s1", 13, 100, options);
  run_under_systemc({&kernel.lockstep});
  CHECK(kernel.lockstep.outcome().cycles == 100);
  check_same(plain, kernel);
}

TEST_CASE("systemc: several pairs under one clock, the kernel stops when the last is done") {
  LockstepOptions options;
  options.inject = Injection{"bc_array.u_drain.bank_q", 0, 40};
  Pair short_one("ci-1x8-s1", 1, 5);
  Pair long_one("ci-1x1-s1", 2, 80);
  Pair wrong_one("ci-2x2-s1", 3, 20, options);
  run_under_systemc({&short_one.lockstep, &long_one.lockstep, &wrong_one.lockstep});
  CHECK_THAT(short_one.failure(), Equals(""));
  CHECK(short_one.jobs.totals().gemms == 5);
  CHECK_THAT(long_one.failure(), Equals(""));
  CHECK(long_one.jobs.totals().gemms == 80);
  CHECK_FALSE(wrong_one.failure().empty());

  Pair alone("ci-1x1-s1", 2, 80);
  alone.lockstep.run();
  check_same(alone, long_one);
}

TEST_CASE("systemc: a second elaboration in a process is refused") {
  run_under_systemc({});
  CHECK_THROWS_AS(run_under_systemc({}), std::logic_error);
}

TEST_CASE("systemc: the module alone takes its inputs at the rising edge, one step each") {
  const ArrayConfig config = resolve_array("ci-1x1-s4");
  ArrayCore core(config);
  ArrayCore reference(config);
  ArrayModule module("array", core);
  sc_core::sc_clock clock("clk", sc_core::sc_time(1, sc_core::SC_NS), 0.5, sc_core::SC_ZERO_TIME,
                          false);
  sc_core::sc_signal<ArrayStep> step;
  sc_core::sc_signal<ArrayHandshakes> handshakes;
  module.clk_i(clock);
  module.step_i(step);
  module.handshakes_o(handshakes);
  CHECK(&module.array() == &core);

  // A GEMM by hand: 1 x 1 x 1, 1 bit each, both operands 1.
  const std::vector<std::uint64_t> beat(1, 1);
  ArrayStep in;
  sc_core::sc_start(sc_core::sc_time(250, sc_core::SC_PS));  // between the edges
  int cycles = 0;
  bool seen_result = false;
  for (; cycles < 100; ++cycles) {
    in.desc_valid = cycles == 0;
    in.desc = {1, 1, 1, 1, 1, false, false};
    in.a_valid = in.w_valid = true;
    in.a_data = in.w_data = beat.data();
    in.res_ready = true;
    step.write(in);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
    reference.step(in);
    const ArrayHandshakes& h = handshakes.read();
    const ArrayPorts& p = reference.ports();
    REQUIRE(h == ArrayHandshakes{p.desc_ready, p.err, p.a_ready, p.w_ready, p.res_valid, p.res_last,
                                 p.overflow});
    if (h.res_valid && get_bits(core.ports().res_mask, 0, 1) != 0) {
      seen_result = true;
      CHECK(get_bits(core.ports().res_data, 0, 48) == 1);
      CHECK(get_bits(core.ports().res_sum_a, 0, 48) == 1);
      CHECK(get_bits(core.ports().res_sum_w, 0, 48) == 1);
    }
    if (cycles > 0 && h.desc_ready) break;
  }
  CHECK(seen_result);
  const Descriptor d{{1, 1, 1}, {1, false}, {1, false}};
  CHECK(static_cast<std::uint64_t>(cycles) + 1 == gemm_timing(config, d).cycles);
}
