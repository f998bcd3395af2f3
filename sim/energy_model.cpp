#include "sim/energy_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "golden/error.hpp"
#include "model/gates/array_modules.hpp"
#include "model/gates/module_energy.hpp"
#include "model/scaling.hpp"
#include "sim/energy_sources.hpp"
#include "sim/energy_terms.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kSampleCycles = 256;  // of a sample, about
constexpr std::uint64_t kModuleCycles = 256;
constexpr int kModuleStride = 8;  // every eighth instance of a module is looked at
constexpr double kBankBits = 64;  // memories are banks of words of so many bits
// As the wires inside a module (docs/energy-from-gates.md); half of the bits change.
constexpr double kFaradPerMillimetre = 0.15e-12;
constexpr double kToggles = 0.5;

// (passes, P) of a chunk.
GemmTiming chunk_timing(const ArrayConfig& c, Precision a, Precision w) {
  return gemm_timing(c, {{1, 1, 1}, a, w});
}

std::string pair_text(Precision a, Precision w) {
  return fmt::format("{}x{} {}{}", a.bits, w.bits, a.is_signed ? 's' : 'u',
                     w.is_signed ? 's' : 'u');
}

std::string key_text(const ActivityKey& k) {
  std::string out = fmt::format("{} {}*{}", pair_text(k.a, k.w), operand_data_name(k.a_data),
                                operand_data_name(k.w_data));
  if (k.lanes < 8) out += fmt::format(" {}/8 lanes", k.lanes);
  return out;
}

std::string cycle_name(const ActivityKey& key, PeState state) {
  return fmt::format("cycle of a PE, {}, {}", key_text(key), to_string(state));
}

constexpr const char* kIdlePe = "clocked cycle of a PE, nothing changes";

// How far the sum of modules was from a whole 4x4 array at gates in 180 nm, all cells the same
// (characterise --additivity --arch PRESET, osu018; docs/energy-from-gates.md): largest excess and
// shortfall of seven workloads, as what must be taken from or added to the sum. Part of it is the
// event models' own error on short tiles.
EnergyTerm joints_term(const ArrayConfig& array) {
  switch (array.ra * 10 + array.rw) {
    case 11:
      return {"joints", 0.0, 0.088};
    case 18:
      return {"joints", 0.036, 0.047};
    case 44:
      return {"joints", 0.035, 0.050};
    case 88:
      return {"joints", 0.015, 0.103};
    default:
      return {"joints", 0.022, 0.144};  // of 2x2, the widest
  }
}

}  // namespace

struct EnergyModel::Sample {
  std::array<double, kPeStates> joules{};
  std::vector<double> modules;  ///< J of an event of each module, idle clock apart
  double glue_result = 0.0;     ///< J of the glue's read multiplexers, for a result
  SampledActivity about;
};

