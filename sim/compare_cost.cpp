#include "sim/compare_cost.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "golden/error.hpp"
#include "sim/energy_work.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kMostSize = (std::uint64_t{1} << 32) - 1;  // descriptor fields: 32 bits

std::size_t index_of(GemmKind kind) { return static_cast<std::size_t>(kind); }

void add(std::uint64_t& sum, std::uint64_t value, const char* what) {
  sum = checked_add(sum, value, what);
}

// Which of a layer's three GEMMs exist, so that a convention without first-layer dX moves no bits
// for it either.
using KindSet = std::array<bool, 3>;

std::vector<KindSet> kinds_of_layers(const std::vector<TrainingGemm>& gemms, std::size_t layers) {
  std::vector<KindSet> out(layers, KindSet{});
  for (const auto& g : gemms) out.at(g.layer)[index_of(g.kind)] = true;
  return out;
}

void add_traffic(Workload& workload, const LayerTensors& tensors, const KindSet& kinds) {
  const char* what = "tensor elements per iteration";
  if (kinds[index_of(GemmKind::kForward)]) {
    auto& t = workload.traffic[index_of(GemmKind::kForward)];
    add(t.read_input, tensors.input, what);
    add(t.read_weight, tensors.weight, what);
    add(t.written, tensors.output, what);
  }
  if (kinds[index_of(GemmKind::kDx)]) {
    auto& t = workload.traffic[index_of(GemmKind::kDx)];
    add(t.read_gradient, tensors.output, what);
    add(t.read_weight, tensors.weight, what);
    add(t.written, tensors.input, what);
  }
  if (kinds[index_of(GemmKind::kDw)]) {
    auto& t = workload.traffic[index_of(GemmKind::kDw)];
    add(t.read_gradient, tensors.output, what);
    add(t.read_input, tensors.input, what);
    add(t.written, tensors.weight, what);
  }
}

// Widths of X, W and G as one of the three GEMMs reads them.
struct TensorBits {
  int input, weight, gradient;
};

TensorBits tensor_bits(GemmKind kind, const LayerBits& bits) {
  switch (kind) {
    case GemmKind::kForward:
      return {bits.fwd_x, bits.fwd_w, 0};
    case GemmKind::kDx:
      return {0, bits.dx_w, bits.dx_g};
    case GemmKind::kDw:
      return {bits.dw_x, 0, bits.dw_g};
  }
  return {};
}

// Stored width of a result: --result-bits, or that of the tensor's operand class.
int result_width(GemmKind kind, const TensorBits& bits, std::optional<int> result_bits) {
  if (result_bits) return *result_bits;
  return kind == GemmKind::kForward ? bits.input : bits.gradient;
}

// `first`: the operand that the table of GEMMs calls A.
int operand_bits(GemmKind kind, Width width, bool first, const LayerBits& bits) {
  const TensorBits t = tensor_bits(kind, bits);
  if (width == Width::kGradient) return t.gradient;
  if (kind == GemmKind::kForward) return first ? t.input : t.weight;
  return kind == GemmKind::kDx ? t.weight : t.input;
}

EventTotals totals_of(const GemmEvents& e) {
  EventTotals out;
  out.digit_cycles = e.digit_cycles;
  out.ac_adds = e.ac_adds;
  out.ac_adds_ones = e.ac_adds_ones;
  out.acc_flushes = e.acc_flushes;
  out.acc_flushes_ones = e.acc_flushes_ones;
  out.a_words_read = e.a_words_read;
  out.w_words_read = e.w_words_read;
  out.results = e.results;
  out.digit_products = e.digit_products;
  return out;
}

}  // namespace

void EventTotals::add(const EventTotals& other, std::uint64_t times) {
  for (const auto part :
       {&EventTotals::digit_cycles, &EventTotals::ac_adds, &EventTotals::ac_adds_ones,
        &EventTotals::acc_flushes, &EventTotals::acc_flushes_ones, &EventTotals::a_words_read,
        &EventTotals::w_words_read, &EventTotals::results, &EventTotals::digit_products,
        &EventTotals::dram_read_bits, &EventTotals::dram_written_bits}) {
    this->*part += other.*part * times;
  }
}

