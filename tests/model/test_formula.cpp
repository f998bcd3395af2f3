// The timing law and the event counts: by hand, against a recurrence, and their identities.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "golden/error.hpp"
#include "model/formula.hpp"
#include "tests/model/random_array.hpp"
#include "tests/workloads/error_text.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Contains;

Descriptor descriptor(std::uint64_t m, std::uint64_t n, std::uint64_t k, int pa, int pw) {
  return {{m, n, k}, {pa, false}, {pw, false}};
}

// When things happen, as a recurrence over chunks, passes and tiles; every time is the number of
// clock edges since the descriptor's acceptance. It knows the pipeline's stages and rules R1 to R5
// and no closed form. Fills of A and W run separately, as the RTL's do.
std::uint64_t recurrence(const ArrayConfig& c, const Descriptor& d) {
  using U = std::uint64_t;
  const auto ceil = [](U x, U y) { return (x + y - 1) / y; };
  const auto u = [](int x) { return static_cast<U>(x); };
  std::vector<U> passes;
  for (int ia = 0; ia < d.a.bits; ia += 8) {
    for (int jw = 0; jw < d.w.bits; jw += 8) {
      const U na = ceil(u(std::min(8, d.a.bits - ia)), u(c.ra));
      const U nw = ceil(u(std::min(8, d.w.bits - jw)), u(c.rw));
      passes.push_back(std::max(na * nw, u(c.s)));  // R2
    }
  }
  // Beats: with fewer words than rows a plane takes several, with more a beat carries planes.
  const auto beats = [&](int t, int b, int bits) {
    return b >= t ? ceil(u(bits), u(b / t)) : u(bits) * u(t / b);
  };
  const U fill_a = beats(c.tm, c.ba, d.a.bits);
  const U fill_w = beats(c.tn, c.bw, d.w.bits);
  const U beats_per_tile = c.q <= c.tn ? u(c.tm) * u(c.tn / c.q) : ceil(u(c.tm), u(c.q / c.tn));
  const U chunks = ceil(d.gemm.k, u(c.kl));
  const U tiles = ceil(d.gemm.m, u(c.tm)) * ceil(d.gemm.n, u(c.tn));
  const U hold = c.s > 1 ? 1 : 0;

  U a_done = 2;  // descriptor register, beat register
  U w_done = 2;
  U issued = 0;            // end of the last pass
  U released[2] = {0, 0};  // when the sequencer gave up a chunk bank
  U drained[2] = {0, 0};   // when the drain gave up an ACC bank
  U last_drain = 0;
  for (U tile = 0; tile < tiles; ++tile) {
    U flush_end = 0;
    for (U chunk = 0; chunk < chunks; ++chunk) {
      const U bank = (tile * chunks + chunk) % 2;
      a_done = std::max(a_done, released[bank]) + fill_a;
      w_done = std::max(w_done, released[bank]) + fill_w;
      U at = std::max({issued, a_done, w_done});
      for (U pass = 0; pass < passes.size(); ++pass) {
        at += passes[pass];
        const U to_flush = 1 + hold;  // AC, AH
        if (chunk == 0 && pass == 0)
          at = std::max(at + to_flush, drained[tile % 2]) - to_flush;  // R3
        flush_end = at + to_flush + u(c.s);                            // R1
      }
      issued = at;
      released[bank] = at;
    }
    last_drain = std::max(flush_end, last_drain) + beats_per_tile;  // R4
    drained[tile % 2] = last_drain;
  }
  return last_drain + 1;  // the last beat is taken from the result register
}

}  // namespace

TEST_CASE("the law on an ideal serial array, term by term") {
  // 3 bits x 8 bits on 16x16 PEs of 64 lanes, M = 40, N = 20, K = 200.
  const ArrayConfig c = resolve_array("serial-1x1");
  const GemmTiming t = gemm_timing(c, descriptor(40, 20, 200, 3, 8));
  CHECK(t.digit_pairs == 24);
  CHECK(t.passes == 1);
  CHECK(t.p == 24);
  CHECK(t.fa == 6);   // 16 rows * 3 planes / 8 words
  CHECK(t.fw == 16);  // 16 columns * 8 planes / 8 words
  CHECK(t.f == 16);
  CHECK(t.kc == 4);  // 200 / 64
  CHECK(t.cc == 24);
  CHECK(t.dr == 16);  // 256 results / 16
  CHECK(t.ct == 96);
  CHECK(t.tiles == 6);  // 3 * 2
  CHECK(t.c0 == 6);
  CHECK(t.steady == 576);
  CHECK(t.cycles == 6 + 16 + 3 * 24 + 24 + 5 * 96 + 7 + 16);
}

