// The command `run` as a user meets it.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "golden/error.hpp"
#include "sim/cmd_run.hpp"
#include "sim/paths.hpp"
#include "tests/sim/capture.hpp"

namespace {

using namespace bitcycle;
using Args = std::vector<std::string>;
using Catch::Matchers::Contains;
using nlohmann::json;

std::string run(const Args& args, int expected = 0) {
  std::ostringstream text;
  std::streambuf* old = std::cout.rdbuf(text.rdbuf());
  int code = -1;
  try {
    code = cmd_run(args);
  } catch (...) {
    std::cout.rdbuf(old);
    throw;
  }
  std::cout.rdbuf(old);
  CHECK(code == expected);
  return text.str();
}

// The tiny network on a small array, and more.
Args tiny(const Args& more = {}) {
  Args args = {"--network",
               source_dir() + "/tests/sim/data/tiny.yaml",
               "--arch",
               "ci-1x1-s4",
               "--iteration-precision",
               "3x2x4"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

json tiny_json(const Args& more = {}) {
  Args args = tiny(more);
  args.insert(args.end(), {"--json", "-"});
  return json::parse(run(args));
}

std::string refusal(const Args& args) {
  try {
    run(args);
  } catch (const InputError& e) {
    std::string text = e.what();
    CHECK(text.find('\n') == std::string::npos);
    return text;
  }
  return "";
}

using Row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == ',') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

std::vector<Row> table(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = split(line);
  std::vector<Row> out;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = split(line);
    REQUIRE(cells.size() == names.size());
    Row row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
    out.push_back(row);
  }
  return out;
}

std::uint64_t number(const Row& row, const std::string& name) {
  INFO(name);
  return std::stoull(row.at(name));
}

TEST_CASE("run: rows of the CSV add up, and agree with the JSON", "[cmd][run]") {
  for (const Args& more : {Args{}, Args{"--memory", "ideal"}, Args{"--results", "raw48"},
                           Args{"--lowering", "dx=gemm"}}) {
    INFO((more.empty() ? "" : more[0]));
    Args args = tiny(more);
    args.insert(args.end(), {"--csv", "-"});
    const std::vector<Row> rows = table(run(args));
    const json j = tiny_json(more);
    std::uint64_t gemm_cycles = 0, steady = 0, fill = 0, fetch = 0, store = 0, lead = 0;
    std::size_t gemm = 0, vector = 0;
    for (const Row& row : rows) {
      INFO(row.at("layer") << " " << row.at("gemm"));
      if (row.at("gemm") == "vector") {
        const json& v = j["vector"].at(vector++);
        CHECK(v["kind"] == row.at("layer"));
        CHECK(number(row, "vector_bytes") ==
              static_cast<std::uint64_t>(std::llround(v["bytes"].get<double>())));
        continue;
      }
      const std::uint64_t cycles = number(row, "cycles");
      CHECK(cycles == number(row, "array_cycles") + number(row, "set_up") +
                          number(row, "wait_fetch") + number(row, "wait_store") +
                          number(row, "lead"));
      CHECK(number(row, "steady") <= number(row, "array_cycles"));
      for (const std::string engine : {"fetch", "exec", "store"}) {
        INFO(engine);
        CHECK(cycles == number(row, engine + "_idle") + number(row, engine + "_run") +
                            number(row, engine + "_wait_in") + number(row, engine + "_wait_out"));
      }
      CHECK(number(row, "first_bits") + number(row, "second_bits") == number(row, "l1_bits"));
      CHECK(number(row, "macs_useful") <= number(row, "macs_padded"));
      const json& g = j["gemms"].at(gemm++);
      CHECK(g["layer"] == row.at("layer"));
      CHECK(g["gemm"] == row.at("gemm"));
      CHECK(g["cycles"] == cycles);
      CHECK(g["wait_fetch"] == number(row, "wait_fetch"));
      CHECK(g["bits"] == json({number(row, "a_bits"), number(row, "w_bits")}));
      CHECK(g["bits_read"] == json({number(row, "first_bits"), number(row, "second_bits")}));
      CHECK(g["bits_written"] == number(row, "result_bits"));
      CHECK(g["macs"]["useful"] == number(row, "macs_useful"));
      CHECK(g["roofline"]["attained"].get<double>() <=
            g["roofline"]["roof"].get<double>() * (1 + 1e-9));
      gemm_cycles += cycles;
      steady += number(row, "steady");
      fill += number(row, "array_cycles") - number(row, "steady") + number(row, "set_up");
      fetch += number(row, "wait_fetch");
      store += number(row, "wait_store");
      lead += number(row, "lead");
    }
    CHECK(gemm == j["gemms"].size());
    CHECK(vector == j["vector"].size());
    const json& parts = j["parts"];
    CHECK(parts["compute"] == steady);
    CHECK(parts["fill and drain"] == fill);
    CHECK(parts["wait for fetch"] == fetch);
    CHECK(parts["wait for store"] == store);
    CHECK(parts["lead in and out"] == lead);
    std::uint64_t sum = 0;
    for (const auto& part : parts) sum += part.get<std::uint64_t>();
    CHECK(sum == j["cycles"]);
    CHECK(gemm_cycles + parts["vector work"].get<std::uint64_t>() +
              parts["precision switch"].get<std::uint64_t>() ==
          j["cycles"]);
  }
}

TEST_CASE("run: layers one by one sum to the network", "[cmd][run]") {
  const json whole = tiny_json();
  std::uint64_t cycles = 0;
  std::size_t gemms = 0;
  for (const char* layer : {"conv1", "conv2", "hidden"}) {
    const json one = tiny_json({"--layer", layer});
    for (const json& g : one["gemms"]) {
      CHECK(g["layer"] == layer);
      CHECK(g == whole["gemms"].at(gemms++));
      cycles += g["cycles"].get<std::uint64_t>();
    }
  }
  CHECK(gemms == whole["gemms"].size());
  CHECK(cycles + whole["parts"]["vector work"].get<std::uint64_t>() == whole["cycles"]);
}

TEST_CASE("run: borders have a masked product, FP32 layers no product", "[cmd][run]") {
  const json j = tiny_json();
  std::map<std::string, std::string> kinds;
  for (const json& g : j["gemms"]) {
    kinds[g["layer"].get<std::string>()] += g["gemm"].get<std::string>() + ",";
    const std::string kind = g["gemm"];
    if (kind.find("mask") != std::string::npos) {
      CHECK((g["bits"][0] == 1 || g["bits"][1] == 1));
    }
  }
  CHECK(kinds.size() == 3);
  CHECK(kinds["conv1"] == "fwd,fwd mask,dx,dx mask,dw,dw mask,");
  CHECK(kinds["hidden"] == "fwd,dx,dw,");
  const json all = tiny_json({"--convention", "all"});
  CHECK(all["gemms"].size() == j["gemms"].size() + 3);
}

TEST_CASE("run: options change what they should", "[cmd][run]") {
  const json base = tiny_json();
  CHECK(base["batch"] == 2);
  CHECK(base["bits"] == json({{"a", 3}, {"w", 2}, {"g", 4}}));
  CHECK(base["exact"] == true);
  const auto cycles = [](const json& j) { return j["cycles"].get<std::uint64_t>(); };
  CHECK(cycles(tiny_json({"--memory", "ideal"})) < cycles(base));
  CHECK(cycles(tiny_json({"--batch", "4"})) > cycles(base));
  CHECK(cycles(tiny_json({"--vector-bytes", "1"})) > cycles(base));
  CHECK(cycles(tiny_json({"--vector-ops", "0.5"})) > cycles(base));
  const json wide = tiny_json({"--results", "raw48"});
  CHECK(wide["gemms"][0]["bits_written"] > base["gemms"][0]["bits_written"]);
  const json dram = tiny_json({"--memory", "ddr4-3200"});
  CHECK(dram["exact"] == false);
  CHECK(dram["cycles"] <= dram["cycles_upper"]);
  const json switched = tiny_json({"--previous-precision", "8x8x8"});
  CHECK(switched["cycles"] == base["cycles"]);
  CHECK(switched["parts"]["precision switch"] == 0);
}

TEST_CASE("run: the table fits a terminal and its files are the streams", "[cmd][run]") {
  const TemporaryFolder folder;
  const std::string text = run(tiny({"--csv", folder / "a.csv", "--json", folder / "a.json"}));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 160);
  CHECK_THAT(text, Contains("buffers: A 4 KiB, W 4 KiB, output 4 KiB, partial sums 3.375 KiB"));
  std::string name(60, 'n');
  name.replace(58, 2, ",x");
  std::ofstream(folder / "long.yaml") << "network: long\nsample: row\nbatch: 4096\nnodes:\n"
                                      << "  - input: {channels: 512}\n"
                                      << "  - dense: {name: \"" << name << "\", channels: 1024}\n";
  const Args long_name = {"--network", folder / "long.yaml", "--arch", "ci-1x1-s1"};
  std::istringstream wide(run(long_name));
  for (std::string line; std::getline(wide, line);) {
    INFO(line);
    CHECK(line.size() <= 160);
  }
  CHECK(read_file(folder / "a.csv") == run(tiny({"--csv", "-"})));
  json from_file = json::parse(read_file(folder / "a.json"));
  json streamed = tiny_json();
  from_file.erase("command");
  streamed.erase("command");
  CHECK(from_file == streamed);
  // One layer is shown with its mapping.
  CHECK_THAT(run(tiny({"--layer", "hidden"})), Contains("fwd       mapping: rows ("));
}

