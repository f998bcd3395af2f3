#include "model/formula.hpp"

#include <algorithm>

#include "golden/checked.hpp"
#include "golden/error.hpp"

namespace bitcycle {
namespace {

constexpr int kSuperDigit = 8;  // operands wider than 8 bits run as 8-bit super-digits
constexpr std::uint64_t kDimensionLimit = std::uint64_t{1} << 32;  // descriptor fields are 32 bits

int super_digits(int bits) { return bits > kSuperDigit ? 2 : 1; }

std::uint64_t u64(int value) { return static_cast<std::uint64_t>(value); }

}  // namespace

int super_digit_digits(int bits, int radix, int index) {
  const int low = index * kSuperDigit;
  const int width = std::clamp(bits - low, 0, kSuperDigit);
  return (width + radix - 1) / radix;
}

void check_descriptor(const ArrayConfig& config, const Descriptor& d) {
  const auto dimension = [](const char* name, std::uint64_t value) {
    if (value == 0 || value >= kDimensionLimit) {
      throw input_error("", 0, name, std::to_string(value), "1 to 4294967295");
    }
  };
  dimension("m", d.gemm.m);
  dimension("n", d.gemm.n);
  dimension("k", d.gemm.k);
  const auto width = [&](const char* name, int bits) {
    if (bits < 1 || bits > config.p_max) {
      throw input_error(
          "", 0, name, std::to_string(bits),
          "1 to P_MAX = " + std::to_string(config.p_max) + " of array " + config.name);
    }
  };
  width("bits of A", d.a.bits);
  width("bits of W", d.w.bits);
}

GemmTiming gemm_timing(const ArrayConfig& c, const Descriptor& d) {
  check_descriptor(c, d);
  GemmTiming t;
  for (int i = 0; i < super_digits(d.a.bits); ++i) {
    for (int j = 0; j < super_digits(d.w.bits); ++j) {
      const std::uint64_t pairs =
          u64(super_digit_digits(d.a.bits, c.ra, i)) * u64(super_digit_digits(d.w.bits, c.rw, j));
      t.digit_pairs += pairs;
      t.p += std::max(pairs, u64(c.s));
      ++t.passes;
    }
  }
  t.fa = ceil_div(u64(c.tm) * u64(d.a.bits), u64(c.ba));
  t.fw = ceil_div(u64(c.tn) * u64(d.w.bits), u64(c.bw));
  t.f = std::max(t.fa, t.fw);
  t.kc = ceil_div(d.gemm.k, u64(c.kl));
  t.cc = std::max(t.p, t.f);
  t.dr = ceil_div(u64(c.tm) * u64(c.tn), u64(c.q));
  t.ct = std::max(checked_mul(t.kc, t.cc, "cycles of a tile"), t.dr);
  t.tiles = checked_mul(ceil_div(d.gemm.m, u64(c.tm)), ceil_div(d.gemm.n, u64(c.tn)), "tiles");
  // Descriptor register, beat register, operand register and AC (before the first flush), result
  // register; and the hold register AH where S PEs share an accumulator.
  t.c0 = c.s > 1 ? 6 : 5;
  t.steady = checked_mul(t.tiles, t.ct, "cycles");
  const std::uint64_t rest = t.c0 + t.f + (t.kc - 1) * t.cc + t.p + u64(c.s - 1) + t.dr;
  t.cycles = checked_add(checked_mul(t.tiles - 1, t.ct, "cycles"), rest, "cycles");
  return t;
}

GemmEvents gemm_events(const ArrayConfig& c, const Descriptor& d) {
  const GemmTiming t = gemm_timing(c, d);
  const std::uint64_t mt = ceil_div(d.gemm.m, u64(c.tm));
  const std::uint64_t nt = ceil_div(d.gemm.n, u64(c.tn));
  const std::uint64_t mn = checked_mul(d.gemm.m, d.gemm.n, "results");
  // Rows summed over all tiles: every column tile walks all M rows again (and vice versa).
  const std::uint64_t rows = checked_mul(d.gemm.m, nt, "rows");
  const std::uint64_t columns = checked_mul(d.gemm.n, mt, "columns");
  const std::uint64_t ones = checked_add(rows, columns, "ones row and column");
  GemmEvents e;
  const std::uint64_t chunks = checked_mul(t.tiles, t.kc, "chunks");
  e.digit_cycles = checked_mul(chunks, t.digit_pairs, "digit cycles");
  std::uint64_t idle = 0;
  for (int i = 0; i < super_digits(d.a.bits); ++i) {
    for (int j = 0; j < super_digits(d.w.bits); ++j) {
      const std::uint64_t pairs =
          u64(super_digit_digits(d.a.bits, c.ra, i)) * u64(super_digit_digits(d.w.bits, c.rw, j));
      if (pairs < u64(c.s)) idle += u64(c.s) - pairs;
    }
  }
  e.idle_cycles = checked_mul(chunks, idle, "idle cycles");
  const std::uint64_t pair_chunks = checked_mul(t.kc, t.digit_pairs, "digit pairs");
  e.ac_adds = checked_mul(mn, pair_chunks, "AC adds");
  e.ac_adds_ones = checked_mul(ones, pair_chunks, "AC adds");
  const std::uint64_t pass_chunks = checked_mul(t.kc, t.passes, "passes");
  e.acc_flushes = checked_mul(mn, pass_chunks, "ACC flushes");
  e.acc_flushes_ones = checked_mul(ones, pass_chunks, "ACC flushes");
  e.a_words_read = checked_mul(checked_mul(rows, t.kc, "A words"), u64(d.a.bits), "A words");
  e.w_words_read = checked_mul(checked_mul(columns, t.kc, "W words"), u64(d.w.bits), "W words");
  e.results = mn;
  e.drain_beats = checked_mul(t.tiles, t.dr, "drain beats");
  e.digit_products = checked_mul(e.ac_adds, u64(c.kl), "digit products");
  e.useful_products =
      checked_mul(checked_mul(mn, d.gemm.k, "MACs"), t.digit_pairs, "digit products");
  e.lane_slots = checked_mul(t.cycles, u64(c.tm) * u64(c.tn) * u64(c.kl), "lane slots");
  e.idle_lanes = e.lane_slots - e.useful_products;
  return e;
}

}  // namespace bitcycle
