#include "model/gates/gate_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "golden/error.hpp"
#include "model/gates/cell_tables.hpp"

namespace bitcycle {

// Fills a model; the tables of cells live only as long as this does.
class GateModel::Compiler {
 public:
  Compiler(GateModel& m, const LibertyLibrary& library) : m_(m), n_(m.netlist_) {
    m_.voltage_ = library.voltage;
  }

  void run() {
    find_clock();
    make_gates();
    find_clock_network();
    sum_loads();
    order_gates();
    defaults();
    // Slews of flip-flop outputs depend on the clock's, whose default is their mean.
    for (int pass = 0; pass < 3; ++pass) find_slews();
    fill_entries();
    link();
    find_critical_path();
  }

 private:
  struct Pending {  // an Entry in SI
    double pin = 0.0, out = 0.0, delay = 0.0;
    bool toggles = false, store_flip = false, immediate = false;
  };

  const CellTables& tables_of(std::uint32_t gate) const {
    return *tables_[m_.gates_[gate].instance];
  }
  const NetlistInstance& instance_of(std::uint32_t gate) const {
    return n_.instances[m_.gates_[gate].instance];
  }
  const CellOutput& output_of(std::uint32_t gate) const {
    return tables_of(gate).outputs[m_.gates_[gate].output];
  }

  void find_clock() {
    const auto& port = n_.port(m_.conditions_.clock);
    if (!port.input || port.nets.size() != 1) {
      throw input_error("", 0, "clock", "port " + port.name, "an input of one bit");
    }
    clock_net_ = port.nets[0];
  }

  void make_gates() {
    driver_.assign(n_.nets.size(), kUnconnected);
    for (std::uint32_t i = 0; i < n_.instances.size(); ++i) {
      const auto& instance = n_.instances[i];
      auto& table = by_cell_[instance.cell];
      if (!table) {
        table = std::make_unique<CellTables>(make_cell_tables(*instance.cell));
        leakage_at_[table.get()] = static_cast<std::uint32_t>(m_.leakage_.size());
        m_.leakage_.insert(m_.leakage_.end(), table->leakage.begin(), table->leakage.end());
      }
      tables_.push_back(table.get());
      m_.leakage_at_.push_back(leakage_at_[table.get()]);
      m_.first_gates_.push_back(
          table->outputs.empty() ? kUnconnected : static_cast<std::uint32_t>(m_.gates_.size()));
      for (std::uint32_t o = 0; o < table->outputs.size(); ++o) {
        Gate g{};
        g.instance = i;
        g.output = o;
        g.net = instance.nets[table->outputs[o].pin];
        if (table->sequential) {
          g.store_mask = static_cast<std::uint16_t>(1U << table->inputs.size());
        }
        if (g.net != kUnconnected) driver_[g.net] = static_cast<std::uint32_t>(m_.gates_.size());
        m_.gates_.push_back(g);
      }
    }
  }

  // What the clock reaches through clock gates and through cells without storage (the inverter and
  // the AND of a gate made of cells) is its network, without delay, as a balanced tree.
  void find_clock_network() {
    std::vector<std::vector<std::uint32_t>> readers(n_.nets.size());
    for (std::uint32_t g = 0; g < m_.gates_.size(); ++g) {
      const auto& tables = tables_of(g);
      if (tables.sequential && !tables.cell->clock_gate) continue;
      for (const auto pin : tables.inputs) {
        const LibertyPin& p = tables.cell->pins[pin];
        if (tables.sequential && !p.gate_clock) continue;
        readers[instance_of(g).nets[pin]].push_back(g);
      }
    }
    is_clock_.assign(n_.nets.size(), false);
    is_clock_[clock_net_] = true;
    std::vector<std::uint32_t> found = {clock_net_};
    while (!found.empty()) {
      const std::uint32_t net = found.back();
      found.pop_back();
      for (const auto g : readers[net]) {
        const auto next = m_.gates_[g].net;
        if (next == kUnconnected || is_clock_[next]) continue;
        is_clock_[next] = true;
        found.push_back(next);
      }
    }
  }

