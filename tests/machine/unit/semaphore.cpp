// cpp: model/machine/control.cpp
// bc_semaphore against Semaphore, around its limits too.
#include "Vdut.h"
#include "model/machine/control.hpp"
#include "tests/machine/unit/unit.hpp"

using namespace bitcycle;

int main(int argc, char** argv) {
  const unit::Arguments arguments(argc, argv);
  unit::Random random(static_cast<std::uint64_t>(arguments.get("SEED", 1)));
  unit::Unit<Vdut> dut(random.word(), "bc_semaphore");
  Semaphore model;
  std::vector<RegisterView> registers;
  model.list("bc_semaphore", registers);
  dut->post_i = dut->take_i = dut->need_i = 0;
  dut.reset();
  dut.attach(registers);

  std::uint64_t posted = 0, taken = 0, lost = 0, refused = 0;
  int post_rate = 50, take_rate = 50, most = 3;
  for (int cycle = arguments.get("CYCLES", 400000); cycle-- > 0;) {
    // Long stretches without takes reach 65535.
    if (cycle % 100000 == 0) post_rate = 100, take_rate = 0;
    if (random.below(100) == 0 && cycle % 100000 < 30000) {
      post_rate = random.range(0, 100);
      take_rate = random.range(0, 100);
      most = random.chance(50) ? 3 : 300;
    }
    const bool post = random.chance(post_rate);
    const auto need = static_cast<std::uint16_t>(random.range(0, most));
    const bool take = model.ok(need) && random.chance(take_rate);
    dut->post_i = post;
    dut->need_i = need;
    dut->take_i = take;
    dut.settle();
    dut.same("ok_o", dut->ok_o, model.ok(need));
    dut.same("count_o", dut->count_o, model.count());
    dut.same("overflow_o", dut->overflow_o, model.overflow(post, need, take));
    refused += model.ok(need) ? 0 : 1;
    lost += model.overflow(post, need, take) ? 1 : 0;
    posted += post ? 1 : 0;
    taken += take ? need : 0;
    model.step(post, need, take);
    dut.edge();
    dut.same("posted - lost - taken", posted - lost - taken, model.count());
  }
  std::printf("ok: %llu posted, %llu lost, %llu taken\n", static_cast<unsigned long long>(posted),
              static_cast<unsigned long long>(lost), static_cast<unsigned long long>(taken));
  return lost > 0 && taken > 0 && refused > 0 ? 0 : 1;
}
