#include "sim/energy_ledger.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace bitcycle {
namespace {

struct Name {
  const char* key;
  const char* heading;
};
constexpr Name kNames[kEnergyParts] = {{"pe", "PEs"},
                                       {"accumulators", "accumulators"},
                                       {"chunk_registers", "chunk registers"},
                                       {"control", "control"},
                                       {"idle_clock", "array clocked, idle"},
                                       {"operand_buffers", "operand buffers"},
                                       {"partial_sums", "partial sums"},
                                       {"output_buffer", "output buffer"},
                                       {"result_unit", "result unit"},
                                       {"dma", "DMA engines"},
                                       {"machine_control", "queues, dispatch"},
                                       {"units_clock", "clock of the units"},
                                       {"wires", "wires"},
                                       {"dram", "DRAM"},
                                       {"vector_work", "vector work"},
                                       {"leakage", "leakage"}};

std::size_t at(EnergyPart part) { return static_cast<std::size_t>(part); }

// Sums per term and side, and their squares.
struct Sums {
  std::map<std::string, std::pair<double, double>> common, squares;

  RelativeBand finish() const {
    RelativeBand out;
    double low = 0.0, high = 0.0;
    const auto add = [&](const std::string& name, double l2, double h2) {
      low += l2;
      high += h2;
      out.by_term[name] = {std::sqrt(l2), std::sqrt(h2)};
    };
    for (const auto& [name, s] : common) add(name, s.first * s.first, s.second * s.second);
    for (const auto& [name, s] : squares) add(name, s.first, s.second);
    out.low = std::sqrt(low);
    out.high = std::sqrt(high);
    return out;
  }
};

}  // namespace

const char* const kBandRule =
    "one cause moves all parts that have it together (added), different causes are independent "
    "(squares added); sampling and model errors are independent in every part and row; ratios of "
    "rows keep of a common cause only what the shares of the parts differ in";

const char* key_of(EnergyPart part) { return kNames[at(part)].key; }
const char* heading_of(EnergyPart part) { return kNames[at(part)].heading; }
bool is_array(EnergyPart part) { return part <= EnergyPart::kIdleClock; }
bool is_buffer(EnergyPart part) {
  return part == EnergyPart::kOperandBuffers || part == EnergyPart::kPartialSums ||
         part == EnergyPart::kOutputBuffer;
}

bool is_independent(const std::string& term) { return term == "sampling" || term == "model"; }

void add_counts(EnergyCounts& to, const EnergyCounts& from, double times) {
  if (to.size() < from.size()) to.resize(from.size(), 0.0);
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i] * times;
}

double total(const EnergyParts& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

std::size_t EnergyBook::item(EnergyPart part, const std::string& name, double joules) {
  const auto [place, is_new] = known_.emplace(std::make_pair(part, name), items_.size());
  if (is_new) {
    items_.push_back({part, name, joules});
  } else if (items_[place->second].joules != joules) {
    throw std::logic_error("two energies for " + name);
  }
  return place->second;
}

int EnergyBook::find(EnergyPart part, const std::string& name) const {
  const auto found = known_.find({part, name});
  return found == known_.end() ? -1 : static_cast<int>(found->second);
}

EnergyParts EnergyBook::parts(const EnergyCounts& counts) const {
  EnergyParts out{};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out[at(items_[i].part)] += counts[i] * items_[i].joules;
  }
  return out;
}

RelativeBand EnergyBook::band(const EnergyParts& parts) const {
  const double all = total(parts);
  Sums sums;
  if (!(all > 0.0)) return {};
  for (std::size_t p = 0; p < kEnergyParts; ++p) {
    const double share = parts[p] / all;
    for (const EnergyTerm& t : infos_[p].terms) {
      const double low = t.low * share, high = t.high * share;
      if (is_independent(t.name)) {
        sums.squares[t.name].first += low * low;
        sums.squares[t.name].second += high * high;
      } else {
        sums.common[t.name].first += low;
        sums.common[t.name].second += high;
      }
    }
  }
  return sums.finish();
}

RelativeBand EnergyBook::ratio_band(const EnergyParts& a, const EnergyParts& b) const {
  const double all_a = total(a), all_b = total(b);
  if (!(all_a > 0.0 && all_b > 0.0) || a == b) return {};
  // A common cause that lifts every energy by `high` lifts the ratio by sum(high * difference of
  // shares), which may be of either sign: the larger of both sides is taken for both.
  Sums sums;
  for (std::size_t p = 0; p < kEnergyParts; ++p) {
    const double share_a = a[p] / all_a, share_b = b[p] / all_b;
    for (const EnergyTerm& t : infos_[p].terms) {
      if (is_independent(t.name)) {
        const double squares = share_a * share_a + share_b * share_b;
        sums.squares[t.name].first += t.low * t.low * squares;
        sums.squares[t.name].second += t.high * t.high * squares;
      } else {
        sums.common[t.name].first += t.low * (share_a - share_b);
        sums.common[t.name].second += t.high * (share_a - share_b);
      }
    }
  }
  for (auto& [name, s] : sums.common) {
    const double most = std::max(std::abs(s.first), std::abs(s.second));
    s = {most, most};
  }
  return sums.finish();
}

}  // namespace bitcycle
