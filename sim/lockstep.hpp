// RTL and model side by side: every architectural register and port compared in every cycle.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/register_compare.hpp"
#include "sim/rtl_plugin.hpp"
#include "sim/stimulus.hpp"

namespace bitcycle {

/// Flips one bit of an RTL register before the edge of a cycle.
struct Injection {
  std::string reg;        ///< full name, or a unique end of it: "g_pe[0].u_pe.ac_q"
  std::uint64_t bit = 0;  ///< counted through the elements of a register file
  std::uint64_t cycle = 0;
};

/// Parses "REG:BIT:CYCLE". Throws InputError.
Injection parse_injection(const std::string& text);

struct LockstepOptions {
  std::optional<Injection> inject;
  std::uint64_t max_cycles = 0;  ///< 0 = no limit
  /// Called about every 2^16 cycles with the cycle number; may be empty.
  std::function<void(std::uint64_t)> progress;
};

/// How a lockstep ended.
struct LockstepOutcome {
  std::uint64_t cycles = 0;  ///< edges given to both
  /// Busy cycles of the jobs that were legal and free of stalls, by each side's own ports: what
  /// the formula must give.
  std::uint64_t cycles_rtl = 0, cycles_model = 0;
  std::optional<Mismatch> mismatch;  ///< the first one; the run stops there
  std::string stopped;               ///< other reason to stop early, else ""
  bool injected = false;             ///< the bit was flipped (its cycle was reached)
};

/// One RTL-model pair and its stimulus. tick() is called between edges.
class Lockstep {
 public:
  /// All references must outlive it. Resets both, copies the RTL's random start values of data
  /// registers into the model. Throws InputError if the injection names no register or the build
  /// cannot inject.
  Lockstep(RtlModel& rtl, Array& model, Stimulus& stimulus, LockstepOptions options = {});

  /// Compares, then gives the inputs of the next edge; null when finished or stopped. The caller
  /// steps both arrays with it.
  const ArrayStep* tick();
  const LockstepOutcome& outcome() const { return outcome_; }
  RtlModel& rtl() { return rtl_; }
  Array& model() { return model_; }
  std::size_t registers() const { return compare_.registers(); }

  /// Runs to the end without a SystemC kernel.
  const LockstepOutcome& run();

 private:
  std::optional<Mismatch> compare_ports() const;
  void inject();

  RtlModel& rtl_;
  Array& model_;
  Stimulus& stimulus_;
  LockstepOptions options_;
  RegisterCompare compare_;
  LockstepOutcome outcome_;
  RegisterView target_;
};

/// Runs every pair under ONE SystemC clock, each array in its own thin module. May be called once
/// in a process (SystemC cannot elaborate twice); throws std::logic_error the second time.
void run_under_systemc(const std::vector<Lockstep*>& pairs);

}  // namespace bitcycle