TEST_CASE("the law where passes idle, fills wait and drains wait") {
  ArrayConfig c;
  c.tm = c.tn = 4;
  c.kl = 16;
  c.s = 4;
  c.ba = 4;
  c.bw = 2;
  c.q = 1;
  SECTION("idle cycles: 1x1 in groups of four") {
    const GemmTiming t = gemm_timing(c, descriptor(4, 4, 16, 1, 1));
    CHECK(t.digit_pairs == 1);
    CHECK(t.p == 4);
    CHECK(t.fa == 1);
    CHECK(t.fw == 2);
    CHECK(t.dr == 16);
    CHECK(t.ct == 16);  // the drain is the slowest
    CHECK(t.cycles == 6 + 2 + 4 + 3 + 16);
  }
  SECTION("super-digits: 9 bits x 16 bits are passes of 64, 64, 8, 8") {
    const GemmTiming t = gemm_timing(c, descriptor(5, 9, 17, 9, 16));
    CHECK(t.passes == 4);
    CHECK(t.digit_pairs == 144);
    CHECK(t.p == 144);
    CHECK(t.tiles == 6);
    CHECK(t.kc == 2);
    CHECK(t.cc == 144);
    CHECK(t.cycles == 6 + 32 + 144 + 144 + 5 * 288 + 3 + 16);
  }
  SECTION("super-digits: 9 bits x 9 bits are passes of 64, 8, 8, 1, the last filled up to S") {
    const GemmTiming t = gemm_timing(c, descriptor(4, 4, 16, 9, 9));
    CHECK(t.digit_pairs == 81);
    CHECK(t.p == 64 + 8 + 8 + 4);
  }
  SECTION("holes of a mixed radix do not cost cycles: 3 x 8 bits at 1x4 are 6 pairs") {
    c.rw = 4;
    c.s = 1;
    const GemmTiming t = gemm_timing(c, descriptor(4, 4, 160, 3, 8));
    CHECK(t.digit_pairs == 6);
    CHECK(t.p == 6);
    CHECK(t.fw == 16);
    CHECK(t.cc == 16);  // fill-bound
    CHECK(t.c0 == 5);
    CHECK(t.cycles == 5 + 16 + 9 * 16 + 6 + 0 + 16);
  }
}

TEST_CASE("tiny and awkward shapes follow the law") {
  const ArrayConfig ci = resolve_array("ci-2x2-s1");
  SECTION("one element") {
    const GemmTiming t = gemm_timing(ci, descriptor(1, 1, 1, 1, 1));
    CHECK(t.kc == 1);
    CHECK(t.tiles == 1);
    CHECK(t.cycles == 5 + 1 + 1 + 4);
  }
  SECTION("K below, at and above a number of lanes") {
    CHECK(gemm_timing(ci, descriptor(1, 1, 15, 8, 8)).kc == 1);
    CHECK(gemm_timing(ci, descriptor(1, 1, 16, 8, 8)).kc == 1);
    CHECK(gemm_timing(ci, descriptor(1, 1, 17, 8, 8)).kc == 2);
    CHECK(gemm_timing(ci, descriptor(1, 1, 32, 8, 8)).kc == 2);
    CHECK(gemm_timing(ci, descriptor(1, 1, 33, 8, 8)).kc == 3);
  }
  SECTION("an edge tile takes the time of a full one") {
    CHECK(gemm_timing(ci, descriptor(5, 2, 2, 4, 4)).cycles ==
          gemm_timing(ci, descriptor(8, 4, 16, 4, 4)).cycles);
    CHECK(gemm_timing(ci, descriptor(5, 2, 2, 4, 4)).tiles == 2);
  }
  SECTION("a first layer: [12544, 27, 32] on 16x16") {
    const ArrayConfig serial = resolve_array("serial-1x1");
    const GemmTiming t = gemm_timing(serial, descriptor(12544, 32, 27, 8, 8));
    CHECK(t.tiles == 784 * 2);
    CHECK(t.kc == 1);  // 27 of 64 lanes
    CHECK(t.cycles == 6 + 16 + 0 + 64 + 1567 * 64 + 7 + 16);
    const GemmEvents e = gemm_events(serial, descriptor(12544, 32, 27, 8, 8));
    CHECK(e.useful_products == std::uint64_t{12544} * 32 * 27 * 64);
    CHECK(e.digit_products == std::uint64_t{12544} * 32 * 64 * 64);
  }
}

