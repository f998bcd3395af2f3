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

// The first output that differs: name, RTL's value, core's value.
std::optional<Mismatch> ports_differ(const MachinePorts& r, const MachinePorts& c, int dw) {
  std::optional<Mismatch> what;
  const auto differ = [&](const char* name, std::uint64_t x, std::uint64_t y) {
    if (x == y) return false;
    what =
        Mismatch{0, std::string("port ") + name, fmt::format("{:#x}", x), fmt::format("{:#x}", y)};
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
    return what;
  }
  if (r.lite.bvalid && differ("s_bresp_o", r.lite.bresp, c.lite.bresp)) return what;
  if (r.lite.rvalid && (differ("s_rdata_o", r.lite.rdata, c.lite.rdata) ||
                        differ("s_rresp_o", r.lite.rresp, c.lite.rresp))) {
    return what;
  }
  if (r.read.arvalid && (differ("araddr_o", r.read.araddr, c.read.araddr) ||
                         differ("arlen_o", r.read.arlen, c.read.arlen))) {
    return what;
  }
  if (r.write.awvalid && (differ("awaddr_o", r.write.awaddr, c.write.awaddr) ||
                          differ("awlen_o", r.write.awlen, c.write.awlen))) {
    return what;
  }
  if (!r.write.wvalid) return what;
  if (differ("wlast_o", r.write.wlast ? 1 : 0, c.write.wlast ? 1 : 0)) return what;
  const auto bytes = static_cast<std::size_t>(dw) / 8;
  for (std::size_t i = 0; i * 8 < bytes; ++i) {
    if (differ("wdata_o", r.write.wdata[i], c.write.wdata[i])) return what;
  }
  return what;
}

}  // namespace

LockstepMachine::LockstepMachine(const MachineConfig& config, std::unique_ptr<Machine> rtl)
    : config_(config), core_(config), rtl_(std::move(rtl)) {
  registers_.emplace(part(rtl_->registers(), false), part(core_.registers(), false));
  memories_.emplace(part(rtl_->registers(), true), part(core_.registers(), true));
  registers_->copy_to_model();
  memories_->copy_to_model();
}

void LockstepMachine::reset() {
  rtl_->reset();
  core_.reset();
  compare();
}

void LockstepMachine::step(const MachineStep& in) {
  rtl_->step(in);
  core_.step(in);
  ++now_;
  compare();
}

void LockstepMachine::compare() {
  if (mismatch_) return;
  mismatch_ = ports_differ(rtl_->ports(), core_.ports(), config_.dw);
  if (!mismatch_) mismatch_ = registers_->compare();
  if (mismatch_) mismatch_->cycle = now_;
}

void LockstepMachine::compare_memories() {
  if (mismatch_) return;
  mismatch_ = memories_->compare();
  if (mismatch_) mismatch_->cycle = now_;
}

namespace {

bool all_zero(const std::vector<RegisterView>& views) {
  return std::all_of(views.begin(), views.end(),
                     [](const RegisterView& v) { return get_bits(v.data, 0, v.bits) == 0; });
}

}  // namespace

MachineProbe::MachineProbe(Machine& machine) {
  const auto find = [&](const std::string& name) {
    for (const RegisterView& view : machine.registers()) {
      if (view.name == "bc_machine." + name) return view;
    }
    throw input_error("", 0, "machine", "no register " + name, "the registers of bc_machine");
  };
  for (const char* engine : {"u_fetch", "u_exec", "u_store"}) {
    const std::string name = engine;
    running_.push_back(find(name + "_engine.busy_q"));
    waiting_.push_back(find(name + "_queue.count_q"));
    for (const char* counter : {"idle_q", "run_q", "wait_in_q", "wait_out_q"}) {
      counters_.push_back(find(name + "_engine." + counter));
    }
  }
  waiting_.push_back(find("u_dispatch.pending_q"));
  waiting_.push_back(find("u_dispatch.count_q"));
  halt_ = find("u_regs.halt_q");
}

bool MachineProbe::idle() const { return all_zero(running_) && all_zero(waiting_); }

