// bitcycle trace stats: which bits how often, without any array.
#include <fmt/format.h>

#include <array>
#include <boost/program_options.hpp>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/cmd_trace.hpp"
#include "sim/compare_inputs.hpp"
#include "sim/table.hpp"
#include "sim/trace_layers_of.hpp"
#include "workloads/trace_totals.hpp"

namespace bitcycle {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 3> kTensors = {"W", "A", "G"};

struct Stats {
  TraceTotals totals;
  std::string file;
  bool has_network = false;
  BitRange range;
  // By tensor: bits -> layer-iterations. Forward bits of W and A, dX bits of G; 32 = FP32.
  std::array<std::map<int, std::uint64_t>, 3> histogram;
  std::array<double, 3> mean{};  ///< of these, on the array
  u128 bitops = 0, bitops_static = 0;
  std::array<u128, 3> layer_passes{};  ///< by GEMM: iterations x passes, all layers

  double relative() const {
    return static_cast<double>(static_cast<long double>(bitops) /
                               static_cast<long double>(bitops_static));
  }
};

Stats gather(const std::string& path, const std::string& network) {
  TraceReader reader(path);
  const TraceNetwork where = trace_network_of(reader, network);
  Stats s;
  s.file = reader.name();
  s.has_network = !where.network.layers.empty();
  s.totals = total_trace(reader, where.layers);
  s.range = s.totals.range();
  const unsigned top = static_cast<unsigned>(s.range.qmax);
  const unsigned top_g = static_cast<unsigned>(s.range.grad_max);
  const auto macs_of = [&](std::size_t layer) -> u128 {
    return s.has_network ? where.network.layers[layer].macs_per_sample() : 1;
  };
  for (std::size_t i = 0; i < where.layers.size(); ++i) {
    if (!where.layers.quantised[i]) continue;
    s.bitops_static += macs_of(i) * s.totals.iterations * (top * top + 2 * top * top_g);
  }
  std::array<std::uint64_t, 3> counted{};
  for (const auto& c : s.totals.counts) {
    if (c.work.mode == WorkMode::kNone) continue;
    const bool array = c.work.mode == WorkMode::kArray;
    const LayerBits& b = c.work.bits;
    const std::array<int, 3> bits = {array ? b.fwd_w : 32, array ? b.fwd_x : 32,
                                     array ? b.dx_g : 32};
    for (std::size_t i = 0; i < 3; ++i) {
      s.histogram[i][bits[i]] += c.iterations;
      if (!array) continue;
      s.mean[i] += static_cast<double>(bits[i]) * static_cast<double>(c.iterations);
      counted[i] += c.iterations;
    }
    const std::array<int, 3> products =
        array ? std::array<int, 3>{b.fwd_x * b.fwd_w, b.dx_g * b.dx_w, b.dw_g * b.dw_x}
              : std::array<int, 3>{1024, 1024, 1024};
    for (std::size_t i = 0; i < 3; ++i) {
      const u128 repeats = u128{c.iterations} * c.work.passes[i];
      s.layer_passes[i] += repeats;
      s.bitops += macs_of(c.layer) * repeats * static_cast<unsigned>(products[i]);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (counted[i] > 0) s.mean[i] /= static_cast<double>(counted[i]);
  }
  return s;
}

std::string stats_text(const Stats& s) {
  std::string out;
  const auto line = [&](const char* name, const std::string& value) {
    out += fmt::format("{:<24}{}\n", name, value);
  };
  line("trace", s.file);
  line("records", std::to_string(s.totals.records));
  line("iterations", std::to_string(s.totals.iterations));
  line("precision switches", std::to_string(s.totals.switches));
  line("mean bits W, A, G", fmt::format("{:.5f}, {:.5f}, {:.5f}", s.mean[0], s.mean[1], s.mean[2]));
  line("relative BitOps", fmt::format("{:.6f} of static {}/{}{}", s.relative(), s.range.qmax,
                                      s.range.grad_max, s.has_network ? "" : ", all layers alike"));
  line("passes fwd, dX, dW",
       fmt::format("{}, {}, {} layer-iterations", to_decimal(s.layer_passes[0]),
                   to_decimal(s.layer_passes[1]), to_decimal(s.layer_passes[2])));
  if (s.totals.averaging_updates > 0) {
    line("averaging", fmt::format("{} updates", s.totals.averaging_updates));
  }
  TextTable table;
  table.add_column("tensor", TextTable::Align::kLeft);
  table.add_column("bits");
  table.add_column("layer-\niterations");
  table.add_column("share");
  table.add_column("", TextTable::Align::kLeft);
  for (std::size_t i = 0; i < 3; ++i) {
    std::uint64_t all = 0;
    for (const auto& [bits, count] : s.histogram[i]) all += count;
    for (const auto& [bits, count] : s.histogram[i]) {
      const double share = static_cast<double>(count) / static_cast<double>(all);
      table.add_row({kTensors[i], bits == 32 ? "FP32" : std::to_string(bits), std::to_string(count),
                     fmt::format("{:.2f}%", 100.0 * share), bar_text(share, 40)});
    }
  }
  return out + "\n" + table.render();
}

std::string stats_json(const Stats& s, const std::string& command) {
  Json out;
  out["tool"] = "bitcycle";
  out["version"] = program_version();
  out["command"] = command;
  out["trace"] = s.file;
  out["records"] = s.totals.records;
  out["iterations"] = s.totals.iterations;
  out["precision_switches"] = s.totals.switches;
  out["bitops_relative"] = s.relative();
  out["static_bits"] = s.range.qmax;
  out["static_grad_bits"] = s.range.grad_max;
  for (std::size_t i = 0; i < 3; ++i) {
    Json& tensor = out["tensors"][kTensors[i]];
    tensor["mean_bits"] = s.mean[i];
    tensor["histogram"] = Json::array();
    for (const auto& [bits, count] : s.histogram[i]) {
      Json entry;
      entry["bits"] = bits;
      entry["layer_iterations"] = count;
      tensor["histogram"].push_back(entry);
    }
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

int cmd_trace_stats(const std::vector<std::string>& args) {
  po::options_description options("Options of trace stats", 100, 60);
  auto add = options.add_options();
  add("help,h", "this text");
  add("network", po::value<std::string>(), "of a trace that names none");
  add("json", po::value<std::string>(), "write JSON into this file, - for standard output");
  add("file", po::value<std::string>(), "the trace, - for standard input");
  po::positional_options_description positional;
  positional.add("file", 1);
  const auto values = parse_options(args, options, positional);
  if (values.count("help") != 0) {
    std::cout << "bitcycle trace stats FILE: which bits how often\n\n" << options;
    return 0;
  }
  if (!is_given(values, "file")) throw input_error("", 0, "trace stats", "no file", "one");
  const std::string json = text_of(values, "json");
  OutputPaths outputs({json});
  const Stats stats = gather(text_of(values, "file"), text_of(values, "network"));
  if (!json.empty())
    outputs.add(json, stats_json(stats, command_text("bitcycle trace stats", args)));
  outputs.commit();
  if (!outputs.to_stdout()) std::cout << printable(stats_text(stats));
  std::cout.flush();
  return 0;
}

}  // namespace bitcycle
