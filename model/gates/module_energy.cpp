#include "model/gates/module_energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "golden/error.hpp"
#include "model/gates/glue_activity.hpp"
#include "model/gates/module_activity.hpp"
#include "model/gates/pe_activity.hpp"

namespace bitcycle {
namespace {

std::string text_of(const std::vector<std::pair<std::string, int>>& parameters) {
  std::string out;
  for (const auto& [name, value] : parameters) {
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, value);
  }
  return out;
}

// Coefficients in the order of the features.
std::vector<double> coefficients(const Characterisation& c, const std::vector<std::string>& names) {
  std::vector<double> out;
  for (const auto& e : c.events) out.push_back(e.joules);
  const bool same =
      names.size() == c.events.size() &&
      std::equal(names.begin(), names.end(), c.events.begin(),
                 [](const std::string& name, const EnergyEvent& e) { return name == e.name; });
  if (!same) {
    throw input_error("", 0, "characterisation of " + c.module, "other events",
                      "those that this program counts: make it again with: " + c.command);
  }
  return out;
}

// Every `stride`-th of `count`, the first one always.
std::vector<int> every(int count, int stride) {
  std::vector<int> out;
  for (int i = 0; i < count; i += stride) out.push_back(i);
  return out;
}

bool enabled(std::uint64_t mask, int i) { return (mask >> i & 1U) != 0; }

int enabled_of(std::uint64_t mask, int count) {
  const std::uint64_t all = count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  return __builtin_popcountll(mask & all);
}

// Mean energies of instances that are enabled and of those that are not, spread over all. Where
// none of a kind was looked at its instances cost what the idle ones cost.
class Spread {
 public:
  void add(bool active, double joules) {
    sum_[active ? 1 : 0] += joules;
    ++seen_[active ? 1 : 0];
  }
  double total(double active, double all, double idle) const {
    const auto mean = [&](int kind) { return seen_[kind] > 0 ? sum_[kind] / seen_[kind] : idle; };
    return mean(1) * active + mean(0) * (all - active);
  }

 private:
  double sum_[2] = {0, 0};
  int seen_[2] = {0, 0};
};

}  // namespace

double idle_cycle_energy(const Characterisation& c) {
  for (const auto& w : c.training) {
    if (w.label == "idle") return w.energy;
  }
  return c.events.empty() ? 0.0 : c.events[0].joules;
}

class ArrayEnergy::Part {
 public:
  Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  virtual ~Part() = default;
  /// J of this cycle, all instances.
  virtual double step(const ArrayWires& wires) = 0;
};

class ArrayEnergy::PePart final : public Part {
 public:
  PePart(const ArrayConfig& config, const Characterisation& c, int stride)
      : config_(config),
        idle_(idle_cycle_energy(c)),
        rows_(every(config.tm, stride)),
        cols_(every(config.tn, stride)) {
    const std::size_t count = rows_.size() * cols_.size() + rows_.size() + cols_.size();
    for (std::size_t i = 0; i < count; ++i) {
      activities_.push_back(std::make_unique<PeActivity>(config));
    }
    joules_ = coefficients(c, activities_[0]->names());
    features_.assign(joules_.size(), 0.0);
  }

  double step(const ArrayWires& wires) override {
    control_ = wires.pe_control();
    next_ = 0;
    const auto rows = enabled_of(control_.row_en, config_.tm);
    const auto cols = enabled_of(control_.col_en, config_.tn);
    double sum = 0.0;
    Spread inner, column, row;
    for (const int r : rows_) {
      for (const int c : cols_) {
        inner.add(enabled(control_.row_en, r) && enabled(control_.col_en, c), pe(wires, r, c));
      }
    }
    for (const int r : rows_) column.add(enabled(control_.row_en, r), pe(wires, r, config_.tn));
    for (const int c : cols_) row.add(enabled(control_.col_en, c), pe(wires, config_.tm, c));
    sum += inner.total(rows * cols, config_.tm * config_.tn, idle_);
    sum += column.total(rows, config_.tm, idle_);
    sum += row.total(cols, config_.tn, idle_);
    return sum;
  }

 private:
  double pe(const ArrayWires& wires, int r, int c) {
    const bool ones_row = r == config_.tm;
    const bool ones_col = c == config_.tn;
    const auto in = [&](std::uint64_t row_en, std::uint64_t col_en) {
      return (ones_row || enabled(row_en, r)) && (ones_col || enabled(col_en, c));
    };
    PePins pins;
    pins.add = control_.add && in(control_.row_en, control_.col_en);
    pins.hold = control_.hold && in(control_.hold_row_en, control_.hold_col_en);
    pins.first = control_.first;
    pins.d = control_.d;
    pins.a_neg = control_.a_neg && !ones_row;
    pins.w_neg = control_.w_neg && !ones_col;
    pins.a = wires.a_digit(r);
    pins.w = wires.w_digit(c);
    pins.ac = wires.ac(r, c);
    pins.ah = wires.ah(r, c);
    const bool moves = activities_[next_++]->step(pins, features_.data());
    const std::size_t used = moves ? joules_.size() : 2;
    double sum = 0.0;
    for (std::size_t i = 0; i < used; ++i) sum += joules_[i] * features_[i];
    return sum;
  }