EnergyModel::EnergyModel(const EnergySettings& settings, const MachineConfig& machine,
                         const EnergyTable& table, const std::optional<MemoryConfig>& memory)
    : settings_(settings), machine_(machine), table_(table), memory_(memory) {
  const ArrayConfig& array = machine_.array;
  std::vector<Characterisation> records = find_characterisations(settings_, array);
  const auto found = std::find_if(records.begin(), records.end(),
                                  [](const Characterisation& c) { return c.module == "pe"; });
  if (found == records.end()) {
    throw input_error(
        "", 0, "--energy " + to_string(settings_.level),
        fmt::format("no characterisation of the PE of {} in {}", array.name, settings_.technology),
        "one by 'bitcycle characterise' with --characterisation FILE, or --energy literature");
  }
  pe_ = std::move(*found);
  records.erase(found);
  coefficients_ = coefficients_of(pe_, pe_feature_names(array));
  if (!settings_.scale_to.empty()) {
    logic_scale_ = scaling_factor(logic_node(pe_), pe_.voltage, settings_.scale_to, "--scale-to");
    notes_.push_back(
        fmt::format("energies of gates are scaled from {} to {} by {:.3g} (Stillmaker and Baas, "
                    "Integration 58, "
                    "2017), a factor of {:g} either way",
                    logic_node(pe_), settings_.scale_to, logic_scale_, kScalingFactorBand));
  }
  all_pes_ = static_cast<double>(array.tm) * array.tn + array.tm + array.tn;
  idle_pe_ = coefficients_[0] * logic_scale_;

  const std::string gates =
      fmt::format("gates of {} in {}, {:g} V, {:g} C ({} of this RTL)", pe_.rtl_module,
                  pe_.library.front().name, pe_.voltage, pe_.temperature, pe_.command);
  EnergyPartInfo& pe = book_.info(EnergyPart::kPe);
  pe.source = gates;
  pe.terms = gate_terms(pe_);
  pe.terms.push_back(joints_term(array));
  if (settings_.level == EnergyLevel::kTable) {
    pe.status = "gates: table";
    // What a constant does on data that it was not made from.
    double squares = 0.0, count = 0.0;
    for (const auto* list : {&pe_.training, &pe_.held_out}) {
      for (const auto& w : *list) {
        const double constant = uniform_energy(pe_, w.label);
        if (constant <= 0.0 || !realistic(w.label)) continue;
        squares += std::pow(constant / w.energy - 1.0, 2);
        count += 1.0;
      }
    }
    const double error = count > 0 ? std::sqrt(squares / count) : 0.3;
    pe.terms.push_back({"model", error, error});
  } else {
    pe.status = "gates: model";
    pe.terms.push_back({"model", model_error(pe_), model_error(pe_)});
    pe.terms.push_back({"sampling", 0.0, 0.0});  // set by the samples
  }
  EnergyPartInfo& idle = book_.info(EnergyPart::kIdleClock);
  idle.status = "gates";
  idle.source = gates + "; clocked with nothing changing, behind its clock gates";
  idle.terms = gate_terms(pe_);
  idle.terms.push_back(joints_term(array));
  if (!settings_.scale_to.empty()) {
    pe.terms.push_back(scaling_term());
    idle.terms.push_back(scaling_term());
  }
  set_up_modules(std::move(records));
  units_ = EnergyUnits(settings_, machine_, pe_, logic_scale_, book_, notes_);
  set_up_memories();
  set_up_rest(memory);
  if (memory && memory->is_dram) {
    double idle_cycle = idle_pe_ * all_pes_;
    for (const Module& m : modules_) idle_cycle += m.idle_cycle;
    idle_cycle += units_.idle_cycle();
    notes_.push_back(
        fmt::format("joules are those of the lower bound of the cycles: every cycle more adds "
                    "{:.3g} nJ of the clocked, idle machine, and the DRAM's background",
                    idle_cycle * 1e9));
  }
}

EnergyModel::~EnergyModel() = default;

bool EnergyModel::covers(const std::string& module) const {
  return std::any_of(modules_.begin(), modules_.end(),
                     [&](const Module& m) { return m.name == module; });
}

namespace {

EnergyPart part_of(const std::string& module) {
  if (module.rfind("acc", 0) == 0) return EnergyPart::kAccumulators;
  if (module.rfind("chunk", 0) == 0) return EnergyPart::kChunkRegisters;
  return EnergyPart::kControl;
}

// What a module's energy beyond its clock is in proportion to.
struct ModuleEvents {
  double flushes = 0, flushes_ones = 0, a_words = 0, w_words = 0, digits = 0, results = 0;

  double of(const std::string& module, bool ones_apart) const {
    if (module == "acc") return flushes + (ones_apart ? 0.0 : flushes_ones);
    if (module == "acc-ones") return flushes_ones;
    if (module == "chunk-a" || module == "fill-a") return a_words;
    if (module == "chunk-w" || module == "fill-w") return w_words;
    if (module == "drain") return results;
    return digits;
  }
};

const char* event_of(const std::string& module) {
  if (module.rfind("acc", 0) == 0) return "flush";
  if (module == "chunk-a" || module == "fill-a") return "A word";
  if (module == "chunk-w" || module == "fill-w") return "W word";
  return module == "drain" ? "result" : "digit cycle";
}

// The glue's energy beyond its clock: its multiplexers switch while results leave, so cycles with a
// result are told from those that only compute.
class GlueSplit {
 public:
  explicit GlueSplit(const ArrayEnergy& energy) : energy_(energy) {}
  void cycle(const ArrayPorts& ports) {
    for (const ModuleEnergy& m : energy_.modules()) {
      if (m.module != "glue") continue;
      const int kind = ports.res_valid ? 1 : 0;
      moved_[kind] += m.joules - before_ - m.idle_cycle;
      digits_[kind] += ports.ev.digit ? 1.0 : 0.0;
      before_ = m.joules;
    }
  }
  /// J of a digit cycle, and of one of `results`.
  double digit() const { return digits_[0] > 0 ? std::max(0.0, moved_[0] / digits_[0]) : 0.0; }
  double result(double results) const {
    return results > 0 ? std::max(0.0, moved_[1] - digit() * digits_[1]) / results : 0.0;
  }

