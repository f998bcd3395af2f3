#include "sim/machine_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "golden/counter_random.hpp"
#include "golden/error.hpp"
#include "golden/training.hpp"
#include "model/machine/layer_data.hpp"
#include "sim/energy_work.hpp"
#include "sim/memory_choice.hpp"
#include "sim/rtl_library.hpp"

namespace bitcycle {
namespace {

// n of a CIFAR ResNet with basic blocks on 32x32 images, or 0: the network that the golden trainer
// can train.
int trainable_blocks(const Network& network) {
  for (const int n : {1, 2, 3, 5, 6, 9, 12, 18, 25}) {
    for (const char* data : {"cifar10", "cifar100"}) {
      if (network.name == fmt::format("resnet{}-{}", 6 * n + 2, data)) return n;
    }
  }
  return 0;
}

std::vector<std::int32_t> random_codes(std::uint64_t count, int bits, std::uint64_t seed,
                                       std::uint64_t tensor) {
  std::vector<std::int32_t> out(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    out[i] = static_cast<std::int32_t>(counter_random(seed, tensor, i) >>
                                       (64U - static_cast<unsigned>(bits)));
  }
  return out;
}

class Simulation {
 public:
  Simulation(const RunRequest& request, const EnergyModel* energy, SimulatedRun& out) : out_(out) {
    const MachineConfig& config = request.options.machine;
    const MachineCore* core = nullptr;
    if (request.engine == "rtl") {
      auto pair = std::make_unique<LockstepMachine>(
          config, make_rtl_machine(config, RtlFlavour::kPlain, request.seed));
      pair_ = pair.get();
      core = &pair->core();
      machine_ = std::move(pair);
    } else {
      auto model = std::make_unique<MachineCore>(config);
      core = model.get();
      machine_ = std::move(model);
    }
    backend_ = std::make_unique<MachineBackend>(config, *machine_, request.options.memory,
                                                compile_options(request.options),
                                                request.engine == "systemc");
    backend_->results = request.options.results;
    backend_->lowering = request.options.lowering;
    if (energy != nullptr) {
      meter_ = std::make_unique<EnergyMeter>(config.array, core->array(), *energy,
                                             request.activity_one_in);
    }
    backend_->stop = [this] {
      if (meter_) meter_->cycle();
      return pair_ != nullptr && pair_->mismatch().has_value();
    };
  }

  // A product of the golden trainer: on the machine if RTL and model still agree.
  ConvSums run(const ConvRequest& request) {
    return judge(request.label, request.pass != ConvPass::kDx, golden_backend(request),
                 [&] { return backend_->run(request); });
  }

  // A product of the table with random codes.
  void run(const std::string& label, const LayerJob& job, const std::vector<std::int32_t>& first,
           const std::vector<std::int32_t>& second) {
    const ConvJob& c = job.conv;
    judge(label, !job.is_conv || c.pass != ConvPass::kDx,
          job.is_conv ? golden_conv(c.pass, c.shape, first, second)
                      : golden_matmul(job.matmul, first, second),
          [&] { return backend_->run(label, job, first, second); });
  }

  void finish() {
    if (pair_ != nullptr && out_.mismatch.empty()) {
      pair_->compare_memories();
      if (const auto& m = pair_->mismatch()) {
        out_.mismatch =
            fmt::format("at the end, {}: RTL {}, model {}", m->signal, m->rtl, m->model);
      }
    }
    out_.products = backend_->products();
    for (const ProductRun& p : out_.products) out_.cycles += p.machine.cycles;
    if (meter_) out_.measured = meter_->result();
  }

 private:
  template <class Run>
  ConvSums judge(const std::string& label, bool second_sums, const ConvSums& want, Run&& run) {
    if (!out_.mismatch.empty()) return want;
    ConvSums got = run();
    if (pair_ != nullptr && pair_->mismatch()) {
      const Mismatch& m = *pair_->mismatch();
      out_.mismatch = fmt::format("{}: cycle {}, {}: RTL {}, model {}", label, m.cycle, m.signal,
                                  m.rtl, m.model);
      return want;
    }
    const bool sums = got.sum_a == want.sum_a && (!second_sums || got.sum_w == want.sum_w);
    if (got.value != want.value || !sums) ++out_.wrong;
    if (!backend_->products().back().exact()) ++out_.inexact;
    return got;
  }

