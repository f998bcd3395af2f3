#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "golden/error.hpp"
#include "model/formula.hpp"
#include "model/machine/compile.hpp"

namespace bitcycle {
namespace {

// The expanded forward or dW as a product of matrices.
MatmulJob expanded_job(const ConvJob& job) {
  const ConvShape& s = job.shape;
  const std::uint64_t pixels = s.batch * s.ho() * s.wo();
  const std::uint64_t taps = s.kh * s.kw * s.cin;
  const bool forward = job.pass == ConvPass::kForward;
  MatmulJob m;
  m.m = forward ? pixels : s.cout;
  m.n = forward ? s.cout : taps;
  m.k = forward ? taps : pixels;
  m.a_columns = m.w_columns = !forward;
  m.first = job.first;
  m.second = job.second;
  m.out = job.out;
  return m;
}

// Cycles that a product takes at least in any mapping: its array work, two fetches before and a
// store after.
double least_of_any(const GemmProblem& p, const MemoryTiming& memory) {
  double array = 0;
  const auto lanes = p.k_granules ? static_cast<std::uint64_t>(p.config.gl) : 1;
  for (const GemmPart& part : p.first_unit()) {
    const auto taps = static_cast<std::uint64_t>(part.ks[0] * part.ks[1] * part.ks[2]);
    if (taps == 0) continue;
    const std::uint64_t m = own_count(part.first, {0, 0, 0}, part.rows);
    const std::uint64_t n = own_count(part.second, {0, 0, 0}, part.cols);
    const std::uint64_t k = taps * lanes;
    array +=
        static_cast<double>(std::min(gemm_timing(p.config.array, {{m, n, k}, p.pa, p.pw}).steady,
                                     gemm_timing(p.config.array, {{n, m, k}, p.pw, p.pa}).steady));
  }
  const std::uint64_t full_units = p.units > 1 ? p.units - 1 : 1;  // the last may have fewer parts
  return array * static_cast<double>(full_units) +
         static_cast<double>(2 * (memory.latency + 1) + memory.write_latency + 1);
}

// What a way must promise to be looked at.
constexpr double kWorthwhile = 0.99;
// Products of more MACs gain less than a hundredth by running a batch in parts.
constexpr std::uint64_t kMostInParts = std::uint64_t{1} << 31U;

}  // namespace

CompiledLayer compile_layer(const MachineConfig& config, const ConvJob& job,
                            const CompileOptions& options) {
  const ConvShape& s = job.shape;
  CompiledLayer layer;
  layer.time = std::numeric_limits<double>::infinity();
  std::string refusal;
  const auto attempt = [&](const std::string& way, auto&& make) {
    try {
      CompiledLayer other = make();
      layer.reason += fmt::format("{}{} {:.0f}", layer.reason.empty() ? "" : ", ", way, other.time);
      if (other.time < layer.time) {
        other.reason = layer.reason;
        layer = std::move(other);
      }
    } catch (const InputError& error) {
      refusal = refusal.empty() ? error.what() : refusal;
      layer.reason += fmt::format("{}{} does not fit", layer.reason.empty() ? "" : ", ", way);
    }
  };
  attempt("as it is", [&] {
    CompiledLayer l;
    l.plans.push_back(compile(GemmProblem(config, job), options));
    l.time = l.plans.front().time;
    return l;
  });
  const bool raw = job.out.form != OutputForm::kCodes;
  const bool may_expand = s.groups == 1 && s.kh * s.kw > 1 &&
                          s.cin % static_cast<std::uint64_t>(config.gl) != 0 &&
                          job.pass != ConvPass::kDx && raw && !options.mapping;
  const auto expanded = [&](const ConvJob& of) {
    CompiledLayer l;
    const GemmProblem direct(config, of);
    const GemmProblem dense(config, expanded_job(of));
    const bool forward = of.pass == ConvPass::kForward;
    l.plans.push_back(compile(dense, options));
    l.expanded = true;
    l.host_bytes = (forward ? direct.first : direct.second).bytes() +
                   (forward ? dense.first : dense.second).bytes();
    l.time =
        l.plans.front().time + options.host_cycles_per_byte * static_cast<double>(l.host_bytes);
    return l;
  };
  if (may_expand) attempt("expanded", [&] { return expanded(job); });
  if (job.pass == ConvPass::kDx && raw && !job.dx_as_gemm && s.stride_h * s.stride_w > 1 &&
      job.phase_y < 0 && !options.mapping) {
    attempt("phase by phase", [&] {
      CompiledLayer l;
      l.phases_apart = true;
      for (std::uint64_t y = 0; y < std::min(s.stride_h, s.hi); ++y) {
        for (std::uint64_t x = 0; x < std::min(s.stride_w, s.wi); ++x) {
          ConvJob one = job;
          one.phase_y = static_cast<int>(y);
          one.phase_x = static_cast<int>(x);
          l.plans.push_back(compile(GemmProblem(config, one), options));
          l.time += l.plans.back().time;
        }
      }
      return l;
    });
  }
  // The partial results of every part of the batch are a result of their own, which the host reads
  // and adds.
  if (job.pass == ConvPass::kDw && raw && !options.mapping && !options.time &&
      GemmProblem(config, job).useful_macs < kMostInParts) {
    for (std::uint64_t parts = 2; s.batch % parts == 0; parts *= 2) {
      ConvJob one = job;
      one.shape.batch = s.batch / parts;
      const GemmProblem problem(config, one);
      const double copies = static_cast<double>(parts);
      if (copies * least_of_any(problem, options.memory) > kWorthwhile * layer.time) break;
      const auto in_parts = [&](CompiledLayer l) {
        l.batch_parts = parts;
        const PlanCost& cost = l.plans.front().plan.cost();
        const std::uint64_t sums =
            (parts - 1) * cost.out_beats * static_cast<std::uint64_t>(config.dw) / 8;
        l.host_bytes = parts * l.host_bytes + sums;
        l.time = copies * l.time + options.host_cycles_per_byte * static_cast<double>(sums);
        return l;
      };
      attempt(fmt::format("in {} parts of the batch", parts), [&] {
        CompiledLayer l;
        l.plans.push_back(compile(problem, options));
        l.time = l.plans.front().time;
        return in_parts(std::move(l));
      });
      if (may_expand) {
        attempt(fmt::format("expanded, in {} parts of the batch", parts),
                [&] { return in_parts(expanded(one)); });
      }
    }
  }
  if (layer.plans.empty()) throw InputError(refusal);
  return layer;
}

}  // namespace bitcycle
