#include "workloads/schedule.hpp"

#include <map>

#include "workloads/schedule_curve.hpp"

namespace bitcycle {
namespace {

using Counts = std::map<BitPair, std::uint64_t>;

// Adds `times` copies of the first `length` iterations of a cycle.
void add_cycles(const std::vector<CycleStep>& steps, std::uint64_t length, std::uint64_t times,
                Counts& counts) {
  for (std::size_t i = 0; i < steps.size() && steps[i].start < length; ++i) {
    const std::uint64_t end =
        i + 1 < steps.size() && steps[i + 1].start < length ? steps[i + 1].start : length;
    if (times > 0) counts[steps[i].pair] += (end - steps[i].start) * times;
  }
}

std::uint64_t switches_within(const std::vector<CycleStep>& steps, std::uint64_t length) {
  std::uint64_t switches = 0;
  for (std::size_t i = 1; i < steps.size() && steps[i].start < length; ++i) ++switches;
  return switches;
}

}  // namespace

BitPair bits_at(const ScheduleSpec& spec, std::uint64_t t) {
  const ScheduleCurve curve(spec);
  if (t >= spec.iterations) {
    throw input_error("", 0, "iteration", std::to_string(t),
                      "0 to " + std::to_string(spec.iterations - 1));
  }
  return curve.at(curve.grows(t / curve.cycle_iterations()), t % curve.cycle_iterations());
}

ScheduleSummary summarise(const ScheduleSpec& spec) {
  const ScheduleCurve curve(spec);
  const std::uint64_t length = curve.cycle_iterations();
  const std::uint64_t whole = spec.iterations / length;
  const std::uint64_t rest = spec.iterations % length;  // a last, cut cycle
  const std::uint64_t cycles = whole + (rest > 0 ? 1 : 0);

  // [0] even cycles, [1] odd cycles.
  const std::vector<CycleStep> steps[2] = {curve.cycle_steps(curve.grows(0)),
                                           curve.cycle_steps(curve.grows(1))};
  const std::uint64_t times[2] = {whole - whole / 2, whole / 2};
  const std::vector<CycleStep>& last = steps[whole % 2];

  Counts counts;
  ScheduleSummary out;
  for (int parity : {0, 1}) {
    add_cycles(steps[parity], length, times[parity], counts);
    out.precision_switches += times[parity] * switches_within(steps[parity], length);
  }
  add_cycles(last, rest, 1, counts);
  out.precision_switches += switches_within(last, rest);
  // Border c lies between cycles c-1 and c; odd borders lead from an even to an odd cycle.
  if (!(steps[0].back().pair == steps[1].front().pair)) out.precision_switches += cycles / 2;
  if (!(steps[1].back().pair == steps[0].front().pair)) out.precision_switches += (cycles - 1) / 2;

  out.name = spec.name;
  out.group = curve.kind().group;
  out.iterations = spec.iterations;
  out.cycle_iterations = curve.kind().profile == Profile::kConstant ? 0 : length;
  out.first_bits = bits_at(spec, 0).bits;
  out.last_bits = bits_at(spec, spec.iterations - 1).bits;
  for (const auto& [pair, iterations] : counts) out.pairs.push_back({pair, iterations});
  return out;
}

u128 ScheduleSummary::sum_bits() const {
  u128 sum = 0;
  for (const auto& count : pairs) sum += static_cast<u128>(count.iterations) * count.pair.bits;
  return sum;
}

u128 ScheduleSummary::sum_bits_sq() const {
  u128 sum = 0;
  for (const auto& count : pairs) {
    sum += static_cast<u128>(count.iterations) * count.pair.bits * count.pair.bits;
  }
  return sum;
}

u128 ScheduleSummary::sum_bits_grad() const {
  u128 sum = 0;
  for (const auto& count : pairs) {
    sum += static_cast<u128>(count.iterations) * count.pair.bits * count.pair.grad_bits;
  }
  return sum;
}

double ScheduleSummary::mean_bits() const {
  if (iterations == 0) throw input_error("", 0, "iterations", "0", "at least 1");
  return static_cast<double>(sum_bits()) / static_cast<double>(iterations);
}

u128 ScheduleSummary::bitops_weight() const { return sum_bits_sq() + 2 * sum_bits_grad(); }

double relative_bitops(const ScheduleSummary& summary, const BitPair& baseline) {
  if (summary.iterations == 0) throw input_error("", 0, "iterations", "0", "at least 1");
  if (baseline.bits < 1 || baseline.grad_bits < 1) {
    throw input_error("", 0, "baseline bits",
                      std::to_string(baseline.bits) + "/" + std::to_string(baseline.grad_bits),
                      "at least 1/1");
  }
  const double weight =
      static_cast<double>(baseline.bits) * baseline.bits + 2.0 * baseline.bits * baseline.grad_bits;
  return static_cast<double>(summary.bitops_weight()) /
         (static_cast<double>(summary.iterations) * weight);
}

}  // namespace bitcycle
