#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "golden/counter_random.hpp"
#include "model/gates/characterisation.hpp"
#include "model/gates/event_model.hpp"
#include "tests/workloads/error_text.hpp"

using namespace bitcycle;

namespace {

ActivitySample sample(const std::string& label, std::uint64_t seed, double scale, bool square) {
  ActivitySample s;
  s.label = label;
  s.features.resize(200, 3);
  s.energy.resize(200);
  for (Eigen::Index r = 0; r < 200; ++r) {
    const auto random = [&](std::uint64_t t) {
      return static_cast<double>(counter_random(seed, t, static_cast<std::uint64_t>(r)) % 100);
    };
    s.features.row(r) << 1.0, scale * random(0), random(1);
    s.energy[r] = 5e-12 + 2e-13 * s.features(r, 1) + 3e-14 * s.features(r, 2);
    if (square) s.energy[r] += 1e-14 * s.features(r, 1) * s.features(r, 1);
  }
  return s;
}

Characterisation record() {
  Characterisation c;
  c.module = "pe";
  c.rtl_module = "bc_pe";
  c.arch = "serial-1x1";
  c.parameters = {{"RA", 1}};
  c.rtl_files = {"bc_pe.sv"};
  c.rtl_sha256 = rtl_hash(BITCYCLE_SOURCE_DIR "/rtl", c.rtl_files);
  c.library = {{"tiny", "tiny.lib", "00"}};
  c.voltage = 2.0;
  c.tools = {{"yosys", "0.23"}};
  c.events = {{"cycle", "1", 1.25e-12, "gates"}};
  c.held_out = {{"2x2 uu gauss", 1e-12, 2e-13, 0.01, 0.002, 0.3}};
  c.sources = {{"gates", "simulation", "compared"}};
  c.bands = {{"wires", 0.1, 0.2, "estimate"}};
  c.command = "bitcycle characterise";
  return c;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the fit finds the coefficients that made the energies") {
  const auto fit = fit_events({sample("a", 1, 1, false), sample("b", 2, 3, false)});
  CHECK(fit.coefficients[0] == Approx(5e-12).epsilon(0.01));
  CHECK(fit.coefficients[1] == Approx(2e-13).epsilon(0.01));
  CHECK(fit.coefficients[2] == Approx(3e-14).epsilon(0.05));
  CHECK(fit.r2 > 0.999);
  CHECK(fit.training.max_abs < 0.001);
  const auto judged = judge_events(fit.coefficients, {sample("c", 3, 2, false)});
  CHECK(judged.max_abs < 0.001);
}

TEST_CASE("an error that is there is reported, with the workload that shows it") {
  const auto fit = fit_events({sample("a", 1, 1, false), sample("b", 2, 1, false)});
  const auto judged =
      judge_events(fit.coefficients, {sample("c", 3, 1, false), sample("square", 4, 3, true)});
  CHECK(judged.max_abs > 0.3);
  CHECK(judged.worst == "square");
  CHECK(judged.workloads[1].error < 0);  // the model knows nothing of squares
  CHECK(judged.mean_abs ==
        Approx((std::abs(judged.workloads[0].error) + std::abs(judged.workloads[1].error)) / 2));
}

TEST_CASE("a feature that never moves gets no energy; one workload is too few") {
  auto a = sample("a", 1, 1, false);
  auto b = sample("b", 2, 1, false);
  a.features.col(2).setZero();
  b.features.col(2).setZero();
  CHECK(fit_events({a, b}).coefficients[2] == 0.0);
  CHECK_THROWS_AS(fit_events({a}), InputError);
}

TEST_CASE("a characterisation survives its file") {
  const auto c = record();
  const auto text = to_json(c);
  const auto again = parse_characterisation(text, "c.json");
  CHECK(to_json(again) == text);
  CHECK(again.events.at(0).joules == 1.25e-12);
  CHECK(again.held_out.at(0).per_mac == 2e-13);
  CHECK(stale_warning(again, BITCYCLE_SOURCE_DIR "/rtl").empty());
}

TEST_CASE("a number without a source is refused") {
  const auto text = to_json(record());
  const auto message = [&](const std::string& from, const std::string& to) {
    return error_text([&] { parse_characterisation(replaced(text, from, to), "c.json"); });
  };
  CHECK_THAT(message(",\n   \"source\": \"gates\"", ""),
             Catch::StartsWith("c.json: events.cycle: found a number without source"));
  CHECK_THAT(message("\"source\": \"gates\"", "\"source\": \"hearsay\""),
             Catch::Contains("source 'hearsay'"));
  CHECK_THAT(message("\"simulation\"", "\"\""), Catch::Contains("an empty citation"));
  CHECK_THAT(message("1.25e-12", "\"much\""), Catch::Contains("energy_J"));
  CHECK_THAT(message("\"voltage_V\": 2.0,", ""), Catch::Contains("voltage_V: found nothing"));
  CHECK_THAT(message("bitcycle-characterisation", "other"), Catch::Contains("format"));
  CHECK_THAT(message("\"version\": 1", "\"version\": 2"), Catch::Contains("version"));
  CHECK_THAT(error_text([] { parse_characterisation("{", "c.json"); }), Catch::Contains("JSON"));
}

TEST_CASE("changed RTL makes a characterisation stale, changed comments do not") {
  const std::string dir = std::filesystem::temp_directory_path() / "bitcycle_stale_rtl";
  std::filesystem::create_directories(dir);
  const auto write = [&](const std::string& text) { std::ofstream(dir + "/m.sv") << text; };
  auto c = record();
  c.rtl_files = {"m.sv"};
  write("module m; // a\n  assign x = y;\nendmodule\n");
  c.rtl_sha256 = rtl_hash(dir, c.rtl_files);
  write("module m;\n\n /* b */ assign x = y; // c\nendmodule\n");
  CHECK(stale_warning(c, dir).empty());
  write("module m;\n  assign x = ~y;\nendmodule\n");
  CHECK_THAT(stale_warning(c, dir), Catch::Contains("has changed"));
  std::filesystem::remove_all(dir);
  CHECK_THAT(stale_warning(c, dir), Catch::Contains("not here"));
}
