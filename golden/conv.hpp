// Exact integer convolutions: the three GEMMs of a layer in plain loops, with the operand sums that
// affine codes need. Border positions are real zeros: they add nothing to any sum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bitcycle {

/// A two-dimensional convolution. Tensors are dense and channel-last: X[batch][hi][wi][cin],
/// W[cout][kh][kw][cin/groups], Y and its gradient G[batch][ho()][wo()][cout].
struct ConvShape {
  std::uint64_t batch = 1, cin = 1, hi = 1, wi = 1, cout = 1;
  std::uint64_t kh = 1, kw = 1;
  std::uint64_t stride_h = 1, stride_w = 1;
  std::uint64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  std::uint64_t dilation_h = 1, dilation_w = 1;
  std::uint64_t groups = 1;

  std::uint64_t ho() const;
  std::uint64_t wo() const;
  std::uint64_t cg() const { return cin / groups; }   ///< input channels of a group
  std::uint64_t og() const { return cout / groups; }  ///< output channels of a group
  std::uint64_t x_size() const { return batch * hi * wi * cin; }
  std::uint64_t w_size() const { return cout * kh * kw * cg(); }
  std::uint64_t y_size() const { return batch * ho() * wo() * cout; }
  /// Throws InputError: a size of 0, groups that do not divide, a kernel larger than the padded
  /// input, sizes whose product exceeds 2^40 elements.
  void validate() const;
};

/// Which of the three GEMMs.
enum class ConvPass : std::uint8_t { kForward, kDx, kDw };
std::string to_string(ConvPass pass);  ///< "fwd", "dx", "dw"

/// Integer results and operand sums of one pass.
///
/// kForward: operands X, W. value = Y[batch*ho*wo][cout]; sum_a[batch*ho*wo][groups] = sum of the X
/// codes inside the window; sum_w[cout] = sum of all W codes of the filter.
/// kDx: operands G, W. value = dX[batch*hi*wi][cin]; sum_a[batch*hi*wi][groups] = sum of the G
/// codes of every output that reads this input, once for each tap; sum_w[phases][cin] is not
/// defined here and left empty. kDw: operands G, X. value = dW[cout][kh*kw*cg]; sum_a[cout] = sum
/// of G; sum_w[groups][kh*kw*cg] = sum of the X codes that the tap meets.
struct ConvSums {
  std::vector<std::int64_t> value, sum_a, sum_w;
};

/// Exact for codes of at most 16 bits and reductions of at most 2^31 terms. Throws InputError if
/// the shape is not valid or an operand has not its size.
ConvSums golden_conv(ConvPass pass, const ConvShape& shape, const std::vector<std::int32_t>& first,
                     const std::vector<std::int32_t>& second);

}  // namespace bitcycle
