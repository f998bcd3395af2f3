// Timeloop problems: the published layouts, and what is refused.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/workloads/error_text.hpp"
#include "tests/workloads/temporary_file.hpp"
#include "workloads/import.hpp"
#include "workloads/import_formats.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

const std::string kFlat =
    "problem:\n  C: 3\n  Hdilation: 1\n  Hstride: 2\n  K: 64\n  N: 1\n  P: 112\n  Q: 100\n"
    "  R: 7\n  S: 5\n  Wdilation: 1\n  Wstride: 2\n  shape: cnn-layer\n";

// The spelled-out shape; `inputs` and `out` are projections, `sizes` the instance.
std::string spelled(const std::string& dimensions, const std::string& weights,
                    const std::string& inputs, const std::string& outputs, const std::string& sizes,
                    const char* dash = "-") {
  const std::string d = dash;
  return "problem:\n  version: 0.4\n  shape:\n    name: my-shape\n    dimensions: [" + dimensions +
         "]\n    coefficients:\n    - {name: Wstride, default: 1}\n    - {name: Hstride, default: "
         "1}\n    - {name: Wdilation, default: 1}\n    - {name: Hdilation, default: 1}\n    data" +
         d + "spaces:\n    - name: Weights\n      projection: " + weights +
         "\n    - name: Inputs\n      projection: " + inputs +
         "\n    - name: Outputs\n      projection: " + outputs + "\n      read" + d +
         "write: True\n  instance: {" + sizes + "}\n";
}

const char* const kInputs =
    "[[[N]], [[C]], [[R, Wdilation], [P, Wstride]], [[S, Hdilation], [Q, Hstride]]]";

ImportedLayers parse(const std::string& text, const ImportOptions& options = {}) {
  ImportedLayers out;
  parse_timeloop(text, "dir/layer.yaml", options, out);
  return out;
}

std::string refusal(const std::string& text, const ImportOptions& options = {}) {
  return error_text([&] { parse(text, options); });
}

TEST_CASE("the flat layout of v3: R and P are the width", "[timeloop]") {
  const ImportedLayers out = parse(kFlat);
  const Layer& l = out.layers.at(0).layer;
  CHECK(l.name == "layer");
  CHECK(l.kw == 7);
  CHECK(l.kh == 5);
  CHECK(l.wo() == 112);
  CHECK(l.ho() == 100);
  CHECK(l.wi == 111 * 2 + 7);
  CHECK(l.hi == 99 * 2 + 5);
  CHECK(l.macs_per_sample() == 112ULL * 100 * 7 * 5 * 3 * 64);
  CHECK(out.batch == 1);
}

TEST_CASE("shape and instance, v3 and v4 spelling, M for K, a batch", "[timeloop]") {
  for (const char* dash : {"-", "_"}) {
    const ImportedLayers out = parse(spelled(
        "C, M, R, S, N, P, Q", "[[[C]], [[M]], [[R]], [[S]]]", kInputs,
        "[[[N]], [[M]], [[Q]], [[P]]]",
        "C: 16, M: 32, R: 3, S: 3, N: 4, P: 8, Q: 6, Wstride: 2, Hstride: 1, Wdilation: 3", dash));
    const Layer& l = out.layers.at(0).layer;
    CHECK(l.cin == 16);
    CHECK(l.cout == 32);
    CHECK(l.stride_w == 2);
    CHECK(l.stride_h == 1);
    CHECK(l.dilation == 1);
    CHECK(l.dilation_w == 3);
    CHECK(l.wo() == 8);
    CHECK(l.ho() == 6);
    CHECK(out.batch == 4);
  }
}