  SimulatedRun& out_;
  std::unique_ptr<Machine> machine_;
  LockstepMachine* pair_ = nullptr;
  std::unique_ptr<MachineBackend> backend_;
  std::unique_ptr<EnergyMeter> meter_;
};

// Operands of a product: random codes, ones where a mask stands.
void run_random(const RunRequest& request, const MachineGemm& gemm, Simulation& simulation,
                std::uint64_t& tensor) {
  const Layer& layer = request.network.layers[gemm.layer];
  LayerJob job = layer_job(layer, gemm.kind, request.batch, request.bits, request.options);
  const std::uint64_t repeats = gemm.repeats;
  if (gemm.mask) make_mask(job);
  const ConvShape& s = job.conv.shape;
  const MatmulJob& m = job.matmul;
  const bool forward = job.conv.pass == ConvPass::kForward;
  const bool dw = job.conv.pass == ConvPass::kDw;
  const std::uint64_t first_size = !job.is_conv ? m.batch * m.m * m.k
                                   : forward    ? s.x_size()
                                                : s.y_size();
  const std::uint64_t second_size = !job.is_conv ? m.batch * m.n * m.k
                                    : dw         ? s.x_size()
                                                 : s.w_size();
  for (std::uint64_t i = 0; i < repeats; ++i) {
    auto first = random_codes(first_size, gemm.first.bits, request.seed, tensor++);
    auto second = random_codes(second_size, gemm.second.bits, request.seed, tensor++);
    if (gemm.mask) {
      auto& ones = dw ? second : first;
      std::fill(ones.begin(), ones.end(), 1);
    }
    simulation.run(
        fmt::format("{} {}{}", layer.name, to_string(gemm.kind), gemm.mask ? " mask" : ""), job,
        first, second);
  }
}

// A real training step where the golden trainer knows the network, else random codes.
SimulatedRun simulate(const RunRequest& request, const MachineIteration& table,
                      const EnergyModel* energy) {
  SimulatedRun out;
  out.engine = request.engine;
  out.table_cycles = table.gemm_cycles;
  const auto begin = std::chrono::steady_clock::now();
  Simulation simulation(request, energy, out);
  const int blocks = request.layer.empty() && request.bits.a == request.bits.w
                         ? trainable_blocks(request.network)
                         : 0;
  if (blocks > 0) {
    out.values = "a training step on synthetic images, real FP32 values through CPT's quantiser";
    TrainingOptions options;
    options.blocks = blocks;
    options.classes = request.network.name.find("cifar100") == std::string::npos ? 10 : 100;
    options.batch = request.batch;
    options.bits = request.bits.a;
    options.grad_bits = request.bits.g;
    options.seed = request.seed;
    ResnetTrainer trainer(options);
    trainer.step([&](const ConvRequest& r) { return simulation.run(r); });
  } else {
    out.values = "uniform random codes";
    std::uint64_t tensor = 0;
    for (const MachineGemm& gemm : table.gemms) run_random(request, gemm, simulation, tensor);
  }
  simulation.finish();
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

}  // namespace

namespace {

// Published constants for the array, its buffers and the bits that the machine moves.
EnergyBreakdown literature_energy(const EnergyTable& table, const ArrayConfig& array,
                                  const MachineGemm& g) {
  EnergyBreakdown out = traffic_energy(table, g.first_bits + g.second_bits, g.result_bits);
  for (const bool exchanged : {false, true}) {
    const ChunkCounts& c = g.chunks[exchanged ? 1 : 0];
    if (c.tile == 0) continue;
    const Precision a = exchanged ? g.second : g.first;
    const Precision w = exchanged ? g.first : g.second;
    const GemmTiming t = gemm_timing(array, {{1, 1, 1}, a, w});
    const std::uint64_t a_chunks = exchanged ? c.second : c.first;
    const std::uint64_t w_chunks = exchanged ? c.first : c.second;
    GemmEvents e;
    e.ac_adds = checked_mul(c.pe, t.digit_pairs, "AC adds");
    e.ac_adds_ones = checked_mul(a_chunks + w_chunks, t.digit_pairs, "AC adds");
    e.acc_flushes = checked_mul(c.pe, t.passes, "ACC flushes");
    e.acc_flushes_ones = checked_mul(a_chunks + w_chunks, t.passes, "ACC flushes");
    e.a_words_read = checked_mul(a_chunks, static_cast<std::uint64_t>(a.bits), "A words");
    e.w_words_read = checked_mul(w_chunks, static_cast<std::uint64_t>(w.bits), "W words");
    out += array_energy(table, array, e);
  }
  return out;
}

void choose_level(const RunRequest& request, RunEnergy& e) {
  e.level = request.energy.level;
  if (e.level != EnergyLevel::kAuto) return;
  const ArrayConfig& array = request.options.machine.array;
  const bool known = find_characterisation(request.energy, array, "pe").has_value();
  e.level = known ? EnergyLevel::kModel : EnergyLevel::kLiterature;
  if (!known) {
    e.note = fmt::format(
        "the PE of {} has not been characterised in {}, so published constants are "
        "used; 'bitcycle characterise' makes one",
        array.name, request.energy.technology);
  }
}

void add_energy(RunResult& out) {
  const RunRequest& q = out.request;
  RunEnergy& e = out.energy;
  choose_level(q, e);
  if (e.level == EnergyLevel::kOff) return;
  e.table = q.energy_table.empty() ? literature_energy_table() : load_energy_table(q.energy_table);
  e.seconds = static_cast<double>(out.iteration.cycles() + out.switch_cycles) / q.clock_hz;
  const MachineConfig& machine = q.options.machine;
  if (e.level == EnergyLevel::kLiterature) {
    for (const MachineGemm& g : out.iteration.gemms) {
      const EnergyBreakdown one = literature_energy(e.table, machine.array, g);
      e.literature += one;
      e.gemms.push_back(one.total());
    }
    return;
  }
  EnergySettings settings = q.energy;
  settings.level = e.level;
  e.model = std::make_shared<EnergyModel>(settings, machine, e.table, q.memory);
  const EnergyBook& book = e.model->book();
  for (const MachineGemm& g : out.iteration.gemms) {
    EnergyCounts one;
    add_machine_gemm(*e.model, one, machine, g,
                     q.network.layers[g.layer].kind == LayerKind::kTransposed, q.clock_hz);
    e.gemms.push_back(total(book.parts(one)));
    add_counts(e.counts, one);
  }
  const VectorWork vector = total(out.iteration.vector);
  EnergyCounts work;
  add_vector_energy(*e.model, work, vector.bytes, vector.ops,
                    static_cast<double>(out.iteration.vector_cycles), q.clock_hz);
  e.vector = total(book.parts(work));
  add_counts(e.counts, work);
  e.parts = book.parts(e.counts);
  if (e.level == EnergyLevel::kGates) e.gates = check_gates(*e.model, machine.array, e.counts);
}

// What the stated statistics say of as many cycles of the products that were simulated.
void predict_measured(RunResult& out) {
  MeasuredEnergy& m = *out.simulated->measured;
  EnergyModel& model = *out.energy.model;
  EnergyCounts counts;
  double cycles = 0.0;
  for (const MachineGemm& g : out.iteration.gemms) {
    add_machine_gemm(model, counts, out.request.options.machine, g, false, out.request.clock_hz);
    cycles += static_cast<double>(g.cycles);
  }
  if (cycles > 0) {
    m.predicted = model.pe_joules(counts) / cycles * static_cast<double>(m.cycles);
  }
}

}  // namespace

RunResult run_iteration(const RunRequest& request) {
  RunResult out;
  out.request = request;
  Network network = request.network;
  if (!request.layer.empty()) {
    std::vector<std::string> names;
    for (const Layer& l : network.layers) names.push_back(l.name);
    if (std::find(names.begin(), names.end(), request.layer) == names.end()) {
      throw input_error("", 0, "--layer",
                        "'" + request.layer + "'" + suggestion(request.layer, names),
                        "a layer of " + network.name + ", as 'bitcycle network show' prints them");
    }
    network.layers.erase(std::remove_if(network.layers.begin(), network.layers.end(),
                                        [&](const Layer& l) { return l.name != request.layer; }),
                         network.layers.end());
    network.vector_ops.clear();
    if (!network.layers.front().quantised) {
      throw input_error("", 0, "--layer", "'" + request.layer + "', FP32 under the convention",
                        "a quantised layer, or --convention all");
    }
    out.request.network = network;
  }
  MachineCost cost(request.options);
  out.iteration = cost.iteration(network, request.batch, request.bits);
  if (request.dram) {
    out.iteration.gemm_cycles = 0;
    for (MachineGemm& g : out.iteration.gemms) {
      share_channels(g, *request.dram);
      out.iteration.gemm_cycles += g.cycles;
    }
    MachineCostOptions slow = request.options;
    slow.planned_for = request.options.memory;  // the same instructions
    slow.memory = request.dram->upper;
    MachineCost upper(slow);
    out.upper = upper.iteration(network, request.batch, request.bits);
    std::uint64_t reads = 0, writes = 0;
    for (const MachineGemm& g : out.upper->gemms) {
      reads += g.first_bits + g.second_bits;
      writes += g.result_bits;
    }
    const std::uint64_t access = static_cast<std::uint64_t>(request.memory.dram.access_bytes()) * 8;
    out.upper_cycles = request.dram->upper_cycles(out.upper->gemm_cycles, reads / access + 1,
                                                  writes / access + 1) +
                       out.upper->vector_cycles;
  }
  VectorOptions vector;
  vector.unit = request.options.vector;
  vector.result_bits = request.options.results == OutputForm::kRaw48 ? 48 : 32;
  out.warning = fp32_warning(network, request.batch,
                             {std::max(request.bits.a, request.bits.w), request.bits.g}, vector,
                             static_cast<double>(out.iteration.cycles()));
  add_energy(out);
  if (request.engine != "formula") {
    if (request.dram) {
      throw input_error("", 0, "--memory", "a DRAM with --engine " + request.engine,
                        "a bandwidth-latency memory, on which cycles are exact");
    }
    out.simulated = simulate(out.request, out.iteration, out.energy.model.get());
    if (out.simulated->measured) predict_measured(out);
  }
  return out;
}

}  // namespace bitcycle