TEST_CASE("run: a layer's instructions end in the cycle that the table says", "[cmd][run]") {
  const json j = tiny_json({"--layer", "hidden"});
  const std::string text = run(tiny({"--layer", "hidden", "--instructions", "-"}));
  std::istringstream lines(text);
  std::size_t gemm = 0, left = 0;
  std::uint64_t last = 0;
  const auto close = [&] {
    CHECK(left == 0);
    if (gemm > 0) CHECK(last + 1 == j["gemms"].at(gemm - 1)["cycles"]);
    last = 0;
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("hidden ", 0) == 0) {
      close();
      left = std::stoul(line.substr(line.find(':') + 1));
      ++gemm;
      continue;
    }
    std::istringstream words(line);
    std::uint64_t push = 0, start = 0, done = 0;
    if (!(words >> push >> start >> done)) continue;  // heading, or an exec's further lines
    CHECK(push < start);
    CHECK(start < done);
    last = std::max(last, done);
    --left;
  }
  close();
  CHECK(gemm == 3);
  CHECK_THAT(refusal(tiny({"--instructions", "-"})), Contains("--layer NAME"));
}

TEST_CASE("run: bad input is one line", "[cmd][run]") {
  const std::vector<std::pair<Args, std::string>> bad = {
      {{"--network", "resnet20-cifar"}, "resnet20-cifar10"},
      {tiny({"--layer", "conv3"}), "conv"},
      {tiny({"--layer", "fc"}), "FP32 under the convention"},
      {tiny({"--memory", "ddr4-320"}), "ddr4-3200"},
      {tiny({"--memory", "/nowhere/x.yaml"}), "x.yaml"},
      {tiny({"--engine", "system"}), "systemc"},
      {tiny({"--engine", "systemc", "--memory", "hbm2"}), "bandwidth-latency"},
      {tiny({"--batch", "0"}), "--batch"},
      {tiny({"--results", "raw"}), "raw32, raw48"},
      {tiny({"--lowering", "dx"}), "dx=phases"},
      {tiny({"--vector-ops", "0"}), "--vector-ops"},
      {tiny({"--vector-bytes", "-3"}), "--vector-bytes"},
      {tiny({"--clock-mhz", "0"}), "--clock-mhz"},
      {tiny({"--clock-mhz", "0.0001", "--memory", "hbm2"}), "0.001 to 1e6"},
      {tiny({"--clock", "1e9"}), "--clock-mhz"},  // the same name and unit as in compare
      {tiny({"--seed", "x"}), "--seed"},
      {tiny({"--convention", "cpt"}), "convention"},
      {tiny({"--previous-precision", "8"}), "--previous-precision"},
      {tiny({"--previous-precision", "4x17x8"}), "'4x17x8'"},
      {tiny({"--previous-precision", "4xx8"}), "'4xx8'"},
      {{"--network", "resnet8-cifar10", "--previous-precision", "9x4x8"}, "1 to 8"},
      {tiny({"--csv", "-", "--json", "-"}), "-"},
      {tiny({"--csv", "/nowhere/x.csv"}), "/nowhere"},
      {tiny({"--cvs", "x"}), "--csv"},
      {tiny({"surplus"}), "'surplus', a word"},
  };
  for (const auto& [args, part] : bad) {
    INFO(args.back());
    const std::string line = refusal(args);
    CHECK_THAT(line, Contains(part));
  }
  for (const char* bits :
       {"", "4", "4x4", "4x4x4x4", "0x4x4", "17x4x4", "4x4x", "axbxc", "4X4X8"}) {
    INFO(bits);
    const std::string line =
        refusal({"--network", "resnet20-cifar10", "--iteration-precision", bits});
    CHECK_THAT(line, Contains("--iteration-precision"));
  }
}

TEST_CASE("run: help names every option", "[cmd][run]") {
  const std::string text = run({"--help"});
  for (const char* option :
       {"--network", "--convention", "--batch", "--iteration-precision", "--layer", "--arch",
        "--memory", "--clock-mhz", "--engine", "--lowering", "--results", "--vector-bytes",
        "--vector-ops", "--previous-precision", "--seed", "--csv", "--json", "--instructions"}) {
    CHECK_THAT(text, Contains(option));
  }
}

TEST_CASE("run: the model under SystemC takes the formula's cycles, with golden's results",
          "[cmd][run]") {
  const json j = tiny_json({"--engine", "systemc", "--seed", "7"});
  CHECK(j["simulated"]["pass"] == true);
  CHECK(j["simulated"]["wrong"] == 0);
  CHECK(j["simulated"]["inexact"] == 0);
  CHECK(j["simulated"]["products"] == j["gemms"].size());  // with the masked products
  std::uint64_t cycles = 0;
  for (const json& g : j["gemms"]) cycles += g["cycles"].get<std::uint64_t>();
  CHECK(j["simulated"]["table_cycles"] == cycles);
  CHECK(j["simulated"]["cycles"] == cycles);
}

}  // namespace
