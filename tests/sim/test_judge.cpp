// The judge fails a result in which any one thing is wrong, and says which.
#include <catch2/catch.hpp>
#include <functional>

#include "golden/widths.hpp"
#include "model/core.hpp"
#include "sim/judge.hpp"
#include "tests/sim/model_testing.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

// Keeps the one result of its one job.
class OneJob : public JobSource {
 public:
  explicit OneJob(GemmJob job) : job_(std::move(job)) {}
  std::optional<GemmJob> next() override {
    if (given_) return std::nullopt;
    given_ = true;
    return job_;
  }
  void finished(const GemmJob&, JobResult result) override { result_ = std::move(result); }
  const JobResult& result() const { return result_; }

 private:
  GemmJob job_;
  JobResult result_;
  bool given_ = false;
};

GemmJob make_job(const Descriptor& d, OperandPattern pattern = OperandPattern::kUniform,
                 StallPattern stalls = {}) {
  const Gemm& g = d.gemm;
  return {d, make_operands(pattern, g.m, g.n, g.k, d.a, d.w, 3), stalls, "job"};
}

// What the core, proven elsewhere, makes of a job.
JobResult right_result(const ArrayConfig& config, const GemmJob& job) {
  ArrayCore core(config);
  OneJob source(job);
  Stimulus stimulus(config, source, 1);
  while (true) {
    const ArrayStep& step = stimulus.next(core.ports());
    if (stimulus.done()) return source.result();
    core.step(step);
  }
}

const ArrayConfig kArray = resolve_array("ci-1x1-s4");
const Descriptor kDescriptor{{5, 6, 40}, {3, true}, {9, false}};

std::string verdict(const ArrayConfig& config, const GemmJob& job, const JobResult& result) {
  const auto text = judge(config, job, result);
  CHECK((!text || (!text->empty() && text->find('\n') == std::string::npos)));
  return text.value_or("");
}

}  // namespace

TEST_CASE("judge: a right result passes") {
  const GemmJob job = make_job(kDescriptor);
  CHECK_THAT(verdict(kArray, job, right_result(kArray, job)), Equals(""));
}

TEST_CASE("judge: every single value counts") {
  const GemmJob job = make_job(kDescriptor);
  const JobResult right = right_result(kArray, job);
  for (Eigen::Index m = 0; m < 5; ++m) {
    for (Eigen::Index n = 0; n < 6; ++n) {
      for (const int by : {1, -1}) {
        JobResult wrong = right;
        wrong.c(m, n) += by;
        REQUIRE_THAT(verdict(kArray, job, wrong),
                     Contains("C[" + std::to_string(m) + "][" + std::to_string(n) + "] is ") &&
                         Contains("golden"));
      }
    }
  }
  for (std::size_t i = 0; i < 5; ++i) {
    JobResult wrong = right;
    wrong.sum_a[i] ^= 1;
    REQUIRE_THAT(verdict(kArray, job, wrong), Contains("sum of A[" + std::to_string(i) + "]"));
  }
  for (std::size_t i = 0; i < 6; ++i) {
    JobResult wrong = right;
    wrong.sum_w[i] ^= 1;
    REQUIRE_THAT(verdict(kArray, job, wrong), Contains("sum of W[" + std::to_string(i) + "]"));
  }
}

TEST_CASE("judge: every event count and the cycles are exact") {
  const GemmJob job = make_job(kDescriptor);
  const JobResult right = right_result(kArray, job);
  const std::pair<std::uint64_t GemmEvents::*, const char*> counts[] = {
      {&GemmEvents::digit_cycles, "digit cycles"},
      {&GemmEvents::idle_cycles, "idle cycles"},
      {&GemmEvents::ac_adds, "AC adds"},
      {&GemmEvents::ac_adds_ones, "AC adds of the ones"},
      {&GemmEvents::acc_flushes, "ACC flushes"},
      {&GemmEvents::acc_flushes_ones, "ACC flushes of the ones"},
      {&GemmEvents::a_words_read, "A words read"},
      {&GemmEvents::w_words_read, "W words read"},
      {&GemmEvents::results, "results"},
      {&GemmEvents::drain_beats, "drain beats"}};
  for (const auto& [member, name] : counts) {
    for (const int by : {1, -1}) {
      JobResult wrong = right;
      wrong.events.*member += static_cast<std::uint64_t>(by);
      CAPTURE(name, by);
      CHECK_THAT(verdict(kArray, job, wrong), Contains(name) && Contains("formula"));
    }
  }
  for (const int by : {1, -1}) {
    JobResult wrong = right;
    wrong.cycles += static_cast<std::uint64_t>(by);
    CHECK_THAT(verdict(kArray, job, wrong), Contains("cycles: RTL"));
  }
}

TEST_CASE("judge: masks and repeated sums") {
  const GemmJob job = make_job(kDescriptor);
  JobResult wrong = right_result(kArray, job);
  wrong.beats_consistent = false;
  CHECK_THAT(verdict(kArray, job, wrong), Contains("mask"));
}

