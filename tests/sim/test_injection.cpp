// A wrong RTL is caught: one bit of any register flipped in any kind of register.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "golden/error.hpp"
#include "sim/cosim.hpp"
#include "tests/sim/capture.hpp"
#include "tests/sim/lockstep_testing.hpp"
#include "tests/workloads/error_text.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

// "bc_array.g_col[3].g_pe[0].u_pe.ac_q" -> "bc_array.g_col[].g_pe[].u_pe.ac_q".
std::string class_of(const std::string& name) {
  std::string out;
  bool inside = false;
  for (const char c : name) {
    if (c == ']') inside = false;
    if (!inside) out += c;
    if (c == '[') inside = true;
  }
  return out;
}

// Narrow and wide operands, several tiles and chunks, results that wait: every register does its
// work.
JudgedJobs::Maker busy_jobs() {
  return listed_jobs({{{5, 6, 40}, {3, true}, {2, false}}, {{4, 9, 17}, {9, false}, {10, true}}},
                     OperandPattern::kUniform, {20, 20, 100, 20});
}

// Flips a random bit of a random instance of each class at a random cycle until it is caught.
// Returns the classes that never are.
std::set<std::string> never_caught(const char* name, unsigned seed) {
  constexpr int kTries = 40;
  const ArrayConfig config = resolve_array(name);
  const LockstepRun clean = run_lockstep(config, busy_jobs(), 1);
  REQUIRE_THAT(clean.failure, Equals(""));
  std::map<std::string, std::vector<RegisterView>> classes;
  ArrayCore core(config);
  for (const auto& view : core.registers()) classes[class_of(view.name)].push_back(view);
  CHECK(classes.size() > 60);
  std::mt19937_64 random(seed);
  std::set<std::string> missed;
  for (const auto& [class_name, views] : classes) {
    CAPTURE(class_name);
    bool caught = false;
    for (int i = 0; i < kTries && !caught; ++i) {
      const RegisterView& view = views[random() % views.size()];
      LockstepOptions options;
      options.inject = Injection{view.name, random() % (view.count * view.bits),
                                 random() % clean.outcome.cycles};
      options.max_cycles = 100'000;  // a wrong RTL may wait for ever
      const LockstepRun run = run_lockstep(config, busy_jobs(), 1, options);
      caught = !run.failure.empty();
      if (!run.outcome.mismatch) continue;
      // The report: not before the flip, a place and two values.
      const Mismatch& m = *run.outcome.mismatch;
      CHECK(m.cycle > options.inject->cycle);
      CHECK(m.signal.find('_') != std::string::npos);
      CHECK(m.rtl != m.model);
    }
    if (!caught) missed.insert(class_name);
  }
  return missed;
}

// err_q takes a new value at every edge and no register looks at it: a flip between two edges is
// gone before anyone could see it.
const std::set<std::string> kGoneByTheNextEdge = {"bc_array.err_q"};

std::string injection_error(const std::string& text) {
  return error_text([&] { parse_injection(text); });
}

CosimOptions injected(const std::string& text) {
  CosimOptions o;
  o.array = resolve_array("ci-1x1-s4");
  o.descriptor = {{5, 6, 40}, {3, true}, {8, false}};
  o.inject = parse_injection(text);
  o.systemc = false;
  return o;
}

}  // namespace

TEST_CASE("injection: a flip in every class of registers is caught, shared accumulators") {
  CHECK(never_caught("ci-1x1-s4", 1) == kGoneByTheNextEdge);
}

TEST_CASE("injection: a flip in every class of registers is caught, private accumulators") {
  CHECK(never_caught("ci-2x2-s1", 2) == kGoneByTheNextEdge);
}