  bool drives_clock(std::uint32_t gate) const {
    const auto net = m_.gates_[gate].net;
    return net != kUnconnected && is_clock_[net];
  }
  // Flip-flops: their outputs start what a cycle does.
  bool is_flip_flop(std::uint32_t gate) const {
    const auto& tables = tables_of(gate);
    return tables.sequential && !tables.cell->sequential->latch;
  }

  static double pin_cap(const LibertyPin& pin) {
    return 0.5 * (pin.rise_capacitance + pin.fall_capacitance);
  }

  void sum_loads() {
    m_.loads_.assign(n_.nets.size(), 0.0);
    std::vector<int> pins(n_.nets.size(), 0);
    double sum = 0.0;
    int count = 0;
    for (const auto& instance : n_.instances) {
      for (std::size_t p = 0; p < instance.nets.size(); ++p) {
        const auto net = instance.nets[p];
        if (net == kUnconnected || net <= kNetOne) continue;
        const double cap = pin_cap(instance.cell->pins[p]);
        m_.loads_[net] += cap;
        if (instance.cell->pins[p].direction == PinDirection::kInput) {
          ++pins[net];
          sum += cap;
          ++count;
        }
      }
    }
    mean_cap_ = count > 0 ? sum / count : 0.0;
    for (std::size_t n = kNetOne + 1; n < m_.loads_.size(); ++n) {
      m_.loads_[n] += m_.conditions_.wire_f_per_fanout * pins[n] + m_.conditions_.wire_f_per_net;
    }
    outside_.assign(n_.nets.size(), false);
    for (const auto& port : n_.ports) {
      if (port.input) continue;
      for (const auto net : port.nets) outside_[net] = true;
    }
  }

  double delay_load(std::uint32_t net) const {
    if (net == kUnconnected) return 0.0;
    const double all = m_.loads_[net] + (outside_[net] ? m_.conditions_.output_load : 0.0);
    const double most = m_.conditions_.most_load;
    return most > 0 ? std::min(all, most) : all;
  }

  // Gates in the order of data flow: sequential ones first.
  void order_gates() {
    std::vector<int> waits(m_.gates_.size(), 0);
    std::vector<std::vector<std::uint32_t>> readers(n_.nets.size());
    for (std::uint32_t g = 0; g < m_.gates_.size(); ++g) {
      const auto& tables = tables_of(g);
      if (!tables.sequential) {
        for (const auto pin : tables.inputs) {
          const auto net = instance_of(g).nets[pin];
          if (driver_[net] == kUnconnected) continue;
          readers[net].push_back(g);
          ++waits[g];
        }
      }
      if (waits[g] == 0) order_.push_back(g);
    }
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const auto net = m_.gates_[order_[at]].net;
      if (net == kUnconnected) continue;
      for (const auto reader : readers[net]) {
        if (--waits[reader] == 0) order_.push_back(reader);
      }
    }
    if (order_.size() == m_.gates_.size()) return;
    for (std::uint32_t g = 0; g < waits.size(); ++g) {
      if (waits[g] > 0) {
        throw input_error("", 0, "netlist " + n_.module,
                          "a combinational loop through " + instance_of(g).name,
                          "loops through flip-flops only");
      }
    }
  }

  void defaults() {
    auto& c = m_.conditions_;
    if (c.output_load <= 0) c.output_load = mean_cap_;
    own_slew_ = c.input_slew <= 0;
    if (own_slew_) c.input_slew = fallback_slew();
    m_.slews_.assign(2 * n_.nets.size(), c.input_slew);
  }

  // Without a flip-flop to take it from: the smallest slew that a table knows.
  double fallback_slew() const {
    double smallest = std::numeric_limits<double>::infinity();
    for (const auto* t : tables_) {
      for (const auto& o : t->outputs) {
        for (const auto* arc : o.timing_refs) {
          for (std::size_t a = 0; a < arc->cell_rise.axes.size(); ++a) {
            if (arc->cell_rise.axes[a] == LibertyTable::Axis::kSlew) {
              smallest = std::min(smallest, arc->cell_rise.points[a][0]);
            }
          }
        }
      }
    }
    return std::isfinite(smallest) ? smallest : 0.0;
  }

