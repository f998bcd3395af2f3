#include "sim/compare_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "golden/error.hpp"
#include "sim/compare_inputs.hpp"
#include "workloads/policy.hpp"
#include "workloads/policy_mixed.hpp"
#include "workloads/trace_header.hpp"

namespace bitcycle {
namespace {

constexpr std::array<GemmKind, 3> kKinds = {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw};

// Widths of both operands of one GEMM: input before weight, gradient before the other.
std::pair<int, int> operands(GemmKind kind, const LayerBits& b) {
  if (kind == GemmKind::kForward) return {b.fwd_x, b.fwd_w};
  return kind == GemmKind::kDx ? std::pair<int, int>{b.dx_g, b.dx_w}
                               : std::pair<int, int>{b.dw_g, b.dw_x};
}

// Only the operands of `kind` matter.
LayerBits bits_of(GemmKind kind, int first, int second) {
  LayerBits out;
  const auto a = static_cast<std::uint8_t>(first);
  const auto b = static_cast<std::uint8_t>(second);
  switch (kind) {
    case GemmKind::kForward:
      out.fwd_x = a;
      out.fwd_w = b;
      break;
    case GemmKind::kDx:
      out.dx_g = a;
      out.dx_w = b;
      break;
    case GemmKind::kDw:
      out.dw_g = a;
      out.dw_x = b;
      break;
  }
  return out;
}

u128 multiply(u128 a, u128 b, const char* what) {
  u128 out = 0;
  if (__builtin_mul_overflow(a, b, &out)) {
    throw input_error("", 0, what, to_decimal(a) + " * " + to_decimal(b), "a result below 2^128");
  }
  return out;
}

double ratio_or_0(u128 a, u128 b) {
  if (b == 0) return 0.0;
  return static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b));
}

// What makes two layers cost the same: their descriptors and tensors.
std::string class_key(const Workload& w) {
  std::string out = w.first_layer.empty() ? "" : "first;";
  for (const auto& g : w.gemms) {
    out += fmt::format("{},{},{},{},{},{},{},{},{};", static_cast<int>(g.kind), g.shape.m,
                       g.shape.n, g.shape.k, static_cast<int>(g.a), static_cast<int>(g.w), g.count,
                       g.macs_useful, g.first_layer);
  }
  for (const auto& t : w.traffic) {
    out += fmt::format("{},{},{},{};", t.read_input, t.read_weight, t.read_gradient, t.written);
  }
  return out;
}

void make_classes(CompareWorkload& out, std::uint64_t batch, DxLowering lowering) {
  if (!out.classes.empty()) return;
  std::map<std::string, std::size_t> places;
  out.class_of.assign(out.network.layers.size(), 0);
  for (std::size_t i = 0; i < out.network.layers.size(); ++i) {
    if (!out.network.layers[i].quantised) continue;
    Network one;
    one.name = out.network.name;
    one.layers = {out.network.layers[i]};
    Workload w = make_workload(one, batch, lowering);
    const auto [place, is_new] = places.emplace(class_key(w), out.classes.size());
    if (is_new) out.classes.push_back(std::move(w));
    out.class_of[i] = place->second;
  }
}

std::string row_name(const TraceHeader& header, const std::string& path) {
  if (!header.name.empty()) return header.name;
  return path == "-" ? "stdin" : std::filesystem::path(path).stem().string();
}

class Collector {
 public:
  explicit Collector(CompareOptions& options) : options_(options) {
    if (options.gemm) {
      CompareWorkload w;
      w.workload = make_gemm_workload(*options.gemm);
      Layer layer;
      layer.name = "gemm";
      layer.cin = options.gemm->k;
      layer.cout = options.gemm->n;
      layer.dense = true;
      w.network.name = w.workload.name;
      w.network.layers = {layer};
      w.parameters = layer.parameters();
      w.convention = to_string(Convention::kAll);
      out_.push_back(std::move(w));
      batches_.push_back(options.gemm->m);
      keys_.emplace_back("gemm");
    } else if (options.networks_given || options.traces.empty()) {
      take_networks();
    }
  }

  std::vector<CompareWorkload> collect() {
    bool from_stdin = false;
    for (const auto& path : options_.traces) {
      if (path == "-" && from_stdin) {
        throw input_error("", 0, "--trace", "- twice", "standard input once");
      }
      from_stdin = from_stdin || path == "-";
      take_trace(path);
    }
    for (const auto& text : options_.policies) take_policy(text);
    if (!options_.configs.empty()) take_configs();
    if (!options_.iterations_given) {
      for (const auto& w : out_) {
        for (const auto& t : w.traces) longest_ = std::max(longest_, t.totals.iterations);
      }
      if (longest_ > 0) options_.iterations = longest_;
    }
    return std::move(out_);
  }

