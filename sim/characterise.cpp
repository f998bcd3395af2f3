#include "sim/characterise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "golden/error.hpp"
#include "sim/array_netlist.hpp"
#include "sim/cli.hpp"
#include "sim/paths.hpp"
#include "sim/synthesis.hpp"

namespace bitcycle {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Two significant digits, upwards.
double round_up(double x) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - 1);
  return std::ceil(x / unit - 1e-9) * unit;
}

// Workloads of a module of the array, or of a unit of the machine.
class Workloads {
 public:
  Workloads(std::vector<ActivityJob> jobs, ArrayConfig array, std::string module)
      : jobs_(std::move(jobs)), array_(std::move(array)), module_(std::move(module)) {}
  Workloads(std::vector<UnitJob> jobs, const MachineConfig& machine, std::string module)
      : units_(std::move(jobs)), machine_(machine), module_(std::move(module)) {}
  std::size_t size() const { return jobs_.size() + units_.size(); }
  GateRun run(const GateModel& model, double period, std::size_t i) const {
    if (!jobs_.empty()) return run_gates(model, period, array_, module_, jobs_[i]);
    return run_unit(model, period, machine_, module_, units_[i]);
  }

 private:
  std::vector<ActivityJob> jobs_;
  std::vector<UnitJob> units_;
  ArrayConfig array_;
  MachineConfig machine_;
  std::string module_;
};

std::vector<GateRun> run_all(const GateModel& model, double period, const Workloads& jobs,
                             int threads) {
  std::vector<GateRun> runs(jobs.size());
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex guard;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      try {
        runs[i] = jobs.run(model, period, i);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!error) error = std::current_exception();
        next = jobs.size();
      }
    }
  };
  std::vector<std::thread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work);
  work();
  for (auto& t : pool) t.join();
  if (error) std::rethrow_exception(error);
  return runs;
}

std::vector<ActivitySample> samples_of(const std::vector<GateRun>& runs) {
  std::vector<ActivitySample> out;
  out.reserve(runs.size());
  for (const auto& r : runs) out.push_back(r.sample);
  return out;
}

std::vector<WorkloadRecord> records_of(const std::vector<GateRun>& runs,
                                       const ErrorSummary& errors) {
  std::vector<WorkloadRecord> out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& r = runs[i];
    out.push_back({r.sample.label, r.sample.mean_energy(), r.macs > 0 ? r.joules / r.macs : 0.0,
                   errors.workloads[i].error, r.sampling, r.clock_share});
  }
  return out;
}

// Energy of a few typical workloads under other conditions, over their energy as it stands.
class Bands {
 public:
  Bands(const Netlist& netlist, const LibertyLibrary& library, const GateConditions& base,
        double period, const Workloads& jobs, int threads)
      : netlist_(netlist), library_(library), period_(period), jobs_(jobs), threads_(threads) {
    base_ = energy(base);
  }
  double relative(const GateConditions& other) const { return energy(other) / base_ - 1.0; }

 private:
  double energy(const GateConditions& conditions) const {
    const GateModel model(netlist_, library_, conditions);
    double sum = 0.0;
    for (const auto& r : run_all(model, period_, jobs_, threads_)) sum += r.sample.mean_energy();
    return sum;
  }
  const Netlist& netlist_;
  const LibertyLibrary& library_;
  double period_;
  const Workloads& jobs_;
  int threads_;
  double base_ = 0.0;
};

Workloads band_workloads(const ArrayConfig& small, const CharacteriseOptions& o) {
  std::vector<ActivityJob> jobs;
  for (const int bits : {2, 4, 8}) {
    ActivityJob job;
    job.data = OperandData::kGauss;
    job.a = job.w = {bits, false};
    job.seed = o.seed + 5000;
    job.cycles = o.cycles;
    jobs.push_back(job);
  }
  return {jobs, small, o.module};
}

void add_bands(Characterisation& c, const Bands& bands, const GateConditions& base,
               const std::vector<GateRun>& held_out) {
  double sampling = 0.0;
  for (const auto& r : held_out) sampling = std::max(sampling, r.sampling);
  c.bands.push_back({"sampling", sampling, sampling,
                     "largest standard error of a held-out workload's mean, from 16 batches"});
  c.bands.push_back({"model", c.held_out_mean, c.held_out_max,
                     "low: mean, high: largest error of the event model on held-out workloads"});
  GateConditions none = base;
  none.wire_f_per_fanout = 0.0;
  GateConditions twice = base;
  twice.wire_f_per_fanout *= 2.0;
  c.bands.push_back({"wires", std::abs(bands.relative(none)), std::abs(bands.relative(twice)),
                     "without wires, and with twice the estimated wire"});
  GateConditions bare = base;
  bare.clock_tree_factor = 1.0;
  GateConditions heavy = base;
  heavy.clock_tree_factor = 2.0 * base.clock_tree_factor - 1.0;
  c.bands.push_back({"clock_tree", std::abs(bands.relative(bare)), std::abs(bands.relative(heavy)),
                     "without clock buffers, and with twice the assumed ones"});
  c.bands.push_back({"netlist", 0.0, 0.3,
                     "buffers and sizes of place and route: +30 % in a 180 nm trial with qflow"});
}