 private:
  const ArrayEnergy& energy_;
  double before_ = 0.0;
  double moved_[2] = {0, 0}, digits_[2] = {0, 0};
};

}  // namespace

void EnergyModel::set_up_modules(std::vector<Characterisation> records) {
  for (const ModuleKind& kind : array_modules(machine_.array)) {
    const auto at = std::find_if(records.begin(), records.end(),
                                 [&](const Characterisation& c) { return c.module == kind.name; });
    if (kind.name == "pe") continue;
    if (at == records.end()) {
      if (!records.empty()) notes_.push_back("no characterisation of module " + kind.name);
      continue;
    }
    if (at->library.front().sha256 != pe_.library.front().sha256) {
      throw input_error("", 0, "characterisation of " + kind.rtl_module,
                        "library " + at->library.front().name,
                        "that of the PE, " + pe_.library.front().name);
    }
    Module m;
    m.name = kind.name;
    m.part = part_of(kind.name);
    m.instances = static_cast<double>(kind.instances);
    m.idle_cycle = idle_cycle_energy(*at) * m.instances * logic_scale_;
    m.leakage = at->leakage * m.instances;
    m.record = std::move(*at);
    EnergyPartInfo& info = book_.info(m.part);
    info.status = "gates: model";
    info.source += fmt::format("{}{}: {:.0f} of {}, {}", info.source.empty() ? "" : "; ", m.name,
                               m.instances, m.record.rtl_module, m.record.library.front().name);
    std::vector<EnergyTerm> terms = gate_terms(m.record);
    terms.push_back(joints_term(machine_.array));
    terms.push_back({"model", model_error(m.record), model_error(m.record)});
    if (!settings_.scale_to.empty()) terms.push_back(scaling_term());
    widen(info, terms);
    modules_.push_back(std::move(m));
  }
}

// One run of the whole array: energies of all modules but the PEs, over their events.
void EnergyModel::sample_modules(const ActivityKey& key, Sample& out) {
  out.modules.assign(modules_.size(), 0.0);
  if (modules_.empty()) return;
  const ArrayConfig& c = machine_.array;
  std::vector<Characterisation> records;
  for (const Module& m : modules_) records.push_back(m.record);
  ArrayCore core(c);
  ArrayEnergy energy(c, core, records, kModuleStride);
  ActivityJob job;
  job.a = key.a;
  job.w = key.w;
  job.data = key.a_data;
  job.w_data = key.w_data;
  job.lanes = key.lanes;
  job.seed = key.seed;
  job.cycles = kModuleCycles;
  ModuleEvents n;
  GlueSplit glue(energy);
  run_activity(c, core, job, [&](const ArrayStep& coming) {
    energy.observe(coming);
    const ArrayPorts& ports = core.ports();
    glue.cycle(ports);
    const EventPulses& e = ports.ev;
    if (e.flush) n.flushes += e.flush_rows * (e.flush_cols + 1.0), n.flushes_ones += e.flush_ones;
    n.a_words += e.a_words;
    n.w_words += e.w_words;
    n.digits += e.digit ? 1.0 : 0.0;
    if (ports.res_valid && coming.res_ready) n.results += c.q;
  });
  const bool ones_apart = std::any_of(modules_.begin(), modules_.end(),
                                      [](const Module& m) { return m.name == "acc-ones"; });
  for (const ModuleEnergy& e : energy.modules()) {
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      if (modules_[i].name != e.module) continue;
      if (e.module == "glue") {
        out.modules[i] = glue.digit() * logic_scale_;
        out.glue_result = glue.result(n.results) * logic_scale_;
        continue;
      }
      const double events = n.of(e.module, ones_apart);
      const double moved = e.joules - e.idle_cycle * static_cast<double>(energy.cycles());
      if (events > 0) out.modules[i] = std::max(0.0, moved / events) * logic_scale_;
    }
  }
}