 private:
  void take_networks() {
    if (options_.networks.empty()) {
      throw input_error("", 0, "--network", "nothing", join(network_names()));
    }
    std::vector<std::string> out_names;
    for (const auto& name : options_.networks) {
      const Network network = make_network(name, options_.convention);
      for (std::size_t i = 0; i < out_.size(); ++i) {
        if (out_[i].network.name != network.name || out_names[i] == name) continue;
        throw input_error(
            "", 0, "--network",
            fmt::format("'{}' and '{}', both named '{}'", out_names[i], name, network.name),
            "different names (key 'network' in the file)");
      }
      const std::size_t place =
          place_of(network, options_.batch.value_or(network.batch), network.convention, name);
      if (place == out_names.size()) out_names.push_back(name);
    }
  }

  std::size_t place_of(const Network& network, std::uint64_t batch, const std::string& convention,
                       const std::string& key_name) {
    const std::string key = key_name + "|" + convention + "|" + std::to_string(batch);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] == key) return i;
    }
    CompareWorkload w;
    w.workload = make_workload(network, batch, options_.lowering);
    w.network = network;
    w.parameters = trace_layers(network).parameters;
    w.convention = convention;
    out_.push_back(std::move(w));
    batches_.push_back(batch);
    keys_.push_back(key);
    return out_.size() - 1;
  }

  void refuse_difference(const std::string& file, const char* key, bool given,
                         const std::string& mine, const std::string& theirs) const {
    if (!given || mine == theirs) return;
    throw input_error(file, 0, key, theirs + " in the trace",
                      fmt::format("{} as --{} says, or no --{}", mine, key, key));
  }

  // The networks that a trace runs on.
  std::vector<std::size_t> places_for(const TraceHeader& header, const std::string& file) {
    if (options_.gemm) {
      if (!header.network.empty() || !header.layers.empty()) {
        throw input_error(file, 0, "trace", "a network of its own", "one without, with --gemm");
      }
      return {0};
    }
    if (header.batch > 0) {
      refuse_difference(file, "batch", options_.batch.has_value(),
                        std::to_string(options_.batch.value_or(0)), std::to_string(header.batch));
    }
    if (!header.convention.empty()) {
      refuse_difference(file, "convention", options_.convention_given, options_.convention,
                        header.convention);
    }
    const auto batch_of = [&](const Network& network) {
      return header.batch > 0 ? header.batch : options_.batch.value_or(network.batch);
    };
    if (header.network.empty() && header.layers.empty()) {
      if (options_.networks_given && header.convention.empty() && header.batch == 0) {
        std::vector<std::size_t> all;
        for (const std::string& name : options_.networks) {
          const Network network = make_network(name, options_.convention);
          all.push_back(place_of(network, batch_of(network), network.convention, name));
        }
        return all;
      }
    }
    if (options_.networks_given && !header.network.empty() &&
        std::find(options_.networks.begin(), options_.networks.end(), header.network) ==
            options_.networks.end()) {
      refuse_difference(file, "network", true, join(options_.networks), header.network);
    }
    const Network network =
        trace_network(header, file, options_.networks.front(), options_.convention);
    std::string key = header.network.empty() ? options_.networks.front() : header.network;
    if (!header.layers.empty()) {
      TraceHeader shape;
      shape.layers = header.layers;
      shape.batch = header.batch;
      key = trace_header_json(shape);
    }
    const std::string convention = header.layers.empty() ? network.convention : "inline";
    return {place_of(network, batch_of(network), convention, key)};
  }

  void put(std::size_t place, NamedTrace trace) {
    CompareWorkload& w = out_[place];
    const std::string& name = trace.totals.name;
    const auto& suite = schedule_names();
    if (std::find(suite.begin(), suite.end(), name) != suite.end()) {
      throw input_error(trace.file, 0, "name of a " + trace.group, "'" + name + "'",
                        "a name that no built-in schedule has");
    }
    for (const auto& other : w.traces) {
      if (other.totals.name == name) {
        throw input_error(trace.file, 0, "name of a " + trace.group, "'" + name + "' twice",
                          "rows of different names");
      }
    }
    make_classes(w, batches_[place], options_.lowering);
    if (trace.totals.schedule) trace.totals.schedule->name = name;
    w.traces.push_back(std::move(trace));
  }

  void take_trace(const std::string& path) {
    TraceReader reader(path);
    const auto places = places_for(reader.header(), reader.name());
    // Read once: networks with other layers would need the file again.
    for (const auto place : places) {
      if (place != places.front()) {
        throw input_error(path, 0, "--trace", "a trace without a network, and several --network",
                          "one network");
      }
    }
    TraceTotals totals = total_trace(reader, trace_layers(out_[places.front()].network));
    totals.name = row_name(reader.header(), path);
    put(places.front(), {std::move(totals), "trace", reader.name()});
  }

  void all_places() {
    if (out_.empty()) take_networks();
  }

  void take_policy(const std::string& text) {
    auto [name, values] = parse_policy(text);
    const auto& suite = schedule_names();
    const bool built_in = std::find(suite.begin(), suite.end(), text) != suite.end();
    std::string row = built_in ? text + " (policy)" : text;
    for (auto value = values.begin(); value != values.end(); ++value) {
      if (value->first != "name") continue;
      row = value->second;
      values.erase(value);
      break;
    }
    with_iterations(name, values);
    const auto policy = make_policy(name, values);
    all_places();
    for (std::size_t i = 0; i < out_.size(); ++i) {
      put(i, {total_policy(*policy, trace_layers(out_[i].network), row), "policy", ""});
    }
  }

  // --iterations is the default of a policy that has such a setting.
  void with_iterations(const std::string& name, PolicyValues& values) const {
    if (!options_.iterations_given) return;
    for (const auto& value : values) {
      if (value.first == "iterations") return;
    }
    if (name != "deficit" && name != "swalp") {
      values.emplace_back("iterations", std::to_string(options_.iterations));
    }
  }

  void take_configs() {
    all_places();
    for (const auto& config : read_configs(options_.configs)) {
      for (std::size_t i = 0; i < out_.size(); ++i) {
        TraceAccumulator sums(trace_layers(out_[i].network), options_.iterations);
        TraceRecord record;
        record.work.bits = config.bits;
        sums.add(record);
        TraceTotals totals = sums.finish();
        totals.name = config.name;
        put(i, {std::move(totals), "configuration", options_.configs});
      }
    }
  }

  CompareOptions& options_;
  std::vector<CompareWorkload> out_;
  std::vector<std::uint64_t> batches_;
  std::vector<std::string> keys_;
  std::uint64_t longest_ = 0;
};

}  // namespace

