#include "sim/gate_stimuli.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "golden/counter_random.hpp"
#include "golden/error.hpp"
#include "sim/stimulus.hpp"

namespace bitcycle {
namespace {

struct Name {
  OperandData data;
  const char* name;
};
constexpr Name kNames[] = {
    {OperandData::kUniform, "uniform"}, {OperandData::kGauss, "gauss"},
    {OperandData::kRelu, "relu"},       {OperandData::kSparse, "sparse"},
    {OperandData::kLaplace, "laplace"}, {OperandData::kZero, "zero"},
    {OperandData::kExtreme, "extreme"}, {OperandData::kConstant, "constant"}};

class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t tensor) : seed_(seed), tensor_(tensor) {}
  std::uint64_t bits() { return counter_random(seed_, tensor_, count_++); }
  double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }
  // Box and Muller.
  double normal() {
    const double r = std::sqrt(-2.0 * std::log(uniform()));
    return r * std::cos(2.0 * 3.14159265358979323846 * uniform());
  }

 private:
  std::uint64_t seed_, tensor_, count_ = 0;
};

std::int64_t code(OperandData data, Precision p, bool is_a, Draw& draw) {
  const std::int64_t low = p.is_signed ? -(std::int64_t{1} << (p.bits - 1)) : 0;
  const std::int64_t high = low + (std::int64_t{1} << p.bits) - 1;
  const auto clip = [&](double x) {
    return std::clamp(static_cast<std::int64_t>(std::lrint(x)), low, high);
  };
  const double span = static_cast<double>(high - low);
  const bool rectified = is_a && (data == OperandData::kRelu || data == OperandData::kSparse);
  if (rectified) {
    const double zeros = data == OperandData::kRelu ? 0.5 : 0.9;
    const double x = std::abs(draw.normal());
    return draw.uniform() < zeros ? 0 : clip(x * static_cast<double>(high) / 3.0);
  }
  switch (data) {
    case OperandData::kUniform:
      return low + static_cast<std::int64_t>(draw.bits() & ((std::uint64_t{1} << p.bits) - 1));
    case OperandData::kGauss:
    case OperandData::kRelu:
    case OperandData::kSparse: {
      const double middle = p.is_signed ? 0.0 : 0.5 * span;
      return clip(middle + draw.normal() * span / 6.0);
    }
    case OperandData::kLaplace: {
      const double middle = p.is_signed ? 0.0 : 0.5 * span;
      const double x = -std::log(draw.uniform()) * span / 12.0;
      return clip((draw.bits() & 1U) != 0 ? middle + x : middle - x);
    }
    case OperandData::kExtreme:
      return (draw.bits() & 1U) != 0 ? high : low;
    case OperandData::kConstant:
      return high;
    case OperandData::kZero:
      break;
  }
  return 0;
}

// One job, then nothing.
class OneJob : public JobSource {
 public:
  explicit OneJob(GemmJob job) : job_(std::move(job)) {}
  std::optional<GemmJob> next() override {
    if (given_) return std::nullopt;
    given_ = true;
    return job_;
  }
  void finished(const GemmJob&, JobResult) override {}

 private:
  GemmJob job_;
  bool given_ = false;
};

}  // namespace

const std::vector<OperandData>& all_operand_data() {
  static const std::vector<OperandData> all = [] {
    std::vector<OperandData> out;
    for (const auto& n : kNames) out.push_back(n.data);
    return out;
  }();
  return all;
}

std::string operand_data_name(OperandData data) {
  for (const auto& n : kNames) {
    if (n.data == data) return n.name;
  }
  return "unknown";
}

OperandData operand_data_from_name(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& n : kNames) {
    if (name == n.name) return n.data;
    known.emplace_back(n.name);
  }
  throw input_error("", 0, "data", "'" + name + "'" + suggestion(name, known), join(known));
}

namespace {

CodeMatrix codes(OperandData data, std::uint64_t rows, std::uint64_t k, Precision p, bool rectified,
                 Draw draw) {
  CodeMatrix out(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(k));
  for (Eigen::Index r = 0; r < out.rows(); ++r) {
    for (Eigen::Index c = 0; c < out.cols(); ++c) {
      out(r, c) = static_cast<CodeMatrix::Scalar>(code(data, p, rectified, draw));
    }
  }
  return out;
}

}  // namespace

Operands make_data(OperandData data, std::uint64_t m, std::uint64_t n, std::uint64_t k,
                   Precision pa, Precision pw, std::uint64_t seed) {
  return {codes(data, m, k, pa, true, Draw(seed, 0)), codes(data, n, k, pw, false, Draw(seed, 1))};
}

