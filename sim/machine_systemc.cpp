#include "sim/machine_systemc.hpp"

#include <stdexcept>

#include "model/machine/systemc_machine.hpp"

namespace bitcycle {

// The hierarchy, and the run that goes on.
struct SystemcBench::Elaborated {
  Elaborated(const MachineConfig& config, Machine& m, AxiMemory& mem)
      : memory(mem),
        probe(m),
        machine_module("machine", m, config.dw,
                       [this](const MachinePorts& ports, MachineStep& step) { host(ports, step); }),
        memory_module("memory", mem, config.dw) {
    machine_module.clk_i(clock);
    machine_module.slave_i(slave);
    machine_module.master_o(master);
    memory_module.clk_i(clock);
    memory_module.master_i(master);
    memory_module.slave_o(slave);
    master.write(machine_module.signals());
    slave.write(memory_module.signals());
  }

  // Called at every rising edge, with what both sides drive in the cycle that ends there.
  void host(const MachinePorts& ports, MachineStep& step) {
    if (words == nullptr) return;
    const bool idle = !word && probe.idle();
    if (idle || probe.halted() || (stop && stop()) || now >= most_cycles) {
      out.halted = !idle && probe.halted();
      out.timed_out = !idle && !out.halted && now >= most_cycles;
      out.cycles = now;
      for (std::size_t e = 0; e < kEngines; ++e) {
        const EngineCycles c = probe.engine(static_cast<MachineEngine>(e));
        out.engines[e] = {c.idle - before[e].idle, c.run - before[e].run,
                          c.wait_in - before[e].wait_in, c.wait_out - before[e].wait_out};
      }
      words = nullptr;
      sc_core::sc_pause();
      return;
    }
    ++now;
    if (step.read.rvalid && ports.read.rready) ++out.read_beats;
    if (step.read.arready && ports.read.arvalid) ++out.read_bursts;
    if (step.write.wready && ports.write.wvalid) ++out.write_beats;
    if (step.write.awready && ports.write.awvalid) ++out.write_bursts;
    step.inst_valid = word.has_value();
    if (!word) return;
    step.inst_data = *word;
    if (ports.inst_ready) word = words->next();
  }

  AxiMemory& memory;
  MachineProbe probe;
  sc_core::sc_clock clock{"clk", sc_core::sc_time(1, sc_core::SC_NS), 0.5, sc_core::SC_ZERO_TIME,
                          false};
  sc_core::sc_signal<MasterSignals> master{"master"};
  sc_core::sc_signal<SlaveSignals> slave{"slave"};
  MachineModule machine_module;
  MemoryModule memory_module;

  WordSource* words = nullptr;
  std::optional<std::uint64_t> word;
  std::function<bool()> stop;
  std::uint64_t most_cycles = 0, now = 0;
  std::array<EngineCycles, kEngines> before{};
  MachineRun out;
};

SystemcBench::SystemcBench(const MachineConfig& config, Machine& machine, AxiMemory& memory) {
  static bool used = false;
  if (used) throw std::logic_error("SystemC elaborates once in a process");
  used = true;
  modules_ = std::make_unique<Elaborated>(config, machine, memory);
}

SystemcBench::~SystemcBench() = default;

MachineRun SystemcBench::run(WordSource& words, std::uint64_t most_cycles,
                             const std::function<bool()>& stop) {
  Elaborated& m = *modules_;
  m.words = &words;
  m.word = words.next();
  m.stop = stop;
  m.most_cycles = most_cycles;
  m.now = 0;
  m.out = {};
  const std::uint64_t withheld = m.memory.withheld();
  for (std::size_t e = 0; e < kEngines; ++e) {
    m.before[e] = m.probe.engine(static_cast<MachineEngine>(e));
  }
  sc_core::sc_start();
  m.out.withheld = m.memory.withheld() - withheld;
  return m.out;
}

}  // namespace bitcycle
