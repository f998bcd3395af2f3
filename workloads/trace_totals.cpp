#include "workloads/trace_totals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "golden/counter_random.hpp"
#include "golden/error.hpp"

namespace bitcycle {
namespace {

constexpr std::size_t kMostCounters = std::size_t{1} << 24;  // of 8 bytes
constexpr std::size_t kMostRemembered = 1'000'000;           // indices that names stand for
constexpr std::uint32_t kUnset = 0xFFFFFFFF;

struct WorkHash {
  std::size_t operator()(const LayerWork& w) const {
    const std::uint64_t widths =
        std::uint64_t{w.bits.fwd_x} | std::uint64_t{w.bits.fwd_w} << 8 |
        std::uint64_t{w.bits.dx_g} << 16 | std::uint64_t{w.bits.dx_w} << 24 |
        std::uint64_t{w.bits.dw_g} << 32 | std::uint64_t{w.bits.dw_x} << 40 |
        static_cast<std::uint64_t>(w.mode) << 48;
    const std::uint64_t passes = (std::uint64_t{w.passes[0]} * 31 + w.passes[1]) * 31 + w.passes[2];
    return splitmix64(widths + passes * kGoldenGamma);
  }
};

// Work that means the same compares equal.
LayerWork normal(LayerWork work) {
  if (work.mode != WorkMode::kArray) work.bits = LayerBits{};
  if (work.passes == std::array<std::uint32_t, 3>{0, 0, 0}) work.mode = WorkMode::kNone;
  if (work.mode == WorkMode::kNone) {
    work.passes = {1, 1, 1};
    work.bits = LayerBits{};
  }
  return work;
}

// One layer in one pass.
struct Slot {
  std::uint32_t work = kUnset;    // index of its work
  std::uint32_t before = kUnset;  // the same before the current iteration
  std::uint64_t start = 0, end = kOpenEnd;
  bool touched = false;
};

}  // namespace

class TraceAccumulator::Impl {
 public:
  Impl(TraceLayers layers, std::uint64_t iterations, std::string file)
      : layers_(std::move(layers)), iterations_(iterations), file_(std::move(file)) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (layers_.quantised[i]) all_.push_back(static_cast<std::uint32_t>(i));
    }
    if (all_.empty()) throw input_error(file_, 0, "network", "no quantised layer", "at least one");
    if (iterations == 0) throw input_error(file_, 0, "iterations", "0", "1 or more");
    slots_.resize(layers_.size());
  }

  void at_line(int line) { line_ = line; }

  void add(const TraceRecord& record) {
    ++totals_.records;
    const std::uint64_t end = std::min(record.end, iterations_);
    if (record.start >= iterations_ || end <= record.start || record.start < now_) {
      fail("t", std::to_string(record.start),
           fmt::format("{} to {}: records are in order", now_, iterations_ - 1));
    }
    if (record.start > now_) advance(record.start);
    if (record.kind == TraceRecord::Kind::kExchange) return add_exchange(record);
    if (record.kind == TraceRecord::Kind::kAveraging) return add_averaging(record, end);
    if (record.pass < 0 || record.pass >= kMostTracePasses) {
      fail("pass", std::to_string(record.pass), fmt::format("0 to {}", kMostTracePasses - 1));
    }
    const auto pass = static_cast<std::size_t>(record.pass);
    if (pass > 0) one_pass_ = false;
    if (slots_.size() < (pass + 1) * layers_.size()) {
      slots_.resize((pass + 1) * layers_.size());
      check_counters(works_.size());
    }
    const std::uint32_t work = index_of(normal(record.work));
    const LayerSelection& sel = record.layers;
    if (sel.kind == LayerSelection::Kind::kIndex && sel.from < layers_.size() &&
        layers_.quantised[sel.from]) {
      set(pass, static_cast<std::uint32_t>(sel.from), record.start, record.end, work);
      return;
    }
    if (sel.kind == LayerSelection::Kind::kAll) {
      for (const auto layer : all_) set(pass, layer, record.start, record.end, work);
      return;
    }
    for (const auto layer : selected(sel)) set(pass, layer, record.start, record.end, work);
  }

  TraceTotals finish() {
    line_ = 0;
    for (const auto layer : all_) {
      const Slot& slot = slots_[layer];
      if (slot.work == kUnset) {
        fail("layer " + layers_.names[layer], "no record", "bits for every quantised layer");
      }
      if (slot.end < iterations_) gap(layer, slot.end, iterations_);
    }
    advance(iterations_);
    close_exchange(iterations_);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      if (slot.work != kUnset) count(i, std::min(slot.end, iterations_) - slot.start);
    }
    collect();
    totals_.iterations = iterations_;
    totals_.switches = switches_;
    if (one_pass_ && uniform_) make_schedule();
    return std::move(totals_);
  }

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(file_, line_, field, found, allowed);
  }

  [[noreturn]] void gap(std::uint32_t layer, std::uint64_t from, std::uint64_t to) const {
    fail("layer " + layers_.names[layer],
         fmt::format("a gap: no bits in iterations {} to {}", from, to - 1),
         "records that cover every iteration");
  }

  void check_counters(std::size_t works) const {
    if (works * slots_.size() <= kMostCounters) return;
    fail("record", fmt::format("{} different widths and passes", works),
         fmt::format("at most {} in a network of {} layers", kMostCounters / slots_.size(),
                     layers_.size()));
  }

  std::uint32_t index_of(const LayerWork& work) {
    if (!works_.empty() && works_[last_] == work) return last_;
    const auto [place, is_new] = indices_.emplace(work, static_cast<std::uint32_t>(works_.size()));
    if (is_new) {
      check_counters(works_.size() + 1);
      works_.push_back(work);
      counters_.emplace_back();
      alive_.push_back(0);
      pair_iterations_.push_back(0);
    }
    last_ = place->second;
    return last_;
  }

  const std::vector<std::uint32_t>& selected(const LayerSelection& sel) {
    // Names repeat from record to record; lists and globs are looked up each time.
    if (sel.kind == LayerSelection::Kind::kPattern) {
      const auto found = names_.find(sel.pattern);
      if (found != names_.end()) return found->second;
      auto layers = select_layers(layers_, sel, file_, line_);
      names_size_ += layers.size() + 1;
      if (names_size_ > kMostRemembered) {
        names_.clear();
        names_size_ = layers.size() + 1;
      }
      return names_.emplace(sel.pattern, std::move(layers)).first->second;
    }
    scratch_ = select_layers(layers_, sel, file_, line_);
    return scratch_;
  }

  void count(std::size_t slot, std::uint64_t iterations) {
    auto& row = counters_[slots_[slot].work];
    if (row.size() <= slot) row.resize(slots_.size());
    row[slot] += iterations;
  }

  void set(std::size_t pass, std::uint32_t layer, std::uint64_t start, std::uint64_t end,
           std::uint32_t work) {
    const std::size_t at = pass * layers_.size() + layer;
    Slot& slot = slots_[at];
    if (slot.work != kUnset && slot.start == start) {  // "all, except": the later record holds
      slot.work = work;
      slot.end = end;
      return;
    }
    if (slot.work == kUnset) {
      if (pass == 0 && start != 0) gap(layer, 0, start);
    } else {
      if (slot.end != kOpenEnd && slot.end > start) {
        fail("layer " + layers_.names[layer],
             fmt::format("an overlap: {} lies in [{}, {}) of the record before", start, slot.start,
                         slot.end),
             "ranges that do not overlap, or records without an end");
      }
      if (pass == 0 && slot.end < start) gap(layer, slot.end, start);
      count(at, std::min(slot.end, start) - slot.start);
    }
    if (pass == 0 && !slot.touched) {
      slot.touched = true;
      slot.before = slot.work;
      touched_.push_back(layer);
    }
    slot.work = work;
    slot.start = start;
    slot.end = end;
  }

  // Closes iteration now_ and runs on to `to` without a change.
  void advance(std::uint64_t to) {
    bool changed = false;
    for (const auto layer : touched_) {
      Slot& slot = slots_[layer];
      slot.touched = false;
      if (slot.work == slot.before) continue;
      changed = true;
      if (slot.before != kUnset) {
        if (--alive_[slot.before] == 0) --kinds_;
      } else {
        ++covered_;
      }
      if (alive_[slot.work]++ == 0) ++kinds_;
    }
    touched_.clear();
    if (changed && now_ > 0) ++switches_;
    if (uniform_) {
      if (kinds_ == 1 && covered_ == all_.size()) {
        const std::uint32_t work = slots_[all_.front()].work;
        if (now_ == 0) first_ = work;
        pair_iterations_[work] += to - now_;
      } else {
        uniform_ = false;
      }
    }
    now_ = to;
  }

  void add_exchange(const TraceRecord& record) {
    close_exchange(record.start);
    exchange_bits_ = record.exchange_bits;
    exchange_start_ = record.start;
    exchange_end_ = record.end;
  }

  void close_exchange(std::uint64_t to) {
    if (exchange_bits_ == 0) return;
    if (exchange_end_ != kOpenEnd && exchange_end_ > to && exchange_start_ != to) {
      fail("extra exchange", fmt::format("an overlap at {}", to), "ranges that do not overlap");
    }
    const std::uint64_t iterations = std::min(exchange_end_, to) - exchange_start_;
    if (iterations > 0) totals_.exchange_iterations[exchange_bits_] += iterations;
    exchange_bits_ = 0;
  }

  void add_averaging(const TraceRecord& record, std::uint64_t end) {
    const std::uint64_t elements = record.elements != 0 ? record.elements : layers_.parameters;
    const std::uint64_t every = std::max<std::uint64_t>(record.every, 1);
    const std::uint64_t updates = ceil_div(end - record.start, every);
    const u128 moved = u128{elements} * updates;  // below 2^48 * 2^53
    totals_.averaging_updates += updates;
    totals_.averaging_read_bits += moved * static_cast<unsigned>(record.read_bits);
    totals_.averaging_written_bits += moved * static_cast<unsigned>(record.write_bits);
  }

  void collect() {
    for (std::size_t w = 0; w < counters_.size(); ++w) {
      for (std::size_t i = 0; i < counters_[w].size(); ++i) {
        if (counters_[w][i] == 0) continue;
        totals_.counts.push_back({static_cast<std::uint32_t>(i % layers_.size()),
                                  static_cast<int>(i / layers_.size()), works_[w],
                                  counters_[w][i]});
      }
    }
    const auto key = [](const WorkCount& c) {
      const LayerBits& b = c.work.bits;
      return std::make_tuple(c.layer, c.pass, c.work.mode, b.fwd_x, b.fwd_w, b.dx_g, b.dx_w, b.dw_g,
                             b.dw_x, c.work.passes);
    };
    std::sort(totals_.counts.begin(), totals_.counts.end(),
              [&](const WorkCount& x, const WorkCount& y) { return key(x) < key(y); });
  }

  void make_schedule() {
    ScheduleSummary s;
    std::map<BitPair, std::uint64_t> pairs;
    for (std::size_t w = 0; w < works_.size(); ++w) {
      if (pair_iterations_[w] == 0) continue;
      const LayerWork& work = works_[w];
      if (work.mode != WorkMode::kArray || !work.bits.is_pair() ||
          work.passes != std::array<std::uint32_t, 3>{1, 1, 1}) {
        return;
      }
      pairs[work.bits.pair()] += pair_iterations_[w];
    }
    s.group = "trace";
    s.iterations = iterations_;
    s.precision_switches = switches_;
    s.first_bits = works_[first_].bits.fwd_x;
    s.last_bits = works_[slots_[all_.front()].work].bits.fwd_x;
    for (const auto& [pair, iterations] : pairs) s.pairs.push_back({pair, iterations});
    totals_.schedule = s;
  }

  TraceLayers layers_;
  std::uint64_t iterations_;
  std::string file_;
  int line_ = 0;
  std::vector<std::uint32_t> all_;  // quantised layers
  std::vector<Slot> slots_;         // pass by pass, layer by layer
  std::vector<LayerWork> works_;
  std::unordered_map<LayerWork, std::uint32_t, WorkHash> indices_;
  std::uint32_t last_ = 0;
  std::vector<std::vector<std::uint64_t>> counters_;  // by work, by slot
  std::unordered_map<std::string, std::vector<std::uint32_t>> names_;
  std::size_t names_size_ = 0;  // indices in names_
  std::vector<std::uint32_t> scratch_, touched_;

  std::uint64_t now_ = 0, switches_ = 0;
  // Whether the whole network has one pair: layers by work, and how many works have layers.
  std::vector<std::uint64_t> alive_, pair_iterations_;
  std::size_t kinds_ = 0, covered_ = 0;
  std::uint32_t first_ = 0;
  bool uniform_ = true, one_pass_ = true;

  int exchange_bits_ = 0;
  std::uint64_t exchange_start_ = 0, exchange_end_ = 0;
  TraceTotals totals_;
};

