#include "sim/vector_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

constexpr double kFloat = 4;  // bytes

class Collector {
 public:
  explicit Collector(const VectorUnit& unit) : unit_(unit) {}

  // One operation that cannot overlap with others: its time is its own maximum.
  void add(const std::string& kind, double bytes, double ops) {
    auto at = std::find_if(work_.begin(), work_.end(),
                           [&](const VectorWork& w) { return w.kind == kind; });
    if (at == work_.end()) {
      work_.push_back({kind, 0, 0, 0});
      at = work_.end() - 1;
    }
    *at += VectorWork{kind, bytes, ops, vector_cycles(bytes, ops, unit_)};
  }
  std::vector<VectorWork> take() { return std::move(work_); }

 private:
  VectorUnit unit_;
  std::vector<VectorWork> work_;
};

// Extremes need a pass of their own before the first code can be made.
void quantise(Collector& out, double elements, int bits, bool noise) {
  out.add("extremes", kFloat * elements, 2 * elements);
  // Subtract, divide, round, clamp twice; noise: one more addition.
  out.add("quantise", (kFloat + bits / 8.0) * elements, (noise ? 6 : 5) * elements);
}

bool is_norm(const std::string& op) {
  return op == "batch-norm" || op == "layer-norm" || op == "group-norm" || op == "rms-norm";
}

}  // namespace

VectorWork& VectorWork::operator+=(const VectorWork& other) {
  bytes += other.bytes;
  ops += other.ops;
  cycles += other.cycles;
  return *this;
}

double vector_cycles(double bytes, double ops, const VectorUnit& unit) {
  return std::max(bytes / unit.bytes_per_cycle, ops / unit.ops_per_cycle);
}

VectorWork total(const std::vector<VectorWork>& work) {
  VectorWork sum;
  sum.kind = "total";
  for (const VectorWork& w : work) sum += w;
  return sum;
}

std::vector<VectorWork> vector_work(const Network& network, std::uint64_t batch,
                                    const BitPair& bits, const VectorOptions& options) {
  if (batch == 0) throw input_error("", 0, "batch", "0", "at least 1");
  Collector out(options.unit);
  const auto b = static_cast<double>(batch);
  const double raw = options.result_bits / 8.0;

  for (const Layer& layer : network.layers) {
    const LayerTensors t = layer_tensors(layer, batch);
    const auto x = static_cast<double>(t.input);
    const auto w = static_cast<double>(t.weight);
    const auto y = static_cast<double>(t.output);
    const bool weights = layer.kind != LayerKind::kMatmul;
    if (!layer.quantised) {
      const double macs = static_cast<double>(layer.macs_per_sample()) * b;
      out.add("fp32 layers", kFloat * (x + w + y), 2 * macs);
      if (options.backward) {
        out.add("fp32 layers", kFloat * (y + w + x), 2 * macs);  // dX
        out.add("fp32 layers", kFloat * (y + x + w), 2 * macs);  // dW
      }
    } else {
      quantise(out, x, bits.bits, false);
      quantise(out, w, bits.bits, false);
      // y = sa*sw*S + sa*zw*S(qa) + za*sw*S(qw) + za*zw*S(m): three multiply-adds an element.
      out.add("results", (raw + kFloat) * y, 6 * y);
      if (options.backward) {
        quantise(out, y, bits.grad_bits, true);
        if (options.per_channel_weights && weights) {
          out.add("fold scales", 2 * kFloat * y, y);
          quantise(out, y, bits.grad_bits, true);
          // One dot product over the output channels for every output position, added to the taps.
          const double positions = y / static_cast<double>(layer.cout);
          const auto taps = static_cast<double>(layer.kh * layer.kw);
          out.add("zero points of W", kFloat * (y + positions), 2 * y + taps * positions);
        }
        out.add("results", (raw + kFloat) * x, 4 * x);
        out.add("results", (raw + kFloat) * w, 6 * w);
      }
    }
    if (options.backward && weights) {
      const auto p = static_cast<double>(layer.parameters());
      // Weight decay, momentum, step: two operations each; w, m and dW read, w and m written.
      out.add("update", 5 * kFloat * p, 6 * p);
    }
  }

  for (const VectorOp& op : network.vector_ops) {
    const auto in = static_cast<double>(op.elements_in) * b;
    const auto made = static_cast<double>(op.elements_out) * b;
    const auto parameters = static_cast<double>(op.parameters);
    const double indices = kFloat * static_cast<double>(op.indices) * b;
    // A norm reads its input once for the statistics and once more to apply them.
    const double passes = is_norm(op.op) ? 2 : 1;
    const double read = op.sparse_parameters ? 0 : parameters;
    out.add(op.op, kFloat * (passes * in + made + read) + indices,
            static_cast<double>(op.forward_ops) * b);
    if (!options.backward) continue;
    // Gradient of the output and saved input read, gradient of the input written; or what the
    // operator says. Gradients of parameters are written (a table's are cleared first).
    const double moved = op.backward_in && op.backward_out
                             ? static_cast<double>(*op.backward_in + *op.backward_out) * b
                             : passes * (made + in) + in;
    out.add(op.op, kFloat * (moved + parameters) + indices,
            static_cast<double>(op.backward_ops) * b);
    if (op.parameters > 0) out.add("update", 5 * kFloat * parameters, 6 * parameters);
  }
  return out.take();
}

std::string fp32_warning(const Network& network, std::uint64_t batch, const BitPair& bits,
                         const VectorOptions& options, double iteration_cycles) {
  std::vector<std::pair<double, std::string>> costs;
  double sum = 0;
  const auto add = [&](const std::string& name, const Network& one) {
    const double cycles = total(vector_work(one, batch, bits, options)).cycles;
    costs.emplace_back(cycles, name);
    sum += cycles;
  };
  for (const Layer& layer : network.layers) {
    if (layer.quantised) continue;
    Network one;
    one.layers = {layer};
    add(layer.name, one);
  }
  for (const VectorOp& op : network.vector_ops) {
    if (!op.sparse_parameters) continue;
    Network one;
    one.vector_ops = {op};
    add(op.name, one);
  }
  if (!(iteration_cycles > 0) || sum < 0.5 * iteration_cycles) return "";
  std::stable_sort(costs.begin(), costs.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string names;
  constexpr std::size_t kNamed = 3;
  for (std::size_t i = 0; i < std::min(costs.size(), kNamed); ++i) {
    names += fmt::format("{}{} {:.0f} %", i == 0 ? "" : ", ", costs[i].second,
                         100 * costs[i].first / iteration_cycles);
  }
  return fmt::format(
      "FP32 layers and embeddings take {:.0f} % of the iteration on the vector unit ({}{}): the "
      "schedule's bits change little.",
      100 * sum / iteration_cycles, names, costs.size() > kNamed ? ", ..." : "");
}

}  // namespace bitcycle