TEST_CASE("event counts by hand") {
  // 5 x 6 x 40 at 3 x 9 bits on 4x4 of 16 lanes in groups of four: 2x2 tiles of 3 chunks, passes of
  // 24 and 3 pairs, the second with one idle cycle.
  const ArrayConfig c = resolve_array("ci-1x1-s4");
  const GemmEvents e = gemm_events(c, descriptor(5, 6, 40, 3, 9));
  CHECK(e.digit_cycles == 4 * 3 * 27);
  CHECK(e.idle_cycles == 4 * 3 * 1);
  CHECK(e.ac_adds == 30 * 3 * 27);
  CHECK(e.ac_adds_ones == (5 * 2 + 6 * 2) * 3 * 27);
  CHECK(e.acc_flushes == 30 * 3 * 2);
  CHECK(e.acc_flushes_ones == (5 * 2 + 6 * 2) * 3 * 2);
  CHECK(e.a_words_read == 5 * 2 * 3 * 3);
  CHECK(e.w_words_read == 6 * 2 * 3 * 9);
  CHECK(e.results == 30);
  CHECK(e.drain_beats == 4 * 4);
  CHECK(e.digit_products == 30 * 3 * 27 * 16);
  CHECK(e.useful_products == 30 * 40 * 27);
}

TEST_CASE("digits of super-digits") {
  CHECK(super_digit_digits(3, 1, 0) == 3);
  CHECK(super_digit_digits(3, 1, 1) == 0);
  CHECK(super_digit_digits(3, 2, 0) == 2);
  CHECK(super_digit_digits(3, 8, 0) == 1);
  CHECK(super_digit_digits(8, 1, 1) == 0);
  CHECK(super_digit_digits(9, 1, 0) == 8);
  CHECK(super_digit_digits(9, 1, 1) == 1);
  CHECK(super_digit_digits(9, 4, 1) == 1);
  CHECK(super_digit_digits(13, 4, 1) == 2);
  CHECK(super_digit_digits(16, 8, 1) == 1);
}

TEST_CASE("an event recurrence gives the cycles of the closed form on random arrays") {
  const unsigned seed = 20240611;
  CAPTURE(seed);
  std::mt19937 random(seed);
  int freezing = 0;
  int fill_bound = 0;
  int idling = 0;
  for (int i = 0; i < 20000; ++i) {
    const ArrayConfig c = random_array(random);
    const Descriptor d = random_descriptor(c, random);
    const GemmTiming t = gemm_timing(c, d);
    freezing += t.ct > t.kc * t.cc && t.tiles > 2 ? 1 : 0;
    fill_bound += t.f > t.p ? 1 : 0;
    idling += t.p > t.digit_pairs ? 1 : 0;
    if (t.cycles == recurrence(c, d)) continue;
    FAIL_CHECK(c.key() << ": m=" << d.gemm.m << " n=" << d.gemm.n << " k=" << d.gemm.k << " "
                       << d.a.bits << "x" << d.w.bits << ": formula " << t.cycles << ", recurrence "
                       << recurrence(c, d));
    if (freezing > 1000000) break;
  }
  // The sample exercises what the law is about.
  CHECK(freezing > 500);
  CHECK(fill_bound > 500);
  CHECK(idling > 500);
}

