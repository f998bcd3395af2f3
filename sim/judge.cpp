#include "sim/judge.hpp"

#include <fmt/format.h>

#include "golden/gemm.hpp"
#include "golden/widths.hpp"
#include "model/formula.hpp"

namespace bitcycle {
namespace {

struct Count {
  const char* name;
  std::uint64_t GemmEvents::*member;
};
constexpr Count kCounts[] = {
    {"digit cycles", &GemmEvents::digit_cycles},
    {"idle cycles", &GemmEvents::idle_cycles},
    {"AC adds", &GemmEvents::ac_adds},
    {"AC adds of the ones row and column", &GemmEvents::ac_adds_ones},
    {"ACC flushes", &GemmEvents::acc_flushes},
    {"ACC flushes of the ones row and column", &GemmEvents::acc_flushes_ones},
    {"A words read", &GemmEvents::a_words_read},
    {"W words read", &GemmEvents::w_words_read},
    {"results", &GemmEvents::results},
    {"drain beats", &GemmEvents::drain_beats},
};

Cause expected_cause(const ArrayConfig& config, const Descriptor& d) {
  if (d.gemm.m == 0 || d.gemm.n == 0 || d.gemm.k == 0) return Cause::kDimZero;
  if (d.a.bits == 0 || d.w.bits == 0) return Cause::kWidthZero;
  if (d.a.bits > config.p_max || d.w.bits > config.p_max) return Cause::kWidthOver;
  return Cause::kNone;
}

std::optional<std::string> judge_values(const ArrayConfig& config, const GemmJob& job,
                                        const JobResult& result) {
  const Descriptor& d = job.descriptor;
  const GoldenResult golden = golden_gemm(job.operands.a, d.a, job.operands.w, d.w, config.acc_w);
  for (Eigen::Index m = 0; m < golden.c.rows(); ++m) {
    for (Eigen::Index n = 0; n < golden.c.cols(); ++n) {
      if (result.c(m, n) != golden.c(m, n)) {
        return fmt::format("C[{}][{}] is {}, golden says {}", m, n, result.c(m, n), golden.c(m, n));
      }
    }
  }
  const auto sums = [&](const char* name, const std::vector<std::int64_t>& got,
                        const std::vector<std::int64_t>& want) -> std::optional<std::string> {
    for (std::size_t i = 0; i < want.size(); ++i) {
      const std::int64_t wrapped = wrap_to_width(want[i], config.acc_w);
      if (got[i] != wrapped) {
        return fmt::format("{}[{}] is {}, golden says {}", name, i, got[i], wrapped);
      }
    }
    return std::nullopt;
  };
  if (auto bad = sums("sum of A", result.sum_a, golden.sum_a)) return bad;
  if (auto bad = sums("sum of W", result.sum_w, golden.sum_w)) return bad;
  if (!result.beats_consistent) return "a result mask or a repeated sum is wrong";
  if ((golden.must_overflow || golden.sums_must_overflow) && !result.overflow) {
    return "a result does not fit but the overflow flag is 0";
  }
  if (golden.cannot_overflow && result.overflow) {
    return "no sum can overflow but the overflow flag is 1";
  }
  return std::nullopt;
}

}  // namespace

std::string describe(const Descriptor& d) {
  return fmt::format("m={} n={} k={} {}x{} {}{}", d.gemm.m, d.gemm.n, d.gemm.k, d.a.bits, d.w.bits,
                     d.a.is_signed ? 's' : 'u', d.w.is_signed ? 's' : 'u');
}

std::optional<std::string> judge(const ArrayConfig& config, const GemmJob& job,
                                 const JobResult& result) {
  const Cause cause = expected_cause(config, job.descriptor);
  if (cause != Cause::kNone || result.refused) {
    if (cause != Cause::kNone && result.refused && result.cause == cause) return std::nullopt;
    return fmt::format("refused with cause {}, expected {}", static_cast<int>(result.cause),
                       static_cast<int>(cause));
  }
  if (auto bad = judge_values(config, job, result)) return bad;
  const GemmEvents events = gemm_events(config, job.descriptor);
  for (const auto& count : kCounts) {
    if (result.events.*count.member != events.*count.member) {
      return fmt::format("{}: RTL {}, formula {}", count.name, result.events.*count.member,
                         events.*count.member);
    }
  }
  const std::uint64_t cycles = gemm_timing(config, job.descriptor).cycles;
  const std::uint64_t most = cycles + (job.stalls.any() ? result.injected_cycles : 0);
  if (result.cycles < cycles || result.cycles > most) {
    return job.stalls.any() ? fmt::format("cycles: RTL {}, formula {} to {} with {} stall cycles",
                                          result.cycles, cycles, most, result.injected_cycles)
                            : fmt::format("cycles: RTL {}, formula {}", result.cycles, cycles);
  }
  return std::nullopt;
}

}  // namespace bitcycle
