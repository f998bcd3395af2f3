// The command `cosim`: what it prints and writes, and what it refuses. Runs are made without the
// kernel where the command itself is not what is tested: a process elaborates once.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "golden/error.hpp"
#include "sim/cmd_cosim.hpp"
#include "sim/cosim.hpp"
#include "tests/sim/capture.hpp"
#include "tests/sim/lockstep_testing.hpp"
#include "tests/workloads/error_text.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using Json = nlohmann::ordered_json;
using Args = std::vector<std::string>;

std::string refusal(const Args& args) {
  std::string text = error_text([&] { cmd_cosim(args); });
  CHECK(text.find('\n') == std::string::npos);
  return text;
}

CosimOptions single() {
  CosimOptions o;
  o.array = resolve_array("ci-1x1-s4");
  o.descriptor = {{5, 6, 40}, {3, false}, {8, true}};
  o.systemc = false;
  return o;
}

}  // namespace

TEST_CASE("cosim: one GEMM agrees on all sides, cycles equal the formula") {
  CosimOptions o = single();
  for (const auto pattern : kOperandPatterns) {
    o.pattern = pattern;
    const CosimReport report = cosim(o);
    CHECK(report.pass);
    CHECK_THAT(report.failure, Equals(""));
    CHECK_FALSE(report.mismatch);
    CHECK(report.cycles_formula == gemm_timing(o.array, o.descriptor).cycles);
    CHECK(report.cycles_rtl == report.cycles_formula);
    CHECK(report.cycles_model == report.cycles_formula);
    CHECK(report.totals.gemms == 1);
    CHECK_THAT(report.wave, Equals(""));
  }
}

TEST_CASE("cosim: campaigns count what they ran") {
  CosimOptions o = single();
  o.random = 150;
  const CosimReport random = cosim(o);
  CHECK(random.pass);
  CHECK(random.totals.gemms == 150);
  CHECK(random.cycles_rtl == random.cycles_formula);
  o.random = 0;
  o.all_precisions = 1;
  const CosimReport all = cosim(o);
  CHECK(all.pass);
  CHECK(all.totals.gemms == 1024);
}

TEST_CASE("cosim: a seed gives the same run again, another seed another one") {
  CosimOptions o = single();
  o.random = 60;
  const CosimReport first = cosim(o);
  const CosimReport again = cosim(o);
  CHECK(first.cycles_rtl == again.cycles_rtl);
  CHECK(first.totals.tiles == again.totals.tiles);
  CHECK(first.totals.cycles == again.totals.cycles);
  o.seed = 2;
  CHECK(cosim(o).totals.cycles != first.totals.cycles);
}

TEST_CASE("cosim: stalls keep the result right; cycles are then judged by their bound") {
  CosimOptions o = single();
  o.stalls = {100, 100, 100, 100};
  const CosimReport report = cosim(o);
  CHECK(report.pass);
  CHECK(report.totals.stalled == 1);
}

TEST_CASE("cosim: a cycle limit ends as a failure") {
  CosimOptions o = single();
  o.max_cycles = 30;
  const CosimReport report = cosim(o);
  CHECK_FALSE(report.pass);
  CHECK_THAT(report.failure, Contains("--max-cycles 30"));
}

TEST_CASE("cosim: a waveform of a whole run on demand") {
  TemporaryFolder folder;
  CosimOptions o = single();
  o.wave = folder / "run.fst";
  const CosimReport report = cosim(o);
  CHECK(report.pass);
  CHECK(report.wave == o.wave);
  CHECK(read_file(o.wave).size() > 1000);
}

TEST_CASE("cosim: a shared object of another array is told from this one") {
  CosimOptions o = single();
  o.rtl_model = std::string(BITCYCLE_BUILD_DIR) + "/rtl/plain/ci-1x1-s1.so";
  CHECK_THROWS_WITH(cosim(o), Contains("register bc_array."));
  o.rtl_model = std::string(BITCYCLE_BUILD_DIR) + "/rtl/plain/ci-2x2-s4.so";
  CHECK_THROWS_WITH(cosim(o), Contains("register bc_array."));
  o.rtl_model = std::string(BITCYCLE_BUILD_DIR) + "/rtl/plain/ci-1x1-s4.so";
  CHECK(cosim(o).pass);
}

