#include "sim/compare_losses.hpp"

namespace bitcycle {

const char* to_string(SlotUse use) {
  switch (use) {
    case SlotUse::kUseful:
      return "useful bit products";
    case SlotUse::kPadding:
      return "zero padding of convolutions";
    case SlotUse::kDigitRounding:
      return "bits rounded up to whole digits";
    case SlotUse::kShortReduction:
      return "short reductions (K leftover lanes)";
    case SlotUse::kEdgeTiles:
      return "leftover tiles (M, N edges)";
    case SlotUse::kPassIdle:
      return "passes shorter than S";
    case SlotUse::kFillStall:
      return "waiting for chunk registers";
    case SlotUse::kDrainBound:
      return "tiles shorter than their drain";
    case SlotUse::kStartEnd:
      return "start, last flush and drain";
  }
  return "";
}

SlotCounts& SlotCounts::operator+=(const SlotCounts& other) {
  for (std::size_t i = 0; i < kSlotUses; ++i) slots[i] += other.slots[i];
  return *this;
}

SlotCounts SlotCounts::operator*(std::uint64_t times) const {
  SlotCounts out = *this;
  for (auto& s : out.slots) s *= times;
  return out;
}

u128 SlotCounts::total() const {
  u128 sum = 0;
  for (const u128 s : slots) sum += s;
  return sum;
}

SlotCounts count_slots(const ArrayConfig& config, const Descriptor& descriptor, const GemmTiming& t,
                       std::uint64_t count, std::uint64_t macs_useful) {
  const auto u = [](int value) { return static_cast<u128>(value); };
  const Gemm& g = descriptor.gemm;
  const u128 bits = u(descriptor.a.bits) * u(descriptor.w.bits);
  const u128 digit_bits = u128{t.digit_pairs} * u(config.ra) * u(config.rw);  // per MAC
  const u128 pes = u(config.tm) * u(config.tn);
  const u128 mn = u128{g.m} * g.n;
  const u128 macs = mn * g.k * count;
  const u128 per_cycle = config.bitops_per_cycle();

  SlotCounts s;
  s[SlotUse::kUseful] = macs_useful * bits;
  s[SlotUse::kPadding] = (macs - macs_useful) * bits;
  s[SlotUse::kDigitRounding] = macs * (digit_bits - bits);
  s[SlotUse::kShortReduction] = mn * (u128{t.kc} * u(config.kl) - g.k) * digit_bits * count;
  s[SlotUse::kEdgeTiles] = (t.tiles * pes - mn) * t.kc * u(config.kl) * digit_bits * count;
  // The law of model/formula.hpp, term by term: of T, tiles*Kc*digit_pairs cycles issue digits.
  const u128 chunks = u128{t.tiles} * t.kc;
  s[SlotUse::kPassIdle] = chunks * (t.p - t.digit_pairs) * per_cycle * count;
  s[SlotUse::kFillStall] = (chunks - 1) * (t.cc - t.p) * per_cycle * count;
  s[SlotUse::kDrainBound] = u128{t.tiles - 1} * (t.ct - t.kc * t.cc) * per_cycle * count;
  const u128 rest = u128{t.cycles} - chunks * t.p - (chunks - 1) * (t.cc - t.p) -
                    u128{t.tiles - 1} * (t.ct - t.kc * t.cc);
  s[SlotUse::kStartEnd] = rest * per_cycle * count;
  return s;
}

}  // namespace bitcycle
