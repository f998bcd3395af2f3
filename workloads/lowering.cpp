// The three GEMMs of a layer: forward, input gradient (dX), weight gradient (dW).
#include <algorithm>
#include <map>

#include "golden/checked.hpp"
#include "workloads/network.hpp"

namespace bitcycle {
namespace {

// Both axes of a layer with a stride this large would give millions of descriptors.
constexpr std::size_t kMaxPhases = 65'536;

// One phase of dX along one axis: input positions phi, phi + s, phi + 2s, ...
struct Phase {
  std::uint64_t positions = 0;  // ceil((Hi - phi) / s)
  std::uint64_t taps = 0;       // t(phi): q with (phi + p - d*q) mod s = 0
  std::uint64_t useful = 0;     // pairs (position, tap) that meet an output pixel
};

// A convolution along one axis.
struct Axis {
  std::uint64_t in, out, kernel, stride, pad, dilation;

  // Outputs o in 0..out-1 whose tap q reads inside the input: 0 <= o*s + d*q - p < in.
  std::uint64_t outputs_inside(std::uint64_t tap) const {
    const std::uint64_t shift = dilation * tap;
    if (shift >= in + pad) return 0;
    const std::uint64_t low = shift >= pad ? 0 : ceil_div(pad - shift, stride);
    const std::uint64_t end = std::min(out, (in + pad - shift - 1) / stride + 1);
    return end > low ? end - low : 0;
  }

  // Pairs (output, tap) that read inside the input.
  std::uint64_t useful() const {
    std::uint64_t pairs = 0;
    for (std::uint64_t tap = 0; tap < kernel; ++tap) pairs += outputs_inside(tap);
    return pairs;
  }

  // Phases with work, ascending; the others would have K = 0 or no position.
  std::vector<Phase> phases() const {
    std::map<std::uint64_t, Phase> found;
    for (std::uint64_t tap = 0; tap < kernel; ++tap) {
      // (d*q - p) mod s, with p reduced first so that the difference cannot go below 0.
      const std::uint64_t phi = (dilation * tap + stride - pad % stride) % stride;
      if (phi >= in) continue;
      Phase& phase = found[phi];
      phase.positions = ceil_div(in - phi, stride);
      ++phase.taps;
      phase.useful += outputs_inside(tap);
    }
    std::vector<Phase> out_phases;
    out_phases.reserve(found.size());
    for (const auto& entry : found) out_phases.push_back(entry.second);
    return out_phases;
  }
};

// How the tensors of a layer take the places A and W of its three GEMMs.
struct Widths {
  Width a, w;
};
constexpr Widths kForwardWidths{Width::kForward, Width::kForward};
constexpr Widths kGradientFirst{Width::kGradient, Width::kForward};
constexpr Widths kGradientLast{Width::kForward, Width::kGradient};

class Lowering {
 public:
  Lowering(const Layer& layer, std::size_t index, std::uint64_t batch, DxLowering lowering,
           std::vector<TrainingGemm>& out)
      : layer_(layer),
        index_(index),
        batch_(batch),
        lowering_(lowering),
        vertical_{layer.hi, layer.ho(), layer.kh, layer.stride_h, layer.pad_h, layer.dilation},
        horizontal_{layer.wi,       layer.wo(),  layer.kw,
                    layer.stride_w, layer.pad_w, layer.dilation_w.value_or(layer.dilation)},
        cg_(layer.cin / layer.groups),
        og_(layer.cout / layer.groups),
        pixels_(mul({batch, vertical_.out, horizontal_.out})),
        window_(mul({layer.kh, layer.kw, cg_})),
        useful_(mul({batch, vertical_.useful(), horizontal_.useful(), cg_, og_})),
        count_(layer.groups),
        out_(out) {}

  // X x W, G x W, G x X.
  void convolution() {
    gather(GemmKind::kForward, kForwardWidths);
    scatter(GemmKind::kDx, kGradientFirst);
    weights(kGradientFirst);
  }

  // `layer` is the mirrored convolution: its input is Y here, its output is X. dW is X x G.
  void transposed() {
    scatter(GemmKind::kForward, kForwardWidths);
    gather(GemmKind::kDx, kGradientFirst);
    weights(kGradientLast);
  }

