// The whole machine at default size, simulated cycles a second (items_per_second): verilated RTL,
// C++ model, the model under the SystemC kernel, and the same with activity measured in 1/16 of the
// cycles and in all (`run --activity`). All run the same convolution and move its tensors through
// the same DRAM model. The last lines divide by the RTL and by plain SystemC. The first run
// verilates the RTL (minutes); --no-rtl leaves it out, --rtl=FILE.so takes a build of
// `bitcycle verilate --machine`, --arch=NAME another array.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <systemc>

#include "golden/counter_random.hpp"
#include "model/machine/compile.hpp"
#include "model/machine/memory.hpp"
#include "sim/energy_measure.hpp"
#include "sim/machine_systemc.hpp"
#include "sim/memory_choice.hpp"
#include "sim/plan_words.hpp"
#include "sim/rtl_library.hpp"

namespace {

using namespace bitcycle;

std::string rtl_file;
bool with_rtl = true;

// A 3x3 layer of 64 channels on one image of 28x28: three products at 4 x 4 x 8 bits.
ConvJob job_of(ConvPass pass, std::uint64_t images) {
  ConvJob job;
  job.shape.batch = images;
  job.shape.cin = job.shape.cout = 64;
  job.shape.hi = job.shape.wi = 28;
  job.shape.kh = job.shape.kw = 3;
  job.shape.pad_top = job.shape.pad_bottom = job.shape.pad_left = job.shape.pad_right = 1;
  job.pass = pass;
  job.first = {pass == ConvPass::kForward ? 4 : 8, false};
  job.second = {4, false};
  job.out.form = OutputForm::kRaw32;
  job.out.sums = true;
  return job;
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

struct Speed {
  double cycles = 0, seconds = 0;
};

// The rows of the table; `one_in`: part of the cycles whose activity is measured, 0: none.
struct Row {
  const char* name;
  const char* engine;
  std::uint64_t one_in;
};
constexpr Row kRows[] = {{"rtl", "rtl", 0},
                         {"core", "core", 0},
                         {"systemc", "systemc", 0},
                         {"activity-1/16", "systemc", 16},
                         {"activity-1", "systemc", 1}};

Speed run(const std::string& engine, std::uint64_t one_in, const std::string& array,
          ConvPass pass) {
  const MachineConfig config = machine_for(resolve_array(array));
  Plan plan = compile(GemmProblem(config, job_of(pass, 1))).plan;
  plan.set_addresses(0, 1U << 24U, 1U << 25U);
  Memory memory(config.dw, resolve_memory("ddr4-3200").timer(config.dw, 1000), 1);
  std::unique_ptr<Machine> machine;
  if (engine == "rtl") {
    machine = rtl_file.empty() ? make_rtl_machine(config, RtlFlavour::kPlain, 1)
                               : load_rtl_machine(rtl_file, 1);
  } else {
    machine = std::make_unique<MachineCore>(config);
  }
  std::unique_ptr<MachineRunner> runner;
  std::unique_ptr<EnergyMeter> meter;
  std::function<bool()> every_cycle;
  if (one_in > 0) {
    EnergySettings settings;
    settings.level = EnergyLevel::kModel;
    const EnergyModel model(settings, config, literature_energy_table(), std::nullopt);
    meter = std::make_unique<EnergyMeter>(
        config.array, static_cast<const MachineCore&>(*machine).array(), model, one_in);
    every_cycle = [&meter] {
      meter->cycle();
      return false;
    };
  }
  if (engine == "systemc") {
    runner = std::make_unique<SystemcBench>(config, *machine, memory);
  } else {
    runner = std::make_unique<MachineBench>(config, *machine, memory);
  }
  // The RTL is slow: one run is long enough; the others repeat it.
  Speed out;
  const double start = cpu_seconds();
  for (int i = 0; i < (engine == "rtl" ? 1 : 5); ++i) {
    PlanWords words(plan);
    const MachineRun made = runner->run(words, std::uint64_t{1} << 40U, every_cycle);
    if (made.halted || made.timed_out) return {};
    out.cycles += static_cast<double>(made.cycles);
  }
  out.seconds = cpu_seconds() - start;
  return out;
}

// In a process of its own: the SystemC kernel elaborates once in one.
Speed in_child(const Row& row, const std::string& array, ConvPass pass) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO,
                                            sc_core::SC_DO_NOTHING);
    const Speed speed = run(row.engine, row.one_in, array, pass);
    _exit(write(ends[1], &speed, sizeof speed) == sizeof speed ? 0 : 1);
  }
  Speed speed;
  if (read(ends[0], &speed, sizeof speed) != sizeof speed) speed = {};
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return speed;
}

std::map<std::string, Speed> totals;  // by row

double rate_of(const char* name) {
  const Speed& speed = totals[name];
  return speed.seconds > 0 ? speed.cycles / speed.seconds : 0.0;
}

void simulate(benchmark::State& state, const Row& row, const std::string& array, ConvPass pass) {
  double cycles = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Speed speed = in_child(row, array, pass);
    if (speed.cycles == 0) {
      state.SkipWithError("the run has not ended");
      return;
    }
    state.SetIterationTime(speed.seconds);
    cycles += speed.cycles;
    totals[row.name].cycles += speed.cycles;
    totals[row.name].seconds += speed.seconds;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(cycles));
}

}  // namespace

// libsystemc wants it.
extern "C" int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  std::string array = "serial-1x1";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--no-rtl") {
      with_rtl = false;
    } else if (word.rfind("--rtl=", 0) == 0) {
      rtl_file = word.substr(6);
    } else if (word.rfind("--arch=", 0) == 0) {
      array = word.substr(7);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  // Row by row within a pass, so that what shall be compared is measured side by side.
  for (const auto& [name, pass] :
       {std::pair{"fwd", ConvPass::kForward}, {"dx", ConvPass::kDx}, {"dw", ConvPass::kDw}}) {
    for (const Row& row : kRows) {
      if (!with_rtl && std::strcmp(row.engine, "rtl") == 0) continue;
      const std::string title = fmt::format("{}/{}/{}", row.name, array, name);
      benchmark::RegisterBenchmark(title.c_str(), simulate, row, array, pass)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(1);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  const double rtl = rate_of("rtl"), systemc = rate_of("systemc");
  for (const Row& row : kRows) {
    const double rate = rate_of(row.name);
    if (rate == 0.0) continue;
    fmt::print("{:13} {:9.0f} cycles/s", row.name, rate);
    if (rtl > 0) fmt::print(" {:7.1f} x RTL", rate / rtl);
    if (row.one_in > 0 && systemc > 0) fmt::print(" {:7.2f} x the time of systemc", systemc / rate);
    fmt::print("\n");
  }
  return 0;
}
