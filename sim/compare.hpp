// The main job: what each precision schedule costs, in BitOps, cycles and energy.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/array_config.hpp"
#include "model/energy.hpp"
#include "model/machine/memory_config.hpp"
#include "sim/check.hpp"
#include "sim/compare_losses.hpp"
#include "sim/energy_model.hpp"
#include "workloads/exchange.hpp"
#include "workloads/network.hpp"
#include "workloads/schedule.hpp"

namespace bitcycle {

/// Which operand is A: as DESIGN's table says, or the orientation with fewer formula cycles (ties
/// keep the table).
enum class OperandOrder { kBest, kTable };
OperandOrder parse_operand_order(const std::string& text);  ///< "best" | "table"
std::string to_string(OperandOrder order);
std::string to_string(DxLowering lowering);  ///< "dx=phases" | "dx=gemm"
std::string to_string(CycleLength length);   ///< "floor" | "floor+1"
CycleLength parse_cycle_length(const std::string& text);

/// Published constants, no gates.
inline EnergySettings literature_level() {
  EnergySettings out;
  out.level = EnergyLevel::kLiterature;
  return out;
}

/// Everything that `bitcycle compare` can be asked; the defaults are those of the command, but for
/// the level of energy, which the command chooses itself (EnergyLevel::kAuto).
struct CompareOptions {
  std::vector<std::string> networks = {"resnet74-cifar10"};
  std::optional<Gemm> gemm;  ///< in place of networks: one dense layer with this forward GEMM
  std::vector<std::string> schedules;       ///< names; {"all"} = the ten
  std::vector<std::string> schedule_files;  ///< CSVs of schedules of one's own
  std::vector<std::string> traces;          ///< trace files; "-" = standard input
  std::vector<std::string> policies;        ///< "NAME key=value ...", see workloads/policy.hpp
  std::string configs;        ///< CSV "name,bits_w,bits_a,bits_g": a row each; "" = none
  std::string accuracy_file;  ///< CSV "schedule,metric,std"; "" = none
  std::vector<BitRange> bits = {BitRange{}};
  std::uint64_t cycles = 8;
  CycleLength cycle_length = CycleLength::kFloor;
  std::uint64_t iterations = 64000;
  std::optional<std::uint64_t> batch;  ///< samples per iteration; unset = each network's own
  /// Whether the user typed these: a trace brings its own otherwise.
  bool networks_given = false, iterations_given = false;
  bool convention_given = false;
  ExchangeSpec exchange;                            ///< workers = 0: one worker, no exchange
  std::vector<std::string> archs = {"serial-1x1"};  ///< presets or YAML files; {"all"} = presets
  std::optional<BitPair> baseline;      ///< static; unset = qmax and grad_max of each range
  std::string reference = "fixed-8x8";  ///< its static 8/8 cycles are the second yardstick
  std::string convention;               ///< which layers are quantised; "" = each network's own
  DxLowering lowering = DxLowering::kPhases;
  OperandOrder operand_order = OperandOrder::kBest;
  double clock_hz = 500e6;
  bool clock_given = false;                    ///< false: the default, an assumption
  std::optional<int> result_bits = 32;         ///< width of stored results; unset = as the operands
  std::string energy_table;                    ///< YAML; "" = the literature constants
  EnergySettings energy = literature_level();  ///< level and sources of energies from gates
  std::string energy_level_note;               ///< why the level is not the default one
  std::optional<MemoryConfig> memory;  ///< behind the whole machine; unset = the array alone
  double vector_bytes = 0;             ///< per cycle of the vector unit; 0 = the memory's
  double vector_ops = 64;              ///< FP32 operations per cycle of it
  bool force = false;                  ///< print absolute energy across arrays all the same
  std::string command;                 ///< the command line, for the record
};

/// Totals of one of the three GEMMs over the whole run.
struct GemmTotals {
  std::uint64_t cycles = 0;
  std::uint64_t macs_issued = 0;  ///< as the descriptors say
  std::uint64_t macs_useful = 0;  ///< of these, products without padding
  EnergyBreakdown energy;         ///< J
};

/// Events of the whole run that energy is computed from: sums of GemmEvents, and tensor traffic.
struct EventTotals {
  u128 digit_cycles = 0;                       ///< cycles in which a digit pair is issued
  u128 ac_adds = 0, ac_adds_ones = 0;          ///< PE-cycles of array, of ones row and column
  u128 acc_flushes = 0, acc_flushes_ones = 0;  ///< additions into wide accumulators
  u128 a_words_read = 0, w_words_read = 0;     ///< operand-buffer words of KL bits
  u128 results = 0;                            ///< M*N
  u128 digit_products = 0;                     ///< ac_adds*KL: without ones row and column
  u128 dram_read_bits = 0, dram_written_bits = 0;

