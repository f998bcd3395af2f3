#include "sim/campaign.hpp"

#include <fmt/format.h>

#include "golden/checked.hpp"
#include "golden/counter_random.hpp"
#include "model/formula.hpp"
#include "sim/judge.hpp"

namespace bitcycle {
namespace {

// Draws of one job, in a fixed order.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t job) : seed_(seed), job_(job) {}
  std::uint64_t operator()() { return counter_random(seed_, job_, count_++); }
  std::uint64_t below(std::uint64_t limit) { return (*this)() % limit; }

 private:
  std::uint64_t seed_, job_;
  std::uint64_t count_ = 0;
};

// A size around `unit`: 1, one below, at and above multiples, or anything up to `most` units.
std::uint64_t random_size(Draws& draw, int unit, std::uint64_t most) {
  const auto u = static_cast<std::uint64_t>(unit);
  switch (draw.below(6)) {
    case 0:
      return 1;
    case 1:
      return u;
    case 2:
      return u + 1;
    case 3:
      return u > 1 ? u - 1 : 1;
    case 4:
      return u * (1 + draw.below(most));
    default:
      return 1 + draw.below(u * most);
  }
}

GemmJob make_job(const ArrayConfig& config, Draws& draw, Precision a, Precision w) {
  GemmJob job;
  Descriptor& d = job.descriptor;
  // Small tiles dominate: corners of the control, not of the data, need many tiles.
  d.gemm = {random_size(draw, config.tm, 3), random_size(draw, config.tn, 3),
            random_size(draw, config.kl, 4)};
  d.a = a;
  d.w = w;
  const auto pattern =
      kOperandPatterns[draw.below(2) == 0 ? 0 : draw.below(kOperandPatterns.size())];
  job.operands = make_operands(pattern, d.gemm.m, d.gemm.n, d.gemm.k, a, w, draw());
  job.label = fmt::format("{} {}", describe(d), operand_pattern_name(pattern));
  return job;
}

}  // namespace

std::optional<GemmJob> JudgedJobs::next() {
  if (!totals_.failure.empty()) return std::nullopt;
  return make_(number_++);
}

void JudgedJobs::finished(const GemmJob& job, JobResult result) {
  ++totals_.gemms;
  totals_.cycles += result.cycles;
  totals_.stalled += job.stalls.any() ? 1 : 0;
  totals_.overflows += result.overflow ? 1 : 0;
  if (auto bad = judge(config_, job, result)) {
    totals_.failure = fmt::format("GEMM {} ({}): {}", totals_.gemms, job.label, *bad);
    return;
  }
  if (result.refused) {
    ++totals_.refused;
    return;
  }
  const GemmTiming timing = gemm_timing(config_, job.descriptor);
  totals_.tiles += timing.tiles;
  if (job.stalls.any()) {
    totals_.stalled_cycles += result.cycles;
    totals_.stalled_least += timing.cycles;
    totals_.stalled_most += timing.cycles + result.injected_cycles;
  } else {
    totals_.formula_cycles += timing.cycles;
  }
}

GemmJob random_job(const ArrayConfig& config, std::uint64_t seed, std::uint64_t number) {
  Draws draw(seed, number);
  const auto width = [&] {
    return static_cast<int>(1 + draw.below(static_cast<unsigned>(config.p_max)));
  };
  const int pa = width();
  const int pw = width();
  const std::uint64_t signs = draw();
  GemmJob job = make_job(config, draw, {pa, (signs & 1U) != 0}, {pw, (signs & 2U) != 0});
  if (draw.below(8) == 0) {
    const auto some = [&] { return static_cast<int>(draw.below(3) == 0 ? draw.below(200) : 0); };
    job.stalls = {some(), some(), some(), some()};
  }
  if (draw.below(64) == 0) {
    // Illegal in one field; the array must refuse it and go on unharmed.
    Descriptor& d = job.descriptor;
    switch (draw.below(6)) {
      case 0:
        d.gemm.m = 0;
        break;
      case 1:
        d.gemm.n = 0;
        break;
      case 2:
        d.gemm.k = 0;
        break;
      case 3:
        d.a.bits = 0;
        break;
      case 4:
        d.w.bits = 0;
        break;
      default:
        d.a.bits = config.p_max + 1;
        break;
    }
    job.label = describe(d);
  }
  return job;
}

std::optional<GemmJob> all_precisions_job(const ArrayConfig& config, std::uint64_t seed,
                                          std::uint64_t number, std::uint64_t repeat) {
  const auto p = static_cast<std::uint64_t>(config.p_max);
  if (number >= p * p * 4 * repeat) return std::nullopt;
  // Neighbouring jobs differ in precision: a stride coprime to the number of combinations.
  const std::uint64_t mixed = number % (p * p * 4) * 5 % (p * p * 4);
  const bool coprime = p % 5 != 0;
  const std::uint64_t at = coprime ? mixed : number % (p * p * 4);
  Draws draw(seed ^ 0x5bd1e995U, number);
  const Precision a{static_cast<int>(1 + at / 4 % p), (at & 1U) != 0};
  const Precision w{static_cast<int>(1 + at / 4 / p), (at & 2U) != 0};
  return make_job(config, draw, a, w);
}

}  // namespace bitcycle