  double in_slew(std::uint32_t gate, std::size_t input, std::size_t state) const {
    const auto net = instance_of(gate).nets[tables_of(gate).inputs[input]];
    return m_.slews_[2 * net + ((state >> input & 1U) == 0 ? 1U : 0U)];
  }

  void find_slews() {
    double sum = 0.0;
    int count = 0;
    for (const auto g : order_) {
      const auto net = m_.gates_[g].net;
      if (net == kUnconnected || is_clock_[net]) continue;
      const auto& output = output_of(g);
      const auto& tables = tables_of(g);
      const std::size_t states = tables.leakage.size();
      const double load = delay_load(net);
      double slew[2] = {0.0, 0.0};
      int slews[2] = {0, 0};
      std::map<std::pair<const LibertyTiming*, int>, double> memo;
      for (std::size_t k = 0; k < output.changes.size(); ++k) {
        const auto& change = output.changes[k];
        for (std::uint32_t a = 0; a < change.arc_count; ++a) {
          const auto* arc = output.timing_refs[change.arcs + a];
          const int edge = change.out ? 1 : 0;
          const std::size_t input = k / states;
          const bool in_rise = (k % states >> input & 1U) == 0;
          const auto key = std::make_pair(arc, 4 * static_cast<int>(input) + 2 * edge + in_rise);
          auto it = memo.find(key);
          if (it == memo.end()) {
            const auto& table = change.out ? arc->rise_transition : arc->fall_transition;
            it = memo.emplace(key, table.at(in_slew(g, input, k % states), load)).first;
          }
          slew[edge] += it->second;
          ++slews[edge];
        }
      }
      for (unsigned edge = 0; edge < 2; ++edge) {
        if (slews[edge] > 0) m_.slews_[2 * net + edge] = std::max(0.0, slew[edge] / slews[edge]);
        if (is_flip_flop(g)) {
          sum += m_.slews_[2 * net + edge];
          ++count;
        }
      }
    }
    if (!own_slew_ || count == 0) return;
    m_.conditions_.input_slew = sum / count;
    const auto set = [&](std::uint32_t net) {
      const std::size_t at = std::size_t{2} * net;
      m_.slews_[at] = m_.slews_[at + 1] = m_.conditions_.input_slew;
    };
    for (const auto& port : n_.ports) {
      if (port.input) std::for_each(port.nets.begin(), port.nets.end(), set);
    }
    for (std::uint32_t net = 0; net < is_clock_.size(); ++net) {
      if (is_clock_[net]) set(net);
    }
  }

  double switching(std::uint32_t net) const {
    if (net == kUnconnected || net <= kNetOne) return 0.0;
    const double tree = is_clock_[net] ? m_.conditions_.clock_tree_factor : 1.0;
    return 0.5 * tree * m_.loads_[net] * m_.voltage_ * m_.voltage_;
  }