Workload make_workload(const Network& network, std::uint64_t batch, DxLowering lowering) {
  Workload out;
  out.name = network.name;
  out.batch = batch;
  out.convention = network.convention;
  out.convention_text = network.convention_text;
  const std::vector<TrainingGemm> gemms = training_gemms(network, batch, lowering);
  if (gemms.empty()) {
    throw input_error("", 0, "--network", network.name + " without any quantised layer",
                      "a convention that quantises at least one");
  }
  out.forward_macs = checked_mul(network.macs_per_sample(), batch, "MACs per iteration");
  out.fp32_macs = checked_mul(network.macs_per_sample(false) - network.macs_per_sample(), batch,
                              "MACs per iteration");
  for (const VectorOp& op : network.vector_ops) {
    out.vector_forward += u128{op.forward_ops} * batch;
    out.vector_backward += u128{op.backward_ops} * batch;
  }

  using Key = std::tuple<GemmKind, std::uint64_t, std::uint64_t, std::uint64_t, Width, Width, bool>;
  std::map<Key, std::size_t> places;
  for (const auto& g : gemms) {
    const Layer& layer = network.layers.at(g.layer);
    const Key key{g.kind, g.shape.m, g.shape.n, g.shape.k, g.a, g.w, layer.first};
    for (const std::uint64_t size : {g.shape.m, g.shape.n, g.shape.k}) {
      if (size <= kMostSize) continue;
      throw input_error(
          "", 0, fmt::format("{} of layer {} at batch {}", to_string(g.kind), layer.name, batch),
          fmt::format("a dimension of {}", size),
          fmt::format("at most {}: a smaller batch", kMostSize));
    }
    const auto [place, is_new] = places.emplace(key, out.gemms.size());
    if (is_new) {
      out.gemms.push_back({g.kind, g.shape, g.a, g.w, layer.first, 0, 0, layer.name});
    }
    DistinctGemm& distinct = out.gemms[place->second];
    add(distinct.count, g.count, "descriptors");
    add(distinct.macs_useful, checked_mul(g.count, g.macs_useful, "MACs"), "MACs");
  }
  const auto kinds = kinds_of_layers(gemms, network.layers.size());
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    add_traffic(out, layer_tensors(network.layers[i], batch), kinds[i]);
    const Layer& layer = network.layers[i];
    if (layer.first && layer.quantised) {
      // Two layers may read the input, as in a mean aggregator with a self term.
      out.first_layer += (out.first_layer.empty() ? "" : ", ") + layer.name;
      out.first_layer_macs += static_cast<double>(layer.macs_per_sample()) /
                              static_cast<double>(network.macs_per_sample());
    }
  }
  return out;
}

Workload make_gemm_workload(const Gemm& gemm) {
  Layer layer;
  layer.name = "gemm";
  layer.cin = gemm.k;
  layer.cout = gemm.n;
  layer.dense = true;
  Network network;
  network.name = fmt::format("gemm-{}x{}x{}", gemm.m, gemm.n, gemm.k);
  network.layers = {layer};
  return make_workload(network, gemm.m, DxLowering::kPhases);
}

OrientedGemm orient(const ArrayConfig& config, const DistinctGemm& gemm, const LayerBits& bits,
                    OperandOrder order) {
  OrientedGemm out;
  // Codes are unsigned, as CPT's affine quantiser makes them.
  out.descriptor.gemm = gemm.shape;
  out.descriptor.a.bits = operand_bits(gemm.kind, gemm.a, true, bits);
  out.descriptor.w.bits = operand_bits(gemm.kind, gemm.w, false, bits);
  out.timing = gemm_timing(config, out.descriptor);
  if (order == OperandOrder::kTable) return out;
  Descriptor exchanged;
  exchanged.gemm = {gemm.shape.n, gemm.shape.m, gemm.shape.k};
  exchanged.a = out.descriptor.w;
  exchanged.w = out.descriptor.a;
  const GemmTiming timing = gemm_timing(config, exchanged);
  if (timing.cycles < out.timing.cycles) {
    out.descriptor = exchanged;
    out.timing = timing;
    out.exchanged = true;
  }
  return out;
}