  /// Adds `times` repetitions of the same work.
  void add(const EventTotals& other, std::uint64_t times);
};

/// The whole run on the whole machine: array, memory system and vector work. GEMMs run one after
/// the other; vector work follows and overlaps with nothing. On a DRAM all but `cycles_upper` are
/// of the lower bound.
struct MachineTotals {
  std::uint64_t cycles = 0;       ///< gemm_cycles + vector_cycles
  double cycles_relative = 0.0;   ///< to the static baseline on the same machine
  std::uint64_t gemm_cycles = 0;  ///< compute + fill_drain + both waits + lead
  double gemm_cycles_relative = 0.0;
  std::uint64_t vector_cycles = 0;  ///< FP32 work
  double vector_share = 0.0;        ///< of cycles
  std::uint64_t compute = 0;        ///< tiles at their steady rate
  std::uint64_t fill_drain = 0;     ///< array start and last drain, set-up, result pipeline
  std::uint64_t wait_fetch = 0;     ///< operands not in the buffers yet
  std::uint64_t wait_store = 0;     ///< no room in the output buffer
  std::uint64_t lead = 0;           ///< first fetch, last store, instruction words of each GEMM
  u128 dram_read_bits = 0, dram_written_bits = 0;  ///< of the GEMMs
  double vector_bytes = 0.0;                       ///< moved by vector work
  std::array<EnergyCounts, 3> energy;              ///< items of the row's model, by GemmKind
  EnergyCounts energy_vector;                      ///< of vector work
  std::optional<std::uint64_t> cycles_upper;       ///< DRAM: no run takes more
  std::optional<double> cycles_upper_relative;     ///< to the upper bound of the baseline
};

/// Cost of one iteration at one bit pair: enough to cost any schedule by hand.
struct PerBits {
  BitPair pair;
  std::uint64_t iterations = 0;
  std::uint64_t cycles_per_iteration = 0;
  double energy_per_iteration_j = 0.0;
  std::uint64_t machine_cycles_per_iteration = 0;  ///< 0 without MachineTotals
};

/// Energy of a row from gates: events of the whole run and what they add up to.
struct RowEnergy {
  std::shared_ptr<const EnergyModel> model;  ///< of the row's array; has the energies of events
  EnergyCounts counts;
  EnergyParts parts{}, base{};         ///< J; base: of the static baseline
  double base_iterations_ratio = 1.0;  ///< energies relative to the baseline times this
  std::array<double, 3> by_kind{};     ///< J, by GemmKind, without vector work
};

/// One schedule on one array: complete in itself.
struct CompareRow {
  std::string network, arch, schedule, group;
  std::uint64_t batch = 0;
  int qmin = 0, qmax = 0, grad_min = 0, grad_max = 0;
  std::uint64_t cycles_n = 0;  ///< 0 for static and files
  std::string cycle_length;    ///< "none" for static and files
  std::uint64_t iterations = 0;
  std::string convention, lowering, operand_order;
  std::uint64_t sum_bits = 0, sum_bits_sq = 0;
  double mean_bits = 0.0;
  u128 bitops = 0;               ///< forward M*N*K for all three GEMMs, as the papers count
  double bitops_relative = 0.0;  ///< to the static baseline
  double bitops_vs_fp32 = 0.0;   ///< to 32-bit operands everywhere
  std::uint64_t macs_issued = 0, macs_useful = 0;
  std::uint64_t cycles = 0;
  double cycles_relative = 0.0;      ///< to the static baseline on the same array
  double cycles_vs_reference = 0.0;  ///< to static 8/8 on the reference array
  double lane_utilisation = 0.0;     ///< useful MACs / MAC slots of the tiles and chunks walked
  double bitop_efficiency = 0.0;     ///< useful bit products / (cycles*TM*TN*KL*RA*RW)
  std::uint64_t precision_switches = 0;
  double clock_hz = 0.0;
  std::string clock_source;
  double seconds = 0.0;
  EnergyBreakdown energy;                                     ///< J
  double energy_relative = 0.0, energy_array_relative = 0.0;  ///< to the baseline, same array
  double energy_factor = 1.0;  ///< uncertainty: lo = E / factor, hi = E * factor
  std::string energy_source;
  std::string energy_level = "literature";  ///< off, literature, table, model, gates
  std::optional<RowEnergy> gates;           ///< levels table, model and gates; else `energy` holds
  double energy_seconds = 0.0;              ///< that the energy is spent in: array or machine
  double joules() const { return gates ? total(gates->parts) : energy.total(); }
  double array_joules() const;
  double buffer_joules() const;
  double dram_joules() const;
  bool energy_shown = true;         ///< false: absolute energies are n/a (see CompareResult)
  std::array<GemmTotals, 3> gemms;  ///< by GemmKind
  std::vector<PerBits> per_bits;
  std::optional<double> metric, metric_std;  ///< from the accuracy file
  std::string metric_text, metric_std_text;  ///< the same as the user typed them
  ArrayConfig array;                         ///< what `arch` names
  EventTotals events;