void add_sources(Characterisation& c, const LibertyLibrary& library) {
  c.sources.push_back(
      {"gates",
       fmt::format("gate-level simulation of this netlist with the timing and energy tables of {} "
                   "(least squares over {} cycles)",
                   library.title(), c.cycles),
       "outputs equal to the cycle-accurate core in every compared cycle; held-out error below; "
       "made again by 'command'"});
  c.sources.push_back(
      {"liberty",
       fmt::format("{}, {} V, {} C", library.title(), library.voltage, library.temperature),
       "SHA-256 of every file under library.files"});
}

GateConditions conditions_for(const CharacteriseOptions& o, const Netlist& netlist) {
  GateConditions conditions;
  conditions.wire_f_per_fanout =
      o.wire_per_fanout < 0 ? estimated_wire(netlist) : o.wire_per_fanout;
  conditions.clock_tree_factor = o.clock_tree_factor;
  // Records of PEs were made before this was a choice; their comparison waits for loads.
  conditions.clear_registers = o.module != "pe";
  return conditions;
}

std::string keep_first(const std::vector<GateRun>& runs) {
  for (const auto& r : runs) {
    if (!r.mismatch.empty()) return r.mismatch;
  }
  return "";
}

}  // namespace

double estimated_wire(const Netlist& netlist) {
  constexpr double kFaradPerMicron = 0.15e-15;
  constexpr double kCellSides = 2.0;
  if (netlist.instances.empty()) return 0.0;
  return kFaradPerMicron * kCellSides *
         std::sqrt(netlist.area() / static_cast<double>(netlist.instances.size()));
}

WorkloadPlan plan_workloads(const ArrayConfig& arch, std::uint64_t cycles, std::uint64_t seed) {
  WorkloadPlan plan;
  std::uint64_t number = seed * 10000;
  const auto add = [&](std::vector<ActivityJob>& to, int a, int w, int signs, OperandData data) {
    ActivityJob job;
    job.a = {std::min(a, arch.p_max), (signs & 1) != 0};
    job.w = {std::min(w, arch.p_max), (signs & 2) != 0};
    job.data = data;
    job.seed = ++number;
    job.cycles = cycles;
    to.push_back(job);
  };
  using D = OperandData;
  ActivityJob idle;
  idle.idle = true;
  idle.cycles = std::min<std::uint64_t>(cycles, 256);
  plan.training.push_back(idle);
  int turn = 0;
  for (const auto& [a, w] :
       {std::pair{2, 2}, {4, 4}, {8, 8}, {2, 8}, {8, 2}, {3, 5}, {5, 3}, {6, 6}}) {
    for (const auto data : {D::kUniform, D::kGauss, D::kRelu, D::kSparse, D::kZero, D::kExtreme}) {
      add(plan.training, a, w, 0, data);
      add(plan.training, a, w, 3, data);
      add(plan.training, a, w, 1 + turn++ % 2, data);
    }
  }
  turn = 0;
  for (const auto& [a, w] :
       {std::pair{3, 3}, {5, 5}, {7, 7}, {3, 8}, {8, 3}, {4, 8}, {8, 4}, {5, 7}}) {
    for (const auto data :
         {D::kUniform, D::kGauss, D::kRelu, D::kSparse, D::kLaplace, D::kZero, D::kExtreme}) {
      add(plan.held_out, a, w, turn % 2 == 0 ? 0 : 3, data);
      if (data != D::kZero) add(plan.held_out, a, w, 1 + turn % 3, data);
      ++turn;
    }
  }
  // Precisions of the fit, but other seeds and the distribution that it does not know.
  for (const int bits : {2, 4, 8}) {
    for (const int signs : {0, 3}) {
      for (const auto data : {D::kUniform, D::kRelu, D::kLaplace}) {
        add(plan.held_out, bits, bits, signs, data);
      }
    }
  }
  for (const auto& [a, w] : {std::pair{2, 2}, {4, 4}, {8, 8}, {3, 7}}) {
    add(plan.degenerate, a, w, 0, D::kConstant);
    add(plan.degenerate, a, w, 3, D::kConstant);
  }
  return plan;
}

