#include "model/machine/regs.hpp"

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr std::uint32_t kId = 0x42435943;
constexpr std::uint32_t kVersion = 0x00010000;
constexpr std::uint8_t kEngineControl = 3;
constexpr std::uint64_t kMask48 = (std::uint64_t{1} << 48U) - 1;

std::uint32_t at(layout::Field field, std::uint64_t value) {
  const std::uint64_t mask = (std::uint64_t{1} << static_cast<unsigned>(field.width)) - 1;
  return static_cast<std::uint32_t>((value & mask) << static_cast<unsigned>(field.bit));
}

std::uint32_t at(layout::Field field, int value) {
  return at(field, static_cast<std::uint64_t>(value));
}

std::uint32_t half(std::uint64_t value, bool high) {
  return static_cast<std::uint32_t>(high ? value >> 32U : value);
}

}  // namespace

AxiLiteResp RegisterBlock::lite() const {
  return {aw_full_ == 0, w_full_ == 0, bvalid_ != 0, bresp_,
          rvalid_ == 0,  rvalid_ != 0, rdata_,       rresp_};
}

std::uint32_t RegisterBlock::write_mask() const {
  std::uint32_t mask = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    if ((wstrb_ >> byte & 1U) != 0) mask |= std::uint32_t{0xff} << 8 * byte;
  }
  return mask;
}

bool RegisterBlock::control_write(const Inputs& in, layout::Field field) const {
  return write(in) && awaddr_ == layout::kRegControl && (wdata_ & write_mask() & at(field, 1)) != 0;
}

bool RegisterBlock::clear(const Inputs& in) const {
  return control_write(in, layout::kRegControlClearCounters);
}

bool RegisterBlock::clear_extremes(const Inputs& in) const {
  return control_write(in, layout::kRegControlClearExtremes);
}

bool RegisterBlock::read(std::uint16_t address, const Inputs& in, std::uint32_t& value) const {
  using namespace layout;
  const ArrayConfig& a = c_.array;
  value = 0;
  switch (address) {
    case kRegId:
      value = kId;
      return true;
    case kRegVersion:
      value = kVersion;
      return true;
    case kRegParam0:
      value = at(kRegParam0Ra, a.ra) | at(kRegParam0Rw, a.rw) | at(kRegParam0Kl, a.kl);
      return true;
    case kRegParam1:
      value = at(kRegParam1Tm, a.tm) | at(kRegParam1Tn, a.tn) | at(kRegParam1S, a.s) |
              at(kRegParam1PMax, a.p_max);
      return true;
    case kRegParam2:
      value = at(kRegParam2Ba, a.ba) | at(kRegParam2Bw, a.bw);
      return true;
    case kRegParam3:
      value = at(kRegParam3AcW, a.ac_w) | at(kRegParam3AccW, a.acc_w) | at(kRegParam3Q, a.q);
      return true;
    case kRegParam4:
      value = at(kRegParam4Dw, c_.dw) | at(kRegParam4Gl, c_.gl) | at(kRegParam4Qd, c_.qd);
      return true;
    case kRegParam5:
      value = at(kRegParam5Out, c_.out) | at(kRegParam5Burst, c_.burst);
      return true;
    case kRegL1aD:
      value = static_cast<std::uint32_t>(c_.l1a_d);
      return true;
    case kRegL1wD:
      value = static_cast<std::uint32_t>(c_.l1w_d);
      return true;
    case kRegObD:
      value = static_cast<std::uint32_t>(c_.ob_d);
      return true;
    case kRegPsD:
      value = static_cast<std::uint32_t>(c_.ps_d);
      return true;
    case kRegControl:
      value = at(kRegControlEnable, enable_) | at(kRegControlSoftReset, soft_);
      return true;
    case kRegStatus:
      value =
          at(kRegStatusBusy, in.busy) | at(kRegStatusHalted, halt_ != 0 && in.busy == 0 ? 1 : 0) |
          at(kRegStatusQueueFull, in.queue_full) |
          at(kRegStatusDispatchBusy, in.dispatch_busy ? 1 : 0) |
          at(kRegStatusPushReady, mm_valid_ == 0 ? 1 : 0) | at(kRegStatusIdle, idle(in) ? 1 : 0) |
          at(kRegStatusSoftPending, soft_) | at(kRegStatusHalt, halt_);
      return true;
    case kRegError:
      value = at(kRegErrorCause, cause_) | at(kRegErrorEngine, engine_);
      return true;
    case kRegIrqEnable:
      value = irq_enable_;
      return true;
    case kRegIrqStatus:
      value = irq_;
      return true;
    case kRegWatchdog:
      value = limit_;
      return true;
    case kRegInstLo:
      value = inst_lo_;
      return true;
    case kRegInstHi:
      value = inst_hi_;
      return true;
    case kRegVminLow:
    case kRegVminHigh:
      value = half(snap_min_, address == kRegVminHigh);
      return true;
    case kRegVmaxLow:
    case kRegVmaxHigh:
      value = half(snap_max_, address == kRegVmaxHigh);
      return true;
    case kRegFlags:
      value = at(kRegFlagsOverflow, snap_overflow_);
      return true;
    case kRegCyclesLow:
    case kRegCyclesHigh:
      value = half(snap_cycles_, address == kRegCyclesHigh);
      return true;
    default:
      break;
  }
  const std::uint32_t token = (address - kRegF2e) / 4;
  if (address >= kRegF2e && token < in.tokens.size()) {
    value = in.tokens[token];
    return true;
  }
  const std::uint32_t word = (address - kRegFetchIdleLow) / 4;
  if (address >= kRegFetchIdleLow && word < 2 * snap_.size()) {
    value = half(snap_[word / 2], (word & 1U) != 0);
    return true;
  }
  return false;
}

