#include "sim/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "golden/error.hpp"
#include "sim/compare_cost.hpp"
#include "sim/compare_inputs.hpp"
#include "sim/compare_machine.hpp"
#include "sim/compare_trace.hpp"
#include "sim/gate_check.hpp"

namespace bitcycle {
namespace {

constexpr BitPair kReferenceBits{8, 8};
constexpr double kFp32Weight = 32.0 * 32.0 * 3.0;  // b^2 + 2*b*g at 32/32

// a / b, both for so many iterations; exactly a / b if these are equal.
double ratio_per_iteration(u128 a, std::uint64_t a_iterations, u128 b, std::uint64_t b_iterations) {
  const long double plain = static_cast<long double>(a) / static_cast<long double>(b);
  if (a_iterations == b_iterations) return static_cast<double>(plain);
  return static_cast<double>(plain * static_cast<long double>(b_iterations) /
                             static_cast<long double>(a_iterations));
}

double ratio(u128 a, u128 b) {
  return static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b));
}

u128 multiply_128(u128 a, u128 b, const char* what) {
  u128 out = 0;
  if (__builtin_mul_overflow(a, b, &out)) {
    throw input_error("", 0, what, to_decimal(a) + " * " + to_decimal(b), "a result below 2^128");
  }
  return out;
}

ScheduleSpec static_spec(const BitPair& pair, std::uint64_t iterations) {
  ScheduleSpec spec;
  spec.name = "static";
  spec.qmin = spec.qmax = pair.bits;
  spec.grad_min = spec.grad_max = pair.grad_bits;
  spec.cycles = 1;
  spec.iterations = iterations;
  return spec;
}

// A schedule to cost: its counts and the bounds that its row states. `trace` is set for a trace;
// if that is no schedule, `summary` has its name, group, iterations and switches only.
struct Entry {
  ScheduleSummary summary;
  BitRange range;
  std::uint64_t cycles_n = 0;
  std::string cycle_length = "none";
  const TraceTotals* trace = nullptr;

  bool mixed() const { return trace != nullptr && !trace->schedule; }
};

// Iteration costs of one workload on one array, each bit pair once.
class CostCache {
 public:
  CostCache(const Workload& workload, const ArrayConfig& config, const EnergyTable& table,
            const CostOptions& options)
      : workload_(workload), config_(config), table_(table), options_(options) {}

  const IterationCost& at(const BitPair& pair) {
    auto found = costs_.find(pair);
    if (found == costs_.end()) {
      found =
          costs_.emplace(pair, iteration_cost(workload_, config_, table_, pair, options_)).first;
    }
    return found->second;
  }

  const Workload& workload() const { return workload_; }
  const ArrayConfig& config() const { return config_; }

 private:
  const Workload& workload_;
  const ArrayConfig& config_;
  const EnergyTable& table_;
  CostOptions options_;
  std::map<BitPair, IterationCost> costs_;
};

// The same names as --arch; the message must name the option that the user typed.
ArrayConfig resolve_reference(const std::string& name) {
  try {
    return resolve_array(name);
  } catch (const InputError& e) {
    const std::string arch = "--arch: ";
    const std::string text = e.what();
    if (text.rfind(arch, 0) != 0) throw;
    throw InputError("--reference: " + text.substr(arch.size()));
  }
}

class Job {
 public:
  explicit Job(CompareOptions options)
      : options_(std::move(options)),
        workloads_(compare_workloads(options_)),
        archs_(resolve_archs(options_.archs)),
        reference_(resolve_reference(options_.reference)),
        table_(options_.energy_table.empty() ? literature_energy_table()
                                             : load_energy_table(options_.energy_table)) {
    options_.exchange.validate();
    collect_ranges();
    check_widths();
    cost_options_ = {options_.operand_order, options_.result_bits, nullptr, options_.clock_hz};
    choose_level();
    for (const auto& arch : archs_) {
      energies_.push_back(nullptr);
      if (from_gates()) {
        energies_.back() = std::make_shared<EnergyModel>(options_.energy, machine_for(arch), table_,
                                                         options_.memory);
      }
      if (options_.memory) {
        machines_.push_back(
            std::make_unique<CompareMachine>(arch, options_, energies_.back().get()));
      }
    }
    energy_shown_ = options_.energy.level != EnergyLevel::kOff &&
                    (archs_.size() == 1 || options_.force || table_.ranks_arrays || from_gates());
  }

