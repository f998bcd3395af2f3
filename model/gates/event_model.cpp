#include "model/gates/event_model.hpp"

#include <Eigen/Cholesky>
#include <cmath>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

// A workload's mean counts as so many times all its cycles together.
constexpr double kMeanWeight = 100.0;
// Of the mean squared column.
constexpr double kRidge = 1e-5;
// Workloads that are further off than this gain weight from pass to pass.
constexpr double kAllowed = 0.05;
constexpr int kPasses = 12;

// One workload's share of the normal equations, in energies relative to its mean.
struct Normal {
  Eigen::MatrixXd ata;
  Eigen::VectorXd atb;
};

Normal normal_of(const ActivitySample& s) {
  const double scale = 1.0 / (s.mean_energy() * s.mean_energy());
  const double per_cycle = scale / static_cast<double>(s.energy.rows());
  const Eigen::VectorXd mean = s.mean_features();
  Normal n;
  n.ata = per_cycle * (s.features.transpose() * s.features);
  n.atb = per_cycle * (s.features.transpose() * s.energy);
  n.ata += kMeanWeight * scale * (mean * mean.transpose());
  n.atb += kMeanWeight * scale * s.mean_energy() * mean;
  return n;
}

Eigen::VectorXd solve(const std::vector<Normal>& normals, const std::vector<double>& weights) {
  const Eigen::Index n = normals[0].atb.size();
  Eigen::MatrixXd ata = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd atb = Eigen::VectorXd::Zero(n);
  for (std::size_t i = 0; i < normals.size(); ++i) {
    ata += weights[i] * normals[i].ata;
    atb += weights[i] * normals[i].atb;
  }
  // Columns to one size, so that the ridge means the same for all.
  Eigen::VectorXd size = ata.diagonal().cwiseSqrt();
  for (Eigen::Index i = 0; i < n; ++i) {
    if (!(size[i] > 0)) size[i] = 1.0;  // a feature that never moved gets coefficient 0
  }
  const auto inverse = size.cwiseInverse().asDiagonal();
  const Eigen::MatrixXd ridged = inverse * ata * inverse + kRidge * Eigen::MatrixXd::Identity(n, n);
  return inverse * ridged.ldlt().solve(inverse * atb);
}

}  // namespace

EventFit fit_events(const std::vector<ActivitySample>& samples) {
  if (samples.size() < 2) {
    throw input_error("", 0, "fit", std::to_string(samples.size()) + " workloads", "2 or more");
  }
  const Eigen::Index n = samples[0].features.cols();
  std::vector<Normal> normals;
  for (const auto& s : samples) {
    if (s.features.cols() != n || s.features.rows() != s.energy.rows() || s.energy.rows() == 0 ||
        !(s.mean_energy() > 0)) {
      throw input_error("", 0, "fit", "workload '" + s.label + "' of another size or no energy",
                        "workloads of one module with energy above 0");
    }
    normals.push_back(normal_of(s));
  }
  EventFit fit;
  std::vector<double> weights(samples.size(), 1.0);
  for (int pass = 0; pass < kPasses; ++pass) {
    fit.coefficients = solve(normals, weights);
    fit.training = judge_events(fit.coefficients, samples);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double off = fit.training.workloads[i].error / kAllowed;
      // Half way to the new weight: the passes settle.
      weights[i] = 0.5 * (weights[i] + 1.0 + off * off);
    }
  }
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
