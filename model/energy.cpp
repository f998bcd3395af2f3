#include "model/energy.hpp"

#include <algorithm>

#include "energy_default.hpp"

namespace bitcycle {

double EnergyEntry::joules() const {
  const double scale = unit == "fJ" ? 1e-15 : unit == "pJ" ? 1e-12 : 1e-9;
  return value * scale / per;
}

EnergyBreakdown& EnergyBreakdown::operator+=(const EnergyBreakdown& other) {
  digit_products += other.digit_products;
  ac_adds += other.ac_adds;
  acc_adds += other.acc_adds;
  chunk_registers += other.chunk_registers;
  buffer_reads += other.buffer_reads;
  buffer_writes += other.buffer_writes;
  dram += other.dram;
  return *this;
}

EnergyBreakdown EnergyBreakdown::operator*(double factor) const {
  EnergyBreakdown out = *this;
  for (double* part : {&out.digit_products, &out.ac_adds, &out.acc_adds, &out.chunk_registers,
                       &out.buffer_reads, &out.buffer_writes, &out.dram}) {
    *part *= factor;
  }
  return out;
}

const EnergyTable& literature_energy_table() {
  static const EnergyTable table =
      parse_energy_table(kLiteratureEnergyYaml, "configs/energy/literature-45nm.yaml");
  return table;
}

EnergyBreakdown array_energy(const EnergyTable& table, const ArrayConfig& config,
                             const GemmEvents& events) {
  const double lanes = config.kl;
  const double adds = static_cast<double>(events.ac_adds);
  const double adds_ones = static_cast<double>(events.ac_adds_ones);
  const double flushes =
      static_cast<double>(events.acc_flushes) + static_cast<double>(events.acc_flushes_ones);
  const double operand_bits =
      (static_cast<double>(events.a_words_read) + static_cast<double>(events.w_words_read)) * lanes;
  // An add writes its register; PEs that share an accumulator copy AC to AH before each flush.
  const double ac_bit = table.adder_bit_j + table.register_bit_j;
  const double hold_bits = config.s > 1 ? config.ac_w : 0;

  EnergyBreakdown e;
  e.digit_products = table.digit_product_j * lanes *
                     (adds * config.ra * config.rw + adds_ones * std::max(config.ra, config.rw));
  e.ac_adds = (adds + adds_ones) * config.ac_w * ac_bit;
  e.acc_adds = flushes * (config.acc_w * ac_bit + hold_bits * table.register_bit_j);
  e.chunk_registers = operand_bits * table.register_bit_j;
  e.buffer_reads = operand_bits * table.buffer_bit_j;
  return e;
}

EnergyBreakdown traffic_energy(const EnergyTable& table, u128 read_bits, u128 written_bits) {
  EnergyBreakdown e;
  e.buffer_writes = static_cast<double>(read_bits) * table.buffer_bit_j;
  e.dram = (static_cast<double>(read_bits) + static_cast<double>(written_bits)) * table.dram_bit_j;
  return e;
}

}  // namespace bitcycle
