#include "model/machine/plan_time.hpp"

#include <map>
#include <utility>
#include <vector>

#include "golden/error.hpp"
#include "model/formula.hpp"
#include "model/machine/plan_cursor.hpp"
#include "model/machine/timed.hpp"

namespace bitcycle {
namespace {

// A loop shorter than this has no iterations that could be passed over.
constexpr std::uint64_t kShortLoop = 6;
// States of a run of regular iterations that are remembered.
constexpr std::size_t kMostStates = 64;

class Timer {
 public:
  Timer(const Plan& plan, const MemoryTiming& memory, std::uint64_t limit)
      : config_(plan.problem().config), time_(config_, memory), cursor_(plan), limit_(limit) {
    sink_ = [this](const Instruction& instruction, const InstructionInfo&) { add(instruction); };
  }

  PlanTimes run() {
    iterate(0, 0, cursor_.count(0));
    PlanTimes out;
    out.cycles = time_.cycles();
    out.complete = !stopped_;
    if (stopped_) return out;
    if (!time_.settled()) throw InputError("the instruction stream stops: " + time_.stuck());
    for (std::size_t e = 0; e < out.engines.size(); ++e) {
      out.engines[e] = time_.engine(static_cast<MachineEngine>(e));
    }
    out.array_cycles = array_cycles_;
    out.steady = steady_;
    out.read_bursts = time_.read_bursts;
    out.write_bursts = time_.write_bursts;
    return out;
  }

 private:
  struct Seen {
    std::uint64_t iteration = 0;
    Recurrence::Mark mark;
    std::uint64_t array_cycles = 0, steady = 0;
  };

  void add(const Instruction& instruction) {
    const auto* e = std::get_if<ExecInstruction>(&instruction);
    if (e == nullptr) {
      time_.add(timed(instruction, config_));
      return;
    }
    const Shape shape = {e->m, e->n, e->k, static_cast<std::uint64_t>(e->pa.bits),
                         static_cast<std::uint64_t>(e->pw.bits)};
    // Most instructions are like the one before.
    if (last_ == timings_.end() || last_->first != shape) {
      last_ = timings_.find(shape);
      if (last_ == timings_.end()) {
        last_ =
            timings_.emplace(shape, gemm_timing(config_.array, {{e->m, e->n, e->k}, e->pa, e->pw}))
                .first;
      }
    }
    time_.add(timed(*e, last_->second.cycles));
    array_cycles_ += last_->second.cycles;
    steady_ += last_->second.steady;
  }

  // Iterations `first` to before `end` of a cut; the cursor stands at the first one.
  void iterate(std::size_t cut, std::uint64_t first, std::uint64_t end) {
    const bool finest = cut + 1 == cursor_.cuts();
    const std::uint64_t finer = finest ? 1 : cursor_.steps_each(cut) / cursor_.steps_each(cut + 1);
    const bool may_skip = end - first >= kShortLoop;
    std::map<std::vector<std::uint64_t>, Seen> seen;
    PlanProgress before, after;
    for (std::uint64_t j = first; j < end && !stopped_;) {
      const std::uint64_t ahead = may_skip ? cursor_.regular_run(cut, j, end) : 0;
      if (ahead == 0) seen.clear();
      if (ahead > 0 && j > first && seen.size() < kMostStates) {
        const Seen here{j, time_.mark(), array_cycles_, steady_};
        const auto [at, inserted] = seen.emplace(time_.state(), here);
        if (!inserted) {
          const Seen& then = at->second;
          const std::uint64_t period = j - then.iteration;
          const std::uint64_t times = ahead / period;
          if (times > 0) {
            time_.skip(then.mark, here.mark, times);
            array_cycles_ += (here.array_cycles - then.array_cycles) * times;
            steady_ += (here.steady - then.steady) * times;
            cursor_.skip(cut, period * times, before, after);
            j += period * times;
            seen.clear();
            continue;
          }
        }
      }
      before = cursor_.progress();
      if (finest) {
        cursor_.next(sink_);
      } else {
        iterate(cut + 1, j * finer, (j + 1) * finer);
      }
      after = cursor_.progress();
      stopped_ = stopped_ || time_.cycles() > limit_;
      ++j;
    }
  }

  using Shape = std::array<std::uint64_t, 5>;
  const MachineConfig& config_;
  Recurrence time_;
  PlanCursor cursor_;
  Plan::Sink sink_;
  std::uint64_t limit_;
  std::map<Shape, GemmTiming> timings_;
  std::map<Shape, GemmTiming>::iterator last_ = timings_.end();
  std::uint64_t array_cycles_ = 0, steady_ = 0;
  bool stopped_ = false;
};

}  // namespace

PlanTimes time_plan(const Plan& plan, const MemoryTiming& memory, std::uint64_t limit) {
  return Timer(plan, memory, limit).run();
}

}  // namespace bitcycle
