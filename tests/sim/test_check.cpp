// Sampled tiles of a job on the RTL (compare --check). Each run elaborates: one per TEST_CASE.
#include <catch2/catch.hpp>

#include "golden/error.hpp"
#include "sim/check.hpp"
#include "tests/sim/capture.hpp"
#include "tests/sim/lockstep_testing.hpp"
#include "tests/workloads/error_text.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Contains;

CheckItem item(const char* array, std::uint64_t m, std::uint64_t n, std::uint64_t k, int pa,
               int pw) {
  return {resolve_array(array), {{m, n, k}, {pa, false}, {pw, true}}, 1, "net layer"};
}

}  // namespace

TEST_CASE("check: every precision pair of every array is co-simulated, edges included") {
  std::vector<CheckItem> items;
  for (const char* array : {"ci-1x1-s4", "ci-1x8-s1"}) {
    for (int bits = 3; bits <= 8; ++bits) {
      items.push_back(item(array, 1027, 33, 147, bits, bits));
      items.push_back(item(array, 1027, 33, 147, 8, bits));
      items.push_back(item(array, 64, 32, 27, 8, bits));
    }
  }
  const CheckVerdict verdict = check_tiles(items, 80, 4);
  INFO(verdict.text);
  CHECK(verdict.pass);
  CHECK(verdict.tiles >= 80);
  CHECK(verdict.cycles > 1000);
  CHECK_THAT(verdict.text, Contains("11 of 11 precision pairs on ci-1x1-s4") &&
                               Contains("11 of 11 precision pairs on ci-1x8-s1") &&
                               Contains("seed 4"));
  CHECK(verdict.text.find(" 0 windows at an edge") == std::string::npos);
  CHECK(verdict.text.find('\n') == std::string::npos);
}

TEST_CASE("check: fewer tiles than pairs are what was asked for, and said") {
  const std::vector<CheckItem> items = {item("ci-2x2-s1", 9, 9, 40, 2, 2),
                                        item("ci-2x2-s1", 9, 9, 40, 3, 2),
                                        item("ci-2x2-s1", 9, 9, 40, 4, 2)};
  const CheckVerdict verdict = check_tiles(items, 2, 1);
  INFO(verdict.text);
  CHECK(verdict.pass);
  CHECK(verdict.tiles == 2);
  CHECK_THAT(verdict.text, Contains("of 3 precision pairs"));
}

TEST_CASE("check: nothing to check is an error") {
  CHECK_THAT(error_text([] { check_tiles({}, 10, 1); }), Contains("--check"));
  CHECK_THAT(error_text([] { check_tiles({item("ci-1x1-s4", 1, 1, 1, 1, 1)}, 0, 1); }),
             Contains("--check"));
}

TEST_CASE("check: a wrong RTL is reported with cycle, signal and values") {
  // A source tree whose PE forgets that a digit can be negative, and a cache of its own.
  TemporaryFolder folder;
  const std::filesystem::path source = BITCYCLE_SOURCE_DIR;
  const std::filesystem::path copy = folder / "source";
  std::filesystem::create_directories(copy);
  for (const char* part : {"rtl", "scripts", "sim", "model", "golden"}) {
    std::filesystem::copy(source / part, copy / part, std::filesystem::copy_options::recursive);
  }
  const std::filesystem::path pe = copy / "rtl/bc_pe.sv";
  std::string text = read_file(pe.string());
  const std::string right = "{w_neg_i & w_i[l*RW+RW-1]";
  const auto at = text.find(right);
  REQUIRE(at != std::string::npos);
  text.replace(at, right.size(), "{1'b0 & w_i[l*RW+RW-1]");
  std::ofstream(pe, std::ios::binary) << text;
  setenv("BITCYCLE_SOURCE", copy.c_str(), 1);
  setenv("BITCYCLE_CACHE", (folder / "cache").c_str(), 1);

  CheckItem small = item("ci-2x2-s1", 5, 5, 9, 3, 4);
  small.array.tm = small.array.tn = small.array.ba = small.array.bw = small.array.q = 2;
  small.array.kl = 4;
  small.array.p_max = 4;
  small.array.name = "small";
  const CheckVerdict verdict = check_tiles({small}, 4, 1);
  INFO(verdict.text);
  CHECK_FALSE(verdict.pass);
  CHECK_THAT(verdict.text,
             Contains("small: cycle ") && Contains("ac_q: RTL 0x") && Contains("model 0x"));
}
