// A netlist ready to be simulated: for every gate, input and state the delay and the energy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/gates/netlist.hpp"

namespace bitcycle {

/// What the Liberty file and the netlist do not say. All are part of every result.
struct GateConditions {
  std::string clock = "clk_i";     ///< input port
  double wire_f_per_fanout = 0.0;  ///< F of wire for every pin that a net drives
  double wire_f_per_net = 0.0;     ///< F of wire besides
  double clock_tree_factor = 1.0;  ///< charging a clock net costs so many times its own load
  double input_slew = 0.0;         ///< s at inputs and clock; 0 = mean slew of flip-flop outputs
  double output_load = 0.0;        ///< F at every output; 0 = mean input pin. Delays only: what is
                                   ///< outside pays for its own pins
  /// F that a net's driver sees at most, as though buffered beyond: delays and slews only. 0 = all.
  double most_load = 0.0;
  double input_delay = -1.0;  ///< s after the clock edge; < 0 = mean clock-to-output delay
  /// Registers start with 0, also where a flip-flop stores the complement; else stored bits do.
  bool clear_registers = false;
};

/// Immutable; simulators share it. Energies are whole numbers of `joules_per_unit`, so that sums
/// are exact and do not depend on their order.
class GateModel {
 public:
  /// `netlist` (and its library) must outlive the model. Throws InputError: no such clock port, a
  /// cell that cannot be simulated (cell_tables.hpp), a combinational loop.
  GateModel(const Netlist& netlist, const LibertyLibrary& library, GateConditions conditions);

  struct Entry {
    std::int32_t pin_energy = 0;  ///< the input itself
    std::int32_t out_energy = 0;  ///< the output, if its edge happens: internal and switching
    /// ticks << 2 | store_flip << 1 | the output's goal changes; 0 ticks in the clock's network.
    std::uint32_t delay = 0;
  };
  struct Fanout {
    std::uint32_t gate;
    std::uint32_t row;   ///< first Entry of this input
    std::uint32_t mask;  ///< its bit in the gate's state
  };
  /// One output of an instance.
  struct Gate {
    std::uint32_t instance;
    std::uint32_t output;  ///< of its cell
    std::uint32_t net;     ///< kUnconnected if open
    std::uint32_t fanout, fanout_count;
    std::uint16_t initial_state;
    std::uint16_t store_mask;  ///< stored bit of a sequential cell, else 0
    bool initial_out;
    std::int32_t switching;  ///< of this net, either edge
  };

  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<Gate>& gates() const { return gates_; }
  const std::vector<Fanout>& fanouts() const { return fanouts_; }

  /// Nets of the input bits (clock left out) and output bits, ports in the netlist's order.
  struct Input {
    std::uint32_t fanout, fanout_count;
    std::int32_t switching;
  };
  const std::vector<Input>& inputs() const { return inputs_; }
  const Input& clock() const { return clock_; }
  std::int64_t clock_switching() const { return clock_switching_; }  ///< either edge, with factor
  /// Gate of each output bit; or an input bit, or a constant.
  struct Output {
    enum class From : std::uint8_t { kGate, kInput, kZero, kOne } from;
    std::uint32_t index;
  };
  const std::vector<Output>& outputs() const { return outputs_; }
  /// First bit of a port among the input (output) bits; throws InputError if there is none.
  std::size_t input_at(const std::string& port) const;
  std::size_t output_at(const std::string& port) const;

  double joules_per_unit() const { return joule_; }
  double tick() const { return tick_; }                       ///< s
  std::uint32_t input_ticks() const { return input_ticks_; }  ///< input_delay
  /// Longest path from clock or inputs to a stored bit or an output, s. Set-up times not included.
  double critical_path() const { return critical_path_; }
  const GateConditions& conditions() const { return conditions_; }  ///< defaults filled in
  const Netlist& netlist() const { return netlist_; }
  /// Leakage of an instance, W, in the state of its (first) gate.
  double leakage(std::uint32_t instance, std::uint32_t state) const;
  /// First gate of each instance; kUnconnected for cells without output (fillers).
  const std::vector<std::uint32_t>& first_gates() const { return first_gates_; }
  double voltage() const { return voltage_; }
  /// Load of a net without what hangs outside, F.
  double load(std::uint32_t net) const { return loads_[net]; }
  double slew(std::uint32_t net, bool rise) const { return slews_[2 * net + (rise ? 1U : 0U)]; }

  static constexpr std::uint32_t kWheel = 1U << 15;  ///< ticks; no delay is longer

 private:
  class Compiler;
  const Netlist& netlist_;
  GateConditions conditions_;
  double voltage_ = 0.0, joule_ = 0.0, tick_ = 0.0, critical_path_ = 0.0;
  std::uint32_t input_ticks_ = 0;
  std::vector<Entry> entries_;
  std::vector<Gate> gates_;
  std::vector<Fanout> fanouts_;
  std::vector<Input> inputs_;
  Input clock_{};
  std::int64_t clock_switching_ = 0;
  std::vector<Output> outputs_;
  std::vector<std::uint32_t> first_gates_;
  std::vector<double> loads_, slews_;
  std::vector<std::uint32_t> leakage_at_;
  std::vector<double> leakage_;
};

}  // namespace bitcycle
