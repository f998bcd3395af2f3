#include "sim/gate_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <vector>

namespace bitcycle {
namespace {

constexpr std::size_t kBatches = 16;
constexpr std::uint64_t kLeakageEvery = 64;

double batch_error(const Eigen::VectorXd& energy) {
  const auto size = static_cast<Eigen::Index>(static_cast<std::size_t>(energy.size()) / kBatches);
  if (size == 0) return 0.0;
  Eigen::VectorXd means(static_cast<Eigen::Index>(kBatches));
  for (Eigen::Index b = 0; b < means.size(); ++b) means[b] = energy.segment(b * size, size).mean();
  const double variance = (means.array() - means.mean()).square().sum() / (kBatches - 1);
  return means.mean() > 0 ? std::sqrt(variance / kBatches) / means.mean() : 0.0;
}

}  // namespace

GateRun run_gates(const GateModel& model, double period, const ModuleProbe& probe,
                  const std::string& label,
                  const std::function<void(const std::function<void()>&)>& drive,
                  const GateWatch& watch) {
  GateSim sim(model, period, watch != nullptr);
  std::vector<std::size_t> in_at, out_at;
  const auto& ports = model.netlist().ports;
  std::map<std::string, std::size_t> undriven;  // bits
  std::map<std::string, std::size_t> driving;
  for (const auto& p : ports) {
    if (p.name != model.conditions().clock) (p.input ? undriven : driving)[p.name] = p.nets.size();
  }
  std::vector<const ModuleProbe::Port*> driven, compared;
  const auto attach = [&](const ModuleProbe::Port& p, const std::map<std::string, std::size_t>& to,
                          std::vector<const ModuleProbe::Port*>& list) {
    const auto there = to.find(p.name);
    if (there == to.end() && p.optional) return false;
    if (there == to.end() || there->second != p.bits) {
      throw std::logic_error(
          fmt::format("{} has no port {} of {} bits", probe.module(), p.name, p.bits));
    }
    list.push_back(&p);
    return true;
  };
  for (const auto& p : probe.inputs()) {
    if (attach(p, undriven, driven)) in_at.push_back(model.input_at(p.name));
  }
  for (const auto& p : probe.outputs()) {
    if (attach(p, driving, compared)) out_at.push_back(model.output_at(p.name));
  }
  for (const auto* p : driven) undriven.erase(p->name);
  if (!undriven.empty()) {
    throw std::logic_error("nothing drives input " + undriven.begin()->first + " of " +
                           probe.module());
  }
  std::vector<std::uint64_t> inputs((model.inputs().size() + 63) / 64 + 1, 0);

  GateRun run;
  run.sample.label = label;
  std::vector<double> energy, features;
  double clock = 0.0, total = 0.0, leakage = 0.0;
  std::uint64_t seen = 0, leakages = 0;
  std::int64_t switching_before = 0;
  std::uint32_t settled = 0;
  // Registers with an asynchronous reset see it come and go, before the first cycle that counts.
  if (std::any_of(ports.begin(), ports.end(), [](const auto& p) { return p.name == "rst_ni"; })) {
    const std::size_t reset = model.input_at("rst_ni");
    for (const std::uint64_t level : {1, 0}) {
      put_bits(inputs.data(), reset, 1, level);
      sim.cycle(inputs.data());
    }
  }
  drive([&] {
    for (std::size_t i = 0; i < in_at.size(); ++i) {
      const auto& port = *driven[i];
      for (std::size_t b = 0; b < port.bits; b += 64) {
        put_bits(inputs.data(), in_at[i] + b, std::min<std::size_t>(64, port.bits - b),
                 port.value[b / 64]);
      }
    }
    const GateCycle cycle = sim.cycle(inputs.data());
    settled = std::max(settled, cycle.settled);
    for (std::size_t o = 0; o < out_at.size(); ++o) {
      const auto& port = *compared[o];
      if (!port.known) continue;
      ++run.compared;
      for (std::size_t b = 0; b < port.bits && run.mismatch.empty(); b += 64) {
        const std::size_t width = std::min<std::size_t>(64, port.bits - b);
        const auto got = sim.output_bits(out_at[o] + b, width);
        if (got == port.value[b / 64]) continue;
        run.mismatch = fmt::format("{} of {} in cycle {} of '{}': netlist {:#x}, core {:#x}",
                                   port.name, probe.module(), seen, label, got, port.value[b / 64]);
      }
    }
    run.joules += static_cast<double>(cycle.energy) * model.joules_per_unit();
    if (++seen == kGateWarmUp) {
      switching_before = sim.switching();
      if (watch) watch(sim);
    }
    if (seen <= kGateWarmUp) return;
    run.events += cycle.events;
    energy.push_back(static_cast<double>(cycle.energy) * model.joules_per_unit());
    total += static_cast<double>(cycle.energy);
    clock += static_cast<double>(cycle.clock);
    features.insert(features.end(), probe.features().begin(), probe.features().end());
    if (seen % kLeakageEvery == 0) {
      leakage += sim.leakage();
      ++leakages;
    }
  });
  if (watch) watch(sim);
  const auto rows = static_cast<Eigen::Index>(energy.size());
  const auto columns = static_cast<Eigen::Index>(probe.features().size());
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  run.sample.energy = Eigen::Map<const Eigen::VectorXd>(energy.data(), rows);
  run.sample.features = Eigen::Map<const RowMajor>(features.data(), rows, columns);
  run.cycles = energy.size();
  run.clock_share = total > 0 ? clock / total : 0.0;
  if (run.cycles > 0) {
    run.switching = static_cast<double>(sim.switching() - switching_before) *
                    model.joules_per_unit() / static_cast<double>(run.cycles);
    run.sampling = batch_error(run.sample.energy);
  }
  run.leakage = leakages > 0 ? leakage / static_cast<double>(leakages) : sim.leakage();
  run.settled = settled * model.tick();
  return run;
}

GateRun run_unit(const GateModel& model, double period, const MachineConfig& machine,
                 const std::string& unit, const UnitJob& job) {
  const auto probe = make_unit(unit, machine);
  return run_gates(model, period, *probe, job.label,
                   [&](const std::function<void()>& cycle) { probe->run(job, cycle); });
}

GateRun run_gates(const GateModel& model, double period, const ArrayConfig& small,
                  const std::string& probe_name, const ActivityJob& job, const GateWatch& watch) {
  ArrayCore core(small);
  const auto probe = make_probe(probe_name, small, core);
  GateRun run = run_gates(
      model, period, *probe, job.label(),
      [&](const std::function<void()>& cycle) {
        run_activity(small, core, job, [&](const ArrayStep& coming) {
          probe->observe(coming);
          cycle();
        });
      },
      watch);
  if (!job.idle && probe_name == "pe") {
    run.macs = static_cast<double>(activity_macs(small, job));
  }
  return run;
}

}  // namespace bitcycle
