// Energy from gates in `compare` and `run`: what it adds up to, and what moves it.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "golden/error.hpp"
#include "sim/cmd_compare.hpp"
#include "sim/cmd_run.hpp"
#include "sim/compare_machine.hpp"
#include "sim/energy_report.hpp"
#include "sim/energy_sources.hpp"
#include "sim/energy_work.hpp"
#include "sim/machine_report.hpp"
#include "sim/machine_run.hpp"
#include "sim/paths.hpp"
#include "sim/report.hpp"
#include "tests/sim/capture.hpp"

namespace {

using namespace bitcycle;
using Json = nlohmann::ordered_json;
using Catch::Matchers::Contains;

CompareOptions small(EnergyLevel level = EnergyLevel::kModel, bool machine = true) {
  CompareOptions o;
  o.networks = {"resnet8-cifar10"};
  o.batch = 4;
  o.schedules = {"CR", "RR"};
  o.iterations = 800;
  o.energy.level = level;
  if (machine) o.memory = resolve_memory("bandwidth-latency");
  return o;
}

Json report(const CompareOptions& o) { return Json::parse(report_json(run_compare(o))); }

std::string error_of(const std::vector<std::string>& args) {
  try {
    (void)run_compare(parse_compare_options(args));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

std::map<std::string, double> parts_of(const CompareOptions& o) {
  const Json json = report(o);
  std::map<std::string, double> out;
  for (const auto& [key, value] : json["rows"][1]["energy_breakdown_j"].items()) {
    out[key] = value.get<double>();
  }
  return out;
}

// Parts whose energy differs by more than rounding.
std::set<std::string> moved(const std::map<std::string, double>& a,
                            const std::map<std::string, double>& b) {
  std::set<std::string> out;
  for (const auto& [key, value] : a) {
    if (std::abs(b.at(key) - value) > 1e-9 * std::abs(value)) out.insert(key);
  }
  return out;
}

std::string changed_file(const TemporaryFolder& folder, const std::string& from,
                         const std::string& name, const std::string& what,
                         const std::string& with) {
  std::string text = read_file(from);
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  text.replace(at, what.size(), with);
  const std::string path = folder / name;
  std::ofstream(path) << text;
  return path;
}

const std::string kLiterature = source_dir() + "/configs/energy/literature-45nm.yaml";

}  // namespace

TEST_CASE("energy levels: every figure follows from events and counts of the JSON file alone") {
  for (const EnergyLevel level : {EnergyLevel::kModel, EnergyLevel::kTable}) {
    for (const bool machine : {true, false}) {
      INFO(to_string(level) << (machine ? " machine" : " array"));
      const Json json = report(small(level, machine));
      const Json& energy = json["energy"]["serial-1x1"];
      CHECK(energy["wording"] == "post-synthesis estimate");
      for (const Json& row : json["rows"]) {
        std::map<std::string, double> parts;
        for (const auto& [event, count] : row["energy_counts"].items()) {
          parts[event.substr(0, event.find(':'))] +=
              count.get<double>() * energy["events_j"][event].get<double>();
        }
        double sum = 0.0;
        for (const auto& [part, joules] : row["energy_breakdown_j"].items()) {
          CHECK(parts[part] == Approx(joules.get<double>()).epsilon(1e-12));
          sum += parts[part];
        }
        const double joules = row["energy_j"].get<double>();
        CHECK(sum == Approx(joules).epsilon(1e-12));
        // Energy is power times time, and the band holds it.
        CHECK(row["avg_power_w"].get<double>() * row["energy_seconds"].get<double>() ==
              Approx(joules));
        CHECK(row["energy_lo_j"].get<double>() < joules);
        CHECK(row["energy_hi_j"].get<double>() > joules);
        double per_bits = 0.0;
        for (const Json& p : row["per_bits"]) {
          per_bits += p["iterations"].get<double>() * p["energy_per_iteration_j"].get<double>();
        }
        CHECK(per_bits == Approx(joules).epsilon(1e-9));
      }
      // The machine's time, not the array's.
      const Json& row = json["rows"][0];
      const double cycles =
          machine ? row["machine"]["cycles"].get<double>() : row["cycles"].get<double>();
      CHECK(row["energy_seconds"].get<double>() == Approx(cycles / row["clock_hz"].get<double>()));
    }
  }
}

TEST_CASE("energy levels: the band of a JSON file follows from its terms") {
  const Json json = report(small());
  const Json& parts = json["energy"]["serial-1x1"]["parts"];
  const Json& row = json["rows"][0];
  std::map<std::string, double> common;
  double squares = 0.0;
  for (const auto& [part, joules] : row["energy_breakdown_j"].items()) {
    for (const Json& term : parts[part]["terms"]) {
      const double off = term["high"].get<double>() * joules.get<double>();
      const std::string name = term["name"];
      if (name == "model" || name == "sampling") {
        squares += off * off;
      } else {
        common[name] += off;
      }
    }
  }
  for (const auto& [name, off] : common) squares += off * off;
  const double joules = row["energy_j"].get<double>();
  CHECK(row["energy_hi_j"].get<double>() == Approx(joules + std::sqrt(squares)));
}

TEST_CASE("energy levels: an entry of a table moves its own lines only") {
  const TemporaryFolder folder;
  const auto base = parts_of(small());
  CompareOptions dram = small();
  dram.energy_table = changed_file(folder, kLiterature, "dram.yaml", "value: 1300", "value: 2600");
  CHECK(moved(base, parts_of(dram)) == std::set<std::string>{"dram"});
  CompareOptions vector = small();
  vector.energy_table = changed_file(folder, kLiterature, "fp32.yaml", "value: 4.6", "value: 9.2");
  CHECK(moved(base, parts_of(vector)) == std::set<std::string>{"vector_work"});
  CompareOptions unused = small();
  unused.energy_table =
      changed_file(folder, kLiterature, "unused.yaml", "value: 0.009", "value: 0.5");
  CHECK(moved(base, parts_of(unused)).empty());
  const std::string sram = source_dir() + "/configs/energy/sram-ihp-sg13g2.yaml";
  CompareOptions leaking = small();
  leaking.energy.sram =
      changed_file(folder, sram, "leaking.yaml", "microwatt: 0.8", "microwatt: 800");
  CHECK(moved(base, parts_of(leaking)) == std::set<std::string>{"leakage"});
  CompareOptions deep = small();  // 2048 words: the operand and output buffers' depth
  deep.energy.sram = changed_file(folder, sram, "deep.yaml", "read_pj: 122", "read_pj: 244");
  CHECK(moved(base, parts_of(deep)) == std::set<std::string>{"operand_buffers", "output_buffer"});
  CompareOptions pe = small();
  Characterisation c = *find_characterisation(pe.energy, array_presets()[0], "pe");
  for (EnergyEvent& e : c.events) e.joules *= 2.0;
  c.leakage *= 2.0;
  const std::string path = folder / "pe.json";
  std::ofstream(path) << to_json(c);
  pe.energy.characterisations = {path};
  const auto doubled = parts_of(pe);
  CHECK(moved(base, doubled) == std::set<std::string>{"idle_clock", "leakage", "pe"});
  CHECK(doubled.at("pe") == Approx(2.0 * base.at("pe")).epsilon(1e-4));
  CompareOptions wires = small();
  wires.energy.wire_mm = 2.0;
  CHECK(moved(base, parts_of(wires)) == std::set<std::string>{"wires"});
}

TEST_CASE("energy levels: every PE-cycle of a product is in one state") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](int most) { return 1 + static_cast<int>(random() % most); };
  const EnergyTable& table = literature_energy_table();
  for (const ArrayConfig& array : array_presets()) {
    EnergySettings settings;
    settings.level = EnergyLevel::kModel;
    EnergyModel model(settings, machine_for(array), table, std::nullopt);
    for (int i = 0; i < 4; ++i) {
      Descriptor d;
      d.gemm = {static_cast<std::uint64_t>(below(100)), static_cast<std::uint64_t>(below(100)),
                static_cast<std::uint64_t>(below(500))};
      d.a.bits = below(8);
      d.w.bits = below(8);
      if (i == 0) d.gemm.k = 1;  // few of the lanes
      const std::uint64_t macs = d.gemm.m * d.gemm.n * d.gemm.k;
      EnergyCounts counts;
      model.add(counts, array_work(array, d, {}, macs));
      double cycles = 0.0, active = 0.0;
      for (std::size_t n = 0; n < counts.size(); ++n) {
        const EnergyItem& item = model.book().items()[n];
        if (item.part != EnergyPart::kPe) continue;
        REQUIRE(counts[n] >= 0.0);
        cycles += counts[n];
        if (item.name.find(", active") != std::string::npos) active += counts[n];
      }
      const double pes = array.tm * array.tn + array.tm + array.tn;
      CHECK(cycles == Approx(pes * static_cast<double>(gemm_timing(array, d).cycles)));
      CHECK(active == Approx(static_cast<double>(gemm_events(array, d).ac_adds)));
    }
  }
}

