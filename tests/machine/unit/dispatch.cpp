// cpp: model/machine/control.cpp model/machine/dispatch.cpp
// bc_dispatch against Dispatch: random instructions from both sources with gaps, full queues,
// illegal headers and flushes; every instruction arrives whole, in order, at its engine.
#include "model/machine/dispatch.hpp"

#include <deque>

#include "Vdut.h"
#include "model/machine/control.hpp"
#include "tests/machine/unit/unit.hpp"

using namespace bitcycle;

namespace {

int words_of(unsigned kind) {
  return kind == 3 ? 1 : kind == kExecEngine ? layout::kExecWords : layout::kFetchWords;
}

// One source: words of whole instructions.
struct Source {
  std::deque<std::uint64_t> words;
  bool valid = false;
  int rate = 50;

  void fill(unit::Random& random) {
    if (!words.empty()) return;
    const unsigned kind = random.chance(3) ? 3 : static_cast<unsigned>(random.below(3));
    words.push_back((random.word() & ~std::uint64_t{3}) | kind);
    for (int w = 1; w < words_of(kind); ++w) words.push_back(random.word());
  }
};

}  // namespace

int main(int argc, char** argv) {
  const unit::Arguments arguments(argc, argv);
  unit::Random random(static_cast<std::uint64_t>(arguments.get("SEED", 1)));
  unit::Unit<Vdut> dut(random.word(), "bc_dispatch");
  Dispatch model;
  std::vector<RegisterView> registers;
  model.list("bc_dispatch", registers);
  dut->flush_i = dut->inst_valid_i = dut->mm_valid_i = dut->room_i = 0;
  dut.reset();
  dut.attach(registers);

  Source source[2];
  std::vector<std::uint64_t> assembling;
  std::deque<std::vector<std::uint64_t>> expected;
  std::uint64_t pushes = 0, errors = 0, flushes = 0, from[2] = {0, 0}, back_to_back = 0;
  bool flush = false;
  int assembling_from = 0, room_rate = 50;
  for (int cycle = arguments.get("CYCLES", 200000); cycle-- > 0;) {
    if (random.chance(1)) {
      source[0].rate = random.chance(30) ? 100 : random.range(0, 100);
      source[1].rate = random.range(0, 100);
      room_rate = random.chance(30) ? 100 : random.range(0, 100);
    }
    flush = flush ? random.chance(80) : random.below(1000) == 0;
    for (Source& s : source) {
      s.fill(random);
      s.valid = s.valid || random.chance(s.rate);
    }
    Dispatch::Inputs in;
    in.flush = flush;
    in.inst_valid = source[0].valid;
    in.inst_data = source[0].words.front();
    in.mm_valid = source[1].valid;
    in.mm_data = source[1].words.front();
    in.room = 0;
    for (unsigned e = 0; e < 3; ++e) {
      if (random.chance(room_rate)) in.room = static_cast<std::uint8_t>(in.room | 1U << e);
    }
    dut->flush_i = in.flush;
    dut->inst_valid_i = in.inst_valid;
    dut->inst_data_i = in.inst_data;
    dut->mm_valid_i = in.mm_valid;
    dut->mm_data_i = in.mm_data;
    dut->room_i = in.room;
    dut.settle();
    dut.same("inst_ready_o", dut->inst_ready_o, model.inst_ready(in));
    dut.same("mm_ready_o", dut->mm_ready_o, model.mm_ready(in));
    dut.same("push_o", dut->push_o, model.push(in));
    dut.same("err_o", dut->err_o, model.err(in));
    dut.same("busy_o", dut->busy_o, model.busy());
    if (!unit::equal(dut->inst_o, model.inst(), layout::kExecWords * 64)) dut.fail("inst_o");

    const bool taken[2] = {in.inst_valid && model.inst_ready(in),
                           in.mm_valid && model.mm_ready(in)};
    if (!flush && taken[0] && taken[1]) dut.fail("both sources taken");
    if (flush && cycle < arguments.get("CYCLES", 200000) - 2 &&
        (taken[0] != in.inst_valid || taken[1] != in.mm_valid)) {
      dut.fail("a flush discards every word");
    }
    const std::uint8_t push = model.push(in);
    if (push != 0) {
      if (expected.empty()) dut.fail("push without an instruction");
      const std::vector<std::uint64_t>& want = expected.front();
      dut.same("engine", push, 1U << (want[0] & 3U));
      if (!std::equal(want.begin(), want.end(), model.inst())) dut.fail("words of an instruction");
      expected.pop_front();
      ++pushes;
      back_to_back += taken[0] || taken[1] ? 1 : 0;
    }
    bool illegal = false;
    for (int s = 0; s < 2; ++s) {
      if (!taken[s]) continue;
      const std::uint64_t word = source[s].words.front();
      source[s].words.pop_front();
      source[s].valid = false;
      if (flush) continue;
      ++from[s];
      if (assembling.empty()) {
        assembling_from = s;
        illegal = (word & 3U) == 3;
        if (illegal) continue;
      } else if (assembling_from != s) {
        dut.fail("an instruction mixed from two sources");
      }
      assembling.push_back(word);
      if (static_cast<int>(assembling.size()) == words_of(assembling[0] & 3U)) {
        expected.push_back(assembling);
        assembling.clear();
      }
    }
    dut.same("error", model.err(in), illegal);
    errors += illegal ? 1 : 0;
    if (flush) {
      ++flushes;
      assembling.clear();
      expected.clear();
      for (Source& s : source) s.words.clear(), s.valid = false;
    }
    model.step(in);
    dut.edge();
  }
  std::printf("ok: %llu pushes (%llu with the next header), %llu illegal, words %llu + %llu\n",
              static_cast<unsigned long long>(pushes),
              static_cast<unsigned long long>(back_to_back),
              static_cast<unsigned long long>(errors), static_cast<unsigned long long>(from[0]),
              static_cast<unsigned long long>(from[1]));
  return pushes > 500 && errors > 10 && flushes > 10 && from[1] > 100 && back_to_back > 10 ? 0 : 1;
}
