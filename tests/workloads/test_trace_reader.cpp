// The reader meets everything that a file can be.
#include <catch2/catch.hpp>
#include <random>

#include "trace_testing.hpp"

namespace {

using namespace bitcycle;

void refused(const std::string& text, const std::string& part) {
  const std::string error = trace_error(text);
  INFO(text.substr(0, 200) << " -> " << error);
  CHECK(error.find(part) != std::string::npos);
  CHECK(error.find('\n') == std::string::npos);
}

// One bad record on line 2.
void record_refused(const std::string& record, const std::string& part) {
  refused(trace_text(record + "\n"), part);
  refused(trace_text(record + "\n"), ":2: ");
}

constexpr const char* kAll = "{\"t\":0,\"b\":3,\"g\":8}\n";

}  // namespace

TEST_CASE("a trace is read as written", "[trace]") {
  const TraceTotals t = totals_of(
      "\xEF\xBB\xBF{\"bitcycle_trace\":1,\"name\":\"mine\",\"iterations\":100}\r\n\n"
      "{\"t\":0,\"b\":3,\"g\":8}\r\n"
      "{ \"t\" : [50, 100] , \"layer\" : \"conv*\", \"w\":4,\"a\":5,\"g\":6 }\n"
      "{\"t\":50,\"layer\":[2],\"fwd\":[1,2],\"dx\":[3,4],\"dw\":[5,6],\"passes\":[2,1,0]}\n"
      "{\"t\":60,\"layer\":\"#2-2\",\"quantised\":false}\n"
      "{\"t\":70,\"layer\":\"block.conv?\",\"skip\":true}\n"
      "{\"t\":[80,90],\"layer\":0,\"pass\":1,\"b\":2,\"g\":2,\"passes\":3}\n"
      "{\"end\":6}\n\n");
  CHECK(t.name == "mine");
  CHECK(t.records == 6);
  CHECK(t.switches == 3);
  CHECK_FALSE(t.schedule);
  const auto iterations = [&](std::uint32_t layer, int pass, const LayerWork& work) {
    std::uint64_t sum = 0;
    for (const auto& c : t.counts) {
      if (c.layer == layer && c.pass == pass && c.work == work) sum += c.iterations;
    }
    return sum;
  };
  LayerBits odd;
  odd.fwd_x = 1;
  odd.fwd_w = 2;
  odd.dx_g = 3;
  odd.dx_w = 4;
  odd.dw_g = 5;
  odd.dw_x = 6;
  for (const std::uint32_t layer : {0U, 1U}) {
    CHECK(iterations(layer, 0, {LayerBits(3, 8), WorkMode::kArray, {1, 1, 1}}) == 50);
    CHECK(iterations(layer, 0, {LayerBits(4, 5, 6), WorkMode::kArray, {1, 1, 1}}) == 50);
  }
  CHECK(iterations(2, 0, {odd, WorkMode::kArray, {2, 1, 0}}) == 10);
  CHECK(iterations(2, 0, {LayerBits{}, WorkMode::kFp32, {1, 1, 1}}) == 10);
  CHECK(iterations(2, 0, {LayerBits{}, WorkMode::kNone, {1, 1, 1}}) == 30);
  CHECK(iterations(0, 1, {LayerBits(2, 2), WorkMode::kArray, {3, 3, 3}}) == 10);
  CHECK(iterations(3, 0, {LayerBits(3, 8), WorkMode::kArray, {1, 1, 1}}) == 0);
}

