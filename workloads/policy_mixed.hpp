// Per-layer lists (HAWQ-style): every layer has its own bits, the same in all iterations.
#pragma once

#include <string>
#include <vector>

#include "workloads/policy.hpp"

namespace bitcycle {

/// One row of a list: a layer (name, index or pattern) and its bits.
struct MixedRow {
  LayerSelection layers;
  LayerBits bits;
  int line = 0;
};

/// Reads "layer,bits_w,bits_a,bits_g" (header optional, '#' comments; a layer is a name, a pattern
/// or an index), or, if the name ends in .yaml or .yml, a list of maps with these keys. Later rows
/// override earlier ones. Throws InputError with file and line.
std::vector<MixedRow> read_mixed_list(const std::string& path);

/// The same columns under "name,bits_w,bits_a,bits_g": whole-network configurations, each a row of
/// `compare --configs` (enumeration as PEPPP, arXiv 2106.09686).
struct NamedConfig {
  std::string name;
  LayerBits bits;
};
std::vector<NamedConfig> read_configs(const std::string& path);

class MixedPolicy : public Policy {
 public:
  MixedPolicy(std::vector<MixedRow> rows, std::string file, std::uint64_t iterations);
  std::uint64_t iterations() const override { return iterations_; }
  bool by_layer() const override;
  void write(const TraceLayers& layers, TraceSink& sink) const override;

 private:
  std::vector<MixedRow> rows_;
  std::string file_;
  std::uint64_t iterations_;
};

class PolicySettings;
std::unique_ptr<Policy> make_mixed_policy(const std::string& name, PolicySettings& settings);
/// Static with W, A and G apart: keys w, a, g.
std::unique_ptr<Policy> make_uniform_policy(const std::string& name, PolicySettings& settings);

}  // namespace bitcycle