void EnergyModel::add_modules(EnergyCounts& counts, const ArrayWork& w, const GemmTiming& chunk,
                              const std::string& name, const Sample& sample, double times) {
  ModuleEvents n;
  const auto passes = static_cast<double>(chunk.passes);
  n.flushes = (w.visits + w.a_chunks) * passes;
  n.flushes_ones = w.w_chunks * passes;
  n.a_words = w.a_chunks * w.a.bits;
  n.w_words = w.w_chunks * w.w.bits;
  n.digits = w.tile_chunks * static_cast<double>(chunk.digit_pairs);
  n.results = w.results;
  const bool ones_apart = std::any_of(modules_.begin(), modules_.end(),
                                      [](const Module& m) { return m.name == "acc-ones"; });
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    const Module& m = modules_[i];
    add_item(counts, m.part, fmt::format("{}: {}, {}", m.name, event_of(m.name), name),
             sample.modules[i], n.of(m.name, ones_apart) * times);
    if (m.name != "glue") continue;
    add_item(counts, m.part, fmt::format("glue: result, {}", name), sample.glue_result,
             n.results * times);
  }
}

EnergyModel::Bank EnergyModel::bank(int beats, double bits, const char* what) {
  const SramEnergy e = sram_energy(sram_, beats, kBankBits);
  const double banks = std::ceil(bits / kBankBits);
  sram_leakage_ += e.leakage_w * banks * sram_scale_;
  if (e.below || e.beyond) {
    notes_.push_back(fmt::format(
        "{}: {} words of {:g} bits lie {} the table {}; its {} memory is "
        "taken, {}",
        what, beats, kBankBits, e.below ? "below" : "beyond", sram_.name,
        e.below ? "smallest" : "largest", e.below ? "an upper bound" : "a lower bound"));
  }
  return {e.read_j / kBankBits * sram_scale_, e.write_j / kBankBits * sram_scale_};
}

void EnergyModel::set_up_memories() {
  sram_ = resolve_sram(settings_);
  if (!settings_.scale_to.empty()) {
    if (sram_.scaling_node.empty()) {
      throw input_error("", 0, "--scale-to", "an SRAM table without scaling_node",
                        "scaling_node: one of the nodes, in " + sram_.name);
    }
    sram_scale_ =
        scaling_factor(sram_.scaling_node, sram_.voltage, settings_.scale_to, "--scale-to");
  }
  const ArrayConfig& a = machine_.array;
  const int rows = std::max(a.q / a.tn, 1);
  psb_bits_ = static_cast<double>(a.q + rows + std::min(a.q, a.tn)) * a.acc_w;
  l1a_ = bank(machine_.l1a_d, machine_.dw, "operand buffer of A");
  l1w_ = bank(machine_.l1w_d, machine_.dw, "operand buffer of W");
  ob_ = bank(machine_.ob_d, machine_.dw, "output buffer");
  psb_ = bank(machine_.ps_d, psb_bits_, "partial sums");
  for (const EnergyPart p :
       {EnergyPart::kOperandBuffers, EnergyPart::kPartialSums, EnergyPart::kOutputBuffer}) {
    EnergyPartInfo& info = book_.info(p);
    info.status = "SRAM table";
    info.source =
        fmt::format("{} ({}), banks of {:g}-bit words", sram_.name, sram_.label, kBankBits);
    for (const auto& s : sram_.sources) info.source += fmt::format("; {}: {}", s.first, s.second);
    info.terms = {{"memory", sram_.band_low, sram_.band_high}};
    if (!settings_.scale_to.empty()) info.terms.push_back(scaling_term());
  }
  if (sram_.node != node_text(pe_) && settings_.scale_to.empty()) {
    notes_.push_back(fmt::format("memories are of {} ({}) beside gates of {}", sram_.node,
                                 sram_.label, node_text(pe_)));
  }
}

