#include "sim/gate_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "model/gates/gate_model.hpp"
#include "sim/array_netlist.hpp"
#include "sim/energy_sources.hpp"
#include "sim/gate_bench.hpp"
#include "sim/table.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kCycles = 2048;

}  // namespace

GateCheck check_gates(const EnergyModel& model, const ArrayConfig& array,
                      const EnergyCounts& counts, std::size_t most) {
  const Characterisation& pe = model.pe();
  const LibertyLibrary library = load_liberty(model.settings().liberty);
  const ArrayConfig small = small_array(array);
  ArrayCore core(small);
  const auto probe = make_probe("pe", small, core);
  const ScratchDirectory scratch;
  SynthesisRequest request = request_for(*probe);
  request.out_dir = scratch.path();
  if (!clock_gated(pe)) without_clock_gates(request);
  const Netlist netlist = mapped_netlist(library, request);
  GateConditions conditions;
  conditions.wire_f_per_fanout = pe.wire_per_fanout;
  conditions.clock_tree_factor = pe.clock_tree_factor;
  const GateModel gates(netlist, library, conditions);

  GateCheck out;
  if (netlist.sha256 != pe.netlist_sha256) {
    out.warning =
        "the netlist is not the one that was characterised (another library, yosys or RTL): the "
        "error below includes the difference";
  }
  const Eigen::VectorXd coefficients = coefficients_of(pe, pe_feature_names(array));
  double all = 0.0;
  for (const SampledActivity& s : model.samples()) {
    GateCheckRow row;
    row.key = s.key;
    row.share = model.working_joules(counts, s.key);
    all += row.share;
    out.rows.push_back(row);
  }
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const GateCheckRow& a, const GateCheckRow& b) { return a.share > b.share; });
  if (out.rows.size() > most) out.rows.resize(most);
  double modelled = 0.0, simulated = 0.0;
  for (GateCheckRow& row : out.rows) {
    ActivityJob job;
    job.a = row.key.a;
    job.w = row.key.w;
    job.data = row.key.a_data;
    job.w_data = row.key.w_data;
    job.lanes = row.key.lanes;
    job.seed = row.key.seed + 1;  // not the codes of the sample
    job.cycles = kCycles;
    const GateRun run = run_gates(gates, pe.period, small, "pe", job);
    if (!run.mismatch.empty()) throw std::runtime_error("netlist and core differ: " + run.mismatch);
    row.gates = run.sample.mean_energy();
    row.model = run.sample.mean_features().dot(coefficients);
    row.sampling = run.sampling;
    row.cycles = run.cycles;
    row.share = all > 0 ? row.share / all : 0.0;
    out.share += row.share;
    modelled += row.share;
    simulated += row.share * row.gates / row.model;
  }
  out.error = simulated > 0 ? modelled / simulated - 1.0 : 0.0;
  return out;
}

std::string gate_check_text(const GateCheck& check) {
  TextTable table;
  table.add_column("PE at gate level", TextTable::Align::kLeft);
  table.add_column("of the job's\nPE energy %");
  table.add_column("gates\nper cycle");
  table.add_column("model\nper cycle");
  table.add_column("model\noff by");
  table.add_column("sampling\nerror");
  for (const GateCheckRow& r : check.rows) {
    std::string name =
        fmt::format("{}x{} {}*{}", r.key.a.bits, r.key.w.bits, operand_data_name(r.key.a_data),
                    operand_data_name(r.key.w_data));
    if (r.key.lanes < 8) name += fmt::format(", {}/8 of the lanes", r.key.lanes);
    table.add_row({name, fmt::format("{:.1f}", 100.0 * r.share), si_text(r.gates, "J"),
                   si_text(r.model, "J"), fmt::format("{:+.1f} %", 100.0 * r.error()),
                   fmt::format("{:.1f} %", 100.0 * r.sampling)});
  }
  std::string out = table.render();
  out += fmt::format(
      "on this job the model is off by {:+.1f} % ({:.0f} % of its PE energy simulated, "
      "other codes than the model's samples)\n",
      100.0 * check.error, 100.0 * check.share);
  if (!check.warning.empty()) out += "warning: " + check.warning + "\n";
  return out;
}

}  // namespace bitcycle
