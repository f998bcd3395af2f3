#include "model/machine/memory.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "golden/counter_random.hpp"
#include "golden/error.hpp"

namespace bitcycle {
namespace {

constexpr std::int64_t kNoBurst = -2;  // equals no fault's number

}  // namespace

void StallSpec::validate() const {
  const auto check = [](const char* channel, double p) {
    if (std::isfinite(p) && p >= 0 && p <= kMostStall) return;
    throw input_error("", 0, fmt::format("stall probability of {}", channel), fmt::format("{}", p),
                      fmt::format("0 to {}", kMostStall));
  };
  check("ar", ar);
  check("r", r);
  check("aw", aw);
  check("w", w);
  check("b", b);
}

Memory::Memory(int dw, std::unique_ptr<MemoryTimer> timer, std::uint64_t content_seed)
    : beat_bytes_(static_cast<std::size_t>(dw) / 8),
      timer_(std::move(timer)),
      store_(content_seed),
      data_((beat_bytes_ + 7) / 8),
      last_w_(data_.size()) {
  if (dw < 8 || dw > 1024 || (dw & (dw - 1)) != 0) {
    throw input_error("", 0, "dw", std::to_string(dw), "a power of two from 8 to 1024");
  }
  read_.rdata = data_.data();
  drive();
}

void Memory::stall(const StallSpec& spec) {
  spec.validate();
  const double p[] = {spec.ar, spec.r, spec.aw, spec.w, spec.b};
  stalling_ = false;
  for (std::size_t i = 0; i < threshold_.size(); ++i) {
    threshold_[i] = static_cast<std::uint64_t>(std::llround(std::ldexp(p[i], 32)));
    stalling_ = stalling_ || threshold_[i] != 0;
  }
  seed_ = spec.seed;
  drive();
}

bool Memory::withhold(Channel channel) const {
  return stalling_ && (counter_random(seed_, channel, cycle_) >> 32U) < threshold_[channel];
}

std::uint8_t Memory::fault(bool is_read, std::uint64_t address, std::int64_t burst) const {
  for (const MemoryFault& f : faults_) {
    if (!(is_read ? f.reads : f.writes)) continue;
    const bool inside = address + beat_bytes_ > f.first && address <= f.last && f.first <= f.last;
    if (inside || f.burst == burst) return f.response;
  }
  return kAxiOkay;
}

// What stands in cycle_. R and B keep standing once they do; ready signals may come and go.
void Memory::drive() {
  held_ = {};
  const bool r_stood = read_.rvalid;
  const bool b_stood = write_.bvalid;
  const auto let = [&](Channel channel, bool would, bool stood) {
    if (!would) return false;
    if (!stood && withhold(channel)) {
      held_[channel] = true;
      return false;
    }
    return true;
  };
  read_.arready = let(kAr, true, false);
  const bool have = !beats_.empty() && cycle_ * 256 >= beats_.front().ready;
  read_.rvalid = let(kR, have, r_stood);
  if (read_.rvalid && !r_stood) {
    const ReadBeat& beat = beats_.front();
    read_.rlast = beat.last;
    read_.rresp = beat.response;
    if (beat.response == kAxiOkay) {
      store_.read(beat.address, data_.data(), beat_bytes_);
    } else {
      std::fill(data_.begin(), data_.end(), 0);
    }
  }
  write_.awready = let(kAw, true, false);
  write_.wready = let(kW, !bursts_.empty() && timer_->can_write(cycle_), false);
  write_.bvalid = let(kB, !responses_.empty() && cycle_ >= responses_.front().from, b_stood);
  if (write_.bvalid) write_.bresp = responses_.front().response;
}

void Memory::step(const AxiReadReq& read_req, const AxiWriteReq& write_req) {
  check(read_req, write_req);
  const auto count = [&](Channel channel, bool wanted) {
    if (held_[channel] && wanted) ++withheld_;
  };
  count(kAr, read_req.arvalid);
  count(kR, true);
  count(kAw, write_req.awvalid);
  count(kW, write_req.wvalid);
  count(kB, true);

  if (read_.rvalid && read_req.rready) {
    beats_.pop_front();
    read_.rvalid = false;  // the next beat stands anew
    ++traffic_.read_beats;
  }
  if (write_.bvalid && write_req.bready) {
    responses_.pop_front();
    write_.bvalid = false;
  }
  if (write_.wready && write_req.wvalid) {
    WriteBurst& burst = bursts_.front();
    const bool last = --burst.left == 0;
    std::uint8_t response = burst.whole ? burst.response : fault(false, burst.address, kNoBurst);
    if (response == kAxiOkay) {
      store_.write(burst.address, write_req.wdata, beat_bytes_);
    } else {
      burst.response = response;
    }
    const std::uint64_t from = timer_->write(cycle_, burst.address, last);
    burst.address += beat_bytes_;
    ++traffic_.write_beats;
    if (last) {
      responses_.push_back({from, burst.response});
      bursts_.pop_front();
    }
  }
  if (read_.arready && read_req.arvalid) {
    const unsigned beats = read_req.arlen + 1U;
    ready_.clear();
    timer_->read(cycle_, read_req.araddr, beats, ready_);
    for (unsigned i = 0; i < beats; ++i) {
      const std::uint64_t address = read_req.araddr + i * beat_bytes_;
      beats_.push_back({address, ready_[i],
                        fault(true, address, static_cast<std::int64_t>(traffic_.read_bursts)),
                        i + 1 == beats});
    }
    ++traffic_.read_bursts;
  }
  if (write_.awready && write_req.awvalid) {
    WriteBurst burst;
    burst.address = write_req.awaddr;
    burst.left = write_req.awlen + 1U;
    for (const MemoryFault& f : faults_) {
      if (f.writes && f.burst == static_cast<std::int64_t>(traffic_.write_bursts)) {
        burst.whole = true;
        burst.response = f.response;
      }
    }
    bursts_.push_back(burst);
    ++traffic_.write_bursts;
  }
  ++cycle_;
  drive();
}

void Memory::abandon() {
  beats_.clear();
  bursts_.clear();
  responses_.clear();
  read_.rvalid = write_.bvalid = false;
  waiting_ar_ = waiting_aw_ = waiting_w_ = false;
  drive();
}

// ------------------------------------------------------------------ rules for the master

void Memory::forbid(const std::string& what) {
  if (violation_.empty()) violation_ = fmt::format("cycle {}: {}", cycle_, what);
}

void Memory::check_burst(const char* channel, std::uint64_t address, unsigned beats) {
  if (address > kAxiAddressMask) forbid(fmt::format("{}: address {:#x}", channel, address));
  if (address % beat_bytes_ != 0) {
    forbid(fmt::format("{}: address {:#x} is not that of a beat", channel, address));
  }
  const std::uint64_t end = address + std::uint64_t{beats} * beat_bytes_ - 1;
  if (address / kAxiPage != end / kAxiPage) {
    forbid(fmt::format("{}: {} beats from {:#x} cross 4 KB", channel, beats, address));
  }
}

void Memory::check(const AxiReadReq& r, const AxiWriteReq& w) {
  const auto stable = [&](const char* channel, bool waiting, bool valid, bool same) {
    if (waiting && !valid) forbid(fmt::format("{}: valid fell before the handshake", channel));
    if (waiting && valid && !same) {
      forbid(fmt::format("{}: payload changed before the handshake", channel));
    }
  };
  stable("AR", waiting_ar_, r.arvalid,
         r.araddr == last_read_.araddr && r.arlen == last_read_.arlen);
  stable("AW", waiting_aw_, w.awvalid,
         w.awaddr == last_write_.awaddr && w.awlen == last_write_.awlen);
  stable("W", waiting_w_, w.wvalid,
         w.wlast == last_write_.wlast &&
             (!w.wvalid || std::memcmp(w.wdata, last_w_.data(), beat_bytes_) == 0));
  if (r.arvalid && !waiting_ar_) check_burst("AR", r.araddr, r.arlen + 1U);
  if (w.awvalid && !waiting_aw_) check_burst("AW", w.awaddr, w.awlen + 1U);
  if (w.wvalid && write_.wready && w.wlast != (bursts_.front().left == 1)) {
    forbid(fmt::format("W: last is {} with {} beats to go", w.wlast, bursts_.front().left));
  }
  waiting_ar_ = r.arvalid && !read_.arready;
  waiting_aw_ = w.awvalid && !write_.awready;
  waiting_w_ = w.wvalid && !write_.wready;
  last_read_ = r;
  last_write_ = w;
  if (waiting_w_) std::memcpy(last_w_.data(), w.wdata, beat_bytes_);
}

}  // namespace bitcycle