TEST_CASE("a header is checked", "[trace]") {
  refused("", "no header");
  refused("\n\n", "no header");
  refused("hello\n", ":1: header: found");
  refused("[1]\n", "an object");
  refused("{\"a\":1}\n", "no key 'bitcycle_trace'");
  refused("{\"bitcycle_trace\":2,\"iterations\":1}\n", "bitcycle_trace: found 2");
  refused("{\"bitcycle_trace\":1}\n", "iterations: found nothing");
  for (const char* n :
       {"0", "-1", "1.5", "1e30", "\"5\"", "null", "true", "[1]", "9007199254740993"}) {
    refused(std::string("{\"bitcycle_trace\":1,\"iterations\":") + n + "}\n", "iterations: found");
  }
  refused("{\"bitcycle_trace\":1,\"iterations\":NaN}\n", "Invalid value");
  refused("{\"bitcycle_trace\":1,\"iterations\":1,\"iterations\":2}\n", "the key twice");
  refused("{\"bitcycle_trace\":1,\"iteration\":1}\n", "iterations: found nothing");
  refused("{\"bitcycle_trace\":1,\"iterations\":1,\"netwrk\":\"a\"}\n", "did you mean 'network'?");
  refused("{\"bitcycle_trace\":1,\"iterations\":1,\"name\":\"a\\u001bb\"}\n", "control character");
  refused("{\"bitcycle_trace\":1,\"iterations\":1,\"name\":\"\xff\"}\n", "encoding");
  refused("{\"bitcycle_trace\":1,\"iterations\":1,\"layers\":[]}\n", "a list of 0");
  const auto layers = [](const std::string& list) {
    return "{\"bitcycle_trace\":1,\"iterations\":1,\"batch\":4,\"layers\":[" + list + "]}\n";
  };
  refused(layers("{}"), "layers[0].name: found nothing");
  refused(layers("{\"name\":\"a\",\"m\":6,\"n\":1,\"k\":1}"), "a multiple of the batch, 4");
  refused(layers("{\"name\":\"a\",\"m\":4,\"n\":0,\"k\":1}"), "layers[0].n: found 0");
  refused(layers("{\"name\":\"a\",\"m\":4,\"n\":1,\"k\":1,\"x\":1}"), "layers[0]: found 'x'");
  refused(layers("{\"name\":\"a\",\"cin\":3,\"cout\":4,\"hi\":2,\"wi\":2,\"kernel\":5}"), "kernel");
  refused(layers("{\"name\":\"a\",\"cin\":3,\"cout\":4,\"hi\":2,\"wi\":2,\"kernel\":[1,2,3]}"),
          "a list of 3");
  refused(
      layers("{\"name\":\"a\",\"m\":4,\"n\":1,\"k\":1},{\"name\":\"a\",\"m\":4,\"n\":1,\"k\":1}"),
      "'a' twice");
  refused(
      "{\"bitcycle_trace\":1,\"iterations\":1,\"layers\":[{\"name\":\"a\",\"dense\":true,"
      "\"cin\":1,\"cout\":1}]}\n",
      "batch: found nothing");
  refused(
      "{\"bitcycle_trace\":1,\"iterations\":1,\"batch\":1,\"network\":\"x\",\"layers\":["
      "{\"name\":\"a\",\"dense\":true,\"cin\":1,\"cout\":1}]}\n",
      "also network 'x'");
  refused(std::string(3'000'000, '[') + "\n", ":1: header");  // deep nesting
}

