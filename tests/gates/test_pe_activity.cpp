// The activity of a PE against its definition, counted bit by bit.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>

#include "model/gates/pe_activity.hpp"
#include "model/gates/popcount.hpp"

using namespace bitcycle;

namespace {

constexpr unsigned kSeed = 2718;

bool bit(const std::vector<std::uint64_t>& words, int i) {
  return (words[static_cast<std::size_t>(i / 64)] >> (i % 64) & 1U) != 0;
}

// What is driven in a cycle, with storage for the operands.
struct Cycle {
  std::vector<std::uint64_t> a, w;
  bool add = false, first = false, a_neg = false, w_neg = false, hold = false;
  int d = 0;
  std::uint32_t ac = 0, ah = 0;

  PePins pins() const {
    PePins p;
    p.add = add;
    p.first = first;
    p.a_neg = a_neg;
    p.w_neg = w_neg;
    p.hold = hold;
    p.d = static_cast<std::uint8_t>(d);
    p.a = a.data();
    p.w = w.data();
    p.ac = ac;
    p.ah = ah;
    return p;
  }
};

// Every signal of the PE as a group of named numbers, from what rtl/bc_pe.sv computes.
using Signals = std::map<std::string, std::vector<std::uint64_t>>;

std::int64_t digit(const std::vector<std::uint64_t>& words, int lane, int radix, bool negative) {
  std::int64_t value = 0;
  for (int x = 0; x < radix; ++x) {
    const std::int64_t weight = std::int64_t{1} << x;
    if (bit(words, lane * radix + x)) value += x + 1 == radix && negative ? -weight : weight;
  }
  return value;
}

std::uint64_t low(std::int64_t value, int bits) {
  return static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits) - 1);
}

Signals signals_of(const ArrayConfig& c, const Cycle& in) {
  Signals s;
  const bool one_bit = c.ra == 1 && c.rw == 1;
  const int narrow = std::min(c.ra, c.rw), wide = std::max(c.ra, c.rw);
  s["control"] = {in.add, in.first, in.a_neg, in.w_neg, in.hold, static_cast<unsigned>(in.d)};
  s["a"] = in.a;
  s["w"] = in.w;
  std::vector<std::int64_t> level;
  for (int l = 0; l < c.kl; ++l) {
    std::uint64_t terms = 0;
    for (int x = 0; x < c.ra; ++x) {
      for (int y = 0; y < c.rw; ++y) {
        const bool one = bit(in.a, l * c.ra + x) && bit(in.w, l * c.rw + y);
        terms |= std::uint64_t{one} << (x * c.rw + y);
      }
    }
    const std::int64_t a = digit(in.a, l, c.ra, in.a_neg && !one_bit);
    const std::int64_t w = digit(in.w, l, c.rw, in.w_neg && !one_bit);
    const std::int64_t n = c.ra < c.rw ? a : w, m = c.ra < c.rw ? w : a;
    level.push_back(a * w);
    s["terms"].push_back(terms);
    s["products"].push_back(low(a * w, c.ra + c.rw + 1));
    s["product_signs"].push_back(a * w < 0 ? 1 : 0);
    s["sign_terms"].push_back(m < 0 ? low(n, narrow) : 0);
    s["sign_rows"].push_back(n < 0 ? low(~m, wide + 1) : 0);
    s["wide_signs"].push_back(m < 0 ? 1 : 0);
    s["narrow_signs"].push_back(n < 0 ? 1 : 0);
  }
  s["tree"];
  s["tree_signs"];
  s["pairs"];
  for (int bits = c.ra + c.rw + 2; level.size() > 1; ++bits) {
    std::vector<std::int64_t> next;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      next.push_back(level[i] + (i + 1 < level.size() ? level[i + 1] : 0));
    }
    level = next;
    for (const std::int64_t sum : level) s["tree_signs"].push_back(sum < 0 ? 1 : 0);
    if (s["pairs"].empty()) {
      for (const std::int64_t sum : level) s["pairs"].push_back(low(sum, bits));
    }
    if (level.size() == 1) break;
    for (const std::int64_t sum : level) s["tree"].push_back(low(sum, bits));
  }
  const std::int64_t sum = level[0];
  const bool subtract = one_bit && in.a_neg != in.w_neg;
  const std::uint64_t addend = low(subtract ? -sum : sum, c.ac_w);
  const std::uint64_t base = in.first ? 0 : low(std::int64_t{in.ac} << in.d, c.ac_w);
  const std::uint64_t total = low(static_cast<std::int64_t>(base + addend), c.ac_w);
  s["dot"] = {low(sum, c.ac_w)};
  s["inverted"] = {low(subtract ? ~sum : sum, c.ac_w)};
  s["addend"] = {addend};
  s["base"] = {base};
  s["carries"] = {base ^ addend ^ total};
  s["total"] = {total};
  s["ac"] = {in.ac};
  s["ah"] = {in.ah};
  return s;
}

int changes(std::uint64_t a, std::uint64_t b) {
  int out = 0;
  for (std::uint64_t rest = a ^ b; rest != 0; rest >>= 1U) out += static_cast<int>(rest & 1U);
  return out;
}

