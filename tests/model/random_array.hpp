// Random legal arrays and descriptors, small ones and extremes often.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "model/array_config.hpp"
#include "model/formula.hpp"

namespace bitcycle {

/// A uniform choice of the numbers 1..most that divide `of` or are a multiple of it.
inline int random_divisor_or_multiple(int of, int most, std::mt19937& random) {
  std::vector<int> legal;
  for (int x = 1; x <= most; ++x) {
    if (of % x == 0 || x % of == 0) legal.push_back(x);
  }
  return legal[random() % legal.size()];
}

/// A legal array of at most `largest` rows and columns.
inline ArrayConfig random_array(std::mt19937& random, int largest = 12) {
  const auto below = [&](int limit) {
    return static_cast<int>(random() % static_cast<unsigned>(limit));
  };
  ArrayConfig c;
  c.ra = 1 << below(4);
  c.rw = 1 << below(4);
  const int lanes[] = {1, 2, 5, 7, 16, 31, 64, 65, 100, 256};
  c.kl = lanes[below(10)];
  c.tm = 1 + below(largest);
  c.tn = 1 + below(largest);
  do {
    c.s = 1 + below(c.tm);
  } while (c.tm % c.s != 0);
  c.p_max = below(2) == 0 ? 16 : 1 + below(16);
  c.ba = random_divisor_or_multiple(c.tm, c.tm * c.p_max, random);
  c.bw = random_divisor_or_multiple(c.tn, c.tn * c.p_max, random);
  c.q = random_divisor_or_multiple(c.tn, c.tm * c.tn, random);
  c.ac_w = min_ac_w(c.kl) + below(3);
  const int least = c.ac_w + (c.p_max > 8 ? 16 : 0);
  c.acc_w = std::min(64, least + below(12));
  c.name = c.key();
  c.validate();
  return c;
}

/// A legal descriptor of a few tiles and chunks.
inline Descriptor random_descriptor(const ArrayConfig& c, std::mt19937& random) {
  const auto size = [&](int unit) {
    const auto u = static_cast<unsigned>(unit);
    return std::uint64_t{1} + random() % (random() % 3 == 0 ? u : 5 * u);
  };
  const auto width = [&] {
    return static_cast<int>(1 + random() % static_cast<unsigned>(c.p_max));
  };
  Descriptor d;
  d.gemm = {size(c.tm), size(c.tn), size(c.kl)};
  d.a = {width(), random() % 2 == 0};
  d.w = {width(), random() % 2 == 0};
  return d;
}

}  // namespace bitcycle