TEST_CASE("the v4 layer files that include problem_base.yaml", "[timeloop]") {
  const Layer l = parse(
                      "{{include_text('../problem_base.yaml')}}\nproblem:\n  <<<: *problem_base\n"
                      "  instance: {C: 3, M: 64, P: 55, Q: 55, R: 11, S: 11, HStride: 4, "
                      "WStride: 4}\n  name: conv1\n  dnn_name: alexnet\n  notes: Conv2d\n")
                      .layers.at(0)
                      .layer;
  CHECK(l.name == "conv1");
  CHECK(l.macs_per_sample() == 55ULL * 55 * 11 * 11 * 3 * 64);
  CHECK(l.stride_h == 4);
  const Layer dense = parse(
                          "{{include_text('problem_base.yaml')}}\nproblem:\n  <<<: *problem_base\n"
                          "  instance: {C: 512, M: 10}\n")
                          .layers.at(0)
                          .layer;
  CHECK(dense.dense);
}

TEST_CASE("depthwise, grouped, one-dimensional and GEMM shapes", "[timeloop]") {
  Layer l = parse(spelled("R, S, P, Q, C, N", "[[[C]], [[R]], [[S]]]", kInputs,
                          "[[[N]], [[C]], [[Q]], [[P]]]", "R: 3, S: 3, P: 8, Q: 8, C: 16, N: 1"))
                .layers.at(0)
                .layer;
  CHECK(l.groups == 16);
  CHECK(l.macs_per_sample() == 64ULL * 9 * 16);
  l = parse(spelled("G, C, M, R, S, N, P, Q", "[[[G]], [[C]], [[M]], [[R]], [[S]]]",
                    "[[[N]], [[G]], [[C]], [[R, Wdilation], [P, Wstride]], "
                    "[[S, Hdilation], [Q, Hstride]]]",
                    "[[[N]], [[G]], [[M]], [[Q]], [[P]]]",
                    "G: 4, C: 2, M: 3, R: 1, S: 3, N: 1, P: 8, Q: 8"))
          .layers.at(0)
          .layer;
  CHECK(l.groups == 4);
  CHECK(l.cin == 8);
  CHECK(l.cout == 12);
  CHECK(l.macs_per_sample() == 64ULL * 3 * 12 * 2);
  l = parse(
          "problem:\n  shape:\n    name: 1d\n    dimensions: [R, P]\n    data-spaces:\n    - "
          "{name: "
          "W, projection: [[[R]]]}\n    - {name: I, projection: [[[R], [P]]]}\n    - {name: O, "
          "projection: [[[P]]], read-write: True}\n  instance: {R: 3, P: 16}\n")
          .layers.at(0)
          .layer;
  CHECK(l.macs_per_sample() == 48);
  const ImportedLayers gemm = parse(
      spelled("M, N, K", "[[[N]], [[K]]]", "[[[M]], [[K]]]", "[[[M]], [[N]]]", "M: 6, N: 7, K: 8"));
  CHECK(gemm.layers.at(0).gemm);
  CHECK(gemm.layers.at(0).layer.macs_per_sample() == 336);
}

TEST_CASE("other operations are refused by name, though their dimensions are those of a layer",
          "[timeloop]") {
  // A transposed convolution: the roles of P and R in the sum belong to the output.
  CHECK_THAT(
      refusal(spelled("C, M, R, S, N, P, Q", "[[[C]], [[M]], [[R]], [[S]]]",
                      "[[[N]], [[C]], [[P]], [[Q]]]", "[[[N]], [[M]], [[S], [Q]], [[R], [P]]]",
                      "C: 1, M: 1, R: 1, S: 1, N: 1, P: 1, Q: 1")),
      StartsWith("dir/layer.yaml:") && Contains("shape 'my-shape': found projections of "
                                                "another operation"));
  CHECK_THAT(refusal(spelled("A, B", "[[[A]]]", "[[[B]]]", "[[[A]]]", "A: 1, B: 1")),
             Contains("dimension 'A'"));
  CHECK_THAT(refusal("problem:\n  shape: mttkrp\n"), Contains("found 'mttkrp'"));
  CHECK_THAT(refusal("{{include_text('attention.yaml')}}\nproblem: {}\n"),
             StartsWith("dir/layer.yaml:1: template"));
  CHECK_THAT(refusal(kFlat + "  densities: {Weights: 0.5}\n"), Contains("sparse tensors"));
  ImportOptions options;
  options.ignore_sparsity = true;
  CHECK(parse(kFlat + "  densities: {Weights: 0.5}\n", options).notes.size() == 1);
}

