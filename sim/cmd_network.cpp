#include "sim/cmd_network.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/network_table.hpp"
#include "workloads/network_file.hpp"
#include "workloads/network_library.hpp"

namespace bitcycle {
namespace {

namespace po = boost::program_options;

struct Subcommand {
  const char* name;
  int (*run)(const std::vector<std::string>&);
  const char* what;
};
constexpr Subcommand kSubcommands[] = {
    {"list", cmd_network_list, "the networks that the program knows"},
    {"show", cmd_network_show, "one network: GEMMs, MACs, parameters, bytes, vector work"},
    {"validate", cmd_network_validate, "check network files"},
    {"import", cmd_network_import, "a network of another tool: ONNX, SCALE-Sim, Timeloop"},
};

constexpr std::uint64_t kMostBatch = (std::uint64_t{1} << 32) - 1;

std::string usage() {
  std::string out =
      "bitcycle network: networks and network files\n\n"
      "Usage: bitcycle network SUBCOMMAND [options]     (SUBCOMMAND --help explains it)\n\n";
  for (const auto& sub : kSubcommands) out += fmt::format("  {:<10} {}\n", sub.name, sub.what);
  return out + "\nExample:\n  bitcycle network show resnet20-cifar10\n";
}

po::typed_value<std::string>* free_text() { return po::value<std::string>(); }

std::vector<std::string> words_of(const po::variables_map& values, const char* name) {
  return values.count(name) != 0 ? values[name].as<std::vector<std::string>>()
                                 : std::vector<std::string>{};
}

// Most nodes that `validate` looks at in one file, summed over networks and conventions.
constexpr std::uint64_t kMostValidated = 400'000;

// Every network of a file, or the one that a name stands for, one after the other.
void for_each_graph(const std::string& word, const std::function<void(const Graph&)>& visit) {
  for (const auto& network : library_networks()) {
    if (network.name == word) return visit(find_graph(word));
  }
  const bool chosen = word.rfind('#') != std::string::npos;
  if (chosen || word.find('.') == std::string::npos) return visit(find_graph(word));
  const NetworkFile file = read_network_file(word);
  for (const std::string& name : file.names()) visit(expand_network(file, name));
}

}  // namespace

int cmd_network_list(const std::vector<std::string>& args) {
  po::options_description options("Options of network list", 100, 60);
  auto add = options.add_options();
  add("help,h", "this text");
  add("json", free_text(), "write JSON into this file, - for standard output");
  add("csv", free_text(), "write CSV into this file, - for standard output");
  const po::variables_map values = parse_options(args, options);
  if (values.count("help") != 0) {
    std::cout << "bitcycle network list: the networks that the program knows\n\n" << options;
    return 0;
  }
  const std::string json = text_of(values, "json");
  const std::string csv = text_of(values, "csv");
  OutputPaths outputs({json, csv});
  std::vector<NetworkSummary> rows;
  for (const LibraryNetwork& entry : library_networks()) {
    rows.push_back(summarise_network(find_graph(entry.name), entry.file));
  }
  outputs.add(json, json.empty()
                        ? ""
                        : network_list_json(rows, command_text("bitcycle network list", args)));
  outputs.add(csv, csv.empty() ? "" : network_list_csv(rows));
  outputs.commit();
  if (!outputs.to_stdout()) std::cout << network_list_text(rows);
  std::cout.flush();
  return 0;
}

int cmd_network_show(const std::vector<std::string>& args) {
  po::options_description options("Options of network show", 100, 60);
  auto add = options.add_options();
  add("help,h", "this text");
  add("name", free_text(), "network: a name of 'network list', FILE.yaml or FILE.yaml#NAME");
  add("batch", free_text(), "samples of an iteration; without it the network's own");
  add("convention", free_text(), "which layers are quantised; without it the network's first one");
  add("lowering", po::value<std::string>()->default_value("dx=phases"),
      "how dX becomes GEMMs: dx=phases or dx=gemm");
  add("bits", po::value<std::string>()->default_value("8"),
      "width at which activations are kept for the backward pass, 1 to 32");
  add("vector", "every vector operation, not only their sums");
  add("yaml", "print the network file of the library, to copy and change");
  add("expanded", "print the network as a file without variables, blocks and repeats");
  add("json", free_text(), "write JSON into this file, - for standard output");
  add("csv", free_text(), "write CSV into this file, - for standard output");
  po::positional_options_description positional;
  positional.add("name", 1);
  const po::variables_map values = parse_options(args, options, positional);
  if (values.count("help") != 0) {
    std::cout << "bitcycle network show NAME: one network\n\n"
              << options << "\nExample:\n  bitcycle network show resnet20-cifar10 --batch 128\n";
    return 0;
  }
  const std::string name = text_of(values, "name");
  if (name.empty()) throw input_error("", 0, "network show", "no network", "a name or a file");
  const std::string json = text_of(values, "json");
  const std::string csv = text_of(values, "csv");
  OutputPaths outputs({json, csv});
  if (values.count("yaml") != 0) {
    for (const LibraryNetwork& entry : library_networks()) {
      if (entry.name != name) continue;
      std::cout << library_file(entry.file) << std::flush;
      return 0;
    }
  }
  const Graph graph = find_graph(name);
  if (values.count("expanded") != 0 || values.count("yaml") != 0) {
    std::cout << network_yaml(graph) << std::flush;
    return 0;
  }
  NetworkView view;
  view.network = build_network(graph, text_of(values, "convention"));
  view.conventions = convention_names(graph);
  view.lowering = parse_lowering(text_of(values, "lowering"));
  view.bits = static_cast<int>(parse_count(text_of(values, "bits"), "--bits", 1, 32));
  view.batch = is_given(values, "batch")
                   ? parse_count(text_of(values, "batch"), "--batch", 1, kMostBatch)
                   : view.network.batch;
  view.every_vector_op = values.count("vector") != 0;
  view.command = command_text("bitcycle network show", args);
  const NetworkTable table = tabulate(view);
  outputs.add(json, json.empty() ? "" : network_json(view, table));
  outputs.add(csv, csv.empty() ? "" : network_csv(view, table));
  outputs.commit();
  if (!outputs.to_stdout()) std::cout << network_text(view, table);
  std::cout.flush();
  return 0;
}

int cmd_network_validate(const std::vector<std::string>& args) {
  po::options_description options("Options of network validate", 100, 60);
  auto add = options.add_options();
  add("help,h", "this text");
  add("files", po::value<std::vector<std::string>>(), "network files (or names)");
  po::positional_options_description positional;
  positional.add("files", -1);
  const po::variables_map values = parse_options(args, options, positional);
  if (values.count("help") != 0) {
    std::cout << "bitcycle network validate FILE...: expands every network of every file, under\n"
                 "every convention, and lowers it to GEMMs\n\n"
              << options;
    return 0;
  }
  const std::vector<std::string> words = words_of(values, "files");
  if (words.empty()) throw input_error("", 0, "network validate", "no file", "network files");
  std::string out;
  for (const std::string& word : words) {
    std::uint64_t nodes = 0;
    for_each_graph(word, [&](const Graph& graph) {
      nodes += graph.nodes.size() * convention_names(graph).size();
      if (nodes > kMostValidated) {
        throw input_error(
            word, 0, "network validate",
            fmt::format("more than {} nodes in all networks and conventions", kMostValidated),
            "fewer, or one network at a time: FILE.yaml#NAME");
      }
      std::uint64_t gemms = 0;
      for (const std::string& convention : convention_names(graph)) {
        const Network network = build_network(graph, convention);
        gemms = training_gemms(network, network.batch).size();
      }
      out += fmt::format("{}: {}, {} nodes, {} conventions, {} GEMMs: good\n", word, graph.name,
                         graph.nodes.size(), convention_names(graph).size(), gemms);
    });
  }
  std::cout << out << std::flush;
  return 0;
}

int cmd_network(const std::vector<std::string>& args) {
  if (args.empty() || args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    std::cout << usage() << std::flush;
    return args.empty() ? 2 : 0;
  }
  std::vector<std::string> names;
  for (const auto& sub : kSubcommands) {
    if (args[0] == sub.name) return sub.run({args.begin() + 1, args.end()});
    names.emplace_back(sub.name);
  }
  throw input_error("", 0, "network", "'" + args[0] + "'" + suggestion(args[0], names),
                    join(names));
}

}  // namespace bitcycle
