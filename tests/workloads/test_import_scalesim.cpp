// SCALE-Sim topologies: every way people write them, and what every malformed one says.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/workloads/error_text.hpp"
#include "tests/workloads/temporary_file.hpp"
#include "workloads/import.hpp"
#include "workloads/import_formats.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

const std::string kHeader =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
    "Strides,\n";

ImportedLayers parse(const std::string& text, const ImportOptions& options = {}) {
  return parse_scalesim(text, "net.csv", options);
}

std::string refusal(const std::string& text, const ImportOptions& options = {}) {
  return error_text([&] { parse(text, options); });
}

bool has_note(const ImportedLayers& layers, const std::string& part) {
  for (const auto& note : layers.notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST_CASE("the same layer in every way of writing it", "[scalesim]") {
  const std::string row = "Conv1,224,224,7,7,3,64,2";
  const std::vector<std::string> texts = {
      kHeader + row + ",\n",
      kHeader + row + "\n",
      kHeader + row,
      kHeader + row + ",,,,\n",
      "\xEF\xBB\xBF" + kHeader + "\r\n" + row + ",\r\n\r\n,,,,,\r\n",
      "# a comment\n\n" + kHeader + " Conv1 , 224,224 ,7, 7,3,\t64,2, # first\n",
      row + ",\n",
      "Layer name\tIFMAP Height\tIFMAP Width\tFilter Height\tFilter Width\tChannels\tNum "
      "Filter\tStrides\t\nConv1\t224\t224\t7\t7\t3\t64\t2\t\n",
      "Layer,a,b,c,d,e,f,g\n" + row,
      "IFMAP Width,Layer name,IFMAP Height,Filter Height,Filter Width,Channels,Num Filter,"
      "Strides\n224,Conv1,224,7,7,3,64,2\n",
      "\"Layer name\",\"IFMAP Height\",IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,"
      "Strides\n\"Conv1\",224,224,7,7,3,64,2\n",
  };
  for (const auto& text : texts) {
    CAPTURE(text);
    const ImportedLayers out = parse(text);
    REQUIRE(out.layers.size() == 1);
    const Layer& l = out.layers[0].layer;
    CHECK(l.name == "Conv1");
    CHECK(l.hi == 224);
    CHECK(l.kh == 7);
    CHECK(l.cin == 3);
    CHECK(l.cout == 64);
    CHECK(l.stride_h == 2);
    CHECK(l.stride_w == 2);
    CHECK(l.ho() == 109);
    CHECK(out.name == "net");
  }
}

TEST_CASE("output sizes round down, or up as SCALE-Sim does, and the report says which",
          "[scalesim]") {
  const std::string text = kHeader + "Conv1,224,224,7,7,3,64,2\nConv2,56,56,3,3,64,64,1\n";
  const ImportedLayers down = parse(text);
  CHECK(down.layers[0].layer.ho() == 109);
  CHECK(has_note(down, "rounded down, as frameworks do (--output-size floor); it matters in 2"));
  ImportOptions options;
  options.output_size = OutputSize::kCeil;
  const ImportedLayers up = parse(text, options);
  // ceil((224 - 7 + 2) / 2), as scale-sim-v2's topology_utils.py computes it.
  CHECK(up.layers[0].layer.ho() == 110);
  CHECK(up.layers[0].layer.hi == 224);
  CHECK(up.layers[1].layer.ho() == 54);
  CHECK(has_note(up, "rounded up, as SCALE-Sim does"));
}

TEST_CASE("the MACs of SCALE-Sim's own ResNet-18 shapes", "[scalesim]") {
  // conv1 and the 56x56 stage, under its own rule: ofmap 110 and 54, MACs by its formula.
  ImportOptions options;
  options.output_size = OutputSize::kCeil;
  const auto out = parse(kHeader + "c1,224,224,7,7,3,64,2\nc2,56,56,3,3,64,64,1\n", options);
  CHECK(out.layers[0].layer.macs_per_sample() == 110ULL * 110 * 7 * 7 * 3 * 64);
  CHECK(out.layers[1].layer.macs_per_sample() == 54ULL * 54 * 3 * 3 * 64 * 64);
}

TEST_CASE("two strides, by header or by position", "[scalesim]") {
  for (const std::string& text :
       {std::string("name,ifmap_h,ifmap_w,filter_h,filter_w,channels,num filters,stride "
                    "height,stride width,\nc,9,9,3,3,4,4,2,1,\n"),
        std::string("c,9,9,3,3,4,4,2,1,\n")}) {
    const Layer l = parse(text).layers.at(0).layer;
    CHECK(l.stride_h == 2);
    CHECK(l.stride_w == 1);
    CHECK(l.ho() == 4);
    CHECK(l.wo() == 7);
  }
}

TEST_CASE("depthwise marks: DP as a word makes a group per channel", "[scalesim]") {
  const ImportedLayers out = parse(kHeader +
                                   "Conv2_DP,16,16,3,3,32,1,1,\nDP3,16,16,3,3,8,2,1\n"
                                   "ADPT,16,16,3,3,8,2,1\nConv4_dw,16,16,3,3,1,1,1,#dw\n");
  CHECK(out.layers[0].layer.groups == 32);
  CHECK(out.layers[0].layer.cout == 32);
  CHECK(out.layers[0].layer.macs_per_sample() == 14ULL * 14 * 9 * 32);
  CHECK(out.layers[1].layer.cout == 16);
  CHECK(out.layers[2].layer.groups == 1);
  CHECK(out.layers[3].layer.groups == 1);
  CHECK(has_note(out, "2 layers marked DP"));
  CHECK(has_note(out, "1 depthwise layer with several filters"));
  CHECK(has_note(out, "1 name with DP inside a word"));
}

TEST_CASE("M, N, K forms, with a batch of products in the fifth column", "[scalesim]") {
  const ImportedLayers out = parse("Layer,M,N,K,\nL0,196,192,384,\n\n");
  REQUIRE(out.layers.size() == 1);
  CHECK(out.layers[0].gemm);
  CHECK(out.layers[0].layer.macs_per_sample() == 196ULL * 192 * 384);
  CHECK(parse("L0,196,192,384,\n").layers.at(0).gemm);
  CHECK(parse("Layer,M,N,K,batch\nscores,196,196,64,6\n").layers.at(0).repeats == 6);
  const TemporaryFile file("Layer,M,N,K,batch\nscores,196,196,64,6\nfc,196,10,384,1\n");
  const Graph graph = import_network({file.path()}, {}).graph;
  const Network network = build_network(graph);
  REQUIRE(network.layers.size() == 2);
  CHECK(network.layers[0].kind == LayerKind::kMatmul);
  CHECK(network.layers[0].macs_per_sample() == 6ULL * 196 * 196 * 64);
  CHECK(network.layers[0].first);
  CHECK_FALSE(network.layers[1].first);
}

TEST_CASE("sparsity is refused, or ignored with a note", "[scalesim]") {
  const std::string text =
      "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
      "Strides, Sparsity,\nc,8,8,3,3,4,4,1,2:4,\nd,8,8,3,3,4,4,1,1:1,\n";
  CHECK_THAT(refusal(text), StartsWith("net.csv:2: sparsity: found '2:4', allowed: dense layers"));
  ImportOptions options;
  options.ignore_sparsity = true;
  CHECK(has_note(parse(text, options), "1 layer with N:M sparsity: counted as dense"));
  CHECK_THAT(refusal("c,8,8,3,3,4,4,1,4:2,\n", options), Contains("sparsity: found '4:2'"));
}

TEST_CASE("columns without a meaning are ignored with a note, names made distinct", "[scalesim]") {
  const ImportedLayers out = parse(
      "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
      "Strides,,,Eh,Ew,e2\n,,,,,,,,,,,,\nc,8,8,3,3,4,4,1,,,6,6,36\nc,8,8,3,3,4,4,1,,,,,\n");
  CHECK(out.layers[1].layer.name == "c_2");
  CHECK(has_note(out, "ignored: Eh, Ew, e2"));
  CHECK(has_note(out, "1 repeated name made distinct"));
}

TEST_CASE("a batch column of 1 is read; another asks for --batch", "[scalesim]") {
  const std::string header =
      "Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter Width,"
      "Channels,Num Filter,Strides,Batch Size,\n";
  CHECK(parse(header + "c,8,8,3,3,4,4,1,1,\n").layers.size() == 1);
  CHECK_THAT(refusal(header + "c,8,8,3,3,4,4,1,16,\n"), Contains("--batch sets the batch"));
}

TEST_CASE("malformed topologies end in one line with file, line and column", "[scalesim]") {
  const auto row = [](const std::string& text) { return refusal(kHeader + text); };
  CHECK_THAT(refusal(""), Contains("no layers"));
  CHECK_THAT(refusal(kHeader), Contains("no layers"));
  CHECK_THAT(row("c,8,8,3,3,4"), StartsWith("net.csv:2: num filter: found nothing"));
  CHECK_THAT(row("c,8,8,3,3,4,x,1"), StartsWith("net.csv:2: num filter: found 'x'"));
  CHECK_THAT(row("c,8,8,3,3,-4,4,1"), StartsWith("net.csv:2: channels: found '-4'"));
  CHECK_THAT(row("c,0,8,3,3,4,4,1"), StartsWith("net.csv:2: IFMAP height: found '0'"));
  CHECK_THAT(row("c,8,8,3,3,4,4,0"), StartsWith("net.csv:2: stride: found '0'"));
  CHECK_THAT(row("c,nan,8,3,3,4,4,1"), Contains("found 'nan'"));
  CHECK_THAT(row("c,1e30,8,3,3,4,4,1"), Contains("found '1e30'"));
  CHECK_THAT(row("c,8.0,8,3,3,4,4,1"), Contains("found '8.0'"));
  CHECK_THAT(row("c,0x8,8,3,3,4,4,1"), Contains("found '0x8'"));
  CHECK_THAT(row("c,99999999999999999999,8,3,3,4,4,1"), Contains("a whole number from 1"));
  CHECK_THAT(row("c,8,8,9,3,4,4,1"),
             StartsWith("net.csv:2: filter: found 9x3, allowed: no larger"));
  CHECK_THAT(row("c,8,8,3,3,4294967295,4294967295,1"), StartsWith("net.csv:2: layer 'c', "));
  CHECK_THAT(row("c,8,8,3,3,4,4,1,5"), StartsWith("net.csv:2: row: found '5' in column 9"));
  CHECK_THAT(row("c,8,8,3,3,4,4,1,,6"), Contains("in column 10"));
  CHECK_THAT(row("\xff\xfe,8,8,3,3,4,4,1"), StartsWith("net.csv:2: line: found bytes"));
  CHECK_THAT(row(std::string("c\0,8,8,3,3,4,4,1", 17)), StartsWith("net.csv:2: line: found bytes"));
  CHECK_THAT(row(std::string(300, 'n') + ",8,8,3,3,4,4,1"), Contains("200 characters"));
  CHECK_THAT(row(std::string(100, ',') + "1"), Contains("101 columns"));
  CHECK_THAT(refusal("Layer,M,M,K\nc,1,2,3\n"), StartsWith("net.csv:1: header: found the column"));
  CHECK_THAT(refusal("Layer,K,N,M,Channels\nx\n"), StartsWith("net.csv:2: M: found nothing"));
  CHECK_THAT(refusal("just words\n"), StartsWith("net.csv:1: header: found 'just words'"));
  CHECK_THAT(refusal("M,Layer,q,r\n"), StartsWith("net.csv:1: header"));
}

TEST_CASE("files that are no topologies are refused before they fill the memory", "[scalesim]") {
  const TemporaryFile large(std::string(100'000'000, 'x'));
  CHECK_THAT(error_text([&] { import_network({large.path()}, {}); }), Contains("more than 4 MB"));
  const TemporaryFile line(kHeader + std::string(3'000'000, '9') + ",1,1,1,1,1,1,1\n");
  const std::string text = error_text([&] { import_network({line.path()}, {}); });
  CHECK_THAT(text, Contains("200 characters"));
  CHECK(text.size() < 500);
  CHECK_THAT(error_text([&] { import_network({"/no/such.csv"}, {}); }),
             Contains("no readable file"));
  CHECK_THAT(error_text([&] { import_network({"a.csv", "b.csv"}, {}); }), Contains("one; only"));
  CHECK_THAT(error_text([&] { import_network({"a.txt"}, {}); }), Contains("or --format"));
  CHECK_THAT(error_text([&] { import_network({}, {}); }), Contains("none"));
}

TEST_CASE("a hundred thousand rows of one name are read in good time", "[scalesim]") {
  std::string text = kHeader;
  for (int i = 0; i < 100'000; ++i) text += "c,8,8,3,3,4,4,1,\n";
  CHECK(parse(text).layers.size() == 100'000);
  CHECK_THAT(refusal(text + "c,8,8,3,3,4,4,1,\n"), Contains("more layers"));
}

}  // namespace
}  // namespace bitcycle
