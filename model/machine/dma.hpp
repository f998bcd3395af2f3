// Fetch and store engines: DRAM to operand buffers and output buffer to DRAM through AXI4 master
// ports: rtl/bc_fetch.sv, rtl/bc_store.sv.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/machine/axi.hpp"
#include "model/machine/burst.hpp"
#include "model/machine/machine_config.hpp"

namespace bitcycle {

class FetchUnit {
 public:
  struct Inputs {
    bool start = false;
    const std::uint64_t* inst = nullptr;  ///< six words, read only with start
    bool busy = false;                    ///< the engine's busy register
    bool stop = false;                    ///< ask for no further bursts
    AxiReadResp axi;
  };
  /// A beat written to an operand buffer at the end of this cycle.
  struct Write {
    bool we = false;
    std::uint8_t target = 0;    ///< 0 L1A, 1 L1W
    std::uint32_t address = 0;  ///< beat, 24 bits
    const std::uint64_t* data = nullptr;
  };

  explicit FetchUnit(const MachineConfig& config);

  /// AXI outputs (of busy and stop).
  AxiReadReq axi(const Inputs& in) const;
  Write write(const Inputs& in) const;
  bool done(const Inputs& in) const;
  /// kNone, or the cause of the first error response: meaningful with done().
  layout::MachineCause error(const Inputs& in) const;
  /// No burst is outstanding or asked for (of stop).
  bool quiet(const Inputs& in) const { return outstanding_ == 0 && !arvalid(in); }

  void step(const Inputs& in);
  void reset();
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  bool arvalid(const Inputs& in) const {
    return walker_.valid() && outstanding_ < out_ && (!in.stop || held_ != 0);
  }

  std::uint8_t out_;
  BurstWalker walker_;
  std::uint8_t outstanding_ = 0, held_ = 0, target_ = 0, bad_ = 0, dec_ = 0;
  std::uint32_t l1_addr_ = 0;
};

class StoreUnit {
 public:
  struct Inputs {
    bool start = false;
    const std::uint64_t* inst = nullptr;  ///< six words, read only with start
    bool stop = false;                    ///< ask for no further bursts
    /// The output buffer's beat at ob_address(), alive during the step.
    const std::uint64_t* ob_data = nullptr;
    AxiWriteResp axi;
  };

  explicit StoreUnit(const MachineConfig& config);

  /// AXI outputs (of stop).
  AxiWriteReq axi(const Inputs& in) const;
  std::uint32_t ob_address() const { return ob_addr_; }  ///< beat, 24 bits
  bool done(const Inputs& in) const {
    return in.axi.bvalid && !walker_.valid() && outstanding_ == 1;
  }
  /// kNone, or the cause of the first error response: meaningful with done().
  layout::MachineCause error(const Inputs& in) const;
  /// No burst is outstanding or asked for (of stop).
  bool quiet(const Inputs& in) const { return outstanding_ == 0 && !awvalid(in); }

  void step(const Inputs& in);
  void reset();
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  bool awvalid(const Inputs& in) const {
    return walker_.valid() && outstanding_ < out_ && (!in.stop || held_ != 0);
  }

  int dw_;
  std::uint8_t out_;
  BurstWalker walker_;
  std::uint8_t outstanding_ = 0, held_ = 0, aw_ahead_ = 0, rd_ = 0, wr_ = 0, beat_ = 0;
  std::uint8_t wvalid_ = 0, wlast_ = 0, bad_ = 0, dec_ = 0;
  std::uint32_t ob_addr_ = 0;
  std::vector<std::uint8_t> len_;     ///< ring of the lengths of bursts ahead
  std::vector<std::uint64_t> wdata_;  ///< a beat
};

}  // namespace bitcycle