void RegisterBlock::step(const Inputs& in) {
  // What the registers say before the edge.
  const bool writing = write(in);
  const bool go = soft(in);
  const bool clearing = clear(in);
  const bool snapshot = control_write(in, layout::kRegControlSnapshot);
  const bool soft_set = control_write(in, layout::kRegControlSoftReset);
  const bool taking_aw = in.lite.awvalid && aw_full_ == 0;
  const bool taking_w = in.lite.wvalid && w_full_ == 0;
  const bool done = ran_ != 0 && idle(in) && halt_ == 0;
  const bool active = in.busy != 0 || (in.queue_valid != 0 && enable_ != 0 && halt_ == 0);
  const bool expired = active && !in.progress && limit_ != 0 && stuck_ >= limit_ - 1;

  bool error = true;
  std::uint8_t cause = 0;
  std::uint8_t engine = kEngineControl;
  if ((in.err & 7U) != 0) {
    engine = (in.err & 1U) != 0 ? kFetchEngine : (in.err & 2U) != 0 ? kExecEngine : kStoreEngine;
    cause = in.err_cause[engine];
  } else if ((in.err & 8U) != 0) {
    cause = static_cast<std::uint8_t>(layout::MachineCause::kHeader);
  } else if ((in.err & 16U) != 0) {
    cause = static_cast<std::uint8_t>(layout::MachineCause::kTokenOverflow);
  } else if (expired) {
    cause = static_cast<std::uint8_t>(layout::MachineCause::kWatchdog);
  } else {
    error = false;
  }

  // Reads see the state before the edge.
  const bool reading = in.lite.arvalid && rvalid_ == 0;
  if (reading) {
    const bool known = read(in.lite.araddr & 0xffcU, in, rdata_);
    rresp_ = known ? kAxiOkay : kAxiSlvErr;
    rvalid_ = 1;
  } else if (in.lite.rready) {
    rvalid_ = 0;
  }

  if (snapshot) {
    snap_min_ = in.min;
    snap_max_ = in.max;
    snap_overflow_ = in.overflow ? 1 : 0;
    snap_cycles_ = cycles_;
    for (std::size_t e = 0; e < kEngines; ++e) {
      const EngineControl::Counters& counters = *in.counters[e];
      snap_[4 * e] = counters.idle;
      snap_[4 * e + 1] = counters.run;
      snap_[4 * e + 2] = counters.wait_in;
      snap_[4 * e + 3] = counters.wait_out;
    }
  }

  if (clearing || go || resetting_ != 0) {
    cycles_ = 0;
  } else if (enable_ != 0) {
    cycles_ = (cycles_ + 1) & kMask48;
  }
  resetting_ = go ? 1 : 0;

  const auto event =
      static_cast<std::uint8_t>(at(layout::kRegIrqStatusDone, done ? 1 : 0) |
                                at(layout::kRegIrqStatusError, error && halt_ == 0 ? 1 : 0) |
                                at(layout::kRegIrqStatusWatchdog, expired ? 1 : 0));

  // State of the core. A push is refused while the last one waits.
  const bool push_open = mm_valid_ == 0;
  if (go) {
    soft_ = halt_ = cause_ = engine_ = ran_ = mm_valid_ = 0;
    stuck_ = 0;
  } else {
    if (error && halt_ == 0) {
      halt_ = 1;
      cause_ = cause;
      engine_ = engine;
    }
    ran_ = in.pop != 0 || (ran_ != 0 && !done) ? 1 : 0;
    stuck_ = active && !in.progress && !expired ? stuck_ + 1 : 0;
    if (in.mm_ready) mm_valid_ = 0;
  }

  if (writing) {
    const std::uint32_t mask = write_mask();
    const std::uint32_t bits = wdata_ & mask;
    bool known = true;
    switch (awaddr_) {
      case layout::kRegControl:
        if ((wstrb_ & 1U) != 0) {
          enable_ = (wdata_ & at(layout::kRegControlEnable, 1)) != 0 ? 1 : 0;
        }
        if (soft_set) soft_ = 1;
        break;
      case layout::kRegIrqEnable:
        if ((wstrb_ & 1U) != 0) irq_enable_ = wdata_ & 7U;
        break;
      case layout::kRegIrqStatus:
        irq_ = static_cast<std::uint8_t>(irq_ & ~bits);
        break;
      case layout::kRegWatchdog:
        limit_ = (limit_ & ~mask) | bits;
        break;
      case layout::kRegInstLo:
        known = push_open;
        if (known) inst_lo_ = (inst_lo_ & ~mask) | bits;
        break;
      case layout::kRegInstHi:
        known = push_open;
        if (known) {
          inst_hi_ = (inst_hi_ & ~mask) | bits;
          mm_valid_ = 1;
        }
        break;
      default:
        known = false;
        break;
    }
    aw_full_ = w_full_ = 0;
    bvalid_ = 1;
    bresp_ = known ? kAxiOkay : kAxiSlvErr;
  } else {
    if (in.lite.awvalid) aw_full_ = 1;
    if (in.lite.wvalid) w_full_ = 1;
    if (in.lite.bready) bvalid_ = 0;
  }
  irq_ |= event;
  if (taking_aw) awaddr_ = in.lite.awaddr & 0xffcU;
  if (taking_w) {
    wdata_ = in.lite.wdata;
    wstrb_ = in.lite.wstrb & 0xfU;
  }
}