  void fill_entries() {
    std::vector<Pending> all;
    double longest = 0.0, largest = 0.0;
    double clock_to_q = 0.0;
    int clocked = 0;
    for (std::uint32_t g = 0; g < m_.gates_.size(); ++g) {
      const auto& tables = tables_of(g);
      const auto& output = output_of(g);
      const std::size_t states = tables.leakage.size();
      const double load = delay_load(m_.gates_[g].net);
      // Groups are shared by many states.
      std::map<std::pair<const void*, int>, double> memo;
      const auto look_up = [&](const void* group, std::size_t input, bool in_rise, bool rise,
                               const LibertyTable& table, double slew) {
        const int key = static_cast<int>(input) * 4 + (in_rise ? 2 : 0) + (rise ? 1 : 0);
        const auto [it, fresh] = memo.try_emplace({group, key}, 0.0);
        if (fresh) it->second = table.at(slew, load);
        return it->second;
      };
      table_at_.push_back(all.size());
      for (std::size_t k = 0; k < output.changes.size(); ++k) {
        const auto& change = output.changes[k];
        const std::size_t input = k / states;
        const std::size_t state = k % states;
        const bool in_rise = (state >> input & 1U) == 0;
        const double slew = in_slew(g, input, state);
        Pending e;
        e.toggles = change.was != change.out;
        e.store_flip = change.store_flip;
        if (e.toggles) {
          for (std::uint32_t a = 0; a < change.arc_count; ++a) {
            const auto* arc = output.timing_refs[change.arcs + a];
            e.delay += look_up(arc, input, in_rise, change.out,
                               change.out ? arc->cell_rise : arc->cell_fall, slew) /
                       change.arc_count;
          }
          e.out = switching(m_.gates_[g].net);
          for (std::uint32_t p = 0; p < change.power_count; ++p) {
            const auto& ref = output.power_refs[change.powers + p];
            e.out += ref.weight * look_up(ref.power, input, in_rise, change.out,
                                          change.out ? ref.power->rise : ref.power->fall, slew);
          }
          e.immediate = drives_clock(g);
          if (!e.immediate) longest = std::max(longest, e.delay);
          if (is_flip_flop(g) && is_clock_[instance_of(g).nets[tables.inputs[input]]]) {
            clock_to_q += e.delay;
            ++clocked;
          }
        }
        if (m_.gates_[g].output == 0) {
          const auto& pin = tables.pin_changes[k];
          for (std::uint32_t p = 0; p < pin.power_count; ++p) {
            const auto& ref = tables.pin_refs[pin.powers + p];
            e.pin += ref.weight * look_up(ref.power, input, in_rise, in_rise,
                                          in_rise ? ref.power->rise : ref.power->fall, slew);
          }
        }
        largest = std::max({largest, std::abs(e.pin), std::abs(e.out)});
        all.push_back(e);
      }
    }
    for (std::uint32_t n = 0; n < n_.nets.size(); ++n) largest = std::max(largest, switching(n));
    if (m_.conditions_.input_delay < 0) {
      m_.conditions_.input_delay = clocked > 0 ? clock_to_q / clocked : 0.0;
    }
    longest = std::max(longest, m_.conditions_.input_delay);
    m_.tick_ = longest > 0 ? longest / (kWheel - 2) : 1e-12;
    // 28 bits: fine enough for the smallest arc, and any real sum stays far below 63 bits.
    m_.joule_ = largest > 0 ? largest / (1 << 28) : 1e-18;
    m_.input_ticks_ = ticks(m_.conditions_.input_delay);
    m_.entries_.reserve(all.size());
    for (const auto& e : all) {
      m_.entries_.push_back({units(e.pin), units(e.out),
                             (e.toggles ? (e.immediate ? 0U : ticks(e.delay)) << 2U | 1U : 0U) |
                                 (e.store_flip ? 2U : 0U)});
    }
  }

  // At least one tick: nothing that a clock edge starts is seen at the same edge.
  std::uint32_t ticks(double seconds) const {
    return static_cast<std::uint32_t>(std::max(1.0, std::round(seconds / m_.tick_)));
  }
  std::int32_t units(double joules) const {
    return static_cast<std::int32_t>(std::llround(joules / m_.joule_));
  }

  // Stored bit of a gate at the start, as a part of its state.
  std::uint16_t stored_at_start(std::uint32_t g) const {
    const auto& sequential = instance_of(g).cell->sequential;
    const bool inverts = sequential && m_.conditions_.clear_registers && sequential->data->eval(0);
    return inverts ? m_.gates_[g].store_mask : 0;
  }