TEST_CASE("judge: the overflow flag is demanded where golden decides it") {
  ArrayConfig narrow = kArray;
  narrow.ac_w = 21;
  narrow.acc_w = 37;
  narrow.validate();
  const Precision wide{16, false};
  SECTION("a result does not fit: 1") {
    const GemmJob job = make_job({{1, 1, 64}, wide, wide}, OperandPattern::kMaximum);
    JobResult result = right_result(narrow, job);
    REQUIRE(result.overflow);
    CHECK_THAT(verdict(narrow, job, result), Equals(""));
    result.overflow = false;
    CHECK_THAT(verdict(narrow, job, result), Contains("does not fit but the overflow flag is 0"));
  }
  SECTION("no sum can leave the range: 0") {
    const GemmJob job = make_job(kDescriptor);
    JobResult result = right_result(narrow, job);
    REQUIRE_FALSE(result.overflow);
    result.overflow = true;
    CHECK_THAT(verdict(narrow, job, result), Contains("overflow flag is 1"));
  }
  SECTION("in between either is right") {
    // Signed products cancel: the result fits, prefixes of digit products need not.
    const GemmJob job = make_job({{1, 1, 401}, {16, true}, {16, true}}, OperandPattern::kCancel);
    JobResult result = right_result(narrow, job);
    const auto golden =
        golden_gemm(job.operands.a, {16, true}, job.operands.w, {16, true}, narrow.acc_w);
    REQUIRE_FALSE(golden.must_overflow);
    REQUIRE_FALSE(golden.cannot_overflow);
    for (const bool flag : {false, true}) {
      result.overflow = flag;
      CHECK_THAT(verdict(narrow, job, result), Equals(""));
    }
  }
}

TEST_CASE("judge: stalls widen the cycles to a bound, nothing else") {
  const GemmJob job = make_job(kDescriptor, OperandPattern::kUniform, {200, 200, 200, 200});
  const JobResult right = right_result(kArray, job);
  const std::uint64_t free = gemm_timing(kArray, kDescriptor).cycles;
  REQUIRE(right.injected_cycles > 0);
  REQUIRE(right.cycles > free);
  CHECK_THAT(verdict(kArray, job, right), Equals(""));
  JobResult other = right;
  other.cycles = free;
  CHECK_THAT(verdict(kArray, job, other), Equals(""));
  other.cycles = free - 1;
  CHECK_THAT(verdict(kArray, job, other), Contains("cycles: RTL"));
  other.cycles = free + right.injected_cycles;
  CHECK_THAT(verdict(kArray, job, other), Equals(""));
  other.cycles += 1;
  CHECK_THAT(verdict(kArray, job, other), Contains("stall cycles"));
  other = right;
  other.events.ac_adds += 1;
  CHECK_THAT(verdict(kArray, job, other), Contains("AC adds"));
}

TEST_CASE("judge: refusals are demanded with their cause, and only where they are due") {
  const auto judged = [](const Descriptor& d, bool refused, Cause cause) {
    JobResult result;
    result.refused = refused;
    result.cause = cause;
    GemmJob job = make_job(kDescriptor);
    job.descriptor = d;
    return verdict(kArray, job, result);
  };
  Descriptor dim = kDescriptor;
  dim.gemm.k = 0;
  Descriptor zero = kDescriptor;
  zero.a.bits = 0;
  Descriptor over = kDescriptor;
  over.w.bits = 17;
  CHECK_THAT(judged(dim, true, Cause::kDimZero), Equals(""));
  CHECK_THAT(judged(zero, true, Cause::kWidthZero), Equals(""));
  CHECK_THAT(judged(over, true, Cause::kWidthOver), Equals(""));
  CHECK_THAT(judged(dim, true, Cause::kWidthZero), Contains("refused with cause 2, expected 1"));
  CHECK_THAT(judged(zero, true, Cause::kDimZero), Contains("expected 2"));
  CHECK_THAT(judged(over, false, Cause::kNone), Contains("expected 3"));
  CHECK_THAT(judged(over, false, Cause::kWidthOver), Contains("expected 3"));
  CHECK_THAT(judged(kDescriptor, true, Cause::kDimZero), Contains("expected 0"));
  CHECK_THAT(judged(kDescriptor, true, Cause::kNone), Contains("expected 0"));
}

TEST_CASE("describe names shape, widths and signs") {
  CHECK(describe({{5, 3, 17}, {3, false}, {8, true}}) == "m=5 n=3 k=17 3x8 us");
}

TEST_CASE("a judged stream stops at the first failure and keeps totals") {
  const GemmJob job = make_job(kDescriptor);
  const JobResult right = right_result(kArray, job);
  JudgedJobs jobs(kArray, [&](std::uint64_t) { return std::optional(job); });
  REQUIRE(jobs.next());
  jobs.finished(job, right);
  REQUIRE(jobs.next());
  JobResult wrong = right;
  wrong.c(4, 5) += 1;
  jobs.finished(job, wrong);
  CHECK_FALSE(jobs.next());
  CHECK(jobs.totals().gemms == 2);
  CHECK_THAT(jobs.totals().failure, Contains("GEMM 2 (job)") && Contains("C[4][5]"));
}