TEST_CASE("cosim: illegal GEMMs and arrays are refused before anything runs") {
  CosimOptions o = single();
  o.descriptor.gemm.k = 0;
  CHECK_THAT(error_text([&] { cosim(o); }), Contains("k: found 0"));
  o = single();
  o.descriptor.a.bits = 17;
  CHECK_THAT(error_text([&] { cosim(o); }), Contains("bits of A: found 17"));
  o = single();
  o.array.q = 3;
  CHECK_THAT(error_text([&] { cosim(o); }), Contains("q: found 3"));
}

TEST_CASE("cmd_cosim: the verdict as JSON has the keys of its contract") {
  TemporaryFolder folder;
  const std::string file = folder / "verdict.json";
  CapturedOutput output;
  CHECK(cmd_cosim({"--m", "5", "--n", "6", "--k", "40", "--bits", "3x8", "--signed", "us", "--seed",
                   "7", "--json", file}) == 0);
  const std::string text = output.text();
  CHECK_THAT(text, Contains("PASS") && Contains("m=5 n=6 k=40 3x8 us") && Contains("seed 7"));
  const Json json = Json::parse(read_file(file));
  CHECK(json.at("verdict") == "pass");
  CHECK(json.at("mismatch").is_null());
  CHECK(json.at("seed") == 7);
  const auto cycles =
      gemm_timing(resolve_array("ci-1x1-s4"), {{5, 6, 40}, {3, false}, {8, true}}).cycles;
  CHECK(json.at("cycles_rtl") == cycles);
  CHECK(json.at("cycles_systemc") == cycles);
  CHECK(json.at("cycles_formula") == cycles);
}

TEST_CASE("cmd_cosim: an injected fault fails with place and values") {
  TemporaryFolder folder;
  CapturedOutput output;
  CHECK(cmd_cosim({"--inject", "g_col[0].g_pe[0].u_pe.ac_q:3:30", "--json", "-", "--wave",
                   folder / "w.fst"}) == 1);
  const Json json = Json::parse(output.text());  // nothing else on standard output
  CHECK(json.at("verdict") == "fail");
  CHECK(json.at("mismatch").at("signal") == "bc_array.g_col[0].g_pe[0].u_pe.ac_q");
  CHECK(json.at("mismatch").at("cycle") == 31);
  CHECK(json.at("mismatch").at("rtl") != json.at("mismatch").at("systemc"));
  CHECK(json.at("wave") == folder / "w.fst");
  CHECK(read_file(folder / "w.fst").size() > 1000);
}

TEST_CASE("cmd_cosim: a cycle limit fails") {
  CapturedOutput output;
  CHECK(cmd_cosim({"--max-cycles", "20"}) == 1);
  CHECK_THAT(output.text(), Contains("FAIL") && Contains("--max-cycles 20"));
}

TEST_CASE("cmd_cosim: a campaign is summed up") {
  CapturedOutput output;
  CHECK(cmd_cosim({"--random", "120", "--seed", "3", "--arch", "ci-2x2-s1"}) == 0);
  CHECK_THAT(output.text(), Contains("120 GEMMs") && Contains("PASS") && Contains("ci-2x2-s1"));
}

