// A plan's walk in pieces that repeat: for evaluating long streams without making every
// instruction.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/machine/plan.hpp"

namespace bitcycle {

class PlanWalk;

/// Counts that go on from step to step; of two places in a walk their differences matter.
struct PlanProgress {
  std::array<std::uint64_t, 2> loaded{}, freed{}, pending{};  ///< by operand
  std::uint64_t output = 0, posted = 0, taken = 0;
};

/// Walks a plan step by step (a step is a visit of a block: unit, outer, inner, reduction) and can
/// cut it into iterations of its outer loops, more finely from cut to cut: the last cut's
/// iterations are single steps. next() for all steps in order gives what Plan::emit gives.
///
/// Iteration j of a cut is regular if its instructions have the same timing content as those of
/// j-1, one by one: engine, tokens, line counts, burst splits, M, N, K and bits (equal shape ids),
/// and j+1 is no different in what it starts with. DRAM addresses may differ, and blocks may lie in
/// the other half of the on-chip buffers; neither counts for time on a bandwidth-latency memory.
class PlanCursor {
 public:
  explicit PlanCursor(const Plan& plan);
  ~PlanCursor();
  PlanCursor(PlanCursor&&) noexcept;
  PlanCursor(const PlanCursor&) = delete;
  PlanCursor& operator=(const PlanCursor&) = delete;
  PlanCursor& operator=(PlanCursor&&) = delete;

  std::size_t cuts() const { return cuts_.size(); }
  std::uint64_t count(std::size_t cut) const { return cuts_[cut].count; }
  std::uint64_t steps_each(std::size_t cut) const { return cuts_[cut].steps_each; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t position() const { return position_; }  ///< number of the next step

  bool regular(std::size_t cut, std::uint64_t iteration);
  /// Number of iterations from `iteration` on, and before `end`, that are regular, one after the
  /// other.
  std::uint64_t regular_run(std::size_t cut, std::uint64_t iteration, std::uint64_t end);

  /// Emits step position() and moves on.
  void next(const Plan::Sink& sink);
  PlanProgress progress() const;
  /// Passes over `iterations` iterations of a cut. `before` and `after`: the places around the
  /// iteration that ends at position(). Throws std::logic_error unless position() is a border of
  /// the cut and not 0, and all of them are regular.
  void skip(std::size_t cut, std::uint64_t iterations, const PlanProgress& before,
            const PlanProgress& after);

 private:
  struct State;
  struct Cut {
    std::size_t loops = 0;  ///< that an iteration fixes
    std::uint64_t count = 1, steps_each = 1;
    std::uint64_t run_from = 0, run_end = 0;  ///< regular iterations that are known
    bool run_closed = false;                  ///< iteration run_end is not regular
  };
  std::uint64_t signature(std::size_t cut, std::uint64_t iteration);
  std::uint64_t make_signature(std::size_t cut, std::uint64_t iteration);

  const Plan& plan_;
  std::unique_ptr<State> state_;
  std::vector<Cut> cuts_;
  std::uint64_t steps_ = 1, position_ = 0;
};

}  // namespace bitcycle
