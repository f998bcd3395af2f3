#include <catch2/catch.hpp>
#include <random>

#include "model/machine/blocking.hpp"
#include "tests/machine/compiled_run.hpp"

namespace bitcycle {
namespace {

// Every block one by one.
BoxTotals by_hand(const GemmProblem& p, bool first, const Index3& own, const Index3& k) {
  const BlockGrid mine{first ? p.rows() : p.cols(), own};
  const BlockGrid ks{p.ks(), k};
  BoxTotals totals;
  for (std::int64_t i = 0; i < mine.count(); ++i) {
    for (std::int64_t j = 0; j < ks.count(); ++j) {
      const std::uint64_t beats = fetch_box(p, p.first_unit(), first, mine.at(i), ks.at(j)).beats();
      totals.sum += beats;
      totals.most = std::max(totals.most, beats);
    }
  }
  return totals;
}

}  // namespace

TEST_CASE("blocks: beats over all blocks are those of the blocks one by one", "[machine]") {
  const std::uint64_t seed = 31337;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  int compared = 0;
  for (int i = 0; i < 400; ++i) {
    MachineConfig config = testing::machine_of(pick(0, 1) == 0 ? "ci-1x1-s4" : "ci-4x4-s1");
    config.dw = 64 << pick(0, 2);
    ConvJob j;
    ConvShape& s = j.shape;
    s.batch = pick(1, 40);
    s.cin = pick(1, 40);
    s.cout = pick(1, 40);
    s.hi = pick(1, 30);
    s.wi = pick(1, 300);
    s.kh = pick(1, 5);
    s.kw = pick(1, 5);
    s.stride_h = pick(1, 3);
    s.stride_w = pick(1, 3);
    s.dilation_h = pick(1, 2);
    s.dilation_w = pick(1, 3);
    s.pad_top = pick(0, 3);
    s.pad_bottom = pick(0, 3);
    s.pad_left = pick(0, 7);
    s.pad_right = pick(0, 7);
    if (s.ho() == 0 || s.wo() == 0) continue;
    j.pass = static_cast<ConvPass>(pick(0, 2));
    j.first.bits = static_cast<int>(pick(1, 9));
    j.second.bits = static_cast<int>(pick(1, 9));
    const GemmProblem p(config, j);
    for (const bool first : {true, false}) {
      Index3 own, k;
      const Index3 most = first ? p.rows() : p.cols();
      for (std::size_t d = 0; d < 3; ++d) {
        const auto size = [&](std::int64_t extent) {
          return static_cast<std::int64_t>(
              pick(1, static_cast<std::uint64_t>(pick(0, 1) == 0 ? extent : (extent + 9) / 10)));
        };
        own[d] = size(most[d]);
        k[d] = size(std::max<std::int64_t>(p.ks()[d], 1));
      }
      INFO(p.name << " " << j.first.bits << "x" << j.second.bits << " dw " << config.dw << ", own "
                  << own[0] << " " << own[1] << " " << own[2] << ", reduction " << k[0] << " "
                  << k[1] << " " << k[2]);
      const BoxTotals want = by_hand(p, first, own, k);
      const BoxTotals got = box_totals(p, p.first_unit(), first, own, k);
      CHECK(got.sum == want.sum);
      CHECK(got.most == want.most);
      ++compared;
    }
  }
  CHECK(compared > 600);
}

}  // namespace bitcycle
