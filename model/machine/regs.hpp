// Register block of the machine behind AXI4-Lite: rtl/bc_regs.sv. The map is in layout.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/machine/axi.hpp"
#include "model/machine/control.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine_config.hpp"

namespace bitcycle {

class RegisterBlock {
 public:
  struct Inputs {
    AxiLiteReq lite;
    bool mm_ready = false;
    // Bit e is engine e.
    std::uint8_t busy = 0, queue_valid = 0, queue_full = 0, pop = 0;
    bool dispatch_busy = false;
    bool progress = false;  ///< something moved: for the watchdog
    bool quiet = false;     ///< no AXI burst outstanding
    /// Errors of this cycle: fetch, exec, store, dispatcher (header), tokens.
    std::uint8_t err = 0;
    std::array<std::uint8_t, kEngines> err_cause{};
    std::array<const EngineControl::Counters*, kEngines> counters{};  ///< read on a snapshot only
    std::array<std::uint16_t, 5> tokens{};                            ///< f2e e2f e2r r2e r2f
    std::uint64_t min = 0, max = 0;                                   ///< of the result path
    bool overflow = false;
  };

  explicit RegisterBlock(const MachineConfig& config) : c_(config) {}

  // Functions of the registers alone.
  AxiLiteResp lite() const;
  bool irq() const { return (irq_ & irq_enable_) != 0; }
  bool enable() const { return enable_ != 0; }
  bool halt() const { return halt_ != 0 || soft_ != 0; }
  bool stop() const { return soft_ != 0; }
  bool mm_valid() const { return mm_valid_ != 0; }
  std::uint64_t mm_data() const { return std::uint64_t{inst_hi_} << 32U | inst_lo_; }
  // Functions of the inputs named, too.
  bool soft(const Inputs& in) const { return soft_ != 0 && in.quiet; }
  bool clear(const Inputs& in) const;           ///< of lite.bready
  bool clear_extremes(const Inputs& in) const;  ///< of lite.bready

  void step(const Inputs& in);
  void reset();
  void list(const std::string& prefix, std::vector<RegisterView>& out);

 private:
  bool write(const Inputs& in) const {
    return aw_full_ != 0 && w_full_ != 0 && (bvalid_ == 0 || in.lite.bready);
  }
  bool control_write(const Inputs& in, layout::Field field) const;
  std::uint32_t write_mask() const;
  bool idle(const Inputs& in) const {
    return in.busy == 0 && in.queue_valid == 0 && !in.dispatch_busy && mm_valid_ == 0;
  }
  /// Value of a register, false if there is none at the address.
  bool read(std::uint16_t address, const Inputs& in, std::uint32_t& value) const;

  MachineConfig c_;
  std::uint8_t aw_full_ = 0, w_full_ = 0, bvalid_ = 0, rvalid_ = 0;
  std::uint16_t awaddr_ = 0;
  std::uint32_t wdata_ = 0, rdata_ = 0;
  std::uint8_t wstrb_ = 0, bresp_ = 0, rresp_ = 0;
  std::uint8_t enable_ = 1, irq_enable_ = 0;
  std::uint32_t limit_ = 0;
  std::uint8_t irq_ = 0, soft_ = 0, halt_ = 0, cause_ = 0, engine_ = 0, ran_ = 0, resetting_ = 0;
  std::uint32_t stuck_ = 0;
  std::uint64_t cycles_ = 0;
  std::uint8_t mm_valid_ = 0;
  std::uint32_t inst_lo_ = 0, inst_hi_ = 0;
  std::uint64_t snap_min_ = 0, snap_max_ = 0, snap_cycles_ = 0;
  std::uint8_t snap_overflow_ = 0;
  std::array<std::uint64_t, 12> snap_{};  ///< idle run wait_in wait_out of every engine
};

}  // namespace bitcycle
