#include "model/machine/timed.hpp"

#include "model/formula.hpp"

namespace bitcycle {
TimedTransfer timed_transfer(const LineWalk& l) {
  TimedTransfer t;
  t.address = l.dram;
  t.line_beats = l.line_beats;
  t.n0 = l.n0;
  t.n1 = l.n1;
  t.n2 = l.n2;
  t.stride0 = l.stride0;
  t.stride1 = l.stride1;
  t.stride2 = l.stride2;
  return t;
}

TimedInstruction timed(const ExecInstruction& instruction, std::uint64_t array_cycles) {
  const ExecInstruction& e = instruction;
  TimedInstruction out;
  out.engine = MachineEngine::kExec;
  out.wait_in = e.wait_f2e;
  out.wait_out = e.wait_r2e;
  out.post_down = e.post_e2r;
  out.post_up = e.post_e2f;
  out.array_cycles = array_cycles;
  return out;
}

TimedInstruction timed(const Instruction& instruction, const MachineConfig& config) {
  TimedInstruction out;
  if (const auto* f = std::get_if<FetchInstruction>(&instruction)) {
    out.engine = MachineEngine::kFetch;
    out.wait_in = f->wait_r2f;
    out.wait_out = f->wait_e2f;
    out.post_down = f->post_f2e;
    out.transfer = timed_transfer(f->lines);
  } else if (const auto* s = std::get_if<StoreInstruction>(&instruction)) {
    out.engine = MachineEngine::kStore;
    out.wait_in = s->wait_e2r;
    out.post_down = s->post_r2f;
    out.post_up = s->post_r2e;
    out.transfer = timed_transfer(s->lines);
  } else {
    const auto& e = std::get<ExecInstruction>(instruction);
    return timed(e, gemm_timing(config.array, {{e.m, e.n, e.k}, e.pa, e.pw}).cycles);
  }
  return out;
}

}  // namespace bitcycle
