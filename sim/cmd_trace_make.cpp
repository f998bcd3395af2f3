// bitcycle trace make: a policy's records as a file.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <iostream>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/cmd_trace.hpp"
#include "sim/compare_trace.hpp"
#include "sim/table.hpp"
#include "workloads/policy.hpp"
#include "workloads/trace_writer.hpp"

namespace bitcycle {
namespace {

namespace po = boost::program_options;

po::options_description describe() {
  po::options_description options("Options of trace make", 100, 60);
  auto add = options.add_options();
  add("help,h", "this text");
  add("list", "all policies and their settings");
  add("policy", po::value<std::string>(), "name of a policy or schedule");
  add("set", po::value<std::vector<std::string>>()->composing(),
      "key=value, a setting of the policy; may be given several times");
  add("network", po::value<std::string>(),
      "write the trace for this network; without it, policies that treat all layers alike serve "
      "any network");
  add("convention", po::value<std::string>(), "with --network: which layers are quantised");
  add("batch", po::value<std::string>(), "samples of an iteration, for the header");
  add("name", po::value<std::string>(), "of the row in reports; without it the file's name");
  add("out", po::value<std::string>(), "the trace, - for standard output");
  return options;
}

std::string list_text() {
  std::string out;
  for (const auto& info : policy_infos()) {
    out += fmt::format("{}: {}\n    {}\n", info.name, info.what, wrap_text(info.settings, 96, 4));
  }
  return out;
}

// Checks a policy's own records on their way to the file.
class CheckedSink : public TraceSink {
 public:
  CheckedSink(TraceWriter& writer, const TraceLayers& layers, std::uint64_t iterations)
      : writer_(writer), sums_(layers, iterations) {}
  void add(const TraceRecord& record) override {
    sums_.add(record);
    writer_.add(record);
  }
  void finish() {
    sums_.finish();
    writer_.finish();
  }

 private:
  TraceWriter& writer_;
  TraceAccumulator sums_;
};

}  // namespace

int cmd_trace_make(const std::vector<std::string>& args) {
  const auto options = describe();
  const auto values = parse_options(args, options);
  if (values.count("help") != 0) {
    std::cout << "bitcycle trace make: a trace from a policy\n\n"
              << options << "\nExample:\n"
              << "  bitcycle trace make --policy deficit --set deficit=32000 --out deficit.jsonl\n";
    return 0;
  }
  if (values.count("list") != 0) {
    std::cout << list_text();
    std::cout.flush();
    return 0;
  }
  if (!is_given(values, "policy")) {
    throw input_error("", 0, "--policy", "nothing", join(policy_names()));
  }
  if (!is_given(values, "out")) throw input_error("", 0, "--out", "nothing", "a file, or -");
  PolicyValues settings;
  for (const auto& text : texts_of(values, "set")) settings.push_back(parse_setting(text));
  const std::string name = text_of(values, "policy");
  const auto policy = make_policy(name, settings);

  TraceHeader header;
  header.name = text_of(values, "name");
  header.network = text_of(values, "network");
  header.iterations = policy->iterations();
  if (is_given(values, "batch")) {
    header.batch = parse_count(text_of(values, "batch"), "--batch", 1, 0xFFFFFFFF);
  }
  header.producer = fmt::format("bitcycle {} trace make", program_version());
  header.notes = "policy " + name;
  for (const auto& [key, value] : settings) header.notes += fmt::format(" {}={}", key, value);
  TraceLayers layers = anonymous_layer();
  if (!header.network.empty()) {
    const Network network =
        trace_network(header, "--network", "",
                      is_given(values, "convention") ? text_of(values, "convention") : "");
    header.convention = network.convention;
    layers = trace_layers(network);
  } else if (is_given(values, "convention")) {
    throw input_error("", 0, "--convention", "no --network", "with --network");
  } else if (policy->by_layer()) {
    throw input_error("", 0, "--network", "nothing",
                      "a network: policy " + name + " treats layers apart");
  }
  const std::string out = text_of(values, "out");
  const OutputPaths checked({out});
  TraceWriter writer(out, header);
  CheckedSink sink(writer, layers, header.iterations);
  policy->write(layers, sink);
  sink.finish();
  if (out != "-") {
    std::cout << printable(
        fmt::format("{}: {} records, {} iterations\n", out, writer.records(), header.iterations));
    std::cout.flush();
  }
  return 0;
}

}  // namespace bitcycle
