// What is written is what is read; a file is there when it is complete.
#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <sstream>

#include "trace_testing.hpp"
#include "workloads/schedule_export.hpp"
#include "workloads/trace_convert.hpp"
#include "workloads/trace_writer.hpp"

namespace {

using namespace bitcycle;

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

bool same(const TraceRecord& x, const TraceRecord& y) {
  return trace_record_json(x) == trace_record_json(y);
}

TraceRecord random_record(std::mt19937& random, std::uint64_t start) {
  const auto any = [&](unsigned most) { return static_cast<int>(random() % most); };
  TraceRecord r;
  r.start = start;
  if (any(2) == 0) r.end = start + 1;
  switch (any(5)) {
    case 0:
      r.layers = LayerSelection::index(static_cast<std::uint64_t>(any(99)));
      break;
    case 1:
      r.layers = LayerSelection::named("na\"me\\ \xC3\xA9*");
      break;
    case 2:
      r.layers.kind = LayerSelection::Kind::kRange;
      r.layers.from = 2;
      r.layers.to = 5;
      break;
    case 3:
      r.layers.kind = LayerSelection::Kind::kList;
      r.layers.items = {LayerSelection::index(3), LayerSelection::named("x")};
      break;
    default:
      break;
  }
  r.pass = any(8);
  switch (any(6)) {
    case 0:
      r.work.mode = WorkMode::kNone;
      return r;
    case 1:
      r.work.mode = WorkMode::kFp32;
      break;
    case 2:
      r.work.bits = LayerBits(1 + any(16), 1 + any(16));
      break;
    case 3:
      r.work.bits = LayerBits(1 + any(16), 1 + any(16), 1 + any(16));
      break;
    case 4:
      r.work.bits = LayerBits(3, 4, 5);
      r.work.bits.dw_x = static_cast<std::uint8_t>(1 + any(16));
      break;
    default:
      r.kind = any(2) == 0 ? TraceRecord::Kind::kExchange : TraceRecord::Kind::kAveraging;
      r.layers = LayerSelection{};
      r.pass = 0;
      r.exchange_bits = 1 + any(64);
      r.every = 1 + static_cast<std::uint64_t>(any(9));
      r.elements = static_cast<std::uint64_t>(any(3));
      r.read_bits = any(64);
      r.write_bits = any(64);
      return r;
  }
  if (any(2) == 0) r.work.passes = {static_cast<std::uint32_t>(any(9)), 1, 4294967295U};
  return r;
}

}  // namespace

TEST_CASE("records survive writing and reading", "[trace]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const TemporaryFile file("");
  TraceHeader header;
  header.iterations = 3000;
  header.name = "a \"name\" \\";
  header.batch = 4;
  header.producer = "test";
  Layer conv;
  conv.name = "conv \xC3\xA9";
  conv.cin = 4;
  conv.cout = 6;
  conv.hi = 9;
  conv.wi = 8;
  conv.kh = 3;
  conv.kw = 2;
  conv.pad_h = 1;
  conv.stride_w = 2;
  conv.groups = 2;
  conv.first = true;
  Layer rows;
  rows.name = "rows";
  rows.cin = 5;
  rows.cout = 7;
  rows.hi = 3;
  Layer dense;
  dense.name = "fc";
  dense.dense = true;
  dense.cin = 5;
  dense.quantised = false;
  header.layers = {conv, rows, dense};
  std::vector<TraceRecord> records;
  {
    TraceWriter writer(file.path(), header);
    for (std::uint64_t t = 0; t < 2000; ++t) {
      records.push_back(random_record(random, t));
      writer.add(records.back());
    }
    writer.finish();
  }
  TraceReader reader(file.path());
  const TraceHeader& got = reader.header();
  CHECK(got.name == header.name);
  CHECK(got.batch == 4);
  REQUIRE(got.layers.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const Layer &x = got.layers[i], &y = header.layers[i];
    CHECK(x.name == y.name);
    CHECK(x.quantised == y.quantised);
    CHECK(x.first == y.first);
    CHECK(x.macs_per_sample() == y.macs_per_sample());
    CHECK(x.ho() == y.ho());
    CHECK(x.wo() == y.wo());
    CHECK(x.groups == y.groups);
  }
  TraceRecord record;
  std::size_t i = 0;
  while (reader.next(record)) {
    REQUIRE(i < records.size());
    INFO(trace_record_json(records[i]));
    CHECK(same(record, records[i]));
    ++i;
  }
  CHECK(i == records.size());
}

