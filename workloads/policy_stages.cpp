#include "workloads/policy_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "golden/error.hpp"
#include "workloads/policy_settings.hpp"
#include "workloads/schedule_curve.hpp"

namespace bitcycle {

StagePolicy::StagePolicy(std::vector<Stage> stages, std::uint64_t iterations)
    : stages_(std::move(stages)), iterations_(iterations) {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const std::uint64_t t = stages_[i].start;
    if ((i == 0 && t != 0) || (i > 0 && t <= stages_[i - 1].start) || t >= iterations) {
      throw input_error("", 0, "policy: stage border", fmt::format("iteration {}", t),
                        fmt::format("borders that rise, from 1 to {}", iterations - 1));
    }
  }
}

void StagePolicy::write(const TraceLayers& /*layers*/, TraceSink& sink) const {
  for (const auto& stage : stages_) {
    TraceRecord record = network_record(stage.start, stage.bits);
    if (stage.fp32) record.work.mode = WorkMode::kFp32;
    sink.add(record);
  }
}

std::vector<std::size_t> pfq_switches(const std::vector<double>& losses, const PfqRule& rule) {
  constexpr std::size_t kBack = 4, kNormal = 10;
  std::vector<std::size_t> out;
  double eps = rule.eps, sum = 0.0;
  std::size_t since = 0;  // a switch forgets the losses before it
  for (std::size_t i = 0; i < losses.size() && out.size() < rule.most_switches; ++i) {
    if (i < kNormal) sum += losses[i];
    if (i < since + kBack) continue;
    const double mean = sum / static_cast<double>(std::min(i + 1, kNormal));
    bool flat = true;
    for (std::size_t back = 1; back <= kBack; ++back) {
      flat = flat && std::abs(losses[i] - losses[i - back]) / mean <= eps;
    }
    if (!flat) continue;
    out.push_back(i);
    since = i + 1;
    if (out.size() <= 2) eps *= rule.decay;
  }
  return out;
}

std::vector<std::uint64_t> muppet_switches(const std::vector<double>& diversity,
                                           const MuppetRule& rule, std::size_t most) {
  std::vector<std::uint64_t> out;
  double largest = 0.0;
  int violations = 0;
  for (std::size_t i = 0; i < diversity.size() && out.size() < most; ++i) {
    const std::uint64_t epoch = (i + 1) * rule.resolution - 1;
    const double limit = 1.0 + 1.5 * std::exp(-0.1 * static_cast<double>(epoch));
    if (diversity[i] >= largest) {
      largest = diversity[i];
    } else if (largest / diversity[i] > limit) {
      ++violations;
    }
    if (violations < rule.patience) continue;
    out.push_back(epoch + 1);
    violations = 0;
    largest = 0.0;
  }
  return out;
}

std::unique_ptr<Policy> make_pfq_policy(const std::string& /*name*/, PolicySettings& settings) {
  // Defaults: the first of the published stage lists.
  const std::vector<std::uint64_t> fwd =
      settings.has("fwd") ? settings.numbers("fwd", kMinBits, kMaxBits)
                          : (settings.numbers("fwd", 1, 1), std::vector<std::uint64_t>{3, 4, 6, 8});
  const std::vector<std::uint64_t> grad =
      settings.has("grad")
          ? settings.numbers("grad", kMinBits, kMaxBits)
          : (settings.numbers("grad", 1, 1), std::vector<std::uint64_t>{6, 6, 8, 8});
  if (fwd.size() != grad.size()) {
    throw settings.error("grad", fmt::format("{} stages", grad.size()),
                         fmt::format("{}, as fwd has", fwd.size()));
  }
  const std::uint64_t iterations = settings.iterations(64000);
  PfqRule rule;
  rule.period = settings.number("period", rule.period, 1, kMaxIterations);
  rule.eps = settings.real("eps", rule.eps, 0.0, 1e6);
  rule.decay = settings.real("decay", rule.decay, 0.0, 1e6);
  rule.most_switches = fwd.size() - 1;
  std::vector<std::uint64_t> borders = settings.numbers("borders", 1, kMaxIterations);
  const std::vector<double> losses = settings.series("losses");
  if (borders.empty() == losses.empty()) {
    throw settings.error("borders", losses.empty() ? "neither borders nor losses" : "also losses",
                         "borders=T1,T2,T3 or losses=FILE (a loss per evaluation period)");
  }
  for (const std::size_t period : pfq_switches(losses, rule)) {
    borders.push_back((period + 1) * rule.period);
  }
  // A loss list may be longer than the run, and a switch at its end has no iterations.
  while (!losses.empty() && !borders.empty() && borders.back() >= iterations) borders.pop_back();
  if (borders.size() > fwd.size() - 1) {
    throw settings.error("borders", fmt::format("{}", borders.size()),
                         fmt::format("at most {}: one less than stages", fwd.size() - 1));
  }
  std::vector<Stage> stages;
  for (std::size_t i = 0; i <= borders.size(); ++i) {
    stages.push_back({i == 0 ? 0 : borders[i - 1],
                      {static_cast<int>(fwd[i]), static_cast<int>(grad[i])},
                      false});
  }
  return std::make_unique<StagePolicy>(std::move(stages), iterations);
}

