// What a job costs in energy: events counted by formula or machine times energies from gates,
// tables of memories, and published figures.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/energy.hpp"
#include "model/formula.hpp"
#include "model/gates/characterisation.hpp"
#include "model/machine/dram_estimate.hpp"
#include "model/machine/machine_config.hpp"
#include "model/machine/memory_config.hpp"
#include "model/sram.hpp"
#include "sim/array_activity.hpp"
#include "sim/energy_ledger.hpp"
#include "sim/energy_units.hpp"

namespace bitcycle {

/// Where energies come from.
enum class EnergyLevel {
  kAuto,        ///< model where the array has been characterised, else literature
  kOff,         ///< none
  kLiterature,  ///< published constants for the array alone
  kTable,       ///< gates: one energy a cycle for each pair of widths
  kModel,       ///< gates: by activity
  kGates,       ///< as model, and sampled tiles are simulated at gate level beside it
};
EnergyLevel parse_energy_level(const std::string& text);
std::string to_string(EnergyLevel level);

/// Statistics of a job's operands by what they are.
struct DataAssumption {
  OperandData activations = OperandData::kRelu;
  OperandData weights = OperandData::kGauss;
  OperandData gradients = OperandData::kLaplace;
};
/// "relu,gauss,laplace" (activations, weights, gradients) or one word for all. Throws InputError.
DataAssumption parse_data(const std::string& text);
std::string to_string(const DataAssumption& data);

struct EnergySettings {
  EnergyLevel level = EnergyLevel::kAuto;
  std::string technology = "ihp-sg13g2";
  std::vector<std::string> characterisations;  ///< user's files, before those of bitcycle
  std::string sram;                            ///< name or file; "" = by technology
  DataAssumption data;
  double wire_mm = 0.0;              ///< between memories and array
  std::string scale_to;              ///< node of the scaling table; "" = as characterised
  std::vector<std::string> liberty;  ///< level gates
  std::uint64_t seed = 1;
};

/// Technologies that characterisations of bitcycle exist in.
std::vector<std::string> energy_technologies();

/// The characterisation of module `module` for an array, by its parameters: the user's files first,
/// then configs/characterised/. Nothing if there is none. Throws InputError for unreadable files
/// and an unknown technology.
/// All that fit, the user's files first, each module once.
std::vector<Characterisation> find_characterisations(const EnergySettings& settings,
                                                     const ArrayConfig& array);

std::optional<Characterisation> find_characterisation(const EnergySettings& settings,
                                                      const ArrayConfig& array,
                                                      const std::string& module);

/// Work of the array at one pair of widths, in the terms of the timing law.
struct ArrayWork {
  Precision a, w;
  OperandData a_data = OperandData::kUniform, w_data = OperandData::kUniform;
  double visits = 0;       ///< sum of M*N*Kc: chunks that PEs of the matrix see
  double a_chunks = 0;     ///< sum of M*ceil(N/TN)*Kc: chunks of rows that are filled
  double w_chunks = 0;     ///< sum of N*ceil(M/TM)*Kc
  double tile_chunks = 0;  ///< sum of tiles*Kc
  double results = 0;      ///< sum of M*N
  double cycles = 0;       ///< T
  double useful_macs = 0;  ///< products of real elements, for the share of lanes in use
};

/// Everything around the array.
struct SystemWork {
  double idle_cycles = 0;  ///< clocked array beyond ArrayWork::cycles
  double seconds = 0;      ///< of everything: leakage and standby
  double l1_written_bits = 0, l1_read_bits = 0;
  double psum_written = 0, psum_read = 0;  ///< result beats
  double result_bits = 0;                  ///< through the output buffer
  double dram_read_bits = 0, dram_written_bits = 0;
  double vector_ops = 0;
  UnitWork units;  ///< nothing where the array stands alone
};

/// How a job was sampled.
struct SampledActivity {
  ActivityKey key;
  std::uint64_t cycles = 0;
  double error = 0.0;  ///< relative standard error of the active PE's energy
  double seconds = 0.0;
};

class EnergyModel {
 public:
  /// Level kTable, kModel or kGates; `table` has the literature's entries (DRAM, FP32). Throws
  /// InputError if the array's PE has no characterisation.
  EnergyModel(const EnergySettings& settings, const MachineConfig& machine,
              const EnergyTable& table, const std::optional<MemoryConfig>& memory);
  ~EnergyModel();
  EnergyModel(const EnergyModel&) = delete;
  EnergyModel& operator=(const EnergyModel&) = delete;

  /// Adds the work's events `times` times.
  void add(EnergyCounts& counts, const ArrayWork& work, double times = 1.0);
  void add(EnergyCounts& counts, const SystemWork& work, double times = 1.0);

  const EnergyBook& book() const { return book_; }
  const EnergySettings& settings() const { return settings_; }
  const Characterisation& pe() const { return pe_; }
  const std::string& array_name() const { return machine_.array.name; }
  bool covers(const std::string& module) const;  ///< a module of the array beside the PEs
  double area() const;  ///< um^2 of the cells of all modules covered, memories apart
  /// Sampled pairs of widths and data (level kModel).
  std::vector<SampledActivity> samples() const;
  /// What a reader must know: sources, what is left out, where a library is too slow for the clock.
  std::vector<std::string> notes(double clock_hz) const;

  /// J that PEs spend at work on these widths and data, of all counted.
  double pe_joules(const EnergyCounts& counts) const;  ///< of all PEs, idle ones included
  double working_joules(const EnergyCounts& counts, const ActivityKey& key) const;

 private:
  struct Sample;
  struct Bank {
    double read_bit = 0, write_bit = 0;  ///< J
  };

  /// A module of the array beside the PEs.
  struct Module {
    std::string name;
    EnergyPart part = EnergyPart::kControl;
    Characterisation record;
    double instances = 0, idle_cycle = 0;  ///< J of all instances
    double leakage = 0;                    ///< W of all instances
  };
  void set_up_modules(std::vector<Characterisation> records);
  void sample_modules(const ActivityKey& key, Sample& out);
  void add_modules(EnergyCounts& counts, const ArrayWork& work, const GemmTiming& chunk,
                   const std::string& name, const Sample& sample, double times);

  const Sample& sample(const ActivityKey& key);
  void add_table(EnergyCounts& counts, const ArrayWork& work, double times);
  double table_cycle(const ArrayWork& work);
  void add_item(EnergyCounts& counts, EnergyPart part, const std::string& name, double joules,
                double count);
  Bank bank(int beats, double bits, const char* what);
  void set_up_memories();
  void set_up_rest(const std::optional<MemoryConfig>& memory);

  EnergySettings settings_;
  MachineConfig machine_;
  EnergyTable table_;
  Characterisation pe_;
  std::vector<Module> modules_;
  Eigen::VectorXd coefficients_;
  SramTable sram_;
  double logic_scale_ = 1.0, sram_scale_ = 1.0;
  double all_pes_ = 0;  ///< with those of the ones row and column
  double idle_pe_ = 0;  ///< J a cycle
  Bank l1a_, l1w_, ob_, psb_;
  double sram_leakage_ = 0.0;
  double psb_bits_ = 0.0;  ///< of an entry
  double wire_bit_ = 0.0;  ///< J
  std::unique_ptr<DramEstimate> dram_;
  std::optional<MemoryConfig> memory_;
  std::map<ActivityKey, std::unique_ptr<Sample>> samples_;
  std::map<std::string, double> table_energies_;
  std::vector<std::string> notes_;
  EnergyBook book_;
  EnergyUnits units_;
};

}  // namespace bitcycle