  ArrayConfig config_;
  double idle_;
  std::vector<int> rows_, cols_;
  std::vector<std::unique_ptr<PeActivity>> activities_;
  std::vector<double> joules_, features_;
  PeControl control_;
  std::size_t next_ = 0;
};

// Instances of a module with pins of its own.
template <class Activity, class Pins>
class ArrayEnergy::PinPart final : public Part {
 public:
  /// Fills the pins of an instance and says whether it is enabled.
  using Read = std::function<bool(const ArrayWires&, int, Pins&)>;
  /// How many of all instances are enabled.
  using Active = std::function<int(const ArrayWires&)>;

  PinPart(const Characterisation& c, std::vector<int> looked_at, int all,
          const std::function<std::unique_ptr<Activity>()>& make, Read read, Active active)
      : looked_at_(std::move(looked_at)),
        all_(all),
        idle_(idle_cycle_energy(c)),
        read_(std::move(read)),
        active_(std::move(active)) {
    for (std::size_t i = 0; i < looked_at_.size(); ++i) activities_.push_back(make());
    joules_ = coefficients(c, activities_[0]->names());
    features_.assign(joules_.size(), 0.0);
  }

  double step(const ArrayWires& wires) override {
    Spread spread;
    for (std::size_t i = 0; i < looked_at_.size(); ++i) {
      const bool on = read_(wires, looked_at_[i], pins_);
      activities_[i]->step(pins_, features_.data());
      double sum = 0.0;
      for (std::size_t f = 0; f < joules_.size(); ++f) sum += joules_[f] * features_[f];
      spread.add(on, sum);
    }
    return spread.total(active_(wires), all_, idle_);
  }

 private:
  std::vector<int> looked_at_;
  int all_;
  double idle_;
  Read read_;
  Active active_;
  std::vector<std::unique_ptr<Activity>> activities_;
  std::vector<double> joules_, features_;
  Pins pins_;
};