void RegisterBlock::reset() {
  aw_full_ = w_full_ = bvalid_ = bresp_ = rvalid_ = 0;
  enable_ = 1;
  irq_enable_ = irq_ = soft_ = halt_ = cause_ = engine_ = ran_ = resetting_ = mm_valid_ = 0;
  limit_ = stuck_ = inst_lo_ = inst_hi_ = 0;
  cycles_ = 0;
}

void RegisterBlock::list(const std::string& prefix, std::vector<RegisterView>& out) {
  const auto one = [&](const char* name, auto& value, int bits) {
    list_register(out, prefix + "." + name, value, bits);
  };
  one("aw_full_q", aw_full_, 1);
  one("w_full_q", w_full_, 1);
  one("bvalid_q", bvalid_, 1);
  one("rvalid_q", rvalid_, 1);
  one("awaddr_q", awaddr_, 12);
  one("wdata_q", wdata_, 32);
  one("rdata_q", rdata_, 32);
  one("wstrb_q", wstrb_, 4);
  one("bresp_q", bresp_, 2);
  one("rresp_q", rresp_, 2);
  one("enable_q", enable_, 1);
  one("irq_enable_q", irq_enable_, 3);
  one("limit_q", limit_, 32);
  one("irq_q", irq_, 3);
  one("soft_q", soft_, 1);
  one("halt_q", halt_, 1);
  one("cause_q", cause_, 4);
  one("engine_q", engine_, 2);
  one("ran_q", ran_, 1);
  one("resetting_q", resetting_, 1);
  one("stuck_q", stuck_, 32);
  one("cycles_q", cycles_, 48);
  one("mm_valid_q", mm_valid_, 1);
  one("inst_lo_q", inst_lo_, 32);
  one("inst_hi_q", inst_hi_, 32);
  one("snap_min_q", snap_min_, 64);
  one("snap_max_q", snap_max_, 64);
  one("snap_overflow_q", snap_overflow_, 1);
  one("snap_cycles_q", snap_cycles_, 48);
  for (std::size_t c = 0; c < snap_.size(); ++c) {
    list_register(out, fmt::format("{}.g_counter[{}].snap_q", prefix, c), snap_[c], 48);
  }
}

}  // namespace bitcycle
