// The machine and the memory behind it as SystemC modules: ONE process around each implementation,
// with struct-valued ports.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <ostream>
#include <systemc>

#include "model/machine/axi_memory.hpp"
#include "model/machine/machine.hpp"

namespace bitcycle {

/// What the machine drives in a cycle, with its write data inside (at most 1024 bits).
struct MasterSignals {
  AxiReadReq read;
  AxiWriteReq write;
  std::array<std::uint64_t, 16> wdata{};
};
/// What the memory drives.
struct SlaveSignals {
  AxiReadResp read;
  AxiWriteResp write;
  std::array<std::uint64_t, 16> rdata{};
};

// sc_signal wants these for the value it carries. Every cycle is a new value.
inline bool operator==(const MasterSignals&, const MasterSignals&) { return false; }
inline bool operator==(const SlaveSignals&, const SlaveSignals&) { return false; }
inline std::ostream& operator<<(std::ostream& out, const MasterSignals& s) {
  return out << "ar " << s.read.arvalid << " aw " << s.write.awvalid << " w " << s.write.wvalid;
}
inline std::ostream& operator<<(std::ostream& out, const SlaveSignals& s) {
  return out << "r " << s.read.rvalid << " b " << s.write.bvalid;
}
inline void sc_trace(sc_core::sc_trace_file* file, const MasterSignals& s,
                     const std::string& name) {
  sc_core::sc_trace(file, s.read.arvalid, name + ".arvalid");
  sc_core::sc_trace(file, s.write.awvalid, name + ".awvalid");
  sc_core::sc_trace(file, s.write.wvalid, name + ".wvalid");
}
inline void sc_trace(sc_core::sc_trace_file* file, const SlaveSignals& s, const std::string& name) {
  sc_core::sc_trace(file, s.read.rvalid, name + ".rvalid");
  sc_core::sc_trace(file, s.write.bvalid, name + ".bvalid");
}

/// Clocked shell around a machine. Instruction words and register accesses come from `host`, which
/// is asked in every cycle and sees the ports before the edge.
class MachineModule : public sc_core::sc_module {
 public:
  using Host = std::function<void(const MachinePorts&, MachineStep&)>;
  sc_core::sc_in<bool> clk_i{"clk_i"};
  sc_core::sc_in<SlaveSignals> slave_i{"slave_i"};
  sc_core::sc_out<MasterSignals> master_o{"master_o"};

  // NOLINTNEXTLINE(performance-unnecessary-value-param): SystemC builds the hierarchy by this copy
  MachineModule(sc_core::sc_module_name name, Machine& machine, int dw, Host host)
      : sc_module(name),
        machine_(machine),
        words_((static_cast<std::size_t>(dw) + 63) / 64),
        host_(std::move(host)) {
    SC_HAS_PROCESS(MachineModule);
    SC_METHOD(edge);
    sensitive << clk_i.pos();
    dont_initialize();
  }

  /// What the machine drives before the first edge.
  MasterSignals signals() const {
    const MachinePorts& ports = machine_.ports();
    MasterSignals out;
    out.read = ports.read;
    out.write = ports.write;
    if (out.write.wvalid) std::copy_n(ports.write.wdata, words_, out.wdata.begin());
    return out;
  }

 private:
  void edge() {
    const SlaveSignals& slave = slave_i.read();
    MachineStep step;
    step.read = slave.read;
    step.read.rdata = slave.rdata.data();
    step.write = slave.write;
    host_(machine_.ports(), step);
    machine_.step(step);
    master_o.write(signals());
  }

  Machine& machine_;
  std::size_t words_;
  Host host_;
};

/// Clocked shell around a memory.
class MemoryModule : public sc_core::sc_module {
 public:
  sc_core::sc_in<bool> clk_i{"clk_i"};
  sc_core::sc_in<MasterSignals> master_i{"master_i"};
  sc_core::sc_out<SlaveSignals> slave_o{"slave_o"};

  // NOLINTNEXTLINE(performance-unnecessary-value-param): SystemC builds the hierarchy by this copy
  MemoryModule(sc_core::sc_module_name name, AxiMemory& memory, int dw)
      : sc_module(name), memory_(memory), words_((static_cast<std::size_t>(dw) + 63) / 64) {
    SC_HAS_PROCESS(MemoryModule);
    SC_METHOD(edge);
    sensitive << clk_i.pos();
    dont_initialize();
  }

  /// What the memory drives before the first edge.
  SlaveSignals signals() const {
    SlaveSignals out;
    out.read = memory_.read();
    out.write = memory_.write();
    if (out.read.rvalid) std::copy_n(out.read.rdata, words_, out.rdata.begin());
    out.read.rdata = nullptr;
    return out;
  }

 private:
  void edge() {
    MasterSignals master = master_i.read();
    master.write.wdata = master.wdata.data();
    memory_.step(master.read, master.write);
    slave_o.write(signals());
  }

  AxiMemory& memory_;
  std::size_t words_;
};

}  // namespace bitcycle
