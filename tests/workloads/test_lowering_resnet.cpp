// A whole network lowered: descriptors and array cycles of ResNet-74.
#include <algorithm>
#include <catch2/catch.hpp>

#include "golden/checked.hpp"
#include "tests/workloads/lowering_testing.hpp"
#include "workloads/network.hpp"

namespace bitcycle {
namespace {

// The array's law without its constants, of the preset serial-1x1 (16x16 PEs, 64 lanes, 1x1 digits,
// 8 PEs per accumulator, 8 words and 16 results a cycle).
std::uint64_t serial_cycles(const std::vector<TrainingGemm>& gemms, int bits, int grad) {
  std::uint64_t sum = 0;
  for (const TrainingGemm& gemm : gemms) {
    const auto pa = static_cast<std::uint64_t>(gemm.a == Width::kForward ? bits : grad);
    const auto pw = static_cast<std::uint64_t>(gemm.w == Width::kForward ? bits : grad);
    const std::uint64_t pass = std::max<std::uint64_t>(pa * pw, 8);
    const std::uint64_t fill = std::max(ceil_div(16 * pa, 8), ceil_div(16 * pw, 8));
    const std::uint64_t tile =
        std::max<std::uint64_t>(ceil_div(gemm.shape.k, 64) * std::max(pass, fill), 16);
    sum += gemm.count * ceil_div(gemm.shape.m, 16) * ceil_div(gemm.shape.n, 16) * tile;
  }
  return sum;
}

TEST_CASE("ResNet-74 at batch 128 gives the descriptors and cycles of the design",
          "[lowering][published]") {
  // Check values of the design, computed independently of this code.
  const auto gemms = training_gemms(make_network("resnet74-cifar10", Convention::kCptCifar), 128);
  const auto y = of_kind(gemms, GemmKind::kForward);
  const auto dx = of_kind(gemms, GemmKind::kDx);
  const auto dw = of_kind(gemms, GemmKind::kDw);
  CHECK(y.size() == 75);
  CHECK(dx.size() == 81);
  CHECK(dw.size() == 75);
  CHECK(issued(y) == std::uint64_t{168'214'528} * 128);
  CHECK(issued(dx) == issued(y));
  CHECK(issued(dw) == issued(y));
  CHECK(useful(dx) == useful(y));
  CHECK(useful(dw) == useful(y));
  CHECK(useful(y) < issued(y));
  CHECK(serial_cycles(y, 8, 8) == 97'386'496);
  CHECK(serial_cycles(dx, 8, 8) == 98'041'856);
  CHECK(serial_cycles(dw, 8, 8) == 84'148'224);
  CHECK(serial_cycles(y, 3, 8) == 13'795'328);
  CHECK(serial_cycles(dx, 3, 8) == 36'765'696);
  CHECK(serial_cycles(dw, 3, 8) == 31'555'584);
}

}  // namespace
}  // namespace bitcycle
