#include "model/gates/gate_owners.hpp"

#include <utility>

namespace bitcycle {

GateOwners::GateOwners(const GateModel& model, std::vector<int> owner_of, int owners)
    : model_(model),
      owner_of_(std::move(owner_of)),
      owners_(static_cast<std::size_t>(owners)),
      gate_of_(model.entries().size(), 0),
      net_(model.netlist().nets.size()) {
  // Entries of an input lie one after the other, those of constant inputs are never used.
  std::vector<char> first(gate_of_.size(), 0);
  for (const auto& f : model.fanouts()) {
    first[f.row] = 1;
    gate_of_[f.row] = f.gate;
  }
  for (std::size_t e = 1; e < gate_of_.size(); ++e) {
    if (first[e] == 0) gate_of_[e] = gate_of_[e - 1];
  }
  const Netlist& n = model.netlist();
  for (std::size_t i = 0; i < n.instances.size(); ++i) {
    const NetlistInstance& instance = n.instances[i];
    for (std::size_t p = 0; p < instance.nets.size(); ++p) {
      const auto net = instance.nets[p];
      if (net == kUnconnected || net <= kNetOne) continue;
      const LibertyPin& pin = instance.cell->pins[p];
      auto& farad = net_[net];
      farad.resize(owners_, 0.0);
      farad[static_cast<std::size_t>(owner_of_[i])] +=
          0.5 * (pin.rise_capacitance + pin.fall_capacitance) +
          (pin.direction == PinDirection::kInput ? model.conditions().wire_f_per_fanout : 0.0);
    }
  }
}

std::vector<double> GateOwners::joules(const GateSim& sim) const {
  const auto& gates = model_.gates();
  std::vector<double> units(owners_, 0.0), out(owners_, 0.0);
  for (std::size_t e = 0; e < gate_of_.size(); ++e) {
    const auto& entry = model_.entries()[e];
    const auto& gate = gates[gate_of_[e]];
    units[static_cast<std::size_t>(owner_of_[gate.instance])] +=
        static_cast<double>(sim.pin_counts()[e]) * entry.pin_energy +
        static_cast<double>(sim.out_counts()[e]) * (entry.out_energy - gate.switching);
  }
  for (std::size_t o = 0; o < owners_; ++o) out[o] = units[o] * model_.joules_per_unit();
  const double half = 0.5 * model_.voltage() * model_.voltage();
  const auto charge = [&](std::uint32_t net, double edges) {
    for (std::size_t o = 0; o < net_[net].size(); ++o) out[o] += half * edges * net_[net][o];
  };
  for (std::size_t g = 0; g < gates.size(); ++g) {
    const auto net = gates[g].net;
    if (net == kUnconnected || model_.load(net) <= 0.0) continue;
    // More than one where the net is part of the clock's network.
    const double tree = gates[g].switching * model_.joules_per_unit() / (half * model_.load(net));
    charge(net, tree * static_cast<double>(sim.toggles()[g]));
  }
  std::size_t input = 0;
  for (const auto& port : model_.netlist().ports) {
    if (!port.input) continue;
    for (const auto net : port.nets) {
      if (port.name == model_.conditions().clock) {
        charge(net,
               2.0 * static_cast<double>(sim.cycles()) * model_.conditions().clock_tree_factor);
      } else {
        charge(net, static_cast<double>(sim.input_toggles()[input++]));
      }
    }
  }
  return out;
}

}  // namespace bitcycle
