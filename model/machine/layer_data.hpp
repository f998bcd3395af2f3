// A layer's compiled products with their data, whatever way the compiler chose to run them: as one
// plan, phase by phase, in parts of the batch, expanded by the host, with col2im after it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "golden/conv.hpp"
#include "model/machine/compile.hpp"

namespace bitcycle {

/// Runs a plan: `dram` holds the operands at the plan's addresses, and afterwards its results.
using PlanRunner = std::function<void(const Plan&, std::vector<std::uint8_t>& dram)>;

/// Runs all plans of `layer` one after the other, with the host's part before and after them.
/// Operands and results in golden_conv's order; raw results with sums. Throws InputError for
/// operands of a wrong size, codes that do not fit, or results that are missing.
ConvSums run_conv(CompiledLayer& layer, const ConvJob& job, const std::vector<std::int32_t>& first,
                  const std::vector<std::int32_t>& second, const PlanRunner& run);

/// The same for products of matrices: first[batch][m][k] and second[batch][n][k] in this order,
/// whatever way they are stored; value[batch][m][n], sum_a[batch][m], sum_w[batch][n].
ConvSums run_matmul(Plan& plan, const std::vector<std::int32_t>& first,
                    const std::vector<std::int32_t>& second, const PlanRunner& run);

/// What run_matmul must give, in plain loops. Exact for codes of at most 16 bits and k below 2^31.
ConvSums golden_matmul(const MatmulJob& job, const std::vector<std::int32_t>& first,
                       const std::vector<std::int32_t>& second);

}  // namespace bitcycle