void EnergyModel::set_up_rest(const std::optional<MemoryConfig>& memory) {
  EnergyPartInfo& dram = book_.info(EnergyPart::kDram);
  if (memory && memory->is_dram) {
    dram_ = std::make_unique<DramEstimate>(memory->dram,
                                           static_cast<unsigned>(machine_.burst * machine_.dw / 8));
    dram.status = "DRAM states";
    dram.source = fmt::format("currents of {}: {}", memory->label,
                              memory->sources.count("cl") ? memory->sources.at("cl") : "");
    // Currents in data sheets are of the worst device.
    dram.terms = {{"dram", 0.3, 0.1}};
  } else {
    dram.status = "literature";
    dram.source =
        fmt::format("{}: {:g} pJ a bit moved, no states", table_.label, table_.dram_bit_j * 1e12);
    dram.terms = {{"dram", 1.0 - 1.0 / table_.uncertainty_factor, table_.uncertainty_factor - 1.0}};
  }
  EnergyPartInfo& vector = book_.info(EnergyPart::kVector);
  if (table_.fp32_op_j > 0) {
    vector.status = "literature";
    vector.source = fmt::format("{}: {:g} pJ an FP32 operation, {}; no control, no registers",
                                table_.label, table_.fp32_op_j * 1e12, table_.node);
    vector.terms = {
        {"literature", 1.0 - 1.0 / table_.uncertainty_factor, table_.uncertainty_factor - 1.0}};
  }
  EnergyPartInfo& wires = book_.info(EnergyPart::kWires);
  if (settings_.wire_mm > 0) {
    wire_bit_ = 0.5 * kToggles * kFaradPerMillimetre * settings_.wire_mm * pe_.voltage *
                pe_.voltage * logic_scale_;
    wires.status = "by length";
    wires.source = fmt::format("{:g} mm, 0.15 pF/mm, half of the bits change, no repeaters",
                               settings_.wire_mm);
    wires.terms = {{"wires", 0.5, 1.0}};
  }
  EnergyPartInfo& leakage = book_.info(EnergyPart::kLeakage);
  leakage.status = sram_.leakage.empty() ? "gates" : "gates; SRAM table";
  leakage.source =
      fmt::format("Liberty's leakage of the cells of {}{}",
                  modules_.empty() ? "the PEs" : "the modules covered",
                  sram_.leakage.empty() ? "; memories not covered" : ", and the SRAM table's");
  leakage.terms = {{"leakage", 0.5, 1.0}};
}

void EnergyModel::add_item(EnergyCounts& counts, EnergyPart part, const std::string& name,
                           double joules, double count) {
  if (count == 0.0) return;
  const std::size_t i = book_.item(part, name, joules);
  if (counts.size() <= i) counts.resize(i + 1, 0.0);
  counts[i] += count;
}

const EnergyModel::Sample& EnergyModel::sample(const ActivityKey& key) {
  auto& place = samples_[key];
  if (place) return *place;
  const auto begin = std::chrono::steady_clock::now();
  const ArrayActivity activity = sample_activity(machine_.array, key, kSampleCycles);
  place = std::make_unique<Sample>();
  for (std::size_t s = 0; s < kPeStates; ++s) {
    place->joules[s] = activity.features[s].dot(coefficients_) * logic_scale_;
  }
  sample_modules(key, *place);
  place->about.key = key;
  place->about.cycles = activity.cycles;
  double squares = 0.0, mean = 0.0;
  for (const auto& b : activity.batches) mean += b.dot(coefficients_);
  const auto n = static_cast<double>(activity.batches.size());
  if (n > 1 && mean > 0) {
    mean /= n;
    for (const auto& b : activity.batches) squares += std::pow(b.dot(coefficients_) / mean - 1, 2);
    place->about.error = std::sqrt(squares / (n - 1) / n);
  }
  place->about.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // Samples are drawn anew for every pair: a job's error is at most the mean square of theirs.
  double all = 0.0;
  for (const auto& [k, s] : samples_) all += s ? s->about.error * s->about.error : 0.0;
  const double error = std::sqrt(all / static_cast<double>(samples_.size()));
  for (EnergyTerm& t : book_.info(EnergyPart::kPe).terms) {
    if (t.name == "sampling") t.low = t.high = error;
  }
  return *place;
}

double EnergyModel::area() const {
  double um2 = pe_.area * all_pes_;
  for (const Module& m : modules_) um2 += m.record.area * m.instances;
  return um2;
}

double EnergyModel::pe_joules(const EnergyCounts& counts) const {
  double joules = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const EnergyItem& item = book_.items()[i];
    if (item.part == EnergyPart::kPe ||
        (item.part == EnergyPart::kIdleClock && item.name == kIdlePe)) {
      joules += counts[i] * item.joules;
    }
  }
  return joules;
}

double EnergyModel::working_joules(const EnergyCounts& counts, const ActivityKey& key) const {
  double joules = 0.0;
  for (std::size_t s = 0; s < kPeStates; ++s) {
    const int i = book_.find(EnergyPart::kPe, cycle_name(key, static_cast<PeState>(s)));
    if (i < 0 || static_cast<std::size_t>(i) >= counts.size()) continue;
    const auto at = static_cast<std::size_t>(i);
    joules += counts[at] * book_.items()[at].joules;
  }
  return joules;
}