  CompareResult run() {
    result_.command = options_.command;
    result_.reference = reference_.name;
    result_.energy_level = to_string(options_.energy.level);
    result_.energy_label = from_gates() ? "post-synthesis estimate" : table_.label;
    if (options_.memory) {
      result_.memory = options_.memory->name;
      result_.memory_is_dram = options_.memory->is_dram;
    }
    for (const auto& workload : workloads_) {
      CostCache reference(workload.workload, reference_, table_, cost_options_);
      add_check_items(reference, kReferenceBits);
      const u128 reference_cycles = reference.at(kReferenceBits).cycles;
      for (const auto& range : ranges_) {
        for (std::size_t a = 0; a < archs_.size(); ++a) {
          const ArrayConfig& arch = archs_[a];
          machine_ = machines_.empty() ? nullptr : machines_[a].get();
          energy_ = energies_[a];
          // With a machine, energy is the machine's.
          CostOptions own = cost_options_;
          own.energy = machine_ == nullptr ? energy_.get() : nullptr;
          CostCache costs(workload.workload, arch, table_, own);
          TraceCoster traces(workload, arch, table_, own);
          add_block(workload, costs, traces, range, reference_cycles);
        }
      }
    }
    if (!options_.accuracy_file.empty()) join_metrics();
    std::vector<Workload> workloads;
    for (const auto& w : workloads_) workloads.push_back(w.workload);
    if (options_.energy.level == EnergyLevel::kGates) check_at_gate_level();
    std::vector<const EnergyModel*> models;
    for (const auto& e : energies_) {
      if (e) models.push_back(e.get());
    }
    result_.assumptions =
        compare_assumptions(options_, workloads, table_, energy_shown_, files_, models);
    return std::move(result_);
  }

 private:
  // All rows of an array together are its job.
  void check_at_gate_level() {
    for (std::size_t a = 0; a < archs_.size(); ++a) {
      EnergyCounts counts;
      for (const auto& row : result_.rows) {
        if (row.gates && row.gates->model == energies_[a]) add_counts(counts, row.gates->counts);
      }
      result_.gate_check +=
          fmt::format("{}: {} in {}\n\n{}\n", archs_[a].name, energies_[a]->pe().rtl_module,
                      energies_[a]->pe().library.front().name,
                      gate_check_text(check_gates(*energies_[a], archs_[a], counts)));
    }
  }

  bool from_gates() const {
    return options_.energy.level == EnergyLevel::kTable ||
           options_.energy.level == EnergyLevel::kModel ||
           options_.energy.level == EnergyLevel::kGates;
  }

  // Gates where every array has been characterised, else published constants.
  void choose_level() {
    if (options_.energy.level != EnergyLevel::kAuto) return;
    options_.energy.level = EnergyLevel::kModel;
    for (const auto& arch : archs_) {
      if (find_characterisation(options_.energy, arch, "pe")) continue;
      options_.energy.level = EnergyLevel::kLiterature;
      options_.energy_level_note = fmt::format(
          "the PE of {} has not been characterised in {}, so published constants are "
          "used; 'bitcycle characterise' makes one",
          arch.name, options_.energy.technology);
      return;
    }
  }

  bool has_own_bits() const {
    for (const auto& w : workloads_) {
      if (!w.traces.empty()) return true;
    }
    return !files_.empty();
  }

