#include "model/gates/event_model.hpp"

#include <Eigen/Cholesky>
#include <cmath>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

// A workload's mean counts as so many times all its cycles together.
constexpr double kMeanWeight = 10.0;
// Of the mean squared column.
constexpr double kRidge = 1e-5;

}  // namespace

EventFit fit_events(const std::vector<ActivitySample>& samples) {
  if (samples.size() < 2) {
    throw input_error("", 0, "fit", std::to_string(samples.size()) + " workloads", "2 or more");
  }
  const Eigen::Index n = samples[0].features.cols();
  Eigen::MatrixXd ata = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd atb = Eigen::VectorXd::Zero(n);
  for (const auto& s : samples) {
    if (s.features.cols() != n || s.features.rows() != s.energy.rows() || s.energy.rows() == 0 ||
        !(s.mean_energy() > 0)) {
      throw input_error("", 0, "fit", "workload '" + s.label + "' of another size or no energy",
                        "workloads of one module with energy above 0");
    }
    const double scale = 1.0 / (s.mean_energy() * s.mean_energy());
    const double per_cycle = scale / static_cast<double>(s.energy.rows());
    ata += per_cycle * (s.features.transpose() * s.features);
    atb += per_cycle * (s.features.transpose() * s.energy);
    const Eigen::VectorXd mean = s.mean_features();
    ata += kMeanWeight * scale * (mean * mean.transpose());
    atb += kMeanWeight * scale * mean * s.mean_energy();
  }
  // Columns to one size, so that the ridge means the same for all.
  Eigen::VectorXd size = ata.diagonal().cwiseSqrt();
  for (Eigen::Index i = 0; i < n; ++i) {
    if (!(size[i] > 0)) size[i] = 1.0;  // a feature that never moved gets coefficient 0
  }
  const Eigen::MatrixXd scaled =
      size.cwiseInverse().asDiagonal() * ata * size.cwiseInverse().asDiagonal();
  const Eigen::MatrixXd ridged = scaled + kRidge * Eigen::MatrixXd::Identity(n, n);
  EventFit fit;
  fit.coefficients = size.cwiseInverse().asDiagonal() *
                     ridged.ldlt().solve(size.cwiseInverse().asDiagonal() * atb);
  double error = 0.0, spread = 0.0, relative = 0.0;
  for (const auto& s : samples) {
    const Eigen::VectorXd off = s.features * fit.coefficients - s.energy;
    error += off.squaredNorm();
    spread += (s.energy.array() - s.mean_energy()).matrix().squaredNorm();
    relative += off.squaredNorm() / static_cast<double>(s.energy.rows()) /
                (s.mean_energy() * s.mean_energy());
  }
  fit.r2 = spread > 0 ? 1.0 - error / spread : 0.0;
  fit.rms = std::sqrt(relative / static_cast<double>(samples.size()));
  fit.training = judge_events(fit.coefficients, samples);
  return fit;
}

ErrorSummary judge_events(const Eigen::VectorXd& coefficients,
                          const std::vector<ActivitySample>& samples) {
  ErrorSummary out;
  for (const auto& s : samples) {
    const double gates = s.mean_energy();
    const double error = s.mean_features().dot(coefficients) / gates - 1.0;
    out.workloads.push_back({s.label, gates, error});
    out.mean_abs += std::abs(error) / static_cast<double>(samples.size());
    if (out.worst.empty() || std::abs(error) > out.max_abs) {
      out.max_abs = std::abs(error);
      out.worst = s.label;
    }
  }
  return out;
}

}  // namespace bitcycle