TEST_CASE("malformed problems end in one line with file, line and key", "[timeloop]") {
  const auto with = [](const std::string& key, const std::string& value) {
    std::string text = kFlat;
    const std::size_t at = text.find("  " + key + ": ");
    text.replace(at, text.find('\n', at) - at, "  " + key + ": " + value);
    return refusal(text);
  };
  CHECK_THAT(with("C", "-3"), StartsWith("dir/layer.yaml:2: C: found '-3', allowed: a whole"));
  for (const char* bad : {"0", "nan", ".inf", "1e30", "0x10", "010", "1.5", "'x'", "[1]", "{a: 1}",
                          "99999999999999999999"}) {
    CAPTURE(bad);
    CHECK_THAT(with("C", bad), StartsWith("dir/layer.yaml:2: C: found"));
  }
  CHECK_THAT(refusal(kFlat + "  C: 4\n"), Contains("'C' twice"));
  CHECK_THAT(refusal(kFlat + "  X: 4\n"), Contains("instance: found 'X'"));
  CHECK_THAT(refusal(kFlat + "  word: 4\n"), Contains("problem: found 'word'"));
  CHECK_THAT(refusal(kFlat + "---\nproblem: {}\n"), Contains("text after the first document"));
  CHECK_THAT(refusal(""), Contains("problem file"));
  CHECK_THAT(refusal("[]"), Contains("no map"));
  CHECK_THAT(refusal("a: 1\n"), Contains("no 'problem'"));
  CHECK_THAT(refusal("problem: [\n"), Contains("well-formed YAML"));
  CHECK_THAT(refusal("problem:\n  \xff: 1\n"), StartsWith("dir/layer.yaml:2: line"));
  CHECK_THAT(refusal(std::string(100'000, '[')), Contains("well-formed YAML"));
  CHECK_THAT(refusal("problem: {shape: cnn-layer, C: 1}\n"), Contains("no 'R'"));
  CHECK_THAT(refusal("problem: {instance: {C: 1}}\n"), Contains("no 'shape'"));
  CHECK_THAT(with("P", "4294967295"), Contains("layer"));
}

TEST_CASE("a file of aliases of aliases is refused in good time", "[timeloop]") {
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'j'; ++c) {
    const std::string before = "*" + std::string(1, static_cast<char>(c - 1));
    text += std::string(1, c) + ": &" + c + " [" + before;
    for (int i = 0; i < 9; ++i) text += ", " + before;
    text += "]\n";
  }
  CHECK_THAT(refusal(text + "problem: {shape: {dimensions: *i}}\n"), Contains("dimension"));
  CHECK_THAT(refusal(text + "problem: {shape: {data-spaces: *i}}\n"), Contains("data-spaces"));
}

TEST_CASE("a directory gives its files in natural order, with one batch", "[timeloop]") {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("bitcycle_timeloop_" + std::to_string(std::random_device()()));
  std::filesystem::create_directory(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  for (const char* name : {"layer10.yaml", "layer2.yaml", "layer1.yml"}) write(name, kFlat);
  write("problem_base.yaml", "no problem");
  write("notes.txt", "nothing");
  const ImportedNetwork out = import_network({folder.string()}, {});
  std::vector<std::string> names;
  for (const Layer& layer : build_network(out.graph).layers) names.push_back(layer.name);
  CHECK(names == std::vector<std::string>{"layer1", "layer2", "layer10"});
  std::string other = kFlat;
  other.replace(other.find("N: 1"), 4, "N: 8");
  write("layer11.yaml", other);
  CHECK_THAT(error_text([&] { import_network({folder.string()}, {}); }),
             Contains("layer11.yaml") && Contains("the N of the layers before, 1"));
  ImportOptions options;
  options.batch = 16;
  CHECK(import_network({folder.string()}, options).graph.batch == 16);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  CHECK_THAT(error_text([&] { import_network({folder.string()}, {}); }), Contains("no .yaml"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace bitcycle
