// Results as programs and papers get them: keys, types, round trips, and energy recomputed.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/compare_cost.hpp"
#include "sim/report.hpp"
#include "sim/table.hpp"

namespace {

using namespace bitcycle;
using Json = nlohmann::ordered_json;

CompareResult small_result(bool two_arrays = false) {
  CompareOptions options;
  options.networks = {"resnet20-cifar10"};
  options.batch = 2;
  options.command = "bitcycle compare --batch 2";
  if (two_arrays) options.archs = {"serial-1x1", "fixed-8x8"};
  return run_compare(options);
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> out(1);
  bool inside = false;
  for (const char c : line) {
    if (c == '"') {
      inside = !inside;
    } else if (c == ',' && !inside) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("JSON has every key of the contract, in its type", "[report]") {
  const Json json = Json::parse(report_json(small_result()));
  CHECK(json["tool"] == "bitcycle");
  CHECK(json["version"].is_string());
  CHECK(json["command"] == "bitcycle compare --batch 2");
  REQUIRE(json["assumptions"].size() > 10);
  for (const auto& a : json["assumptions"]) {
    for (const char* key : {"key", "value", "text"}) CHECK(a[key].is_string());
  }
  REQUIRE(json["rows"].size() == 11);
  for (const auto& row : json["rows"]) {
    for (const char* key :
         {"network", "arch", "schedule", "group", "cycle_length", "convention", "lowering",
          "operand_order", "bitops", "clock_source", "energy_source"}) {
      INFO(key);
      CHECK(row.at(key).is_string());
    }
    for (const char* key :
         {"batch", "qmin", "qmax", "grad_min", "grad_max", "cycles_n", "iterations", "sum_bits",
          "sum_bits_sq", "macs_issued", "macs_useful", "cycles", "precision_switches"}) {
      INFO(key);
      CHECK(row.at(key).is_number_integer());
    }
    for (const char* key :
         {"mean_bits", "gbitops", "bitops_relative", "bitops_vs_fp32", "saving_pct",
          "cycles_relative", "cycles_vs_reference", "lane_utilisation", "bitop_efficiency",
          "clock_hz", "seconds", "energy_j", "energy_relative", "energy_array_relative",
          "energy_lo_j", "energy_hi_j", "edp_js", "avg_power_w"}) {
      INFO(key);
      CHECK(row.at(key).is_number_float());
    }
    double sum = 0.0;
    for (const auto& part : row.at("energy_breakdown_j")) sum += part.get<double>();
    CHECK(sum == Approx(row["energy_j"].get<double>()));
    std::uint64_t cycles = 0;
    for (const char* kind : {"fwd", "dx", "dw"}) {
      const Json& g = row.at("gemms").at(kind);
      cycles += g.at("cycles").get<std::uint64_t>();
      for (const char* key : {"energy_j", "macs_issued", "macs_useful"}) CHECK(g.contains(key));
    }
    CHECK(cycles == row["cycles"].get<std::uint64_t>());
    for (const auto& p : row.at("per_bits")) {
      for (const char* key :
           {"bits", "grad_bits", "iterations", "cycles_per_iteration", "energy_per_iteration_j"}) {
        CHECK(p.contains(key));
      }
    }
  }
}

TEST_CASE("CSV has the same keys and values as JSON, flattened", "[report]") {
  const CompareResult result = small_result();
  const Json json = Json::parse(report_json(result));
  std::istringstream in(report_csv(result));
  std::string line;
  REQUIRE(std::getline(in, line));
  const auto header = split(line);
  std::size_t row = 0;
  for (; std::getline(in, line); ++row) {
    const auto cells = split(line);
    REQUIRE(cells.size() == header.size());
    const Json flat = json["rows"][row].flatten();
    std::size_t filled = 0;
    for (std::size_t i = 0; i < header.size(); ++i) {
      std::string pointer = "/" + header[i];
      for (char& c : pointer) c = c == '.' ? '/' : c;
      if (!flat.contains(pointer)) {
        CHECK(cells[i].empty());
        continue;
      }
      ++filled;
      const Json& value = flat[pointer];
      const std::string want = value.is_null()     ? ""
                               : value.is_string() ? value.get<std::string>()
                                                   : value.dump();
      CHECK(cells[i] == want);
    }
    CHECK(filled == flat.size());
  }
  CHECK(row == json["rows"].size());
}

TEST_CASE("energy follows from event counts and the printed constants alone", "[report]") {
  // What an outside script would do: counts of the formula, constants of the assumptions.
  CompareOptions options;
  options.gemm = Gemm{100, 50, 300};
  options.schedules = {"CR"};
  options.iterations = 100;
  options.operand_order = OperandOrder::kTable;
  const CompareResult result = run_compare(options);
  const Json json = Json::parse(report_json(result));
  std::map<std::string, double> pj;
  for (const auto& a : json["assumptions"]) {
    const std::string key = a["key"];
    if (key.rfind("energy.", 0) != 0) continue;
    double value = 0.0, per = 0.0;
    char unit[8] = "", word[8] = "";
    const std::string text = a["value"];
    REQUIRE(std::sscanf(text.c_str(), "%lf %7s %7s %lf", &value, unit, word, &per) == 4);
    REQUIRE(std::string(unit) == "pJ");
    pj[key.substr(7)] = value / per;
  }
  const ArrayConfig c = resolve_array("serial-1x1");
  double energy = 0.0;
  for (const auto& p : json["rows"][1]["per_bits"]) {
    const int b = p["bits"], g = p["grad_bits"];
    double e = 0.0;
    const Descriptor gemms[] = {{{100, 50, 300}, {b, false}, {b, false}},
                                {{100, 300, 50}, {g, false}, {b, false}},
                                {{50, 300, 100}, {g, false}, {b, false}}};
    for (const auto& d : gemms) {
      const GemmEvents v = gemm_events(c, d);
      const double adds = static_cast<double>(v.ac_adds + v.ac_adds_ones);
      const double flushes = static_cast<double>(v.acc_flushes + v.acc_flushes_ones);
      const double bits = static_cast<double>(v.a_words_read + v.w_words_read) * c.kl;
      const double add = pj["adder_bit"] + pj["register_bit"];
      e += adds * c.kl * pj["digit_product"] + adds * c.ac_w * add +
           flushes * (c.acc_w * add + c.ac_w * pj["register_bit"]) +
           bits * (pj["register_bit"] + pj["sram_32kb"]);
    }
    const double x = 30000, w = 15000, y = 5000;
    const double read = (x + w) * b + y * g + w * b + y * g + x * b;
    e += read * pj["sram_32kb"] + (read + 32 * (x + w + y)) * pj["dram"];
    energy += e * p["iterations"].get<double>();
    CHECK(p["energy_per_iteration_j"].get<double>() == Approx(e * 1e-12));
  }
  CHECK(json["rows"][1]["energy_j"].get<double>() == Approx(energy * 1e-12));
}

TEST_CASE("energy follows from the JSON file alone", "[report]") {
  // Row events, array parameters and printed constants: no function of the model.
  for (const char* arch : {"serial-1x1", "stripes-1x8", "ci-1x4-s4"}) {
    CompareOptions options;
    options.networks = {"resnet20-cifar10"};
    options.batch = 2;
    options.schedules = {"CR"};
    options.archs = {arch};
    const Json json = Json::parse(report_json(run_compare(options)));
    std::map<std::string, double> pj;
    for (const auto& a : json["assumptions"]) {
      double value = 0.0, per = 0.0;
      const std::string key = a["key"], text = a["value"];
      if (key.rfind("energy.", 0) != 0) continue;
      REQUIRE(std::sscanf(text.c_str(), "%lf pJ per %lf", &value, &per) == 2);
      pj[key.substr(7)] = value / per;
    }
    for (const auto& row : json["rows"]) {
      INFO(arch << " " << row["schedule"]);
      const auto count = [&](const char* key) {
        return std::stod(row["events"][key].get<std::string>());
      };
      const auto size = [&](const char* key) { return row["array"][key].get<double>(); };
      const double kl = size("kl"), ac = size("ac_w"), acc = size("acc_w");
      const double ra = size("ra"), rw = size("rw"), hold = size("s") > 1 ? ac : 0.0;
      const double adder = pj["adder_bit"], reg = pj["register_bit"], sram = pj["sram_32kb"];
      const double adds = count("ac_adds"), ones = count("ac_adds_ones");
      const double flushes = count("acc_flushes") + count("acc_flushes_ones");
      const double operand_bits = (count("a_words_read") + count("w_words_read")) * kl;
      const double read = count("dram_read_bits"), written = count("dram_written_bits");
      const std::map<std::string, double> parts = {
          {"digit_products", kl * (ra * rw * adds + std::max(ra, rw) * ones) * pj["digit_product"]},
          {"ac_adds", (adds + ones) * ac * (adder + reg)},
          {"acc_adds", flushes * (acc * (adder + reg) + hold * reg)},
          {"chunk_registers", operand_bits * reg},
          {"buffer_reads", operand_bits * sram},
          {"buffer_writes", read * sram},
          {"dram", (read + written) * pj["dram"]}};
      for (const auto& [key, value] : parts) {
        INFO(key);
        CHECK(row["energy_breakdown_j"][key].get<double>() == Approx(value * 1e-12).epsilon(1e-9));
      }
      CHECK(count("digit_products") == adds * kl);
      CHECK(count("digit_cycles") <= row["cycles"].get<double>());
    }
  }
}

TEST_CASE("a narrow table prints its group names in full", "[report]") {
  const std::string text = report_text(small_result(), {"schedule"});
  CHECK(text.find("\n-- medium saving --\n") != std::string::npos);
  CHECK(text.find("\n===================\n") != std::string::npos);
}

TEST_CASE("withheld energies are null and relative ones stay", "[report]") {
  const CompareResult result = small_result(true);
  const Json row = row_json(result.rows[1], result);
  for (const char* key : {"energy_j", "energy_lo_j", "energy_hi_j", "edp_js", "avg_power_w"}) {
    CHECK(row[key].is_null());
    CHECK(cell_text(key, result.rows[1], result) == "n/a");
  }
  for (const auto& part : row["energy_breakdown_j"]) CHECK(part.is_null());
  CHECK(row["gemms"]["fwd"]["energy_j"].is_null());
  CHECK(row["per_bits"][0]["energy_per_iteration_j"].is_null());
  CHECK(row["energy_relative"].is_number());
  CHECK(report_text(result, {}).find("cannot rank arrays") != std::string::npos);
}

TEST_CASE("the report for people says what must always be said", "[report]") {
  const CompareResult result = small_result();
  const std::string text = report_text(result, {});
  for (const char* part :
       {"does not predict accuracy", "Equal iterations", "not equal area or clock",
        "assumption until synthesis", "memory stalls", "batch norm", "quantisation passes",
        "FP32 layers", "update", "literature constants", "large saving", "medium saving",
        "small saving", "short reductions", "First layer"}) {
    INFO(part);
    std::string flat = text;
    for (char& c : flat) c = c == '\n' ? ' ' : c;
    while (flat.find("  ") != std::string::npos) flat.erase(flat.find("  "), 1);
    CHECK(flat.find(part) != std::string::npos);
  }
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    INFO(line);
    CHECK(line.size() <= 150);
  }
  // Static first.
  CHECK(text.find("\nstatic") < text.find("\nRR"));
}

TEST_CASE("LaTeX is booktabs with one row per schedule and escaped text", "[report]") {
  CompareResult result = small_result();
  result.rows[1].schedule = "a_b&c%";
  const std::string tex = report_latex(result, {"schedule", "energy_relative", "lane_utilisation"});
  CHECK(report_latex(result, {"schedule", "cycles"}).find("literature") == std::string::npos);
  for (const char* part : {"\\begin{tabular}{lrr}", "\\toprule", "\\midrule", "\\bottomrule",
                           "a\\_b\\&c\\%", "literature constants", "\\% \\\\"}) {
    INFO(part);
    CHECK(tex.find(part) != std::string::npos);
  }
}

TEST_CASE("outputs do not depend on the run", "[report]") {
  CHECK(report_json(small_result()) == report_json(small_result()));
  CHECK(report_csv(small_result()) == report_csv(small_result()));
  CHECK(report_plot(small_result()).body == report_plot(small_result()).body);
}

TEST_CASE("columns: unknown ones are refused with a suggestion", "[report]") {
  CHECK_THROWS_WITH(check_columns({"mean_bit"}), Catch::Contains("did you mean 'mean_bits'?"));
  CHECK_THROWS_AS(check_columns({"per_bits"}), InputError);
  CHECK_NOTHROW(check_columns({"gemms.dx.cycles", "energy_breakdown_j.dram"}));
}

TEST_CASE("numbers for people", "[report]") {
  CHECK(si_text(17893566144000.0, "") == "17.89 T");
  CHECK(si_text(0.9999999, "J") == "1.000 J");
  CHECK(si_text(999.99, "J") == "1.000 kJ");
  CHECK(si_text(9.99996, "J") == "10.00 J");
  CHECK(si_text(0.0, "J") == "0 J");
  CHECK(si_text(2.5e-12, "J") == "2.500 pJ");
  CHECK(duration_text(0.0932) == "93.20 ms");
  CHECK(duration_text(35787.0) == "9.94 h");
  CHECK(bar_text(1.0, 10) == "##########");
  CHECK(bar_text(0.001, 10) == "#");
  CHECK(bar_text(0.0, 10).empty());
  CHECK(wrap_text("aa bb cc dd", 5, 2) == "aa bb\n  cc\n  dd");
}