TEST_CASE("records are checked", "[trace]") {
  for (const char* bits :
       {"0", "17", "-3", "3.5", "1e30", "\"3\"", "null", "true", "{}", "99999999999999999999999"}) {
    record_refused(std::string("{\"t\":0,\"g\":8,\"b\":") + bits + "}", "b: found");
  }
  record_refused("{\"t\":0,\"g\":8,\"b\":NaN}", "Invalid value");
  record_refused("{\"t\":0,\"g\":8,\"b\":[3]}", "b: found a list");
  record_refused("{\"t\":0,\"g\":8,\"b\":3", "Missing a comma");
  record_refused("{\"t\":0,\"g\":8,\"b\":3}}", "one JSON object a line");
  record_refused("{\"t\":0,\"g\":8,\"b\":3} {}", "one JSON object a line");
  record_refused("[]", "one JSON object a line");
  record_refused("7", "found a number");
  record_refused("{\"t\":0,\"g\":8,\"g\":8,\"b\":3}", "g: found the key twice");
  record_refused("{\"t\":0,\"g\":8,\"bitz\":3}", "did you mean 'bits'?");
  record_refused("{\"t\":0,\"g\":8,\"b\":{\"b\":{\"b\":3}}}", "an object inside");
  record_refused("{\"t\":0,\"layer\":[[0]],\"g\":8,\"b\":3}", "layer: found a list");
  record_refused("{\"b\":3,\"g\":8}", "t: found nothing");
  record_refused("{\"t\":100,\"b\":3,\"g\":8}", "t: found 100, allowed: 0 to 99");
  record_refused("{\"t\":[5,5],\"b\":3,\"g\":8}", "an end of 5");
  record_refused("{\"t\":[0,101],\"b\":3,\"g\":8}", "an end of 101");
  record_refused("{\"t\":[0,1,2],\"b\":3,\"g\":8}", "a list of 3");
  record_refused("{\"t\":[],\"b\":3,\"g\":8}", "a list of 0");
  record_refused("{\"t\":0,\"b\":3}", "g: found nothing");
  record_refused("{\"t\":0,\"g\":3}", "b: found nothing");
  record_refused("{\"t\":0,\"w\":3,\"g\":8}", "w: found no a");
  record_refused("{\"t\":0,\"b\":3,\"w\":3,\"a\":3,\"g\":8}", "b: found also w or a");
  record_refused("{\"t\":0,\"fwd\":[3,3],\"g\":8}", "b: found nothing");
  record_refused("{\"t\":0,\"fwd\":[3],\"dx\":[8,3],\"dw\":[8,3]}", "fwd: found a list of 1");
  record_refused("{\"t\":0,\"fwd\":[3,17],\"dx\":[8,3],\"dw\":[8,3]}", "fwd: found");
  record_refused("{\"t\":0,\"skip\":true,\"b\":3,\"g\":8}", "b: found the key with \"skip\":true");
  record_refused("{\"t\":0,\"quantised\":false,\"b\":3}", "with \"quantised\":false");
  record_refused("{\"t\":0,\"b\":3,\"g\":8,\"pass\":8}", "pass: found 8");
  record_refused("{\"t\":0,\"b\":3,\"g\":8,\"passes\":[1,1]}", "a list of 2");
  record_refused("{\"t\":0,\"b\":3,\"g\":8,\"passes\":4294967296}", "passes: found 4294967296");
  record_refused("{\"t\":0,\"layer\":4,\"b\":3,\"g\":8}", "index 4, allowed: 0 to 3");
  record_refused("{\"t\":0,\"layer\":3,\"b\":3,\"g\":8}", "'fc', which is FP32");
  record_refused("{\"t\":0,\"layer\":\"conv9\",\"b\":3,\"g\":8}", "did you mean 'conv1'?");
  record_refused("{\"t\":0,\"layer\":\"x*\",\"b\":3,\"g\":8}", "'x*'");
  record_refused("{\"t\":0,\"layer\":\"\",\"b\":3,\"g\":8}", "an empty name");
  record_refused("{\"t\":0,\"layer\":[],\"b\":3,\"g\":8}", "an empty list");
  record_refused("{\"t\":0,\"layer\":\"#3-1\",\"b\":3,\"g\":8}", "a range of indices");
  record_refused("{\"t\":0,\"layer\":\"#a-b\",\"b\":3,\"g\":8}", "a range of indices");
  record_refused("{\"t\":0,\"layer\":\"\xC3\x28\",\"b\":3,\"g\":8}", "encoding");
  record_refused(std::string("{\"t\":0,\"b\":3,\"g\":8}\0", 20), "NUL");
  record_refused("{\"t\":0,\"extra\":\"averging\"}", "did you mean 'averaging'?");
  record_refused("{\"t\":0,\"extra\":\"averaging\"}", "read_bits: found nothing");
  record_refused("{\"t\":0,\"extra\":\"exchange\",\"bits\":65}", "bits: found 65");
  record_refused("{\"t\":0,\"extra\":\"exchange\",\"b\":6}", "b: found the key with");
}