bool MachineProbe::halted() const {
  return get_bits(halt_.data, 0, halt_.bits) != 0 && all_zero(running_);
}

EngineCycles MachineProbe::engine(MachineEngine e) const {
  const std::size_t at = static_cast<std::size_t>(e) * 4;
  const auto value = [&](std::size_t i) {
    return get_bits(counters_[at + i].data, 0, counters_[at + i].bits);
  };
  return {value(0), value(1), value(2), value(3)};
}

MachineBench::MachineBench(const MachineConfig& config, Machine& machine, AxiMemory& memory)
    : machine_(machine),
      memory_(memory),
      probe_(machine),
      w_data_((static_cast<std::size_t>(config.dw) + 63) / 64) {}

// One cycle: the memory says what it drives, both take the edge.
void MachineBench::edge(MachineStep& step) {
  step.read = memory_.read();
  step.write = memory_.write();
  const AxiReadReq read = machine_.ports().read;
  AxiWriteReq write = machine_.ports().write;
  if (step.read.rvalid && read.rready) ++totals_.read_beats;
  if (step.read.arready && read.arvalid) ++totals_.read_bursts;
  if (step.write.wready && write.wvalid) ++totals_.write_beats;
  if (step.write.awready && write.awvalid) ++totals_.write_bursts;
  // The memory takes what the machine drives before the machine moves on.
  if (write.wvalid) {
    std::copy_n(write.wdata, w_data_.size(), w_data_.begin());
    write.wdata = w_data_.data();
  }
  machine_.step(step);
  memory_.step(read, write);
  ++now_;
}

MachineRun MachineBench::run(WordSource& words, std::uint64_t most_cycles,
                             const std::function<bool()>& stop) {
  return run_stalled(words, most_cycles, 0, 0, stop);
}

MachineRun MachineBench::run_stalled(WordSource& words, std::uint64_t most_cycles, int stall,
                                     std::uint64_t stall_seed, const std::function<bool()>& stop) {
  totals_ = {};
  const std::uint64_t begin = now_;
  const std::uint64_t withheld = memory_.withheld();
  std::array<EngineCycles, kEngines> before{};
  for (std::size_t e = 0; e < kEngines; ++e) {
    before[e] = probe_.engine(static_cast<MachineEngine>(e));
  }
  std::optional<std::uint64_t> word = words.next();
  MachineRun out;
  while (word || !probe_.idle()) {
    if (probe_.halted() || (stop && stop())) {
      out.halted = probe_.halted();
      break;
    }
    if (now_ - begin >= most_cycles) {
      out.timed_out = true;
      break;
    }
    MachineStep step;
    const bool held =
        stall > 0 && static_cast<int>(counter_random(stall_seed, 77, now_) & 255U) < stall;
    step.inst_valid = word.has_value() && !held;
    if (step.inst_valid) step.inst_data = *word;
    const bool taken = step.inst_valid && machine_.ports().inst_ready;
    edge(step);
    if (taken) word = words.next();
  }
  out.cycles = now_ - begin;
  for (std::size_t e = 0; e < kEngines; ++e) {
    const EngineCycles c = probe_.engine(static_cast<MachineEngine>(e));
    out.engines[e] = {c.idle - before[e].idle, c.run - before[e].run, c.wait_in - before[e].wait_in,
                      c.wait_out - before[e].wait_out};
  }
  out.read_beats = totals_.read_beats;
  out.read_bursts = totals_.read_bursts;
  out.write_beats = totals_.write_beats;
  out.write_bursts = totals_.write_bursts;
  out.withheld = memory_.withheld() - withheld;
  return out;
}

void MachineBench::cycle(const AxiLiteReq& lite) {
  MachineStep step;
  step.lite = lite;
  edge(step);
}

std::uint32_t MachineBench::read_register(std::uint16_t address) {
  AxiLiteReq lite;
  lite.arvalid = true;
  lite.araddr = address;
  lite.rready = true;
  for (int i = 0; i < 100; ++i) {
    const AxiLiteResp seen = machine_.ports().lite;
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
    const AxiLiteResp seen = machine_.ports().lite;
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
