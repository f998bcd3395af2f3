// `network import` as a user meets it: what it prints, what it writes, what it refuses.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "golden/error.hpp"
#include "sim/cmd_network.hpp"
#include "tests/sim/capture.hpp"
#include "workloads/network_library.hpp"

namespace {

using namespace bitcycle;
using Args = std::vector<std::string>;
using Catch::Matchers::Contains;

const std::string kModels = BITCYCLE_SOURCE_DIR "/tests/workloads/onnx/";

// What the command prints.
std::string printed(const Args& args) {
  std::ostringstream out;
  std::streambuf* old = std::cout.rdbuf(out.rdbuf());
  int code = 1;
  try {
    code = cmd_network(args);
  } catch (...) {
    std::cout.rdbuf(old);
    throw;
  }
  std::cout.rdbuf(old);
  CHECK(code == 0);
  return out.str();
}

std::string refusal(const Args& args) {
  try {
    printed(args);
  } catch (const InputError& e) {
    CHECK(std::string(e.what()).find('\n') == std::string::npos);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("network import prints layers, operators and notes, and writes a network file") {
  const TemporaryFolder folder;
  const std::string out = folder / "net.yaml";
  const std::string text =
      printed({"import", kModels + "encoder.onnx", "--batch", "32", "--out", out});
  CHECK_THAT(text, Contains("Read as onnx") && Contains("MACs per sample, forward: 102496"));
  CHECK_THAT(text, Contains("GELU (several operators)") && Contains("only their dimensions"));
  const Network again = make_network(out, "all");
  CHECK(again.macs_per_sample(false) == 102496);
  CHECK(again.batch == 32);
  CHECK_THAT(printed({"show", out}), Contains("102496"));
}

TEST_CASE("an imported file is a network wherever networks are named") {
  CHECK(make_network(kModels + "residual.onnx", "all").macs_per_sample(false) == 284832);
  const Network cifar = make_network(kModels + "residual.onnx", "cpt-cifar");
  CHECK(cifar.macs_per_sample(true) == 284832 - 160);
  const Network ends = make_network(kModels + "residual.onnx", "first-last-fp32");
  CHECK_FALSE(ends.layers.front().quantised);
  CHECK_FALSE(ends.layers.back().quantised);
  CHECK(ends.layers[1].quantised);
}

TEST_CASE("network import as JSON has the operators and notes") {
  const auto json = nlohmann::json::parse(
      printed({"import", kModels + "conv.onnx", "--json", "-", "--batch", "8"}));
  CHECK(json["import"]["format"] == "onnx");
  CHECK(json["import"]["batch_of_file"] == 1);
  CHECK(json["import"]["notes"].size() >= 2);
  std::uint64_t layers = 0;
  for (const auto& op : json["import"]["operators"]) {
    if (op["is"] == "layer") layers += op["count"].get<std::uint64_t>();
  }
  CHECK(layers == 5);
}

TEST_CASE("network import refuses wrong use and writes nothing then") {
  const TemporaryFolder folder;
  const std::string conv = kModels + "conv.onnx";
  CHECK_THAT(refusal({"import"}), Contains("file: found none"));
  CHECK_THAT(refusal({"import", conv, "--format", "onxx"}), Contains("did you mean 'onnx'"));
  CHECK_THAT(refusal({"import", conv, "--batch", "0"}), Contains("--batch"));
  CHECK_THAT(refusal({"import", conv, "--output-size", "scalesim"}), Contains("--output-size"));
  CHECK_THAT(refusal({"import", conv, "--output-size", "up"}), Contains("scalesim (rounds up"));
  CHECK_THAT(refusal({"import", conv, "--dim", "batch"}), Contains("NAME=SIZE"));
  CHECK_THAT(refusal({"import", conv, "--dim", "a=1", "--dim", "a=2"}), Contains("'a' twice"));
  CHECK_THAT(refusal({"import", conv, "--dim", "a=1"}), Contains("'a'"));
  CHECK_THAT(refusal({"import", conv, "--sparsity", "x"}), Contains("refuse, ignore"));
  CHECK_THAT(refusal({"import", conv, "--out", "-", "--json", "-"}), Contains("- once"));
  CHECK_THAT(refusal({"import", conv, "--out", folder / "no/dir.yaml"}), Contains("no"));
  const std::string out = folder / "out.yaml";
  CHECK_THAT(refusal({"import", kModels + "encoder-dynamic.onnx", "--out", out}),
             Contains("--dim length=N"));
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE(
    "network import does not write over the file that it reads, nor one output over another") {
  const TemporaryFolder folder;
  const std::string in = folder / "net.csv", text = "Layer, M, N, K,\nG, 10, 20, 30,\n";
  std::ofstream(in) << text;
  const std::string same = folder.path() + "/./net.csv";
  CHECK_THAT(refusal({"import", in, "--out", same}), Contains("input and output in one file"));
  CHECK_THAT(refusal({"import", in, "--json", in}), Contains("input and output in one file"));
  CHECK(read_file(in) == text);
  const std::string out = folder / "net.yaml";
  CHECK_THAT(refusal({"import", in, "--out", out, "--json", out}), Contains("each once"));
  CHECK_FALSE(std::filesystem::exists(out));
}
