// A plan's instruction words, made while they are taken.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/machine/plan_cursor.hpp"
#include "sim/machine_lockstep.hpp"

namespace bitcycle {

/// Holds one iteration of the plan's outermost loops at a time, so that memory does not grow with
/// the length of the run. The plan must outlive it, its addresses set.
class PlanWords final : public WordSource {
 public:
  using Seen = std::function<void(const Instruction&)>;
  /// `seen` is told of every instruction before its words are given.
  explicit PlanWords(const Plan& plan, Seen seen = {});
  std::optional<std::uint64_t> next() override;
  /// Most words held so far.
  std::size_t held() const { return words_.capacity(); }

 private:
  PlanCursor cursor_;
  Seen seen_;
  std::vector<std::uint64_t> words_;
  std::size_t at_ = 0;
};

}  // namespace bitcycle
