// More bandwidth, lower latency and fewer bits never cost cycles where blocking is chosen anew, and
// two samples together are not dearer than one after the other. Larger buffers may, by what kNoise
// says and no more: the mappings that come into question are searched for the buffers at hand, and
// results of groups leave together as far as the output buffer holds them.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "sim/machine_cost.hpp"

namespace bitcycle {
namespace {

struct Case {
  std::string array = "ci-4x4-s1";
  Network network;
  std::uint64_t batch = 2;
};

Layer layer(const char* name, std::uint64_t cin, std::uint64_t cout, std::uint64_t size,
            std::uint64_t kernel, std::uint64_t stride, std::uint64_t pad,
            std::uint64_t groups = 1) {
  Layer l;
  l.name = name;
  l.cin = cin;
  l.cout = cout;
  l.hi = l.wi = size;
  l.kh = l.kw = kernel;
  l.stride_h = l.stride_w = stride;
  l.pad_h = l.pad_w = pad;
  l.groups = groups;
  return l;
}

Network some_layers() {
  Network n;
  n.name = "layers";
  n.layers = {
      layer("3x3", 16, 16, 16, 3, 1, 1),          layer("3x3 stride 2", 32, 64, 16, 3, 2, 1),
      layer("3x3 deep", 64, 64, 8, 3, 1, 1),      layer("1x1", 64, 32, 8, 1, 1, 0),
      layer("1x1 stride 2", 32, 64, 16, 1, 2, 0), layer("7x7", 3, 16, 32, 7, 2, 3),
      layer("depthwise", 32, 32, 8, 3, 1, 1, 32), layer("grouped", 64, 64, 8, 3, 1, 1, 4),
      layer("dense", 256, 100, 1, 1, 1, 0)};
  return n;
}

constexpr GemmKind kKinds[] = {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw};

MachineCostOptions options_of(const std::string& array) {
  MachineCostOptions o;
  o.machine = machine_for(resolve_array(array));
  o.memory.latency = 40;
  o.memory.write_latency = 20;
  o.memory.read_cost = 512;
  o.memory.write_cost = 512;
  return o;
}

constexpr double kNoise = 0.06;

// Pairs (worse, better) in which the better machine takes longer.
struct Verdict {
  int compared = 0;
  double worst = 0;
  std::vector<std::string> dearer;
  void compare(const std::string& what, std::uint64_t worse, std::uint64_t better) {
    ++compared;
    if (better > worse) {
      worst = std::max(worst, static_cast<double>(better - worse) / static_cast<double>(worse));
      dearer.push_back(
          fmt::format("{}: {} -> {} cycles (+{:.2f} %)", what, worse, better,
                      100.0 * static_cast<double>(better - worse) / static_cast<double>(worse)));
    }
  }
};

// All GEMMs of all layers; `set(options, bits, step)` makes the machine better from step to step.
using Set = std::function<void(MachineCostOptions&, IterationBits&, int)>;
void sweep(Verdict& verdict, const char* what, const std::string& array, int steps,
           const Set& set) {
  const Network network = some_layers();
  std::vector<std::uint64_t> before;
  for (int step = 0; step < steps; ++step) {
    MachineCostOptions options = options_of(array);
    IterationBits bits{4, 4, 8};
    set(options, bits, step);
    MachineCost cost(options);
    std::vector<std::uint64_t> now;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
      for (const GemmKind kind : kKinds) {
        now.push_back(cost.gemm(network, l, kind, 2, bits).cycles);
        if (step > 0) {
          verdict.compare(fmt::format("{} {} step {}: {} {}", array, what, step,
                                      network.layers[l].name, to_string(kind)),
                          before[now.size() - 1], now.back());
        }
      }
    }
    before = now;
  }
}

void report(const Verdict& verdict) {
  for (const std::string& d : verdict.dearer) UNSCOPED_INFO(d);
  WARN(verdict.compared << " pairs compared, " << verdict.dearer.size() << " dearer, at most by "
                        << fmt::format("{:.2f} %", 100 * verdict.worst));
}

void speed_and_bits(const std::string& array) {
  Verdict verdict;
  sweep(verdict, "read bandwidth", array, 4,
        [](MachineCostOptions& o, IterationBits&, int s) { o.memory.read_cost = 2048U >> s; });
  sweep(verdict, "write bandwidth", array, 4,
        [](MachineCostOptions& o, IterationBits&, int s) { o.memory.write_cost = 2048U >> s; });
  sweep(verdict, "latency", array, 4, [](MachineCostOptions& o, IterationBits&, int s) {
    constexpr std::uint64_t kLatency[] = {400, 100, 20, 1};
    o.memory.latency = o.memory.write_latency = kLatency[s];
  });
  sweep(verdict, "all bits", array, 8,
        [](MachineCostOptions&, IterationBits& b, int s) { b.a = b.w = b.g = 8 - s; });
  sweep(verdict, "forward bits", array, 7,
        [](MachineCostOptions&, IterationBits& b, int s) { b.a = b.w = 8 - s, b.g = 8; });
  sweep(verdict, "gradient bits", array, 5,
        [](MachineCostOptions&, IterationBits& b, int s) { b.g = 8 - s; });
  report(verdict);
  CHECK(verdict.dearer.empty());
}

void buffers(const std::string& array) {
  Verdict verdict;
  sweep(verdict, "operand buffers", array, 4, [](MachineCostOptions& o, IterationBits&, int s) {
    o.machine.l1a_d = o.machine.l1w_d = 512 << s;
  });
  sweep(verdict, "output buffer", array, 4,
        [](MachineCostOptions& o, IterationBits&, int s) { o.machine.ob_d = 512 << s; });
  sweep(verdict, "partial sums", array, 4,
        [](MachineCostOptions& o, IterationBits&, int s) { o.machine.ps_d = 64 << s; });
  report(verdict);
  CHECK(verdict.worst <= kNoise);
  // Exceptions, not the rule.
  CHECK(verdict.dearer.size() * 10 <= static_cast<std::size_t>(verdict.compared));
}

void batches(const std::string& array) {
  Verdict verdict;
  const Network network = some_layers();
  MachineCost cost(options_of(array));
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    for (const GemmKind kind : kKinds) {
      for (const std::uint64_t n : {1, 2, 4}) {
        const std::uint64_t one = cost.gemm(network, l, kind, n, {4, 4, 8}).cycles;
        verdict.compare(
            fmt::format("batch {} twice: {} {}", n, network.layers[l].name, to_string(kind)),
            2 * one, cost.gemm(network, l, kind, 2 * n, {4, 4, 8}).cycles);
      }
    }
  }
  report(verdict);
  CHECK(verdict.dearer.empty());
}

}  // namespace

TEST_CASE("machine monotone: fewer bits and a faster memory never cost cycles, ci-4x4-s1") {
  speed_and_bits("ci-4x4-s1");
}

TEST_CASE("machine monotone: fewer bits and a faster memory never cost cycles, ci-1x1-s4") {
  speed_and_bits("ci-1x1-s4");
}

TEST_CASE("machine monotone: larger buffers cost no cycles beyond the choice's noise") {
  buffers("ci-4x4-s1");
  buffers("ci-1x1-s4");
}

TEST_CASE("machine monotone: two samples are never dearer than one after the other") {
  batches("ci-4x4-s1");
  batches("ci-1x1-s4");
}

}  // namespace bitcycle