TEST_CASE("energy levels: idle < zero < data, and per MAC less at fewer bits") {
  for (const char* technology : {"osu018", "ihp-sg13g2", "asap7"}) {
    for (const ArrayConfig& array : array_presets()) {
      INFO(technology << " " << array.name);
      EnergySettings settings;
      settings.technology = technology;
      const Characterisation c = *find_characterisation(settings, array, "pe");
      const Eigen::VectorXd joules = coefficients_of(c, pe_feature_names(array));
      const auto of = [&](int bits, OperandData data, PeState state) {
        const ArrayActivity a =
            sample_activity(array, {{bits, false}, {bits, false}, data, data, 8, 1}, 512);
        return a.features[static_cast<std::size_t>(state)].dot(joules);
      };
      const double idle = of(8, OperandData::kUniform, PeState::kQuiet);
      const double zero = of(8, OperandData::kZero, PeState::kActive);
      double before = 0.0;
      for (const int bits : {2, 4, 8}) {
        const double data = of(bits, OperandData::kUniform, PeState::kActive);
        CHECK(zero < data);
        const auto pairs = static_cast<double>(
            gemm_timing(array, {{1, 1, 1}, {bits, false}, {bits, false}}).digit_pairs);
        CHECK(data * pairs > before);
        before = data * pairs;
      }
      CHECK(idle > 0.0);
      // At the gates without exception; the event model may be off by its error on zeros (a fixed
      // multiplier at rest differs from an idle one by its enable alone, 0.3 % and less).
      CHECK(idle < zero * 1.02);
      std::map<std::string, double> gates;
      for (const auto& w : c.training) gates[w.label] = w.energy;
      CHECK(gates.at("idle") < gates.at("8x8 uu zero"));
      CHECK(gates.at("8x8 uu zero") < gates.at("8x8 uu uniform"));
    }
  }
}

