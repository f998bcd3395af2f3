// Streams of jobs: what they cover, and that a seed gives the same stream again.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

#include "model/core.hpp"
#include "sim/judge.hpp"
#include "tests/sim/model_testing.hpp"

namespace {

using namespace bitcycle;

bool same(const GemmJob& x, const GemmJob& y) {
  return x.label == y.label && x.operands.a == y.operands.a && x.operands.w == y.operands.w &&
         x.stalls.a == y.stalls.a && x.stalls.result == y.stalls.result;
}

}  // namespace

TEST_CASE("campaign: every width pair and sign mode comes as often as asked, then none") {
  for (const char* name : {"ci-1x1-s1", "brick-2x2"}) {
    const ArrayConfig config = resolve_array(name);
    std::map<std::tuple<int, int, bool, bool>, int> seen;
    std::uint64_t number = 0;
    int changes = 0;
    Descriptor last;
    while (const auto job = all_precisions_job(config, 3, number, 2)) {
      const Descriptor& d = job->descriptor;
      ++seen[{d.a.bits, d.w.bits, d.a.is_signed, d.w.is_signed}];
      changes += d.a != last.a || d.w != last.w ? 1 : 0;
      last = d;
      ++number;
    }
    const auto p = static_cast<std::size_t>(config.p_max);
    CHECK(number == p * p * 4 * 2);
    CHECK(seen.size() == p * p * 4);
    for (const auto& [key, count] : seen) CHECK(count == 2);
    CHECK(changes == static_cast<int>(number));  // precision changes from job to job
  }
}

TEST_CASE("campaign: random jobs hold every leftover, stalls and refusals") {
  const ArrayConfig config = resolve_array("ci-1x1-s4");
  std::set<std::uint64_t> m_left, n_left, k_left;
  std::set<Cause> refusals;
  std::set<std::string> patterns;
  int stalled = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const GemmJob job = random_job(config, 8, i);
    const Gemm& g = job.descriptor.gemm;
    m_left.insert(g.m % 4);
    n_left.insert(g.n % 4);
    k_left.insert(g.k % 16);
    stalled += job.stalls.any() ? 1 : 0;
    if (g.m == 0 || g.n == 0 || g.k == 0) refusals.insert(Cause::kDimZero);
    if (job.descriptor.a.bits == 0 || job.descriptor.w.bits == 0)
      refusals.insert(Cause::kWidthZero);
    if (job.descriptor.a.bits > 16) refusals.insert(Cause::kWidthOver);
    patterns.insert(job.label.substr(job.label.rfind(' ') + 1));
  }
  CHECK(m_left.size() == 4);
  CHECK(n_left.size() == 4);
  CHECK(k_left.size() == 16);
  CHECK(refusals.size() == 3);
  CHECK(stalled > 200);
  for (const auto pattern : kOperandPatterns) CHECK(patterns.count(operand_pattern_name(pattern)));
}

TEST_CASE("campaign: a seed and a number make a job, whatever came before") {
  const ArrayConfig config = resolve_array("ci-2x2-s1");
  int different = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    CHECK(same(random_job(config, 5, i), random_job(config, 5, i)));
    different += same(random_job(config, 5, i), random_job(config, 6, i)) ? 0 : 1;
  }
  CHECK(different == 50);
}

TEST_CASE("stimulus: rows, columns and lanes that do not exist carry garbage, never zeros") {
  // An array that looked at them would be caught: beats of one element are full of other bits.
  const ArrayConfig config = resolve_array("ci-1x1-s4");
  const Descriptor d{{1, 1, 1}, {1, false}, {1, false}};
  const auto operands = make_operands(OperandPattern::kZero, 1, 1, 1, d.a, d.w, 1);
  const BitPlanes planes = pack_bit_planes(operands.a, d.a, config.kl);
  int ones = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    OperandFeeder feeder(config, d, OperandSide::kA, planes, seed);
    CHECK((feeder.beat()[0] & 1U) == 0);  // the element itself
    ones += __builtin_popcountll(feeder.beat()[0]);
    feeder.advance();
    CHECK(feeder.done());
  }
  CHECK(ones > 20 * 63 / 3);
}
