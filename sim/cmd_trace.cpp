#include "sim/cmd_trace.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <iostream>
#include <sstream>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/compare_trace.hpp"
#include "sim/table.hpp"
#include "sim/trace_layers_of.hpp"
#include "workloads/trace_writer.hpp"

namespace bitcycle {
namespace {

namespace po = boost::program_options;

constexpr std::uint64_t kMostShown = 1'000'000;

std::string usage() {
  return "bitcycle trace: precision by layer and iteration\n\n"
         "  bitcycle trace make --policy NAME [--set key=value]... --out FILE   from a policy\n"
         "  bitcycle trace make --list                                          all policies\n"
         "  bitcycle trace validate FILE...                                     is it whole?\n"
         "  bitcycle trace show FILE                                            head and records\n"
         "  bitcycle trace stats FILE                                           bits, switches, "
         "BitOps\n"
         "  bitcycle trace convert IN OUT                                       CSV lists, run "
         "lengths\n\n"
         "Each has --help. Example:\n"
         "  bitcycle trace make --policy pfq --set borders=16000,32000,48000 --out pfq.jsonl\n"
         "  bitcycle compare --trace pfq.jsonl --schedules CR,RR\n";
}

// Every record is checked against those before it, for what it is worth without a network too.
std::string validate_one(const std::string& path, const std::string& network) {
  TraceReader reader(path);
  const TraceNetwork where = trace_network_of(reader, network);
  const TraceTotals totals = total_trace(reader, where.layers);
  const std::string layers =
      where.network.layers.empty()
          ? "no network: layers and convention not checked (--network NAME does)"
          : fmt::format("{} layers", where.layers.size());
  return fmt::format("{}: valid, {} records, {} iterations, {}\n", reader.name(), totals.records,
                     totals.iterations, layers);
}

int cmd_trace_validate(const std::vector<std::string>& args) {
  po::options_description options("Options of trace validate", 100, 60);
  auto add = options.add_options();
  add("help,h", "this text");
  add("network", po::value<std::string>(), "of traces that name none");
  add("file", po::value<std::vector<std::string>>(), "traces, - for standard input");
  po::positional_options_description positional;
  positional.add("file", -1);
  const auto values = parse_options(args, options, positional);
  if (values.count("help") != 0) {
    std::cout << "bitcycle trace validate FILE...: reads traces to their end\n\n" << options;
    return 0;
  }
  const auto files = texts_of(values, "file");
  if (files.empty()) throw input_error("", 0, "trace validate", "no file", "one or more");
  for (const auto& file : files) {
    std::cout << printable(validate_one(file, text_of(values, "network")));
  }
  std::cout.flush();
  return 0;
}

std::string header_text(const TraceReader& reader) {
  const TraceHeader& h = reader.header();
  std::string out;
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += fmt::format("{:<12}{}\n", name, value);
  };
  line("trace", reader.name());
  line("name", h.name);
  line("network", h.layers.empty() ? h.network : fmt::format("{} inline layers", h.layers.size()));
  line("convention", h.convention);
  line("iterations", std::to_string(h.iterations));
  line("batch", h.batch == 0 ? "" : std::to_string(h.batch));
  line("format", h.format);
  line("producer", h.producer);
  line("notes", h.notes);
  return out;
}

int cmd_trace_show(const std::vector<std::string>& args) {
  po::options_description options("Options of trace show", 100, 60);
  auto add = options.add_options();
  add("help,h", "this text");
  add("limit", po::value<std::string>()->default_value("20"), "records to show");
  add("from", po::value<std::string>()->default_value("0"), "first iteration to show");
  add("file", po::value<std::string>(), "the trace, - for standard input");
  po::positional_options_description positional;
  positional.add("file", 1);
  const auto values = parse_options(args, options, positional);
  if (values.count("help") != 0) {
    std::cout << "bitcycle trace show FILE: its header and first records\n\n" << options;
    return 0;
  }
  if (!is_given(values, "file")) throw input_error("", 0, "trace show", "no file", "one");
  const std::uint64_t limit = parse_count(text_of(values, "limit"), "--limit", 0, kMostShown);
  const std::uint64_t from =
      parse_count(text_of(values, "from"), "--from", 0, ~std::uint64_t{0} - 1);
  TraceReader reader(text_of(values, "file"));
  std::string out = header_text(reader) + "\n";
  TraceRecord record;
  std::uint64_t shown = 0, records = 0;
  while (reader.next(record)) {
    ++records;
    if (shown == limit || record.start < from) continue;
    ++shown;
    out += trace_record_json(record) + "\n";
  }
  out += fmt::format("{} of {} records\n", shown, records);
  std::cout << printable(out);
  std::cout.flush();
  return 0;
}

}  // namespace

TraceNetwork trace_network_of(const TraceReader& reader, const std::string& network) {
  const TraceHeader& header = reader.header();
  const bool has_own = !header.network.empty() || !header.layers.empty();
  if (has_own && !network.empty()) {
    throw input_error(reader.name(), 1, "network", "a network of its own", "no --network");
  }
  TraceNetwork out;
  if (!has_own && network.empty()) {
    out.layers = anonymous_layer();
    return out;
  }
  out.network = trace_network(header, reader.name(), network, "");
  out.layers = trace_layers(out.network);
  return out;
}

int cmd_trace(const std::vector<std::string>& args) {
  if (args.empty() || args[0] == "--help" || args[0] == "-h") {
    std::cout << usage();
    std::cout.flush();
    return args.empty() ? 2 : 0;
  }
  const std::vector<std::string> rest(args.begin() + 1, args.end());
  if (args[0] == "show") return cmd_trace_show(rest);
  if (args[0] == "validate") return cmd_trace_validate(rest);
  if (args[0] == "stats") return cmd_trace_stats(rest);
  if (args[0] == "convert") return cmd_trace_convert(rest);
  if (args[0] == "make") return cmd_trace_make(rest);
  const std::vector<std::string> known = {"show", "validate", "stats", "convert", "make"};
  throw input_error("", 0, "trace", "'" + args[0] + "'" + suggestion(args[0], known), join(known));
}

}  // namespace bitcycle
