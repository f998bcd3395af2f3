#include "sim/machine_systemc.hpp"

#include <stdexcept>

#include "model/machine/systemc_machine.hpp"

namespace bitcycle {

MachineRun run_machine_under_systemc(const MachineConfig& config, Machine& machine,
                                     AxiMemory& memory, WordSource& words,
                                     std::uint64_t most_cycles,
                                     const std::function<bool()>& stop) {
  static bool used = false;
  if (used) throw std::logic_error("SystemC elaborates once in a process");
  used = true;
  // The kernel's remark that sc_stop() was called is of no use to anyone.
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO,
                                          sc_core::SC_DO_NOTHING);
  const MachineProbe probe(machine);
  MachineRun out;
  const std::uint64_t withheld = memory.withheld();
  std::array<EngineCycles, kEngines> before{};
  for (std::size_t e = 0; e < kEngines; ++e) before[e] = probe.engine(static_cast<MachineEngine>(e));
  std::optional<std::uint64_t> word = words.next();
  std::uint64_t now = 0;
  bool finished = false;

  const auto host = [&](const MachinePorts& ports, MachineStep& step) {
    if (finished) return;
    // The state before this edge: the run has ended if nothing is left to do.
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
      finished = true;
      sc_core::sc_stop();
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
    if (ports.inst_ready) word = words.next();
  };

  sc_core::sc_clock clock("clk", sc_core::sc_time(1, sc_core::SC_NS), 0.5, sc_core::SC_ZERO_TIME,
                          false);
  sc_core::sc_signal<MasterSignals> master("master");
  sc_core::sc_signal<SlaveSignals> slave("slave");
  MachineModule machine_module("machine", machine, config.dw, host);
  MemoryModule memory_module("memory", memory, config.dw);
  machine_module.clk_i(clock);
  machine_module.slave_i(slave);
  machine_module.master_o(master);
  memory_module.clk_i(clock);
  memory_module.master_i(master);
  memory_module.slave_o(slave);
  master.write(machine_module.signals());
  slave.write(memory_module.signals());
  sc_core::sc_start();
  out.withheld = memory.withheld() - withheld;
  return out;
}

}  // namespace bitcycle
