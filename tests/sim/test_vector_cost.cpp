// Vector work by hand: every rule of docs/vector-work.md.
#include <catch2/catch.hpp>
#include <map>

#include "golden/error.hpp"
#include "sim/vector_cost.hpp"
#include "workloads/graph.hpp"
#include "workloads/network_file.hpp"

namespace {

using namespace bitcycle;

std::map<std::string, VectorWork> by_kind(const std::vector<VectorWork>& work) {
  std::map<std::string, VectorWork> out;
  for (const VectorWork& w : work) CHECK(out.emplace(w.kind, w).second);
  return out;
}

// 3x3 convolution, 2 -> 4 channels on 5x5 with a border: X 50, W 72, Y 100 elements a sample.
Network one_layer() {
  Network n;
  n.name = "one";
  Layer l;
  l.name = "conv";
  l.cin = 2;
  l.cout = 4;
  l.hi = l.wi = 5;
  l.kh = l.kw = 3;
  l.pad_h = l.pad_w = 1;
  n.layers = {l};
  return n;
}

constexpr double kX = 2 * 50, kW = 72, kY = 2 * 100;  // batch 2

TEST_CASE("vector work of a quantised convolution by hand", "[vector]") {
  VectorOptions options;
  options.per_channel_weights = false;
  const auto work = by_kind(vector_work(one_layer(), 2, {3, 8}, options));
  CHECK(work.size() == 4);
  // Extremes: read once, two comparisons. G is Y's size.
  CHECK(work.at("extremes").bytes == 4 * (kX + kW + kY));
  CHECK(work.at("extremes").ops == 2 * (kX + kW + kY));
  // Codes: 4 bytes in, 3 or 8 bits out; noise on G is one more addition.
  CHECK(work.at("quantise").bytes == Approx((4 + 3 / 8.0) * (kX + kW) + 5 * kY));
  CHECK(work.at("quantise").ops == 5 * (kX + kW) + 6 * kY);
  // Sums in (4 bytes), FP32 out (4 bytes): Y, dX, dW.
  CHECK(work.at("results").bytes == 8 * (kY + kX + kW));
  CHECK(work.at("results").ops == 6 * kY + 4 * kX + 6 * kW);
  CHECK(work.at("update").bytes == 5 * 4 * kW);
  CHECK(work.at("update").ops == 6 * kW);
}

TEST_CASE("vector work of scales for each output channel by hand", "[vector]") {
  const auto work = by_kind(vector_work(one_layer(), 2, {3, 8}, {}));
  CHECK(work.size() == 6);
  CHECK(work.at("fold scales").bytes == 8 * kY);
  CHECK(work.at("fold scales").ops == kY);
  // The folded G is quantised too.
  CHECK(work.at("extremes").bytes == 4 * (kX + kW + 2 * kY));
  CHECK(work.at("quantise").ops == 5 * (kX + kW) + 12 * kY);
  // 2 samples of 5x5 positions, a dot product over 4 channels, added to 9 taps.
  CHECK(work.at("zero points of W").bytes == 4 * (kY + 50));
  CHECK(work.at("zero points of W").ops == 2 * kY + 9 * 50);
}

TEST_CASE("48-bit results move six bytes, a validation pass does no backward work", "[vector]") {
  VectorOptions options;
  options.result_bits = 48;
  CHECK(by_kind(vector_work(one_layer(), 2, {3, 8}, options)).at("results").bytes ==
        10 * (kY + kX + kW));
  options.backward = false;
  const auto work = by_kind(vector_work(one_layer(), 2, {3, 8}, options));
  CHECK(work.size() == 3);
  CHECK(work.at("extremes").ops == 2 * (kX + kW));
  CHECK(work.at("results").bytes == 10 * kY);
}

TEST_CASE("FP32 layers are MACs on the vector unit", "[vector]") {
  Network n = one_layer();
  n.layers[0].quantised = false;
  const auto work = by_kind(vector_work(n, 2, {3, 8}, {}));
  CHECK(work.size() == 2);
  const double macs = 2 * 4 * 25 * 2 * 9;
  CHECK(work.at("fp32 layers").ops == 3 * 2 * macs);
  CHECK(work.at("fp32 layers").bytes == 3 * 4 * (kX + kW + kY));
  CHECK(work.at("update").ops == 6 * kW);
}

TEST_CASE("a product of activations has no update and no scales of channels", "[vector]") {
  Network n = one_layer();
  Layer& l = n.layers[0];
  l = Layer();
  l.name = "scores";
  l.kind = LayerKind::kMatmul;
  l.hi = 6;
  l.cin = 8;
  l.cout = 10;
  l.groups = 2;
  const auto work = by_kind(vector_work(n, 3, {4, 8}, {}));
  CHECK(work.count("update") == 0);
  CHECK(work.count("fold scales") == 0);
  CHECK(work.count("zero points of W") == 0);
  // A: 6x8, B: two heads of 4x5, C: 6x10 for each of three samples.
  CHECK(work.at("extremes").ops == 2 * 3 * (48 + 40 + 60));
}

TEST_CASE("a norm reads its input twice, other operators once", "[vector]") {
  Network n = one_layer();
  n.layers.clear();
  VectorOp norm;
  norm.op = "batch-norm";
  norm.elements_in = norm.elements_out = 100;
  norm.parameters = 8;
  norm.forward_ops = 700;
  norm.backward_ops = 1100;
  VectorOp pool;
  pool.op = "max-pool";
  pool.elements_in = 100;
  pool.elements_out = 25;
  pool.indices = 25;
  pool.forward_ops = 75;
  pool.backward_ops = 25;
  n.vector_ops = {norm, pool};
  const auto work = by_kind(vector_work(n, 2, {3, 8}, {}));
  CHECK(work.size() == 3);
  CHECK(work.at("batch-norm").bytes == 4 * (2 * 200 + 200 + 8) + 4 * (2 * (200 + 200) + 200 + 8));
  CHECK(work.at("batch-norm").ops == 2 * (700 + 1100));
  CHECK(work.at("max-pool").bytes == 4 * (200 + 50 + 50) + 4 * (50 + 200 + 200 + 50));
  CHECK(work.at("max-pool").ops == 2 * (75 + 25));
  CHECK(work.at("update").bytes == 20 * 8);
  CHECK(work.at("update").ops == 6 * 8);
}

// One operator of a small network, per sample: bytes and operations of forward and backward.
std::map<std::string, VectorWork> of_yaml(const std::string& nodes, bool backward) {
  const std::string yaml = "network: n\nnodes:\n  - input: {channels: 6, height: 4}\n" + nodes;
  Network n = build_network(expand_network(parse_network_file(yaml, "n.yaml")));
  n.layers.clear();
  VectorOptions options;
  options.backward = backward;
  return by_kind(vector_work(n, 2, {3, 8}, options));
}

TEST_CASE("a branch point reads every gradient and writes their sum", "[vector]") {
  // x (24 elements, trained through fc) is read by a, b and the sum; batch 2.
  const std::string nodes =
      "  - dense: {name: fc, channels: 6}\n"
      "  - activation: {name: a, kind: tanh}\n"
      "  - activation: {name: b, kind: sigmoid, inputs: fc}\n"
      "  - add: {name: sum, inputs: [a, b, fc]}\n";
  CHECK(of_yaml(nodes, false).at("gradient-sum").bytes == 0);
  const auto work = of_yaml(nodes, true);
  CHECK(work.at("gradient-sum").bytes == 4 * 2 * (3 * 24 + 24));
  CHECK(work.at("gradient-sum").ops == 2 * 2 * 24);
  // Three tensors in, one out; the gradient is that of all three inputs as it is.
  CHECK(work.at("add").bytes == 4 * 2 * (3 * 24 + 24));
  CHECK(work.at("add").ops == 2 * 2 * 24);
}

TEST_CASE("operators that need no saved input, by hand", "[vector]") {
  // Forward 24 in and 24 out with 6 parameters; backward the gradient is read, 6 sums are written.
  const auto bias = of_yaml("  - dense: {name: fc, channels: 6, bias: true}\n", true);
  CHECK(bias.at("bias").bytes == 4 * (2 * (24 + 24) + 6) + 4 * (2 * 24 + 6));
  CHECK(bias.at("bias").ops == 2 * (24 + 24));
  // 24 in, mask and 24 out; backward mask and gradient in, 24 out.
  const auto dropout = of_yaml("  - activation: {name: d, kind: dropout}\n", true);
  CHECK(dropout.at("dropout").bytes == 2 * 4 * 2 * 3 * 24);
  const auto pool = of_yaml("  - pool: {name: p, kind: average, kernel_h: 2, kernel_w: 1}\n", true);
  CHECK(pool.at("average-pool").bytes == 4 * 2 * (24 + 12) * 2);
  const auto up = of_yaml("  - upsample: {name: u}\n", true);
  CHECK(up.at("upsample").bytes == 4 * 2 * (24 + 96) * 2);
}

TEST_CASE("an embedding reads its rows, not its table", "[vector]") {
  const std::string yaml =
      "network: n\nnodes:\n  - input: {channels: 1, height: 4}\n"
      "  - embedding: {name: e, channels: 6, vocabulary: 1000}\n";
  Network n = build_network(expand_network(parse_network_file(yaml, "n.yaml")));
  VectorOptions options;
  options.backward = false;
  // 4 rows of 6 in and out for each of two samples, 4 tokens read.
  CHECK(by_kind(vector_work(n, 2, {3, 8}, options)).at("embedding").bytes == 2 * 4 * (24 + 24 + 4));
  options.backward = true;
  const auto work = by_kind(vector_work(n, 2, {3, 8}, options));
  // Backward: gradient and rows in, rows out, 6000 zeros.
  CHECK(work.at("embedding").bytes ==
        2 * 4 * (24 + 24 + 4) + 2 * 4 * (24 + 24 + 24 + 4) + 4 * 6000);
  CHECK(work.at("update").bytes == 20 * 6000);
}

TEST_CASE("time is the slower of bytes and operations, pass by pass", "[vector]") {
  VectorUnit unit;
  unit.bytes_per_cycle = 8;
  unit.ops_per_cycle = 2;
  CHECK(vector_cycles(80, 10, unit) == 10);
  CHECK(vector_cycles(8, 10, unit) == 5);
  // Passes do not overlap: a kind's time is not the maximum of its sums.
  VectorOptions options;
  options.unit = {100, 1};
  options.per_channel_weights = false;
  const auto work = by_kind(vector_work(one_layer(), 2, {3, 8}, options));
  CHECK(work.at("update").cycles == 6 * kW);
  options.unit = {4, 1.2};
  const auto mixed = by_kind(vector_work(one_layer(), 2, {3, 8}, options));
  // Y, dX, dW: bytes take 2 cycles an element; operations 5, 3.33 and 5.
  CHECK(mixed.at("results").cycles == Approx(5 * kY + kX * 4 / 1.2 + 5 * kW));
  const VectorWork all = total(vector_work(one_layer(), 2, {3, 8}, options));
  double cycles = 0;
  for (const auto& [kind, w] : mixed) cycles += w.cycles;
  CHECK(all.cycles == Approx(cycles));
}

TEST_CASE("FP32 work that dominates an iteration is named", "[vector]") {
  Network n = one_layer();
  n.layers.push_back(n.layers[0]);
  n.layers[1].name = "head";
  n.layers[1].quantised = false;
  Network head;
  head.layers = {n.layers[1]};
  const double cycles = total(vector_work(head, 2, {3, 8}, {})).cycles;
  CHECK(fp32_warning(n, 2, {3, 8}, {}, cycles * 2.01).empty());
  const std::string text = fp32_warning(n, 2, {3, 8}, {}, cycles * 1.25);
  CHECK(text.find("80 %") != std::string::npos);
  CHECK(text.find("head 80 %") != std::string::npos);
  CHECK(text.find("conv") == std::string::npos);
}

TEST_CASE("vector work of no sample is refused", "[vector]") {
  CHECK_THROWS_AS(vector_work(one_layer(), 0, {3, 8}, {}), InputError);
}

}  // namespace