std::uint64_t CompareWorkload::layer_macs(std::size_t layer) const {
  return checked_mul(network.layers.at(layer).macs_per_sample(), workload.batch,
                     "MACs per iteration");
}

Network trace_network(const TraceHeader& header, const std::string& file,
                      const std::string& default_network, const std::string& convention) {
  if (!header.layers.empty()) {
    Network out;
    out.name = header.name.empty() ? "inline" : header.name;
    out.layers = header.layers;
    return out;
  }
  const std::string& own = header.convention.empty() ? convention : header.convention;
  if (header.network.empty()) return make_network(default_network, own);
  try {
    return make_network(header.network, own);
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}:1: {}", file, e.what()));
  }
}

std::vector<CompareWorkload> compare_workloads(CompareOptions& options) {
  return Collector(options).collect();
}

const KindCost& TraceCoster::cost(const Key& key) {
  auto found = costs_.find(key);
  if (found == costs_.end()) {
    const auto& [at, kind, first, second] = key;
    found = costs_
                .emplace(key, kind_cost(workload_.classes.at(at), kind, config_, table_,
                                        bits_of(kind, first, second), options_))
                .first;
  }
  return found->second;
}

void TraceCoster::add_costs(CompareRow& row, const TraceTotals& totals) {
  constexpr const char* kRun = "MACs of the whole run";
  std::map<Key, u128> times;
  u128 array_bitops = 0, fp32_macs = 0;
  long double bit_macs = 0.0L, macs_with_bits = 0.0L;
  for (const auto& count : totals.counts) {
    if (count.work.mode == WorkMode::kNone) continue;
    const u128 macs = workload_.layer_macs(count.layer);
    for (const GemmKind kind : kKinds) {
      const u128 repeats =
          u128{count.iterations} * count.work.passes[static_cast<std::size_t>(kind)];
      if (repeats == 0) continue;
      const u128 work = multiply(macs, repeats, kRun);
      if (count.work.mode == WorkMode::kFp32) {
        fp32_macs += work;
        continue;
      }
      const auto [first, second] = operands(kind, count.work.bits);
      times[Key{workload_.class_of.at(count.layer), kind, first, second}] += repeats;
      array_bitops += multiply(work, static_cast<unsigned>(first * second), "BitOps");
    }
    if (count.work.mode == WorkMode::kArray && count.pass == 0) {
      const long double weight =
          static_cast<long double>(macs) * static_cast<long double>(count.iterations);
      bit_macs += weight * (count.work.bits.fwd_x + count.work.bits.fwd_w) / 2.0L;
      macs_with_bits += weight;
    }
  }
  row.mean_bits = macs_with_bits > 0.0L ? static_cast<double>(bit_macs / macs_with_bits) : 0.0;
  row.fp32_macs = fp32_macs;
  row.bitops_fp32 = multiply(fp32_macs, 1024, "BitOps");
  row.bitops = array_bitops + row.bitops_fp32;

  u128 cycles = 0, slots_walked = 0;
  std::array<u128, 3> kind_cycles{}, issued{}, useful{};
  for (const auto& [key, repeats_128] : times) {
    const KindCost& c = cost(key);
    const std::uint64_t repeats = fit_64(repeats_128, "repetitions of a layer");
    const auto i = static_cast<std::size_t>(std::get<1>(key));
    kind_cycles[i] += u128{c.total.cycles} * repeats;
    issued[i] += u128{c.total.macs_issued} * repeats;
    useful[i] += u128{c.total.macs_useful} * repeats;
    cycles += u128{c.total.cycles} * repeats;
    slots_walked += multiply(c.mac_slots, repeats, "MAC slots");
    row.gemms[i].energy += c.total.energy * static_cast<double>(repeats);
    if (row.gates) add_array_counts(row, c.energy, i, repeats);
    row.slots += c.slots * repeats;
    row.slots_first_layer += c.slots_first_layer * repeats;
    row.events.add(c.events, repeats);
  }
  row.cycles = fit_64(cycles, "cycles of the whole run");
  for (std::size_t i = 0; i < 3; ++i) {
    row.gemms[i].cycles = fit_64(kind_cycles[i], "cycles of the whole run");
    row.gemms[i].macs_issued = fit_64(issued[i], kRun);
    row.gemms[i].macs_useful = fit_64(useful[i], kRun);
    row.energy += row.gemms[i].energy;
  }
  row.macs_issued = fit_64(issued[0] + issued[1] + issued[2], kRun);
  row.macs_useful = fit_64(useful[0] + useful[1] + useful[2], kRun);
  row.lane_utilisation = ratio_or_0(row.macs_useful, slots_walked);
  row.bitop_efficiency = ratio_or_0(row.slots[SlotUse::kUseful], row.slots.total());
  row.seconds = static_cast<double>(row.cycles) / row.clock_hz;
}

