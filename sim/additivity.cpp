#include "sim/additivity.hpp"

#include <algorithm>
#include <cmath>

#include "model/gates/gate_owners.hpp"
#include "sim/array_netlist.hpp"

namespace bitcycle {
namespace {

double mean_input_pin(const Netlist& netlist) {
  double sum = 0.0, count = 0.0;
  for (const auto& instance : netlist.instances) {
    for (const auto& pin : instance.cell->pins) {
      if (pin.direction != PinDirection::kInput) continue;
      sum += 0.5 * (pin.rise_capacitance + pin.fall_capacitance);
      count += 1.0;
    }
  }
  return count > 0 ? sum / count : 0.0;
}

}  // namespace

std::vector<ActivityJob> additivity_jobs(const ArrayConfig& array, std::uint64_t cycles) {
  std::vector<ActivityJob> jobs;
  const auto add = [&](int a, int w, bool is_signed, OperandData data) -> ActivityJob& {
    ActivityJob job;
    job.a = {a, is_signed};
    job.w = {w, is_signed};
    job.data = data;
    job.seed = 900 + jobs.size();
    job.cycles = cycles;
    jobs.push_back(job);
    return jobs.back();
  };
  add(8, 8, false, OperandData::kUniform);
  add(4, 4, false, OperandData::kGauss);
  add(2, 2, false, OperandData::kUniform);
  add(3, 5, true, OperandData::kLaplace);
  add(8, 8, false, OperandData::kRelu);
  add(4, 4, true, OperandData::kUniform).chunks = 1;
  ActivityJob& edge = add(8, 8, false, OperandData::kUniform);
  edge.chunks = 2;
  edge.rows = array.tm / 2;
  edge.cols = 1;
  return jobs;
}

double AdditivityRow::sum() const {
  double total = 0.0;
  for (const auto& m : modules) total += m.joules;
  return total;
}

double Additivity::largest() const {
  double worst = 0.0;
  for (const auto& r : rows) worst = std::max(worst, std::abs(r.error()));
  return worst;
}

ArrayConfig additivity_array(const ArrayConfig& config) {
  ArrayConfig c = config;
  c.name = config.name + " (4x4)";
  c.kl = std::min(c.kl, 16);
  c.tm = c.tn = c.q = 4;
  c.s = std::min(c.s, 4);
  c.p_max = std::min(c.p_max, 8);
  c.ac_w = min_ac_w(c.kl);
  // As many beats a chunk as there.
  const auto words = [](int b, int t) { return b >= t ? b / t * 4 : std::max(1, b * 4 / t); };
  c.ba = words(config.ba, config.tm);
  c.bw = words(config.bw, config.tn);
  c.validate();
  return c;
}

Additivity check_additivity(const CharacteriseOptions& options) {
  CharacteriseOptions o = options;
  Additivity out;
  std::vector<Characterisation> records;
  for (const auto& m : array_modules(o.arch)) {
    o.module = m.name;
    auto result = characterise(o);
    if (!result.mismatch.empty()) {
      out.mismatch = result.mismatch;
      return out;
    }
    out.compared += result.compared;
    records.push_back(std::move(result.record));
  }

  const LibertyLibrary library = load_liberty(o.liberty);
  const ArrayNetlists parts = map_array(o.arch, library, {o.period, o.clock_gates, o.keep});
  const Netlist netlist = parts.joined();
  const auto kinds = array_modules(o.arch);
  GateConditions conditions;
  conditions.wire_f_per_fanout =
      o.wire_per_fanout < 0 ? estimated_wire(netlist) : o.wire_per_fanout;
  conditions.clock_tree_factor = o.clock_tree_factor;
  conditions.clear_registers = true;
  conditions.most_load = kBufferedLoad * mean_input_pin(netlist);
  const GateModel model(netlist, library, conditions);
  const GateOwners owners(model, parts.owners(kinds), static_cast<int>(kinds.size()));
  out.cells = netlist.instances.size();
  out.area = netlist.area();

  for (const auto& job : additivity_jobs(o.arch, o.cycles)) {
    std::vector<double> before, after;
    const GateRun run = run_gates(model, 1.25 * model.critical_path(), o.arch, "whole", job,
                                  [&](const GateSim& sim) {
                                    before.swap(after);
                                    after = owners.joules(sim);
                                  });
    if (out.mismatch.empty()) out.mismatch = run.mismatch;
    out.compared += run.compared;
    AdditivityRow row;
    row.workload = job.label();
    row.gates = run.sample.mean_energy();
    ArrayCore again(o.arch);
    ArrayEnergy energy(o.arch, again, records);
    std::uint64_t seen = 0;
    run_activity(o.arch, again, job, [&](const ArrayStep& coming) {
      energy.observe(coming);
      if (++seen == kGateWarmUp) energy.clear();
    });
    row.modules = energy.modules();
    for (auto& m : row.modules) m.joules /= static_cast<double>(energy.cycles());
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      row.by_module.push_back((after[k] - before[k]) / static_cast<double>(run.cycles));
    }
    out.module_area = energy.area();
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace bitcycle
