#include "sim/cmd_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <charconv>
#include <iostream>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/energy_options.hpp"
#include "sim/machine_listing.hpp"
#include "sim/machine_report.hpp"
#include "sim/machine_run.hpp"
#include "sim/memory_choice.hpp"

namespace bitcycle {
namespace {

namespace po = boost::program_options;

constexpr const char* kExample =
    "Example, one training iteration of ResNet-20, layer by layer:\n"
    "  bitcycle run --network resnet20-cifar10 --batch 128 --iteration-precision 4x4x8\n"
    "Example, the same products on the verilated RTL, with real tensor values (minutes):\n"
    "  bitcycle run --network resnet8-cifar10 --batch 1 --arch ci-4x4-s1 --engine rtl\n";

po::options_description describe() {
  po::options_description out("Options of run", 100, 60);
  const auto text = [](const char* value) {
    return po::value<std::string>()->default_value(value);
  };
  auto add = out.add_options();
  add("help,h", "this text");
  add("network", text("resnet20-cifar10"), "a name of 'network list', or a network file");
  add("convention", po::value<std::string>(), "which layers are quantised");
  add("batch", po::value<std::string>(), "samples; without it the network's own");
  add("iteration-precision", text("4x4x8"), "bits of activations x weights x gradients");
  add("layer", po::value<std::string>(), "only this layer, with its mapping");
  add("arch", text("serial-1x1"), "array: preset or YAML file");
  add("memory", text("bandwidth-latency"),
      "memory: bandwidth-latency, ideal, ddr4-3200, lpddr4-3200, hbm2 or a YAML file");
  add("clock-mhz", text("500"), "clock, MHz: for seconds and for the timing of a DRAM");
  add("engine", text("formula"), "formula, systemc (the model under SystemC), rtl (RTL and model)");
  add("lowering", text("dx=phases"), "how dX becomes GEMMs: dx=phases or dx=gemm");
  add("results", text("raw32"), "integer results: raw32 or raw48");
  add("vector-bytes", text("0"), "bytes per cycle of the vector unit; 0 = the memory's bandwidth");
  add("vector-ops", text("64"), "FP32 operations per cycle of the vector unit");
  add("previous-precision", po::value<std::string>(),
      "bits of the iteration before: the switch's cost gets a line");
  add("seed", text("1"), "of the tensors that systemc and rtl run");
  add("activity", text("1/16"),
      "systemc and rtl: part of the cycles whose activity (of a sample of PEs) is measured, 1 or "
      "1/N; "
      "1/16 hardly slows systemc, 1 makes it up to 2.5 times as slow");
  add("csv", po::value<std::string>(), "one row a layer and GEMM, into this file, - for stdout");
  add("json", po::value<std::string>(), "everything, into this file, - for stdout");
  add("instructions", po::value<std::string>(),
      "the instruction stream of --layer with the cycles of each, into this file, - for stdout");
  describe_energy(out);
  return out;
}

IterationBits parse_bits(const std::string& text, const std::string& field, int p_max) {
  const auto refuse = [&] {
    throw input_error("", 0, field, "'" + text + "'",
                      fmt::format("AxWxG, such as 4x4x8, each from 1 to {} (p_max)", p_max));
  };
  if (std::count(text.begin(), text.end(), 'x') != 2) refuse();
  std::array<int, 3> bits{};
  std::size_t at = 0;
  for (int& b : bits) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, b);
    if (error != std::errc() || stop != text.data() + end || b < 1 || b > p_max) refuse();
    at = end + 1;
  }
  return {bits[0], bits[1], bits[2]};
}

RunRequest request_from(const po::variables_map& values) {
  RunRequest out;
  out.network = make_network(text_of(values, "network"), text_of(values, "convention"));
  out.batch = is_given(values, "batch")
                  ? parse_count(text_of(values, "batch"), "--batch", 1, 0xFFFF'FFFF)
                  : out.network.batch;
  out.layer = text_of(values, "layer");
  MachineCostOptions& machine = out.options;
  machine.machine = machine_for(resolve_array(text_of(values, "arch")));
  const int p_max = machine.machine.array.p_max;
  out.bits = parse_bits(text_of(values, "iteration-precision"), "--iteration-precision", p_max);
  if (is_given(values, "previous-precision")) {
    out.previous = parse_bits(text_of(values, "previous-precision"), "--previous-precision", p_max);
  }
  const double clock = 1e6 * parse_positive(text_of(values, "clock-mhz"), "--clock-mhz", 1e6);
  out.clock_hz = clock;
  out.memory = resolve_memory(text_of(values, "memory"));
  const MemoryView view = view_memory(out.memory, machine.machine.dw, clock, "--clock-mhz");
  machine.memory = view.timing;
  out.dram = view.dram;
  machine.lowering = parse_lowering(text_of(values, "lowering"));
  const std::string results = text_of(values, "results");
  if (results != "raw32" && results != "raw48") {
    throw input_error("", 0, "--results", "'" + results + "'", "raw32, raw48");
  }
  machine.results = results == "raw48" ? OutputForm::kRaw48 : OutputForm::kRaw32;
  const std::string bytes = text_of(values, "vector-bytes");
  machine.vector.bytes_per_cycle = bytes == "0"
                                       ? bytes_per_cycle(machine.memory, machine.machine.dw)
                                       : parse_positive(bytes, "--vector-bytes", 1e9);
  machine.vector.ops_per_cycle = parse_positive(text_of(values, "vector-ops"), "--vector-ops", 1e9);
  out.seed = parse_count(text_of(values, "seed"), "--seed", 0, ~std::uint64_t{0});
  out.energy = energy_settings(values);
  out.energy_table = text_of(values, "energy-table");
  std::string activity = text_of(values, "activity");
  if (activity.rfind("1/", 0) == 0) activity = activity.substr(2);
  out.activity_one_in = parse_count(activity, "--activity (1 or 1/N): N", 1, 1'000'000);
  const std::vector<std::string> engines = {"formula", "systemc", "rtl"};
  out.engine = text_of(values, "engine");
  if (std::find(engines.begin(), engines.end(), out.engine) == engines.end()) {
    throw input_error("", 0, "--engine", "'" + out.engine + "'" + suggestion(out.engine, engines),
                      join(engines));
  }
  return out;
}

}  // namespace

int cmd_run(const std::vector<std::string>& args) {
  const po::variables_map values = parse_options(args, describe());
  if (values.count("help") != 0) {
    std::cout << "bitcycle run: one training iteration on the whole machine, layer by layer\n\n"
              << describe() << "\n"
              << kExample;
    return 0;
  }
  RunRequest request = request_from(values);
  request.command = command_text("bitcycle run", args);
  const std::string csv = text_of(values, "csv");
  const std::string json = text_of(values, "json");
  const std::string listing = text_of(values, "instructions");
  if (!listing.empty() && request.layer.empty()) {
    throw input_error("", 0, "--instructions", "no --layer", "--layer NAME: one layer at a time");
  }
  OutputPaths outputs({csv, json, listing});
  const RunResult result = run_iteration(request);
  if (!listing.empty()) outputs.add(listing, run_listing(result));
  if (!json.empty()) outputs.add(json, run_json(result));
  if (!csv.empty()) outputs.add(csv, run_csv(result));
  if (!outputs.to_stdout()) std::cout << run_text(result);
  outputs.commit();
  std::cout.flush();
  return result.simulated && !result.simulated->pass() ? 1 : 0;
}

}  // namespace bitcycle
