#include "sim/machine_lockstep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "golden/counter_random.hpp"
#include "golden/error.hpp"

namespace bitcycle {
namespace {

bool is_memory(const RegisterView& view) {
  constexpr const char* kTail = "_mem";
  return view.name.size() > 4 && view.name.compare(view.name.size() - 4, 4, kTail) == 0;
}

std::vector<RegisterView> part(const std::vector<RegisterView>& views, bool memories) {
  std::vector<RegisterView> out;
  std::copy_if(views.begin(), views.end(), std::back_inserter(out),
               [&](const RegisterView& v) { return is_memory(v) == memories; });
  return out;
}

}  // namespace

MachineBench::MachineBench(const MachineConfig& config, AxiMemory& memory,
                           std::unique_ptr<Machine> rtl)
    : config_(config), memory_(memory), core_(config), rtl_(std::move(rtl)) {
  if (!rtl_) return;
  registers_.emplace(part(rtl_->registers(), false), part(core_.registers(), false));
  memories_.emplace(part(rtl_->registers(), true), part(core_.registers(), true));
  registers_->copy_to_model();
  memories_->copy_to_model();
}

bool MachineBench::ports_differ(std::string& what) const {
  const MachinePorts& r = rtl_->ports();
  const MachinePorts& c = core_.ports();
  const auto differ = [&](const char* name, std::uint64_t x, std::uint64_t y) {
    if (x == y) return false;
    what = fmt::format("{}|{:#x}|{:#x}", name, x, y);
    return true;
  };
  if (differ("inst_ready_o", r.inst_ready ? 1 : 0, c.inst_ready ? 1 : 0) ||
      differ("irq_o", r.irq ? 1 : 0, c.irq ? 1 : 0) ||
      differ("arvalid_o", r.read.arvalid ? 1 : 0, c.read.arvalid ? 1 : 0) ||
      differ("rready_o", r.read.rready ? 1 : 0, c.read.rready ? 1 : 0) ||
      differ("awvalid_o", r.write.awvalid ? 1 : 0, c.write.awvalid ? 1 : 0) ||
      differ("wvalid_o", r.write.wvalid ? 1 : 0, c.write.wvalid ? 1 : 0) ||
      differ("bready_o", r.write.bready ? 1 : 0, c.write.bready ? 1 : 0) ||
      differ("s_awready_o", r.lite.awready ? 1 : 0, c.lite.awready ? 1 : 0) ||
      differ("s_wready_o", r.lite.wready ? 1 : 0, c.lite.wready ? 1 : 0) ||
      differ("s_bvalid_o", r.lite.bvalid ? 1 : 0, c.lite.bvalid ? 1 : 0) ||
      differ("s_arready_o", r.lite.arready ? 1 : 0, c.lite.arready ? 1 : 0) ||
      differ("s_rvalid_o", r.lite.rvalid ? 1 : 0, c.lite.rvalid ? 1 : 0)) {
    return true;
  }
  if (r.lite.bvalid && differ("s_bresp_o", r.lite.bresp, c.lite.bresp)) return true;
  if (r.lite.rvalid && (differ("s_rdata_o", r.lite.rdata, c.lite.rdata) ||
                        differ("s_rresp_o", r.lite.rresp, c.lite.rresp))) {
    return true;
  }
  if (r.read.arvalid && (differ("araddr_o", r.read.araddr, c.read.araddr) ||
                         differ("arlen_o", r.read.arlen, c.read.arlen))) {
    return true;
  }
  if (r.write.awvalid && (differ("awaddr_o", r.write.awaddr, c.write.awaddr) ||
                          differ("awlen_o", r.write.awlen, c.write.awlen))) {
    return true;
  }
  if (!r.write.wvalid) return false;
  if (differ("wlast_o", r.write.wlast ? 1 : 0, c.write.wlast ? 1 : 0)) return true;
  if (std::memcmp(r.write.wdata, c.write.wdata, static_cast<std::size_t>(config_.dw) / 8) == 0) {
    return false;
  }
  return differ("wdata_o", 0, 1);
}

// One cycle: the memory says what it drives, both machines take the edge, all is compared.
void MachineBench::edge(MachineStep& step) {
  const MachinePorts& ports = core_.ports();
  step.read = memory_.read();
  step.write = memory_.write();
  const AxiReadReq read = ports.read;
  const AxiWriteReq write = ports.write;
  if (step.read.rvalid && read.rready) ++totals_.read_beats;
  if (step.read.arready && read.arvalid) ++totals_.read_bursts;
  if (step.write.wready && write.wvalid) ++totals_.write_beats;
  if (step.write.awready && write.awvalid) ++totals_.write_bursts;
  if (rtl_) rtl_->step(step);
  // The memory takes what the machine drives before the machine moves on.
  const std::vector<std::uint64_t> data(
      write.wvalid ? write.wdata : nullptr,
      write.wvalid ? write.wdata + (static_cast<std::size_t>(config_.dw) + 63) / 64 : nullptr);
  core_.step(step);
  AxiWriteReq taken = write;
  taken.wdata = data.data();
  memory_.step(read, taken);
  ++now_;
  if (!rtl_ || mismatch_) return;
  std::string what;
  if (ports_differ(what)) {
    const std::size_t first = what.find('|');
    const std::size_t second = what.find('|', first + 1);
    mismatch_ = Mismatch{now_, what.substr(0, first), what.substr(first + 1, second - first - 1),
                         what.substr(second + 1)};
  } else if (auto found = registers_->compare()) {
    found->cycle = now_;
    mismatch_ = found;
  }
}

void MachineBench::compare_memories() {
  if (!rtl_ || mismatch_) return;
  if (auto found = memories_->compare()) {
    found->cycle = now_;
    mismatch_ = found;
  }
}

MachineRun MachineBench::run(WordSource& words, std::uint64_t most_cycles, int stall,
                             std::uint64_t stall_seed) {
  totals_ = {};
  const std::uint64_t begin = now_;
  const std::uint64_t withheld = memory_.withheld();
  std::array<EngineControl::Counters, kEngines> before{};
  for (int e = 0; e < kEngines; ++e)
    before[static_cast<std::size_t>(e)] = core_.engine(e).counters();
  std::optional<std::uint64_t> word = words.next();
  MachineRun out;
  while (!mismatch_) {
    if (!word && core_.idle()) break;
    if (now_ - begin >= most_cycles) {
      out.timed_out = true;
      break;
    }
    MachineStep step;
    const bool held =
        stall > 0 && static_cast<int>(counter_random(stall_seed, 77, now_) & 255U) < stall;
    step.inst_valid = word.has_value() && !held;
    if (step.inst_valid) step.inst_data = *word;
    const bool taken = step.inst_valid && core_.ports().inst_ready;
    edge(step);
    if (taken) word = words.next();
  }
  compare_memories();
  out.mismatch = mismatch_;
  out.cycles = now_ - begin;
  for (int e = 0; e < kEngines; ++e) {
    const auto i = static_cast<std::size_t>(e);
    const EngineControl::Counters& c = core_.engine(e).counters();
    out.engines[i].idle = c.idle - before[i].idle;
    out.engines[i].run = c.run - before[i].run;
    out.engines[i].wait_in = c.wait_in - before[i].wait_in;
    out.engines[i].wait_out = c.wait_out - before[i].wait_out;
  }
  out.read_beats = totals_.read_beats;
  out.read_bursts = totals_.read_bursts;
  out.write_beats = totals_.write_beats;
  out.write_bursts = totals_.write_bursts;
  out.withheld = memory_.withheld() - withheld;
  return out;
}

bool MachineBench::cycle(const AxiLiteReq& lite) {
  MachineStep step;
  step.lite = lite;
  edge(step);
  return !mismatch_;
}

std::uint32_t MachineBench::read_register(std::uint16_t address) {
  AxiLiteReq lite;
  lite.arvalid = true;
  lite.araddr = address;
  lite.rready = true;
  for (int i = 0; i < 100; ++i) {
    const AxiLiteResp seen = core_.ports().lite;
    if (seen.rvalid) {
      if (seen.rresp != kAxiOkay) {
        throw input_error("", 0, "register", fmt::format("error response at {:#x}", address),
                          "an address of the register map");
      }
      cycle(lite);
      return seen.rdata;
    }
    const bool taken = lite.arvalid && seen.arready;
    cycle(lite);
    if (taken) lite.arvalid = false;
  }
  throw InputError("the register block does not answer");
}

void MachineBench::write_register(std::uint16_t address, std::uint32_t value) {
  AxiLiteReq lite;
  lite.awvalid = lite.wvalid = true;
  lite.awaddr = address;
  lite.wdata = value;
  lite.bready = true;
  for (int i = 0; i < 100; ++i) {
    const AxiLiteResp seen = core_.ports().lite;
    const bool aw = lite.awvalid && seen.awready;
    const bool w = lite.wvalid && seen.wready;
    cycle(lite);
    if (seen.bvalid) {
      if (seen.bresp != kAxiOkay) {
        throw input_error("", 0, "register", fmt::format("error response at {:#x}", address),
                          "a writable address of the register map");
      }
      return;
    }
    if (aw) lite.awvalid = false;
    if (w) lite.wvalid = false;
  }
  throw InputError("the register block does not answer");
}

}  // namespace bitcycle
