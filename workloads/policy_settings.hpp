// Settings of a policy as text, read strictly. Internal to workloads/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/policy.hpp"

namespace bitcycle {

/// Each getter takes the default if the key is missing, and throws InputError naming policy and
/// key.
class PolicySettings {
 public:
  PolicySettings(std::string policy, const PolicyValues& values);

  bool has(const std::string& key) const;
  std::string text(const std::string& key, const std::string& none);
  std::uint64_t number(const std::string& key, std::uint64_t none, std::uint64_t low,
                       std::uint64_t high);
  std::uint64_t iterations(std::uint64_t none);  ///< key "iterations", 1 to 2^53
  double real(const std::string& key, double none, double low, double high);
  bool flag(const std::string& key, bool none);  ///< yes or no
  /// One of `allowed`, by its index.
  std::size_t choice(const std::string& key, const std::vector<std::string>& allowed);
  BitPair pair(const std::string& key, const BitPair& none);     ///< "8/8", or "8" for both
  BitRange range(const std::string& key, const BitRange& none);  ///< "3:8/8"
  std::vector<std::uint64_t> numbers(const std::string& key, std::uint64_t low,
                                     std::uint64_t high);  ///< "1,2,3"; empty if missing
  /// One number a line from the file that `key` names; '#' comments, blank lines. Finite.
  std::vector<double> series(const std::string& key);

  InputError error(const std::string& key, const std::string& found,
                   const std::string& allowed) const;
  /// After all keys were asked for: refuses others.
  void done() const;

 private:
  const std::string* find(const std::string& key);

  std::string policy_;
  PolicyValues values_;
  std::vector<std::string> known_;
};

/// A record for the whole network that holds from `start` on.
TraceRecord network_record(std::uint64_t start, const LayerBits& bits);

/// One number a line, as PolicySettings::series.
std::vector<double> read_series(const std::string& path);

/// Most iterations that a policy which looks at each of them takes.
constexpr std::uint64_t kMostScanned = 1'000'000'000;

/// Walks all iterations and writes a record where `pair_at(t)` changes.
template <typename PairAt>
void write_changes(std::uint64_t iterations, const PairAt& pair_at, TraceSink& sink) {
  BitPair last{0, 0};
  for (std::uint64_t t = 0; t < iterations; ++t) {
    const BitPair pair = pair_at(t);
    if (pair == last) continue;
    sink.add(network_record(t, pair));
    last = pair;
  }
}

}  // namespace bitcycle
