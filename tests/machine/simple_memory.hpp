// The bandwidth-latency memory of docs/the-machine.md in its plainest form: the yardstick for the
// product's memory model, and a test memory of its own.
#pragma once

#include <cstring>
#include <deque>
#include <vector>

#include "model/machine/axi_memory.hpp"
#include "model/machine/recurrence.hpp"

namespace bitcycle {

class SimpleMemory final : public AxiMemory {
 public:
  SimpleMemory(int dw, std::size_t bytes, const MemoryTiming& timing)
      : beat_(static_cast<std::size_t>(dw) / 8), data_(bytes), timing_(timing) {
    buffer_.resize((beat_ + 7) / 8);
  }

  AxiReadResp read() const override {
    AxiReadResp r;
    r.arready = true;
    if (!reads_.empty() && now_ * 256 >= ready()) {
      r.rvalid = true;
      std::memcpy(buffer_.data(), data_.data() + at(reads_.front().address), beat_);
      r.rdata = buffer_.data();
      r.rlast = reads_.front().left == 1;
    }
    return r;
  }

  AxiWriteResp write() const override {
    AxiWriteResp w;
    w.awready = true;
    w.wready = now_ * 256 >= write_free_;
    w.bvalid = !responses_.empty() && now_ >= responses_.front();
    return w;
  }

  void step(const AxiReadReq& r, const AxiWriteReq& w) override {
    const AxiReadResp rr = read();
    const AxiWriteResp ww = write();
    if (rr.rvalid && r.rready) {
      read_free_ = ready() + timing_.read_cost;
      Burst& b = reads_.front();
      b.address += beat_;
      if (--b.left == 0) reads_.pop_front();
    }
    if (r.arvalid) reads_.push_back({r.araddr, r.arlen + 1U, now_ + timing_.latency});
    if (w.awvalid) writes_.push_back({w.awaddr, w.awlen + 1U, 0});
    if (ww.bvalid && w.bready) responses_.pop_front();
    if (ww.wready && w.wvalid) {
      write_free_ =
          std::max(write_free_, now_ == 0 ? 0 : (now_ - 1) * 256 + 1) + timing_.write_cost;
      Burst& b = writes_.front();
      std::memcpy(data_.data() + at(b.address), w.wdata, beat_);
      b.address += beat_;
      if (--b.left == 0) {
        writes_.pop_front();
        responses_.push_back(now_ + timing_.write_latency);
      }
    }
    ++now_;
  }

  void load(std::uint64_t address, const void* bytes, std::size_t count) override {
    std::memcpy(data_.data() + at(address), bytes, count);
  }
  void dump(std::uint64_t address, void* bytes, std::size_t count) const override {
    std::memcpy(bytes, data_.data() + at(address), count);
  }
  std::uint64_t withheld() const override { return 0; }

 private:
  struct Burst {
    std::uint64_t address;
    std::uint32_t left;
    std::uint64_t arrive;
  };
  std::size_t at(std::uint64_t address) const {
    return static_cast<std::size_t>(address) % data_.size();
  }
  // When the next beat is ready, in 1/256 cycle; delivered in the cycle at or after it.
  std::uint64_t ready() const { return std::max(reads_.front().arrive * 256, read_free_); }

  std::size_t beat_;
  std::vector<std::uint8_t> data_;
  MemoryTiming timing_;
  std::deque<Burst> reads_, writes_;
  std::deque<std::uint64_t> responses_;
  std::uint64_t now_ = 0, read_free_ = 0, write_free_ = 0;
  mutable std::vector<std::uint64_t> buffer_;
};

}  // namespace bitcycle
