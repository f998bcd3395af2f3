#include "sim/machine_backend.hpp"

#include <utility>

#include "golden/error.hpp"
#include "model/machine/layer_data.hpp"
#include "model/machine/memory.hpp"
#include "model/machine/timed.hpp"
#include "sim/machine_systemc.hpp"
#include "sim/plan_words.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kMostCycles = std::uint64_t{1} << 40U;

void add(EngineCycles& to, const EngineCycles& more) {
  to.idle += more.idle;
  to.run += more.run;
  to.wait_in += more.wait_in;
  to.wait_out += more.wait_out;
}

void add(MachineRun& to, const MachineRun& more) {
  to.cycles += more.cycles;
  for (std::size_t e = 0; e < kEngines; ++e) add(to.engines[e], more.engines[e]);
  to.read_beats += more.read_beats;
  to.write_beats += more.write_beats;
  to.read_bursts += more.read_bursts;
  to.write_bursts += more.write_bursts;
  to.withheld += more.withheld;
  to.halted = to.halted || more.halted;
  to.timed_out = to.timed_out || more.timed_out;
}

bool same(const EngineCycles& x, const EngineCycles& y) {
  return x.idle == y.idle && x.run == y.run && x.wait_in == y.wait_in && x.wait_out == y.wait_out;
}

}  // namespace

bool ProductRun::exact() const {
  if (!each_exact) return false;
  for (std::size_t e = 0; e < kEngines; ++e) {
    if (!same(machine.engines[e], formula_engines[e])) return false;
    if (machine.engines[e].total() != machine.cycles) return false;
  }
  return machine.cycles == formula_cycles && machine.read_beats == formula_read_beats &&
         machine.write_beats == formula_write_beats;
}

MachineBackend::MachineBackend(const MachineConfig& config, Machine& machine,
                               const MemoryTiming& memory, const CompileOptions& options,
                               bool systemc)
    : config_(config),
      timing_(memory),
      options_(options),
      memory_(std::make_unique<Memory>(config.dw, std::make_unique<BandwidthTimer>(memory))) {
  if (systemc) {
    runner_ = std::make_unique<SystemcBench>(config, machine, *memory_);
  } else {
    runner_ = std::make_unique<MachineBench>(config, machine, *memory_);
  }
}

MachineBackend::~MachineBackend() = default;

// One plan from idle to idle; its numbers are added to the product's.
void MachineBackend::run_plan(const Plan& plan, std::vector<std::uint8_t>& dram,
                              ProductRun& product) {
  memory_->load(0, dram.data(), dram.size());
  Recurrence formula(config_, timing_);
  PlanWords words(plan, [&](const Instruction& instruction) {
    formula.add(timed(instruction, config_));
    ++product.instructions;
  });
  ProductRun one;
  one.machine = runner_->run(words, kMostCycles, stop);
  one.formula_cycles = formula.cycles();
  for (std::size_t e = 0; e < kEngines; ++e) {
    one.formula_engines[e] = formula.engine(static_cast<MachineEngine>(e));
    add(product.formula_engines[e], one.formula_engines[e]);
  }
  one.formula_read_beats = formula.read_beats;
  one.formula_write_beats = formula.write_beats;
  add(product.machine, one.machine);
  product.formula_cycles += one.formula_cycles;
  product.formula_read_beats += one.formula_read_beats;
  product.formula_write_beats += one.formula_write_beats;
  product.macs += plan.problem().useful_macs;
  product.each_exact = product.each_exact && one.exact();
  ++product.plans;
  if (one.machine.halted) throw InputError(product.label + ": the machine has halted");
  memory_->dump(0, dram.data(), dram.size());
}

ConvSums MachineBackend::run(const std::string& label, const LayerJob& job,
                             const std::vector<std::int32_t>& first,
                             const std::vector<std::int32_t>& second) {
  ProductRun product;
  product.label = label;
  const PlanRunner run = [&](const Plan& plan, std::vector<std::uint8_t>& dram) {
    run_plan(plan, dram, product);
  };
  ConvSums out;
  if (job.is_conv) {
    CompiledLayer layer = compile_layer(config_, job.conv, options_);
    product.expanded = layer.expanded;
    product.phases_apart = layer.phases_apart;
    out = run_conv(layer, job.conv, first, second, run);
  } else {
    Compiled compiled = compile(GemmProblem(config_, job.matmul), options_);
    out = run_matmul(compiled.plan, first, second, run);
  }
  products_.push_back(product);
  if (on_product) on_product(product);
  return out;
}

ConvSums MachineBackend::run(const ConvRequest& request) {
  LayerJob job;
  job.conv.shape = request.shape;
  job.conv.pass = request.pass;
  job.conv.first = {request.first_bits, false};
  job.conv.second = {request.second_bits, false};
  job.conv.out.form = results;
  job.conv.out.sums = true;
  job.conv.dx_as_gemm = lowering == DxLowering::kGemm && request.pass == ConvPass::kDx &&
                        !request.mask && request.shape.kh * request.shape.kw > 1;
  return run(request.label, job, *request.first, *request.second);
}

}  // namespace bitcycle
