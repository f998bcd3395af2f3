// Sums over the GEMMs of an iteration.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/network.hpp"

namespace bitcycle {

/// A network of one layer.
inline Network network_of(const Layer& layer) {
  Network network;
  network.name = "one";
  network.layers = {layer};
  return network;
}

inline std::vector<TrainingGemm> of_kind(const std::vector<TrainingGemm>& gemms, GemmKind kind) {
  std::vector<TrainingGemm> out;
  for (const TrainingGemm& gemm : gemms) {
    if (gemm.kind == kind) out.push_back(gemm);
  }
  return out;
}

inline std::uint64_t issued(const std::vector<TrainingGemm>& gemms) {
  std::uint64_t sum = 0;
  for (const auto& gemm : gemms) sum += gemm.shape.m * gemm.shape.n * gemm.shape.k * gemm.count;
  return sum;
}

inline std::uint64_t useful(const std::vector<TrainingGemm>& gemms) {
  std::uint64_t sum = 0;
  for (const auto& gemm : gemms) sum += gemm.macs_useful * gemm.count;
  return sum;
}

}  // namespace bitcycle
