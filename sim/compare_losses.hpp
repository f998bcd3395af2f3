// Where the array's time goes: every bit-operation slot of a GEMM, useful or lost, by cause.
#pragma once

#include <array>
#include <cstddef>

#include "golden/checked.hpp"
#include "model/array_config.hpp"
#include "model/formula.hpp"

namespace bitcycle {

/// What a slot (one RA x RW product position of one lane in one cycle, in bit operations) did.
enum class SlotUse : std::size_t {
  kUseful,          ///< a bit product of real tensor elements
  kPadding,         ///< a product with a zero of the convolution's border
  kDigitRounding,   ///< bits that fill up the top digit (3 bits on 2-bit digits)
  kShortReduction,  ///< empty lanes of a last chunk: K is no multiple of KL
  kEdgeTiles,       ///< rows and columns of edge tiles beyond M or N
  kPassIdle,        ///< a pass shorter than the S PEs that share an accumulator (rule R2)
  kFillStall,       ///< waiting for chunk registers: F > P
  kDrainBound,      ///< tile shorter than its drain: Kc*Cc < Dr
  kStartEnd,        ///< start-up, first fill, last flush and drain of each descriptor
};
inline constexpr std::size_t kSlotUses = 9;

/// Short name for a report line.
const char* to_string(SlotUse use);

/// Bit-operation slots by use; the sum is cycles * TM*TN*KL*RA*RW, exactly.
struct SlotCounts {
  std::array<u128, kSlotUses> slots{};

  u128& operator[](SlotUse use) { return slots[static_cast<std::size_t>(use)]; }
  u128 operator[](SlotUse use) const { return slots[static_cast<std::size_t>(use)]; }
  SlotCounts& operator+=(const SlotCounts& other);
  /// `times` repetitions of the same work.
  SlotCounts operator*(std::uint64_t times) const;
  u128 total() const;
};

/// Slots of `count` equal descriptors whose products with real elements are `macs_useful` in sum.
SlotCounts count_slots(const ArrayConfig& config, const Descriptor& descriptor,
                       const GemmTiming& timing, std::uint64_t count, std::uint64_t macs_useful);

}  // namespace bitcycle