  bool mixed = false;    ///< bits differ between layers or passes: no network-wide sums
  u128 fp32_macs = 0;    ///< beside the array: in no cycle and no energy
  u128 bitops_fp32 = 0;  ///< of bitops: fp32_macs * 32 * 32
  std::uint64_t averaging_updates = 0;
  u128 averaging_read_bits = 0, averaging_written_bits = 0;  ///< weight averaging, not in events
  double averaging_energy_j = 0.0;                           ///< of these, DRAM; not in energy
  u128 exchange_bits = 0;                                    ///< sent by each worker
  double exchange_seconds = 0.0;                             ///< not in seconds

  std::optional<MachineTotals> machine;  ///< set if CompareOptions::memory is

  SlotCounts slots;              ///< where the cycles went
  SlotCounts slots_first_layer;  ///< of these, in the first layer
};

/// A statement that every report carries.
struct Assumption {
  std::string key, value, text;
  std::string detail;  ///< more of the text, left out on the terminal; may be empty
};

/// Rows of one network, bit range and array: a table of the report.
struct CompareBlock {
  std::size_t first_row = 0, rows = 0;  ///< in CompareResult::rows; the first is the baseline
  std::string title;
  std::string first_layer;        ///< its name; "" if the network has none
  double first_layer_macs = 0.0;  ///< its share of the forward MACs
  std::uint64_t descriptors = 0;  ///< per iteration
  std::uint64_t leftover_k = 0;   ///< of these, with K no multiple of KL (baseline's order)
  std::uint64_t leftover_mn = 0;  ///< with M or N no multiple of TM or TN
};

struct CompareResult {
  std::string command;
  std::vector<Assumption> assumptions;
  std::vector<CompareRow> rows;
  std::vector<CompareBlock> blocks;
  std::string reference;
  std::string metric_name;  ///< heading of the accuracy file; "" without one
  std::string memory;       ///< of the whole machine; "" = the array alone
  bool memory_is_dram = false;
  std::string energy_label;  ///< "literature constants"
  std::string energy_level = "literature";
  std::string gate_check;              ///< level gates: how far the model is off, for people
  std::vector<CheckItem> check_items;  ///< every distinct descriptor of the job
  std::optional<CheckVerdict> check;   ///< set by the command if it was asked to check
};

/// Runs the job. Its time does not depend on the iteration count (traces: on their records). Throws
/// InputError: unknown names (with a suggestion), options that contradict each other, bits wider
/// than an array takes, counts over 64 bits (BitOps: 128), unreadable files.
CompareResult run_compare(const CompareOptions& options);

}  // namespace bitcycle
