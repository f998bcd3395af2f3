// The best mappings of a problem by OverlapTime, for any number of memories.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/machine/mapping.hpp"

namespace bitcycle {

/// Time of a plan, in any unit: less is better. Must not depend on anything but its arguments.
using PlanTime = std::function<double(const GemmProblem&, const PlanCost&)>;

struct RankedMapping {
  double time = 0;
  Mapping mapping;
};

/// Output sub-blocks that were chosen before, by block and exchange. Operand widths do not matter.
class SubBlockCache {
 public:
  /// As choose_sub_blocks with one part.
  bool choose(const GemmProblem& problem, Mapping& mapping);

 private:
  struct Known {
    bool fits = false;
    Index3 rows{1, 1, 1}, cols{1, 1, 1};
  };
  std::unordered_map<BoxCache::Key, Known, BoxCache::Hash> known_;
};

class MappingSearch {
 public:
  /// `exchange`: the operands may change places. `most`: of block triples (rows, columns,
  /// reduction) that are looked at one by one; spaces with more are searched by the rule of
  /// candidate_sizes(..., false). `sub_blocks` may be shared by problems that differ in operand
  /// widths only.
  MappingSearch(const GemmProblem& problem, bool exchange, std::uint64_t most,
                SubBlockCache& sub_blocks);

  /// The best few, ascending, the first found among equals. Candidates are looked at in the order
  /// of a lower bound of their time, no more than `looks` of them if one of these runs.
  std::vector<RankedMapping> best(const OverlapTime& time, std::size_t few, std::size_t looks);
  /// The best one of all candidates by another measure, which has no bound.
  std::optional<RankedMapping> best(const PlanTime& time);

  std::uint64_t candidates() const { return list_.size(); }
  std::uint64_t evaluated() const { return known_.size(); }
  bool exhaustive() const { return exhaustive_; }

 private:
  // One triple of blocks with orders, and what it takes at least.
  struct Candidate {
    std::uint64_t exec = 0, words = 0, read = 0, fetches = 0, stores = 0, boxes = 0;
    std::uint32_t r = 0, c = 0, k = 0;
    bool cols_outer = false, exchange = false;
  };
  struct Known {
    bool runs = false;
    Mapping mapping;
    PlanCost cost;
  };

  void make_candidates(bool exchange);
  const Known& look_at(std::uint32_t candidate);

  const GemmProblem& p_;
  SubBlockCache& sub_blocks_;
  BoxCache cache_;
  std::vector<PartClass> classes_;
  std::vector<Index3> rows_, cols_, ks_;
  std::vector<Candidate> list_;
  std::vector<std::pair<double, std::uint32_t>> bounds_;
  std::unordered_map<std::uint32_t, Known> known_;
  double least_write_ = 0;  // beats
  bool exhaustive_ = true;
};

}  // namespace bitcycle
