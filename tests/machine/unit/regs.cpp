// cpp: model/machine/control.cpp model/machine/regs.cpp
// bc_regs against RegisterBlock under a random AXI4-Lite master and a random core, and against what
// the map promises: values read, pushes delivered once, first error, watchdog, soft reset,
// interrupts.
#include "model/machine/regs.hpp"

#include <deque>
#include <optional>

#include "Vdut.h"
#include "tests/machine/unit/unit.hpp"

using namespace bitcycle;
using namespace bitcycle::layout;

namespace {

constexpr std::uint16_t kMapped[] = {kRegId,         kRegVersion,     kRegParam0,
                                     kRegParam1,     kRegParam2,      kRegParam3,
                                     kRegParam4,     kRegParam5,      kRegL1aD,
                                     kRegL1wD,       kRegObD,         kRegPsD,
                                     kRegControl,    kRegControl,     kRegControl,
                                     kRegStatus,     kRegError,       kRegError,
                                     kRegIrqEnable,  kRegIrqStatus,   kRegWatchdog,
                                     kRegInstLo,     kRegInstLo,      kRegInstHi,
                                     kRegInstHi,     kRegF2e,         kRegE2f,
                                     kRegR2f,        kRegVminLow,     kRegVminHigh,
                                     kRegVmaxLow,    kRegVmaxHigh,    kRegFlags,
                                     kRegCyclesLow,  kRegCyclesHigh,  kRegFetchIdleLow,
                                     kRegExecRunLow, kRegExecRunHigh, kRegStoreWaitOutHigh};

bool writable(std::uint16_t address) {
  return address == kRegControl || address == kRegIrqEnable || address == kRegIrqStatus ||
         address == kRegWatchdog || address == kRegInstLo || address == kRegInstHi;
}

// Every address with a register, from the map's own end points.
bool readable(std::uint16_t address) {
  if (address % 4 != 0) address = static_cast<std::uint16_t>(address & ~3U);
  for (const std::uint16_t known : kMapped) {
    if (known == address) return true;
  }
  return (address >= kRegF2e && address <= kRegR2f) ||
         (address >= kRegFetchIdleLow && address <= kRegStoreWaitOutHigh);
}

std::uint64_t bit(Field field) { return std::uint64_t{1} << static_cast<unsigned>(field.bit); }

}  // namespace

