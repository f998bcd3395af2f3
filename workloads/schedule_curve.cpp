#include "workloads/schedule_curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bitcycle {
namespace {

// Order of the report. C and L are symmetric: both mirrors give the same curve.
constexpr std::array<ScheduleKind, 11> kKinds = {{
    {"static", "static", Profile::kConstant, false, Mirror::kTime},
    {"RR", "large", Profile::kRex, false, Mirror::kTime},
    {"RTH", "large", Profile::kRex, true, Mirror::kTime},
    {"LR", "medium", Profile::kLinear, false, Mirror::kTime},
    {"LT", "medium", Profile::kLinear, true, Mirror::kTime},
    {"CR", "medium", Profile::kCosine, false, Mirror::kTime},
    {"CT", "medium", Profile::kCosine, true, Mirror::kTime},
    {"ETV", "medium", Profile::kExponential, true, Mirror::kValue},
    {"RTV", "medium", Profile::kRex, true, Mirror::kValue},
    {"ER", "small", Profile::kExponential, false, Mirror::kTime},
    {"ETH", "small", Profile::kExponential, true, Mirror::kTime},
}};

// numpy.pi: M_PI is not ISO C++.
constexpr double kPi = 3.141592653589793238462643383279502884;

// Far above the rounding error of level() (about 1e-14 for 16 bits), far below half a bit.
constexpr double kTieDistance = 1e-12;

double growth(Profile profile, double qmin, double qmax, double z, double r) {
  const double d = qmax - qmin;
  switch (profile) {
    case Profile::kLinear:
      return qmin + d * z;
    case Profile::kCosine:
      return qmin + d / 2 * (1 - std::cos(kPi * z));
    case Profile::kExponential:
      return qmax - d * std::exp(-4 * z);
    case Profile::kRex:
      return qmax - d * r / (0.1 + 0.9 * r);
    case Profile::kConstant:
      break;
  }
  return qmax;
}

double decay(const ScheduleKind& kind, double qmin, double qmax, double z, double r) {
  const double d = qmax - qmin;
  // In the order of the published trainers: at a tie the order of operations can pick the bit.
  if (kind.profile == Profile::kLinear) return qmax - d * z;
  if (kind.profile == Profile::kCosine) return qmax - d / 2 * (1 - std::cos(kPi * z));
  if (kind.mirror == Mirror::kTime) return growth(kind.profile, qmin, qmax, r, z);
  return qmax + qmin - growth(kind.profile, qmin, qmax, z, r);
}

int round_half_to_even(double value) { return static_cast<int>(std::nearbyint(value)); }

std::uint64_t cycle_length(const ScheduleSpec& spec, const ScheduleKind& kind) {
  if (kind.profile == Profile::kConstant) return spec.iterations;
  return spec.iterations / spec.cycles + (spec.cycle_length == CycleLength::kFloorPlusOne ? 1 : 0);
}

void check_bounds(const char* field, int low, int high) {
  const std::string range = std::to_string(low) + " to " + std::to_string(high);
  if (low < kMinBits || high > kMaxBits || low > high) {
    throw input_error("", 0, field, range, "1 to 16, the lower bound first");
  }
}

}  // namespace

const ScheduleKind& schedule_kind(const std::string& name) {
  for (const ScheduleKind& kind : kKinds) {
    if (name == kind.name) return kind;
  }
  throw input_error("", 0, "schedule", "'" + name + "'" + suggestion(name, schedule_names()),
                    join(schedule_names()));
}

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    out.reserve(kKinds.size());
    for (const ScheduleKind& kind : kKinds) out.emplace_back(kind.name);
    return out;
  }();
  return names;
}

void ScheduleSpec::validate() const {
  const ScheduleKind& kind = schedule_kind(name);
  check_bounds("forward bits", qmin, qmax);
  check_bounds("gradient bits", grad_min, grad_max);
  if (iterations == 0 || iterations > kMaxIterations) {
    throw input_error("", 0, "iterations", std::to_string(iterations),
                      "1 to " + std::to_string(kMaxIterations) + " (2^53)");
  }
  // A static schedule has no cycles, so a left-over default of n is no error.
  if (kind.profile == Profile::kConstant) return;
  if (cycles == 0 || cycles > iterations) {
    throw input_error("", 0, "cycles", std::to_string(cycles),
                      "1 to the number of iterations, " + std::to_string(iterations));
  }
}

ScheduleCurve::ScheduleCurve(const ScheduleSpec& spec)
    : spec_((spec.validate(), spec)),
      kind_(schedule_kind(spec.name)),
      cycle_(cycle_length(spec, kind_)) {}

double ScheduleCurve::level(int low, int high, bool grows, std::uint64_t tau) const {
  const double z = static_cast<double>(tau) / static_cast<double>(cycle_);
  const double r = static_cast<double>(cycle_ - tau) / static_cast<double>(cycle_);
  return grows ? growth(kind_.profile, low, high, z, r) : decay(kind_, low, high, z, r);
}

BitPair ScheduleCurve::at(bool grows, std::uint64_t tau) const {
  return {round_half_to_even(level(spec_.qmin, spec_.qmax, grows, tau)),
          round_half_to_even(level(spec_.grad_min, spec_.grad_max, grows, tau))};
}

std::uint64_t ScheduleCurve::first_beyond(int low, int high, bool grows,
                                          double level_wanted) const {
  std::uint64_t begin = 0;
  std::uint64_t end = cycle_;
  while (begin < end) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    const double value = level(low, high, grows, middle);
    if (grows ? value > level_wanted : value < level_wanted) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

// Rounding errors make level() non-monotone only within kTieDistance of a tie. Bisection finds both
// ends of that neighbourhood (a few iterations at most for any real N), and every iteration in it
// becomes a candidate, so that the steps equal a scan of all iterations, ties and noise included.
void ScheduleCurve::add_candidates(int low, int high, bool grows,
                                   std::vector<std::uint64_t>& out) const {
  const double toward = grows ? kTieDistance : -kTieDistance;
  for (int bits = low; bits < high; ++bits) {
    const double tie = bits + 0.5;
    const std::uint64_t begin = first_beyond(low, high, grows, tie - toward);
    const std::uint64_t end = first_beyond(low, high, grows, tie + toward);
    for (std::uint64_t tau = begin; tau <= end && tau < cycle_; ++tau) out.push_back(tau);
  }
}

std::vector<CycleStep> ScheduleCurve::cycle_steps(bool grows) const {
  std::vector<std::uint64_t> candidates = {0};
  if (kind_.profile != Profile::kConstant) {
    add_candidates(spec_.qmin, spec_.qmax, grows, candidates);
    add_candidates(spec_.grad_min, spec_.grad_max, grows, candidates);
  }
  std::sort(candidates.begin(), candidates.end());
  std::vector<CycleStep> steps;
  for (const std::uint64_t tau : candidates) {
    const BitPair pair = at(grows, tau);
    if (steps.empty() || !(steps.back().pair == pair)) steps.push_back({tau, pair});
  }
  return steps;
}

}  // namespace bitcycle
