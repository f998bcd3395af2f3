#include "sim/machine_backend.hpp"

#include <utility>

#include "golden/error.hpp"
#include "model/machine/conv_data.hpp"
#include "model/machine/memory.hpp"
#include "model/machine/timed.hpp"
#include "sim/machine_systemc.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kMostCycles = std::uint64_t{1} << 40U;

bool same(const EngineCycles& x, const EngineCycles& y) {
  return x.idle == y.idle && x.run == y.run && x.wait_in == y.wait_in && x.wait_out == y.wait_out;
}

}  // namespace

bool ProductRun::exact() const {
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

ConvSums MachineBackend::run(const ConvRequest& request) {
  ConvJob job;
  job.shape = request.shape;
  job.pass = request.pass;
  job.first = {request.first_bits, false};
  job.second = {request.second_bits, false};
  job.out.form = results;
  job.out.sums = true;
  Compiled compiled = compile(GemmProblem(config_, job), options_);
  Plan& plan = compiled.plan;
  DramAllocator allocator(4096);
  const std::uint64_t first = allocator.allocate(plan.problem().first.bytes());
  const std::uint64_t second = allocator.allocate(plan.problem().second.bytes());
  const std::uint64_t result = allocator.allocate(plan.result_bytes());
  plan.set_addresses(first, second, result);
  std::vector<std::uint8_t> dram(allocator.end());
  pack_conv(plan, *request.first, *request.second, dram);
  memory_->load(0, dram.data(), dram.size());

  Recurrence formula(config_, timing_);
  std::vector<std::uint64_t> stream;
  ProductRun product;
  plan.emit([&](const Instruction& instruction, const InstructionInfo&) {
    const auto words = encode(instruction);
    stream.insert(stream.end(), words.begin(), words.end());
    formula.add(timed(instruction, config_));
    ++product.instructions;
  });
  WordList words(std::move(stream));
  product.label = request.label;
  product.macs = plan.problem().useful_macs;
  product.machine = runner_->run(words, kMostCycles, stop);
  product.formula_cycles = formula.cycles();
  for (std::size_t e = 0; e < kEngines; ++e) {
    product.formula_engines[e] = formula.engine(static_cast<MachineEngine>(e));
  }
  product.formula_read_beats = formula.read_beats;
  product.formula_write_beats = formula.write_beats;
  products_.push_back(product);
  if (on_product) on_product(product);
  if (product.machine.halted) throw InputError(request.label + ": the machine has halted");
  memory_->dump(0, dram.data(), dram.size());
  return unpack_conv(plan, dram);
}

}  // namespace bitcycle
