#include "model/gates/gate_sim.hpp"

#include <algorithm>
#include <cmath>

namespace bitcycle {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;
constexpr std::uint32_t kSlots = GateModel::kWheel;
constexpr std::uint32_t kForever = 0xffffffffU;

}  // namespace

GateSim::GateSim(const GateModel& model, double period, bool profile)
    : model_(model),
      half_(static_cast<std::uint32_t>(
          std::min(4e9, std::max(1.0, std::round(period / 2 / model.tick()))))),
      profile_(profile),
      heads_(kSlots, kNone),
      occupied_(kSlots / 64, 0),
      inputs_((model.inputs().size() + 63) / 64, 0),
      toggles_(model.gates().size(), 0),
      input_toggles_(model.inputs().size(), 0) {
  for (const auto& g : model.gates()) {
    gates_.push_back({kNone, kNone, 0, 0, g.fanout, g.fanout + g.fanout_count, g.initial_state,
                      g.store_mask, g.initial_out, false});
  }
  if (profile) {
    pin_counts_.assign(model.entries().size(), 0);
    out_counts_.assign(model.entries().size(), 0);
    pending_entry_.assign(model.gates().size(), 0);
  }
}

// The net that drives these pins has changed.
template <bool kProfile>
std::int64_t GateSim::reach(std::uint32_t from, std::uint32_t to, std::uint32_t now) {
  const GateModel::Entry* const entries = model_.entries().data();
  const GateModel::Fanout* const fanouts = model_.fanouts().data();
  std::int64_t energy = 0;
  for (std::uint32_t f = from; f < to; ++f) {
    const auto fanout = fanouts[f];
    Gate& g = gates_[fanout.gate];
    const std::uint32_t at = fanout.row + g.state;
    const GateModel::Entry e = entries[at];
    energy += e.pin_energy;
    if (kProfile) ++pin_counts_[at];
    std::uint32_t state = g.state ^ fanout.mask;
    if ((e.delay & 2U) != 0) state ^= g.store_mask;
    g.state = static_cast<std::uint16_t>(state);
    if ((e.delay & 1U) == 0) continue;
    if ((e.delay >> 2U) == 0) {  // the clock's network
      g.out = !g.out;
      ++toggles_[fanout.gate];
      if (kProfile) ++out_counts_[at];
      energy += e.out_energy + reach<kProfile>(g.fanout, g.fanout_end, now);
      continue;
    }
    // The goal of the output has changed: it starts to move, or the edge on its way is called back.
    if (g.pending) {
      g.pending = false;
      --waiting_;
      if (g.prev != kNone) {
        gates_[g.prev].next = g.next;
      } else {
        heads_[g.slot] = g.next;
        if (g.next == kNone) occupied_[g.slot / 64] &= ~(std::uint64_t{1} << g.slot % 64);
      }
      if (g.next != kNone) gates_[g.next].prev = g.prev;
    } else {
      const std::uint32_t slot = (now + (e.delay >> 2U)) % kSlots;
      g.pending = true;
      ++waiting_;
      g.pending_energy = e.out_energy;
      if (kProfile) pending_entry_[fanout.gate] = at;
      g.slot = slot;
      g.prev = kNone;
      g.next = heads_[slot];
      if (g.next != kNone) gates_[g.next].prev = fanout.gate;
      heads_[slot] = fanout.gate;
      occupied_[slot / 64] |= std::uint64_t{1} << slot % 64;
    }
  }
  return energy;
}

