// Energy of array work: event counts times a table of energies, each with its provenance.
#pragma once

#include <string>
#include <vector>

#include "golden/checked.hpp"
#include "model/array_config.hpp"
#include "model/formula.hpp"

namespace bitcycle {

/// One published or measured figure and what it covers. Energy of one event = value / per.
struct EnergyEntry {
  std::string key;         ///< digit_product, adder_bit, register_bit, sram_<N>kb, dram, fp32_op
  double value = 0.0;      ///< as published, in `unit`
  std::string unit;        ///< fJ, pJ or nJ
  double per = 1.0;        ///< how many events the value covers
  std::string per_unit;    ///< name of those events
  std::string node;        ///< technology
  std::string conditions;  ///< voltage, access width, data
  std::string source;      ///< citation
  std::string confirmed;   ///< how the figure was checked; may be empty
  std::string text;        ///< the rule by which the model uses it

  double joules() const;  ///< energy of one event, J
};

/// A loaded table: entries as given, and the energies (J) that the model multiplies with.
struct EnergyTable {
  std::string name;
  std::string label;  ///< printed beside every energy figure
  std::string node;
  std::string voltage;
  double uncertainty_factor = 2.0;  ///< true energy taken to lie in [E/factor, E*factor]
  double operand_buffer_kb = 32.0;
  bool ranks_arrays = false;  ///< whether absolute energies of different arrays may be compared
  std::vector<EnergyEntry> entries;

  double digit_product_j = 0.0;  ///< per one-bit product, its share of the adder tree included
  double adder_bit_j = 0.0;      ///< per bit of an addition
  double register_bit_j = 0.0;   ///< per register bit written
  double buffer_bit_j = 0.0;     ///< per bit read from or written to an operand buffer
  double dram_bit_j = 0.0;       ///< per bit moved to or from DRAM
  double fp32_op_j = 0.0;        ///< per FP32 operation of vector work; 0: the table has none
};

/// Energy by what spends it, J. There is no leakage: the literature table has no figure for it.
struct EnergyBreakdown {
  double digit_products = 0.0;   ///< digit multipliers and adder trees
  double ac_adds = 0.0;          ///< chunk accumulators: add and register
  double acc_adds = 0.0;         ///< wide accumulators: add, register and hold register AH
  double chunk_registers = 0.0;  ///< operand words written into chunk registers
  double buffer_reads = 0.0;     ///< operand buffer to chunk registers
  double buffer_writes = 0.0;    ///< fetched operand bits into operand buffers
  double dram = 0.0;             ///< unexpanded tensors, read and written

  double array() const { return digit_products + ac_adds + acc_adds + chunk_registers; }
  double buffers() const { return buffer_reads + buffer_writes; }
  double total() const { return array() + buffers() + dram; }

  EnergyBreakdown& operator+=(const EnergyBreakdown& other);
  EnergyBreakdown operator*(double factor) const;
};

/// The table of configs/energy/literature-45nm.yaml, embedded at build time.
const EnergyTable& literature_energy_table();

/// Reads a table. Throws InputError with file and line: unreadable or malformed YAML, unknown,
/// missing or duplicate keys, wrong types, values that are negative or not finite, an entry
/// without source, an operand buffer outside the sizes of the SRAM entries.
EnergyTable load_energy_table(const std::string& path);

/// The same from text; `file` is named in messages.
EnergyTable parse_energy_table(const std::string& yaml, const std::string& file);

/// Energy of one descriptor's events inside the array and of its operand-buffer reads. The ones
/// row and column are costed as digit products of max(RA, RW) bits, an upper bound.
EnergyBreakdown array_energy(const EnergyTable& table, const ArrayConfig& config,
                             const GemmEvents& events);

/// Energy of moving whole tensors: `read_bits` from DRAM into operand buffers, `written_bits` back.
EnergyBreakdown traffic_energy(const EnergyTable& table, u128 read_bits, u128 written_bits);

}  // namespace bitcycle
