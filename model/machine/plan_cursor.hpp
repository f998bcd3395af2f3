// A plan in pieces that repeat: for evaluating long streams without making every instruction.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/machine/plan.hpp"

namespace bitcycle {

class PlanWalk;

/// Cuts a plan's stream into iterations of its outermost loops (a unit, an image, a block of
/// channels: whatever repeats best). next() for all iterations in order gives what Plan::emit
/// gives.
///
/// Iteration j is regular if its instructions have the same timing content as those of j-1, one by
/// one: engine, tokens, line counts, burst splits, M, N, K and bits (equal shape ids), and j+1 is
/// no different in what it starts with. DRAM addresses may differ, and blocks may lie in the other
/// half of the on-chip buffers; neither counts for time on a bandwidth-latency memory.
class PlanCursor {
 public:
  explicit PlanCursor(const Plan& plan);
  ~PlanCursor();
  PlanCursor(PlanCursor&&) noexcept;
  PlanCursor(const PlanCursor&) = delete;
  PlanCursor& operator=(const PlanCursor&) = delete;
  PlanCursor& operator=(PlanCursor&&) = delete;

  std::uint64_t count() const { return count_; }
  std::uint64_t position() const { return position_; }  ///< number of the next iteration
  bool regular(std::uint64_t iteration) const;
  /// Number of iterations from `iteration` on that are regular, one after the other.
  std::uint64_t regular_run(std::uint64_t iteration) const;

  /// Emits iteration position() and moves on.
  void next(const Plan::Sink& sink);
  /// Passes over `iterations` iterations. Throws std::logic_error unless all of them are regular
  /// and position() is not 0.
  void skip(std::uint64_t iterations);

 private:
  struct State;
  void choose_loops();
  std::uint64_t irregular(std::size_t loops);
  std::uint64_t signature(std::uint64_t iteration);

  const Plan& plan_;
  std::unique_ptr<State> state_;
  std::uint64_t count_ = 1, steps_each_ = 1, position_ = 0;
  std::vector<char> regular_;
};

}  // namespace bitcycle