CodeMatrix make_codes(OperandData data, std::uint64_t rows, std::uint64_t k, Precision precision,
                      std::uint64_t seed, std::uint64_t tensor) {
  return codes(data, rows, k, precision, true, Draw(seed, tensor));
}

std::string ActivityJob::label() const {
  if (idle) return "idle";
  std::string text = fmt::format("{}x{} {}{} {}", a.bits, w.bits, a.is_signed ? 's' : 'u',
                                 w.is_signed ? 's' : 'u', operand_data_name(data));
  if (w_data) text += "*" + operand_data_name(*w_data);
  if (lanes < 8) text += fmt::format(" {}/8 lanes", lanes);
  if (chunks > 0) text += fmt::format(" k{}", chunks);
  if (rows > 0) text += fmt::format(" m{}", rows);
  if (cols > 0) text += fmt::format(" n{}", cols);
  if (stall > 0) text += fmt::format(" stall {}", stall);
  return text;
}

ArrayConfig small_array(const ArrayConfig& config) {
  ArrayConfig small = config;
  small.name = config.name + " (small)";
  small.tm = std::max(2, config.s);
  small.tn = 2;
  // Words per cycle: as many per row, or as few rows per word, as there; at least one.
  const auto scaled = [](int words, int rows, int small_rows) {
    if (words >= rows) return words / rows * small_rows;
    int scaled_words = std::max(1, words * small_rows / rows);
    while (small_rows % scaled_words != 0) --scaled_words;
    return scaled_words;
  };
  small.ba = scaled(config.ba, config.tm, small.tm);
  small.bw = scaled(config.bw, config.tn, small.tn);
  small.q = small.tn;
  small.validate();
  return small;
}

namespace {

Descriptor descriptor_of(const ArrayConfig& array, const ActivityJob& job) {
  Descriptor d;
  d.gemm.m = 2 * static_cast<std::uint64_t>(array.tm);
  d.gemm.n = static_cast<std::uint64_t>(array.tn);
  d.gemm.k = static_cast<std::uint64_t>(array.kl);
  d.a = job.a;
  d.w = job.w;
  const std::uint64_t cc = gemm_timing(array, d).cc;
  if (job.chunks == 0) {
    // Chunks enough for the cycles wanted.
    d.gemm.k *= std::max<std::uint64_t>(1, job.cycles / (2 * cc));
  } else {
    // Tiles enough; the last chunk is not full.
    d.gemm.k = d.gemm.k * job.chunks - static_cast<std::uint64_t>(array.kl / 4);
    const std::uint64_t tile = std::max<std::uint64_t>(cc * job.chunks, gemm_timing(array, d).dr);
    d.gemm.m = static_cast<std::uint64_t>(array.tm) * std::max<std::uint64_t>(2, job.cycles / tile);
  }
  if (job.rows > 0) d.gemm.m -= static_cast<std::uint64_t>(array.tm - std::min(job.rows, array.tm));
  if (job.cols > 0) d.gemm.n = static_cast<std::uint64_t>(std::min(job.cols, array.tn));
  return d;
}

}  // namespace

std::uint64_t activity_macs(const ArrayConfig& array, const ActivityJob& job) {
  return 2 * descriptor_of(array, job).gemm.k;
}

void run_activity(const ArrayConfig& array, ArrayCore& core, const ActivityJob& job,
                  const std::function<void(const ArrayStep&)>& seen) {
  static const ArrayStep nothing;
  core.reset();
  if (job.idle) {
    seen(nothing);
    for (std::uint64_t i = 0; i < job.cycles; ++i) {
      core.step(nothing);
      seen(nothing);
    }
    return;
  }
  GemmJob gemm;
  gemm.descriptor = descriptor_of(array, job);
  gemm.stalls.a = gemm.stalls.w = job.stall;
  const Gemm& shape = gemm.descriptor.gemm;
  if (job.w_data) {
    gemm.operands = {make_codes(job.data, shape.m, shape.k, job.a, job.seed, 0),
                     make_codes(*job.w_data, shape.n, shape.k, job.w, job.seed, 1)};
  } else {
    gemm.operands = make_data(job.data, shape.m, shape.n, shape.k, job.a, job.w, job.seed);
  }
  if (job.lanes < 8) {
    for (Eigen::Index k = 0; k < gemm.operands.a.cols(); ++k) {
      if (k % array.kl * 8 < static_cast<Eigen::Index>(array.kl) * job.lanes) continue;
      gemm.operands.a.col(k).setZero();
      gemm.operands.w.col(k).setZero();
    }
  }
  OneJob source(std::move(gemm));
  Stimulus stimulus(array, source, job.seed);
  for (;;) {
    const ArrayStep& step = stimulus.next(core.ports());
    seen(stimulus.done() ? nothing : step);
    if (stimulus.done()) return;
    core.step(step);
  }
}

}  // namespace bitcycle