  // One product per sample and head. dB = A^T x G.
  void matmul() {
    const std::uint64_t rows = mul({vertical_.out, horizontal_.out});
    count_ = mul({layer_.groups, batch_});
    const std::uint64_t useful = mul({rows, og_, cg_});
    add(GemmKind::kForward, {rows, og_, cg_}, useful, kForwardWidths);
    add(GemmKind::kDx, {rows, cg_, og_}, useful, kGradientFirst);
    add(GemmKind::kDw, {cg_, og_, rows}, useful, kGradientLast);
  }

  // Forward and dX wait for the step before; dW is a sum over steps of operands that are all known
  // when the last dX is done, so one GEMM reduces over steps and batch.
  void recurrent() {
    const std::uint64_t steps = mul({vertical_.out, horizontal_.out});
    const std::uint64_t useful = mul({batch_, og_, cg_});
    count_ = steps;
    add(GemmKind::kForward, {batch_, og_, cg_}, useful, kForwardWidths);
    add(GemmKind::kDx, {batch_, cg_, og_}, useful, kGradientFirst);
    count_ = 1;
    weights(kGradientFirst);
  }

 private:
  // Output pixels gather their window.
  void gather(GemmKind kind, Widths widths) { add(kind, {pixels_, og_, window_}, useful_, widths); }

  // Output pixels scatter into the input: by phases of the stride, or expanded.
  void scatter(GemmKind kind, Widths widths) {
    if (lowering_ == DxLowering::kGemm) {
      add(kind, {pixels_, window_, og_}, useful_, widths);
      return;
    }
    const std::vector<Phase> rows = vertical_.phases();
    const std::vector<Phase> columns = horizontal_.phases();
    if (rows.size() * columns.size() > kMaxPhases) {
      throw input_error("", 0, "layer '" + layer_.name + "', dX phases",
                        std::to_string(rows.size() * columns.size()),
                        "at most " + std::to_string(kMaxPhases) + "; use dx=gemm");
    }
    for (const Phase& y : rows) {
      for (const Phase& x : columns) {
        add(kind, {mul({batch_, y.positions, x.positions}), cg_, mul({y.taps, x.taps, og_})},
            mul({batch_, y.useful, x.useful, cg_, og_}), widths);
      }
    }
  }

  void weights(Widths widths) { add(GemmKind::kDw, {og_, window_, pixels_}, useful_, widths); }

  std::uint64_t mul(std::initializer_list<std::uint64_t> factors) const {
    const std::string field =
        "layer '" + layer_.name + "', size at batch " + std::to_string(batch_);
    std::uint64_t out = 1;
    for (const std::uint64_t factor : factors) out = checked_mul(out, factor, field.c_str());
    return out;
  }

  void add(GemmKind kind, const Gemm& shape, std::uint64_t useful, Widths widths) {
    // What all descriptors issue must fit too, or every sum above this code could wrap.
    (void)mul({shape.m, shape.n, shape.k, count_});
    TrainingGemm gemm;
    gemm.layer = index_;
    gemm.kind = kind;
    gemm.shape = shape;
    gemm.a = widths.a;
    gemm.w = widths.w;
    gemm.count = count_;
    gemm.macs_useful = useful;
    out_.push_back(gemm);
  }

  const Layer& layer_;
  std::size_t index_;
  std::uint64_t batch_;
  DxLowering lowering_;
  Axis vertical_, horizontal_;
  std::uint64_t cg_, og_;  // channels of one group
  std::uint64_t pixels_;   // P: output pixels of the batch
  std::uint64_t window_;   // kh*kw*Cg
  std::uint64_t useful_;   // MACs of one group without border zeros
  std::uint64_t count_;    // equal descriptors
  std::vector<TrainingGemm>& out_;
};

}  // namespace

std::vector<TrainingGemm> training_gemms(const Network& network, std::uint64_t batch,
                                         DxLowering lowering) {
  if (batch == 0) throw input_error("", 0, "batch", "0", "at least 1");
  std::vector<TrainingGemm> gemms;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    layer.validate();
    if (!layer.quantised) continue;
    const Layer unrolled = layer.mirrored();
    Lowering lowered(unrolled, i, batch, lowering, gemms);
    switch (layer.kind) {
      case LayerKind::kWeight:
        lowered.convolution();
        break;
      case LayerKind::kTransposed:
        lowered.transposed();
        break;
      case LayerKind::kMatmul:
        lowered.matmul();
        break;
      case LayerKind::kRecurrent:
        lowered.recurrent();
        break;
    }
  }
  return gemms;
}

}  // namespace bitcycle
