// Helpers of the schedule tests.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>

#include "workloads/schedule.hpp"

namespace bitcycle {

/// The ten of the suite, without static.
inline std::vector<std::string> suite() {
  std::vector<std::string> names = schedule_names();
  names.erase(names.begin());
  return names;
}

inline ScheduleSpec make_spec(const std::string& name, int qmin, int qmax, int grad,
                              std::uint64_t iterations, std::uint64_t cycles,
                              CycleLength cycle_length = CycleLength::kFloor) {
  ScheduleSpec spec;
  spec.name = name;
  spec.qmin = qmin;
  spec.qmax = qmax;
  spec.grad_min = spec.grad_max = grad;
  spec.iterations = iterations;
  spec.cycles = cycles;
  spec.cycle_length = cycle_length;
  return spec;
}

inline std::string describe(const ScheduleSpec& s) {
  return s.name + " " + std::to_string(s.qmin) + ":" + std::to_string(s.qmax) + "/" +
         std::to_string(s.grad_min) + ":" + std::to_string(s.grad_max) +
         " N=" + std::to_string(s.iterations) + " n=" + std::to_string(s.cycles) +
         (s.cycle_length == CycleLength::kFloor ? " floor" : " floor+1");
}

/// A valid schedule with at most `most` iterations; small, uneven and degenerate cases are common.
inline ScheduleSpec random_spec(std::mt19937_64& random, std::uint64_t most) {
  const auto pick = [&random](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  ScheduleSpec spec;
  spec.name = schedule_names()[pick(0, schedule_names().size() - 1)];
  spec.qmin = static_cast<int>(pick(1, 16));
  spec.qmax = static_cast<int>(pick(static_cast<std::uint64_t>(spec.qmin), 16));
  spec.grad_min = static_cast<int>(pick(1, 16));
  spec.grad_max = pick(0, 1) == 0
                      ? spec.grad_min
                      : static_cast<int>(pick(static_cast<std::uint64_t>(spec.grad_min), 16));
  spec.iterations = pick(1, pick(0, 2) == 0 ? 40 : most);
  switch (pick(0, 4)) {
    case 0:
      spec.cycles = 1;
      break;
    case 1:
      spec.cycles = spec.iterations;
      break;
    case 2:
      spec.cycles = pick(1, spec.iterations);
      break;
    default:
      spec.cycles = pick(1, spec.iterations < 40 ? spec.iterations : 40);
  }
  spec.cycle_length = pick(0, 1) == 0 ? CycleLength::kFloor : CycleLength::kFloorPlusOne;
  return spec;
}

/// The summary by definition: bits_at() of every iteration.
inline ScheduleSummary brute_force(const ScheduleSpec& spec) {
  ScheduleSummary out;
  out.iterations = spec.iterations;
  std::map<BitPair, std::uint64_t> counts;
  BitPair before;
  for (std::uint64_t t = 0; t < spec.iterations; ++t) {
    const BitPair pair = bits_at(spec, t);
    if (t == 0) out.first_bits = pair.bits;
    if (t > 0 && !(pair == before)) ++out.precision_switches;
    ++counts[pair];
    before = pair;
  }
  out.last_bits = before.bits;
  for (const auto& [pair, iterations] : counts) out.pairs.push_back({pair, iterations});
  return out;
}

/// Counts, switches and ends are the same; names and cycle length are not compared.
inline bool same_counts(const ScheduleSummary& x, const ScheduleSummary& y) {
  if (x.iterations != y.iterations || x.precision_switches != y.precision_switches ||
      x.first_bits != y.first_bits || x.last_bits != y.last_bits ||
      x.pairs.size() != y.pairs.size()) {
    return false;
  }
  for (std::size_t i = 0; i < x.pairs.size(); ++i) {
    if (!(x.pairs[i].pair == y.pairs[i].pair) || x.pairs[i].iterations != y.pairs[i].iterations) {
      return false;
    }
  }
  return true;
}

inline std::string describe(const ScheduleSummary& s) {
  std::string out = "switches " + std::to_string(s.precision_switches) + " first " +
                    std::to_string(s.first_bits) + " last " + std::to_string(s.last_bits);
  for (const auto& count : s.pairs) {
    out += " | " + std::to_string(count.pair.bits) + "/" + std::to_string(count.pair.grad_bits) +
           " x" + std::to_string(count.iterations);
  }
  return out;
}

}  // namespace bitcycle
