// The memory behind the machine's AXI ports: contents, timing, random stalls, injected errors.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/machine/axi_memory.hpp"
#include "model/machine/memory_store.hpp"
#include "model/machine/memory_timer.hpp"

namespace bitcycle {

/// Handshakes withheld at random. In each cycle in which the memory would drive a ready or valid,
/// it does not with the channel's probability (0 .. kMostStall); what it once said it keeps saying
/// until the handshake where AXI asks for that. Depends on seed, channel and cycle alone.
struct StallSpec {
  double ar = 0, r = 0, aw = 0, w = 0, b = 0;
  std::uint64_t seed = 1;

  /// Throws InputError naming the probability that is out of range.
  void validate() const;
};
constexpr double kMostStall = 0.99;

/// A fault. A beat of an address in first..last, or every beat of the nth burst (from 0) of its
/// direction, is answered with `response`; reads deliver zeros, writes are dropped.
struct MemoryFault {
  bool reads = true, writes = true;
  std::uint64_t first = 1, last = 0;  ///< byte addresses; empty if last < first
  std::int64_t burst = -1;            ///< -1: none
  std::uint8_t response = kAxiSlvErr;
};

struct MemoryTraffic {
  std::uint64_t read_bursts = 0, write_bursts = 0, read_beats = 0, write_beats = 0;
};

class Memory final : public AxiMemory {
 public:
  /// dw: bits of a beat, 8 to 1024, a power of two.
  Memory(int dw, std::unique_ptr<MemoryTimer> timer, std::uint64_t content_seed = 0);

  void stall(const StallSpec& spec);
  void inject(const MemoryFault& fault) { faults_.push_back(fault); }

  AxiReadResp read() const override { return read_; }
  AxiWriteResp write() const override { return write_; }
  void step(const AxiReadReq& read_req, const AxiWriteReq& write_req) override;

  void load(std::uint64_t address, const void* bytes, std::size_t count) override {
    store_.write(address, bytes, count);
  }
  void dump(std::uint64_t address, void* bytes, std::size_t count) const override {
    store_.read(address, bytes, count);
  }
  std::uint64_t withheld() const override { return withheld_; }

  std::uint64_t cycle() const { return cycle_; }
  const MemoryTraffic& traffic() const { return traffic_; }
  /// Bursts whose last beat or response has not been taken.
  bool idle() const { return beats_.empty() && bursts_.empty() && responses_.empty(); }
  MemoryTimer& timer() { return *timer_; }
  /// The first thing the master did that AXI4 or the machine's rules forbid, with its cycle; ""
  /// if none.
  const std::string& violation() const { return violation_; }
  /// Drops what is outstanding, as an external reset does. Time goes on; contents stay.
  void abandon();

 private:
  enum Channel { kAr, kR, kAw, kW, kB };
  struct ReadBeat {
    std::uint64_t address = 0;
    std::uint64_t ready = 0;  // 1/256 cycle
    std::uint8_t response = kAxiOkay;
    bool last = false;
  };
  struct WriteBurst {
    std::uint64_t address = 0;
    unsigned left = 0;  // beats
    std::uint8_t response = kAxiOkay;
    bool whole = false;  // the burst as such is faulty
  };
  struct Response {
    std::uint64_t from = 0;  // cycle
    std::uint8_t response = kAxiOkay;
  };

  void drive();
  bool withhold(Channel channel) const;
  std::uint8_t fault(bool is_read, std::uint64_t address, std::int64_t burst) const;
  void forbid(const std::string& what);
  void check(const AxiReadReq& read_req, const AxiWriteReq& write_req);
  void check_burst(const char* channel, std::uint64_t address, unsigned beats);

  std::size_t beat_bytes_;
  std::unique_ptr<MemoryTimer> timer_;
  MemoryStore store_;
  std::vector<MemoryFault> faults_;
  std::uint64_t seed_ = 1;
  std::array<std::uint64_t, 5> threshold_{};  // of 2^32
  bool stalling_ = false;

  std::uint64_t cycle_ = 0, withheld_ = 0;
  std::deque<ReadBeat> beats_;
  std::deque<WriteBurst> bursts_;
  std::deque<Response> responses_;
  std::vector<std::uint64_t> ready_;  // scratch
  std::vector<std::uint64_t> data_;   // the beat on the R channel
  AxiReadResp read_;
  AxiWriteResp write_;
  std::array<bool, 5> held_{};  // withheld in this cycle
  MemoryTraffic traffic_;
  std::string violation_;
  AxiReadReq last_read_;
  AxiWriteReq last_write_;
  std::vector<std::uint64_t> last_w_;
  bool waiting_ar_ = false, waiting_aw_ = false, waiting_w_ = false;
};

}  // namespace bitcycle