int main(int argc, char** argv) {
  const unit::Arguments arguments(argc, argv);
  MachineConfig config;
  ArrayConfig& a = config.array;
  a.ra = arguments.get("RA", 1), a.rw = arguments.get("RW", 1), a.kl = arguments.get("KL", 64);
  a.tm = arguments.get("TM", 16), a.tn = arguments.get("TN", 16), a.s = arguments.get("S", 8);
  a.ba = arguments.get("BA", 8), a.bw = arguments.get("BW", 8), a.ac_w = arguments.get("AC_W", 24);
  a.acc_w = arguments.get("ACC_W", 48), a.p_max = arguments.get("P_MAX", 16);
  a.q = arguments.get("Q", 16);
  config.gl = arguments.get("GL", 16), config.dw = arguments.get("DW", 64);
  config.l1a_d = arguments.get("L1A_D", 512), config.l1w_d = arguments.get("L1W_D", 512);
  config.ob_d = arguments.get("OB_D", 512), config.ps_d = arguments.get("PS_D", 64);
  config.qd = arguments.get("QD", 4), config.out = arguments.get("OUT", 8);
  config.burst = arguments.get("BURST", 16);
  unit::Random random(static_cast<std::uint64_t>(arguments.get("SEED", 1)));
  unit::Unit<Vdut> dut(random.word(), "bc_regs");
  RegisterBlock model(config);
  std::vector<RegisterView> registers;
  model.list("bc_regs", registers);
  dut->s_awvalid_i = dut->s_wvalid_i = dut->s_bready_i = dut->s_arvalid_i = dut->s_rready_i = 0;
  dut.reset();
  dut.attach(registers);

  const std::map<std::uint16_t, std::uint32_t> constants = {
      {kRegId, 0x42435943},
      {kRegVersion, 0x00010000},
      {kRegParam0, static_cast<std::uint32_t>(a.kl << 16 | a.rw << 8 | a.ra)},
      {kRegParam1, static_cast<std::uint32_t>(a.p_max << 24 | a.s << 16 | a.tn << 8 | a.tm)},
      {kRegParam2, static_cast<std::uint32_t>(a.bw << 16 | a.ba)},
      {kRegParam3, static_cast<std::uint32_t>(a.q << 16 | a.acc_w << 8 | a.ac_w)},
      {kRegParam4, static_cast<std::uint32_t>(config.qd << 24 | config.gl << 16 | config.dw)},
      {kRegParam5, static_cast<std::uint32_t>(config.burst << 8 | config.out)},
      {kRegL1aD, static_cast<std::uint32_t>(config.l1a_d)},
      {kRegL1wD, static_cast<std::uint32_t>(config.l1w_d)},
      {kRegObD, static_cast<std::uint32_t>(config.ob_d)},
      {kRegPsD, static_cast<std::uint32_t>(config.ps_d)}};

  RegisterBlock::Inputs in;
  EngineControl::Counters counters[kEngines];
  // The master: at most one write and one read at a time; AW and W come in any order.
  struct Write {
    std::uint16_t address;
    std::uint32_t data;
    std::uint8_t strobe;
    bool aw_done, w_done;
  };
  std::optional<Write> write;
  std::optional<std::uint16_t> read;
  bool read_taken = false, awvalid = false, wvalid = false, arvalid = false;
  std::uint32_t expected_read = 0;
  bool check_read = false;
  // What the map promises.
  std::uint32_t limit = 0, irq_enable = 0, lo = 0, hi = 0;
  bool enabled = true, halted = false;
  std::uint8_t cause = 0, engine = 0;
  std::uint64_t cycles = 0, stuck = 0, snap[12] = {}, snap_min = 0, snap_max = 0, snap_cycles = 0;
  bool have_snapshot = false, soft = false, after_soft = false;
  std::deque<std::uint64_t> pushes;
  std::uint64_t pushed = 0, refused = 0, errors = 0, expiries = 0, softs = 0, slverrs = 0,
                snapshots = 0, irqs = 0, checked = 0, lost_second = 0, dones = 0;
  std::uint32_t irq_status = 0;
  bool ran = false;
  int busy_rate = 50, progress_rate = 50, host_rate = 50;
  for (int cycle = arguments.get("CYCLES", 200000); cycle-- > 0;) {
    if (random.below(200) == 0) {
      busy_rate = random.chance(30) ? 0 : random.range(0, 100);
      progress_rate = random.chance(30) ? 2 : random.range(0, 100);
      host_rate = random.range(5, 100);
    }
    // Core.
    const auto three = [&](int rate) {
      unsigned bits = 0;
      for (unsigned e = 0; e < 3; ++e) bits |= random.chance(rate) ? 1U << e : 0U;
      return static_cast<std::uint8_t>(bits);
    };
    in.busy = random.chance(80) ? in.busy : three(busy_rate);
    in.queue_valid = random.chance(80) ? in.queue_valid : three(busy_rate);
    in.queue_full = three(30);
    in.pop = in.busy != 0 ? three(5) : 0;
    in.dispatch_busy = random.chance(busy_rate / 2);
    in.progress = random.chance(progress_rate);
    in.quiet = random.chance(30);
    in.err = 0;
    if (random.below(400) == 0) in.err = static_cast<std::uint8_t>(random.bits(5));
    for (auto& each : in.err_cause) each = static_cast<std::uint8_t>(random.bits(4));
    in.mm_ready = random.chance(20);
    for (std::size_t e = 0; e < kEngines; ++e) {
      in.counters[e] = &counters[e];
      for (std::uint64_t* each :
           {&counters[e].idle, &counters[e].run, &counters[e].wait_in, &counters[e].wait_out}) {
        *each = random.bits(48);
      }
    }
    for (auto& each : in.tokens) each = static_cast<std::uint16_t>(random.bits(16));
    in.min = random.word();
    in.max = random.word();
    in.overflow = random.chance(50);
    // Master.
    if (!write && random.chance(host_rate)) {
      write = Write{};
      write->address = random.chance(95) ? kMapped[random.below(std::size(kMapped))]
                                         : static_cast<std::uint16_t>(random.bits(12));
      write->data = static_cast<std::uint32_t>(random.word());
      write->strobe = random.chance(80) ? 0xf : static_cast<std::uint8_t>(random.bits(4));
      if (write->address == kRegControl) {
        write->data |= random.chance(80) ? 1U : 0U;
        if (!random.chance(10))
          write->data &= ~static_cast<std::uint32_t>(bit(kRegControlSoftReset));
      }
      if (write->address == kRegWatchdog && random.chance(80)) {
        write->data = random.chance(30) ? 0 : static_cast<std::uint32_t>(random.range(1, 20));
      }
    }
    if (!read && random.chance(host_rate)) {
      read = random.chance(95) ? kMapped[random.below(std::size(kMapped))]
                               : static_cast<std::uint16_t>(random.bits(12));
      read_taken = false;
    }
    awvalid = write && !write->aw_done && (awvalid || random.chance(50));
    wvalid = write && !write->w_done && (wvalid || random.chance(50));
    arvalid = read && !read_taken && (arvalid || random.chance(50));
    in.lite.awvalid = awvalid;
    in.lite.awaddr = awvalid ? write->address : static_cast<std::uint16_t>(random.bits(12));
    in.lite.wvalid = wvalid;
    in.lite.wdata = wvalid ? write->data : static_cast<std::uint32_t>(random.word());
    in.lite.wstrb = wvalid ? write->strobe : static_cast<std::uint8_t>(random.bits(4));
    in.lite.bready = random.chance(50);
    in.lite.arvalid = arvalid;
    in.lite.araddr = arvalid ? *read : static_cast<std::uint16_t>(random.bits(12));
    in.lite.rready = random.chance(50);

    dut->s_awvalid_i = in.lite.awvalid;
    dut->s_awaddr_i = in.lite.awaddr;
    dut->s_wvalid_i = in.lite.wvalid;
    dut->s_wdata_i = in.lite.wdata;
    dut->s_wstrb_i = in.lite.wstrb;
    dut->s_bready_i = in.lite.bready;
    dut->s_arvalid_i = in.lite.arvalid;
    dut->s_araddr_i = in.lite.araddr;
    dut->s_rready_i = in.lite.rready;
    dut->mm_ready_i = in.mm_ready;
    dut->busy_i = in.busy;
    dut->queue_valid_i = in.queue_valid;
    dut->queue_full_i = in.queue_full;
    dut->dispatch_busy_i = in.dispatch_busy;
    dut->pop_i = in.pop;
    dut->progress_i = in.progress;
    dut->quiet_i = in.quiet;
    dut->err_i = in.err;
    dut->err_cause_i =
        static_cast<std::uint16_t>(in.err_cause[0] | in.err_cause[1] << 4 | in.err_cause[2] << 8);
    for (std::size_t e = 0; e < kEngines; ++e) {
      const std::uint64_t all[] = {counters[e].idle, counters[e].run, counters[e].wait_in,
                                   counters[e].wait_out};
      for (std::size_t c = 0; c < 4; ++c) put_bits(&dut->counters_i, (4 * e + c) * 48, 48, all[c]);
    }
    for (std::size_t t = 0; t < in.tokens.size(); ++t) {
      put_bits(&dut->tokens_i, t * 16, 16, in.tokens[t]);
    }
    dut->min_i = in.min;
    dut->max_i = in.max;
    dut->overflow_i = in.overflow;
    dut.settle();

    const AxiLiteResp lite = model.lite();
    dut.same("s_awready_o", dut->s_awready_o, lite.awready);
    dut.same("s_wready_o", dut->s_wready_o, lite.wready);
    dut.same("s_bvalid_o", dut->s_bvalid_o, lite.bvalid);
    dut.same("s_arready_o", dut->s_arready_o, lite.arready);
    dut.same("s_rvalid_o", dut->s_rvalid_o, lite.rvalid);
    if (lite.bvalid) dut.same("s_bresp_o", dut->s_bresp_o, lite.bresp);
    if (lite.rvalid) {
      dut.same("s_rresp_o", dut->s_rresp_o, lite.rresp);
      dut.same("s_rdata_o", dut->s_rdata_o, lite.rdata);
    }
    dut.same("irq_o", dut->irq_o, model.irq());
    dut.same("enable_o", dut->enable_o, model.enable());
    dut.same("halt_o", dut->halt_o, model.halt());
    dut.same("stop_o", dut->stop_o, model.stop());
    dut.same("soft_o", dut->soft_o, model.soft(in));
    dut.same("clear_o", dut->clear_o, model.clear(in));
    dut.same("clear_extremes_o", dut->clear_extremes_o, model.clear_extremes(in));
    dut.same("mm_valid_o", dut->mm_valid_o, model.mm_valid());
    if (model.mm_valid()) dut.same("mm_data_o", dut->mm_data_o, model.mm_data());

    // ------------------------------------------------- what the map promises, in this cycle
    dut.same("enabled", model.enable(), enabled);
    dut.same("halted", model.halt(), halted || soft);
    dut.same("stopping", model.stop(), soft);
    const bool go = soft && in.quiet;
    dut.same("soft reset", model.soft(in), go);
    dut.same("push waits", model.mm_valid(), !pushes.empty());
    if (!pushes.empty()) dut.same("pushed word", model.mm_data(), pushes.front());
    irqs += model.irq() ? 1 : 0;
    dut.same("interrupt", model.irq(), (irq_status & irq_enable) != 0);
    // The write that happens at this edge: both halves are here, the response has room.
    const bool writing = write && write->aw_done && write->w_done &&
                         (!lite.bvalid || in.lite.bready) && !lite.awready;
    std::uint32_t mask = 0;
    if (writing) {
      for (unsigned b = 0; b < 4; ++b) mask |= (write->strobe >> b & 1U) != 0 ? 0xffU << 8 * b : 0U;
    }
    const std::uint16_t to = writing ? static_cast<std::uint16_t>(write->address & ~3U) : 0xfff;
    const std::uint32_t bits = writing ? write->data & mask : 0;
    const bool control = writing && to == kRegControl;
    const bool clearing = control && (bits & bit(kRegControlClearCounters)) != 0;
    dut.same("clear", model.clear(in), clearing);
    dut.same("clear extremes", model.clear_extremes(in),
             control && (bits & bit(kRegControlClearExtremes)) != 0);
    // A read that is taken now.
    if (arvalid && lite.arready) {
      check_read = true;
      const auto from = static_cast<std::uint16_t>(*read & ~3U);
      const auto half = [&](std::uint64_t value, std::uint16_t low) {
        return static_cast<std::uint32_t>(from == low ? value : value >> 32U);
      };
      if (constants.count(from) != 0) {
        expected_read = constants.at(from);
      } else if (from == kRegWatchdog) {
        expected_read = limit;
      } else if (from == kRegIrqEnable) {
        expected_read = irq_enable;
      } else if (from == kRegInstLo || from == kRegInstHi) {
        expected_read = from == kRegInstLo ? lo : hi;
      } else if (from == kRegIrqStatus) {
        expected_read = irq_status;
      } else if (from == kRegError) {
        expected_read = static_cast<std::uint32_t>(engine << 8 | cause);
      } else if (from == kRegControl) {
        expected_read = (enabled ? 1U : 0U) | (soft ? 2U : 0U);
      } else if (from == kRegStatus) {
        const bool idle =
            in.busy == 0 && in.queue_valid == 0 && !in.dispatch_busy && pushes.empty();
        expected_read = in.busy | (halted && in.busy == 0 ? 8U : 0U) |
                        static_cast<std::uint32_t>(in.queue_full << 4) |
                        (in.dispatch_busy ? 0x80U : 0U) | (pushes.empty() ? 0x100U : 0U) |
                        (idle ? 0x200U : 0U) | (soft ? 0x400U : 0U) | (halted ? 0x800U : 0U);
      } else if (from >= kRegF2e && from <= kRegR2f) {
        expected_read = in.tokens[(from - kRegF2e) / 4];
      } else if (have_snapshot && from >= kRegFetchIdleLow && from <= kRegStoreWaitOutHigh) {
        const std::uint64_t value = snap[(from - kRegFetchIdleLow) / 8];
        expected_read = static_cast<std::uint32_t>((from & 4U) != 0 ? value >> 32U : value);
      } else if (have_snapshot && (from == kRegVminLow || from == kRegVminHigh)) {
        expected_read = half(snap_min, kRegVminLow);
      } else if (have_snapshot && (from == kRegVmaxLow || from == kRegVmaxHigh)) {
        expected_read = half(snap_max, kRegVmaxLow);
      } else if (have_snapshot && (from == kRegCyclesLow || from == kRegCyclesHigh)) {
        expected_read = half(snap_cycles, kRegCyclesLow);
      } else if (!readable(from)) {
        expected_read = 0;
      } else {
        check_read = false;
      }
    }
    if (lite.rvalid) {
      dut.same("response of a read", lite.rresp, readable(*read) ? kAxiOkay : kAxiSlvErr);
      if (check_read) {
        dut.same("value read", lite.rdata, expected_read);
        ++checked;
      }
    }
    const bool active = in.busy != 0 || (in.queue_valid != 0 && enabled && !halted);
    const bool expired = limit != 0 && active && !in.progress && stuck + 1 >= limit;
    const bool idle = in.busy == 0 && in.queue_valid == 0 && !in.dispatch_busy && pushes.empty();
    const bool done = ran && idle && !halted;
    dones += done ? 1 : 0;
    if (to == kRegIrqStatus) irq_status &= ~bits;
    irq_status |=
        (done ? 1U : 0U) | (!halted && (in.err != 0 || expired) ? 2U : 0U) | (expired ? 4U : 0U);
    ran = !go && (in.pop != 0 || (ran && !done));
    // Which response the write gets, and its effect.
    std::optional<bool> accepted;
    const bool push_waits = !pushes.empty();
    if (!pushes.empty() && in.mm_ready) pushes.pop_front();
    if (control && (bits & bit(kRegControlSnapshot)) != 0) {
      have_snapshot = true;
      ++snapshots;
      for (std::size_t e = 0; e < kEngines; ++e) {
        snap[4 * e] = counters[e].idle;
        snap[4 * e + 1] = counters[e].run;
        snap[4 * e + 2] = counters[e].wait_in;
        snap[4 * e + 3] = counters[e].wait_out;
      }
      snap_min = in.min;
      snap_max = in.max;
      snap_cycles = cycles;
    }
    cycles = clearing || go || after_soft ? 0 : cycles + (enabled ? 1 : 0);
    after_soft = go;
    if (go) {
      ++softs;
      soft = halted = false;
      cause = engine = 0;
      stuck = 0;
      pushes.clear();
    } else {
      if (halted && in.err != 0) ++lost_second;
      if (!halted && (in.err != 0 || expired)) {
        ++errors;
        halted = true;
        engine = (in.err & 7U) == 0 ? 3 : (in.err & 1U) != 0 ? 0 : (in.err & 2U) != 0 ? 1 : 2;
        cause = (in.err & 7U) != 0    ? in.err_cause[engine]
                : (in.err & 8U) != 0  ? static_cast<std::uint8_t>(MachineCause::kHeader)
                : (in.err & 16U) != 0 ? static_cast<std::uint8_t>(MachineCause::kTokenOverflow)
                                      : static_cast<std::uint8_t>(MachineCause::kWatchdog);
      }
      stuck = active && !in.progress && !expired ? stuck + 1 : 0;
    }
    expiries += expired ? 1 : 0;
    if (writing) {
      accepted = writable(to) && !((to == kRegInstLo || to == kRegInstHi) && push_waits);
      if (*accepted) {
        if (control && (write->strobe & 1U) != 0) enabled = (write->data & 1U) != 0;
        if (control && (bits & bit(kRegControlSoftReset)) != 0) soft = true;
        if (to == kRegWatchdog) limit = (limit & ~mask) | bits;
        if (to == kRegIrqEnable && (write->strobe & 1U) != 0) irq_enable = write->data & 7U;
        if (to == kRegInstLo) lo = (lo & ~mask) | bits;
        if (to == kRegInstHi) {
          hi = (hi & ~mask) | bits;
          pushes.push_back(std::uint64_t{hi} << 32U | lo);
          ++pushed;
        }
      } else {
        refused += push_waits && (to == kRegInstLo || to == kRegInstHi) ? 1 : 0;
        ++slverrs;
      }
    }
    if (awvalid && lite.awready) write->aw_done = true;
    if (wvalid && lite.wready) write->w_done = true;
    if (arvalid && lite.arready) read_taken = true;
    if (read && lite.rvalid && in.lite.rready) read.reset();

    model.step(in);
    dut.edge();
    if (accepted) {
      dut.same("response of a write", model.lite().bvalid, 1);
      dut.same("response of a write", model.lite().bresp, *accepted ? kAxiOkay : kAxiSlvErr);
      write.reset();
    }
  }
  std::printf(
      "ok: %llu pushes, %llu refused, %llu errors, %llu later ones, %llu expiries, %llu soft "
      "resets, %llu snapshots, %llu values read, %llu SLVERR, %llu interrupt cycles, %llu done\n",
      static_cast<unsigned long long>(pushed), static_cast<unsigned long long>(refused),
      static_cast<unsigned long long>(errors), static_cast<unsigned long long>(lost_second),
      static_cast<unsigned long long>(expiries), static_cast<unsigned long long>(softs),
      static_cast<unsigned long long>(snapshots), static_cast<unsigned long long>(checked),
      static_cast<unsigned long long>(slverrs), static_cast<unsigned long long>(irqs),
      static_cast<unsigned long long>(dones));
  return pushed > 50 && refused > 5 && errors > 50 && lost_second > 5 && expiries > 20 &&
                 softs > 20 && snapshots > 50 && checked > 1000 && slverrs > 50 && irqs > 50 &&
                 dones > 50
             ? 0
             : 1;
}