TEST_CASE("a cut-off trace is noticed", "[trace]") {
  refused(header_line() + kAll, "no end line: the file is cut off");
  refused(header_line() + "{\"t\":0,\"b\":3", ":2: ");
  refused(header_line() + kAll + "{\"end\":2}\n", "end: found 2, allowed: 1, the records read");
  refused(header_line() + kAll + "{\"end\":false}\n", "end: found false");
  refused(trace_text(kAll) + kAll, ":4: trace: found a line after the end line");
  CHECK(trace_error(trace_text(kAll)).empty());
}

TEST_CASE("ranges of a layer neither overlap nor leave gaps", "[trace]") {
  refused(trace_text(""), "layer conv1: found no record");
  refused(trace_text("{\"t\":0,\"layer\":\"conv*\",\"b\":3,\"g\":8}\n"),
          "block.conv3: found no record");
  refused(trace_text("{\"t\":1,\"b\":3,\"g\":8}\n"), "no bits in iterations 0 to 0");
  refused(trace_text("{\"t\":[0,50],\"b\":3,\"g\":8}\n"), "no bits in iterations 50 to 99");
  refused(trace_text("{\"t\":[0,50],\"b\":3,\"g\":8}\n{\"t\":60,\"b\":3,\"g\":8}\n"),
          ":3: layer conv1: found a gap: no bits in iterations 50 to 59");
  refused(trace_text("{\"t\":[0,50],\"b\":3,\"g\":8}\n{\"t\":40,\"b\":3,\"g\":8}\n"),
          ":3: layer conv1: found an overlap: 40 lies in [0, 50)");
  refused(trace_text(std::string(kAll) + "{\"t\":9,\"b\":3,\"g\":8}\n{\"t\":8,\"b\":3,\"g\":8}\n"),
          ":4: t: found 8, allowed: 9 to 99");
  // Other passes may come and go.
  CHECK(trace_error(trace_text(std::string(kAll) + "{\"t\":[5,6],\"pass\":2,\"b\":3,\"g\":8}\n"))
            .empty());
}

TEST_CASE("a long line is refused without being kept", "[trace]") {
  const std::string line(5'000'000, ' ');
  refused(header_line() + "{\"t\":0," + line + "\"b\":3,\"g\":8}\n",
          ":2: line: found more than 4 MB");
  refused(line + header_line(), ":1: line: found more than 4 MB");
  CHECK(error_text([] { TraceReader reader("/no/such/trace"); }).find("/no/such/trace") == 0);
  CHECK(error_text([] { TraceReader reader("/"); }).find("a directory") != std::string::npos);
}

// Every mutation must end in totals or in one clear line; nothing else may happen.
TEST_CASE("mutated traces end in one line", "[trace]") {
  const std::string good = trace_text(
      "{\"t\":0,\"b\":3,\"g\":8}\n{\"t\":[0,10],\"layer\":\"conv1\",\"w\":4,\"a\":5,\"g\":6}\n"
      "{\"t\":10,\"layer\":[0,\"conv2\",\"#0-1\"],\"fwd\":[1,2],\"dx\":[3,4],\"dw\":[5,6]}\n"
      "{\"t\":20,\"pass\":1,\"quantised\":false,\"passes\":[1,0,0]}\n"
      "{\"t\":30,\"extra\":\"averaging\",\"every\":7,\"read_bits\":40,\"write_bits\":32}\n"
      "{\"t\":40,\"extra\":\"exchange\",\"bits\":4}\n");
  REQUIRE(trace_error(good).empty());
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::string letters = "{}[]\",:0123456789.eE-+tbgwa\\\n\r\xff\x00\x80";
  int refusals = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int c = 0; c < changes; ++c) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = letters[random() % letters.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 20);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 30));
          break;
        default:
          text.insert(at, 1, static_cast<char>(random()));
      }
      if (text.empty()) text = " ";
    }
    const std::string error = trace_error(text);
    INFO(text);
    CHECK(error.find('\n') == std::string::npos);
    CHECK(error.size() < 1000);
    refusals += error.empty() ? 0 : 1;
  }
  CHECK(refusals > 1500);
}