  // Every stored bit and input 0; what follows from it in order of data flow, and from that what
  // open latches hold, until nothing changes.
  void settle() {
    std::vector<std::uint16_t> stored(m_.gates_.size());
    for (std::uint32_t g = 0; g < stored.size(); ++g) stored[g] = stored_at_start(g);
    std::vector<char> value(n_.nets.size(), 0);
    value[kNetOne] = 1;
    bool changed = true;
    for (int round = 0; changed && round < kMostRounds; ++round) {
      for (const bool sequential : {true, false}) {
        for (const auto g : order_) {
          auto& gate = m_.gates_[g];
          if (tables_of(g).sequential != sequential) continue;
          gate.initial_state = static_cast<std::uint16_t>(state_of(g, value) | stored[g]);
          gate.initial_out = output_of(g).settled[gate.initial_state];
          if (gate.net != kUnconnected) value[gate.net] = gate.initial_out ? 1 : 0;
        }
      }
      changed = false;
      for (std::uint32_t g = 0; g < stored.size(); ++g) {
        if (!tables_of(g).sequential || is_flip_flop(g)) continue;
        const LibertySequential& s = *instance_of(g).cell->sequential;
        if (!eval(*s.clock, g, value)) continue;
        const std::uint16_t now = eval(*s.data, g, value) ? m_.gates_[g].store_mask : 0;
        changed = changed || now != stored[g];
        stored[g] = now;
      }
    }
    for (std::uint32_t g = 0; g < stored.size(); ++g) {
      if (!tables_of(g).sequential) continue;
      m_.gates_[g].initial_state = static_cast<std::uint16_t>(state_of(g, value) | stored[g]);
    }
  }