std::unique_ptr<Policy> make_muppet_policy(const std::string& /*name*/, PolicySettings& settings) {
  const std::uint64_t epoch = settings.number("epoch_iterations", 391, 1, kMaxIterations);
  const std::uint64_t iterations = settings.iterations(150 * epoch);
  std::vector<std::uint64_t> levels = settings.numbers("levels", kMinBits, kMaxBits);
  if (levels.empty()) levels = {8, 12, 14, 16};
  MuppetRule rule;
  rule.resolution = settings.number("resolution", rule.resolution, 1, 1'000'000);
  rule.patience = static_cast<int>(settings.number("patience", 2, 1, 1000));
  std::vector<std::uint64_t> epochs = settings.numbers("switch_epochs", 1, kMaxIterations / epoch);
  const std::vector<double> diversity = settings.series("diversity");
  if (epochs.empty() == diversity.empty()) {
    throw settings.error(
        "switch_epochs",
        diversity.empty() ? "neither switch_epochs nor diversity" : "also diversity",
        "switch_epochs=E1,E2,... or diversity=FILE (a value per check)");
  }
  for (const double d : diversity) {
    if (!(d > 0.0)) throw settings.error("diversity", fmt::format("{:g}", d), "values above 0");
  }
  // The last switch goes to FP32.
  if (epochs.empty()) epochs = muppet_switches(diversity, rule, levels.size());
  if (epochs.size() > levels.size()) {
    throw settings.error("switch_epochs", fmt::format("{}", epochs.size()),
                         fmt::format("at most {}: the last goes to FP32", levels.size()));
  }
  std::vector<Stage> stages;
  for (std::size_t i = 0; i <= epochs.size(); ++i) {
    Stage stage;
    stage.start = i == 0 ? 0 : epochs[i - 1] * epoch;
    if (!diversity.empty() && stage.start >= iterations) break;
    stage.fp32 = i == levels.size();
    if (!stage.fp32) {
      const int bits = static_cast<int>(levels[i]);
      stage.bits = {bits, bits};
    }
    stages.push_back(stage);
  }
  return std::make_unique<StagePolicy>(std::move(stages), iterations);
}

namespace {

class TargetPrecisionPolicy : public Policy {
 public:
  TargetPrecisionPolicy(BitPair low, BitPair attention_bits, std::string attention, Stage target,
                        std::uint64_t iterations)
      : low_(low),
        attention_bits_(attention_bits),
        attention_(std::move(attention)),
        target_(target),
        iterations_(iterations) {}
  std::uint64_t iterations() const override { return iterations_; }
  bool by_layer() const override { return !attention_.empty(); }
  void write(const TraceLayers& layers, TraceSink& sink) const override {
    if (target_.start > 0) {
      sink.add(network_record(0, low_));
      if (!attention_.empty()) {
        TraceRecord record = network_record(0, attention_bits_);
        record.layers = LayerSelection::named(attention_);
        select_layers(layers, record.layers, "", 0);
        sink.add(record);
      }
    }
    if (target_.start >= iterations_) return;
    TraceRecord record = network_record(target_.start, target_.bits);
    if (target_.fp32) record.work.mode = WorkMode::kFp32;
    sink.add(record);
  }

 private:
  BitPair low_, attention_bits_;
  std::string attention_;
  Stage target_;
  std::uint64_t iterations_;
};

}  // namespace

std::unique_ptr<Policy> make_target_precision_policy(const std::string& /*name*/,
                                                     PolicySettings& settings) {
  const BitPair low = settings.pair("low", {4, 4});
  const BitPair attention_bits = settings.pair("attention_bits", {8, 8});
  const std::string attention = settings.text("attention", "");
  Stage target;
  target.fp32 = settings.text("target", "16") == "fp32";
  if (!target.fp32) target.bits = settings.pair("target", {16, 16});
  const std::uint64_t iterations = settings.iterations(64000);
  const double share = settings.real("phase", 0.1, 0.0, 1.0);
  target.start = settings.number("target_from",
                                 iterations - static_cast<std::uint64_t>(std::llround(
                                                  share * static_cast<double>(iterations))),
                                 0, iterations);
  return std::make_unique<TargetPrecisionPolicy>(low, attention_bits, attention, target,
                                                 iterations);
}

}  // namespace bitcycle
