// The activity of chunk registers, which keeps what does not change, against one that keeps
// nothing.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "model/gates/module_activity.hpp"

using namespace bitcycle;

namespace {

constexpr unsigned kSeed = 31415;

using Bits = std::vector<bool>;

Bits bits_of(const std::uint64_t* words, std::size_t count) {
  Bits out;
  for (std::size_t i = 0; i < count; ++i) out.push_back((words[i / 64] >> i % 64 & 1U) != 0);
  return out;
}

// The groups of bits whose changes are counted, by name; of the plane-wise registers `planes`.
std::map<std::string, Bits> groups_of(const ArrayConfig& c, int radix, int planes,
                                      const ChunkPins& p) {
  const auto kl = static_cast<std::size_t>(c.kl);
  const std::size_t stride = (kl + 63) / 64 * 64;
  const auto depth = static_cast<std::size_t>(2 * c.p_max);
  std::map<std::string, Bits> out;
  const Bits lanes = bits_of(p.lane_en.data(), kl);
  out["lanes"] = lanes;
  out["data"] = out["masked"] = bits_of(p.data.data(), static_cast<std::size_t>(planes) * kl);
  for (std::size_t i = 0; i < out["masked"].size(); ++i) {
    if (!lanes[i % kl]) out["masked"][i] = false;
  }
  out["digit"] = bits_of(p.digit_q, kl * static_cast<std::size_t>(radix));
  out["chunk"] = bits_of(p.chunk, depth * stride);
  out["tree"];
  out["selected"] = Bits(kl * static_cast<std::size_t>(radix), false);
  for (int x = 0; x < radix; ++x) {
    const int place = p.digit * radix + x;
    // The planes that each level of multiplexers passes on.
    std::vector<Bits> level;
    for (std::size_t plane = 0; plane < depth; ++plane) {
      level.push_back(bits_of(p.chunk + plane * (stride / 64), kl));
    }
    const int address = (p.bank ? c.p_max : 0) + place;
    for (int bit = 0; level.size() > 2; ++bit) {
      std::vector<Bits> next;
      for (std::size_t n = 0; n < level.size(); n += 2) {
        const std::size_t from = n + ((address % 64) >> bit & 1);
        next.push_back(from < level.size() ? level[from] : Bits(kl, false));
        out["tree"].insert(out["tree"].end(), next.back().begin(), next.back().end());
      }
      level = next;
    }
    const int plane = place < p.bits ? place : p.is_signed ? p.bits - 1 : -1;
    if (plane < 0) continue;
    const auto row = static_cast<std::size_t>((p.bank ? c.p_max : 0) + plane) * (stride / 64);
    const Bits source = bits_of(p.chunk + row, kl);
    for (std::size_t l = 0; l < kl; ++l) {
      out["selected"][l * static_cast<std::size_t>(radix) + static_cast<std::size_t>(x)] =
          source[l];
    }
  }
  return out;
}

}  // namespace

TEST_CASE("ChunkActivity counts changes whatever it has kept") {
  std::mt19937_64 random(kSeed);
  const auto one_of = [&](std::uint64_t n) { return random() % n == 0; };
  for (const int radix : {1, 2, 4, 8}) {
    for (const int kl : {1, 4, 16, 64, 65, 200}) {
      for (const int p_max : {8, 11, 16}) {
        ArrayConfig c;
        c.tm = 4;
        c.ra = radix;
        c.kl = kl;
        c.p_max = p_max;
        c.ba = one_of(2) ? 2 : 8;
        const int planes = c.ba == 8 ? 2 : 1;
        const auto words = [](int bits) { return static_cast<std::size_t>(bits + 63) / 64; };
        const std::size_t plane_words = words(kl);
        std::vector<std::uint64_t> chunk(static_cast<std::size_t>(2 * p_max) * plane_words, 0);
        std::vector<std::uint64_t> digit(words(kl * radix), 0);
        const auto fill = [&](std::uint64_t* out, int bits) {
          for (std::size_t w = 0; w < words(bits); ++w) out[w] = random();
          if (bits % 64 != 0) out[words(bits) - 1] &= (std::uint64_t{1} << bits % 64) - 1;
        };
        ChunkPins p;
        p.data.assign(words(planes * kl), 0);
        p.lane_en.assign(plane_words, 0);
        p.chunk = chunk.data();
        p.digit_q = digit.data();
        ChunkActivity activity(c, true);
        const auto& names = activity.names();
        std::vector<double> found(names.size());
        auto before = groups_of(c, radix, planes, p);
        for (int cycle = 0; cycle < 40; ++cycle) {
          if (one_of(3)) fill(p.data.data(), planes * kl);
          if (one_of(4)) fill(p.lane_en.data(), kl);
          if (one_of(4)) {
            fill(&chunk[random() % static_cast<std::uint64_t>(2 * p_max) * plane_words], kl);
          }
          if (one_of(3)) fill(digit.data(), kl * radix);
          if (one_of(3)) p.digit = static_cast<std::uint8_t>(random() % (16 / radix));
          if (one_of(5)) p.bank = one_of(2);
          if (one_of(6)) p.bits = static_cast<std::uint8_t>(random() % (p_max + 1));
          if (one_of(6)) p.is_signed = one_of(2);
          if (p.bits == 0) p.is_signed = false;
          const auto now = groups_of(c, radix, planes, p);
          activity.step(p, found.data());
          for (std::size_t i = 0; i < names.size(); ++i) {
            const auto group = now.find(names[i]);
            if (group == now.end()) continue;
            int wanted = 0;
            for (std::size_t b = 0; b < group->second.size(); ++b) {
              wanted += group->second[b] != before[names[i]][b] ? 1 : 0;
            }
            if (found[i] == wanted) continue;
            FAIL(fmt::format("seed {}, radix {}, kl {}, p_max {}, cycle {}: {} is {}, wanted {}",
                             kSeed, radix, kl, p_max, cycle, names[i], found[i], wanted));
          }
          before = now;
        }
      }
    }
  }
}
