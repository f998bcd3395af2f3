// The structure of ONNX files: what is kept, what is skipped, and that nothing malformed passes.
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/workloads/error_text.hpp"
#include "tests/workloads/onnx_testing.hpp"
#include "tests/workloads/temporary_file.hpp"
#include "workloads/import.hpp"
#include "workloads/onnx_reader.hpp"

namespace bitcycle {
namespace {

using namespace onnx_testing;  // NOLINT(google-build-using-namespace)
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

std::string refusal(const std::string& model) {
  return error_text([&] { parse_onnx(model, "m.onnx"); });
}

std::string small_model() {
  return model({{value("x", {1, 3, 8, 8})},
                {value("y", {1, 4, 8, 8})},
                {tensor("w", {4, 3, 3, 3})},
                {node("Conv", {"x", "w"}, {"y"}, {attribute("pads", Dims{1, 1, 1, 1})})}});
}

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("names, dims and attributes of a model are read", "[onnx]") {
  const OnnxModel m = parse_onnx(small_model(), "m.onnx");
  CHECK(m.ir_version == 8);
  CHECK(m.opset == 13);
  CHECK(m.producer == "test");
  REQUIRE(m.nodes.size() == 1);
  CHECK(m.nodes[0].op == "Conv");
  CHECK(m.nodes[0].inputs == std::vector<std::string>{"x", "w"});
  CHECK(m.nodes[0].integers("pads") == std::vector<std::int64_t>{1, 1, 1, 1});
  REQUIRE(m.initializers.size() == 1);
  CHECK(m.initializers[0].dims == std::vector<std::uint64_t>{4, 3, 3, 3});
  CHECK_FALSE(m.initializers[0].has_values);
  REQUIRE(m.inputs.size() == 1);
  CHECK(m.inputs[0].dims[3].value == 8);
}

TEST_CASE("small integer tensors keep their values, packed or raw; large ones do not", "[onnx]") {
  const std::string packed =
      number(1, 2) + number(2, 7) + bytes(7, varint(5) + varint(300)) + bytes(8, "packed");
  const Dims many(5000, 1);
  const OnnxModel m = parse_onnx(
      model(
          {{value("x", {1})}, {}, {packed, integers("raw", {-1, 7}), integers("many", many)}, {}}),
      "m.onnx");
  CHECK(m.initializers[0].ints == std::vector<std::int64_t>{5, 300});
  CHECK(m.initializers[1].ints == std::vector<std::int64_t>{-1, 7});
  CHECK(m.initializers[1].has_values);
  CHECK_FALSE(m.initializers[2].has_values);
  CHECK(m.initializers[2].ints.empty());
  CHECK(m.initializers[2].dims == std::vector<std::uint64_t>{5000});
}

TEST_CASE("a file of almost 2 GB is read in bounded memory", "[onnx]") {
  // raw_data of 2,000,000,000 bytes, a hole in the file; the node comes behind it.
  constexpr std::uint64_t kBulk = 2'000'000'000;
  const std::string head_of_tensor =
      number(1, 500'000'000) + number(2, 1) + bytes(8, "w") + varint(9U << 3 | 2) + varint(kBulk);
  const std::string rest = bytes(1, node("Relu", {"x"}, {"y"})) + bytes(11, value("x", {1, 4}));
  const std::uint64_t tensor_size = head_of_tensor.size() + kBulk;
  const std::string open_tensor = varint(5U << 3 | 2) + varint(tensor_size) + head_of_tensor;
  const std::uint64_t graph_size = open_tensor.size() + kBulk + rest.size();
  const std::string head = varint(7U << 3 | 2) + varint(graph_size) + open_tensor;
  const TemporaryFile file(head);
  std::filesystem::resize_file(file.path(), head.size() + kBulk);
  std::ofstream(file.path(), std::ios::binary | std::ios::app) << rest;
  const long before = peak_kilobytes();
  const OnnxModel m = read_onnx(file.path());
  CHECK(peak_kilobytes() - before < 32 * 1024);
  CHECK(m.initializers.at(0).elements() == 500'000'000);
  CHECK(m.initializer_bytes == tensor_size);
  CHECK(m.nodes.size() == 1);

  // Cut in the middle of the bulk: the hole would let a seek pass the end.
  std::filesystem::resize_file(file.path(), kBulk / 2);
  CHECK_THAT(error_text([&] { read_onnx(file.path()); }), Contains("past the end"));
}

TEST_CASE("external data is counted and never opened", "[onnx]") {
  const std::string external = tensor("w", {4, 3, 3, 3}) +
                               bytes(13, bytes(1, "location") + bytes(2, "/no/such/file")) +
                               number(14, 1);
  const OnnxModel m = parse_onnx(model({{value("x", {1})}, {}, {external}, {}}), "m.onnx");
  CHECK(m.external == 1);
  CHECK(m.initializers[0].elements() == 108);
}

TEST_CASE("every cut of a model is refused or is a smaller model", "[onnx]") {
  const std::string whole = small_model();
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    refused += refusal(whole.substr(0, size)).empty() ? 0 : 1;
  }
  // Only after the graph's last byte may a cut leave a model.
  CHECK(refused >= whole.size() - 6);
}

TEST_CASE("malformed models end in one line with the byte", "[onnx]") {
  CHECK_THAT(refusal(""), StartsWith("m.onnx: byte 0: found no graph"));
  CHECK_THAT(refusal("\x0b\x0c"), Contains("wire type 3"));
  CHECK_THAT(refusal("this is no model"), Contains("allowed: an ONNX model"));
  CHECK_THAT(refusal(std::string(100, '\xff')), Contains("malformed"));
  CHECK_THAT(refusal(std::string(100, '\0')), Contains("malformed"));
  CHECK_THAT(refusal(model({{}, {}, {tensor("w", {-3})}, {}})), Contains("dimension -3"));
  CHECK_THAT(refusal(model({{}, {}, {tensor("w", Dims(17, 1))}, {}})),
             Contains("more than 16 dimensions"));
  CHECK_THAT(refusal(model({{}, {}, {tensor("w", {1LL << 40, 1LL << 40})}, {}})),
             Contains("elements of a tensor"));
  CHECK_THAT(refusal(model({{}, {}, {}, {node("Re\xfflu", {"x"}, {"y"})}})),
             Contains("node name that is no text"));
  CHECK_THAT(refusal(model({{}, {}, {}, {node(std::string(5000, 'a'), {"x"}, {"y"})}})),
             Contains("node name of 5005 bytes"));
  CHECK_THAT(refusal(bytes(7, "") + bytes(7, "")), Contains("a second graph"));
  CHECK_THAT(refusal(bytes(7, bytes(15, "x"))), Contains("a sparse initialiser"));
  CHECK_THAT(
      refusal(bytes(7, bytes(1, bytes(5, bytes(1, "a") + bytes(8, std::string(5000, '\1')))))),
      Contains("attribute 'a' with more numbers"));
}

TEST_CASE("deep nesting costs nothing: subgraphs are skipped", "[onnx]") {
  std::string inner;
  for (int depth = 0; depth < 200; ++depth) {
    inner = bytes(1, bytes(4, "If") + bytes(5, bytes(1, "then") + bytes(6, inner)));
  }
  const OnnxModel m = parse_onnx(bytes(7, inner), "m.onnx");
  REQUIRE(m.nodes.size() == 1);
  CHECK(m.nodes[0].attributes.at("then").has_graph);
}

TEST_CASE("more structure than the limit is refused", "[onnx]") {
  // 3 million nodes without content, 2 bytes each in the file.
  std::string graph;
  for (int i = 0; i < 3'000'000; ++i) graph += std::string("\x0a\0", 2);
  CHECK_THAT(refusal(bytes(7, graph)), Contains("more than 256 MB of structure"));
}

TEST_CASE("files that are no files are refused", "[onnx]") {
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK_THAT(error_text([&] { read_onnx(folder); }), Contains("a directory or device"));
  CHECK_THAT(error_text([&] { read_onnx("/dev/zero"); }), Contains("a directory or device"));
  CHECK_THAT(error_text([&] { read_onnx("/no/such.onnx"); }), Contains("no readable file"));
  const TemporaryFile empty("");
  CHECK_THAT(error_text([&] { read_onnx(empty.path()); }), Contains("an empty file"));
}

TEST_CASE("damaged models of PyTorch end in one line or in a network", "[onnx]") {
  const std::string whole = read_file(BITCYCLE_SOURCE_DIR "/tests/workloads/onnx/conv.onnx");
  REQUIRE(whole.size() > 1000);
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::size_t refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::string damaged = whole;
    for (int k = 0; k < 4; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    const TemporaryFile file(damaged);
    ImportOptions options;
    options.format = ImportFormat::kOnnx;
    // Anything but InputError fails the test.
    const std::string error = error_text([&] { import_network({file.path()}, options); });
    CHECK(error.find('\n') == std::string::npos);
    refused += error.empty() ? 0 : 1;
  }
  CHECK(refused > 0);
}

}  // namespace
}  // namespace bitcycle
