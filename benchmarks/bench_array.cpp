// Simulated clock cycles per second (items_per_second) of the array: RTL, model, both in lockstep.
// The SystemC kernel elaborates once in a process, so each kernel benchmark runs its GEMM in a
// child.
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "golden/checked.hpp"
#include "golden/operands.hpp"
#include "model/core.hpp"
#include "model/systemc_array.hpp"
#include "sim/lockstep.hpp"
#include "sim/rtl_library.hpp"
#include "sim/stimulus.hpp"

namespace {

using namespace bitcycle;

// A long GEMM of several tiles and many chunks, as often as asked and unjudged: what is measured
// is simulation.
class LongJob : public JobSource {
 public:
  LongJob(const ArrayConfig& config, int bits) {
    const auto m = std::uint64_t{3} * static_cast<unsigned>(config.tm);
    const auto n = std::uint64_t{3} * static_cast<unsigned>(config.tn);
    const auto k = std::uint64_t{60} * static_cast<unsigned>(config.kl);
    const Precision p{bits, true};
    job_ = {{{m, n, k}, p, p}, make_operands(OperandPattern::kUniform, m, n, k, p, p, 1), {}, ""};
  }
  std::optional<GemmJob> next() override {
    if (left_ == 0) return std::nullopt;
    --left_;
    return job_;
  }
  void finished(const GemmJob&, JobResult) override {}
  void again(int times = 1) { left_ = times; }
  std::uint64_t cycles(const ArrayConfig& config) const {
    return gemm_timing(config, job_.descriptor).cycles;
  }
  const Descriptor& descriptor() const { return job_.descriptor; }

 private:
  GemmJob job_;
  int left_ = 0;
};

void run_with_stimulus(Array& array, const ArrayConfig& config, LongJob& job) {
  job.again();
  Stimulus stimulus(config, job, 1);
  while (true) {
    const ArrayStep& step = stimulus.next(array.ports());
    if (stimulus.done()) return;
    array.step(step);
  }
}

// The same GEMM from two beats that never change: what the array itself costs.
class ConstantBeats {
 public:
  ConstantBeats(const ArrayConfig& config, const Descriptor& d)
      : a_(ceil_div(static_cast<std::uint64_t>(config.ba) * static_cast<unsigned>(config.kl), 64)),
        w_(ceil_div(static_cast<std::uint64_t>(config.bw) * static_cast<unsigned>(config.kl), 64)) {
    std::uint64_t x = 1;
    for (auto* beat : {&a_, &w_}) {
      for (auto& word : *beat) word = x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    }
    step_.desc = {static_cast<std::uint32_t>(d.gemm.m),
                  static_cast<std::uint32_t>(d.gemm.n),
                  static_cast<std::uint32_t>(d.gemm.k),
                  static_cast<std::uint8_t>(d.a.bits),
                  static_cast<std::uint8_t>(d.w.bits),
                  d.a.is_signed,
                  d.w.is_signed};
    step_.a_valid = step_.w_valid = step_.res_ready = true;
    step_.a_data = a_.data();
    step_.w_data = w_.data();
  }
  void run(Array& array) {
    step_.desc_valid = true;
    array.step(step_);
    step_.desc_valid = false;
    while (!array.ports().desc_ready) array.step(step_);
  }
  const ArrayStep& step(bool descriptor) {
    step_.desc_valid = descriptor;
    return step_;
  }

 private:
  std::vector<std::uint64_t> a_, w_;
  ArrayStep step_;
};

struct Case {
  ArrayConfig config;
  LongJob job;
  explicit Case(const std::string& name) : config(resolve_array(name)), job(config, 8) {}
};

void report(benchmark::State& state, const Case& c, int gemms = 1) {
  state.SetItemsProcessed(static_cast<std::int64_t>(c.job.cycles(c.config)) * gemms *
                          static_cast<std::int64_t>(state.iterations()));
}

void rtl_constant_beats(benchmark::State& state, const std::string& name) {
  Case c(name);
  const auto rtl = make_rtl_model(c.config, RtlFlavour::kPlain, 1);
  ConstantBeats beats(c.config, c.job.descriptor());
  for ([[maybe_unused]] auto _ : state) beats.run(*rtl);
  report(state, c);
}

void rtl_stimulus(benchmark::State& state, const std::string& name) {
  Case c(name);
  const auto rtl = make_rtl_model(c.config, RtlFlavour::kPlain, 1);
  for ([[maybe_unused]] auto _ : state) run_with_stimulus(*rtl, c.config, c.job);
  report(state, c);
}

void core_constant_beats(benchmark::State& state, const std::string& name) {
  Case c(name);
  ArrayCore core(c.config);
  ConstantBeats beats(c.config, c.job.descriptor());
  for ([[maybe_unused]] auto _ : state) beats.run(core);
  report(state, c);
}

void core_stimulus(benchmark::State& state, const std::string& name) {
  Case c(name);
  ArrayCore core(c.config);
  for ([[maybe_unused]] auto _ : state) run_with_stimulus(core, c.config, c.job);
  report(state, c);
}

void lockstep(benchmark::State& state, const std::string& name) {
  Case c(name);
  const auto rtl = make_rtl_model(c.config, RtlFlavour::kPlain, 1);
  ArrayCore core(c.config);
  for ([[maybe_unused]] auto _ : state) {
    c.job.again();
    Stimulus stimulus(c.config, c.job, 1);
    Lockstep pair(*rtl, core, stimulus);
    pair.run();
  }
  report(state, c);
}

// Seconds that `work` measures of itself in a child process.
template <typename Work>
double in_child(const Work& work) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const double seconds = work();
    const auto written = write(ends[1], &seconds, sizeof seconds);
    _exit(written == sizeof seconds ? 0 : 1);
  }
  double seconds = -1;
  const auto got = read(ends[0], &seconds, sizeof seconds);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return got == sizeof seconds ? seconds : -1;
}

