#include "sim/compare_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "golden/error.hpp"
#include "sim/compare_inputs.hpp"
#include "sim/energy_work.hpp"

namespace bitcycle {
namespace {

constexpr const char* kRun = "machine cycles of the whole run";

OutputForm form_of(const std::optional<int>& result_bits) {
  if (result_bits == 32) return OutputForm::kRaw32;
  if (result_bits == 48) return OutputForm::kRaw48;
  throw input_error("", 0, "--result-bits",
                    result_bits ? std::to_string(*result_bits) : "'operand'",
                    "32 or 48 on the whole machine, anything with --ideal-memory");
}

// Widths that one GEMM of a layer sees; those of its other operands do not matter.
IterationBits bits_of(GemmKind kind, const LayerBits& b) {
  IterationBits out;
  switch (kind) {
    case GemmKind::kForward:
      out.a = b.fwd_x;
      out.w = b.fwd_w;
      break;
    case GemmKind::kDx:
      out.g = b.dx_g;
      out.w = b.dx_w;
      break;
    case GemmKind::kDw:
      out.g = b.dw_g;
      out.a = b.dw_x;
      break;
  }
  return out;
}

std::uint64_t whole(long double cycles) {
  if (!(cycles < 1.8e19L)) throw InputError("vector work: more than 2^64 cycles");
  return static_cast<std::uint64_t>(std::ceil(cycles));
}

}  // namespace

void CompareMachine::Sums::add(const Sums& other, std::uint64_t times) {
  gemm += other.gemm * times;
  compute += other.compute * times;
  fill_drain += other.fill_drain * times;
  wait_fetch += other.wait_fetch * times;
  wait_store += other.wait_store * times;
  lead += other.lead * times;
  read_bits += other.read_bits * times;
  written_bits += other.written_bits * times;
  upper_gemm += other.upper_gemm * times;
  upper_read += other.upper_read * times;
  upper_written += other.upper_written * times;
  upper += other.upper * times;
  vector += other.vector * static_cast<long double>(times);
  vector_bytes += other.vector_bytes * static_cast<long double>(times);
  vector_ops += other.vector_ops * static_cast<long double>(times);
  for (std::size_t i = 0; i < energy.size(); ++i) {
    add_counts(energy[i], other.energy[i], static_cast<double>(times));
  }
}

CompareMachine::CompareMachine(const ArrayConfig& array, const CompareOptions& options,
                               EnergyModel* energy)
    : energy_(energy), clock_hz_(options.clock_hz) {
  options_.results = form_of(options.result_bits);
  options_.machine = machine_for(array);
  const int dw = options_.machine.dw;
  const MemoryView view = view_memory(*options.memory, dw, options.clock_hz, "--clock-mhz");
  options_.memory = view.timing;
  options_.lowering = options.lowering;
  options_.exchange = options.operand_order == OperandOrder::kBest;
  options_.vector.bytes_per_cycle =
      options.vector_bytes > 0 ? options.vector_bytes : bytes_per_cycle(view.timing, dw);
  options_.vector.ops_per_cycle = options.vector_ops;
  cost_ = std::make_unique<MachineCost>(options_);
  dram_ = view.dram;
  if (dram_) {
    access_bits_ = static_cast<std::uint64_t>(options.memory->dram.access_bytes()) * 8;
    MachineCostOptions slow = options_;
    slow.planned_for = options_.memory;  // the same instructions
    slow.memory = dram_->upper;
    upper_ = std::make_unique<MachineCost>(slow);
  }
}

void CompareMachine::add_gemm(Sums& sums, const CompareWorkload& workload, std::size_t layer,
                              GemmKind kind, const IterationBits& bits, std::uint64_t times) {
  const std::uint64_t batch = workload.workload.batch;
  for (const bool mask : {false, true}) {
    if (mask && !needs_mask(workload.network.layers[layer], kind)) continue;
    MachineGemm g = cost_->gemm(workload.network, layer, kind, batch, bits, mask);
    if (dram_) share_channels(g, *dram_);
    Sums one;
    one.gemm = g.cycles;
    one.compute = g.steady;
    one.fill_drain = g.array_cycles - g.steady + g.set_up;
    one.wait_fetch = g.wait_fetch;
    one.wait_store = g.wait_store;
    one.lead = g.lead;
    one.read_bits = g.first_bits + g.second_bits;
    one.written_bits = g.result_bits;
    one.vector = vector_cycles(g.host_bytes, g.host_ops, options_.vector);
    one.vector_bytes = g.host_bytes;
    one.vector_ops = g.host_ops;
    if (energy_ != nullptr) {
      const bool transposed = workload.network.layers[layer].kind == LayerKind::kTransposed;
      add_machine_gemm(*energy_, one.energy[static_cast<std::size_t>(kind)], options_.machine, g,
                       transposed, clock_hz_);
    }
    if (upper_) {
      const MachineGemm slow = upper_->gemm(workload.network, layer, kind, batch, bits, mask);
      one.upper_gemm = slow.cycles;
      one.upper_read = slow.first_bits + slow.second_bits;
      one.upper_written = slow.result_bits;
    }
    sums.add(one, times);
  }
}

void CompareMachine::add_vector(Sums& sums, const Network& network, std::uint64_t batch,
                                const BitPair& bits, bool backward, long double times) const {
  VectorOptions vector;
  vector.unit = options_.vector;
  vector.result_bits = options_.results == OutputForm::kRaw48 ? 48 : 32;
  vector.backward = backward;
  const VectorWork work = total(vector_work(network, batch, bits, vector));
  sums.vector += times * static_cast<long double>(work.cycles);
  sums.vector_bytes += times * static_cast<long double>(work.bytes);
  sums.vector_ops += times * static_cast<long double>(work.ops);
}

const CompareMachine::Sums& CompareMachine::iteration(const CompareWorkload& workload,
                                                      const BitPair& pair) {
  const auto key = std::make_pair(&workload, pair);
  const auto found = iterations_.find(key);
  if (found != iterations_.end()) return found->second;
  Sums sums;
  const IterationBits bits{pair.bits, pair.bits, pair.grad_bits};
  const Network& network = workload.network;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    network.layers[i].validate();
    if (!network.layers[i].quantised) continue;
    for (const GemmKind kind : {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw}) {
      add_gemm(sums, workload, i, kind, bits, 1);
    }
  }
  add_vector(sums, network, workload.workload.batch, pair, true, 1);
  sums.vector = static_cast<long double>(whole(sums.vector));
  if (dram_) sums.upper = upper_bound(sums);
  return iterations_.emplace(key, sums).first->second;
}