  void collect_ranges() {
    ranges_ = options_.bits;
    for (const auto& path : options_.schedule_files) {
      files_.push_back(read_schedule_file(path, options_.iterations));
    }
    check_names();
    if (ranges_.empty()) {
      // The top of everything that brings bits of its own.
      BitRange all{16, 1, 16, 1};
      const auto widen = [&](const BitRange& r) {
        all.qmin = std::min(all.qmin, r.qmin);
        all.qmax = std::max(all.qmax, r.qmax);
        all.grad_min = std::min(all.grad_min, r.grad_min);
        all.grad_max = std::max(all.grad_max, r.grad_max);
      };
      for (const auto& file : files_) widen(range_of(file));
      for (const auto& w : workloads_) {
        for (const auto& t : w.traces) widen(t.totals.range());
      }
      if (has_own_bits()) ranges_.push_back(all);
    }
    if (!has_own_bits() || !options_.schedules.empty()) {
      names_ = resolve_schedules(options_.schedules);
    }
    if (ranges_.empty()) throw input_error("", 0, "--bits", "nothing", "such as 3:8/8");
  }

  // Two rows of one name could not be told apart, and an accuracy file could not name them.
  void check_names() const {
    std::set<std::string> names(schedule_names().begin(), schedule_names().end());
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (names.insert(files_[i].name).second) continue;
      throw input_error(options_.schedule_files[i], 0, "schedule file",
                        "a file named '" + files_[i].name + "', as another schedule is",
                        "names that differ: rename the file");
    }
    for (const auto& w : workloads_) {
      for (const auto& t : w.traces) {
        if (names.count(t.totals.name) == 0) continue;
        throw input_error(t.file, 0, "name of a " + t.group, "'" + t.totals.name + "' twice",
                          "rows of different names");
      }
    }
  }

  // Names the option or file that asks for more bits than an array takes.
  void check_widths() const {
    for (const auto& arch : archs_) {
      const auto check = [&](const BitRange& r, const std::string& file, const char* field) {
        const int most = std::max(r.qmax, r.grad_max);
        if (most <= arch.p_max) return;
        throw input_error(
            file, file.empty() ? 0 : line_above(file, arch.p_max), field,
            fmt::format("{} bits in {}", most, range_text(r)),
            fmt::format("1 to P_MAX = {} of array {}; for more give --arch a YAML array with "
                        "p_max: 16",
                        arch.p_max, arch.name));
      };
      for (std::size_t i = 0; i < files_.size(); ++i) {
        check(range_of(files_[i]), options_.schedule_files[i], "bits");
      }
      for (const auto& w : workloads_) {
        for (const auto& t : w.traces) {
          if (t.totals.most_bits() <= arch.p_max) continue;
          throw input_error(
              t.file, 0, t.group + " " + t.totals.name,
              fmt::format("{} bits", t.totals.most_bits()),
              fmt::format("1 to P_MAX = {} of array {}; for more give --arch a YAML array with "
                          "p_max: 16",
                          arch.p_max, arch.name));
        }
      }
      for (const auto& r : options_.bits) {
        check(r, "", r.qmax > arch.p_max ? "--bits" : "--bits or --grad-bits");
      }
      if (options_.baseline) {
        const BitPair& b = *options_.baseline;
        check({b.bits, b.bits, b.grad_bits, b.grad_bits}, "", "--baseline");
      }
    }
  }

  std::vector<Entry> entries(const CompareWorkload& workload, const BitRange& range) const {
    const BitPair top{range.qmax, range.grad_max};
    const BitPair baseline = options_.baseline.value_or(top);
    std::vector<Entry> out;
    const auto add_static = [&](const BitPair& pair) {
      out.push_back({summarise(static_spec(pair, options_.iterations)),
                     {pair.bits, pair.bits, pair.grad_bits, pair.grad_bits},
                     0,
                     "none",
                     nullptr});
    };
    add_static(baseline);
    bool own_static = false;
    for (const auto& name : options_.schedules) own_static = own_static || name == "static";
    if (own_static && !(baseline == top)) add_static(top);
    for (const auto& name : names_) {
      ScheduleSpec spec;
      spec.name = name;
      spec.qmin = range.qmin;
      spec.qmax = range.qmax;
      spec.grad_min = range.grad_min;
      spec.grad_max = range.grad_max;
      spec.cycles = options_.cycles;
      spec.iterations = options_.iterations;
      spec.cycle_length = options_.cycle_length;
      out.push_back(
          {summarise(spec), range, options_.cycles, to_string(options_.cycle_length), nullptr});
    }
    for (const auto& file : files_) out.push_back({file, range_of(file), 0, "none", nullptr});
    for (const auto& t : workload.traces) {
      Entry entry{{}, t.totals.range(), 0, "none", &t.totals};
      if (t.totals.schedule) entry.summary = *t.totals.schedule;
      entry.summary.name = t.totals.name;
      entry.summary.group = t.group;
      entry.summary.iterations = t.totals.iterations;
      entry.summary.precision_switches = t.totals.switches;
      out.push_back(entry);
    }
    return out;
  }

  void add_block(const CompareWorkload& own, CostCache& costs, TraceCoster& traces,
                 const BitRange& range, u128 reference_cycles) {
    const Workload& workload = costs.workload();
    const ArrayConfig& config = costs.config();
    CompareBlock block;
    block.first_row = result_.rows.size();
    const std::string size = options_.gemm ? "" : fmt::format(", batch {}", workload.batch);
    block.title = fmt::format("{}{}, bits {}, array {}, {} iterations", workload.name, size,
                              range_text(range), config.name, options_.iterations);
    block.first_layer = workload.first_layer;
    block.first_layer_macs = workload.first_layer_macs;
    for (const auto& entry : entries(own, range)) {
      result_.rows.push_back(make_row(own, costs, traces, entry));
      CompareRow& row = result_.rows.back();
      const CompareRow& baseline = result_.rows[block.first_row];
      relate(row, baseline, reference_cycles);
      for (const auto& count : entry.summary.pairs) add_check_items(costs, count.pair);
    }
    for (const auto& used : traces.used()) {
      for (const auto& g : used.workload->gemms) {
        if (g.kind == used.kind) add_check_item(config, workload.name, g, used.bits);
      }
    }
    block.rows = result_.rows.size() - block.first_row;
    const BitPair base = result_.rows[block.first_row].per_bits.front().pair;
    for (const auto& g : workload.gemms) {
      const Gemm run = orient(config, g, base, options_.operand_order).descriptor.gemm;
      block.descriptors += g.count;
      const auto left = [](std::uint64_t size_, int by) {
        return size_ % static_cast<unsigned>(by);
      };
      if (left(run.k, config.kl) != 0) block.leftover_k += g.count;
      if (left(run.m, config.tm) != 0 || left(run.n, config.tn) != 0) block.leftover_mn += g.count;
    }
    result_.blocks.push_back(block);
  }

  CompareRow make_row(const CompareWorkload& own, CostCache& costs, TraceCoster& traces,
                      const Entry& entry) const {
    const ScheduleSummary& s = entry.summary;
    CompareRow row;
    row.network = costs.workload().name;
    row.arch = costs.config().name;
    row.array = costs.config();
    row.schedule = s.name;
    row.group = s.group;
    row.batch = costs.workload().batch;
    row.qmin = entry.range.qmin;
    row.qmax = entry.range.qmax;
    row.grad_min = entry.range.grad_min;
    row.grad_max = entry.range.grad_max;
    row.cycles_n = entry.cycles_n;
    row.cycle_length = entry.cycle_length;
    row.iterations = s.iterations;
    row.convention = own.convention;
    row.lowering = to_string(options_.lowering);
    row.operand_order = to_string(options_.operand_order);
    row.mixed = entry.mixed();
    if (!row.mixed) {
      row.sum_bits = fit_64(s.sum_bits(), "sum of bits");
      row.sum_bits_sq = fit_64(s.sum_bits_sq(), "sum of squared bits");
      row.mean_bits = s.mean_bits();
      row.bitops = multiply_128(s.bitops_weight(), costs.workload().forward_macs, "BitOps");
      row.bitops_vs_fp32 = static_cast<double>(s.bitops_weight()) /
                           (kFp32Weight * static_cast<double>(s.iterations));
    }
    row.precision_switches = s.precision_switches;
    row.clock_hz = options_.clock_hz;
    row.clock_source = options_.clock_given ? "user" : "assumption";
    row.energy_factor = table_.uncertainty_factor;
    row.energy_source =
        fmt::format("{} ({}, {}, {})", table_.name, table_.label, table_.node, table_.voltage);
    row.energy_shown = energy_shown_;
    row.energy_level = result_.energy_level;
    if (energy_) {
      row.gates.emplace();
      row.gates->model = energy_;
      row.energy_source = fmt::format("{}, {}, {:g} V, {}", result_.energy_label,
                                      energy_->pe().library.front().name, energy_->pe().voltage,
                                      energy_->book().info(EnergyPart::kPe).status);
    }
    if (row.mixed) {
      traces.add_costs(row, *entry.trace);
      row.bitops_vs_fp32 =
          static_cast<double>(row.bitops) / (kFp32Weight * static_cast<double>(s.iterations) *
                                             static_cast<double>(costs.workload().forward_macs));
    } else {
      add_costs(row, costs, s);
    }
    if (machine_ != nullptr) {
      row.machine = row.mixed ? machine_->trace(own, *entry.trace) : machine_->schedule(own, s);
      for (PerBits& p : row.per_bits) {
        p.machine_cycles_per_iteration = machine_->iteration_cycles(own, p.pair);
        if (row.gates) p.energy_per_iteration_j = machine_->iteration_energy(own, p.pair);
      }
    }
    row.energy_seconds = row.seconds;
    if (row.gates) add_gate_energy(row);
    add_communication(row, own, entry.trace, options_, table_);
    return row;
  }

  // Sums of the row from the machine, or from the array alone (add_costs has filled the counts).
  static void add_gate_energy(CompareRow& row) {
    RowEnergy& e = *row.gates;
    const EnergyBook& book = e.model->book();
    if (row.machine) {
      for (std::size_t i = 0; i < 3; ++i) {
        add_counts(e.counts, row.machine->energy[i]);
        e.by_kind[i] = total(book.parts(row.machine->energy[i]));
      }
      add_counts(e.counts, row.machine->energy_vector);
      row.energy_seconds = static_cast<double>(row.machine->cycles) / row.clock_hz;
    }
    e.parts = book.parts(e.counts);
  }

  static void add_costs(CompareRow& row, CostCache& costs, const ScheduleSummary& s) {
    u128 cycles = 0, slots_walked = 0;
    std::array<u128, 3> kind_cycles{}, issued{}, useful{};
    for (const auto& [pair, iterations] : s.pairs) {
      const IterationCost& cost = costs.at(pair);
      cycles += u128{cost.cycles} * iterations;
      slots_walked += multiply_128(cost.mac_slots, iterations, "MAC slots");
      for (std::size_t i = 0; i < 3; ++i) {
        kind_cycles[i] += u128{cost.gemms[i].cycles} * iterations;
        issued[i] += u128{cost.gemms[i].macs_issued} * iterations;
        useful[i] += u128{cost.gemms[i].macs_useful} * iterations;
        row.gemms[i].energy += cost.gemms[i].energy * static_cast<double>(iterations);
        if (row.gates) add_array_counts(row, cost.energy_counts[i], i, iterations);
      }
      row.slots += cost.slots * iterations;
      row.events.add(cost.events, iterations);
      row.slots_first_layer += cost.slots_first_layer * iterations;
      double joules = cost.energy().total();
      if (row.gates) {
        joules = 0.0;
        for (const auto& c : cost.energy_counts) joules += total(row.gates->model->book().parts(c));
      }
      row.per_bits.push_back({pair, iterations, cost.cycles, joules});
    }
    row.cycles = fit_64(cycles, "cycles of the whole run");
    for (std::size_t i = 0; i < 3; ++i) {
      row.gemms[i].cycles = fit_64(kind_cycles[i], "cycles of the whole run");
      row.gemms[i].macs_issued = fit_64(issued[i], "MACs of the whole run");
      row.gemms[i].macs_useful = fit_64(useful[i], "MACs of the whole run");
      row.energy += row.gemms[i].energy;
    }
    row.macs_issued = fit_64(issued[0] + issued[1] + issued[2], "MACs of the whole run");
    row.macs_useful = fit_64(useful[0] + useful[1] + useful[2], "MACs of the whole run");
    row.lane_utilisation = ratio(row.macs_useful, slots_walked);
    row.bitop_efficiency = ratio(row.slots[SlotUse::kUseful], row.slots.total());
    row.seconds = static_cast<double>(row.cycles) / row.clock_hz;
  }

  static void relate(CompareRow& row, const CompareRow& baseline, u128 reference_cycles) {
    const auto relative = [&](u128 mine, u128 theirs) {
      return ratio_per_iteration(mine, row.iterations, theirs, baseline.iterations);
    };
    row.bitops_relative = relative(row.bitops, baseline.bitops);
    row.cycles_relative = relative(row.cycles, baseline.cycles);
    row.cycles_vs_reference = ratio(row.cycles, reference_cycles * row.iterations);
    if (row.machine) {
      MachineTotals& mine = *row.machine;
      const MachineTotals& theirs = *baseline.machine;
      mine.cycles_relative = relative(mine.cycles, theirs.cycles);
      mine.gemm_cycles_relative = relative(mine.gemm_cycles, theirs.gemm_cycles);
      if (mine.cycles_upper) {
        mine.cycles_upper_relative = relative(*mine.cycles_upper, *theirs.cycles_upper);
      }
    }
    // Multiplying by 1 changes nothing where the iterations are equal.
    const double longer =
        static_cast<double>(baseline.iterations) / static_cast<double>(row.iterations);
    row.energy_relative = row.joules() / baseline.joules() * longer;
    row.energy_array_relative = row.array_joules() / baseline.array_joules() * longer;
    if (row.gates) {
      row.gates->base = baseline.gates->parts;
      row.gates->base_iterations_ratio = longer;
    }
  }

  void add_check_items(const CostCache& costs, const BitPair& pair) {
    for (const auto& g : costs.workload().gemms) {
      add_check_item(costs.config(), costs.workload().name, g, pair);
    }
  }

  void add_check_item(const ArrayConfig& config, const std::string& network, const DistinctGemm& g,
                      const LayerBits& bits) {
    const Descriptor d = orient(config, g, bits, options_.operand_order).descriptor;
    const CheckKey key{config.key(), d.gemm.m, d.gemm.n, d.gemm.k, d.a.bits, d.w.bits};
    const auto [place, is_new] = check_places_.emplace(key, result_.check_items.size());
    if (is_new) {
      result_.check_items.push_back(
          {config, d, g.count,
           fmt::format("{} {} {} on {}, {}x{} bits", network, g.layer, to_string(g.kind),
                       config.name, d.a.bits, d.w.bits)});
    }
  }

  void join_metrics() {
    if (workloads_.size() > 1 || ranges_.size() > 1) {
      throw input_error(options_.accuracy_file, 0, "--accuracy",
                        "more than one network or bit range", "one network and one bit range");
    }
    std::vector<std::string> known = schedule_names();
    for (const auto& file : files_) known.push_back(file.name);
    for (const auto& t : workloads_.front().traces) known.push_back(t.totals.name);
    const MetricFile metrics = read_metrics(options_.accuracy_file, known);
    result_.metric_name = metrics.name;
    bool any = false;
    for (auto& row : result_.rows) {
      const auto found = metrics.values.find(row.schedule);
      if (found == metrics.values.end()) continue;
      row.metric = found->second.value;
      row.metric_std = found->second.deviation;
      row.metric_text = found->second.value_text;
      row.metric_std_text = found->second.deviation_text;
      any = true;
    }
    if (!any) {
      std::vector<std::string> names;
      for (const auto& row : result_.rows) names.push_back(row.schedule);
      names.resize(result_.blocks.front().rows);  // blocks have the same schedules
      throw input_error(options_.accuracy_file, 0, "accuracy file", "no schedule of this table",
                        join(names));
    }
  }

  using CheckKey = std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t, int, int>;

  CompareOptions options_;
  std::vector<CompareWorkload> workloads_;
  std::vector<ArrayConfig> archs_;
  ArrayConfig reference_;
  EnergyTable table_;
  std::vector<BitRange> ranges_;
  std::vector<std::string> names_;
  std::vector<ScheduleSummary> files_;
  CostOptions cost_options_;
  bool energy_shown_ = true;
  std::vector<std::unique_ptr<CompareMachine>> machines_;  // by array; empty: the array alone
  CompareMachine* machine_ = nullptr;                      // of the block that is being made
  std::vector<std::shared_ptr<EnergyModel>> energies_;     // by array; null: no gates
  std::shared_ptr<EnergyModel> energy_;                    // of the block
  std::map<CheckKey, std::size_t> check_places_;
  CompareResult result_;
};

}  // namespace

