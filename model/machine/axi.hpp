// AXI signals of one cycle, as plain values. `Req` is what the master drives, `Resp` the slave.
#pragma once

#include <cstdint>

namespace bitcycle {

/// Bytes of the 40-bit address space; bursts never cross a page.
constexpr std::uint64_t kAxiAddressMask = (std::uint64_t{1} << 40U) - 1;
constexpr std::uint64_t kAxiPage = 4096;

enum AxiResponse : std::uint8_t { kAxiOkay = 0, kAxiSlvErr = 2, kAxiDecErr = 3 };

/// AXI4 read channels. INCR bursts of beats as wide as the bus, one ID.
struct AxiReadReq {
  bool arvalid = false;
  std::uint64_t araddr = 0;  ///< byte address, 40 bits, meaningful while arvalid
  std::uint8_t arlen = 0;    ///< beats - 1
  bool rready = false;
};

struct AxiReadResp {
  bool arready = false;
  bool rvalid = false;
  bool rlast = false;
  std::uint8_t rresp = kAxiOkay;
  /// A beat, little-endian, in ceil(DW/64) words; meaningful while rvalid, alive during the cycle.
  const std::uint64_t* rdata = nullptr;
};

/// AXI4 write channels. All write strobes are always set.
struct AxiWriteReq {
  bool awvalid = false;
  std::uint64_t awaddr = 0;
  std::uint8_t awlen = 0;
  bool wvalid = false;
  bool wlast = false;
  const std::uint64_t* wdata = nullptr;  ///< as AxiReadResp::rdata, meaningful while wvalid
  bool bready = false;
};

struct AxiWriteResp {
  bool awready = false;
  bool wready = false;
  bool bvalid = false;
  std::uint8_t bresp = kAxiOkay;
};

/// AXI4-Lite, 32-bit data, 12-bit byte addresses.
struct AxiLiteReq {
  bool awvalid = false;
  std::uint16_t awaddr = 0;
  bool wvalid = false;
  std::uint32_t wdata = 0;
  std::uint8_t wstrb = 0xf;
  bool bready = false;
  bool arvalid = false;
  std::uint16_t araddr = 0;
  bool rready = false;
};

struct AxiLiteResp {
  bool awready = false;
  bool wready = false;
  bool bvalid = false;
  std::uint8_t bresp = kAxiOkay;
  bool arready = false;
  bool rvalid = false;
  std::uint32_t rdata = 0;
  std::uint8_t rresp = kAxiOkay;
};

}  // namespace bitcycle
