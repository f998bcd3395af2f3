// Files and names that `compare` resolves before it computes. Internal to sim/.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/compare.hpp"
#include "sim/compare_cost.hpp"

namespace bitcycle {

/// Refuses a total that a 64-bit JSON number cannot hold.
std::uint64_t fit_64(u128 value, const char* what);

/// Arrays of --arch: names, files or "all"; each once. Throws InputError.
std::vector<ArrayConfig> resolve_archs(const std::vector<std::string>& names);

/// Schedules in the report's order (large, medium, small saving), each once, without "static".
/// {"all"} and {} mean the ten. Throws InputError with a suggestion.
std::vector<std::string> resolve_schedules(const std::vector<std::string>& names);

/// A schedule file as rows need it: named by the file's stem, in the group "file".
ScheduleSummary read_schedule_file(const std::string& path, std::uint64_t iterations);

/// Lowest and highest bits that occur.
BitRange range_of(const ScheduleSummary& summary);

/// "3:8/8", as --bits takes it.
std::string range_text(const BitRange& range);

/// Line of the first row of a schedule file with more than `most` bits; 0 if there is none.
int line_above(const std::string& path, int most);

/// Measured metric of one schedule.
struct Metric {
  double value = 0.0;
  std::optional<double> deviation;         ///< standard deviation, if the file has one
  std::string value_text, deviation_text;  ///< as the user typed them
};

struct MetricFile {
  std::string name;  ///< heading of the second column, or "metric"
  std::map<std::string, Metric> values;
};

/// Reads "schedule,metric,std" (header optional; `std` may be missing). Names must be `known`.
/// Throws InputError with file and line.
MetricFile read_metrics(const std::string& path, const std::vector<std::string>& known);

/// Everything that is assumed, left out or chosen, in the order of the report. `files` are the
/// schedule files as read, `energies` the models of the arrays if energy is from gates.
std::vector<Assumption> compare_assumptions(const CompareOptions& options,
                                            const std::vector<Workload>& workloads,
                                            const EnergyTable& table, bool energy_shown,
                                            const std::vector<ScheduleSummary>& files,
                                            const std::vector<const EnergyModel*>& energies = {});

}  // namespace bitcycle
