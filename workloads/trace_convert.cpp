#include "workloads/trace_convert.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "golden/error.hpp"
#include "workloads/policy_settings.hpp"
#include "workloads/schedule_export.hpp"
#include "workloads/trace_totals.hpp"

namespace bitcycle {
namespace {

// Per iteration, the work of every layer and pass. Calls `at(t, to, works)` for every stretch
// without change.
struct Held {
  LayerWork work;
  std::uint64_t end = kOpenEnd;
  bool known = false;
};

template <typename At>
void walk_trace(TraceReader& reader, const TraceLayers& layers, const At& at) {
  TraceAccumulator check(layers, reader.header().iterations, reader.name());
  std::vector<Held> held(layers.size());
  std::uint64_t now = 0;
  TraceRecord record;
  // Ranges end between records: stop there too.
  const auto run_to = [&](std::uint64_t to) {
    while (now < to) {
      std::uint64_t next = to;
      for (const auto& h : held) {
        if (h.known && h.end > now) next = std::min(next, h.end);
      }
      at(now, next, held);
      now = next;
      for (auto& h : held) h.known = h.known && h.end > now;
    }
  };
  while (reader.next(record)) {
    check.at_line(reader.line());
    check.add(record);
    if (record.start > now) run_to(record.start);
    if (record.kind != TraceRecord::Kind::kWork) {
      throw input_error(reader.name(), reader.line(), "extra", "averaging or exchange",
                        "a trace of bits only, for this conversion");
    }
    const auto pass = static_cast<std::size_t>(record.pass);
    if (held.size() < (pass + 1) * layers.size()) held.resize((pass + 1) * layers.size());
    for (const auto layer : select_layers(layers, record.layers, reader.name(), reader.line())) {
      held[pass * layers.size() + layer] = {record.work, record.end, true};
    }
  }
  run_to(reader.header().iterations);
  check.finish();
}

}  // namespace

CompressingSink::CompressingSink(TraceSink& next, const TraceLayers& layers)
    : next_(next), layers_(layers), held_(layers.size()) {}

void CompressingSink::add(const TraceRecord& record) {
  if (record.kind != TraceRecord::Kind::kWork) return next_.add(record);
  const auto pass = static_cast<std::size_t>(record.pass);
  if (held_.size() < (pass + 1) * layers_.size()) held_.resize((pass + 1) * layers_.size());
  bool changes = record.end != kOpenEnd;
  const auto selected = select_layers(layers_, record.layers, "", 0);
  for (const auto layer : selected) {
    const Held& held = held_[pass * layers_.size() + layer];
    changes = changes || !held.known || !(held.work == record.work);
  }
  if (!changes) return;
  next_.add(record);
  for (const auto layer : selected) {
    held_[pass * layers_.size() + layer] = {record.work, record.end == kOpenEnd};
  }
}

void expand_trace(TraceReader& reader, const TraceLayers& layers, TraceSink& sink,
                  std::uint64_t most) {
  std::uint64_t records = 0;
  walk_trace(reader, layers, [&](std::uint64_t from, std::uint64_t to, const auto& held) {
    std::uint64_t known = 0;
    for (const auto& one : held) known += one.known ? 1 : 0;
    if (known == 0) return;
    // Before the first record of these iterations is written: there may be 2^53 of them.
    if (to - from > (most - records) / known) {
      throw input_error(reader.name(), 0, "expanded trace", fmt::format("over {} records", most),
                        "a larger --most, or no --expand");
    }
    records += known * (to - from);
    for (std::uint64_t t = from; t < to; ++t) {
      for (std::size_t i = 0; i < held.size(); ++i) {
        if (!held[i].known) continue;
        TraceRecord record;
        record.start = t;
        record.end = t + 1;
        record.layers = LayerSelection::index(i % layers.size());
        record.pass = static_cast<int>(i / layers.size());
        record.work = held[i].work;
        sink.add(record);
      }
    }
  });
}

void csv_to_trace(const std::string& csv, std::uint64_t iterations, TraceSink& sink) {
  for (const auto& run : read_schedule_csv_runs(csv, iterations)) {
    sink.add(network_record(run.start, run.pair));
  }
}

std::string trace_to_csv(TraceReader& reader, const TraceLayers& layers) {
  std::string out = "iteration,bits,grad_bits\n";
  BitPair last{0, 0};
  std::uint64_t rows = 0;
  walk_trace(reader, layers, [&](std::uint64_t from, std::uint64_t, const auto& held) {
    const LayerWork* first = nullptr;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (!held[i].known) continue;
      if (first == nullptr) first = &held[i].work;
      if (i >= layers.size() || !(held[i].work == *first)) {
        throw input_error(reader.name(), 0, "trace",
                          fmt::format("layers or passes that differ in iteration {}", from),
                          "one pair of bits in the whole network, for CSV");
      }
    }
    if (first == nullptr || first->mode != WorkMode::kArray || !first->bits.is_pair() ||
        first->passes != std::array<std::uint32_t, 3>{1, 1, 1}) {
      throw input_error(reader.name(), 0, "trace",
                        fmt::format("work that is no pair of bits in iteration {}", from),
                        "one pair of bits in the whole network, for CSV");
    }
    const BitPair pair = first->bits.pair();
    if (pair == last) return;
    if (++rows > kMaxScheduleRuns) {
      throw input_error(reader.name(), 0, "trace", "more than a million changes",
                        "fewer, for a CSV file");
    }
    last = pair;
    out += fmt::format("{},{},{}\n", from, pair.bits, pair.grad_bits);
  });
  return out;
}

}  // namespace bitcycle
