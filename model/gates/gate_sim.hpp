// Event-driven simulation of a gate model, cycle by cycle, with the energy of every event.
#pragma once

#include <cstdint>
#include <vector>

#include "model/gates/gate_model.hpp"

namespace bitcycle {

/// What one clock cycle cost, in units of GateModel::joules_per_unit; leakage is apart.
struct GateCycle {
  std::int64_t energy = 0;    ///< all: clock, inputs, internal, switching
  std::int64_t clock = 0;     ///< of it the clock net and what its edges cost in the cells
  std::uint64_t events = 0;   ///< edges of nets, the clock's not counted
  std::uint32_t settled = 0;  ///< ticks from the clock edge to the last event
};

/// Delays are inertial: a gate has at most one edge on its way, and an input that takes the reason
/// away before it arrives cancels it. All flip-flops see one clock edge at one time, also behind
/// clock gates: the clock's network has no delay.
class GateSim {
 public:
  /// Starts with every input and stored bit 0, settled. `model` must outlive the simulator.
  /// `period`: of the clock, s; the falling edge comes in its middle. `profile` counts every entry
  /// (slower).
  GateSim(const GateModel& model, double period, bool profile = false);

  /// One cycle: clock edge, inputs (packed, in the model's order) after the model's input delay,
  /// falling edge, and on until nothing moves.
  GateCycle cycle(const std::uint64_t* inputs);

  /// Output bit, settled.
  bool output(std::size_t bit) const;
  /// `width` (up to 64) output bits from `bit` on.
  std::uint64_t output_bits(std::size_t bit, std::size_t width) const;

  const GateModel& model() const { return model_; }
  /// Energy of edges of outputs and inputs that charges loads, since the start, in units.
  std::int64_t switching() const;
  /// Leakage in the present state, W.
  double leakage() const;
  /// Edges of each gate's output since the start.
  const std::vector<std::uint64_t>& toggles() const { return toggles_; }

  /// With `profile`: how often each entry's pin (output) energy was spent.
  const std::vector<std::uint64_t>& pin_counts() const { return pin_counts_; }
  const std::vector<std::uint64_t>& out_counts() const { return out_counts_; }
  /// Cycles and input edges since the start: what else the sum of entries has to be completed with.
  std::uint64_t cycles() const { return cycles_; }
  const std::vector<std::uint64_t>& input_toggles() const { return input_toggles_; }

 private:
  struct Gate {
    std::uint32_t next, prev, slot;
    std::int32_t pending_energy;
    std::uint32_t fanout, fanout_end;
    std::uint16_t state, store_mask;
    bool out, pending;
  };

  template <bool kProfile>
  GateCycle run(const std::uint64_t* inputs);
  template <bool kProfile>
  std::int64_t reach(std::uint32_t from, std::uint32_t to, std::uint32_t now);
  template <bool kProfile>
  void advance(std::uint32_t until, GateCycle& sum);

  const GateModel& model_;
  std::uint32_t half_;
  bool profile_;
  std::vector<Gate> gates_;
  std::vector<std::uint32_t> heads_;
  std::vector<std::uint64_t> occupied_;
  std::uint64_t waiting_ = 0;
  std::uint32_t now_ = 0;
  std::vector<std::uint64_t> inputs_;
  std::vector<std::uint64_t> toggles_, input_toggles_;
  std::vector<std::uint32_t> pending_entry_;
  std::vector<std::uint64_t> pin_counts_, out_counts_;
  std::uint64_t cycles_ = 0;
};

}  // namespace bitcycle
