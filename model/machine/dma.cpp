#include "model/machine/dma.hpp"

#include <algorithm>

#include "model/machine/control.hpp"

namespace bitcycle {
namespace {

constexpr std::uint32_t kMask24 = 0xffffff;

layout::MachineCause bus_cause(bool decode_error) {
  return decode_error ? layout::MachineCause::kDecerr : layout::MachineCause::kSlverr;
}

}  // namespace

// ------------------------------------------------------------------------------------------ fetch
FetchUnit::FetchUnit(const MachineConfig& config)
    : out_(static_cast<std::uint8_t>(config.out)), walker_(config.dw, config.burst) {}

AxiReadReq FetchUnit::axi(const Inputs& in) const {
  return {arvalid(in), walker_.address(), walker_.length(), in.busy};
}

FetchUnit::Write FetchUnit::write(const Inputs& in) const {
  return {in.axi.rvalid && in.busy, target_, l1_addr_, in.axi.rdata};
}

bool FetchUnit::done(const Inputs& in) const {
  return in.axi.rvalid && in.busy && in.axi.rlast && !walker_.valid() && outstanding_ == 1;
}

layout::MachineCause FetchUnit::error(const Inputs& in) const {
  if (bad_ != 0) return bus_cause(dec_ != 0);
  if (in.axi.rvalid && in.busy && (in.axi.rresp & 2U) != 0) {
    return bus_cause((in.axi.rresp & 1U) != 0);
  }
  return layout::MachineCause::kNone;
}

void FetchUnit::step(const Inputs& in) {
  const bool asked = arvalid(in);
  const bool ar_take = asked && in.axi.arready;
  const bool r_take = in.axi.rvalid && in.busy;
  const bool burst_end = r_take && in.axi.rlast;
  outstanding_ = static_cast<std::uint8_t>(outstanding_ + (ar_take ? 1 : 0) - (burst_end ? 1 : 0));
  held_ = asked && !in.axi.arready ? 1 : 0;
  if (in.start) {
    const Transfer transfer = Transfer::decode(in.inst);
    walker_.step(true, transfer, ar_take);
    bad_ = dec_ = 0;
    target_ = static_cast<std::uint8_t>(
        get_bits(in.inst, static_cast<std::size_t>(layout::kFetchTarget.bit), 1));
    l1_addr_ = transfer.buffer;
    return;
  }
  if (ar_take) walker_.step(false, {}, true);
  if (r_take) {
    l1_addr_ = (l1_addr_ + 1) & kMask24;
    if ((in.axi.rresp & 2U) != 0 && bad_ == 0) {
      bad_ = 1;
      dec_ = in.axi.rresp & 1U;
    }
  }
}

void FetchUnit::reset() {
  walker_.reset();
  outstanding_ = held_ = bad_ = dec_ = 0;
}

void FetchUnit::list(const std::string& prefix, std::vector<RegisterView>& out) {
  list_register(out, prefix + ".outstanding_q", outstanding_, ceil_log2(out_) + 1);
  list_register(out, prefix + ".held_q", held_, 1);
  list_register(out, prefix + ".target_q", target_, 1);
  list_register(out, prefix + ".l1_addr_q", l1_addr_, 24);
  list_register(out, prefix + ".bad_q", bad_, 1);
  list_register(out, prefix + ".dec_q", dec_, 1);
  walker_.list(prefix + ".u_burst", out);
}

// ------------------------------------------------------------------------------------------ store
StoreUnit::StoreUnit(const MachineConfig& config)
    : dw_(config.dw),
      out_(static_cast<std::uint8_t>(config.out)),
      walker_(config.dw, config.burst),
      len_(static_cast<std::size_t>(config.out), 0),
      wdata_(static_cast<std::size_t>(config.dw + 63) / 64, 0) {}

AxiWriteReq StoreUnit::axi(const Inputs& in) const {
  return {awvalid(in),  walker_.address(), walker_.length(),
          wvalid_ != 0, wlast_ != 0,       wdata_.data(),
          true};
}

layout::MachineCause StoreUnit::error(const Inputs& in) const {
  if (bad_ != 0) return bus_cause(dec_ != 0);
  if (in.axi.bvalid && (in.axi.bresp & 2U) != 0) return bus_cause((in.axi.bresp & 1U) != 0);
  return layout::MachineCause::kNone;
}

void StoreUnit::step(const Inputs& in) {
  const bool asked = awvalid(in);
  const bool aw_take = asked && in.axi.awready;
  const bool load = aw_ahead_ != 0 && (wvalid_ == 0 || in.axi.wready);
  const bool load_last = load && beat_ == len_[rd_];
  outstanding_ =
      static_cast<std::uint8_t>(outstanding_ + (aw_take ? 1 : 0) - (in.axi.bvalid ? 1 : 0));
  held_ = asked && !in.axi.awready ? 1 : 0;
  aw_ahead_ = static_cast<std::uint8_t>(aw_ahead_ + (aw_take ? 1 : 0) - (load_last ? 1 : 0));
  if (aw_take) {
    len_[wr_] = walker_.length();
    wr_ = static_cast<std::uint8_t>((wr_ + 1) & (out_ - 1));
  }
  if (load_last) rd_ = static_cast<std::uint8_t>((rd_ + 1) & (out_ - 1));
  if (load) {
    wvalid_ = 1;
    wlast_ = load_last ? 1 : 0;
    beat_ = load_last ? 0 : static_cast<std::uint8_t>(beat_ + 1);
    std::copy(in.ob_data, in.ob_data + wdata_.size(), wdata_.begin());
  } else if (in.axi.wready) {
    wvalid_ = 0;
  }
  if (in.start) {
    const Transfer transfer = Transfer::decode(in.inst);
    walker_.step(true, transfer, aw_take);
    bad_ = dec_ = 0;
    ob_addr_ = transfer.buffer;
    return;
  }
  if (aw_take) walker_.step(false, {}, true);
  if (load) ob_addr_ = (ob_addr_ + 1) & kMask24;
  if (in.axi.bvalid && (in.axi.bresp & 2U) != 0 && bad_ == 0) {
    bad_ = 1;
    dec_ = in.axi.bresp & 1U;
  }
}

void StoreUnit::reset() {
  walker_.reset();
  outstanding_ = held_ = aw_ahead_ = rd_ = wr_ = beat_ = 0;
  wvalid_ = wlast_ = bad_ = dec_ = 0;
}

void StoreUnit::list(const std::string& prefix, std::vector<RegisterView>& out) {
  const int count_bits = ceil_log2(out_) + 1;
  const int pointer_bits = std::max(1, ceil_log2(out_));
  list_register(out, prefix + ".outstanding_q", outstanding_, count_bits);
  list_register(out, prefix + ".held_q", held_, 1);
  list_register(out, prefix + ".aw_ahead_q", aw_ahead_, count_bits);
  list_register(out, prefix + ".rd_q", rd_, pointer_bits);
  list_register(out, prefix + ".wr_q", wr_, pointer_bits);
  list_register(out, prefix + ".beat_q", beat_, 8);
  list_register(out, prefix + ".ob_addr_q", ob_addr_, 24);
  list_register(out, prefix + ".wvalid_q", wvalid_, 1);
  list_register(out, prefix + ".wlast_q", wlast_, 1);
  list_register(out, prefix + ".bad_q", bad_, 1);
  list_register(out, prefix + ".dec_q", dec_, 1);
  out.push_back({prefix + ".len_q", len_.data(), len_.size(), 1, 8});
  out.push_back(
      {prefix + ".wdata_q", wdata_.data(), 1, wdata_.size() * 8, static_cast<std::size_t>(dw_)});
  walker_.list(prefix + ".u_burst", out);
}

}  // namespace bitcycle
