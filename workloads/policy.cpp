#include "workloads/policy.hpp"

#include <algorithm>
#include <sstream>

#include "golden/error.hpp"
#include "workloads/policy_deficit.hpp"
#include "workloads/policy_fast.hpp"
#include "workloads/policy_learning_rate.hpp"
#include "workloads/policy_mixed.hpp"
#include "workloads/policy_passes.hpp"
#include "workloads/policy_recorded.hpp"
#include "workloads/policy_schedule.hpp"
#include "workloads/policy_settings.hpp"
#include "workloads/policy_stages.hpp"
#include "workloads/trace_totals.hpp"

namespace bitcycle {
namespace {

struct Entry {
  PolicyInfo info;
  std::unique_ptr<Policy> (*make)(const std::string& name, PolicySettings& settings);
};

constexpr const char* kScheduleKeys = "bits=3:8/8 cycles=8 cycle_length=floor iterations=64000";

constexpr Entry kEntries[] = {
    {{"static", "one width for the whole run", "bits=3:8/8 (its top) iterations=64000"},
     make_schedule_policy},
    {{"CR", "CPT suite, as all of RR RTH LR LT CR CT ETV RTV ER ETH", kScheduleKeys},
     make_schedule_policy},
    {{"cpt", "CPT as first published: CR with 32 cycles",
      "bits=3:8/8 cycles=32 cycle_length=floor iterations=64000"},
     make_schedule_policy},
    {{"learning-rate", "any learning-rate schedule as a precision schedule",
      "profile=step|polynomial|k-decay|k-decay-cosine|cosine|warm-restarts|one-cycle bits=3:8/8 "
      "direction=inverse|direct iterations=64000; step: milestones=T1,T2 gamma=0.1; polynomial: "
      "power=1; k-decay: k=1 power=1; warm-restarts: first_cycle=2000 multiple=1; one-cycle: "
      "warmup=0.3 start=0.04 end=0.0004"},
     make_learning_rate_policy},
    {{"piecewise", "a list of bits", "steps=0:3/8,16000:8/8 iterations=64000"},
     make_piecewise_policy},
    {{"deficit", "critical learning period: low bits first, then a full run",
      "low=3/8 high=8/8 deficit=16000 normal=256000 inclusive=no"},
     make_deficit_policy},
    {{"probe", "critical learning period: a window of low bits",
      "low=3/8 high=8/8 start=0 window=N/2 iterations=256000"},
     make_deficit_policy},
    {{"pfq", "FracTrain's progressive stages, from borders or recorded losses",
      "fwd=3,4,6,8 grad=6,6,8,8 borders=T1,T2,T3 | losses=FILE period=400 eps=0.05 decay=0.3; "
      "iterations=64000"},
     make_pfq_policy},
    {{"muppet", "MuPPET's word lengths, from switch epochs or recorded gradient diversity",
      "levels=8,12,14,16 epoch_iterations=391 switch_epochs=E1,E2,... | diversity=FILE "
      "resolution=3 patience=2; iterations=150 epochs"},
     make_muppet_policy},
    {{"fast", "FAST's 2- and 4-bit mantissas: a front over layers and iterations",
      "low=2 high=4 w=0.4 a=0.2 g=0 spread=0.5 iterations=64000"},
     make_fast_policy},
    {{"halp", "HALP's bit centring: second gradient and full-data sweeps in FP32",
      "bits=8 centre=fp32 (or bits) batches=391 recentre=batches iterations=64000"},
     make_halp_policy},
    {{"swalp", "SWALP: static, and averaging of the weights from an epoch on",
      "bits=8/8 epochs=300 epoch_iterations=391 average_from_epoch=200 "
      "average_every=epoch_iterations "
      "average_bits=32"},
     make_swalp_policy},
    {{"speq", "SPEQ: a second forward pass with random activation bits",
      "student=2/8 teacher=2,3,4,5,6,7,8 seed=1 iterations=64000"},
     make_speq_policy},
    {{"block-replacement", "QAT guided by mixed low-precision and FP32 networks",
      "low=4/8 blocks=4 teacher=yes iterations=64000"},
     make_block_policy},
    {{"target-precision", "FP4 pre-training: low bits, then a last phase at higher precision",
      "low=4/4 attention=PATTERN attention_bits=8/8 target=16 (or fp32) phase=0.1 | "
      "target_from=T; iterations=64000"},
     make_target_precision_policy},
    {{"ldp", "LDP from recorded betas", "values=FILE bmin=3 bmax=8 grad=8 iterations=64000"},
     make_ldp_policy},
    {{"apt", "APT from recorded Gavg",
      "values=FILE start=6 bmin=2 bmax=16 threshold=1 upper=10 iterations=64000"},
     make_apt_policy},
    {{"dps", "DPS from recorded overflow rates and quantisation errors",
      "values=FILE overflow=1e-4 error=1e-4 integer=4 fraction=12 iterations=64000"},
     make_dps_policy},
    {{"mixed", "a list of layers with bits of their own (HAWQ)", "file=LIST iterations=64000"},
     make_mixed_policy},
    {{"uniform", "static, W, A and G apart", "w=8 a=8 g=8 iterations=64000"}, make_uniform_policy},
};

}  // namespace

const std::vector<PolicyInfo>& policy_infos() {
  static const std::vector<PolicyInfo> infos = [] {
    std::vector<PolicyInfo> out;
    for (const auto& entry : kEntries) out.push_back(entry.info);
    return out;
  }();
  return infos;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> out = schedule_names();
  for (const auto& info : policy_infos()) {
    if (std::find(out.begin(), out.end(), info.name) == out.end()) out.emplace_back(info.name);
  }
  return out;
}

std::unique_ptr<Policy> make_policy(const std::string& name, const PolicyValues& values) {
  const auto& suite = schedule_names();
  PolicySettings settings(name, values);
  std::unique_ptr<Policy> out;
  if (std::find(suite.begin(), suite.end(), name) != suite.end()) {
    out = make_schedule_policy(name, settings);
  } else {
    const auto* entry = std::find_if(std::begin(kEntries), std::end(kEntries),
                                     [&](const Entry& e) { return name == e.info.name; });
    if (entry == std::end(kEntries)) {
      const auto names = policy_names();
      throw input_error("", 0, "policy", "'" + name + "'" + suggestion(name, names), join(names));
    }
    out = entry->make(name, settings);
  }
  settings.done();
  return out;
}

std::pair<std::string, std::string> parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw input_error("", 0, "policy setting", "'" + text + "'", "key=value");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::pair<std::string, PolicyValues> parse_policy(const std::string& text) {
  std::istringstream in(text);
  std::string name, word;
  in >> name;
  if (name.empty()) throw input_error("", 0, "policy", "nothing", join(policy_names()));
  PolicyValues values;
  while (in >> word) values.push_back(parse_setting(word));
  return {name, values};
}

TraceTotals total_policy(const Policy& policy, const TraceLayers& layers, const std::string& name) {
  TraceAccumulator sums(layers, policy.iterations());
  policy.write(layers, sums);
  TraceTotals out = sums.finish();
  out.name = name;
  return out;
}

}  // namespace bitcycle