WorkloadPlan plan_module_workloads(const ArrayConfig& arch, std::uint64_t cycles,
                                   std::uint64_t seed) {
  WorkloadPlan plan;
  std::uint64_t number = seed * 20000;
  const auto job = [&](int a, int w, int signs, OperandData data) {
    ActivityJob j;
    j.a = {std::min(a, arch.p_max), (signs & 1) != 0};
    j.w = {std::min(w, arch.p_max), (signs & 2) != 0};
    j.data = data;
    j.seed = ++number;
    j.cycles = cycles;
    return j;
  };
  using D = OperandData;
  ActivityJob idle;
  idle.idle = true;
  idle.cycles = std::min<std::uint64_t>(cycles, 256);
  plan.training.push_back(idle);
  constexpr int kSigns[] = {0, 3, 1, 2};
  int turn = 0;
  for (const auto& [a, w] : {std::pair{2, 2}, {4, 4}, {8, 8}, {2, 8}, {8, 2}, {3, 5}}) {
    for (const auto data : {D::kUniform, D::kGauss, D::kRelu, D::kZero, D::kExtreme}) {
      plan.training.push_back(job(a, w, kSigns[turn++ % 4], data));
    }
  }
  // Rows and columns of edge tiles: all, a half and one, three quarters.
  const auto shorten = [&](ActivityJob j, std::uint64_t chunks, int edge) {
    j.chunks = chunks;
    if (edge == 1) j.rows = std::max(1, arch.tm / 2), j.cols = 1;
    if (edge == 2) j.cols = std::max(1, arch.tn * 3 / 4);
    return j;
  };
  turn = 0;
  for (const std::uint64_t chunks : {1, 2, 6}) {
    for (const auto& [a, w] : {std::pair{2, 2}, {4, 4}, {8, 8}}) {
      for (const auto data : {D::kUniform, D::kRelu}) {
        plan.training.push_back(shorten(job(a, w, kSigns[turn % 4], data), chunks, turn % 3));
        if (turn % 4 == 1) plan.training.back().stall = 128;
        ++turn;
      }
    }
  }
  turn = 0;
  for (const auto& [a, w] : {std::pair{3, 3}, {5, 5}, {7, 7}, {3, 8}, {8, 4}}) {
    for (const auto data : {D::kUniform, D::kGauss, D::kRelu, D::kLaplace}) {
      plan.held_out.push_back(job(a, w, kSigns[turn++ % 4], data));
    }
  }
  for (const int bits : {2, 4, 8}) {
    for (const int signs : {0, 3}) {
      plan.held_out.push_back(job(bits, bits, signs, D::kUniform));
    }
    plan.held_out.push_back(job(bits, bits, 0, D::kLaplace));
  }
  turn = 0;
  for (const std::uint64_t chunks : {1, 3}) {
    for (const auto& [a, w] : {std::pair{3, 3}, {6, 6}, {8, 8}}) {
      plan.held_out.push_back(
          shorten(job(a, w, kSigns[turn % 4], turn % 2 == 0 ? D::kRelu : D::kLaplace), chunks,
                  (turn + 1) % 3));
      if (turn % 3 == 2) plan.held_out.back().stall = 64;
      ++turn;
    }
  }
  plan.degenerate.push_back(job(8, 8, 0, D::kConstant));
  plan.degenerate.push_back(job(3, 7, 3, D::kConstant));
  return plan;
}

namespace {

struct Jobs {
  std::optional<Workloads> training, held_out, degenerate, bands;
};

std::vector<UnitJob> first_of(std::vector<UnitJob> jobs, std::size_t count) {
  jobs.resize(std::min(jobs.size(), count));
  return jobs;
}

}  // namespace