TraceAccumulator::TraceAccumulator(TraceLayers layers, std::uint64_t iterations, std::string file)
    : impl_(std::make_unique<Impl>(std::move(layers), iterations, std::move(file))) {}
TraceAccumulator::~TraceAccumulator() = default;
void TraceAccumulator::at_line(int line) { impl_->at_line(line); }
void TraceAccumulator::add(const TraceRecord& record) { impl_->add(record); }
TraceTotals TraceAccumulator::finish() { return impl_->finish(); }

std::uint64_t TraceTotals::work_iterations(WorkMode mode) const {
  std::uint64_t sum = 0;
  for (const auto& c : counts) {
    if (c.work.mode == mode) sum = checked_add(sum, c.iterations, "layer iterations");
  }
  return sum;
}

BitRange TraceTotals::range() const {
  BitRange r{16, 1, 16, 1};
  bool any = false;
  for (const auto& c : counts) {
    if (c.work.mode != WorkMode::kArray) continue;
    any = true;
    const LayerBits& b = c.work.bits;
    for (const int bits : {b.fwd_x, b.fwd_w, b.dx_w, b.dw_x}) {
      r.qmin = std::min(r.qmin, bits);
      r.qmax = std::max(r.qmax, bits);
    }
    for (const int bits : {b.dx_g, b.dw_g}) {
      r.grad_min = std::min(r.grad_min, bits);
      r.grad_max = std::max(r.grad_max, bits);
    }
  }
  return any ? r : BitRange{8, 8, 8, 8};
}

int TraceTotals::most_bits() const {
  int most = 0;
  for (const auto& c : counts) {
    if (c.work.mode != WorkMode::kArray) continue;
    const LayerBits& b = c.work.bits;
    for (const int bits : {b.fwd_x, b.fwd_w, b.dx_g, b.dx_w, b.dw_g, b.dw_x}) {
      most = std::max(most, bits);
    }
  }
  return most;
}

TraceTotals total_trace(TraceReader& reader, const TraceLayers& layers) {
  TraceAccumulator sums(layers, reader.header().iterations, reader.name());
  TraceRecord record;
  while (reader.next(record)) {
    sums.at_line(reader.line());
    sums.add(record);
  }
  TraceTotals totals = sums.finish();
  totals.name = reader.header().name;
  return totals;
}

}  // namespace bitcycle
