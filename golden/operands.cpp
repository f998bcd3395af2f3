#include "golden/operands.hpp"

#include <vector>

#include "golden/counter_random.hpp"
#include "golden/error.hpp"
#include "golden/widths.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kMaxDimension = 0x7FFFFFFF;
constexpr std::uint64_t kTensorA = 0;
constexpr std::uint64_t kTensorW = 1;

// Every code of a rows x k matrix from code(row, k).
template <typename Code>
CodeMatrix fill(std::uint64_t rows, std::uint64_t k, Code code) {
  CodeMatrix codes(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(k));
  std::int32_t* out = codes.data();
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t i = 0; i < k; ++i) *out++ = code(row, i);
  }
  return codes;
}

CodeMatrix constant(std::uint64_t rows, std::uint64_t k, std::int32_t code) {
  return CodeMatrix::Constant(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(k), code);
}

CodeMatrix uniform(std::uint64_t rows, std::uint64_t k, Precision p, std::uint64_t seed,
                   std::uint64_t tensor) {
  return fill(rows, k, [=](std::uint64_t row, std::uint64_t i) {
    const std::uint64_t random = counter_random(seed, tensor, row * k + i);
    return code_of(static_cast<std::uint32_t>(random >> 32), p);
  });
}

CodeMatrix one_hot(std::uint64_t rows, std::uint64_t k, Precision p, std::uint64_t seed) {
  return fill(rows, k, [=](std::uint64_t row, std::uint64_t i) {
    const std::uint64_t random = counter_random(seed, kTensorA, row);
    if (i != (random >> 8) % k) return 0;
    return code_of(1U << ((random & 0xFFU) % static_cast<unsigned>(p.bits)), p);
  });
}

CodeMatrix alternating(std::uint64_t rows, std::uint64_t k, Precision p, std::uint64_t period) {
  const std::int32_t least = code_min(p);
  const std::int32_t most = code_max(p);
  return fill(rows, k, [=](std::uint64_t row, std::uint64_t i) {
    return (i / period + row) % 2 == 0 ? least : most;
  });
}

bool has_negatives(Precision p) { return p.is_signed && p.bits >= 2; }

std::int32_t code_of_size_one(Precision p) { return code_max(p) > 0 ? 1 : -1; }

// The part of a cancelling pair of operands that keeps its sign (`flips` false) or changes it in
// the second half. Codes are in the upper quarter of the range, different in each row and lane.
CodeMatrix cancelling(std::uint64_t rows, std::uint64_t k, Precision p, std::uint64_t seed,
                      std::uint64_t tensor, bool flips) {
  const std::uint64_t half = (k - 1) / 2;
  // A 1-bit signed operand has only 0 and -1: its largest magnitude is that of the minimum.
  const std::int32_t largest = code_max(p) > 0 ? code_max(p) : code_min(p);
  const auto spread = static_cast<std::uint64_t>(largest > 0 ? largest / 4 + 1 : 1);
  return fill(rows, k, [=](std::uint64_t row, std::uint64_t i) {
    if (i > 2 * half) return 0;
    // Only the operand that has both signs may vary the sign of the last product.
    if (half == 0 || i == 2 * half) return flips && row % 2 == 1 ? -1 : code_of_size_one(p);
    const std::uint64_t random = counter_random(seed, tensor, row * k + i % half);
    const auto code =
        static_cast<std::int32_t>(largest - static_cast<std::int64_t>(random % spread));
    return flips && i >= half ? -code : code;
  });
}

// Large codes of A on even k against zeros of W, and the reverse, then one product of +-1.
CodeMatrix disjoint(std::uint64_t rows, std::uint64_t k, Precision p, std::uint64_t parity) {
  const std::int32_t largest = code_max(p) > 0 ? code_max(p) : code_min(p);
  return fill(rows, k, [=](std::uint64_t /*row*/, std::uint64_t i) {
    if (i + 1 == k) return code_of_size_one(p);
    return i % 2 == parity ? largest : 0;
  });
}

Operands cancel(std::uint64_t m, std::uint64_t n, std::uint64_t k, Precision pa, Precision pw,
                std::uint64_t seed) {
  if (!has_negatives(pa) && !has_negatives(pw)) {
    return {disjoint(m, k, pa, 0), disjoint(n, k, pw, 1)};
  }
  const bool w_flips = has_negatives(pw);
  return {cancelling(m, k, pa, seed, kTensorA, !w_flips),
          cancelling(n, k, pw, seed, kTensorW, w_flips)};
}

void check_dimension(const char* name, std::uint64_t value) {
  if (value >= 1 && value <= kMaxDimension) return;
  throw input_error("", 0, name, std::to_string(value), "1 to " + std::to_string(kMaxDimension));
}

}  // namespace

std::string operand_pattern_name(OperandPattern pattern) {
  switch (pattern) {
    case OperandPattern::kUniform:
      return "uniform";
    case OperandPattern::kMinimum:
      return "minimum";
    case OperandPattern::kMaximum:
      return "maximum";
    case OperandPattern::kAllOnes:
      return "all-ones";
    case OperandPattern::kAlternating:
      return "alternating";
    case OperandPattern::kCancel:
      return "cancel";
    case OperandPattern::kZero:
      return "zero";
    case OperandPattern::kOneHot:
      return "one-hot";
  }
  return "";
}

OperandPattern operand_pattern_from_name(const std::string& name) {
  std::vector<std::string> known;
  for (const OperandPattern pattern : kOperandPatterns) {
    known.push_back(operand_pattern_name(pattern));
    if (known.back() == name) return pattern;
  }
  throw input_error("", 0, "operand pattern", "'" + name + "'" + suggestion(name, known),
                    join(known));
}

Operands make_operands(OperandPattern pattern, std::uint64_t m, std::uint64_t n, std::uint64_t k,
                       Precision pa, Precision pw, std::uint64_t seed) {
  check_precision(pa, "A");
  check_precision(pw, "W");
  check_dimension("M", m);
  check_dimension("N", n);
  check_dimension("K", k);
  switch (pattern) {
    case OperandPattern::kUniform:
      return {uniform(m, k, pa, seed, kTensorA), uniform(n, k, pw, seed, kTensorW)};
    case OperandPattern::kMinimum:
      return {constant(m, k, code_min(pa)), constant(n, k, code_min(pw))};
    case OperandPattern::kMaximum:
      return {constant(m, k, code_max(pa)), constant(n, k, code_max(pw))};
    case OperandPattern::kAllOnes:
      return {constant(m, k, code_of(~0U, pa)), constant(n, k, code_of(~0U, pw))};
    case OperandPattern::kAlternating:
      return {alternating(m, k, pa, 1), alternating(n, k, pw, 2)};
    case OperandPattern::kCancel:
      return cancel(m, n, k, pa, pw, seed);
    case OperandPattern::kZero:
      break;
    case OperandPattern::kOneHot:
      return {one_hot(m, k, pa, seed), uniform(n, k, pw, seed, kTensorW)};
  }
  return {constant(m, k, 0), constant(n, k, 0)};
}

}  // namespace bitcycle