// CPU time of this process, as the other benchmarks count it.
double cpu_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

constexpr int kGemmsInChild = 10;  // so that start-up does not count

// Drives one ArrayModule with constant beats from a process of its own.
class Driver : public sc_core::sc_module {
 public:
  sc_core::sc_in<bool> clk_i{"clk_i"};
  sc_core::sc_out<ArrayStep> step_o{"step_o"};
  sc_core::sc_in<ArrayHandshakes> handshakes_i{"handshakes_i"};

  Driver(const sc_core::sc_module_name& name, ConstantBeats& beats)
      : sc_module(name), beats_(beats) {
    SC_HAS_PROCESS(Driver);
    SC_METHOD(drive);
    sensitive << clk_i.neg();
    dont_initialize();
  }

 private:
  void drive() {
    ++cycle_;
    const bool ready = cycle_ > 2 && handshakes_i.read().desc_ready;
    if (ready && ++gemms_ == kGemmsInChild) {
      sc_core::sc_stop();
      return;
    }
    step_o.write(beats_.step(cycle_ == 1 || ready));
  }
  ConstantBeats& beats_;
  std::uint64_t cycle_ = 0;
  int gemms_ = 0;
};

void systemc_model(benchmark::State& state, const std::string& name) {
  Case c(name);
  ConstantBeats beats(c.config, c.job.descriptor());
  for ([[maybe_unused]] auto _ : state) {
    state.SetIterationTime(in_child([&] {
      sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO,
                                              sc_core::SC_DO_NOTHING);
      ArrayCore core(c.config);
      ArrayModule module("array", core);
      Driver driver("driver", beats);
      sc_core::sc_clock clock("clk", sc_core::sc_time(1, sc_core::SC_NS), 0.5,
                              sc_core::SC_ZERO_TIME, false);
      sc_core::sc_signal<ArrayStep> step;
      sc_core::sc_signal<ArrayHandshakes> handshakes;
      module.clk_i(clock);
      module.step_i(step);
      module.handshakes_o(handshakes);
      driver.clk_i(clock);
      driver.step_o(step);
      driver.handshakes_i(handshakes);
      const double start = cpu_seconds();
      sc_core::sc_start();
      return cpu_seconds() - start;
    }));
  }
  report(state, c, kGemmsInChild);
}

void systemc_lockstep(benchmark::State& state, const std::string& name) {
  Case c(name);
  for ([[maybe_unused]] auto _ : state) {
    state.SetIterationTime(in_child([&] {
      const auto rtl = make_rtl_model(c.config, RtlFlavour::kPlain, 1);
      ArrayCore core(c.config);
      c.job.again(kGemmsInChild);
      Stimulus stimulus(c.config, c.job, 1);
      Lockstep pair(*rtl, core, stimulus);
      const double start = cpu_seconds();
      run_under_systemc({&pair});
      return cpu_seconds() - start;
    }));
  }
  report(state, c, kGemmsInChild);
}

void add(const char* name) {
  const auto named = [&](const char* what) { return std::string(what) + "/" + name; };
  const std::string array = name;
  benchmark::RegisterBenchmark(named("rtl/constant_beats").c_str(), rtl_constant_beats, array);
  benchmark::RegisterBenchmark(named("rtl/stimulus").c_str(), rtl_stimulus, array);
  benchmark::RegisterBenchmark(named("core/constant_beats").c_str(), core_constant_beats, array);
  benchmark::RegisterBenchmark(named("core/stimulus").c_str(), core_stimulus, array);
  benchmark::RegisterBenchmark(named("systemc_model").c_str(), systemc_model, array)
      ->UseManualTime();
  benchmark::RegisterBenchmark(named("lockstep").c_str(), lockstep, array);
  benchmark::RegisterBenchmark(named("systemc_lockstep").c_str(), systemc_lockstep, array)
      ->UseManualTime();
}

}  // namespace

// libsystemc wants it.
extern "C" int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  for (const char* name : {"serial-1x1", "brick-2x2", "ci-1x1-s4", "ci-2x2-s1"}) add(name);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
