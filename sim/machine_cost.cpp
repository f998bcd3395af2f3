#include "sim/machine_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "model/formula.hpp"
#include "model/machine/plan_time.hpp"
#include "model/machine/timed.hpp"

namespace bitcycle {
namespace {

ConvPass pass_of(GemmKind kind) {
  switch (kind) {
    case GemmKind::kForward:
      return ConvPass::kForward;
    case GemmKind::kDx:
      return ConvPass::kDx;
    case GemmKind::kDw:
      return ConvPass::kDw;
  }
  return ConvPass::kForward;
}

ConvShape shape_of(const Layer& layer, std::uint64_t batch) {
  ConvShape s;
  s.batch = batch;
  s.cin = layer.cin;
  s.hi = layer.hi;
  s.wi = layer.wi;
  s.cout = layer.cout;
  s.kh = layer.kh;
  s.kw = layer.kw;
  s.stride_h = layer.stride_h;
  s.stride_w = layer.stride_w;
  s.pad_top = layer.pad_h;
  s.pad_left = layer.pad_w;
  s.pad_bottom = layer.pad_bottom.value_or(layer.pad_h);
  s.pad_right = layer.pad_right.value_or(layer.pad_w);
  s.dilation_h = layer.dilation;
  s.dilation_w = layer.dilation_w.value_or(layer.dilation);
  s.groups = layer.groups;
  return s;
}

std::string key_of(const ConvJob& j, std::uint64_t repeats) {
  const ConvShape& s = j.shape;
  return fmt::format("c{} {}x{} b{} {}x{}x{}>{} k{}x{} s{}x{} p{},{},{},{} d{}x{} g{} f{} {} r{}",
                     static_cast<int>(j.pass), j.first.bits, j.second.bits, s.batch, s.cin, s.hi,
                     s.wi, s.cout, s.kh, s.kw, s.stride_h, s.stride_w, s.pad_top, s.pad_bottom,
                     s.pad_left, s.pad_right, s.dilation_h, s.dilation_w, s.groups,
                     static_cast<int>(j.out.form), j.dx_as_gemm ? 1 : 0, repeats);
}

std::string key_of(const MatmulJob& j, std::uint64_t repeats) {
  return fmt::format("m {}x{} b{} {}x{}x{} {}{} f{} r{}", j.first.bits, j.second.bits, j.batch, j.m,
                     j.n, j.k, j.a_columns ? 't' : 'n', j.w_columns ? 't' : 'n',
                     static_cast<int>(j.out.form), repeats);
}

// Every count of a GEMM, in one place.
template <class Gemm, class Visit>
void for_each_count(Gemm& g, Visit&& visit) {
  for (auto* c :
       {&g.cycles,       &g.array_cycles,  &g.steady,       &g.set_up,      &g.wait_fetch,
        &g.wait_store,   &g.lead,          &g.first_bits,   &g.second_bits, &g.result_bits,
        &g.first_unique, &g.second_unique, &g.psum_written, &g.psum_read,   &g.l1_bits,
        &g.macs_useful,  &g.macs_issued,   &g.macs_padded,  &g.execs,       &g.fetches,
        &g.stores,       &g.read_bursts,   &g.write_bursts}) {
    visit(*c);
  }
  for (auto& e : g.engines) {
    visit(e.idle);
    visit(e.run);
    visit(e.wait_in);
    visit(e.wait_out);
  }
  for (auto& c : g.chunks) {
    for (auto* n : {&c.pe, &c.first, &c.second, &c.tile, &c.results, &c.cycles}) visit(*n);
  }
}

}  // namespace

void MachineGemm::scale(std::uint64_t times) {
  for_each_count(*this, [&](std::uint64_t& c) { c = checked_mul(c, times, "counts of a layer"); });
  host_bytes *= static_cast<double>(times);
  host_ops *= static_cast<double>(times);
}

MachineGemm& MachineGemm::operator+=(const MachineGemm& o) {
  std::vector<std::uint64_t> more;
  for_each_count(o, [&](std::uint64_t c) { more.push_back(c); });
  std::size_t i = 0;
  for_each_count(*this, [&](std::uint64_t& c) { c = checked_add(c, more[i++], "counts"); });
  host_bytes += o.host_bytes;
  host_ops += o.host_ops;
  return *this;
}

LayerJob layer_job(const Layer& layer, GemmKind kind, std::uint64_t batch,
                   const IterationBits& bits, const MachineCostOptions& options) {
  LayerJob out;
  const Precision activation{bits.a, false};
  const Precision weight{bits.w, false};
  const Precision gradient{bits.g, false};
  const Precision first = kind == GemmKind::kForward ? activation : gradient;
  const Precision second = kind == GemmKind::kDw ? activation : weight;
  OutputSpec spec;
  spec.form = options.results;
  spec.sums = true;
  switch (layer.kind) {
    case LayerKind::kMatmul: {
      // C = A B, H heads, a product for every sample and head; A is M x K, B is K x N.
      out.is_conv = false;
      MatmulJob& j = out.matmul;
      const std::uint64_t heads = layer.groups;
      const std::uint64_t m = checked_mul(layer.hi, layer.wi, "rows of a matmul");
      const std::uint64_t k = layer.cin / heads;
      const std::uint64_t n = layer.cout / heads;
      j.batch = checked_mul(batch, heads, "matmuls of a batch");
      j.first = first;
      j.second = second;
      j.out = spec;
      // Forward: A x B^T; dA = G B^T; dB = G^T A.
      if (kind == GemmKind::kForward) {
        j.m = m, j.n = n, j.k = k;
        j.w_columns = true;
      } else if (kind == GemmKind::kDx) {
        j.m = m, j.n = k, j.k = n;
      } else {
        j.m = n, j.n = k, j.k = m;
        j.a_columns = j.w_columns = true;
      }
      out.key = key_of(j, 1);
      return out;
    }
    case LayerKind::kTransposed: {
      // The mirrored convolution's dX is the layer's forward pass, and the other way round.
      const Layer mirrored = layer.mirrored();
      ConvJob& j = out.conv;
      j.shape = shape_of(mirrored, batch);
      j.pass = kind == GemmKind::kForward ? ConvPass::kDx
               : kind == GemmKind::kDx    ? ConvPass::kForward
                                          : ConvPass::kDw;
      j.first = first;
      j.second = second;
      // dW of the mirrored convolution is X x G: the gradient is the image that is gathered.
      if (kind == GemmKind::kDw) std::swap(j.first, j.second);
      j.out = spec;
      out.key = key_of(j, 1);
      return out;
    }
    case LayerKind::kWeight:
    case LayerKind::kRecurrent: {
      ConvJob& j = out.conv;
      j.shape = shape_of(layer, batch);
      if (layer.kind == LayerKind::kRecurrent && kind != GemmKind::kDw) {
        // Step t needs step t-1: one product for every step.
        out.repeats = layer.hi;
        j.shape.hi = 1;
      }
      j.pass = pass_of(kind);
      j.first = first;
      j.second = second;
      j.out = spec;
      j.dx_as_gemm =
          kind == GemmKind::kDx && options.lowering == DxLowering::kGemm && layer.kh * layer.kw > 1;
      out.key = key_of(j, out.repeats);
      return out;
    }
  }
  return out;
}

CompileOptions compile_options(const MachineCostOptions& options) {
  CompileOptions out;
  const MemoryTiming memory = options.planned_for.value_or(options.memory);
  out.exchange = options.exchange;
  out.memory = memory;
  out.pools = std::make_shared<MappingPools>();
  out.host_cycles_per_byte = 1.0 / options.vector.bytes_per_cycle;
  return out;
}

bool needs_mask(const Layer& layer, GemmKind kind) {
  if (layer.kind == LayerKind::kMatmul) return false;
  const bool padded = layer.pad_h != 0 || layer.pad_w != 0 || layer.pad_bottom.value_or(0) != 0 ||
                      layer.pad_right.value_or(0) != 0;
  if (kind == GemmKind::kDx) {
    return layer.kh * layer.kw > 1 || layer.stride_h > 1 || layer.stride_w > 1;
  }
  return padded;
}

void make_mask(LayerJob& job) {
  ConvJob& j = job.conv;
  if (j.pass == ConvPass::kDw) {
    j.shape.cin = 1;
    j.shape.groups = 1;
    j.second.bits = 1;
  } else {
    j.shape.batch = 1;
    j.first.bits = 1;
    j.dx_as_gemm = false;
  }
  job.repeats = 1;
  job.key = key_of(j, 1);
}

MachineCost::MachineCost(const MachineCostOptions& options) : options_(options) {
  options_.machine.validate();
  (void)Recurrence(options_.machine, options_.memory);
}

MachineCost::~MachineCost() = default;

std::uint64_t MachineCost::distinct() const { return known_.size(); }

MachineGemm MachineCost::gemm(const Network& network, std::size_t layer, GemmKind kind,
                              std::uint64_t batch, const IterationBits& bits, bool mask) {
  const Layer& l = network.layers.at(layer);
  LayerJob job = layer_job(l, kind, batch, bits, options_);
  if (mask) make_mask(job);
  const auto found = known_.find(job.key);
  if (found != known_.end()) {
    MachineGemm out = found->second;
    out.layer = layer;
    out.kind = kind;
    out.mask = mask;
    return out;
  }

  const MachineConfig& config = options_.machine;
  CompileOptions compiling = compile_options(options_);
  compiling.pools = pools_;

  MachineGemm out;
  out.layer = layer;
  out.kind = kind;
  out.mask = mask;
  out.repeats = job.repeats;
  try {
    std::vector<Compiled> compiled;
    std::uint64_t batch_parts = 1;
    if (job.is_conv) {
      CompiledLayer made = compile_layer(config, job.conv, compiling);
      batch_parts = made.batch_parts;
      out.expanded = made.expanded;
      out.host_bytes = static_cast<double>(made.host_bytes);
      compiled = std::move(made.plans);
      out.first = job.conv.first;
      out.second = job.conv.second;
    } else {
      compiled.push_back(compile(GemmProblem(config, job.matmul), compiling));
      out.first = job.matmul.first;
      out.second = job.matmul.second;
    }
    const std::uint64_t useful = job.is_conv ? GemmProblem(config, job.conv).useful_macs
                                             : GemmProblem(config, job.matmul).useful_macs;
    for (const Compiled& c : compiled) {
      // The compiler has timed its plan, on the memory that it planned for.
      out += options_.planned_for || !c.times ? run_plan(c.plan, time_plan(c.plan, options_.memory))
                                              : run_plan(c.plan, *c.times);
      out.mapping += (out.mapping.empty() ? "" : "; ") + mapping_text(c.plan.mapping());
    }
    const double host_bytes = out.host_bytes;  // of all parts
    if (batch_parts > 1) {
      const double results =
          static_cast<double>(out.result_bits) / (options_.results == OutputForm::kRaw48 ? 48 : 32);
      out.host_ops += static_cast<double>(batch_parts - 1) * results;
      out.mapping += fmt::format("; {} parts of the batch", batch_parts);
    }
    const double host_ops = out.host_ops;
    out.scale(batch_parts);
    out.host_bytes = host_bytes;
    out.host_ops = host_ops;
    out.macs_useful = useful;  // of the layer, in however many plans
  } catch (const InputError& e) {
    throw InputError(fmt::format("layer '{}' {}: {}", l.name, to_string(kind), e.what()));
  }
  if (job.is_conv && job.conv.dx_as_gemm) {
    // col2im: every product element is read and added to its input pixel.
    const ConvShape& s = job.conv.shape;
    const double products =
        static_cast<double>(s.batch * s.ho() * s.wo()) * static_cast<double>(s.kh * s.kw * s.cin);
    const double raw = options_.results == OutputForm::kRaw48 ? 6 : 4;
    out.host_bytes += raw * products + 4.0 * static_cast<double>(s.x_size());
    out.host_ops += products;
  }
  out.scale(out.repeats);
  known_.emplace(job.key, out);
  return out;
}

// One instruction stream from idle to idle.
MachineGemm MachineCost::run_plan(const Plan& plan, const PlanTimes& time) const {
  const MachineConfig& config = options_.machine;
  MachineGemm out;
  const PlanCost& cost = plan.cost();
  const auto dw = static_cast<std::uint64_t>(config.dw);
  out.engines = time.engines;
  out.array_cycles = time.array_cycles;
  out.steady = time.steady;
  const EngineCycles& exec = out.engines[static_cast<std::size_t>(MachineEngine::kExec)];
  out.cycles = time.cycles;
  out.set_up = exec.run - out.array_cycles;
  out.wait_fetch = exec.wait_in;
  out.wait_store = exec.wait_out;
  out.lead = exec.idle;
  out.first_bits = cost.first_beats * dw;
  out.second_bits = cost.second_beats * dw;
  out.result_bits = cost.out_beats * dw;
  out.first_unique = cost.first_unique * dw;
  out.second_unique = cost.second_unique * dw;
  out.l1_bits = out.first_bits + out.second_bits;
  out.psum_written = cost.psb_written;
  out.psum_read = cost.psb_read;
  out.macs_issued = cost.macs_issued;
  out.macs_padded = cost.macs_padded;
  out.execs = cost.execs;
  out.fetches = cost.fetches;
  out.stores = cost.stores;
  out.read_bursts = time.read_bursts;
  out.write_bursts = time.write_bursts;
  out.chunks[plan.mapping().exchange ? 1 : 0] = {cost.pe_chunks,     cost.first_chunks,
                                                 cost.second_chunks, cost.tile_chunks,
                                                 cost.results,       out.array_cycles};
  return out;
}

MachineIteration MachineCost::iteration(const Network& network, std::uint64_t batch,
                                        const IterationBits& bits) {
  if (batch == 0) throw input_error("", 0, "batch", "0", "at least 1");
  MachineIteration out;
  out.bits = bits;
  double host_bytes = 0;
  double host_ops = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    network.layers[i].validate();
    if (!network.layers[i].quantised) continue;
    for (const GemmKind kind : {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw}) {
      for (const bool mask : {false, true}) {
        if (mask && !needs_mask(network.layers[i], kind)) continue;
        MachineGemm g = gemm(network, i, kind, batch, bits, mask);
        out.gemm_cycles = checked_add(out.gemm_cycles, g.cycles, "cycles of an iteration");
        host_bytes += g.host_bytes;
        host_ops += g.host_ops;
        out.gemms.push_back(std::move(g));
      }
    }
  }
  if (out.gemms.empty()) {
    throw input_error("", 0, "network '" + network.name + "'", "no quantised layer",
                      "at least one under the convention");
  }
  VectorOptions vector;
  vector.unit = options_.vector;
  vector.result_bits = options_.results == OutputForm::kRaw48 ? 48 : 32;
  out.vector = vector_work(network, batch, {std::max(bits.a, bits.w), bits.g}, vector);
  if (host_bytes > 0) {
    out.vector.push_back({"expansion", host_bytes, host_ops,
                          bitcycle::vector_cycles(host_bytes, host_ops, options_.vector)});
  }
  const double cycles = std::ceil(total(out.vector).cycles);
  if (!(cycles < 1.8e19)) throw InputError("vector work: more than 2^64 cycles");
  out.vector_cycles = static_cast<std::uint64_t>(cycles);
  return out;
}

}  // namespace bitcycle