EnergyBreakdown IterationCost::energy() const {
  EnergyBreakdown sum;
  for (const auto& g : gemms) sum += g.energy;
  return sum;
}

KindCost kind_cost(const Workload& workload, GemmKind kind, const ArrayConfig& config,
                   const EnergyTable& table, const LayerBits& bits, const CostOptions& options) {
  KindCost out;
  for (const auto& g : workload.gemms) {
    if (g.kind != kind) continue;
    const OrientedGemm run = orient(config, g, bits, options.order);
    GemmTotals& total = out.total;
    add(total.cycles, checked_mul(run.timing.cycles, g.count, "cycles"), "cycles");
    const std::uint64_t mn = checked_mul(g.shape.m, g.shape.n, "results");
    const std::uint64_t macs = checked_mul(mn, g.shape.k, "MACs");
    add(total.macs_issued, checked_mul(macs, g.count, "MACs"), "MACs");
    add(total.macs_useful, g.macs_useful, "MACs");
    const GemmEvents events = gemm_events(config, run.descriptor);
    total.energy += array_energy(table, config, events) * static_cast<double>(g.count);
    out.events.add(totals_of(events), g.count);
    const u128 tile_slots = static_cast<u128>(config.tm) * static_cast<unsigned>(config.tn) *
                            static_cast<unsigned>(config.kl);
    out.mac_slots += u128{run.timing.tiles} * run.timing.kc * tile_slots * g.count;
    const SlotCounts slots =
        count_slots(config, run.descriptor, run.timing, g.count, g.macs_useful);
    out.slots += slots;
    if (g.first_layer) out.slots_first_layer += slots;
    if (options.energy != nullptr) {
      OperandStatistics data = statistics_of(options.energy->settings().data, kind);
      if (run.exchanged) std::swap(data.first, data.second);
      options.energy->add(out.energy,
                          array_work(config, run.descriptor, data, g.macs_useful / g.count),
                          static_cast<double>(g.count));
    }
  }
  const TensorTraffic& t = workload.traffic[index_of(kind)];
  const TensorBits b = tensor_bits(kind, bits);
  const u128 read = u128{t.read_input} * static_cast<unsigned>(b.input) +
                    u128{t.read_weight} * static_cast<unsigned>(b.weight) +
                    u128{t.read_gradient} * static_cast<unsigned>(b.gradient);
  const u128 written =
      u128{t.written} * static_cast<unsigned>(result_width(kind, b, options.result_bits));
  out.total.energy += traffic_energy(table, read, written);
  out.events.dram_read_bits += read;
  out.events.dram_written_bits += written;
  if (options.energy != nullptr) {
    SystemWork work;
    work.seconds = static_cast<double>(out.total.cycles) / options.clock_hz;
    work.l1_written_bits = work.dram_read_bits = static_cast<double>(read);
    work.l1_read_bits = (static_cast<double>(out.events.a_words_read) +
                         static_cast<double>(out.events.w_words_read)) *
                        config.kl;
    work.dram_written_bits = static_cast<double>(written);
    options.energy->add(out.energy, work);
  }
  return out;
}

IterationCost iteration_cost(const Workload& workload, const ArrayConfig& config,
                             const EnergyTable& table, const LayerBits& bits,
                             const CostOptions& options) {
  IterationCost out;
  for (const GemmKind kind : {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw}) {
    const KindCost cost = kind_cost(workload, kind, config, table, bits, options);
    out.gemms[index_of(kind)] = cost.total;
    out.mac_slots += cost.mac_slots;
    out.slots += cost.slots;
    out.slots_first_layer += cost.slots_first_layer;
    out.events.add(cost.events, 1);
    out.energy_counts[index_of(kind)] = cost.energy;
    add(out.cycles, cost.total.cycles, "cycles of an iteration");
  }
  return out;
}

}  // namespace bitcycle