TEST_CASE("more bits never take fewer cycles") {
  std::vector<ArrayConfig> arrays = ci_configs();
  for (ArrayConfig c : array_presets()) {
    c.p_max = 16;
    c.validate();
    arrays.push_back(c);
  }
  for (const auto& c : arrays) {
    for (const Gemm& g : {Gemm{1, 1, 1}, Gemm{33, 17, 300}, Gemm{7, 90, 65}}) {
      for (int pa = 1; pa <= 16; ++pa) {
        for (int pw = 1; pw <= 16; ++pw) {
          CAPTURE(c.name, pa, pw);
          const auto cycles = [&](int a, int w) {
            return gemm_timing(c, {g, {a, false}, {w, false}}).cycles;
          };
          if (pa < 16) REQUIRE(cycles(pa, pw) <= cycles(pa + 1, pw));
          if (pw < 16) REQUIRE(cycles(pa, pw) <= cycles(pa, pw + 1));
        }
      }
    }
  }
}

TEST_CASE("signs cost no cycle and no event") {
  const ArrayConfig c = resolve_array("ci-1x8-s4");
  const Descriptor unsigned_one = descriptor(9, 9, 70, 5, 12);
  for (const auto& [a, w] : {std::pair{true, false}, {false, true}, {true, true}}) {
    Descriptor d = unsigned_one;
    d.a.is_signed = a;
    d.w.is_signed = w;
    CHECK(gemm_timing(c, d).cycles == gemm_timing(c, unsigned_one).cycles);
    CHECK(gemm_events(c, d).ac_adds == gemm_events(c, unsigned_one).ac_adds);
  }
}

TEST_CASE("work reported follows from the shape, on random arrays") {
  const unsigned seed = 77;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 5000; ++i) {
    const ArrayConfig c = random_array(random);
    const Descriptor d = random_descriptor(c, random);
    CAPTURE(c.key(), d.gemm.m, d.gemm.n, d.gemm.k, d.a.bits, d.w.bits);
    const GemmTiming t = gemm_timing(c, d);
    const GemmEvents e = gemm_events(c, d);
    const auto u = [](int x) { return static_cast<std::uint64_t>(x); };
    // Cycles: every cycle of a pass is a digit pair or idle, and the sequencer is never busy for
    // longer than the array.
    REQUIRE(e.digit_cycles + e.idle_cycles == t.tiles * t.kc * t.p);
    REQUIRE(e.digit_cycles + e.idle_cycles < t.cycles);
    REQUIRE(e.digit_cycles == t.tiles * t.kc * t.digit_pairs);
    REQUIRE(t.digit_pairs ==
            ((u(d.a.bits) + u(c.ra) - 1) / u(c.ra)) * ((u(d.w.bits) + u(c.rw) - 1) / u(c.rw)));
    // Work: the product of the shape.
    REQUIRE(e.results == d.gemm.m * d.gemm.n);
    REQUIRE(e.ac_adds == e.results * t.kc * t.digit_pairs);
    REQUIRE(e.ac_adds * u(c.kl) == e.digit_products);
    REQUIRE(e.useful_products == d.gemm.m * d.gemm.n * d.gemm.k * t.digit_pairs);
    REQUIRE(e.useful_products <= e.digit_products);
    REQUIRE(e.digit_products - e.useful_products < e.results * u(c.kl) * t.digit_pairs);
    REQUIRE(e.useful_products + e.idle_lanes == e.lane_slots);
    REQUIRE(e.lane_slots == t.cycles * u(c.tm) * u(c.tn) * u(c.kl));
    REQUIRE(e.acc_flushes == e.results * t.kc * t.passes);
    // The ones row and column are a column and a row more per tile.
    const std::uint64_t mt = (d.gemm.m + u(c.tm) - 1) / u(c.tm);
    const std::uint64_t nt = (d.gemm.n + u(c.tn) - 1) / u(c.tn);
    REQUIRE(mt * nt == t.tiles);
    REQUIRE(e.ac_adds_ones == (d.gemm.m * nt + d.gemm.n * mt) * t.kc * t.digit_pairs);
    REQUIRE(e.acc_flushes_ones * t.digit_pairs == e.ac_adds_ones * t.passes);
    // Traffic scales with width and is read once per tile that needs it.
    REQUIRE(e.a_words_read == d.gemm.m * nt * t.kc * u(d.a.bits));
    REQUIRE(e.w_words_read == d.gemm.n * mt * t.kc * u(d.w.bits));
    // Enough drain beats for the results, none spare.
    REQUIRE(e.drain_beats * u(c.q) >= e.results);
    REQUIRE(e.drain_beats == t.tiles * t.dr);
    REQUIRE(t.dr * u(c.q) >= u(c.tm * c.tn));
    REQUIRE((t.dr - 1) * u(c.q) < u(c.tm * c.tn));
    REQUIRE(t.steady == t.tiles * t.ct);
  }
}