TEST_CASE("a trace that is not finished leaves nothing", "[trace]") {
  const TemporaryFile file("old");
  TraceHeader header;
  header.iterations = 10;
  {
    TraceWriter writer(file.path(), header);
    writer.add(TraceRecord{});
  }
  CHECK(read(file.path()) == "old");
  CHECK_FALSE(std::filesystem::exists(temporary_beside(file.path())));
  TraceWriter writer(file.path(), header);
  TraceRecord late;
  late.start = 5;
  writer.add(late);
  CHECK(error_text([&] { writer.add(TraceRecord{}); }).find("records are in order") !=
        std::string::npos);
  header.iterations = 0;
  CHECK(error_text([&] { TraceWriter bad(file.path(), header); }).find("iterations") !=
        std::string::npos);
  CHECK(error_text([&] {
          header.iterations = 1;
          TraceWriter bad("/no/such/folder/x", header);
        }).find("/no/such/folder/x") != std::string::npos);
}

TEST_CASE("lists, traces and run lengths turn into each other", "[trace]") {
  ScheduleSpec spec;
  spec.name = "CT";
  spec.iterations = 500;
  const std::string list = schedule_csv(spec);
  const TemporaryFile csv(list);
  const TemporaryFile trace(""), longest(""), shortest("");
  TraceHeader header;
  header.iterations = 500;
  const TraceLayers layers = four_layers();
  {
    TraceWriter writer(trace.path(), header);
    csv_to_trace(csv.path(), 500, writer);
    writer.finish();
  }
  {
    TraceReader reader(trace.path());
    CHECK(trace_to_csv(reader, layers) == list);
  }
  {
    TraceReader reader(trace.path());
    TraceWriter writer(longest.path(), header);
    expand_trace(reader, layers, writer, 1500);
    writer.finish();
    CHECK(writer.records() == 1500);
  }
  {
    TraceReader reader(trace.path());
    TraceWriter writer(shortest.path(), header);
    CHECK(error_text([&] {
            expand_trace(reader, layers, writer, 1499);
          }).find("over 1499 records") != std::string::npos);
  }
  TraceReader expanded(longest.path());
  CHECK(trace_to_csv(expanded, layers) == list);
  {
    // Open records that repeat themselves.
    const TemporaryFile wordy(
        trace_text("{\"t\":0,\"b\":3,\"g\":8}\n{\"t\":3,\"b\":3,\"g\":8}\n{\"t\":4,\"layer\":1,"
                   "\"b\":3,\"g\":8}\n"
                   "{\"t\":5,\"b\":4,\"g\":8}\n{\"t\":6,\"layer\":[0,1],\"b\":4,\"g\":8}\n"));
    TraceReader reader(wordy.path());
    TraceWriter writer(shortest.path(), reader.header());
    CompressingSink sink(writer, layers);
    TraceRecord record;
    while (reader.next(record)) sink.add(record);
    writer.finish();
    CHECK(writer.records() == 2);
  }
  for (const char* records :
       {"{\"t\":0,\"w\":3,\"a\":4,\"g\":8}\n", "{\"t\":0,\"quantised\":false}\n",
        "{\"t\":0,\"b\":3,\"g\":8}\n{\"t\":9,\"layer\":1,\"b\":4,\"g\":8}\n"}) {
    const TemporaryFile other(trace_text(records));
    TraceReader reader(other.path());
    CHECK(error_text([&] { trace_to_csv(reader, layers); }).find("one pair of bits") !=
          std::string::npos);
  }
}
