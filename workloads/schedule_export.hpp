// Schedules for other programs: run-length CSV, and a gnuplot script that draws them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/schedule.hpp"

namespace bitcycle {

/// A stretch of iterations with the same bits.
struct ScheduleRun {
  std::uint64_t start = 0;   ///< first iteration
  std::uint64_t length = 0;  ///< iterations, at least 1
  BitPair pair;
};

/// Most rows a CSV or a figure may get; n = 32 cycles of 3 to 8 bits have 192.
constexpr std::uint64_t kMaxScheduleRuns = 1'000'000;

/// The whole schedule as runs, neighbours always different; lengths add up to N. Takes time and
/// memory in proportion to the runs, not to N. Throws InputError as ScheduleSpec::validate(), and
/// for more than `max_runs` runs (a schedule with millions of cycles).
std::vector<ScheduleRun> schedule_runs(const ScheduleSpec& spec,
                                       std::uint64_t max_runs = kMaxScheduleRuns);

/// "iteration,bits,grad_bits" and one row per change, as read_schedule_csv() takes it; reading it
/// back with the same N gives the counts and switches of summarise(). Throws as schedule_runs().
std::string schedule_csv(const ScheduleSpec& spec, std::uint64_t max_runs = kMaxScheduleRuns);

/// The rows of such a CSV file as runs of `iterations` in all; rows that change nothing are joined.
/// Throws InputError as read_schedule_csv(), and for more than kMaxScheduleRuns rows.
std::vector<ScheduleRun> read_schedule_csv_runs(const std::string& path, std::uint64_t iterations);

/// How schedule_gnuplot() draws.
struct SchedulePlot {
  std::string svg_path = "schedule.svg";  ///< file that gnuplot writes
  std::string title;                      ///< above the figure; empty = none
  int columns = 2;                        ///< panels side by side, 1 to 8
  int panel_width = 480;                  ///< SVG units, 150 to 10,000
  int panel_height = 190;                 ///< SVG units, 150 to 10,000
};

/// A gnuplot 5 script, data included, that draws bits over iterations as one SVG: one panel of
/// steps per schedule, all with the same axes; forward bits solid, gradient bits dashed. Throws as
/// schedule_runs(), and for no schedule, a panel size or column count out of range, or control
/// characters in path or title.
std::string schedule_gnuplot(const std::vector<ScheduleSpec>& specs, const SchedulePlot& plot);

}  // namespace bitcycle