  // A function of a gate's input pins.
  bool eval(const BoolExpr& e, std::uint32_t g, const std::vector<char>& value) const {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < e.names().size(); ++i) {
      for (const auto pin : tables_of(g).inputs) {
        if (tables_of(g).cell->pins[pin].name != e.names()[i]) continue;
        if (value[instance_of(g).nets[pin]] != 0) word |= std::uint64_t{1} << i;
      }
    }
    return e.eval(word);
  }

  void link() {
    std::vector<std::vector<Fanout>> of_net(n_.nets.size());
    for (std::uint32_t g = 0; g < m_.gates_.size(); ++g) {
      const auto& tables = tables_of(g);
      for (std::uint32_t i = 0; i < tables.inputs.size(); ++i) {
        of_net[instance_of(g).nets[tables.inputs[i]]].push_back(
            {g, static_cast<std::uint32_t>(table_at_[g] + i * tables.leakage.size()), 1U << i});
      }
    }
    const auto place = [&](std::uint32_t net, std::uint32_t& at, std::uint32_t& count) {
      at = static_cast<std::uint32_t>(m_.fanouts_.size());
      count = net == kUnconnected ? 0 : static_cast<std::uint32_t>(of_net[net].size());
      if (count > 0) m_.fanouts_.insert(m_.fanouts_.end(), of_net[net].begin(), of_net[net].end());
    };
    settle();
    for (std::uint32_t g = 0; g < m_.gates_.size(); ++g) {
      auto& gate = m_.gates_[g];
      gate.switching = units(switching(gate.net));
      place(gate.net, gate.fanout, gate.fanout_count);
    }
    std::vector<std::uint32_t> input_index(n_.nets.size(), kUnconnected);
    for (const auto& port : n_.ports) {
      if (!port.input) continue;
      for (const auto net : port.nets) {
        Input in{};
        place(net, in.fanout, in.fanout_count);
        in.switching = units(switching(net));
        if (net == clock_net_) {
          m_.clock_ = in;
          m_.clock_switching_ = std::llround(switching(net) / m_.joule_);
        } else {
          input_index[net] = static_cast<std::uint32_t>(m_.inputs_.size());
          m_.inputs_.push_back(in);
        }
      }
    }
    for (const auto& port : n_.ports) {
      if (port.input) continue;
      for (const auto net : port.nets) {
        using From = Output::From;
        if (net == kNetZero || net == kNetOne) {
          m_.outputs_.push_back({net == kNetOne ? From::kOne : From::kZero, 0});
        } else if (driver_[net] != kUnconnected) {
          m_.outputs_.push_back({From::kGate, driver_[net]});
        } else {
          m_.outputs_.push_back({From::kInput, input_index[net]});
        }
      }
    }
  }

  static constexpr int kMostRounds = 8;  // latches behind latches

  std::uint16_t state_of(std::uint32_t g, const std::vector<char>& value) const {
    const auto& tables = tables_of(g);
    unsigned state = 0;
    for (std::size_t i = 0; i < tables.inputs.size(); ++i) {
      if (value[instance_of(g).nets[tables.inputs[i]]] != 0) state |= 1U << i;
    }
    return static_cast<std::uint16_t>(state);
  }

  void find_critical_path() {
    std::vector<double> arrival(n_.nets.size(), 0.0);
    for (const auto& port : n_.ports) {
      if (!port.input) continue;
      for (const auto net : port.nets) {
        if (net != clock_net_) arrival[net] = m_.conditions_.input_delay;
      }
    }
    double worst = 0.0;
    for (const auto g : order_) {
      const auto& tables = tables_of(g);
      const std::size_t states = tables.leakage.size();
      double out = 0.0;
      for (std::size_t i = 0; i < tables.inputs.size(); ++i) {
        const auto net = instance_of(g).nets[tables.inputs[i]];
        if (net <= kNetOne) continue;
        std::uint32_t longest = 0;
        for (std::size_t s = 0; s < states; ++s) {
          longest = std::max(longest, m_.entries_[table_at_[g] + i * states + s].delay >> 2U);
        }
        if (tables.sequential && !is_clock_[net]) continue;
        out = std::max(out, arrival[net] + longest * m_.tick_);
      }
      if (m_.gates_[g].net != kUnconnected) {
        arrival[m_.gates_[g].net] = drives_clock(g) ? 0.0 : out;
      }
    }
    for (std::uint32_t g = 0; g < m_.gates_.size(); ++g) {
      if (!tables_of(g).sequential) continue;
      for (const auto pin : tables_of(g).inputs) {
        worst = std::max(worst, arrival[instance_of(g).nets[pin]]);
      }
    }
    for (const auto& port : n_.ports) {
      if (port.input) continue;
      for (const auto net : port.nets) worst = std::max(worst, arrival[net]);
    }
    m_.critical_path_ = worst;
  }

  GateModel& m_;
  const Netlist& n_;
  std::uint32_t clock_net_ = kUnconnected;
  std::map<const LibertyCell*, std::unique_ptr<CellTables>> by_cell_;
  std::map<const CellTables*, std::uint32_t> leakage_at_;
  std::vector<const CellTables*> tables_;  // by instance
  std::vector<std::uint32_t> driver_;      // gate, by net
  std::vector<bool> outside_, is_clock_;   // by net
  std::vector<std::uint32_t> order_;
  std::vector<std::size_t> table_at_;  // by gate
  double mean_cap_ = 0.0;
  bool own_slew_ = true;
};

GateModel::GateModel(const Netlist& netlist, const LibertyLibrary& library,
                     GateConditions conditions)
    : netlist_(netlist), conditions_(std::move(conditions)) {
  Compiler(*this, library).run();
}

std::size_t GateModel::input_at(const std::string& port) const {
  std::size_t at = 0;
  for (const auto& p : netlist_.ports) {
    if (!p.input || p.name == conditions_.clock) continue;
    if (p.name == port) return at;
    at += p.nets.size();
  }
  throw input_error("", 0, "port", "'" + port + "'", "an input of " + netlist_.module);
}

std::size_t GateModel::output_at(const std::string& port) const {
  std::size_t at = 0;
  for (const auto& p : netlist_.ports) {
    if (p.input) continue;
    if (p.name == port) return at;
    at += p.nets.size();
  }
  throw input_error("", 0, "port", "'" + port + "'", "an output of " + netlist_.module);
}

double GateModel::leakage(std::uint32_t instance, std::uint32_t state) const {
  return leakage_[leakage_at_[instance] + state];
}

}  // namespace bitcycle