u128 CompareMachine::upper_bound(const Sums& sums) const {
  const auto accesses = [&](u128 bits) {
    return fit_64(bits / access_bits_ + 1, "DRAM accesses of the run");
  };
  return dram_->upper_cycles(fit_64(sums.upper_gemm, kRun), accesses(sums.upper_read),
                             accesses(sums.upper_written));
}

std::uint64_t CompareMachine::iteration_cycles(const CompareWorkload& workload,
                                               const BitPair& pair) {
  return finish(iteration(workload, pair)).cycles;
}

double CompareMachine::iteration_energy(const CompareWorkload& workload, const BitPair& pair) {
  const MachineTotals totals = finish(iteration(workload, pair));
  EnergyCounts counts = totals.energy_vector;
  for (const EnergyCounts& c : totals.energy) add_counts(counts, c);
  return total(energy_->book().parts(counts));
}

MachineTotals CompareMachine::schedule(const CompareWorkload& workload,
                                       const ScheduleSummary& summary) {
  Sums sums;
  for (const auto& [pair, iterations] : summary.pairs) {
    sums.add(iteration(workload, pair), iterations);
  }
  return finish(sums);
}

void CompareMachine::add_layer(Sums& sums, const CompareWorkload& workload,
                               const WorkCount& count) {
  const Layer& layer = workload.network.layers.at(count.layer);
  if (!layer.quantised || count.work.mode == WorkMode::kNone) return;
  const LayerBits& b = count.work.bits;
  const auto& passes = count.work.passes;
  if (count.work.mode == WorkMode::kArray) {
    for (const GemmKind kind : {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw}) {
      const std::uint64_t times = checked_mul(
          count.iterations, passes[static_cast<std::size_t>(kind)], "repetitions of a layer");
      if (times > 0) add_gemm(sums, workload, count.layer, kind, bits_of(kind, b), times);
    }
  }
  // The layer's own FP32 work: forward as often as it runs forward, the rest as often as it runs
  // backward.
  Network one;
  one.layers = {layer};
  one.layers.front().quantised = count.work.mode == WorkMode::kArray;
  const BitPair bits{std::max(b.fwd_x, b.fwd_w), std::max(b.dx_g, b.dw_g)};
  const std::uint64_t batch = workload.workload.batch;
  const auto iterations = static_cast<long double>(count.iterations);
  const auto forward = static_cast<long double>(passes[0]);
  const auto backward = static_cast<long double>(std::max(passes[1], passes[2]));
  add_vector(sums, one, batch, bits, true, iterations * backward);
  add_vector(sums, one, batch, bits, false, iterations * (forward - backward));
}

MachineTotals CompareMachine::trace(const CompareWorkload& workload, const TraceTotals& totals) {
  Sums sums;
  for (const auto& count : totals.counts) add_layer(sums, workload, count);
  Network rest = workload.network;  // FP32 layers and operators between layers
  rest.layers.erase(std::remove_if(rest.layers.begin(), rest.layers.end(),
                                   [](const Layer& l) { return l.quantised; }),
                    rest.layers.end());
  add_vector(sums, rest, workload.workload.batch, BitPair{}, true,
             static_cast<long double>(totals.iterations));
  if (dram_) sums.upper = upper_bound(sums);
  return finish(sums);
}

MachineTotals CompareMachine::finish(const Sums& sums) const {
  MachineTotals out;
  out.gemm_cycles = fit_64(sums.gemm, kRun);
  out.vector_cycles = whole(sums.vector);
  out.cycles = fit_64(sums.gemm + out.vector_cycles, kRun);
  out.vector_share = out.cycles == 0
                         ? 0.0
                         : static_cast<double>(out.vector_cycles) / static_cast<double>(out.cycles);
  out.compute = fit_64(sums.compute, kRun);
  out.fill_drain = fit_64(sums.fill_drain, kRun);
  out.wait_fetch = fit_64(sums.wait_fetch, kRun);
  out.wait_store = fit_64(sums.wait_store, kRun);
  out.lead = fit_64(sums.lead, kRun);
  out.dram_read_bits = sums.read_bits;
  out.dram_written_bits = sums.written_bits;
  out.vector_bytes = static_cast<double>(sums.vector_bytes);
  out.energy = sums.energy;
  if (energy_ != nullptr) {
    add_vector_energy(*energy_, out.energy_vector, out.vector_bytes,
                      static_cast<double>(sums.vector_ops), static_cast<double>(out.vector_cycles),
                      clock_hz_);
  }
  if (dram_) out.cycles_upper = fit_64(sums.upper + out.vector_cycles, kRun);
  return out;
}

}  // namespace bitcycle