std::vector<SampledActivity> EnergyModel::samples() const {
  std::vector<SampledActivity> out;
  for (const auto& [key, s] : samples_) out.push_back(s->about);
  return out;
}

double EnergyModel::table_cycle(const ArrayWork& work) {
  const std::string key = pair_text(work.a, work.w);
  auto found = table_energies_.find(key);
  if (found == table_energies_.end()) {
    const UniformEnergy e = nearest_uniform(pe_, work.a, work.w);
    if (!e.exact) {
      notes_.push_back(
          fmt::format("{} bits: the table has no such workload, {} stands for it", key, e.label));
    }
    found = table_energies_.emplace(key, e.joules * logic_scale_).first;
  }
  return found->second;
}

void EnergyModel::add(EnergyCounts& counts, const ArrayWork& work, double times) {
  const ArrayConfig& c = machine_.array;
  const GemmTiming t = chunk_timing(c, work.a, work.w);
  const auto pairs = static_cast<double>(t.digit_pairs);
  const double digit_cycles = work.tile_chunks * pairs;
  const double pause_cycles = work.tile_chunks * (static_cast<double>(t.p) - pairs);
  const double waiting = (work.cycles - digit_cycles - pause_cycles) * all_pes_;
  const std::string pair = pair_text(work.a, work.w);
  if (settings_.level == EnergyLevel::kTable) {
    add_item(counts, EnergyPart::kPe, "cycle of a PE, " + pair, table_cycle(work),
             (digit_cycles + pause_cycles) * all_pes_ * times);
    if (!modules_.empty()) {
      // The other modules have no table: uniform data stand for all.
      const ActivityKey key{work.a, work.w,        OperandData::kUniform, OperandData::kUniform,
                            8,      settings_.seed};
      add_modules(counts, work, t, key_text(key), sample(key), times);
    }
  } else {
    // PE-cycles by state; sums over tiles of rows and columns inside and outside the matrix.
    const double ones_columns = work.a_chunks * pairs, ones_rows = work.w_chunks * pairs;
    const double active = work.visits * pairs;
    const double row_off = (work.w_chunks * c.tm - work.visits) * pairs;
    const double column_off = (work.a_chunks * c.tn - work.visits) * pairs;
    const double both_off =
        digit_cycles * all_pes_ - active - row_off - column_off - ones_columns - ones_rows;
    const std::array<double, kPeStates> states = {
        active, ones_columns, ones_rows, row_off, column_off, both_off, pause_cycles * all_pes_,
        0.0};
    // Energy is taken to be linear in the lanes in use, between all and half of them and between
    // half and none, where all data are zero.
    double lanes = work.visits > 0 ? work.useful_macs / (work.visits * c.kl) : 1.0;
    lanes = c.kl < 2 || lanes > 0.995 ? 1.0 : std::max(lanes, 0.0);
    const double half = c.kl < 2 ? 0.5 : std::ceil(0.5 * c.kl) / c.kl;
    const double all_weight = std::max(0.0, (lanes - half) / (1.0 - half));
    const double none_weight = std::max(0.0, (half - lanes) / half);
    const std::array<std::pair<int, double>, 3> weights = {
        {{8, all_weight}, {4, 1.0 - all_weight - none_weight}, {0, none_weight}}};
    // The work's own PE-cycles; modules beside the PEs follow from other events of the same sample.
    ActivityKey key{work.a, work.w, work.a_data, work.w_data, 8, settings_.seed};
    for (const auto& [eighths, weight] : weights) {
      if (weight == 0.0) continue;
      key.lanes = eighths;
      const Sample& s = sample(key);
      for (std::size_t i = 0; i < kPeStates; ++i) {
        add_item(counts, EnergyPart::kPe, cycle_name(key, static_cast<PeState>(i)), s.joules[i],
                 states[i] * weight * times);
      }
      add_modules(counts, work, t, key_text(key), s, weight * times);
    }
  }
  add_item(counts, EnergyPart::kPe, kIdlePe, idle_pe_, waiting * times);
  for (const Module& m : modules_) {
    add_item(counts, m.part, m.name + ": clocked cycle of all", m.idle_cycle, work.cycles * times);
  }
}

