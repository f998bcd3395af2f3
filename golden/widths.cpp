#include "golden/widths.hpp"

#include <algorithm>

namespace bitcycle {
namespace {

int ceil_log2(std::uint64_t value) {
  int bits = 0;
  while (bits < 64 && (static_cast<u128>(1) << bits) < value) ++bits;
  return bits;
}

void check_reduction(std::uint64_t k) {
  if (k == 0) throw input_error("", 0, "K", "0", "at least 1");
}

}  // namespace

void check_precision(Precision p, const std::string& what) {
  if (p.bits >= 1 && p.bits <= kMaxOperandBits) return;
  throw input_error("", 0, what + " bits", std::to_string(p.bits),
                    "1 to " + std::to_string(kMaxOperandBits));
}

void check_accumulator_width(int acc_w) {
  if (acc_w >= 1 && acc_w <= kMaxAccumulatorBits) return;
  throw input_error("", 0, "acc_w", std::to_string(acc_w),
                    "1 to " + std::to_string(kMaxAccumulatorBits));
}

std::int32_t code_min(Precision p) {
  check_precision(p, "operand");
  return p.is_signed ? -(1 << (p.bits - 1)) : 0;
}

std::int32_t code_max(Precision p) {
  check_precision(p, "operand");
  return (1 << (p.is_signed ? p.bits - 1 : p.bits)) - 1;
}

int accumulator_bits(Precision a, Precision w, std::uint64_t k) {
  check_precision(a, "A");
  check_precision(w, "W");
  check_reduction(k);
  return a.bits + w.bits + ceil_log2(k) + (!a.is_signed && !w.is_signed ? 1 : 0);
}

bool fits_always(Precision a, Precision w, std::uint64_t k, int acc_w) {
  check_precision(a, "A");
  check_precision(w, "W");
  check_reduction(k);
  check_accumulator_width(acc_w);
  // A product is bilinear, so its extremes lie at the corners of the code ranges. They straddle
  // zero or touch it, or (1-bit operands) a zero code exists: shorter sums are never larger.
  i128 least = 0;
  i128 most = 0;
  for (const i128 code_a : {code_min(a), code_max(a)}) {
    for (const i128 code_w : {code_min(w), code_max(w)}) {
      least = std::min(least, code_a * code_w);
      most = std::max(most, code_a * code_w);
    }
  }
  return fits_width(least * static_cast<i128>(k), acc_w) &&
         fits_width(most * static_cast<i128>(k), acc_w);
}

}  // namespace bitcycle