TEST_CASE("cmd_cosim: --list-registers names what --inject takes") {
  CapturedOutput output;
  CHECK(cmd_cosim({"--list-registers"}) == 0);
  const std::string text = output.text();
  CHECK_THAT(text, Contains("bc_array.g_col[0].g_pe[0].u_pe.ac_q  1 x 24 bits") &&
                       Contains("bc_array.u_seq.d_q") && Contains("bc_array.u_drain.data_q"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 161);
}

TEST_CASE("cmd_cosim: help shows an example") {
  CapturedOutput output;
  CHECK(cmd_cosim({"--help"}) == 0);
  CHECK_THAT(output.text(), Contains("bitcycle cosim --random 500") && Contains("--inject"));
}

TEST_CASE("cmd_cosim: wrong use is refused in one line") {
  CHECK_THAT(refusal({"--seeed", "1"}), Contains("did you mean '--seed'?"));
  CHECK_THAT(refusal({"--m"}), Contains("m"));
  CHECK_THAT(refusal({"--m", "0"}), Contains("--m: found '0'"));
  CHECK_THAT(refusal({"--m", "-1"}), Contains("--m: found '-1'"));
  CHECK_THAT(refusal({"--n", "x"}), Contains("--n: found 'x'"));
  CHECK_THAT(refusal({"--k", "99999999999"}), Contains("--k: found '99999999999'"));
  CHECK_THAT(refusal({"--m", "1000000", "--n", "1000000"}), Contains("2^28"));
  CHECK_THAT(refusal({"--bits", "8"}), Contains("--bits: found '8'") && Contains("PAxPW"));
  CHECK_THAT(refusal({"--bits", "0x8"}), Contains("--bits: found '0'"));
  CHECK_THAT(refusal({"--bits", "8x17"}), Contains("--bits: found '17'"));
  CHECK_THAT(refusal({"--bits", "9x8", "--arch", "serial-1x1"}), Contains("from 1 to 8"));
  CHECK_THAT(refusal({"--bits", "3x8x2"}), Contains("--bits"));
  CHECK_THAT(refusal({"--signed", "u"}), Contains("--signed: found 'u'"));
  CHECK_THAT(refusal({"--signed", "ux"}), Contains("uu, us, su or ss"));
  CHECK_THAT(refusal({"--pattern", "unifrom"}), Contains("did you mean 'uniform'?"));
  CHECK_THAT(refusal({"--arch", "ci-1x1"}), Contains("--arch") && Contains("did you mean"));
  CHECK_THAT(refusal({"--seed", "-3"}), Contains("--seed"));
  CHECK_THAT(refusal({"--stalls", "100"}), Contains("--stalls: found '100'"));
  CHECK_THAT(refusal({"--random", "0"}), Contains("--random"));
  CHECK_THAT(refusal({"--random", "5", "--all-precisions", "1"}), Contains("--all-precisions"));
  CHECK_THAT(refusal({"--random", "5", "--m", "3"}), Contains("--m") && Contains("campaign"));
  CHECK_THAT(refusal({"--all-precisions", "1", "--pattern", "zero"}), Contains("--pattern"));
  CHECK_THAT(refusal({"--max-cycles", "0"}), Contains("--max-cycles"));
  CHECK_THAT(refusal({"--inject", "ac_q"}), Contains("REG:BIT:CYCLE"));
  CHECK_THAT(refusal({"--wave", "x.vcd"}), Contains("ends in .fst"));
  CHECK_THAT(refusal({"--json", "/no/such/folder/x.json"}), Contains("no directory"));
  CHECK_THAT(refusal({"--wave", "/no/such/folder/x.fst"}), Contains("no directory"));
  CHECK_THAT(refusal({"--rtl-model", "/no/such/file.so"}), Contains("/no/such/file.so"));
  CHECK_THAT(refusal({"word"}), Contains("belongs to no option"));
}

TEST_CASE("cmd_verilate: prints parameters, and refuses what it cannot do") {
  CapturedOutput output;
  CHECK(cmd_verilate({"--arch", "fixed-8x8", "--print-params"}) == 0);
  CHECK_THAT(output.text(), Contains("RA=8 RW=8 KL=1 TM=16") && Contains("AC_W=17"));
  const auto refused = [](const Args& args) { return error_text([&] { cmd_verilate(args); }); };
  CHECK_THAT(refused({}), Contains("--arch"));
  CHECK_THAT(refused({"--arch", "fixed-8x8"}), Contains("--out"));
  CHECK_THAT(refused({"--arch", "fixed-8x8", "--out", "x.so", "--flavour", "fast"}),
             Contains("--flavour"));
  CHECK_THAT(refused({"--arch", "fixed-8x8", "--out", "x.so", "--jobs", "0"}), Contains("--jobs"));
}

TEST_CASE("cmd_cosim: a flip after the last cycle is refused, not a silent pass") {
  CapturedOutput output;
  CHECK_THROWS_WITH(cmd_cosim({"--inject", "g_col[0].g_pe[0].u_pe.ac_q:3:30000"}),
                    Contains("--inject cycle: found 30000") && Contains("0 to 1044"));
}

TEST_CASE("cmd_cosim: a run with stalls shows its cycles between their bounds") {
  CapturedOutput output;
  CHECK(cmd_cosim({"--stalls", "30", "--json", "-"}) == 0);
  const Json stalled = Json::parse(output.text()).at("stalled");
  CHECK(stalled.at("gemms") == 1);
  CHECK(stalled.at("cycles_least") == 1045);
  CHECK(stalled.at("cycles_rtl") > stalled.at("cycles_least"));
  CHECK(stalled.at("cycles_rtl") <= stalled.at("cycles_most"));
}