TEST_CASE("injection: the report names cycle, instance, signal and both values") {
  TemporaryFolder folder;
  CosimOptions o = injected("g_col[2].g_pe[1].u_pe.ac_q:3:60");
  o.wave = folder / "around.fst";
  const CosimReport report = cosim(o);
  CHECK_FALSE(report.pass);
  REQUIRE(report.mismatch);
  CHECK(report.mismatch->signal == "bc_array.g_col[2].g_pe[1].u_pe.ac_q");
  CHECK(report.mismatch->cycle == 61);
  CHECK(report.mismatch->rtl != report.mismatch->model);
  CHECK_THAT(report.failure,
             Contains("cycle 61") && Contains("bc_array.g_col[2].g_pe[1].u_pe.ac_q") &&
                 Contains("RTL " + report.mismatch->rtl) &&
                 Contains("model " + report.mismatch->model) && Contains("m=5 n=6 k=40 3x8 su"));
  // The waveform is there, and is one.
  CHECK(report.wave == o.wave);
  CHECK(read_file(o.wave).size() > 1000);
}

TEST_CASE("injection: a mismatch leaves a waveform without being asked") {
  TemporaryFolder folder;
  std::filesystem::current_path(folder.path());
  const CosimReport report = cosim(injected("bc_array.u_seq.d_q:0:40"));
  CHECK_FALSE(report.pass);
  CHECK(report.wave == "mismatch.fst");
  CHECK(std::filesystem::file_size("mismatch.fst") > 1000);
  std::filesystem::current_path("/");
}

TEST_CASE("injection: any bit of a register file can be reached") {
  // Element 5 of 8, bit 47 of 48. It is idle at that time and stays wrong.
  const CosimReport report =
      cosim(injected("g_col[4].g_acc[0].u_acc.acc_q:" + std::to_string(5 * 48 + 47) + ":10"));
  REQUIRE(report.mismatch);
  CHECK(report.mismatch->signal == "bc_array.g_col[4].g_acc[0].u_acc.acc_q[5]");
  std::filesystem::remove("mismatch.fst");
}

TEST_CASE("injection: a cycle that the run never reaches is refused") {
  CHECK_THAT(error_text([] { cosim(injected("bc_array.busy_q:0:1000000")); }),
             Contains("--inject cycle: found 1000000"));
}

TEST_CASE("injection: REG:BIT:CYCLE is parsed from its end and refused in one line") {
  const Injection i = parse_injection("bc_array.g_a[0].u_chunk.chunk_q:17:305");
  CHECK(i.reg == "bc_array.g_a[0].u_chunk.chunk_q");
  CHECK(i.bit == 17);
  CHECK(i.cycle == 305);
  for (const char* bad : {"", ":", "::", "ac_q", "ac_q:1", "ac_q:1:", "ac_q::1", ":1:2", "ac_q:x:1",
                          "ac_q:1:x", "ac_q:-1:2", "ac_q:1:-2", "ac_q: 1:2", "ac_q:1:2 ",
                          "ac_q:1.5:2", "ac_q:0x1:2", "ac_q:1:99999999999999999999"}) {
    CAPTURE(bad);
    const std::string text = injection_error(bad);
    CHECK_THAT(text, Contains("--inject") && Contains("REG:BIT:CYCLE"));
    CHECK(text.find('\n') == std::string::npos);
  }
}

TEST_CASE("injection: an unknown, an ambiguous register and a bit too far are refused") {
  const auto refused = [](const std::string& text) {
    return error_text([&] { cosim(injected(text)); });
  };
  CHECK_THAT(refused("no_such_q:0:1"), Contains("'no_such_q'") && Contains("--list-registers"));
  CHECK_THAT(refused("ac_q:0:1"), Contains("the end of 24 registers"));
  CHECK_THAT(refused("_q:0:1"), Contains("'_q'"));  // whole words only
  CHECK_THAT(refused("bc_array.busy_q:1:1"), Contains("bit") && Contains("0 to 0"));
  CHECK_THAT(refused("u_seq.d_q:3:1"), Contains("0 to 2 for bc_array.u_seq.d_q"));
}

TEST_CASE("injection: a build that cannot inject says so") {
  const ArrayConfig config = resolve_array("ci-1x1-s4");
  const auto rtl = make_rtl_model(config, RtlFlavour::kPlain, 1);
  REQUIRE_FALSE(rtl->can_inject());
  LockstepOptions options;
  options.inject = Injection{"bc_array.busy_q", 0, 5};
  CHECK_THAT(error_text([&] { run_lockstep(*rtl, config, busy_jobs(), 1, options); }),
             Contains("--inject") && Contains("flavour inject"));
}
