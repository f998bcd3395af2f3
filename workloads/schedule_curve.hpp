// The curve behind a schedule: its value before rounding, and where inside a cycle the bits change.
// Internal to workloads/; users call schedule.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/schedule.hpp"

namespace bitcycle {

/// Largest iteration count: above 2^53 a double cannot tell t from t+1.
constexpr std::uint64_t kMaxIterations = std::uint64_t{1} << 53;

/// Narrowest and widest operand of the array.
constexpr int kMinBits = 1, kMaxBits = 16;

enum class Profile { kConstant, kLinear, kCosine, kExponential, kRex };

/// What a decaying cycle mirrors: time, G(1-z), or value, qmax+qmin-G(z).
enum class Mirror { kTime, kValue };

/// One row of the table of schedules.
struct ScheduleKind {
  const char* name;
  const char* group;
  Profile profile;
  bool triangular;  ///< even cycles decay, odd cycles grow; otherwise every cycle grows
  Mirror mirror;
};

/// Throws InputError with a suggestion for an unknown name.
const ScheduleKind& schedule_kind(const std::string& name);

/// A change of bits inside a cycle; the pair holds from `start` to the next step's.
struct CycleStep {
  std::uint64_t start = 0;  ///< iterations since the cycle began
  BitPair pair;
};

/// A validated schedule. A static one is a single cycle of N iterations.
class ScheduleCurve {
 public:
  /// Throws InputError as ScheduleSpec::validate().
  explicit ScheduleCurve(const ScheduleSpec& spec);

  const ScheduleKind& kind() const { return kind_; }
  std::uint64_t cycle_iterations() const { return cycle_; }
  bool grows(std::uint64_t cycle) const { return !kind_.triangular || cycle % 2 == 1; }

  /// Bits `tau` iterations into a growing or decaying cycle, tau < cycle_iterations().
  BitPair at(bool grows, std::uint64_t tau) const;

  /// All changes inside a whole cycle, first at 0; equals a scan of at() over every tau.
  std::vector<CycleStep> cycle_steps(bool grows) const;

 private:
  double level(int low, int high, bool grows, std::uint64_t tau) const;
  std::uint64_t first_beyond(int low, int high, bool grows, double level_wanted) const;
  void add_candidates(int low, int high, bool grows, std::vector<std::uint64_t>& out) const;

  ScheduleSpec spec_;
  ScheduleKind kind_;
  std::uint64_t cycle_;
};

}  // namespace bitcycle