double CompareRow::array_joules() const {
  if (!gates) return energy.array();
  double sum = 0.0;
  for (std::size_t p = 0; p < kEnergyParts; ++p) {
    if (is_array(static_cast<EnergyPart>(p))) sum += gates->parts[p];
  }
  return sum;
}

double CompareRow::buffer_joules() const {
  if (!gates) return energy.buffers();
  double sum = 0.0;
  for (std::size_t p = 0; p < kEnergyParts; ++p) {
    if (is_buffer(static_cast<EnergyPart>(p))) sum += gates->parts[p];
  }
  return sum;
}

double CompareRow::dram_joules() const {
  return gates ? gates->parts[static_cast<std::size_t>(EnergyPart::kDram)] : energy.dram;
}

void add_array_counts(CompareRow& row, const EnergyCounts& counts, std::size_t kind,
                      std::uint64_t times) {
  RowEnergy& e = *row.gates;
  const auto n = static_cast<double>(times);
  add_counts(e.counts, counts, n);
  e.by_kind[kind] += total(e.model->book().parts(counts)) * n;
}

OperandOrder parse_operand_order(const std::string& text) {
  if (text == "best") return OperandOrder::kBest;
  if (text == "table") return OperandOrder::kTable;
  throw input_error("", 0, "--operand-order",
                    "'" + text + "'" + suggestion(text, {"best", "table"}), "best, table");
}

std::string to_string(OperandOrder order) {
  return order == OperandOrder::kBest ? "best" : "table";
}

std::string to_string(DxLowering lowering) {
  return lowering == DxLowering::kPhases ? "dx=phases" : "dx=gemm";
}

std::string to_string(CycleLength length) {
  return length == CycleLength::kFloor ? "floor" : "floor+1";
}

CycleLength parse_cycle_length(const std::string& text) {
  if (text == "floor") return CycleLength::kFloor;
  if (text == "floor+1") return CycleLength::kFloorPlusOne;
  throw input_error("", 0, "--cycle-length",
                    "'" + text + "'" + suggestion(text, {"floor", "floor+1"}), "floor, floor+1");
}

CompareResult run_compare(const CompareOptions& options) { return Job(options).run(); }

}  // namespace bitcycle
