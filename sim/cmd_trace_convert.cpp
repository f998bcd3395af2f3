// bitcycle trace convert: schedule lists and traces into each other, run lengths.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <filesystem>
#include <iostream>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/cmd_trace.hpp"
#include "sim/compare_trace.hpp"
#include "sim/trace_layers_of.hpp"
#include "workloads/trace_convert.hpp"
#include "workloads/trace_writer.hpp"

namespace bitcycle {
namespace {

namespace po = boost::program_options;

constexpr std::uint64_t kMostIterations = std::uint64_t{1} << 53;

bool is_csv(const std::string& path) {
  return std::filesystem::path(path).extension().string() == ".csv";
}

po::options_description describe() {
  po::options_description options("Options of trace convert", 100, 60);
  auto add = options.add_options();
  add("help,h", "this text");
  add("in", po::value<std::string>(), "a trace, or a schedule list that ends in .csv");
  add("out", po::value<std::string>(), "a trace, or a list that ends in .csv; - for a trace");
  add("iterations", po::value<std::string>(), "of the run, if the input is a list");
  add("network", po::value<std::string>(), "of a trace that names none");
  add("compress", "leave out records that change nothing");
  add("expand", "a record for every layer in every iteration");
  add("most", po::value<std::string>()->default_value("100000000"), "most records of --expand");
  return options;
}

}  // namespace

int cmd_trace_convert(const std::vector<std::string>& args) {
  const auto options = describe();
  po::positional_options_description positional;
  positional.add("in", 1).add("out", 1);
  const auto values = parse_options(args, options, positional);
  if (values.count("help") != 0) {
    std::cout << "bitcycle trace convert IN OUT: schedule lists and traces into each other\n\n"
              << options << "\nExample:\n"
              << "  bitcycle trace convert mine.csv mine.jsonl --iterations 64000\n";
    return 0;
  }
  const std::string in = text_of(values, "in"), out = text_of(values, "out");
  if (in.empty() || out.empty()) {
    throw input_error("", 0, "trace convert", "no input or no output", "IN OUT");
  }
  const OutputPaths checked({out});
  if (in != "-" && canonical_path(in) == canonical_path(out)) {
    throw input_error(out, 0, "trace convert", "input and output in one file", "two files");
  }
  const bool expand = values.count("expand") != 0, compress = values.count("compress") != 0;
  if (expand && compress) throw input_error("", 0, "--expand", "also --compress", "one of them");
  if ((expand || compress) && is_csv(out)) {
    throw input_error("", 0, expand ? "--expand" : "--compress", "a list as output",
                      "a trace as output");
  }
  if (is_csv(in)) {
    if (expand || compress) {
      throw input_error("", 0, expand ? "--expand" : "--compress", "a list as input",
                        "a trace as input");
    }
    if (is_csv(out)) throw input_error(out, 0, "output", "a list from a list", "a trace");
    if (!is_given(values, "iterations")) {
      throw input_error("", 0, "--iterations", "nothing", "those of the run, for a list");
    }
    TraceHeader header;
    header.iterations =
        parse_count(text_of(values, "iterations"), "--iterations", 1, kMostIterations);
    header.network = text_of(values, "network");
    header.producer = fmt::format("bitcycle {} trace convert", program_version());
    TraceWriter writer(out, header);
    csv_to_trace(in, header.iterations, writer);
    writer.finish();
    return 0;
  }
  if (is_given(values, "iterations")) {
    throw input_error("", 0, "--iterations", "with a trace", "a list as input");
  }
  TraceReader reader(in);
  const TraceNetwork where = trace_network_of(reader, text_of(values, "network"));
  if (is_csv(out)) {
    write_file(out, trace_to_csv(reader, where.layers));
    return 0;
  }
  TraceHeader header = reader.header();
  if (header.layers.empty() && header.network.empty()) header.network = text_of(values, "network");
  TraceWriter writer(out, header);
  if (expand) {
    expand_trace(reader, where.layers, writer,
                 parse_count(text_of(values, "most"), "--most", 1, ~std::uint64_t{0} - 1));
  } else {
    CompressingSink compressed(writer, where.layers);
    TraceSink& sink = compress ? static_cast<TraceSink&>(compressed) : writer;
    TraceAccumulator sums(where.layers, header.iterations, reader.name());
    TraceRecord record;
    while (reader.next(record)) {
      sums.at_line(reader.line());
      sums.add(record);
      sink.add(record);
    }
    sums.finish();
  }
  writer.finish();
  return 0;
}

}  // namespace bitcycle
