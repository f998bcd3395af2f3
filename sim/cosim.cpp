#include "sim/cosim.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "golden/error.hpp"
#include "model/core.hpp"
#include "model/formula.hpp"
#include "sim/judge.hpp"
#include "sim/rtl_library.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kWaveBefore = 200;  // cycles shown before a mismatch
constexpr std::uint64_t kWaveAfter = 20;

JudgedJobs::Maker job_maker(const CosimOptions& o) {
  if (o.all_precisions > 0) {
    return
        [&o](std::uint64_t n) { return all_precisions_job(o.array, o.seed, n, o.all_precisions); };
  }
  if (o.random > 0) {
    return [&o](std::uint64_t n) {
      return n < o.random ? std::optional(random_job(o.array, o.seed, n)) : std::nullopt;
    };
  }
  return [&o](std::uint64_t n) -> std::optional<GemmJob> {
    if (n > 0) return std::nullopt;
    const Descriptor& d = o.descriptor;
    GemmJob job{d, make_operands(o.pattern, d.gemm.m, d.gemm.n, d.gemm.k, d.a, d.w, o.seed),
                o.stalls, describe(d) + " " + operand_pattern_name(o.pattern)};
    return job;
  };
}

std::unique_ptr<RtlModel> rtl_for(const CosimOptions& o, RtlFlavour flavour) {
  return o.rtl_model.empty() ? make_rtl_model(o.array, flavour, o.seed)
                             : load_rtl_model(o.rtl_model, o.seed);
}

// Runs the RTL alone from reset over the same stimulus and dumps cycles first..last.
bool write_wave(const CosimOptions& o, const std::string& path, std::uint64_t first,
                std::uint64_t last) {
  auto rtl = rtl_for(o, o.inject ? RtlFlavour::kInject : RtlFlavour::kWave);
  ArrayCore model(o.array);
  JudgedJobs jobs(o.array, job_maker(o));
  Stimulus stimulus(o.array, jobs, o.seed);
  LockstepOptions options;
  options.inject = o.inject;
  Lockstep pair(*rtl, model, stimulus, options);
  bool open = false;
  bool ok = false;
  // Lockstep stops at the mismatch; from there on the RTL goes on alone.
  std::uint64_t cycle = 0;
  bool together = true;
  while (cycle < last) {
    if (!open && cycle >= first) {
      ok = rtl->open_wave(path.c_str());
      open = true;
      if (!ok) return false;
    }
    const ArrayStep* step = together ? pair.tick() : nullptr;
    if (step != nullptr) {
      model.step(*step);
    } else if (together) {
      if (!pair.outcome().mismatch) break;
      together = false;
    }
    static const ArrayStep idle;
    rtl->step(step != nullptr ? *step : idle);
    ++cycle;
  }
  rtl->close_wave();
  return ok;
}

}  // namespace

CosimReport cosim(const CosimOptions& o) {
  o.array.validate();
  const bool campaign = o.random > 0 || o.all_precisions > 0;
  if (!campaign) {
    check_descriptor(o.array, o.descriptor);
    gemm_events(o.array, o.descriptor);  // refuses counts over 64 bits before anything runs
  }
  const bool wave_of_run = !o.wave.empty();
  // One build serves the run and its waveform.
  auto rtl = rtl_for(o, o.inject      ? RtlFlavour::kInject
                        : wave_of_run ? RtlFlavour::kWave
                                      : RtlFlavour::kPlain);
  ArrayCore model(o.array);
  JudgedJobs jobs(o.array, job_maker(o));
  Stimulus stimulus(o.array, jobs, o.seed);
  LockstepOptions options;
  options.inject = o.inject;
  options.max_cycles = o.max_cycles;
  const bool show = o.progress && isatty(STDERR_FILENO) != 0;
  if (show) {
    options.progress = [&](std::uint64_t cycle) {
      fmt::print(stderr, "\r{} cycles, {} GEMMs in lockstep ", cycle, stimulus.jobs_done());
    };
  }
  Lockstep pair(*rtl, model, stimulus, options);
  if (o.systemc) {
    run_under_systemc({&pair});
  } else {
    pair.run();
  }
  if (show) fmt::print(stderr, "\r{:60}\r", "");

  const LockstepOutcome& outcome = pair.outcome();
  if (o.inject && !outcome.injected && !outcome.mismatch) {
    throw input_error("", 0, "--inject cycle", std::to_string(o.inject->cycle),
                      fmt::format("a cycle of the run, 0 to {}", outcome.cycles - 1));
  }
  CosimReport report;
  report.injected = outcome.injected;
  report.cycles_rtl = outcome.cycles_rtl;
  report.cycles_model = outcome.cycles_model;
  report.totals = jobs.totals();
  report.cycles_formula = report.totals.formula_cycles;
  report.registers = pair.registers();
  report.mismatch = outcome.mismatch;
  if (outcome.mismatch) {
    const Mismatch& m = *outcome.mismatch;
    report.failure =
        fmt::format("cycle {}: {}: RTL {}, model {}{}", m.cycle, m.signal, m.rtl, m.model,
                    stimulus.done() ? "" : " (GEMM " + stimulus.job().label + ")");
  } else if (!outcome.stopped.empty()) {
    report.failure = outcome.stopped;
  } else {
    report.failure = report.totals.failure;
  }
  report.pass = report.failure.empty();

  if (wave_of_run || (outcome.mismatch && o.rtl_model.empty())) {
    const std::string path = wave_of_run ? o.wave : "mismatch.fst";
    const std::uint64_t at = outcome.cycles;
    const bool around = outcome.mismatch.has_value();
    const std::uint64_t first = around && at > kWaveBefore ? at - kWaveBefore : 0;
    if (write_wave(o, path, first, around ? at + kWaveAfter : at)) {
      report.wave = path;
    } else if (wave_of_run) {
      throw input_error(path, 0, "--wave", "no waveform could be written",
                        "a writable path, and an RTL build of flavour wave or inject");
    }
  }
  return report;
}

}  // namespace bitcycle
