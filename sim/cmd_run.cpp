#include "sim/cmd_run.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <filesystem>
#include <iostream>

#include "golden/error.hpp"
#include "model/machine/memory_config.hpp"
#include "sim/cli.hpp"
#include "sim/machine_report.hpp"
#include "sim/machine_run.hpp"
#include "sim/paths.hpp"

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
  add("clock", text("1e9"), "Hz: what a DRAM's nanoseconds are cycles of");
  add("engine", text("formula"), "formula, systemc (the model under SystemC), rtl (RTL and model)");
  add("lowering", text("dx=phases"), "how dX becomes GEMMs: dx=phases or dx=gemm");
  add("results", text("raw32"), "integer results: raw32 or raw48");
  add("vector-bytes", text("0"), "bytes per cycle of the vector unit; 0 = the memory's bandwidth");
  add("vector-ops", text("64"), "FP32 operations per cycle of the vector unit");
  add("previous-precision", po::value<std::string>(),
      "bits of the iteration before: the switch's cost gets a line");
  add("seed", text("1"), "of the tensors that systemc and rtl run");
  add("csv", po::value<std::string>(), "one row a layer and GEMM, into this file, - for stdout");
  add("json", po::value<std::string>(), "everything, into this file, - for stdout");
  return out;
}

IterationBits parse_bits(const std::string& text, const std::string& field) {
  IterationBits out;
  std::vector<int> bits;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    bits.push_back(static_cast<int>(parse_count(text.substr(at, end - at), field, 1, 16)));
    at = end + 1;
  }
  if (bits.size() != 3) {
    throw input_error("", 0, field, "'" + text + "'", "AxWxG, such as 4x4x8");
  }
  out.a = bits[0];
  out.w = bits[1];
  out.g = bits[2];
  return out;
}

MemoryConfig resolve_memory(const std::string& word) {
  namespace fs = std::filesystem;
  std::vector<std::string> known;
  const fs::path dir = fs::path(source_dir()) / "configs/memory";
  if (fs::is_directory(dir)) {
    for (const auto& entry : fs::directory_iterator(dir)) known.push_back(entry.path().stem());
  }
  std::sort(known.begin(), known.end());
  if (std::find(known.begin(), known.end(), word) != known.end()) {
    return load_memory_config((dir / (word + ".yaml")).string());
  }
  if (word.find('.') == std::string::npos && word.find('/') == std::string::npos) {
    throw input_error("", 0, "--memory", "'" + word + "'" + suggestion(word, known),
                      join(known) + ", or a YAML file");
  }
  return load_memory_config(word);
}

RunRequest request_from(const po::variables_map& values) {
  RunRequest out;
  out.network = make_network(text_of(values, "network"), text_of(values, "convention"));
  out.batch = is_given(values, "batch")
                  ? parse_count(text_of(values, "batch"), "--batch", 1, 0xFFFF'FFFF)
                  : out.network.batch;
  out.bits = parse_bits(text_of(values, "iteration-precision"), "--iteration-precision");
  if (is_given(values, "previous-precision")) {
    out.previous = parse_bits(text_of(values, "previous-precision"), "--previous-precision");
  }
  out.layer = text_of(values, "layer");
  MachineCostOptions& machine = out.options;
  machine.machine = machine_for(resolve_array(text_of(values, "arch")));
  const double clock = parse_positive(text_of(values, "clock"), "--clock", 1e13);
  out.clock_hz = clock;
  out.memory = resolve_memory(text_of(values, "memory"));
  if (out.memory.is_dram) {
    const double period = 1e12 / clock;
    if (period < 1 || period > 1e9) {
      throw input_error("", 0, "--clock", text_of(values, "clock"), "1e3 to 1e12 Hz with a DRAM");
    }
    const DramTimingBounds bounds =
        dram_timing_bounds(out.memory.dram, machine.machine.dw, static_cast<int>(period + 0.5), 1);
    machine.memory = bounds.lower;
    out.dram = bounds;
  } else {
    machine.memory = out.memory.timing(machine.machine.dw);
  }
  machine.lowering = parse_lowering(text_of(values, "lowering"));
  const std::string results = text_of(values, "results");
  if (results != "raw32" && results != "raw48") {
    throw input_error("", 0, "--results", "'" + results + "'", "raw32, raw48");
  }
  machine.results = results == "raw48" ? OutputForm::kRaw48 : OutputForm::kRaw32;
  const std::string bytes = text_of(values, "vector-bytes");
  machine.vector.bytes_per_cycle = bytes == "0" ? machine.machine.dw / 8.0 * 256.0 /
                                                      static_cast<double>(machine.memory.read_cost)
                                                : parse_positive(bytes, "--vector-bytes", 1e9);
  machine.vector.ops_per_cycle = parse_positive(text_of(values, "vector-ops"), "--vector-ops", 1e9);
  out.seed = parse_count(text_of(values, "seed"), "--seed", 0, ~std::uint64_t{0});
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
  OutputPaths outputs({csv, json});
  const RunResult result = run_iteration(request);
  outputs.add(json, json.empty() ? "" : run_json(result));
  outputs.add(csv, csv.empty() ? "" : run_csv(result));
  outputs.commit();
  if (!outputs.to_stdout()) std::cout << run_text(result);
  std::cout.flush();
  return result.simulated && !result.simulated->pass() ? 1 : 0;
}

}  // namespace bitcycle
