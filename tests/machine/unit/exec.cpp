// bc_exec (gathers, operand buffers, position generators) against ExecUnit in every cycle, and
// every beat of both against the address rule with divisions: gather_bit.
// cpp: model/machine/exec.cpp model/machine/gather.cpp model/machine/gather_reference.cpp
// cpp: model/machine/positions.cpp model/machine/instruction.cpp model/machine/machine_config.cpp
// cpp: model/array_config.cpp golden/text_file.cpp
// cpp: golden/yaml_text.cpp
#include "model/machine/exec.hpp"

#include <algorithm>

#include "Vdut.h"
#include "tests/machine/gather_cases.hpp"
#include "tests/machine/unit/unit.hpp"

using namespace bitcycle;
using namespace bitcycle::gather_cases;

namespace {

MachineConfig config_of(const unit::Arguments& arguments) {
  MachineConfig c;
  c.array.kl = arguments.get("KL", 16);
  c.array.tm = arguments.get("TM", 4);
  c.array.tn = arguments.get("TN", 4);
  c.array.ba = arguments.get("BA", 4);
  c.array.bw = arguments.get("BW", 4);
  c.array.p_max = arguments.get("P_MAX", 16);
  c.gl = arguments.get("GL", 16);
  c.dw = arguments.get("DW", 64);
  c.l1a_d = arguments.get("L1A_D", 512);
  c.l1w_d = arguments.get("L1W_D", 512);
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  const unit::Arguments arguments(argc, argv);
  const MachineConfig c = config_of(arguments);
  unit::Random random(static_cast<std::uint64_t>(arguments.get("SEED", 1)));
  unit::Unit<Vdut> dut(random.word(), "bc_exec");
  ExecUnit model(c);
  std::vector<RegisterView> registers;
  model.list("bc_exec", registers);
  if (c.dw * (c.l1a_d + c.l1w_d) <= 1 << 16) model.list_memories("bc_exec", registers);
  Oracle oracle_a(c, true), oracle_w(c, false);

  dut->start_i = 0;
  dut->l1a_we_i = dut->l1w_we_i = 0;
  dut->desc_ready_i = dut->a_ready_i = dut->w_ready_i = dut->res_done_i = 0;
  dut.reset();
  dut.attach(registers);

  enum class State { kIdle, kSetUp, kFeed };
  State state = State::kIdle;
  ExecInstruction instruction;
  std::vector<std::uint64_t> words(layout::kExecWords);
  std::vector<std::uint64_t> line(static_cast<std::size_t>(c.dw + 63) / 64);
  layout::MachineCause cause = layout::MachineCause::kNone;
  std::uint64_t started = 0, instructions = 0, illegal = 0, resets = 0;
  int fill = std::max(c.l1a_d, c.l1w_d);  // beats of the buffers still to be written once
  int a_rate = 100, w_rate = 100, write_rate = 20, ready_rate = 100;

  for (int cycle = arguments.get("CYCLES", c.array.kl < 64 ? 100000 : 30000); cycle-- > 0;) {
    if (random.chance(1)) {
      a_rate = random.chance(10) ? random.range(1, 20) : random.range(30, 120);
      w_rate = random.chance(10) ? random.range(1, 20) : random.range(30, 120);
      write_rate = random.range(0, 60), ready_rate = random.range(20, 300);
    }
    if (fill == 0 && random.below(5000) == 0) {  // reset in mid-run
      dut->start_i = dut->l1a_we_i = dut->l1w_we_i = 0;
      dut.reset();
      model.reset();
      oracle_a.stop();
      oracle_w.stop();
      state = State::kIdle;
      ++resets;
    }

    ExecStep in;
    in.start = fill == 0 && state == State::kIdle && random.chance(60);
    for (auto& word : words) word = random.word();  // read in the start cycle only
    if (in.start) {
      instruction = any_instruction(random, c);
      if (random.chance(8)) break_something(random, c, instruction);
      cause = cause_of(instruction, c);
      words = encode(instruction);
    }
    in.inst = words.data();
    for (auto& word : line) word = random.word();
    in.l1_data = line.data();
    in.l1a_write = fill > 0 || random.chance(write_rate);
    in.l1w_write = fill > 0 || random.chance(write_rate);
    const std::uint64_t beat = fill > 0 ? static_cast<std::uint64_t>(--fill) : random.bits(20);
    in.l1a_beat = static_cast<std::uint32_t>(beat) & static_cast<std::uint32_t>(c.l1a_d - 1);
    in.l1w_beat = static_cast<std::uint32_t>(beat) & static_cast<std::uint32_t>(c.l1w_d - 1);
    in.desc_ready = random.chance(ready_rate);
    in.a_ready = random.chance(a_rate);
    in.w_ready = random.chance(w_rate);
    const bool res_done =
        state == State::kFeed && !oracle_a.valid() && !oracle_w.valid() && random.chance(50);

    dut->start_i = in.start;
    unit::drive(dut->inst_i, words.data(), words.size() * 64);
    dut->l1a_we_i = in.l1a_write;
    dut->l1w_we_i = in.l1w_write;
    dut->l1a_addr_i = in.l1a_beat;
    dut->l1w_addr_i = in.l1w_beat;
    unit::drive(dut->l1_data_i, line.data(), static_cast<std::size_t>(c.dw));
    dut->desc_ready_i = in.desc_ready;
    dut->a_ready_i = in.a_ready;
    dut->w_ready_i = in.w_ready;
    dut->res_done_i = res_done;
    dut.settle();

    // From the specification.
    const std::uint64_t age = dut.cycle() - started;
    const bool set_up = state == State::kSetUp;
    const bool err = set_up && age == 1 && cause != layout::MachineCause::kNone;
    dut.same("err_o", dut->err_o, err);
    if (err) dut.same("cause_o", dut->cause_o, cause);
    dut.same("done_o", dut->done_o, err || res_done);
    const bool described = set_up && !err && age > static_cast<std::uint64_t>(c.setup_cycles());
    dut.same("desc_valid_o", dut->desc_valid_o, described);
    if (described) {
      dut.same("desc_m_o", dut->desc_m_o, instruction.m);
      dut.same("desc_n_o", dut->desc_n_o, instruction.n);
      dut.same("desc_k_o", dut->desc_k_o, instruction.k);
      dut.same("desc_pa_o", dut->desc_pa_o, instruction.pa.bits);
      dut.same("desc_pw_o", dut->desc_pw_o, instruction.pw.bits);
      dut.same("desc_a_signed_o", dut->desc_a_signed_o, instruction.pa.is_signed);
      dut.same("desc_w_signed_o", dut->desc_w_signed_o, instruction.pw.is_signed);
    }
    dut.same("a_valid_o", dut->a_valid_o, oracle_a.valid());
    dut.same("w_valid_o", dut->w_valid_o, oracle_w.valid());
    const auto a_bits = static_cast<std::size_t>(c.array.ba * c.array.kl);
    const auto w_bits = static_cast<std::size_t>(c.array.bw * c.array.kl);
    if (oracle_a.valid() && in.a_ready &&
        !unit::equal(dut->a_data_o, oracle_a.beat().data(), a_bits)) {
      dut.fail("a_data_o differs from the address rule");
    }
    if (oracle_w.valid() && in.w_ready &&
        !unit::equal(dut->w_data_o, oracle_w.beat().data(), w_bits)) {
      dut.fail("w_data_o differs from the address rule");
    }

    // The model.
    dut.same("model: err", model.err(), err);
    if (err) dut.same("model: cause", model.cause(), cause);
    dut.same("model: desc_valid", model.desc_valid(), described);
    dut.same("model: setup", model.setup(), set_up && !described && (!err || c.setup_cycles() > 0));
    dut.same("model: a_valid", model.a_valid(), oracle_a.valid());
    dut.same("model: w_valid", model.w_valid(), oracle_w.valid());
    if (described) {
      const RawDescriptor d = model.descriptor();
      if (d.m != instruction.m || d.n != instruction.n || d.k != instruction.k ||
          d.pa != instruction.pa.bits || d.pw != instruction.pw.bits ||
          d.a_signed != instruction.pa.is_signed || d.w_signed != instruction.pw.is_signed) {
        dut.fail("model: descriptor");
      }
    }
    if (model.a_valid() && !unit::equal(dut->a_data_o, model.a_beat(), a_bits)) {
      dut.fail("a_data_o differs from the model");
    }
    if (model.w_valid() && !unit::equal(dut->w_data_o, model.w_beat(), w_bits)) {
      dut.fail("w_data_o differs from the model");
    }

    // The edge.
    if (oracle_a.valid() && in.a_ready) oracle_a.taken();
    if (oracle_w.valid() && in.w_ready) oracle_w.taken();
    if (in.start) {
      state = State::kSetUp;
      started = dut.cycle();
      ++instructions;
    } else if (err) {
      state = State::kIdle;
      ++illegal;
    } else if (described && in.desc_ready) {
      state = State::kFeed;
      oracle_a.start(instruction);
      oracle_w.start(instruction);
    } else if (res_done) {
      state = State::kIdle;
    }
    if (in.l1a_write) oracle_a.memory().write(in.l1a_beat, line.data());
    if (in.l1w_write) oracle_w.memory().write(in.l1w_beat, line.data());
    model.step(in);
    dut.edge();
  }

  // The cases must have been there: both modes on both sides, with ones and padding.
  bool covered = instructions > 100 && illegal > 5 && resets > 0;
  for (const Oracle* oracle : {&oracle_a, &oracle_w}) {
    for (std::size_t mode = 0; mode < 2; ++mode) {
      const auto share =
          static_cast<double>(oracle->ones[mode]) / static_cast<double>(oracle->total[mode]);
      covered = covered && share > 0.05 && share < 0.45;
      std::printf("mode %c: %.0f %% ones; ", mode == 0 ? 'N' : 'T', 100 * share);
    }
  }
  std::printf("%s: %llu cycles, %llu instructions, %llu illegal, %llu resets\n",
              covered ? "ok" : "not covered", static_cast<unsigned long long>(dut.cycle()),
              static_cast<unsigned long long>(instructions),
              static_cast<unsigned long long>(illegal), static_cast<unsigned long long>(resets));
  return covered ? 0 : 1;
}
