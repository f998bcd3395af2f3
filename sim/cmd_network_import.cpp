// `bitcycle network import`: what was understood of a foreign file, and the same as a network file.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/cmd_network.hpp"
#include "sim/network_table.hpp"
#include "sim/table.hpp"
#include "workloads/import.hpp"
#include "workloads/network_file.hpp"

namespace bitcycle {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostBatch = (std::uint64_t{1} << 32) - 1;

po::options_description describe() {
  po::options_description out("Options of network import", 100, 60);
  const auto text = [](const char* value) {
    return po::value<std::string>()->default_value(value);
  };
  auto add = out.add_options();
  add("help,h", "this text");
  add("files", po::value<std::vector<std::string>>(),
      "an ONNX file, a SCALE-Sim topology, or Timeloop problems (files or a directory)");
  add("format", text("auto"), "auto (by the name), onnx, scalesim, timeloop");
  add("batch", po::value<std::string>(), "samples of an iteration; without it the file's batch");
  add("out", po::value<std::string>(), "write the network file (YAML) here, - for standard output");
  add("json", po::value<std::string>(), "write the report as JSON, - for standard output");
  add("output-size", text("floor"),
      "SCALE-Sim: floor, or scalesim (its own rule: rounded up where the stride does not fit)");
  add("sparsity", text("refuse"), "sparse layers: refuse, or ignore (count them as dense)");
  add("dim", po::value<std::vector<std::string>>()->composing(),
      "ONNX: size of an open dimension, such as sequence=128; may be repeated");
  add("batch-axis", text("0"), "ONNX: axis of the inputs that counts samples");
  add("allow-unsupported", "ONNX: operators that are not known are no work, with a note");
  return out;
}

std::string usage() {
  std::ostringstream out;
  out << "bitcycle network import FILE...: a network of another tool\n\n"
      << describe() << "\nExamples:\n"
      << "  bitcycle network import model.onnx --batch 128 --out model.yaml\n"
      << "  bitcycle network import topology.csv --output-size scalesim\n"
      << "  bitcycle network import layers/ --format timeloop\n";
  return out.str();
}

ImportOptions options_from(const po::variables_map& values) {
  ImportOptions out;
  out.format = parse_import_format(text_of(values, "format"));
  out.output_size = parse_output_size(text_of(values, "output-size"));
  const std::string sparsity = text_of(values, "sparsity");
  if (sparsity != "refuse" && sparsity != "ignore") {
    throw input_error("", 0, "--sparsity", "'" + sparsity + "'", "refuse, ignore");
  }
  out.ignore_sparsity = sparsity == "ignore";
  out.allow_unsupported = values.count("allow-unsupported") != 0;
  out.batch_axis = parse_count(text_of(values, "batch-axis"), "--batch-axis", 0, 15);
  if (is_given(values, "batch")) {
    out.batch = parse_count(text_of(values, "batch"), "--batch", 1, kMostBatch);
  }
  if (values.count("dim") != 0) {
    for (const auto& text : values["dim"].as<std::vector<std::string>>()) {
      const std::size_t equals = text.rfind('=');
      if (equals == std::string::npos || equals == 0) {
        throw input_error("", 0, "--dim", "'" + text + "'", "NAME=SIZE");
      }
      const std::string name = text.substr(0, equals);
      const std::uint64_t size =
          parse_count(text.substr(equals + 1), "--dim " + name, 1, kMostBatch);
      if (!out.dims.emplace(name, size).second) {
        throw input_error("", 0, "--dim", "'" + name + "' twice", "each once");
      }
    }
  }
  return out;
}

// Options of one format say nothing about another; accepting them silently would mislead.
void check_format_options(const po::variables_map& values, ImportFormat format) {
  const auto refuse = [&](const char* option, ImportFormat only) {
    const bool given = values.count(option) != 0 && is_given(values, option);
    if (!given || format == only) return;
    throw input_error("", 0, std::string("--") + option, "a file of format " + to_string(format),
                      to_string(only));
  };
  refuse("output-size", ImportFormat::kScaleSim);
  refuse("dim", ImportFormat::kOnnx);
  refuse("batch-axis", ImportFormat::kOnnx);
  refuse("allow-unsupported", ImportFormat::kOnnx);
}

std::string operator_text(const ImportedNetwork& imported) {
  if (imported.operators.empty()) return "";
  TextTable table;
  table.add_column("operator of the file", TextTable::Align::kLeft);
  table.add_column("is", TextTable::Align::kLeft);
  table.add_column("count");
  for (const auto& op : imported.operators) {
    table.add_row({op.name, op.fate, std::to_string(op.count)});
  }
  return table.render() + "\n";
}

std::string json_text(const ImportedNetwork& imported, const NetworkView& view,
                      const NetworkTable& table) {
  Json out = Json::parse(network_json(view, table));
  Json import;
  import["format"] = to_string(imported.format);
  import["batch_of_file"] = imported.file_batch;
  import["operators"] = Json::array();
  for (const auto& op : imported.operators) {
    Json one;
    one["operator"] = op.name;
    one["is"] = op.fate;
    one["count"] = op.count;
    import["operators"].push_back(one);
  }
  import["notes"] = imported.notes;
  out["import"] = import;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The file that is written must read back as the same network.
std::string checked_yaml(const Graph& graph, const Network& network) {
  std::string yaml = network_yaml(graph);
  if (yaml.size() > kLongestNetworkFile) {
    throw input_error(graph.file, 0, "--out",
                      "a network file of " + std::to_string(yaml.size()) + " bytes",
                      "at most 1 MB; 'compare --network' reads the imported file itself");
  }
  const Network again = build_network(expand_network(parse_network_file(yaml, "--out")));
  if (again.macs_per_sample(false) != network.macs_per_sample(false) ||
      again.layers.size() != network.layers.size() || again.parameters() != network.parameters()) {
    throw std::logic_error("the network file does not read back as the network");
  }
  return yaml;
}

}  // namespace

int cmd_network_import(const std::vector<std::string>& args) {
  po::positional_options_description positional;
  positional.add("files", -1);
  const po::variables_map values = parse_options(args, describe(), positional);
  if (values.count("help") != 0) {
    std::cout << usage() << std::flush;
    return 0;
  }
  const ImportOptions options = options_from(values);
  const std::vector<std::string> files = values.count("files") != 0
                                             ? values["files"].as<std::vector<std::string>>()
                                             : std::vector<std::string>{};
  const std::string out = text_of(values, "out");
  const std::string json = text_of(values, "json");
  OutputPaths outputs({out, json});
  for (const auto& path : {out, json}) {
    for (const auto& file : files) {
      if (!path.empty() && path != "-" && canonical_path(path) == canonical_path(file)) {
        throw input_error(path, 0, "network import", "input and output in one file", "two files");
      }
    }
  }
  const ImportedNetwork imported = import_network(files, options);
  check_format_options(values, imported.format);
  NetworkView view;
  view.network = build_network(imported.graph);
  view.conventions = convention_names(imported.graph);
  view.batch = view.network.batch;
  view.command = command_text("bitcycle network import", args);
  const NetworkTable table = tabulate(view);
  const std::string yaml = out.empty() ? "" : checked_yaml(imported.graph, view.network);
  outputs.add(json, json.empty() ? "" : json_text(imported, view, table));
  outputs.add(out, yaml);
  outputs.commit();
  if (!outputs.to_stdout()) {
    std::cout << "Read as " << to_string(imported.format) << "\n\n"
              << network_text(view, table) << "\n"
              << operator_text(imported);
    for (const auto& note : imported.notes) std::cout << "- " << note << "\n";
    if (!out.empty()) std::cout << "\nWritten: " << out << "\n";
  }
  std::cout.flush();
  return 0;
}

}  // namespace bitcycle
