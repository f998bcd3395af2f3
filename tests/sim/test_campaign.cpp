// Streams of jobs: what they cover, and that a seed gives the same stream again.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "model/core.hpp"
#include "sim/judge.hpp"
#include "tests/sim/model_testing.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

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
  int other_lanes = 0;
  int other_rows = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    OperandFeeder feeder(config, d, OperandSide::kA, planes, seed);
    const std::uint64_t beat = feeder.beat()[0];  // four rows of 16 lanes
    CHECK((beat & 1U) == 0);                      // the element itself
    other_lanes += __builtin_popcountll(beat & 0xfffeU);
    other_rows += __builtin_popcountll(beat >> 16U);
    feeder.advance();
    CHECK(feeder.done());
  }
  CHECK(other_lanes > 40 * 15 / 3);
  CHECK(other_rows > 40 * 48 / 3);
}

namespace {

// An array that is right but for what `tamper` makes of a result beat.
class WrongBeat : public Array {
 public:
  using Tamper = std::function<void(WrongBeat&)>;
  WrongBeat(const ArrayConfig& config, Tamper tamper) : core_(config), tamper_(std::move(tamper)) {}
  void reset() override { core_.reset(); }
  void step(const ArrayStep& in) override {
    core_.step(in);
    ports_ = core_.ports();
    // Four results of 48 bits, four sums of W, one of A.
    std::memcpy(mask.data(), ports_.res_mask, 1);
    std::memcpy(data.data(), ports_.res_data, 24);
    std::memcpy(sum_a.data(), ports_.res_sum_a, 6);
    std::memcpy(sum_w.data(), ports_.res_sum_w, 24);
    ++beats;
    tamper_(*this);
    ports_.res_mask = mask.data();
    ports_.res_data = data.data();
    ports_.res_sum_a = sum_a.data();
    ports_.res_sum_w = sum_w.data();
  }
  const ArrayPorts& ports() const override { return beats == 0 ? core_.ports() : ports_; }
  const std::vector<RegisterView>& registers() override { return core_.registers(); }

  std::array<std::uint8_t, 8> mask{}, sum_a{};
  std::array<std::uint8_t, 24> data{}, sum_w{};
  int beats = 0;

 private:
  ArrayCore core_;
  Tamper tamper_;
  ArrayPorts ports_;
};

}  // namespace

TEST_CASE("stimulus: masks, results and sums of every beat are looked at") {
  const ArrayConfig config = resolve_array("ci-1x1-s4");
  // Three rows and five columns: two tiles, the first full in N, the second a single column.
  const Descriptor d{{3, 5, 20}, {3, true}, {4, true}};
  const auto verdict = [&](const WrongBeat::Tamper& tamper) {
    WrongBeat array(config, tamper);
    const auto make = [&](std::uint64_t number) -> std::optional<GemmJob> {
      if (number > 0) return std::nullopt;
      return GemmJob{d, make_operands(OperandPattern::kUniform, 3, 5, 20, d.a, d.w, 1), {}, "job"};
    };
    return run_alone(array, config, make, 1).failure;
  };
  CHECK_THAT(verdict([](WrongBeat&) {}), Equals(""));
  for (int bit = 0; bit < 4; ++bit) {
    CHECK_THAT(verdict([&](WrongBeat& b) { b.mask[0] ^= static_cast<std::uint8_t>(1U << bit); }),
               Contains("mask"));
  }
  CHECK_THAT(verdict([](WrongBeat& b) { b.mask[0] = 15; }), Contains("mask"));
  CHECK_THAT(verdict([](WrongBeat& b) { b.data[5] ^= 0x80U; }), Contains("C[0][0]"));
  CHECK_THAT(verdict([](WrongBeat& b) { b.data[18] ^= 1U; }), Contains("C[0][3]"));
  CHECK_THAT(verdict([](WrongBeat& b) { b.sum_a[0] ^= 1U; }), Contains("sum of A[0]"));
  CHECK_THAT(verdict([](WrongBeat& b) { b.sum_w[6] ^= 1U; }), Contains("sum of W[1]"));
  // A sum that repeats must repeat: W's in every row, A's in every column tile.
  CHECK_THAT(verdict([](WrongBeat& b) {
               if (b.beats % 2 == 0) b.sum_w[0] ^= 1U;
             }),
             Contains("sum of W[0]") || Contains("repeated sum"));
}
