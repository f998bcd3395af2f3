// The command `network` as a user meets it.
#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "golden/error.hpp"
#include "sim/cmd_compare.hpp"
#include "sim/cmd_network.hpp"
#include "tests/sim/capture.hpp"
#include "workloads/network_library.hpp"

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
    code = cmd_network(args);
  } catch (...) {
    std::cout.rdbuf(old);
    throw;
  }
  std::cout.rdbuf(old);
  CHECK(code == expected);
  return text.str();
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

std::string write(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder / name) << text;
  return folder / name;
}

const char* const kOwn =
    "network: own\n"
    "conventions:\n"
    "  but-last: {text: the last layer is FP32, fp32: fc}\n"
    "nodes:\n"
    "  - input: {channels: 3, height: 8, width: 8}\n"
    "  - conv: {name: conv, channels: 16, kernel: 3, padding: 1, stride: 2}\n"
    "  - activation: relu\n"
    "  - global-pool\n"
    "  - dense: {name: fc, channels: 10, bias: true}\n";

TEST_CASE("network list names every network once", "[cmd][network]") {
  const std::string text = run({"list"});
  const json j = json::parse(run({"list", "--json", "-"}));
  CHECK(j["networks"].size() == library_networks().size());
  std::set<std::string> seen;
  for (const auto& entry : j["networks"]) {
    CHECK(seen.insert(entry["network"].get<std::string>()).second);
    CHECK_THAT(text, Contains(entry["network"].get<std::string>()));
    CHECK(entry["macs_per_sample_quantised"] <= entry["macs_per_sample"]);
  }
  const std::string csv = run({"list", "--csv", "-"});
  CHECK(std::count(csv.begin(), csv.end(), '\n') ==
        static_cast<std::ptrdiff_t>(library_networks().size() + 1));
}

TEST_CASE("network show agrees with itself in all its forms", "[cmd][network]") {
  const json j = json::parse(run({"show", "resnet20-cifar10", "--batch", "4", "--json", "-"}));
  CHECK(j["batch"] == 4);
  CHECK(j["macs_per_sample_quantised"] == 40812544);
  CHECK(j["macs_per_sample_fp32"] == 640);
  CHECK(j["parameters"] == 272474);
  std::uint64_t macs = 0, parameters = 0, bytes = 0;
  std::size_t gemms = 0;
  for (const auto& layer : j["layers"]) {
    macs += layer["macs_per_sample"].get<std::uint64_t>();
    parameters += layer["parameters"].get<std::uint64_t>();
    bytes += layer["activation_bytes"].get<std::uint64_t>();
    gemms += layer["gemms"].size();
  }
  CHECK(macs == 40812544 + 640);
  CHECK(bytes == j["activation_bytes"]);
  std::uint64_t forward = 0;
  for (const auto& op : j["vector_ops"]) {
    parameters += op["parameters"].get<std::uint64_t>();
    forward += op["forward_ops"].get<std::uint64_t>();
    CHECK_FALSE(op["rule"].get<std::string>().empty());
  }
  CHECK(parameters == j["parameters"]);
  CHECK(forward == j["vector_forward_ops"]);
  const std::string csv = run({"show", "resnet20-cifar10", "--batch", "4", "--csv", "-"});
  CHECK(std::count(csv.begin(), csv.end(), '\n') ==
        static_cast<std::ptrdiff_t>(1 + gemms + j["vector_ops"].size()));
  const std::string columns = csv.substr(0, csv.find('\n'));
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    CHECK(std::count(line.begin(), line.end(), ',') ==
          std::count(columns.begin(), columns.end(), ','));
  }
  const std::string text = run({"show", "resnet20-cifar10", "--batch", "4"});
  CHECK_THAT(text, Contains("40812544 quantised, 640 FP32"));
  CHECK_THAT(text, Contains("1024 16 32+64+64+128"));  // the phases of a strided dX
}

TEST_CASE("options of network show change what it shows", "[cmd][network]") {
  const auto shown = [](const Args& more) {
    Args args = {"show", "mobilenetv2-imagenet", "--json", "-"};
    args.insert(args.end(), more.begin(), more.end());
    json j = json::parse(run(args));
    j.erase("command");
    return j;
  };
  const json base = shown({});
  CHECK(base["batch"] == 256);
  for (const Args& args : {Args{"--batch", "2"}, Args{"--convention", "all"},
                           Args{"--lowering", "dx=gemm"}, Args{"--bits", "3"}}) {
    INFO(args[0]);
    CHECK(shown(args) != base);
  }
  CHECK(run({"show", "lstm-ptb", "--vector"}) != run({"show", "lstm-ptb"}));
}

TEST_CASE("a network of the library can be copied, changed and used", "[cmd][network]") {
  const TemporaryFolder folder;
  const std::string copy = write(folder, "copy.yaml", run({"show", "resnet20-cifar10", "--yaml"}));
  CHECK(copy.size() > 0);
  CHECK(run({"show", copy + "#resnet20-cifar10", "--csv", "-"}) ==
        run({"show", "resnet20-cifar10", "--csv", "-"}));
  const std::string plain =
      write(folder, "plain.yaml", run({"show", "resnet20-cifar10", "--expanded"}));
  CHECK(run({"show", plain, "--csv", "-"}) == run({"show", "resnet20-cifar10", "--csv", "-"}));
  CHECK_THAT(run({"validate", copy, plain}), Contains("resnet152-cifar100") && Contains("good"));
  // And it costs the same.
  const auto cycles = [](const std::string& network) {
    return run_compare(parse_compare_options({"--network", network, "--schedules", "CR"}))
        .rows.back()
        .cycles;
  };
  CHECK(cycles(plain) == cycles("resnet20-cifar10"));
  CHECK(cycles(copy + "#resnet20-cifar10") == cycles("resnet20-cifar10"));
}