// Runs all events before `until` (or all there are).
template <bool kProfile>
void GateSim::advance(std::uint32_t until, GateCycle& sum) {
  while (waiting_ > 0) {
    // The next occupied slot; no event is further away than the wheel is long.
    const std::uint32_t slot = now_ % kSlots;
    std::uint32_t word = slot / 64;
    std::uint64_t bits = occupied_[word] & ~std::uint64_t{0} << slot % 64;
    while (bits == 0) {
      word = (word + 1) % (kSlots / 64);
      bits = occupied_[word];
    }
    const auto found = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits));
    const std::uint32_t when = now_ + (found + kSlots - slot) % kSlots;
    if (when >= until) break;
    now_ = when;
    while (heads_[found] != kNone) {
      const std::uint32_t index = heads_[found];
      Gate& g = gates_[index];
      heads_[found] = g.next;
      if (g.next != kNone) gates_[g.next].prev = kNone;
      g.pending = false;
      --waiting_;
      g.out = !g.out;
      ++toggles_[index];
      if (kProfile) ++out_counts_[pending_entry_[index]];
      ++sum.events;
      sum.energy += g.pending_energy;
      sum.energy += reach<kProfile>(g.fanout, g.fanout_end, when);
    }
    occupied_[word] &= ~(std::uint64_t{1} << found % 64);
    sum.settled = when;
  }
  if (until != kForever) now_ = until;
}

template <bool kProfile>
GateCycle GateSim::run(const std::uint64_t* inputs) {
  GateCycle sum;
  ++cycles_;
  now_ = 0;
  const auto& clock = model_.clock();
  const auto edge = [&] {
    const std::int64_t e = model_.clock_switching() +
                           reach<kProfile>(clock.fanout, clock.fanout + clock.fanout_count, now_);
    sum.clock += e;
    sum.energy += e;
  };
  edge();
  // The falling edge may come before or after the inputs; with both at one time inputs are first.
  const std::uint32_t input_time = model_.input_ticks();
  const bool late_inputs = input_time > half_;
  if (late_inputs) {
    advance<kProfile>(half_, sum);
    edge();
  }
  advance<kProfile>(input_time, sum);
  for (std::size_t w = 0; w < inputs_.size(); ++w) {
    std::uint64_t changed = inputs[w] ^ inputs_[w];
    if (w + 1 == inputs_.size() && model_.inputs().size() % 64 != 0) {
      changed &= (std::uint64_t{1} << model_.inputs().size() % 64) - 1;
    }
    inputs_[w] ^= changed;
    while (changed != 0) {
      const std::size_t bit = w * 64 + static_cast<unsigned>(__builtin_ctzll(changed));
      changed &= changed - 1;
      const auto& in = model_.inputs()[bit];
      ++input_toggles_[bit];
      ++sum.events;
      sum.energy += in.switching + reach<kProfile>(in.fanout, in.fanout + in.fanout_count, now_);
      sum.settled = now_;
    }
  }
  if (!late_inputs) {
    advance<kProfile>(half_, sum);
    edge();
  }
  advance<kProfile>(kForever, sum);
  return sum;
}

GateCycle GateSim::cycle(const std::uint64_t* inputs) {
  return profile_ ? run<true>(inputs) : run<false>(inputs);
}

bool GateSim::output(std::size_t bit) const {
  using From = GateModel::Output::From;
  const auto& o = model_.outputs()[bit];
  switch (o.from) {
    case From::kGate:
      return gates_[o.index].out;
    case From::kInput:
      return (inputs_[o.index / 64] >> o.index % 64 & 1U) != 0;
    case From::kOne:
      return true;
    case From::kZero:
      break;
  }
  return false;
}

std::uint64_t GateSim::output_bits(std::size_t bit, std::size_t width) const {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= static_cast<std::uint64_t>(output(bit + i)) << i;
  }
  return value;
}

std::int64_t GateSim::switching() const {
  std::int64_t sum = static_cast<std::int64_t>(2 * cycles_) * model_.clock_switching();
  for (std::size_t g = 0; g < gates_.size(); ++g) {
    sum += static_cast<std::int64_t>(toggles_[g]) * model_.gates()[g].switching;
  }
  for (std::size_t i = 0; i < input_toggles_.size(); ++i) {
    sum += static_cast<std::int64_t>(input_toggles_[i]) * model_.inputs()[i].switching;
  }
  return sum;
}

double GateSim::leakage() const {
  double watts = 0.0;
  const auto& first = model_.first_gates();
  for (std::uint32_t i = 0; i < first.size(); ++i) {
    watts += model_.leakage(i, first[i] == kUnconnected ? 0U : gates_[first[i]].state);
  }
  return watts;
}

}  // namespace bitcycle
