#include "sim/energy_work.hpp"

#include <cmath>
#include <utility>

namespace bitcycle {
namespace {

double real(std::uint64_t n) { return static_cast<double>(n); }

}  // namespace

OperandStatistics statistics_of(const DataAssumption& data, GemmKind kind) {
  switch (kind) {
    case GemmKind::kForward:
      return {data.activations, data.weights};
    case GemmKind::kDx:
      return {data.gradients, data.weights};
    case GemmKind::kDw:
      return {data.gradients, data.activations};
  }
  return {};
}

ArrayWork array_work(const ArrayConfig& config, const Descriptor& d, const OperandStatistics& data,
                     std::uint64_t macs_useful) {
  const GemmTiming t = gemm_timing(config, d);
  const double tiles_n = std::ceil(real(d.gemm.n) / config.tn);
  const double tiles_m = std::ceil(real(d.gemm.m) / config.tm);
  ArrayWork out;
  out.a = d.a;
  out.w = d.w;
  out.a_data = data.first;
  out.w_data = data.second;
  out.visits = real(d.gemm.m) * real(d.gemm.n) * real(t.kc);
  out.a_chunks = real(d.gemm.m) * tiles_n * real(t.kc);
  out.w_chunks = real(d.gemm.n) * tiles_m * real(t.kc);
  out.tile_chunks = real(t.tiles) * real(t.kc);
  out.results = real(d.gemm.m) * real(d.gemm.n);
  out.cycles = real(t.cycles);
  out.useful_macs = real(macs_useful);
  return out;
}

void add_machine_gemm(EnergyModel& model, EnergyCounts& counts, const MachineConfig& machine,
                      const MachineGemm& g, bool transposed, double clock_hz, double times) {
  OperandStatistics data = statistics_of(model.settings().data, g.kind);
  if (transposed && g.kind == GemmKind::kDw) std::swap(data.first, data.second);
  // The mask of a border: one bit, nearly everywhere 1.
  if (g.mask) (g.kind == GemmKind::kDw ? data.second : data.first) = OperandData::kConstant;
  double pe_chunks = 0.0;
  for (const ChunkCounts& c : g.chunks) pe_chunks += real(c.pe);
  SystemWork system;
  for (const bool exchanged : {false, true}) {
    const ChunkCounts& c = g.chunks[exchanged ? 1 : 0];
    if (c.tile == 0) continue;
    ArrayWork w;
    w.a = exchanged ? g.second : g.first;
    w.w = exchanged ? g.first : g.second;
    w.a_data = exchanged ? data.second : data.first;
    w.w_data = exchanged ? data.first : data.second;
    w.visits = real(c.pe);
    w.a_chunks = real(exchanged ? c.second : c.first);
    w.w_chunks = real(exchanged ? c.first : c.second);
    w.tile_chunks = real(c.tile);
    w.results = real(c.results);
    w.cycles = real(c.cycles);
    w.useful_macs = real(g.macs_useful) * w.visits / pe_chunks;
    model.add(counts, w, times);
    system.l1_read_bits += (w.a_chunks * w.a.bits + w.w_chunks * w.w.bits) * machine.array.kl;
  }
  system.idle_cycles = real(g.cycles - g.array_cycles);
  system.seconds = real(g.cycles) / clock_hz;
  system.l1_written_bits = real(g.l1_bits);
  system.psum_written = real(g.psum_written);
  system.psum_read = real(g.psum_read);
  system.result_bits = real(g.result_bits);
  system.dram_read_bits = real(g.first_bits + g.second_bits);
  system.dram_written_bits = real(g.result_bits);
  UnitWork& units = system.units;
  units.cycles = real(g.cycles);
  units.execs = real(g.execs);
  units.fetches = real(g.fetches);
  units.stores = real(g.stores);
  units.read_bursts = real(g.read_bursts);
  units.write_bursts = real(g.write_bursts);
  units.read_beats = real(g.first_bits + g.second_bits) / machine.dw;
  units.write_beats = real(g.result_bits) / machine.dw;
  // Saved partial sums pass by; sums of operands and padding leave, but not through requantisers.
  constexpr double kLeastResultBits = 32;
  units.results = std::min(real(g.chunks[0].results + g.chunks[1].results),
                           real(g.result_bits) / kLeastResultBits);
  model.add(counts, system, times);
}

void add_vector_energy(EnergyModel& model, EnergyCounts& counts, double bytes, double ops,
                       double cycles, double clock_hz, double times) {
  SystemWork work;
  work.idle_cycles = cycles;
  work.seconds = cycles / clock_hz;
  work.dram_read_bits = work.dram_written_bits = 4.0 * bytes;
  work.vector_ops = ops;
  work.units.cycles = cycles;
  model.add(counts, work, times);
}

}  // namespace bitcycle
