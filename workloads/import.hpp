// Networks that other tools describe: ONNX, SCALE-Sim topologies, Timeloop problems.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bitcycle {

/// How a convolution whose last window hangs over the edge ends.
enum class OutputSize { kFloor, kCeil };

struct ImportOptions {
  std::uint64_t batch = 0;                      ///< 0 = as the file says
  OutputSize output_size = OutputSize::kFloor;  ///< SCALE-Sim only: kCeil is its own rule
  bool ignore_sparsity = false;    ///< count sparse layers as dense; otherwise they are refused
  bool allow_unsupported = false;  ///< ONNX: unknown operators are zero work, with a warning
  std::map<std::string, std::uint64_t> dims;  ///< ONNX: sizes of named dimensions
};

}  // namespace bitcycle
