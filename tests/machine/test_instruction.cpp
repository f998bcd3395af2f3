#include <catch2/catch.hpp>
#include <random>

#include "golden/error.hpp"
#include "model/machine/functional.hpp"
#include "model/machine/instruction.hpp"

namespace bitcycle {
namespace {

using layout::MachineCause;

MachineConfig config() { return machine_for(resolve_array("ci-1x1-s4")); }

TEST_CASE("instruction: fields land where the description says", "[machine][instruction]") {
  FetchInstruction f;
  f.target = OperandBuffer::kW;
  f.wait_e2f = 3;
  f.post_f2e = true;
  f.lines.dram = 0x1234567890;
  f.lines.line_beats = 7;
  f.lines.n0 = 2;
  f.lines.buffer = 0x123;
  f.lines.stride2 = -1;
  const auto w = encode(f);
  REQUIRE(w.size() == 6);
  CHECK(w[0] == (4U | 3U << 8U | std::uint64_t{1} << 32U));
  CHECK(w[1] == 0x1234567890);
  CHECK(w[2] == (7U | std::uint64_t{2} << 32U | std::uint64_t{1} << 48U));
  CHECK(w[3] == (1U | std::uint64_t{0x123} << 16U));
  CHECK(w[5] == 0xFFFFFFFF);
  ExecInstruction e;
  e.pa = {5, true};
  e.a.r0 = 3;
  e.a.a0 = 10;
  e.a.a1 = 100;
  e.out.q.kzz = -1;
  const auto x = encode(e);
  REQUIRE(x.size() == 27);
  CHECK((x[0] & 0x1F7U) == (1U | 4U | 5U << 4U));
  CHECK(x[4] == (10U | std::uint64_t{100 - 3 * 10} << 32U));
  CHECK(x[24] == ~std::uint64_t{0});
}

TEST_CASE("instruction: random fields survive encode and decode", "[machine][instruction]") {
  const std::uint64_t seed = 77;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto bits = [&](int n) { return static_cast<std::uint32_t>(random() >> (64 - n)); };
  const auto stride = [&] { return static_cast<std::int32_t>(random()); };
  for (int i = 0; i < 2000; ++i) {
    ExecInstruction e;
    e.pa = {static_cast<int>(bits(5)), bits(1) == 1};
    e.pw = {static_cast<int>(bits(5)), bits(1) == 1};
    e.m = bits(32);
    e.k = bits(32);
    e.ps_base = bits(16);
    for (OperandGather* g : {&e.a, &e.w}) {
      g->base = bits(24);
      g->transposed = bits(1) == 1;
      g->r0 = bits(16);
      g->r1 = bits(16);
      g->a0 = stride();
      g->a1 = stride();
      g->a2 = stride();
      g->b0 = stride();
      g->b1 = stride();
      g->sc = stride();
      g->kb0 = bits(16);
      g->cg = bits(16);
      g->br = bits(8);
      g->lo = bits(8);
      g->hi = bits(8);
      g->h = bits(16);
      g->w = bits(16);
      g->sy = static_cast<std::int16_t>(random());
      g->dx = static_cast<std::int16_t>(random());
      g->x0 = static_cast<std::int16_t>(random());
    }
    e.out.o0 = stride();
    e.out.o1 = stride();
    e.out.o2 = stride();
    e.out.q.za = static_cast<std::int32_t>(bits(17)) - (1 << 16);
    e.out.q.kzz = static_cast<std::int64_t>(random());
    const auto words = encode(e);
    std::size_t at = 0;
    const Instruction again = decode(words, at);
    REQUIRE(at == 27);
    REQUIRE(encode(again) == words);
    REQUIRE(disassemble(again) == disassemble(e));
  }
}

TEST_CASE("instruction: what does not fit is refused by name", "[machine][instruction]") {
  StoreInstruction s;
  s.wait_e2r = 256;
  CHECK_THROWS_WITH(encode(s), "wait_e2r: found 256, allowed: 0 to 255");
  ExecInstruction e;
  e.a.a1 = std::int64_t{1} << 31;
  CHECK_THROWS_WITH(encode(e), Catch::Contains("a1: found 2147483648"));
  std::size_t at = 0;
  CHECK_THROWS_WITH(decode({3}, at), Catch::Contains("header"));
  CHECK_THROWS_WITH(decode({1, 0}, at), Catch::Contains("found 2 words, allowed: 27"));
  auto words = encode(FetchInstruction());
  words[3] |= std::uint64_t{1} << 63U;  // reserved
  CHECK_THROWS_WITH(decode(words, at), Catch::Contains("instruction word 3"));
}

TEST_CASE("instruction: causes", "[machine][instruction]") {
  const MachineConfig c = config();
  ExecInstruction e;
  e.a.hi = e.w.hi = 16;
  CHECK(cause_of(e, c) == MachineCause::kNone);
  e.out.or1 = 0;
  CHECK(cause_of(e, c) == MachineCause::kRadix);
  e.ps_write = true;
  CHECK(cause_of(e, c) == MachineCause::kNone);
  e.w.br = 17;
  CHECK(cause_of(e, c) == MachineCause::kRadix);
  e.ps_write = false;
  e.out.q.out_bits = 17;
  CHECK(cause_of(e, c) == MachineCause::kOutBits);
  e.pw.bits = 17;
  CHECK(cause_of(e, c) == MachineCause::kWidthOver);
  e.pa.bits = 0;
  CHECK(cause_of(e, c) == MachineCause::kWidthZero);
  e.k = 0;
  CHECK(cause_of(e, c) == MachineCause::kDimZero);
  FetchInstruction f;
  f.lines.dram = 4;
  CHECK(cause_of(f, c) == MachineCause::kUnaligned);
  f.lines.n1 = 0;
  CHECK(cause_of(f, c) == MachineCause::kCountZero);
}

// A fetch of both operands, a product, a store.
std::vector<Instruction> small_program() {
  FetchInstruction a, w;
  a.lines.line_beats = w.lines.line_beats = 4;
  w.target = OperandBuffer::kW;
  a.post_f2e = w.post_f2e = true;
  ExecInstruction e;
  e.wait_f2e = 2;
  e.post_e2r = true;
  e.a.hi = e.w.hi = 16;
  e.k = 16;
  e.out.raw = e.out.raw32 = true;
  StoreInstruction s;
  s.wait_e2r = 1;
  return {a, w, e, s};
}

template <typename Change>
std::string refused(Change&& change) {
  std::vector<Instruction> program = small_program();
  change(program);
  return refuse_stream(config(), program).value_or("");
}

ExecInstruction& exec_of(std::vector<Instruction>& p) { return std::get<ExecInstruction>(p[2]); }

TEST_CASE("stream: what cannot run is refused with the instruction and the reason",
          "[machine][instruction]") {
  CHECK(refused([](auto&) {}).empty());
  CHECK_THAT(refused([](auto& p) { exec_of(p).wait_f2e = 3; }),
             Catch::Contains("instruction 2 (exec): waits for 3 tokens of f2e, only 2 ever come"));
  CHECK_THAT(refused([](auto& p) { exec_of(p).wait_f2e = 1; }),
             Catch::Contains("1 tokens of f2e left over"));
  CHECK_THAT(refused([](auto& p) { exec_of(p).m = 0; }),
             Catch::Contains("instruction 2 (exec): illegal, cause dim_zero"));
  CHECK_THAT(
      refused([](auto& p) { std::get<FetchInstruction>(p[0]).lines.buffer = 510; }),
      Catch::Contains("instruction 0 (fetch): found beats 510 to 513 of L1A, allowed: 0 to 511"));
  CHECK_THAT(refused([](auto& p) { exec_of(p).a.base = 16; }), Catch::Contains("never written"));
  CHECK_THAT(refused([](auto& p) { exec_of(p).a.base = 4000; }),
             Catch::Contains("word 4000 of L1A"));
  CHECK_THAT(refused([](auto& p) { exec_of(p).out.ob_base = 2047; }),
             Catch::Contains("word 2048 of the output buffer"));
  CHECK_THAT(refused([](auto& p) { std::get<StoreInstruction>(p[3]).lines.buffer = 1; }),
             Catch::Contains("instruction 3 (store)"));
  CHECK_THAT(refused([](auto& p) { exec_of(p).ps_read = true; }),
             Catch::Contains("entry 0 of the partial-sum buffer, never written"));
  CHECK_THAT(refused([](auto& p) {
               exec_of(p).ps_write = true;
               exec_of(p).ps_base = 63;
             }),
             Catch::Contains("entries 63 to 66 of the partial-sum buffer"));
  // A queue of fetches that wait for an exec which does not get past them.
  CHECK_THAT(refused([](auto& p) {
               FetchInstruction f = std::get<FetchInstruction>(p[0]);
               f.wait_e2f = 1;
               f.post_f2e = false;
               exec_of(p).post_e2f = true;
               p.insert(p.begin() + 2, 6, f);
             }),
             Catch::Contains("does not fit in its queue"));
}

}  // namespace
}  // namespace bitcycle