std::vector<TraceCoster::Used> TraceCoster::used() const {
  std::vector<Used> out;
  out.reserve(costs_.size());
  for (const auto& [key, cost] : costs_) {
    const auto& [at, kind, first, second] = key;
    out.push_back({&workload_.classes[at], kind, bits_of(kind, first, second)});
  }
  return out;
}

void add_communication(CompareRow& row, const CompareWorkload& workload, const TraceTotals* totals,
                       const CompareOptions& options, const EnergyTable& table) {
  if (totals != nullptr) {
    row.averaging_updates = totals->averaging_updates;
    row.averaging_read_bits = totals->averaging_read_bits;
    row.averaging_written_bits = totals->averaging_written_bits;
    row.averaging_energy_j =
        traffic_energy(table, row.averaging_read_bits, row.averaging_written_bits).dram;
  }
  const ExchangeSpec& spec = options.exchange;
  if (spec.workers == 0) return;
  std::uint64_t left = row.iterations;
  if (totals != nullptr) {  // a trace may say its own widths for stretches of the run
    for (const auto& [bits, iterations] : totals->exchange_iterations) {
      row.exchange_bits += u128{exchange_bits(spec, workload.parameters, bits)} * iterations;
      left -= iterations;
    }
  }
  row.exchange_bits += u128{exchange_bits(spec, workload.parameters, spec.bits)} * left;
  row.exchange_seconds = exchange_seconds(spec, row.exchange_bits);
}

}  // namespace bitcycle
