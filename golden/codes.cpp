#include "golden/codes.hpp"

#include "golden/widths.hpp"

namespace bitcycle {

void check_codes(const CodeMatrix& codes, Precision p, const std::string& name) {
  check_precision(p, name);
  if (codes.size() == 0) {
    throw input_error("", 0, name + " shape",
                      std::to_string(codes.rows()) + " x " + std::to_string(codes.cols()),
                      "at least 1 x 1");
  }
  const std::int32_t least = code_min(p);
  const std::int32_t most = code_max(p);
  if (codes.minCoeff() >= least && codes.maxCoeff() <= most) return;
  for (Eigen::Index row = 0; row < codes.rows(); ++row) {
    for (Eigen::Index col = 0; col < codes.cols(); ++col) {
      const std::int32_t code = codes(row, col);
      if (code >= least && code <= most) continue;
      throw input_error("", 0, name + "[" + std::to_string(row) + "][" + std::to_string(col) + "]",
                        std::to_string(code),
                        std::to_string(least) + " to " + std::to_string(most) + " (" +
                            std::to_string(p.bits) + " bits, " +
                            (p.is_signed ? "signed" : "unsigned") + ")");
    }
  }
}

}  // namespace bitcycle
