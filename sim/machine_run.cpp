#include "sim/machine_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "golden/counter_random.hpp"
#include "golden/error.hpp"
#include "golden/training.hpp"
#include "model/machine/layer_data.hpp"
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
  Simulation(const RunRequest& request, SimulatedRun& out) : out_(out) {
    const MachineConfig& config = request.options.machine;
    if (request.engine == "rtl") {
      auto pair = std::make_unique<LockstepMachine>(
          config, make_rtl_machine(config, RtlFlavour::kPlain, request.seed));
      pair_ = pair.get();
      machine_ = std::move(pair);
    } else {
      machine_ = std::make_unique<MachineCore>(config);
    }
    backend_ = std::make_unique<MachineBackend>(config, *machine_, request.options.memory,
                                                compile_options(request.options),
                                                request.engine == "systemc");
    backend_->results = request.options.results;
    backend_->lowering = request.options.lowering;
    backend_->stop = [this] { return pair_ != nullptr && pair_->mismatch().has_value(); };
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
SimulatedRun simulate(const RunRequest& request, const MachineIteration& table) {
  SimulatedRun out;
  out.engine = request.engine;
  out.table_cycles = table.gemm_cycles;
  const auto begin = std::chrono::steady_clock::now();
  Simulation simulation(request, out);
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
  if (request.engine != "formula") {
    if (request.dram) {
      throw input_error("", 0, "--memory", "a DRAM with --engine " + request.engine,
                        "a bandwidth-latency memory, on which cycles are exact");
    }
    out.simulated = simulate(out.request, out.iteration);
  }
  return out;
}

}  // namespace bitcycle