TEST_CASE("a file of one's own has its own conventions", "[cmd][network]") {
  const TemporaryFolder folder;
  const std::string own = write(folder, "own.yaml", kOwn);
  CHECK_THAT(run({"show", own}), Contains("convention but-last: the last layer is FP32"));
  CHECK_THAT(run({"validate", own}), Contains("own, 5 nodes, 2 conventions, 9 GEMMs: good"));
  const auto row = [&](const Args& more) {
    Args args = {"--network", own, "--schedules", "static"};
    args.insert(args.end(), more.begin(), more.end());
    return run_compare(parse_compare_options(args)).rows.front();
  };
  CHECK(row({}).convention == "but-last");
  CHECK(row({}).batch == 1);
  CHECK(row({"--convention", "all"}).bitops > row({}).bitops);
  CHECK_THAT(refusal({"show", own, "--convention", "but"}), Contains("did you mean 'but-last'?"));
}

TEST_CASE("BitOps count the forward MACs three times, whatever a layer issues", "[cmd][network]") {
  const TemporaryFolder folder;
  const std::string file = write(folder, "mixed.yaml",
                                 "network: mixed\nbatch: 3\nnodes:\n"
                                 "  - input: {channels: 4, height: 9, width: 9}\n"
                                 "  - conv: {channels: 8, kernel: 3, stride: 2}\n"
                                 "  - conv-transpose: {channels: 4, kernel: 3, stride: 2}\n"
                                 "  - depthwise: {kernel: 3, padding: 1}\n"
                                 "  - reshape: {channels: 4, height: 81}\n"
                                 "  - matmul: {heads: 2, inputs: [previous, previous]}\n"
                                 "  - recurrent: {channels: 5}\n");
  const json j = json::parse(run({"show", file, "--json", "-"}));
  const auto macs = j["macs_per_sample_quantised"].get<std::uint64_t>();
  // 4x4x8x36, the same pixels with the transposed kernel, 81 x 36, 2 x 81 x 81 x 2, 81 x 20 x 167.
  CHECK(macs == 4608 + 4 * 4 * 8 * 4 * 9 + 81 * 36 + 2 * 81 * 81 * 2 + 81 * 20 * (162 + 5));
  const CompareRow row =
      run_compare(parse_compare_options({"--network", file, "--schedules", "static", "--iterations",
                                         "10", "--cycles", "1"}))
          .rows.front();
  CHECK(row.bitops == u128{macs} * 3 * 10 * 192);
  CHECK(row.gemms[0].macs_useful == row.gemms[1].macs_useful);
  CHECK(row.gemms[0].macs_useful == row.gemms[2].macs_useful);
  CHECK(row.macs_useful <= row.macs_issued);
}

TEST_CASE("network refuses wrong use in one line", "[cmd][network]") {
  CHECK_THAT(refusal({"lists"}), Contains("did you mean 'list'?"));
  CHECK_THAT(run({}, 2), Contains("validate"));
  CHECK_THAT(run({"--help"}), Contains("validate"));
  for (const char* sub : {"list", "show", "validate"}) {
    CHECK_THAT(run({sub, "--help"}), Contains(std::string("network ") + sub));
  }
  CHECK_THAT(refusal({"show"}), Contains("a name or a file"));
  CHECK_THAT(refusal({"show", "resnet21-cifar10"}), Contains("did you mean 'resnet2"));
  CHECK_THAT(refusal({"show", "no.yaml"}), Contains("no readable file"));
  CHECK_THAT(refusal({"show", "resnet20-cifar10", "--batch", "0"}), Contains("--batch"));
  CHECK_THAT(refusal({"show", "resnet20-cifar10", "--bits", "33"}), Contains("1 to 32"));
  CHECK_THAT(refusal({"show", "resnet20-cifar10", "--json", "-", "--csv", "-"}), Contains("once"));
  CHECK_THAT(refusal({"show", "resnet20-cifar10", "--json", "no/where.json"}),
             Contains("no directory"));
  CHECK_THAT(refusal({"validate"}), Contains("no file"));
  const TemporaryFolder folder;
  const std::string bad =
      write(folder, "bad.yaml", std::string(kOwn) + "  - densee: {channels: 3}\n");
  CHECK_THAT(refusal({"validate", bad}), Contains("bad.yaml:10: operator: found 'densee'"));
}

}  // namespace

TEST_CASE("network show refuses two outputs in one file") {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  CHECK_THAT(refusal({"show", "resnet8-cifar10", "--csv", out, "--json", out}),
             Contains("each once"));
  CHECK_FALSE(std::ifstream(out).is_open());
}

TEST_CASE("network validate bounds the work that one small file can ask for") {
  const TemporaryFolder folder;
  std::string conventions;
  for (int i = 0; i < 50; ++i) conventions += "  c" + std::to_string(i) + ": {fp32: fc}\n";
  const std::string head = "network: x\nconventions:\n" + conventions;
  const std::string nodes = "nodes:\n  - input: {channels: 3}\n";
  const auto file = [&](int times) {
    return head + nodes + "  - repeat: {times: " + std::to_string(times) +
           "}\n    nodes: [softmax]\n  - dense: {name: fc, channels: 3}\n";
  };
  // Fifty conventions and `all`: 51 x (times + 2) nodes.
  CHECK_THAT(refusal({"validate", write(folder, "big.yaml", file(8000))}),
             Contains("more than 400000 nodes in all networks and conventions"));
  CHECK_THAT(run({"validate", write(folder, "small.yaml", file(10))}), Contains("good"));
}
