// A compiled convolution's data: codes into DRAM, results out of it, in golden_conv's order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "golden/conv.hpp"
#include "model/machine/plan.hpp"

namespace bitcycle {

/// Code of element (img, y, x, c) of a channel-last image tensor; `codes` must outlive it.
CodeAt image_code(const std::vector<std::int32_t>& codes, std::uint64_t h, std::uint64_t w,
                  std::uint64_t c);
/// The same for weights W[cout][kh][kw][cin/groups] laid out as a tensor.
CodeAt weight_code(const std::vector<std::int32_t>& codes, const ConvShape& shape);

/// Writes both operands (sizes and order as golden_conv takes them) at their layouts' addresses;
/// `dram` must reach so far. Throws InputError if a size is wrong or a code does not fit.
void pack_conv(const Plan& plan, const std::vector<std::int32_t>& first,
               const std::vector<std::int32_t>& second, std::vector<std::uint8_t>& dram);

/// Index of element (r, c) of a raw output block in golden_conv's order, of a dX as GEMM in the
/// order [batch*ho*wo][kh][kw][cin]; nothing for lanes that carry no channel of the group.
std::optional<std::size_t> golden_index(const GemmProblem& problem, const OutputBlock& block,
                                        std::uint64_t r, std::uint64_t c);

/// Raw results with sums of one or several plans that make up a job (the phases of dX), as
/// golden_conv returns them. Of a dX as GEMM: value[batch*ho*wo][kh][kw][cin] before col2im,
/// sum_a[batch*ho*wo][groups].
class ConvResults {
 public:
  /// Throws InputError if the job's results are codes.
  explicit ConvResults(const ConvJob& job);
  void read(const Plan& plan, const std::vector<std::uint8_t>& dram);
  /// Throws InputError if an element is missing or was there twice.
  ConvSums take();

 private:
  ConvJob job_;
  ConvSums out_;
  std::vector<char> values_, sums_a_, sums_w_;  // seen
  bool twice_ = false;
};

/// Reads the results of a plan with raw output and sums: what golden_conv returns. Throws
/// InputError if an element is missing or lies there twice, or the plan's results are no raw ones.
ConvSums unpack_conv(const Plan& plan, const std::vector<std::uint8_t>& dram);

}  // namespace bitcycle
