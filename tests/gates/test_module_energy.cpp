// Energy of the whole array from the characterisations that come with bitcycle.
#include <catch2/catch.hpp>
#include <filesystem>

#include "golden/error.hpp"
#include "golden/text_file.hpp"
#include "model/gates/module_activity.hpp"
#include "model/gates/module_energy.hpp"
#include "sim/gate_stimuli.hpp"
#include "sim/paths.hpp"

using namespace bitcycle;

namespace {

std::string directory() { return source_dir() + "/configs/characterised"; }

// Committed records of an array are those of all its modules; those of the glue may be younger.
void check_whole(const std::vector<std::string>& missing) {
  if (!missing.empty()) CHECK(missing == std::vector<std::string>{"glue"});
}

// Joules by module of a job on a preset, from its second cycle on.
std::vector<ModuleEnergy> energy_of(const std::string& preset, const ActivityJob& job, int stride,
                                    std::uint64_t* cycles = nullptr) {
  const ArrayConfig array = resolve_array(preset);
  ArrayCore core(array);
  ArrayEnergy energy(array, core, array_characterisations(directory(), preset, "osu018"), stride);
  check_whole(energy.missing());
  bool first = true;
  run_activity(array, core, job, [&](const ArrayStep& coming) {
    energy.observe(coming);
    if (first) energy.clear();
    first = false;
  });
  if (cycles != nullptr) *cycles = energy.cycles();
  return energy.modules();
}

double total(const std::vector<ModuleEnergy>& modules) {
  double sum = 0.0;
  for (const auto& m : modules) sum += m.joules;
  return sum;
}

}  // namespace

TEST_CASE("FeatureList counts changed bits and their roots") {
  FeatureList list;
  const auto given = list.add_count("given", "a count");
  const auto wide = list.add_bits("wide", "a bus", 70);
  list.finish();
  CHECK(list.names() ==
        std::vector<std::string>{"cycle", "given", "wide", "sqrt_given", "sqrt_wide"});
  std::vector<double> f(5);
  list.count(given, 9);
  list.bits(wide)[0] = 0xf;
  list.bits(wide)[1] = 0x21;
  list.write(f.data());
  CHECK(f == std::vector<double>{1, 9, 6, 3, std::sqrt(6.0)});
  list.count(given, 0);
  list.bits(wide)[0] = 0x1f;
  list.write(f.data());
  CHECK(f == std::vector<double>{1, 0, 1, 0, 1});
}

TEST_CASE("committed characterisations are whole, fresh, and as the program writes them") {
  int files = 0;
  for (const auto& preset : array_presets()) {
    for (const char* technology : {"osu018", "ihp-sg13g2", "asap7"}) {
      INFO(preset.name << " " << technology);
      const auto all = array_characterisations(directory(), preset.name, technology);
      for (const auto& c : all) {
        INFO(c.module);
        CHECK(stale_warning(c, source_dir() + "/rtl") == "");
        CHECK(idle_cycle_energy(c) > 0);
        CHECK(c.held_out_mean < 0.1);
        CHECK(c.leakage > 0);
      }
      ArrayCore core(preset);
      const ArrayEnergy energy(preset, core, all);
      check_whole(energy.missing());
      CHECK(energy.modules().size() == all.size());
    }
  }
  for (const auto& e : std::filesystem::directory_iterator(directory())) {
    if (e.path().stem().string().rfind("pe-", 0) == 0) continue;
    INFO(e.path().filename().string());
    const auto list = load_characterisations(e.path().string());
    CHECK(to_json(list) == read_text_file(e.path().string(), "", ""));
    ++files;
  }
  CHECK(files == 18);  // an array of every preset, and the machine, in three technologies
}

TEST_CASE("an idle array costs its idle cycles; work costs more; both are sums of modules") {
  ActivityJob job;
  job.idle = true;
  job.cycles = 50;
  std::uint64_t cycles = 0;
  const auto idle = energy_of("fixed-8x8", job, 4, &cycles);
  CHECK(cycles == 50);
  for (const auto& m : idle) {
    INFO(m.module);
    // Behind clock gates an idle cycle is a hundredth of a busy one, and the fit is made for those.
    CHECK(m.joules == Approx(m.idle_cycle * static_cast<double>(cycles)).epsilon(0.15));
  }
  job.idle = false;
  job.a = job.w = {8, false};
  const auto busy = energy_of("fixed-8x8", job, 4, &cycles);
  CHECK(total(busy) / static_cast<double>(cycles) > 1.1 * total(idle) / 50.0);
  CHECK(busy[0].module == "pe");
  CHECK(busy[0].instances == 288);
}

TEST_CASE("every fourth row and column stand for all, on full and on edge tiles") {
  for (const bool edge : {false, true}) {
    ActivityJob job;
    job.a = job.w = {4, false};
    job.cycles = 100;
    job.chunks = 4;
    if (edge) job.rows = 5, job.cols = 3;
    const double all = total(energy_of("nibble-4x4", job, 1));
    const double some = total(energy_of("nibble-4x4", job, 4));
    INFO((edge ? "edge" : "full"));
    CHECK(some == Approx(all).epsilon(0.04));
  }
}

TEST_CASE("a characterisation of another array or of other features is refused") {
  const ArrayConfig array = resolve_array("fixed-8x8");
  ArrayCore core(array);
  auto all = array_characterisations(directory(), "serial-1x1", "osu018");
  CHECK_THROWS_WITH(ArrayEnergy(array, core, all), Catch::Contains("characterisation of pe"));
  all = array_characterisations(directory(), "fixed-8x8", "osu018");
  all[1].events[1].name = "unknown";
  CHECK_THROWS_WITH(ArrayEnergy(array, core, all), Catch::Contains("other events"));
  all.resize(1);
  CHECK(ArrayEnergy(array, core, all).missing().size() == array_modules(array).size() - 1);
}

TEST_CASE("files of several modules: what is broken is named") {
  const std::string text = read_text_file(directory() + "/array-fixed-8x8-osu018.json", "", "");
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string copy = text;
    const auto at = copy.find(from);
    REQUIRE(at != std::string::npos);
    copy.replace(at, from.size(), to);
    return copy;
  };
  const auto parse = [](const std::string& json) { parse_characterisations(json, "x.json"); };
  CHECK_THROWS_WITH(parse(broken("[\"cycle\",", "[\"cycle\",\"one\",")),
                    Catch::Contains("x.json: events.cycle"));
  CHECK_THROWS_WITH(parse(broken("\"modules\"", "\"module\"")), Catch::Contains("modules"));
  CHECK_THROWS_WITH(parse(broken("[\"idle\",", "[")), Catch::Contains("x.json"));
  CHECK_THROWS_WITH(parse_characterisation(text, "x.json"), Catch::Contains("modules"));
}
