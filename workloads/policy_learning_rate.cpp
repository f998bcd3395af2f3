#include "workloads/policy_learning_rate.hpp"

#include <algorithm>
#include <cmath>

#include "golden/error.hpp"
#include "workloads/number_text.hpp"
#include "workloads/policy_settings.hpp"
#include "workloads/schedule_curve.hpp"

namespace bitcycle {
namespace {

constexpr double kPi = 3.141592653589793238462643383279502884;

double cosine(double z) { return 0.5 * (1.0 + std::cos(kPi * z)); }

int bits_of(int low, int high, double rate, bool inverse) {
  const double span = high - low;
  return static_cast<int>(std::nearbyint(inverse ? high - span * rate : low + span * rate));
}

InputError wrong(const char* field, const std::string& found, const std::string& allowed) {
  return input_error("", 0, std::string("policy learning-rate: ") + field, found, allowed);
}

}  // namespace

void LearningRatePolicySpec::validate() const {
  if (iterations == 0 || iterations > kMostScanned) {
    throw wrong("iterations", std::to_string(iterations), "1 to " + std::to_string(kMostScanned));
  }
  if (!std::is_sorted(milestones.begin(), milestones.end())) {
    throw wrong("milestones", "a list that falls", "ascending iterations");
  }
  if (first_cycle == 0 || multiple == 0) throw wrong("first_cycle", "0", "1 or more");
}

double LearningRatePolicySpec::rate(std::uint64_t t) const {
  const double z = static_cast<double>(t) / static_cast<double>(iterations);
  switch (profile) {
    case Profile::kStep: {
      const auto passed = std::upper_bound(milestones.begin(), milestones.end(), t);
      return std::pow(gamma, static_cast<double>(passed - milestones.begin()));
    }
    case Profile::kPolynomial:
      return std::pow(1.0 - z, power);
    case Profile::kKDecay:
      return std::pow(1.0 - std::pow(z, k), power);
    case Profile::kKDecayCosine:
      return cosine(std::pow(z, k));
    case Profile::kCosine:
      return cosine(z);
    case Profile::kWarmRestarts: {
      std::uint64_t begin = 0, length = first_cycle;
      if (multiple == 1) {
        begin = t / length * length;
      } else {
        while (t - begin >= length) {  // lengths grow: at most 64 turns
          begin += length;
          length = length > iterations ? length : length * multiple;
        }
      }
      return cosine(static_cast<double>(t - begin) / static_cast<double>(length));
    }
    case Profile::kOneCycle:
      if (z < warmup) return start + (1.0 - start) * (1.0 - cosine(z / warmup));
      return end + (1.0 - end) * cosine((z - warmup) / (1.0 - warmup));
  }
  return 1.0;
}

BitPair LearningRatePolicySpec::at(std::uint64_t t) const {
  const double l = rate(t);
  return {bits_of(bits.qmin, bits.qmax, l, inverse),
          bits_of(bits.grad_min, bits.grad_max, l, inverse)};
}

LearningRatePolicy::LearningRatePolicy(LearningRatePolicySpec spec) : spec_(std::move(spec)) {
  spec_.validate();
}

void LearningRatePolicy::write(const TraceLayers& /*layers*/, TraceSink& sink) const {
  write_changes(
      spec_.iterations, [&](std::uint64_t t) { return spec_.at(t); }, sink);
}

void PiecewisePolicySpec::validate() const {
  const auto fail = [](const std::string& found) {
    throw input_error("", 0, "policy piecewise: steps", found,
                      "iterations that rise from 0, below the iterations of the run");
  };
  if (steps.empty()) fail("nothing");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint64_t t = steps[i].first;
    if ((i == 0 && t != 0) || (i > 0 && t <= steps[i - 1].first) || t >= iterations) {
      fail("iteration " + std::to_string(t));
    }
  }
}

PiecewisePolicy::PiecewisePolicy(PiecewisePolicySpec spec) : spec_(std::move(spec)) {
  spec_.validate();
}

void PiecewisePolicy::write(const TraceLayers& /*layers*/, TraceSink& sink) const {
  for (const auto& [t, pair] : spec_.steps) sink.add(network_record(t, pair));
}

std::unique_ptr<Policy> make_learning_rate_policy(const std::string& /*name*/,
                                                  PolicySettings& settings) {
  using Shape = LearningRatePolicySpec::Profile;
  LearningRatePolicySpec s;
  const std::vector<std::string> names = {"step",   "polynomial",    "k-decay",  "k-decay-cosine",
                                          "cosine", "warm-restarts", "one-cycle"};
  s.profile = static_cast<Shape>(settings.choice("profile", names));
  s.bits = settings.range("bits", s.bits);
  s.inverse = settings.choice("direction", {"inverse", "direct"}) == 0;
  s.iterations = settings.number("iterations", s.iterations, 1, kMostScanned);
  switch (s.profile) {
    case Shape::kStep:
      if (settings.has("milestones")) {
        s.milestones = settings.numbers("milestones", 0, kMostScanned);
      } else {
        settings.numbers("milestones", 0, 0);
        s.milestones = {s.iterations / 2, s.iterations / 4 * 3};  // as CPT's CIFAR trainer
      }
      s.gamma = settings.real("gamma", s.gamma, 0.0, 1.0);
      break;
    case Shape::kKDecay:
      s.k = settings.real("k", s.k, 0.01, 100.0);
      s.power = settings.real("power", s.power, 0.01, 100.0);
      break;
    case Shape::kPolynomial:
      s.power = settings.real("power", s.power, 0.01, 100.0);
      break;
    case Shape::kKDecayCosine:
      s.k = settings.real("k", s.k, 0.01, 100.0);
      break;
    case Shape::kWarmRestarts:
      s.first_cycle = settings.number("first_cycle", s.first_cycle, 1, kMostScanned);
      s.multiple = settings.number("multiple", s.multiple, 1, 1000);
      break;
    case Shape::kOneCycle:
      s.warmup = settings.real("warmup", s.warmup, 0.001, 0.999);
      s.start = settings.real("start", s.start, 0.0, 1.0);
      s.end = settings.real("end", s.end, 0.0, 1.0);
      break;
    case Shape::kCosine:
      break;
  }
  return std::make_unique<LearningRatePolicy>(s);
}

std::unique_ptr<Policy> make_piecewise_policy(const std::string& /*name*/,
                                              PolicySettings& settings) {
  PiecewisePolicySpec s;
  s.iterations = settings.iterations(s.iterations);
  const std::string text = settings.text("steps", "");
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t colon = item.find(':');
    std::uint64_t t = 0;
    if (colon == std::string_view::npos ||
        !read_number(item.substr(0, colon), 0, kMaxIterations, t)) {
      throw settings.error("steps", "'" + text + "'", "a list such as 0:3/8,16000:8/8");
    }
    const BitRange r = parse_bit_ranges(std::string(item.substr(colon + 1)), 8, 8).front();
    if (r.qmin != r.qmax || r.grad_min != r.grad_max) {
      throw settings.error("steps", "'" + text + "'", "a list such as 0:3/8,16000:8/8");
    }
    s.steps.emplace_back(t, BitPair{r.qmax, r.grad_max});
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return std::make_unique<PiecewisePolicy>(s);
}

}  // namespace bitcycle
