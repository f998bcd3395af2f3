// cpp: model/machine/control.cpp
// bc_queue against InstructionQueue, and both against a std::deque.
#include <deque>

#include "Vdut.h"
#include "model/machine/control.hpp"
#include "tests/machine/unit/unit.hpp"

using namespace bitcycle;

int main(int argc, char** argv) {
  const unit::Arguments arguments(argc, argv);
  const int words = arguments.get("WORDS", 6);
  const int depth = arguments.get("QD", 4);
  unit::Random random(static_cast<std::uint64_t>(arguments.get("SEED", 1)));
  unit::Unit<Vdut> dut(random.word(), "bc_queue");
  InstructionQueue model(words, depth);
  std::vector<RegisterView> registers;
  model.list("bc_queue", registers);
  dut->push_i = dut->pop_i = 0;
  dut.reset();
  dut.attach(registers);

  std::deque<std::vector<std::uint64_t>> golden;
  std::vector<std::uint64_t> data(static_cast<std::size_t>(words)), head(data.size());
  int push_rate = 50, pop_rate = 50;
  std::uint64_t full_exchange = 0;
  for (int cycle = arguments.get("CYCLES", 100000); cycle-- > 0;) {
    if (random.chance(1)) push_rate = random.range(0, 100), pop_rate = random.range(0, 100);
    const bool pop = model.valid() && random.chance(pop_rate);
    const bool push = model.room(pop) && random.chance(push_rate);
    for (auto& word : data) word = random.word();
    dut->pop_i = pop;
    dut->push_i = push;
    unit::drive(dut->data_i, data.data(), data.size() * 64);
    dut.settle();
    dut.same("valid_o", dut->valid_o, model.valid());
    dut.same("full_o", dut->full_o, model.full());
    dut.same("room_o", dut->room_o, model.room(pop));
    dut.same("entries", model.valid(), !golden.empty());
    dut.same("full", model.full(), golden.size() == static_cast<std::size_t>(depth));
    if (model.valid()) {
      model.head(head.data());
      if (!unit::equal(dut->data_o, head.data(), head.size() * 64)) dut.fail("data_o");
      if (head != golden.front()) dut.fail("order");
    }
    full_exchange += push && pop && model.full() ? 1 : 0;
    if (pop) golden.pop_front();
    if (push) golden.push_back(data);
    model.step(push, data.data(), pop);
    dut.edge();
  }
  std::printf("ok: %llu cycles, %llu exchanges while full\n",
              static_cast<unsigned long long>(dut.cycle()),
              static_cast<unsigned long long>(full_exchange));
  return full_exchange > 0 ? 0 : 1;
}
