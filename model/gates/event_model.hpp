// The event model: energy of a cycle as a linear function of counted activity, fitted to gates.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace bitcycle {

/// Cycles of one workload: activity (rows: cycles, columns: features) and gate-level energy, J.
struct ActivitySample {
  std::string label;
  Eigen::MatrixXd features;
  Eigen::VectorXd energy;

  Eigen::VectorXd mean_features() const { return features.colwise().mean().transpose(); }
  double mean_energy() const { return energy.mean(); }
};

/// Error of one workload's mean energy: model / gates - 1.
struct WorkloadError {
  std::string label;
  double energy = 0.0;  ///< J per cycle, from gates
  double error = 0.0;
};

struct ErrorSummary {
  std::vector<WorkloadError> workloads;
  double mean_abs = 0.0, max_abs = 0.0;
  std::string worst;  ///< label of the largest
};

struct EventFit {
  Eigen::VectorXd coefficients;  ///< J per count
  double r2 = 0.0;               ///< of single cycles
  double rms = 0.0;              ///< of single cycles, relative to their workload's mean
  ErrorSummary training;
};

/// Least squares on relative errors: every workload weighs the same, its mean more than its single
/// cycles (which is what a user asks for); workloads that are more than 5 % off weigh more in the
/// next of a few passes, so that the largest error falls too. A small ridge keeps coefficients of
/// features that go together finite. Throws InputError if there are fewer workloads than 2 or sizes
/// differ.
EventFit fit_events(const std::vector<ActivitySample>& samples);

/// Errors of `coefficients` on samples.
ErrorSummary judge_events(const Eigen::VectorXd& coefficients,
                          const std::vector<ActivitySample>& samples);

}  // namespace bitcycle