// Features by their names.
std::vector<double> reference(const std::vector<std::string>& names, const Signals& now,
                              const Signals& before, bool add) {
  std::map<std::string, double> counts = {{"cycle", 1.0}, {"add", add ? 1.0 : 0.0}};
  for (const auto& [name, words] : now) {
    int sum = 0, squares = 0;
    const auto& old = before.at(name);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const int n = changes(words[i], old[i]);
      sum += n;
      squares += n * n;
    }
    counts[name] = sum;
    counts[name + "_squared"] = squares;
  }
  std::vector<double> out;
  for (const auto& name : names) {
    const bool root = name.rfind("sqrt_", 0) == 0;
    out.push_back(root ? std::sqrt(counts.at(name.substr(5))) : counts.at(name));
  }
  return out;
}

class Stimuli {
 public:
  Stimuli(const ArrayConfig& config, std::mt19937_64& random) : c_(config), random_(random) {
    in_.a.assign(words(c_.ra), 0);
    in_.w.assign(words(c_.rw), 0);
  }
  const Cycle& now() const { return in_; }

  // Some pins stay, others take random, extreme or alternating values, or change in one bit.
  void next() {
    if (one_of(4)) return;  // a run of nothing
    if (one_of(2)) operand(in_.a, c_.ra);
    if (one_of(2)) operand(in_.w, c_.rw);
    if (one_of(3)) in_.a_neg = one_of(2);
    if (one_of(3)) in_.w_neg = one_of(2);
    in_.add = one_of(2);
    if (one_of(2)) in_.first = one_of(4);
    if (one_of(2)) in_.hold = one_of(2);
    if (one_of(2)) in_.d = static_cast<int>(random_() % 9);
    if (one_of(2)) in_.ac = sum();
    if (one_of(4)) in_.ah = sum();
  }

 private:
  bool one_of(std::uint64_t n) { return random_() % n == 0; }
  std::uint32_t sum() {
    const std::uint64_t all = (std::uint64_t{1} << c_.ac_w) - 1;
    const std::uint64_t values[] = {random_() & all, 0, all, all >> 1U, (all >> 1U) + 1};
    return static_cast<std::uint32_t>(values[random_() % 5]);
  }
  std::size_t words(int radix) const { return static_cast<std::size_t>(c_.kl * radix + 63) / 64; }
  void operand(std::vector<std::uint64_t>& out, int radix) {
    const std::uint64_t kind = random_() % 8;
    if (kind == 0) {
      const std::uint64_t at = random_() % static_cast<std::uint64_t>(c_.kl * radix);
      out[at / 64] ^= std::uint64_t{1} << at % 64;
    }
    // The top bit of every digit, and all but it.
    const std::uint64_t top = ~std::uint64_t{0} / ((std::uint64_t{2} << (radix - 1)) - 1)
                              << (radix - 1);
    for (std::uint64_t& word : out) {
      const std::uint64_t values[] = {word, 0,    ~std::uint64_t{0},     ~word,
                                      top,  ~top, random_() & random_(), random_()};
      word = values[kind];
    }
    // Nothing stands beyond the lanes.
    const int used = c_.kl * radix % 64;
    if (used != 0) out.back() &= (std::uint64_t{1} << used) - 1;
  }
  ArrayConfig c_;
  std::mt19937_64& random_;
  Cycle in_;
};

}  // namespace

TEST_CASE("count_ones counts") {
  CHECK(count_ones(0) == 0);
  CHECK(count_ones(~std::uint64_t{0}) == 64);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t x = random() & random();
    REQUIRE(count_ones(x) == changes(x, 0));
  }
}

TEST_CASE("PeActivity counts what a bit by bit count gives, in every cycle") {
  std::mt19937_64 random(kSeed);
  for (const int ra : {1, 2, 4, 8}) {
    for (const int rw : {1, 2, 4, 8}) {
      for (const int kl : {1,  2,  3,  4,  5,   7,   8,   15,  16,  17,  31,  32, 33,
                           63, 64, 65, 96, 100, 127, 128, 129, 192, 193, 255, 256}) {
        ArrayConfig c;
        c.ra = ra;
        c.rw = rw;
        c.kl = kl;
        c.s = random() % 2 == 0 ? 1 : 2;
        const int least = min_ac_w(kl);
        c.ac_w = least + static_cast<int>(random() % static_cast<std::uint64_t>(33 - least));
        Stimuli stimuli(c, random);
        PeActivity activity(c);
        const auto& names = activity.names();
        std::vector<double> found(names.size());
        Signals before = signals_of(c, stimuli.now());
        for (int cycle = 0; cycle < 60; ++cycle) {
          stimuli.next();
          const Signals now = signals_of(c, stimuli.now());
          const auto wanted = reference(names, now, before, stimuli.now().add);
          activity.step(stimuli.now().pins(), found.data());
          for (std::size_t i = 0; i < names.size(); ++i) {
            if (found[i] == wanted[i]) continue;
            FAIL(fmt::format("seed {}, {}x{}, kl {}, s {}, ac_w {}, cycle {}: {} is {}, wanted {}",
                             kSeed, ra, rw, kl, c.s, c.ac_w, cycle, names[i], found[i], wanted[i]));
          }
          before = now;
        }
      }
    }
  }
}