TEST_CASE("cycles grow by whole tiles and whole chunks") {
  for (const auto& c : ci_configs()) {
    CAPTURE(c.name);
    const auto at = [&](std::uint64_t tiles, std::uint64_t chunks) {
      return gemm_timing(c, descriptor(4 * tiles, 4, 16 * chunks, 5, 11));
    };
    const GemmTiming one = at(1, 1);
    for (std::uint64_t x = 1; x < 50; ++x) {
      CHECK(at(x, 3).cycles == at(1, 3).cycles + (x - 1) * at(1, 3).ct);
      CHECK(at(1, x).cycles == one.cycles + (x - 1) * one.cc);
    }
  }
}

TEST_CASE("illegal descriptors are refused as the RTL refuses them") {
  const ArrayConfig c = resolve_array("serial-1x1");
  const auto text = [&](const Descriptor& d) {
    std::string first = error_text([&] { gemm_timing(c, d); });
    CHECK(error_text([&] { gemm_events(c, d); }) == first);
    CHECK(error_text([&] { check_descriptor(c, d); }) == first);
    return first;
  };
  CHECK(text(descriptor(1, 1, 1, 8, 8)).empty());
  CHECK_THAT(text(descriptor(0, 1, 1, 8, 8)), Contains("m: found 0"));
  CHECK_THAT(text(descriptor(1, 0, 1, 8, 8)), Contains("n: found 0"));
  CHECK_THAT(text(descriptor(1, 1, 0, 8, 8)), Contains("k: found 0"));
  CHECK_THAT(text(descriptor(1, 1, 1, 0, 8)), Contains("bits of A: found 0"));
  CHECK_THAT(text(descriptor(1, 1, 1, 8, 0)), Contains("bits of W: found 0"));
  CHECK_THAT(text(descriptor(1, 1, 1, 9, 8)),
             Contains("bits of A: found 9") && Contains("P_MAX = 8"));
  CHECK_THAT(text(descriptor(1, 1, 1, 8, 9)), Contains("bits of W: found 9"));
  CHECK_THAT(text(descriptor(1ULL << 32U, 1, 1, 8, 8)), Contains("m: found 4294967296"));
  CHECK_THAT(text(descriptor(1, 1, 1ULL << 32U, 8, 8)), Contains("k: found 4294967296"));
  CHECK(text(descriptor(1, 1, (1ULL << 32U) - 1, 8, 8)).empty());
}

TEST_CASE("counts of a layer of 5.5e11 MACs fit, counts over 64 bits are refused") {
  for (const auto& c : array_presets()) {
    CAPTURE(c.name);
    const Descriptor large = descriptor(8192, 8192, 8192, 8, 8);
    const GemmEvents e = gemm_events(c, large);
    const GemmTiming t = gemm_timing(c, large);
    CHECK(e.useful_products / t.digit_pairs == 549755813888ULL);
    // Every preset does 256 8-bit MACs per cycle: the rest is start-up.
    CHECK(t.steady == 549755813888ULL / 256);
    CHECK(t.cycles - t.steady < 100);

    const std::uint64_t most = (1ULL << 32U) - 1;
    const std::string text =
        error_text([&] { gemm_events(c, descriptor(most, most, most, 8, 8)); });
    CHECK_THAT(text, Contains("2^64"));
    CHECK(text.find('\n') == std::string::npos);
    CHECK_THAT(error_text([&] { gemm_timing(c, descriptor(most, most, most, 8, 8)); }),
               Contains("2^64"));
  }
}