ArrayEnergy::ArrayEnergy(const ArrayConfig& config, const ArrayCore& core,
                         const std::vector<Characterisation>& characterisations, int stride)
    : wires_(config, core) {
  stride = std::max(stride, 1);
  const ArrayConfig& a = config;
  const auto always = [](const ArrayWires&) { return 1; };
  const auto make_part = [&](const ModuleKind& m,
                             const Characterisation& c) -> std::unique_ptr<Part> {
    const auto all = static_cast<int>(m.instances);
    if (m.name == "pe") return std::make_unique<PePart>(a, c, stride);
    if (m.name == "acc" || m.name == "acc-ones") {
      const bool only_ones = m.name == "acc-ones";
      const int groups = wires_.groups();
      const int columns = only_ones ? 0 : (a.tn + 1) * groups;
      const bool with_ones = only_ones || all > columns;
      std::vector<int> looked_at;
      // The ones column, then every stride-th other one; then the ones row.
      for (int g = 0; g < groups && !only_ones; ++g) {
        for (const int col : every(a.tn, stride)) looked_at.push_back(col * groups + g);
        looked_at.push_back(a.tn * groups + g);
      }
      for (int g = 0; g < wires_.ones_groups() && with_ones; ++g) looked_at.push_back(columns + g);
      const int g = only_ones ? wires_.ones_group() : a.s;
      const int rd = only_ones ? g : wires_.rows_per_beat() > 1 ? a.s : 1;
      using AccPart = PinPart<AccActivity, AccPins>;
      return std::make_unique<AccPart>(
          c, looked_at, all, [&a, g, rd] { return std::make_unique<AccActivity>(a, g, rd); },
          [groups, columns](const ArrayWires& w, int i, AccPins& pins) {
            if (i < columns) {
              w.acc(i / groups, i % groups, pins);
            } else {
              w.ones_acc(i - columns, pins);
            }
            return pins.en != 0;
          },
          [groups, columns, with_ones](const ArrayWires& w) {
            // Enables are those of the first rows and columns.
            AccPins pins;
            int active = 0;
            for (int i = 0; i < groups && columns > 0; ++i) {
              w.acc(w.config().tn, i, pins);
              active += pins.en != 0 ? w.flush_columns() + 1 : 0;
            }
            for (int i = 0; i < w.ones_groups() && with_ones; ++i) {
              w.ones_acc(i, pins);
              active += pins.en != 0 ? 1 : 0;
            }
            return active;
          });
    }
    if (m.name == "chunk-a" || m.name == "chunk-w") {
      const bool is_a = m.name == "chunk-a";
      using ChunkPart = PinPart<ChunkActivity, ChunkPins>;
      // Rows that are filled are those that are read, but for the border of tiles.
      return std::make_unique<ChunkPart>(
          c, every(all, stride), all,
          [&a, is_a] { return std::make_unique<ChunkActivity>(a, is_a); },
          [is_a](const ArrayWires& w, int i, ChunkPins& pins) {
            if (is_a) {
              w.chunk_a(i, pins);
            } else {
              w.chunk_w(i, pins);
            }
            return i < w.selected(is_a);
          },
          [is_a](const ArrayWires& w) { return w.selected(is_a); });
    }
    if (m.name == "fill-a" || m.name == "fill-w") {
      const bool is_a = m.name == "fill-a";
      using FillPart = PinPart<FillActivity, FillPins>;
      return std::make_unique<FillPart>(
          c, std::vector<int>{0}, 1, [&a, is_a] { return std::make_unique<FillActivity>(a, is_a); },
          [is_a](const ArrayWires& w, int, FillPins& pins) {
            if (is_a) {
              w.fill_a(pins);
            } else {
              w.fill_w(pins);
            }
            return true;
          },
          always);
    }
    if (m.name == "walker") {
      using WalkerPart = PinPart<WalkerActivity, WalkerPins>;
      return std::make_unique<WalkerPart>(
          c, std::vector<int>{0, 1, 2, 3}, 4, [&a] { return std::make_unique<WalkerActivity>(a); },
          [](const ArrayWires& w, int i, WalkerPins& pins) {
            w.walker(static_cast<Walk>(i), pins);
            return true;
          },
          [](const ArrayWires&) { return 4; });
    }
    if (m.name == "seq") {
      using SeqPart = PinPart<SeqActivity, SeqPins>;
      return std::make_unique<SeqPart>(
          c, std::vector<int>{0}, 1, [&a] { return std::make_unique<SeqActivity>(a); },
          [](const ArrayWires& w, int, SeqPins& pins) {
            w.seq(pins);
            return true;
          },
          always);
    }
    if (m.name == "glue") {
      using GluePart = PinPart<GlueActivity, GluePins>;
      return std::make_unique<GluePart>(
          c, std::vector<int>{0}, 1, [&a] { return std::make_unique<GlueActivity>(a); },
          [](const ArrayWires& w, int, GluePins& pins) {
            w.glue(pins);
            return true;
          },
          always);
    }
    using DrainPart = PinPart<DrainActivity, DrainPins>;
    return std::make_unique<DrainPart>(
        c, std::vector<int>{0}, 1, [&a] { return std::make_unique<DrainActivity>(a); },
        [](const ArrayWires& w, int, DrainPins& pins) {
          w.drain(pins);
          return true;
        },
        always);
  };

  for (const auto& m : array_modules(config)) {
    const auto found = std::find_if(characterisations.begin(), characterisations.end(),
                                    [&](const Characterisation& c) { return c.module == m.name; });
    if (found == characterisations.end()) {
      missing_.push_back(m.name);
      continue;
    }
    if (!same_parameters(found->parameters, m.parameters)) {
      throw input_error("", 0, "characterisation of " + m.name, text_of(found->parameters),
                        text_of(m.parameters));
    }
    const auto count = static_cast<double>(m.instances);
    parts_.push_back(make_part(m, *found));
    modules_.push_back({m.name, m.instances, 0.0, count * idle_cycle_energy(*found),
                        count * found->leakage, count * found->area});
  }
}

ArrayEnergy::~ArrayEnergy() = default;

void ArrayEnergy::observe(const ArrayStep& coming) {
  wires_.observe(coming);
  for (std::size_t i = 0; i < parts_.size(); ++i) modules_[i].joules += parts_[i]->step(wires_);
  ++cycles_;
}

void ArrayEnergy::clear() {
  for (auto& m : modules_) m.joules = 0.0;
  cycles_ = 0;
}

namespace {
double sum_of(const std::vector<ModuleEnergy>& modules, double ModuleEnergy::*member) {
  double sum = 0.0;
  for (const auto& m : modules) sum += m.*member;
  return sum;
}
}  // namespace

double ArrayEnergy::joules() const { return sum_of(modules_, &ModuleEnergy::joules); }
double ArrayEnergy::idle_cycle() const { return sum_of(modules_, &ModuleEnergy::idle_cycle); }
double ArrayEnergy::leakage() const { return sum_of(modules_, &ModuleEnergy::leakage); }
double ArrayEnergy::area() const { return sum_of(modules_, &ModuleEnergy::area); }

}  // namespace bitcycle
