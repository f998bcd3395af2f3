// A layer's GEMM as the compiler sees it: three index spaces, and how each operand's tensor is
// addressed from two of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "golden/conv.hpp"
#include "golden/requantise.hpp"
#include "golden/types.hpp"
#include "model/machine/machine_config.hpp"
#include "model/machine/tensor.hpp"

namespace bitcycle {

/// Sizes (or positions) along the three digits of an index space, outermost first.
using Index3 = std::array<std::int64_t, 3>;

/// One tensor coordinate as a linear function of an operand's own index space (the rows of the
/// first operand, the columns of the second) and of the reduction's.
struct Coordinate {
  std::int64_t offset = 0;
  Index3 own{0, 0, 0};
  Index3 k{0, 0, 0};
};

/// How one operand is read. In mode N the own space is the hardware's outer position and the
/// reduction its tap (ky, kx, granule); in mode T the reverse. A tap's granule stands for GL
/// elements of the reduction (mode N) or `br` rows (mode T).
struct OperandMap {
  bool transposed = false;
  Coordinate img, y, x, granule;
  bool check_y = false, check_x = false;  ///< coordinates that may leave the tensor: read as zero
  std::uint32_t lo = 0, hi = 0;           ///< lanes in use of the first and of the last granule
  std::uint32_t br = 1;                   ///< mode T
  std::uint64_t own_lanes = 0;  ///< mode T, one tap: rows in all (the last granule may be short)
};

/// Where results go as codes: position along one operand's own space, lanes along the other's.
struct OutputMap {
  bool lanes_of_first = false;  ///< lanes along the first operand's space (else the second's)
  Coordinate img, y, x;         ///< of the position; only `own` counts
  std::int64_t granule = 0;     ///< first granule
  bool lane_taps = false;       ///< the lanes' taps are the output's img and y (weights)
};

/// One product: a group, or a phase of dX.
struct GemmPart {
  Index3 rows{1, 1, 1}, cols{1, 1, 1}, ks{1, 1, 1};  ///< ks of 0: all results are zero
  OperandMap first, second;
  OutputMap out;
  std::uint64_t group = 0, phase_y = 0, phase_x = 0;
  std::uint32_t element = 0, element_row = 0;  ///< element number = element + row*element_row + col
};

enum class OutputForm : std::uint8_t { kRaw48, kRaw32, kCodes };

struct OutputSpec {
  OutputForm form = OutputForm::kRaw32;
  bool sums = true;         ///< raw forms: sums of both operands too
  bool transposed = false;  ///< codes of a matmul: store the transpose (x = column, c = row)
  Requantisation q;         ///< codes
};

/// A convolution layer's GEMM. For a transposed convolution exchange the passes: its forward pass
/// is kDx of the convolution whose input is the layer's output, its dX is kForward.
struct ConvJob {
  ConvShape shape;
  ConvPass pass = ConvPass::kForward;
  Precision first, second;  ///< operands as DESIGN lists them: X, W | G, W | G, X
  OutputSpec out;
  bool dx_as_gemm = false;  ///< kDx: P x kh*kw*Cg products for the host's col2im (raw only)
  /// kDx: only this phase (input rows phase_y + i*stride_h, columns likewise); raw only. -1: all,
  /// and they share what is fetched.
  int phase_y = -1, phase_x = -1;
};

/// C[m][n] = sum over k of A[m][k] * W[n][k], `batch` times. `a_columns`: A is stored as [k][m],
/// `w_columns`: W as [k][n]; else [m][k] and [n][k].
struct MatmulJob {
  std::uint64_t batch = 1, m = 1, n = 1, k = 1;
  bool a_columns = false, w_columns = false;
  Precision first, second;
  OutputSpec out;
};

/// What is compiled: `units` times a set of parts that share what is fetched. The extents are those
/// of the largest part.
class GemmProblem {
 public:
  GemmProblem(const MachineConfig& machine, const ConvJob& job);
  GemmProblem(const MachineConfig& machine, const MatmulJob& job);

  MachineConfig config;
  std::string name;  ///< "conv fwd" and so on, with the shape
  Precision pa, pw;  ///< of the first and second operand
  OutputSpec out;
  TensorLayout first, second;
  TensorLayout result;     ///< codes only
  bool k_granules = true;  ///< the reduction's last digit counts granules, not elements
  std::uint64_t units = 1;
  std::uint64_t parts_per_unit = 1;
  std::uint64_t useful_macs = 0;  ///< products of real elements, borders of zeros excluded
  std::uint64_t rows_total = 0, cols_total = 0;  ///< for element numbers
  /// Whether a space may be split at all, digit by digit.
  std::array<bool, 3> split_rows{true, true, true}, split_cols{true, true, true},
      split_ks{true, true, true};

  std::vector<GemmPart> parts(std::uint64_t unit) const;
  /// parts() of the first and of the last unit (which may have fewer).
  const std::vector<GemmPart>& first_unit() const { return first_unit_; }
  const std::vector<GemmPart>& last_unit() const { return last_unit_; }
  /// Largest extents over the parts of a unit.
  Index3 rows() const { return rows_; }
  Index3 cols() const { return cols_; }
  Index3 ks() const { return ks_; }

  bool is_conv() const { return is_conv_; }
  const ConvJob& conv() const { return conv_; }
  const MatmulJob& matmul() const { return matmul_; }

 private:
  void finish();
  GemmPart forward_part(std::uint64_t group) const;
  GemmPart dx_part(std::uint64_t group, std::uint64_t py, std::uint64_t px) const;
  GemmPart dx_gemm_part(std::uint64_t group) const;
  GemmPart dw_part(std::uint64_t group) const;
  GemmPart matmul_part(std::uint64_t head) const;
  std::uint64_t groups_per_unit() const;

  bool is_conv_ = true;
  ConvJob conv_;
  MatmulJob matmul_;
  Index3 rows_{1, 1, 1}, cols_{1, 1, 1}, ks_{1, 1, 1};
  std::vector<GemmPart> first_unit_, last_unit_;
};

/// Elements of the GEMM's index along a range of an operand's own space (sizes `n` from `start`).
std::uint64_t own_count(const OperandMap& map, const Index3& start, const Index3& n);

}  // namespace bitcycle
