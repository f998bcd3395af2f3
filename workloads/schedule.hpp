// Precision schedules: the ten of the CPT suite, static, and lists read from a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "golden/checked.hpp"

namespace bitcycle {

/// How many iterations one cycle has: T = floor(N/n), or floor(N/n)+1 as some published trainers.
enum class CycleLength { kFloor, kFloorPlusOne };

/// What a schedule is made from.
struct ScheduleSpec {
  std::string name = "CR";           ///< CR CT LR LT ER ETV ETH RR RTV RTH, or "static"
  int qmin = 3, qmax = 8;            ///< forward bits (W and A), 1..16, qmin <= qmax
  int grad_min = 8, grad_max = 8;    ///< gradient bits; equal = constant
  std::uint64_t cycles = 8;          ///< n, 1..iterations
  std::uint64_t iterations = 64000;  ///< N >= 1
  CycleLength cycle_length = CycleLength::kFloor;

  /// Throws InputError: unknown name (with a suggestion), bits out of 1..16, qmin > qmax,
  /// iterations 0 or over 2^53 (t would not be exact in a double), cycles 0 or more than
  /// iterations (not checked for "static", which has no cycles).
  void validate() const;
};

/// Forward and gradient bits of one iteration.
struct BitPair {
  int bits = 8;
  int grad_bits = 8;
  friend bool operator==(const BitPair& x, const BitPair& y) {
    return x.bits == y.bits && x.grad_bits == y.grad_bits;
  }
  friend bool operator<(const BitPair& x, const BitPair& y) {
    return x.bits != y.bits ? x.bits < y.bits : x.grad_bits < y.grad_bits;
  }
};

/// How often one bit pair occurs.
struct BitPairCount {
  BitPair pair;
  std::uint64_t iterations = 0;
};

/// All that a cost model needs of a schedule; its size does not depend on the iteration count.
struct ScheduleSummary {
  std::string name;
  std::string group;  ///< "static", "large", "medium", "small" saving, or "file"
  std::uint64_t iterations = 0;
  std::uint64_t cycle_iterations = 0;    ///< T; 0 for static and files
  std::uint64_t precision_switches = 0;  ///< t with a pair unlike that of t-1
  int first_bits = 0, last_bits = 0;     ///< forward bits at t = 0 and t = N-1
  std::vector<BitPairCount> pairs;       ///< ascending, each pair once, counts > 0

  u128 sum_bits() const;       ///< S1 = sum over t of b
  u128 sum_bits_sq() const;    ///< S2 = sum over t of b^2
  u128 sum_bits_grad() const;  ///< sum over t of b*g
  double mean_bits() const;    ///< S1/N; throws InputError if N is 0
  /// sum over t of b^2 + 2*b*g: BitOps per MAC of one GEMM triple (forward, dX, dW).
  u128 bitops_weight() const;
};

/// Names in the order of the report: static, then large, medium, small saving.
const std::vector<std::string>& schedule_names();

/// Bits at iteration t: rounds half to even as numpy.rint (DESIGN section 5). "static" stays at
/// qmax and grad_max. Throws InputError for t >= N and as ScheduleSpec::validate().
BitPair bits_at(const ScheduleSpec& spec, std::uint64_t t);

/// Exact counts, in time and memory that do not depend on N (all cycles of one direction are
/// alike; inside a cycle the bits are monotone, so borders are found by bisection).
ScheduleSummary summarise(const ScheduleSpec& spec);

/// Reads "iteration,bits,grad_bits" (header optional). A row holds from its iteration to the next
/// row's; the first must be 0. '#' starts a comment; blank lines, CRLF and a BOM are fine. Named
/// after the file. Throws InputError with file and line for anything else, lines over 4096
/// characters included.
ScheduleSummary read_schedule_csv(const std::string& path, std::uint64_t iterations);

/// Relative BitOps as published: mean(b^2 + 2 b g) / (bs^2 + 2 bs gs). Throws InputError for a
/// summary of no iterations or a baseline below 1 bit.
double relative_bitops(const ScheduleSummary& summary, const BitPair& baseline);

/// One term of the papers' notation: "3:8/8" = forward 3 to 8, gradient 8; "3:6/6:8" cycles the
/// gradient too; "8" or "8/8" is static.
struct BitRange {
  int qmin = 3, qmax = 8, grad_min = 8, grad_max = 8;
};

/// Parses "3:8/8,3:6/6"; `default_grad` is used where "/g" is missing. Throws InputError.
std::vector<BitRange> parse_bit_ranges(const std::string& text, int default_grad_min,
                                       int default_grad_max);

}  // namespace bitcycle