TEST_CASE("energy levels: idle lanes cost less than full ones") {
  const ArrayConfig array = array_presets()[0];
  EnergySettings settings;
  settings.level = EnergyLevel::kModel;
  EnergyModel model(settings, machine_for(array), literature_energy_table(), std::nullopt);
  const Descriptor d{{64, 64, 640}, {4, false}, {4, false}};
  const auto pe = [&](double lanes) {
    EnergyCounts counts;
    model.add(counts, array_work(array, d, {}, static_cast<std::uint64_t>(lanes * 64 * 64 * 640)));
    return model.book().parts(counts)[0];
  };
  CHECK(pe(0.5) < pe(0.75));
  CHECK(pe(0.75) < pe(1.0));
}

TEST_CASE("energy levels: literature and off") {
  const Json literature = report(small(EnergyLevel::kLiterature));
  CHECK(literature["rows"][0]["energy_level"] == "literature");
  CHECK(literature["rows"][0]["energy_breakdown_j"].contains("digit_products"));
  CHECK_FALSE(literature.contains("energy"));
  const CompareResult off = run_compare(small(EnergyLevel::kOff));
  const Json json = Json::parse(report_json(off));
  CHECK(json["rows"][0]["energy_j"].is_null());
  CHECK(json["rows"][0]["energy_relative"].is_null());
  for (const auto& key : default_columns(off)) CHECK(key.find("energy") == std::string::npos);
  const std::string text = report_text(off, {});
  for (const char* word : {"energy_", "Where the energy", "energy:", " J "}) {
    INFO(word);
    CHECK(text.find(word) == std::string::npos);
  }
}

