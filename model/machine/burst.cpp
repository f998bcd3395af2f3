#include "model/machine/burst.hpp"

#include <algorithm>

#include "model/machine/axi.hpp"
#include "model/machine/control.hpp"

namespace bitcycle {
namespace {

std::uint64_t field(const std::uint64_t* words, layout::Field f) {
  return get_bits(words, static_cast<std::size_t>(f.bit), static_cast<std::size_t>(f.width));
}

// One decoder serves both instructions.
static_assert(layout::kFetchDram.bit == layout::kStoreDram.bit &&
              layout::kFetchLineBeats.bit == layout::kStoreLineBeats.bit &&
              layout::kFetchN0.bit == layout::kStoreN0.bit &&
              layout::kFetchN1.bit == layout::kStoreN1.bit &&
              layout::kFetchN2.bit == layout::kStoreN2.bit &&
              layout::kFetchBuffer.bit == layout::kStoreBuffer.bit &&
              layout::kFetchStride0.bit == layout::kStoreStride0.bit &&
              layout::kFetchStride1.bit == layout::kStoreStride1.bit &&
              layout::kFetchStride2.bit == layout::kStoreStride2.bit &&
              layout::kFetchWords == layout::kStoreWords);

}  // namespace

Transfer Transfer::decode(const std::uint64_t* words) {
  Transfer t;
  t.dram = field(words, layout::kFetchDram);
  t.line_beats = static_cast<std::uint32_t>(field(words, layout::kFetchLineBeats));
  t.n0 = static_cast<std::uint16_t>(field(words, layout::kFetchN0));
  t.n1 = static_cast<std::uint16_t>(field(words, layout::kFetchN1));
  t.n2 = static_cast<std::uint16_t>(field(words, layout::kFetchN2));
  t.buffer = static_cast<std::uint32_t>(field(words, layout::kFetchBuffer));
  t.stride0 = static_cast<std::uint32_t>(field(words, layout::kFetchStride0));
  t.stride1 = static_cast<std::uint32_t>(field(words, layout::kFetchStride1));
  t.stride2 = static_cast<std::uint32_t>(field(words, layout::kFetchStride2));
  return t;
}

layout::MachineCause Transfer::check(int dw) const {
  if (line_beats == 0 || n0 == 0 || n1 == 0 || n2 == 0) return layout::MachineCause::kCountZero;
  if ((dram & static_cast<std::uint64_t>(dw / 8 - 1)) != 0) {
    return layout::MachineCause::kUnaligned;
  }
  return layout::MachineCause::kNone;
}

BurstWalker::BurstWalker(int dw, int burst)
    : shift_(static_cast<unsigned>(ceil_log2(static_cast<std::uint64_t>(dw) / 8))),
      burst_(static_cast<std::uint32_t>(burst)) {}

std::uint32_t BurstWalker::cap() const {
  const auto page = static_cast<std::uint32_t>((kAxiPage - (addr_ & (kAxiPage - 1))) >> shift_);
  return std::min(page, burst_);
}

std::uint64_t BurstWalker::ahead(std::uint64_t from, std::uint32_t stride) const {
  const auto step = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(stride)});
  return (from + (step << shift_)) & kAxiAddressMask;
}

void BurstWalker::step(bool load, const Transfer& transfer, bool next) {
  if (load) {
    valid_ = 1;
    addr_ = line0_ = line1_ = line2_ = transfer.dram;
    rem_ = line_ = transfer.line_beats;
    left0_ = n0_ = transfer.n0;
    left1_ = n1_ = transfer.n1;
    left2_ = transfer.n2;
    stride0_ = transfer.stride0;
    stride1_ = transfer.stride1;
    stride2_ = transfer.stride2;
    return;
  }
  if (!next) return;
  if (rem_ > cap()) {
    const std::uint32_t taken = cap();
    addr_ = (addr_ + (std::uint64_t{taken} << shift_)) & kAxiAddressMask;
    rem_ -= taken;
    return;
  }
  rem_ = line_;
  if (left0_ != 1) {
    addr_ = line0_ = ahead(line0_, stride0_);
    --left0_;
    return;
  }
  left0_ = n0_;
  if (left1_ != 1) {
    addr_ = line0_ = line1_ = ahead(line1_, stride1_);
    --left1_;
    return;
  }
  left1_ = n1_;
  if (left2_ == 1) valid_ = 0;
  addr_ = line0_ = line1_ = line2_ = ahead(line2_, stride2_);
  --left2_;
}

void BurstWalker::list(const std::string& prefix, std::vector<RegisterView>& out) {
  list_register(out, prefix + ".valid_q", valid_, 1);
  list_register(out, prefix + ".addr_q", addr_, 40);
  list_register(out, prefix + ".line0_q", line0_, 40);
  list_register(out, prefix + ".line1_q", line1_, 40);
  list_register(out, prefix + ".line2_q", line2_, 40);
  list_register(out, prefix + ".rem_q", rem_, 32);
  list_register(out, prefix + ".line_q", line_, 32);
  list_register(out, prefix + ".stride0_q", stride0_, 32);
  list_register(out, prefix + ".stride1_q", stride1_, 32);
  list_register(out, prefix + ".stride2_q", stride2_, 32);
  list_register(out, prefix + ".left0_q", left0_, 16);
  list_register(out, prefix + ".left1_q", left1_, 16);
  list_register(out, prefix + ".left2_q", left2_, 16);
  list_register(out, prefix + ".n0_q", n0_, 16);
  list_register(out, prefix + ".n1_q", n1_, 16);
}

}  // namespace bitcycle