void EnergyModel::add(EnergyCounts& counts, const SystemWork& work, double times) {
  add_item(counts, EnergyPart::kIdleClock, kIdlePe, idle_pe_, work.idle_cycles * all_pes_ * times);
  for (const Module& m : modules_) {
    add_item(counts, EnergyPart::kIdleClock, m.name + ": clocked cycle of all", m.idle_cycle,
             work.idle_cycles * times);
  }
  // Operands of both sides lie in memories of one kind and, by default, one size.
  const double read_bit = 0.5 * (l1a_.read_bit + l1w_.read_bit);
  const double write_bit = 0.5 * (l1a_.write_bit + l1w_.write_bit);
  add_item(counts, EnergyPart::kOperandBuffers, "bit written", write_bit,
           work.l1_written_bits * times);
  add_item(counts, EnergyPart::kOperandBuffers, "bit read", read_bit, work.l1_read_bits * times);
  add_item(counts, EnergyPart::kPartialSums, "result beat written", psb_.write_bit * psb_bits_,
           work.psum_written * times);
  add_item(counts, EnergyPart::kPartialSums, "result beat read", psb_.read_bit * psb_bits_,
           work.psum_read * times);
  add_item(counts, EnergyPart::kOutputBuffer, "bit written", ob_.write_bit,
           work.result_bits * times);
  add_item(counts, EnergyPart::kOutputBuffer, "bit read", ob_.read_bit, work.result_bits * times);
  add_item(
      counts, EnergyPart::kWires, "bit moved", wire_bit_,
      wire_bit_ > 0 ? (work.l1_written_bits + work.l1_read_bits + work.result_bits) * times : 0.0);
  if (dram_) {
    const DramConfig& d = memory_->dram;
    const DramEventEnergy e = dram_event_energy(d);
    const double scale = d.devices() * 1e-12;
    const DramWork dram{work.dram_read_bits, work.dram_written_bits, work.seconds};
    const DramEnergy all = dram_->energy(dram);
    const auto put = [&](const char* name, double pj, double each) {
      if (each > 0)
        add_item(counts, EnergyPart::kDram, name, each * scale, pj / each / d.devices() * times);
    };
    put("activation", all.activate, e.activate);
    put("read access", all.read, e.read);
    put("write access", all.write, e.write);
    put("refresh", all.refresh, e.refresh);
    put("clock of open banks", all.standby_open, e.open_clock);
    add_item(counts, EnergyPart::kDram, "bit through the interface", d.io_pj_per_bit * 1e-12,
             d.io_pj_per_bit > 0 ? (work.dram_read_bits + work.dram_written_bits) * times : 0.0);
  } else {
    add_item(counts, EnergyPart::kDram, "bit moved", table_.dram_bit_j,
             (work.dram_read_bits + work.dram_written_bits) * times);
  }
  add_item(counts, EnergyPart::kVector, "FP32 operation", table_.fp32_op_j,
           table_.fp32_op_j > 0 ? work.vector_ops * times : 0.0);
  add_item(counts, EnergyPart::kLeakage, "second of all PEs", pe_.leakage * all_pes_,
           work.seconds * times);
  for (const Module& m : modules_) {
    add_item(counts, EnergyPart::kLeakage, m.name + ": second of all", m.leakage,
             work.seconds * times);
  }
  for (const EnergyUnits::Event& e : units_.events()) {
    add_item(counts, e.part, e.name, e.joules, e.count(work.units) * e.times * times);
  }
  add_item(counts, EnergyPart::kLeakage, "second of all units", units_.leakage(),
           work.units.cycles > 0 ? work.seconds * times : 0.0);
  add_item(counts, EnergyPart::kLeakage, "second of all memories", sram_leakage_,
           sram_leakage_ > 0 ? work.seconds * times : 0.0);
}

std::vector<std::string> EnergyModel::notes(double clock_hz) const {
  std::vector<std::string> out = notes_;
  if (pe_.critical_path > 1.0 / clock_hz) {
    out.push_back(fmt::format(
        "the PE's critical path in this library is {:.3g} ns, {:.0f} MHz at most: at {:g} MHz it "
        "would not run; energies of events do not depend on the clock, leakage and standby do",
        pe_.critical_path * 1e9, 1e-6 / pe_.critical_path, clock_hz / 1e6));
  }
  return out;
}

}  // namespace bitcycle