TEST_CASE("energy levels: auto takes gates where it can and says why it does not") {
  CompareOptions known = small(EnergyLevel::kAuto);
  CHECK(run_compare(known).energy_level == "model");
  CompareOptions other = small(EnergyLevel::kAuto, false);
  other.archs = {"ci-1x1-s4"};
  const CompareResult result = run_compare(other);
  CHECK(result.energy_level == "literature");
  CHECK_THAT(report_text(result, {}), Contains("has not been characterised in ihp-sg13g2"));
  other.energy.level = EnergyLevel::kModel;
  CHECK_THROWS_WITH(run_compare(other), Contains("no characterisation of the PE of ci-1x1-s4"));
}

TEST_CASE("energy levels: tables for people, papers and programs have them") {
  const CompareResult result = run_compare(small());
  const std::string text = report_text(result, {});
  CHECK_THAT(text, Contains("post-synthesis estimate") && Contains("Not covered") &&
                       Contains("+- of the ratio"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 160);
  CHECK_THAT(report_latex(result, {}), Contains("post-synthesis estimate"));
  const std::string csv = report_csv(result);
  CHECK_THAT(csv, Contains("energy_breakdown_j.idle_clock") && Contains("energy_relative_lo"));
  CHECK(csv.find("energy_counts") == std::string::npos);
}

TEST_CASE("energy levels: options that change nothing are refused") {
  CHECK_THAT(error_of({"--energy", "modle"}), Contains("did you mean 'model'"));
  CHECK_THAT(error_of({"--technology", "ihp"}), Contains("did you mean 'ihp-sg13g2'"));
  CHECK_THAT(error_of({"--data", "relu,gaus,laplace"}), Contains("did you mean 'gauss'"));
  CHECK_THAT(error_of({"--data", "relu,gauss"}), Contains("activations,weights,gradients"));
  CHECK_THAT(error_of({"--sram-table", "ihp"}), Contains("did you mean 'ihp-sg13g2'"));
  CHECK_THAT(error_of({"--energy", "literature", "--data", "relu"}),
             Contains("--data: found with --energy literature"));
  CHECK_THAT(error_of({"--energy", "table", "--data", "relu"}), Contains("model or gates"));
  CHECK_THAT(error_of({"--energy", "gates"}), Contains("no --liberty"));
  CHECK_THAT(error_of({"--scale-to", "28"}), Contains("--scale-to: found '28'"));
  CHECK_THAT(error_of({"--characterisation", "none.json"}), Contains("none.json"));
}

TEST_CASE("energy levels: scaling is on request, with its band") {
  const auto base = parts_of(small());
  CompareOptions o = small();
  o.energy.scale_to = "45HP";
  const Json json = report(o);
  const Json& row = json["rows"][1];
  const double factor = row["energy_breakdown_j"]["pe"].get<double>() / base.at("pe");
  CHECK(factor == Approx(1.0 / 6.0).epsilon(0.03));  // 130 nm, 1.2 V to 45 nm, 1.0 V
  CHECK(row["energy_breakdown_j"]["dram"].get<double>() == Approx(base.at("dram")));
  bool band = false;
  for (const Json& t : json["energy"]["serial-1x1"]["parts"]["pe"]["terms"]) {
    band = band || t["name"] == "scaling";
  }
  CHECK(band);
}

TEST_CASE("energy book: one cause cancels in ratios of equal make, independent ones do not") {
  EnergyBook book;
  book.info(EnergyPart::kPe).terms = {{"wires", 0.1, 0.1}, {"model", 0.02, 0.02}};
  book.info(EnergyPart::kAccumulators).terms = {{"wires", 0.1, 0.1}};
  book.info(EnergyPart::kDram).terms = {{"dram", 0.5, 1.0}};
  EnergyParts a{}, b{};
  a[static_cast<std::size_t>(EnergyPart::kPe)] = 3.0;
  a[static_cast<std::size_t>(EnergyPart::kAccumulators)] = 1.0;
  // Of one cause: added, not as squares.
  CHECK(book.band(a).by_term.at("wires").first == Approx(0.1));
  CHECK(book.band(a).by_term.at("model").first == Approx(0.015));
  CHECK(book.band(a).low == Approx(std::hypot(0.1, 0.015)));
  for (std::size_t i = 0; i < kEnergyParts; ++i) b[i] = 2.0 * a[i];
  CHECK(book.ratio_band(a, b).by_term.at("wires").first == Approx(0.0).margin(1e-12));
  CHECK(book.ratio_band(a, b).by_term.at("model").first == Approx(0.015 * std::sqrt(2.0)));
  CHECK(book.ratio_band(a, a).high == 0.0);  // the row itself
  // Shares that differ leave their difference.
  b[static_cast<std::size_t>(EnergyPart::kDram)] = 8.0;
  CHECK(book.ratio_band(a, b).by_term.at("dram").second == Approx(0.5));
  CHECK_THROWS_AS(
      [&] {
        book.item(EnergyPart::kPe, "event", 1.0);
        book.item(EnergyPart::kPe, "event", 2.0);
      }(),
      std::logic_error);
}

TEST_CASE("run: energy adds up, and measured activity agrees with its own statistics", "[run]") {
  RunRequest q;
  q.network = make_network(source_dir() + "/tests/sim/data/tiny.yaml", "");
  q.batch = 2;
  q.bits = {4, 4, 8};
  q.options.machine = machine_for(array_presets()[0]);
  q.memory = resolve_memory("bandwidth-latency");
  q.options.memory = q.memory.timing(q.options.machine.dw);
  q.options.vector.bytes_per_cycle = 25.6;
  q.energy.level = EnergyLevel::kModel;
  q.energy.data = parse_data("uniform");
  q.activity_one_in = 1;
  q.engine = "systemc";
  const RunResult r = run_iteration(q);
  const RunEnergy& e = r.energy;
  double sum = e.vector;
  for (const double g : e.gemms) sum += g;
  CHECK(total(e.parts) == Approx(sum).epsilon(1e-9));
  const Json json = Json::parse(run_json(r));
  CHECK(json["energy"]["power_w"].get<double>() * json["energy"]["seconds"].get<double>() ==
        Approx(sum));
  REQUIRE(r.simulated);
  CHECK(r.simulated->pass());
  REQUIRE(r.simulated->measured);
  const MeasuredEnergy& m = *r.simulated->measured;
  CHECK(m.sampled > 0.9 * static_cast<double>(m.cycles));
  CHECK(m.predicted == Approx(m.joules).epsilon(0.15));
  // Another statistic would be off: the comparison can fail.
  RunRequest zero = q;
  zero.energy.data = parse_data("zero");
  zero.engine = "formula";
  CHECK(run_iteration(zero).energy.parts[0] < 0.8 * e.parts[0]);
}

TEST_CASE("run: literature energy of a layer is that of its events", "[run]") {
  RunRequest q;
  q.network = make_network(source_dir() + "/tests/sim/data/tiny.yaml", "");
  q.batch = 2;
  q.options.machine = machine_for(array_presets()[0]);
  q.memory = resolve_memory("bandwidth-latency");
  q.options.memory = q.memory.timing(q.options.machine.dw);
  q.energy.level = EnergyLevel::kLiterature;
  const RunResult r = run_iteration(q);
  double dram = 0.0;
  for (const MachineGemm& g : r.iteration.gemms) {
    dram += static_cast<double>(g.first_bits + g.second_bits + g.result_bits);
  }
  CHECK(r.energy.literature.dram == Approx(dram * literature_energy_table().dram_bit_j));
  double sum = 0.0;
  for (const double g : r.energy.gemms) sum += g;
  CHECK(r.energy.literature.total() == Approx(sum));
}
