// Work for gate-level simulation: operand data as networks have it, run on the cycle-accurate core.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "golden/operands.hpp"
#include "model/core.hpp"
#include "model/formula.hpp"

namespace bitcycle {

/// Statistics of operand codes.
enum class OperandData {
  kUniform,   ///< independent, uniform over the range
  kGauss,     ///< normal, the range being +-3 sigma around its middle (0 if signed), clipped
  kRelu,      ///< A: half-normal with 50 % zeros, range 3 sigma; W: as kGauss
  kSparse,    ///< A: as kRelu, 90 % zeros; W: as kGauss
  kLaplace,   ///< two-sided exponential around the middle, range 6 scales; never used in a fit
  kZero,      ///< every code 0
  kExtreme,   ///< smallest and largest code at random
  kConstant,  ///< every code the largest
};

const std::vector<OperandData>& all_operand_data();
std::string operand_data_name(OperandData data);
/// Throws InputError with a suggestion for an unknown name.
OperandData operand_data_from_name(const std::string& name);

/// Codes of A (m x k) and W (n x k); a function of the arguments only.
Operands make_data(OperandData data, std::uint64_t m, std::uint64_t n, std::uint64_t k,
                   Precision pa, Precision pw, std::uint64_t seed);

/// Codes of one operand (rows x k), ReLU and sparse statistics on either side; `tensor` tells
/// operands of one seed apart. A function of the arguments only.
CodeMatrix make_codes(OperandData data, std::uint64_t rows, std::uint64_t k, Precision precision,
                      std::uint64_t seed, std::uint64_t tensor);

/// One workload of a characterisation.
struct ActivityJob {
  OperandData data = OperandData::kUniform;
  std::optional<OperandData> w_data;  ///< of W; unset: as `data` has it for W
  int lanes = 8;                      ///< eighths of the lanes with elements; the rest are zero
  Precision a, w;
  std::uint64_t seed = 1;
  std::uint64_t cycles = 1024;  ///< at least so many, about
  bool idle = false;            ///< the array is clocked and has nothing to do
  /// Chunks of a tile and rows and columns of the last tiles; 0: two full tiles as long as
  /// `cycles`.
  std::uint64_t chunks = 0;
  int rows = 0, cols = 0;
  int stall = 0;  ///< operands are withheld with probability stall/256
  std::string label() const;
};

/// A small array whose PEs, chunk registers and accumulators are those of `config`: TM = S (at
/// least 2 rows), TN = 2, operand words per row and column as there.
ArrayConfig small_array(const ArrayConfig& config);

/// MACs that one PE does in run_activity.
std::uint64_t activity_macs(const ArrayConfig& array, const ActivityJob& job);

/// Runs the job on `core`, from a reset, and calls `seen` after every clock edge with the inputs of
/// the next one. The GEMM covers two tiles, or as many short ones as fill the cycles.
void run_activity(const ArrayConfig& array, ArrayCore& core, const ActivityJob& job,
                  const std::function<void(const ArrayStep&)>& seen);

}  // namespace bitcycle
