// cpp: model/machine/control.cpp
// bc_engine against EngineControl: random instructions, tokens, halts and clears; the four counters
// sum to the enabled cycles.
#include "Vdut.h"
#include "model/machine/control.hpp"
#include "tests/machine/unit/unit.hpp"

using namespace bitcycle;

int main(int argc, char** argv) {
  const unit::Arguments arguments(argc, argv);
  unit::Random random(static_cast<std::uint64_t>(arguments.get("SEED", 1)));
  unit::Unit<Vdut> dut(random.word(), "bc_engine");
  EngineControl model;
  std::vector<RegisterView> registers;
  model.list("bc_engine", registers);
  dut->enable_i = dut->halt_i = dut->clear_i = dut->valid_i = dut->illegal_i = dut->in_ok_i = 0;
  dut->out_ok_i = dut->post_i = dut->done_i = dut->err_i = 0;
  dut.reset();
  dut.attach(registers);

  std::uint64_t enabled = 0, starts = 0, drops = 0, posts = 0, expected_posts = 0;
  std::uint8_t running_post = 0;
  int rate = 50;
  for (int cycle = arguments.get("CYCLES", 200000); cycle-- > 0;) {
    if (random.chance(1)) rate = random.range(5, 95);
    EngineControl::Inputs in;
    in.enable = random.chance(90);
    in.halt = random.chance(10);
    in.clear = random.below(2000) == 0;
    in.valid = random.chance(rate);
    in.illegal = random.chance(10);
    in.in_ok = random.chance(rate);
    in.out_ok = random.chance(rate);
    in.post = static_cast<std::uint8_t>(random.bits(2));
    in.done = model.busy() && random.chance(rate);
    in.err = random.chance(20);
    dut->enable_i = in.enable;
    dut->halt_i = in.halt;
    dut->clear_i = in.clear;
    dut->valid_i = in.valid;
    dut->illegal_i = in.illegal;
    dut->in_ok_i = in.in_ok;
    dut->out_ok_i = in.out_ok;
    dut->post_i = in.post;
    dut->done_i = in.done;
    dut->err_i = in.err;
    dut.settle();
    dut.same("pop_o", dut->pop_o, model.pop(in));
    dut.same("start_o", dut->start_o, model.start(in));
    dut.same("drop_o", dut->drop_o, model.drop(in));
    dut.same("busy_o", dut->busy_o, model.busy());
    dut.same("post_o", dut->post_o, model.post(in));
    // What the rules say, apart from the model.
    dut.same("pop", model.pop(in),
             !model.busy() && in.valid && in.in_ok && in.out_ok && in.enable && !in.halt);
    if (in.done && !in.err) {
      dut.same("posted", model.post(in), running_post);
      ++expected_posts;
      ++posts;
    } else {
      dut.same("posted", model.post(in), 0);
    }
    if (model.start(in)) running_post = in.post;
    starts += model.start(in) ? 1 : 0;
    drops += model.drop(in) ? 1 : 0;
    enabled = in.clear ? 0 : enabled + (in.enable ? 1 : 0);
    model.step(in);
    dut.edge();
    const EngineControl::Counters& c = model.counters();
    dut.same("idle_o", dut->idle_o, c.idle);
    dut.same("run_o", dut->run_o, c.run);
    dut.same("wait_in_o", dut->wait_in_o, c.wait_in);
    dut.same("wait_out_o", dut->wait_out_o, c.wait_out);
    dut.same("sum of the counters", c.idle + c.run + c.wait_in + c.wait_out, enabled);
  }
  std::printf("ok: %llu starts, %llu drops, %llu posts\n", static_cast<unsigned long long>(starts),
              static_cast<unsigned long long>(drops), static_cast<unsigned long long>(posts));
  return starts > 100 && drops > 100 && posts > 100 ? 0 : 1;
}
