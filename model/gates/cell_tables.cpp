#include "model/gates/cell_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

constexpr std::size_t kMostInputs = 12;

bool has(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

class Builder {
 public:
  explicit Builder(const LibertyCell& cell) : cell_(cell) { out_.cell = &cell; }

  CellTables run() {
    check();
    bind();
    out_.width = static_cast<int>(out_.inputs.size()) + (out_.sequential ? 1 : 0);
    states_ = std::size_t{1} << static_cast<unsigned>(out_.width);
    for (std::size_t p = 0; p < cell_.pins.size(); ++p) {
      if (cell_.pins[p].direction == PinDirection::kOutput) add_output(p);
    }
    add_inputs();
    add_leakage();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& found, const std::string& allowed) const {
    throw input_error(cell_.file, cell_.line, "cell " + cell_.name, found, allowed);
  }

  void check() {
    if (cell_.statetable) fail("a statetable", "cells with function, ff or latch");
    for (std::size_t p = 0; p < cell_.pins.size(); ++p) {
      const auto& pin = cell_.pins[p];
      if (pin.width != 1) fail("bus " + pin.name, "single-bit pins");
      if (pin.direction == PinDirection::kInout) fail("inout " + pin.name, "inputs and outputs");
      if (pin.three_state) fail("three-state " + pin.name, "two-state outputs");
      if (pin.direction == PinDirection::kOutput && !pin.function) {
        fail("output " + pin.name + " without function", "a function");
      }
      if (pin.direction == PinDirection::kInput) out_.inputs.push_back(p);
    }
    if (out_.inputs.size() > kMostInputs) {
      fail(fmt::format("{} inputs", out_.inputs.size()), "at most 12");
    }
    out_.sequential = cell_.sequential.has_value();
    if (out_.sequential && (!cell_.sequential->data || !cell_.sequential->clock)) {
      fail("ff or latch without data or clock", "next_state and clocked_on (data_in and enable)");
    }
  }

  // Names that functions may use: inputs, then the stored bit and its complement.
  void bind() {
    for (const auto p : out_.inputs) names_.push_back(cell_.pins[p].name);
    if (out_.sequential) {
      const auto& s = *cell_.sequential;
      names_.push_back(s.var.empty() ? "IQ" : s.var);
      names_.push_back(s.var_n.empty() ? "IQN" : s.var_n);
      data_ = s.data->bind(names_);
      clock_ = s.clock->bind(names_);
      if (s.clear) clear_ = s.clear->bind(names_);
      if (s.preset) preset_ = s.preset->bind(names_);
    }
    // Conditions may also name outputs.
    all_names_ = names_;
    for (std::size_t p = 0; p < cell_.pins.size(); ++p) {
      if (cell_.pins[p].direction != PinDirection::kOutput) continue;
      output_functions_.push_back(cell_.pins[p].function->bind(names_));
      if (!has(all_names_, cell_.pins[p].name)) all_names_.push_back(cell_.pins[p].name);
      outputs_.push_back(p);
    }
  }

  bool stored(std::size_t state) const { return (state >> out_.inputs.size() & 1U) != 0; }
  // State as a word over names_.
  std::uint64_t word(std::size_t state) const {
    std::uint64_t w = state;
    if (out_.sequential && !stored(state)) w |= std::uint64_t{1} << (out_.inputs.size() + 1);
    return w;
  }
  std::uint64_t full_word(std::size_t state) const {
    std::uint64_t w = word(state);
    std::size_t at = names_.size();
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      if (has(names_, cell_.pins[outputs_[o]].name)) continue;  // an output named like its bit
      if (output_functions_[o].eval(word(state))) w |= std::uint64_t{1} << at;
      ++at;
    }
    return w;
  }

  bool next_stored(std::size_t before, std::size_t after) const {
    const std::uint64_t now = word(after);
    const bool iq = stored(before);
    const bool clear = clear_ && clear_->eval(now);
    const bool preset = preset_ && preset_->eval(now);
    if (clear && preset) {
      const std::string& rule = cell_.sequential->both_1;
      return rule == "H" || (rule == "N" && iq) || (rule == "T" && !iq);
    }
    if (clear) return false;
    if (preset) return true;
    const bool level = clock_->eval(now);
    const bool take = cell_.sequential->latch ? level : level && !clock_->eval(word(before));
    return take ? data_->eval(now) : iq;
  }

  bool holds(const std::optional<BoolExpr>& when, std::uint64_t full) {
    if (!when) return true;
    auto it = bound_.find(&*when);
    if (it == bound_.end()) it = bound_.emplace(&*when, when->bind(all_names_)).first;
    return it->second.eval(full);
  }

  // Groups whose condition holds; where none does, those without a condition. Per power pin.
  template <class Suits>
  void choose_powers(const std::vector<LibertyPower>& groups, std::uint64_t full, Suits suits,
                     std::vector<CellOutput::PowerRef>& refs) {
    struct Pick {
      std::vector<const LibertyPower*> matching, plain;
    };
    std::map<std::string, Pick> by_pg;
    for (const auto& g : groups) {
      if (!suits(g)) continue;
      Pick& pick = by_pg[g.pg_pin];
      if (!g.when) {
        pick.plain.push_back(&g);
      } else if (holds(g.when, full)) {
        pick.matching.push_back(&g);
      }
    }
    for (const auto& [pg, pick] : by_pg) {
      const auto& list = pick.matching.empty() ? pick.plain : pick.matching;
      for (const auto* g : list) refs.push_back({g, 1.0 / static_cast<double>(list.size())});
    }
  }

  static const LibertyTable& delay_table(const LibertyTiming& t, bool rise) {
    return rise ? t.cell_rise : t.cell_fall;
  }

  std::vector<const LibertyTiming*> choose_arcs(const LibertyPin& pin, const std::string& input,
                                                bool in_rise, bool out_rise, std::uint64_t full) {
    std::vector<const LibertyTiming*> of_input;
    for (const auto& t : pin.timing) {
      if (has(t.related, input) && !delay_table(t, out_rise).empty() &&
          t.type.compare(0, 11, "three_state") != 0) {
        of_input.push_back(&t);
      }
    }
    const auto narrow = [&](auto keep) {
      std::vector<const LibertyTiming*> kept;
      for (const auto* t : of_input) {
        if (keep(*t)) kept.push_back(t);
      }
      if (!kept.empty()) of_input = std::move(kept);
    };
    narrow([&](const LibertyTiming& t) {
      if (t.sense == "positive_unate") return in_rise == out_rise;
      if (t.sense == "negative_unate") return in_rise != out_rise;
      return true;
    });
    narrow([&](const LibertyTiming& t) { return t.when && holds(t.when, full); });
    narrow([&](const LibertyTiming& t) { return !t.when || holds(t.when, full); });
    return of_input;
  }

  void add_output(std::size_t p) {
    const auto& pin = cell_.pins[p];
    const std::size_t which = out_.outputs.size();
    CellOutput output;
    output.pin = p;
    const auto& function = output_functions_[which];
    for (std::size_t s = 0; s < states_; ++s) output.settled.push_back(function.eval(word(s)));
    output.changes.resize(out_.inputs.size() * states_);
    for (std::size_t i = 0; i < out_.inputs.size(); ++i) {
      const std::string& input = cell_.pins[out_.inputs[i]].name;
      for (std::size_t s = 0; s < states_; ++s) {
        auto& change = output.changes[i * states_ + s];
        std::size_t after = s ^ (std::size_t{1} << i);
        const bool in_rise = (s >> i & 1U) == 0;
        if (out_.sequential && next_stored(s, after) != stored(s)) {
          change.store_flip = true;
          after ^= std::size_t{1} << out_.inputs.size();
        }
        change.was = output.settled[s];
        change.out = output.settled[after];
        if (change.was == change.out) continue;
        const std::uint64_t full = full_word(s);
        change.arcs = static_cast<std::uint32_t>(output.timing_refs.size());
        const auto arcs = choose_arcs(pin, input, in_rise, change.out, full);
        output.timing_refs.insert(output.timing_refs.end(), arcs.begin(), arcs.end());
        change.arc_count = static_cast<std::uint32_t>(arcs.size());
        change.powers = static_cast<std::uint32_t>(output.power_refs.size());
        choose_powers(
            pin.power, full,
            [&](const LibertyPower& g) {
              return (g.related.empty() || has(g.related, input)) &&
                     !(change.out ? g.rise : g.fall).empty();
            },
            output.power_refs);
        change.power_count = static_cast<std::uint32_t>(output.power_refs.size()) - change.powers;
      }
    }
    out_.outputs.push_back(std::move(output));
  }

  void add_inputs() {
    out_.pin_changes.resize(out_.inputs.size() * states_);
    for (std::size_t i = 0; i < out_.inputs.size(); ++i) {
      const auto& pin = cell_.pins[out_.inputs[i]];
      for (std::size_t s = 0; s < states_; ++s) {
        auto& change = out_.pin_changes[i * states_ + s];
        const bool rise = (s >> i & 1U) == 0;
        change.powers = static_cast<std::uint32_t>(out_.pin_refs.size());
        choose_powers(
            pin.power, full_word(s),
            [&](const LibertyPower& g) { return !(rise ? g.rise : g.fall).empty(); },
            out_.pin_refs);
        change.power_count = static_cast<std::uint32_t>(out_.pin_refs.size()) - change.powers;
      }
    }
  }

  void add_leakage() {
    struct Sum {
      double matching = 0.0, plain = 0.0;
      int matches = 0, plains = 0;
    };
    for (std::size_t s = 0; s < states_; ++s) {
      const std::uint64_t full = full_word(s);
      std::map<std::string, Sum> by_pg;
      bool any = false;
      for (const auto& l : cell_.leakage) {
        Sum& sum = by_pg[l.pg_pin];
        if (!l.when) {
          sum.plain += l.watts;
          ++sum.plains;
        } else if (holds(l.when, full)) {
          sum.matching += l.watts;
          ++sum.matches;
          any = true;
        }
      }
      double watts = 0.0;
      for (const auto& [pg, sum] : by_pg) {
        if (sum.matches > 0) {
          watts += sum.matching / sum.matches;
        } else if (sum.plains > 0) {
          watts += sum.plain / sum.plains;
        }
      }
      out_.leakage.push_back(any ? watts : cell_.mean_leakage());
    }
  }

  const LibertyCell& cell_;
  CellTables out_;
  std::size_t states_ = 1;
  std::vector<std::string> names_, all_names_;
  std::vector<BoolExpr> output_functions_;
  std::vector<std::size_t> outputs_;
  std::optional<BoolExpr> data_, clock_, clear_, preset_;
  std::map<const BoolExpr*, BoolExpr> bound_;
};

}  // namespace

CellTables make_cell_tables(const LibertyCell& cell) { return Builder(cell).run(); }

}  // namespace bitcycle
