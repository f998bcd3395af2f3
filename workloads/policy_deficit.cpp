#include "workloads/policy_deficit.hpp"

#include "golden/error.hpp"
#include "workloads/policy_settings.hpp"
#include "workloads/schedule_curve.hpp"

namespace bitcycle {

void DeficitPolicySpec::validate() const {
  if (from > to || to > iterations || iterations == 0) {
    throw input_error("", 0, "policy: deficit window",
                      std::to_string(from) + " to " + std::to_string(to),
                      "inside the run of " + std::to_string(iterations) + " iterations");
  }
}

DeficitPolicy::DeficitPolicy(DeficitPolicySpec spec) : spec_(spec) { spec_.validate(); }

void DeficitPolicy::write(const TraceLayers& /*layers*/, TraceSink& sink) const {
  if (spec_.from == spec_.to) {
    sink.add(network_record(0, spec_.high));
    return;
  }
  if (spec_.from > 0) sink.add(network_record(0, spec_.high));
  sink.add(network_record(spec_.from, spec_.low));
  if (spec_.to < spec_.iterations) sink.add(network_record(spec_.to, spec_.high));
}

std::unique_ptr<Policy> make_deficit_policy(const std::string& name, PolicySettings& settings) {
  DeficitPolicySpec s;
  s.low = settings.pair("low", s.low);
  s.high = settings.pair("high", s.high);
  if (name == "deficit") {
    const std::uint64_t deficit = settings.number("deficit", 16000, 0, kMaxIterations / 4);
    const std::uint64_t normal = settings.number("normal", 256000, 1, kMaxIterations / 4);
    const bool inclusive = settings.flag("inclusive", false);
    s.from = 0;
    s.to = deficit == 0 ? 0 : deficit + (inclusive ? 1 : 0);
    s.iterations = deficit + normal;
  } else {
    s.iterations = settings.iterations(256000);
    s.from = settings.number("start", 0, 0, s.iterations - 1);
    s.to = s.from + settings.number("window", s.iterations / 2, 1, s.iterations - s.from);
  }
  return std::make_unique<DeficitPolicy>(s);
}

}  // namespace bitcycle
