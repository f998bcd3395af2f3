// A plain AXI master for tests of memories: plays a list of bursts, a read and a write stream side
// by side, and notes in which cycle everything happened.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "golden/counter_random.hpp"
#include "model/machine/axi_memory.hpp"

namespace bitcycle {

struct PlayedBurst {
  std::uint64_t address = 0;
  unsigned beats = 1;
  bool is_write = false;
  std::uint64_t not_before = 0;  // cycle of the address
  // What happened.
  std::uint64_t accepted = 0;          // address handshake
  std::vector<std::uint64_t> beat_at;  // R or W handshakes
  std::uint64_t answered = 0;          // last R beat or B
  std::vector<std::uint8_t> data;      // read, or to be written
  std::uint8_t response = 0;           // worst
};

/// Plays all bursts; reads in their order, writes in theirs, at most `outstanding` of each. Returns
/// the cycles until the last answer, or 0 if that takes more than `limit`.
inline std::uint64_t play(AxiMemory& memory, int dw, std::vector<PlayedBurst>& bursts,
                          std::size_t outstanding = 8, std::uint64_t limit = 10000000) {
  const std::size_t bytes = static_cast<std::size_t>(dw) / 8;
  std::vector<PlayedBurst*> reads, writes;
  for (auto& b : bursts) {
    (b.is_write ? writes : reads).push_back(&b);
    if (!b.is_write) b.data.clear();
    b.beat_at.clear();
  }
  std::size_t ar = 0, r = 0, aw = 0, w = 0, b = 0;
  std::size_t aw_seen = 0;  // accepted in an earlier cycle
  std::vector<std::uint64_t> word((bytes + 7) / 8);
  for (std::uint64_t cycle = 0; cycle < limit; ++cycle) {
    if (r == reads.size() && b == writes.size()) return cycle;
    AxiReadReq read;
    read.rready = true;
    if (ar < reads.size() && ar - r < outstanding && cycle >= reads[ar]->not_before) {
      read.arvalid = true;
      read.araddr = reads[ar]->address;
      read.arlen = static_cast<std::uint8_t>(reads[ar]->beats - 1);
    }
    AxiWriteReq write;
    write.bready = true;
    if (aw < writes.size() && aw - b < outstanding && cycle >= writes[aw]->not_before) {
      write.awvalid = true;
      write.awaddr = writes[aw]->address;
      write.awlen = static_cast<std::uint8_t>(writes[aw]->beats - 1);
    }
    if (w < aw_seen) {
      write.wvalid = true;
      const std::size_t beat = writes[w]->beat_at.size();
      write.wlast = beat + 1 == writes[w]->beats;
      std::memcpy(word.data(), writes[w]->data.data() + beat * bytes, bytes);
      write.wdata = word.data();
    }
    const AxiReadResp rr = memory.read();
    const AxiWriteResp wr = memory.write();
    if (read.arvalid && rr.arready) reads[ar++]->accepted = cycle;
    if (rr.rvalid) {
      PlayedBurst& burst = *reads[r];
      burst.beat_at.push_back(cycle);
      const auto* from = reinterpret_cast<const std::uint8_t*>(rr.rdata);
      burst.data.insert(burst.data.end(), from, from + bytes);
      burst.response = std::max(burst.response, rr.rresp);
      if (rr.rlast != (burst.beat_at.size() == burst.beats)) return 0;
      if (rr.rlast) {
        burst.answered = cycle;
        ++r;
      }
    }
    if (write.awvalid && wr.awready) writes[aw++]->accepted = cycle;
    if (write.wvalid && wr.wready) {
      writes[w]->beat_at.push_back(cycle);
      if (write.wlast) ++w;
    }
    if (wr.bvalid) {
      writes[b]->answered = cycle;
      writes[b]->response = wr.bresp;
      ++b;
    }
    memory.step(read, write);
    aw_seen = aw;
  }
  return 0;
}

/// Random bursts that obey AXI's rules in a region of `span` bytes; written data is a hash.
inline std::vector<PlayedBurst> random_bursts(std::uint64_t seed, int dw, std::size_t count,
                                              std::uint64_t span, unsigned longest,
                                              int write_percent, std::uint64_t gap) {
  std::vector<PlayedBurst> out;
  std::uint64_t draw = 0, cycle = 0;
  const auto random = [&](std::uint64_t n) { return counter_random(seed, 1, draw++) % n; };
  const std::uint64_t bytes = static_cast<std::uint64_t>(dw) / 8;
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    PlayedBurst b;
    b.beats = 1 + static_cast<unsigned>(random(longest));
    // Half of them go on where the last one ended.
    b.address = random(2) == 0 ? next % span : random(span / bytes) * bytes;
    const std::uint64_t left = (4096 - b.address % 4096) / bytes;
    if (b.beats > left) b.beats = static_cast<unsigned>(left);
    next = b.address + b.beats * bytes;
    b.is_write = random(100) < static_cast<std::uint64_t>(write_percent);
    if (gap != 0) cycle += random(gap);
    b.not_before = cycle;
    if (b.is_write) {
      b.data.resize(b.beats * bytes);
      for (auto& byte : b.data) byte = static_cast<std::uint8_t>(random(256));
    }
    out.push_back(b);
  }
  return out;
}

}  // namespace bitcycle
