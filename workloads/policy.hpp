// Precision policies: rules that say what every layer does in every iteration. Each is a plain
// struct in a file of its own (policy_*.hpp); here they are found by name and given settings as
// text.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "workloads/trace.hpp"

namespace bitcycle {

class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;
  virtual std::uint64_t iterations() const = 0;  ///< of the whole run
  /// Whether layers are told apart, so that the records fit one network only.
  virtual bool by_layer() const { return false; }
  /// The records, in order. Throws InputError for layers that the policy cannot serve.
  virtual void write(const TraceLayers& layers, TraceSink& sink) const = 0;
};

/// A policy by name, for `--help` and docs.
struct PolicyInfo {
  const char* name;
  const char* what;      ///< one line
  const char* settings;  ///< keys and their defaults
};
const std::vector<PolicyInfo>& policy_infos();
std::vector<std::string> policy_names();

using PolicyValues = std::vector<std::pair<std::string, std::string>>;

/// Throws InputError: unknown policy or key (with a suggestion), a key twice, values that are
/// malformed, out of range, or contradict each other; files that a setting names as their readers.
std::unique_ptr<Policy> make_policy(const std::string& name, const PolicyValues& values);

/// "NAME key=value key=value", as `compare --policy` takes it. Throws InputError.
std::pair<std::string, PolicyValues> parse_policy(const std::string& text);

/// "key=value". Throws InputError.
std::pair<std::string, std::string> parse_setting(const std::string& text);

/// `policy`, brought to its sums without a file. Throws InputError as the policy.
struct TraceTotals;
TraceTotals total_policy(const Policy& policy, const TraceLayers& layers, const std::string& name);

}  // namespace bitcycle
