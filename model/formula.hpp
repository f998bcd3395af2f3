// Cycles and events of one GEMM on the array in closed form: equal to the RTL, exactly.
#pragma once

#include <cstdint>

#include "golden/types.hpp"
#include "model/array_config.hpp"

namespace bitcycle {

/// One matrix product as the array runs it: the shape and both operands.
struct Descriptor {
  Gemm gemm;
  Precision a;
  Precision w;
};

/// The timing law of one descriptor, term by term (all in cycles unless said otherwise).
/// T = c0 + F + (Kc-1)*Cc + P + (tiles-1)*Ct + (S-1) + Dr; source: the pipeline of rtl/bc_array.sv,
/// checked against it cycle for cycle in tests/sim.
struct GemmTiming {
  std::uint64_t digit_pairs = 0;  ///< per chunk: ceil(pa/RA)*ceil(pw/RW)
  std::uint64_t passes = 0;       ///< pairs of 8-bit super-digits per chunk
  std::uint64_t p = 0;            ///< cycles of a chunk's passes: sum of max(na_i*nw_j, S)
  std::uint64_t fa = 0, fw = 0;   ///< fill of the A and W chunk registers
  std::uint64_t f = 0;            ///< max(fa, fw)
  std::uint64_t kc = 0;           ///< chunks: ceil(K/KL) (a count)
  std::uint64_t cc = 0;           ///< cycles per chunk in steady state: max(P, F)
  std::uint64_t dr = 0;           ///< cycles of a tile's drain: ceil(TM*TN/Q)
  std::uint64_t ct = 0;           ///< cycles per tile in steady state: max(Kc*Cc, Dr)
  std::uint64_t tiles = 0;        ///< ceil(M/TM)*ceil(N/TN) (a count)
  std::uint64_t c0 = 0;           ///< start-up and pipeline registers
  std::uint64_t cycles = 0;       ///< T: from this descriptor's acceptance to the next one's
  std::uint64_t steady = 0;       ///< tiles*Ct: the law without its constants
};

/// Event counts of one descriptor; each is counted by the RTL too and compared.
/// "ones" is the work of the ones row and ones column (sum(W) and sum(A)).
struct GemmEvents {
  std::uint64_t digit_cycles = 0;  ///< cycles in which a digit pair is issued
  std::uint64_t idle_cycles = 0;   ///< idle cycles inside passes (rule R2)
  std::uint64_t ac_adds = 0;       ///< PE-cycles in which a chunk accumulator adds
  std::uint64_t ac_adds_ones = 0;
  std::uint64_t acc_flushes = 0;  ///< additions (or loads) into wide accumulators
  std::uint64_t acc_flushes_ones = 0;
  std::uint64_t a_words_read = 0;  ///< operand-buffer words (KL bits) read = chunk words written
  std::uint64_t w_words_read = 0;
  std::uint64_t results = 0;          ///< M*N results drained
  std::uint64_t drain_beats = 0;      ///< cycles in which the drain reads
  std::uint64_t digit_products = 0;   ///< lane digit products in enabled PEs: ac_adds*KL
  std::uint64_t useful_products = 0;  ///< M*N*K*digit_pairs: of these, products of real elements
  std::uint64_t lane_slots = 0;       ///< cycles*TM*TN*KL: what the array could have issued
  std::uint64_t idle_lanes = 0;       ///< lane_slots - useful_products
};

/// Digits of super-digit `index` (0 = least significant) of a `bits`-wide operand at `radix`.
int super_digit_digits(int bits, int radix, int index);

/// Throws InputError unless M, N, K >= 1 (below 2^32) and 1 <= bits <= P_MAX for both operands:
/// what the RTL refuses with a cause.
void check_descriptor(const ArrayConfig& config, const Descriptor& d);

/// Exact cycles. Throws InputError for an illegal descriptor or if a count exceeds 64 bits.
GemmTiming gemm_timing(const ArrayConfig& config, const Descriptor& d);

/// Exact event counts. Throws as gemm_timing.
GemmEvents gemm_events(const ArrayConfig& config, const Descriptor& d);

}  // namespace bitcycle