CharacteriseResult characterise(const CharacteriseOptions& o) {
  const auto tell = [&](const std::string& what) {
    if (o.progress) o.progress(what);
  };
  const auto& units = unit_names();
  const bool is_unit = std::find(units.begin(), units.end(), o.module) != units.end();
  const MachineConfig machine = is_unit ? machine_for(o.arch) : MachineConfig{};
  const ArrayConfig small = is_unit ? o.arch : probe_array(o.module, o.arch);
  ArrayCore core(small);
  std::unique_ptr<ModuleProbe> probe;
  Jobs jobs;
  if (is_unit) {
    auto unit = make_unit(o.module, machine);
    jobs.training.emplace(unit->training(), machine, o.module);
    jobs.held_out.emplace(unit->held_out(), machine, o.module);
    jobs.degenerate.emplace(std::vector<UnitJob>{}, machine, o.module);
    jobs.bands.emplace(first_of(unit->held_out(), 3), machine, o.module);
    probe = std::move(unit);
  } else {
    probe = make_probe(o.module, small, core);
    const WorkloadPlan plan = o.module == "pe" ? plan_workloads(o.arch, o.cycles, o.seed)
                                               : plan_module_workloads(small, o.cycles, o.seed);
    jobs.training.emplace(plan.training, small, o.module);
    jobs.held_out.emplace(plan.held_out, small, o.module);
    jobs.degenerate.emplace(plan.degenerate, small, o.module);
    jobs.bands.emplace(band_workloads(small, o));
  }
  tell("reading " + join(o.liberty));
  const LibertyLibrary library = load_liberty(o.liberty);

  CharacteriseResult result;
  Characterisation& c = result.record;
  c.module = o.module;
  c.rtl_module = probe->module();
  c.arch = o.arch.name;
  c.parameters = probe->parameters();
  c.rtl_files = probe->files();
  const std::string rtl = source_dir() + "/rtl";
  c.rtl_sha256 = rtl_hash(rtl, c.rtl_files);

  tell("synthesis of " + probe->module());
  auto start = Clock::now();
  const ScratchDirectory scratch;
  SynthesisRequest request = request_for(*probe);
  request.out_dir = o.keep.empty() ? scratch.path() : o.keep;
  request.delay = o.period;
  if (!o.clock_gates) {
    without_clock_gates(request);
    c.parameters = request.parameters;
  }
  const Netlist netlist = mapped_netlist(library, request);
  result.seconds_synthesis = seconds_since(start);

  const GateModel model(netlist, library, conditions_for(o, netlist));
  const GateConditions& used = model.conditions();
  c.netlist_sha256 = netlist.sha256;
  c.cells = netlist.instances.size();
  c.area = netlist.area();
  for (const auto& i : netlist.instances) {
    c.flip_flops += i.cell->sequential && !i.cell->sequential->latch ? 1 : 0;
  }
  c.library = library.sources;
  c.voltage = library.voltage;
  c.temperature = library.temperature;
  c.process = library.process;
  c.tools = {{"bitcycle", program_version()}, {"yosys", yosys_version()}};
  c.critical_path = model.critical_path();
  c.period = o.period > 0 ? o.period : round_up(1.25 * model.critical_path());
  if (c.period < model.critical_path()) {
    throw input_error("", 0, "--period", fmt::format("{:.4g} ns", c.period * 1e9),
                      fmt::format("at least the critical path of {}, {:.4g} ns", probe->module(),
                                  model.critical_path() * 1e9));
  }
  c.wire_per_fanout = used.wire_f_per_fanout;
  c.clock_tree_factor = used.clock_tree_factor;
  c.input_slew = used.input_slew;
  c.input_delay = used.input_delay;
  c.output_load = used.output_load;

  start = Clock::now();
  tell(fmt::format("{} workloads on {} cells",
                   jobs.training->size() + jobs.held_out->size() + jobs.degenerate->size(),
                   c.cells));
  const auto training = run_all(model, c.period, *jobs.training, o.jobs);
  const auto held_out = run_all(model, c.period, *jobs.held_out, o.jobs);
  const auto degenerate = run_all(model, c.period, *jobs.degenerate, o.jobs);
  for (const auto* runs : {&training, &held_out, &degenerate}) {
    if (result.mismatch.empty()) result.mismatch = keep_first(*runs);
    for (const auto& r : *runs) {
      result.cycles += r.cycles;
      result.events += r.events;
      result.compared += r.compared;
    }
  }
  if (!result.mismatch.empty()) return result;

  const EventFit fit = fit_events(samples_of(training));
  const ErrorSummary judged = judge_events(fit.coefficients, samples_of(held_out));
  c.r2 = fit.r2;
  c.rms = fit.rms;
  c.training_mean = fit.training.mean_abs;
  c.training_max = fit.training.max_abs;
  c.held_out_mean = judged.mean_abs;
  c.held_out_max = judged.max_abs;
  c.held_out_worst = judged.worst;
  c.training = records_of(training, fit.training);
  c.held_out = records_of(held_out, judged);
  c.degenerate = records_of(degenerate, judge_events(fit.coefficients, samples_of(degenerate)));
  for (const auto& r : training) {
    c.cycles += r.cycles;
    c.leakage += r.leakage / static_cast<double>(training.size());
  }
  for (std::size_t i = 0; i < probe->feature_names().size(); ++i) {
    c.events.push_back({probe->feature_names()[i], probe->feature_descriptions()[i],
                        fit.coefficients[static_cast<Eigen::Index>(i)], "gates"});
  }
  tell("bands");
  add_bands(c, Bands(netlist, library, used, c.period, *jobs.bands, o.jobs), used, held_out);
  add_sources(c, library);
  c.command = o.command;
  result.seconds_simulation = seconds_since(start);
  return result;
}

}  // namespace bitcycle
