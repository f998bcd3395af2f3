#include "workloads/policy_fast.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "workloads/policy_settings.hpp"
#include "workloads/schedule_curve.hpp"

namespace bitcycle {

void FastPolicy::write(const TraceLayers& layers, TraceSink& sink) const {
  const auto all = select_layers(layers, LayerSelection{}, "", 0);
  struct Change {
    std::uint64_t at;
    std::size_t layer, tensor;
  };
  std::vector<Change> changes;
  const std::array<double, 3> begins = {spec_.w, spec_.a, spec_.g};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double depth =
        all.size() == 1 ? 0.0 : 1.0 - static_cast<double>(i) / static_cast<double>(all.size() - 1);
    for (std::size_t c = 0; c < 3; ++c) {
      const double share = std::clamp(begins[c] + spec_.spread * depth, 0.0, 1.0);
      const auto at = static_cast<std::uint64_t>(share * static_cast<double>(spec_.iterations));
      if (at < spec_.iterations) changes.push_back({at, i, c});
    }
  }
  std::sort(changes.begin(), changes.end(), [](const Change& x, const Change& y) {
    return x.at != y.at ? x.at < y.at : x.layer < y.layer;
  });
  sink.add(network_record(0, LayerBits(spec_.low, spec_.low, spec_.low)));
  std::vector<std::array<int, 3>> bits(all.size(), {spec_.low, spec_.low, spec_.low});
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& c = changes[i];
    auto& b = bits[c.layer];
    b[c.tensor] = spec_.high;
    // Several tensors of a layer in one iteration are one record.
    if (i + 1 < changes.size() && changes[i + 1].at == c.at && changes[i + 1].layer == c.layer) {
      continue;
    }
    TraceRecord record = network_record(c.at, LayerBits(b[0], b[1], b[2]));
    record.layers = LayerSelection::index(all[c.layer]);
    sink.add(record);
  }
}

std::unique_ptr<Policy> make_fast_policy(const std::string& /*name*/, PolicySettings& settings) {
  FastPolicySpec s;
  s.low = static_cast<int>(settings.number("low", 2, kMinBits, kMaxBits));
  s.high = static_cast<int>(settings.number("high", 4, kMinBits, kMaxBits));
  s.w = settings.real("w", s.w, 0.0, 1.0);
  s.a = settings.real("a", s.a, 0.0, 1.0);
  s.g = settings.real("g", s.g, 0.0, 1.0);
  s.spread = settings.real("spread", s.spread, 0.0, 1.0);
  s.iterations = settings.iterations(s.iterations);
  return std::make_unique<FastPolicy>(s);
}

}  // namespace bitcycle
