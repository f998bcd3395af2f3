#include "sim/cmd_compare.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <iostream>

#include "golden/error.hpp"
#include "sim/check.hpp"
#include "sim/cli.hpp"
#include "sim/energy_options.hpp"
#include "sim/memory_choice.hpp"
#include "sim/report.hpp"

namespace bitcycle {
namespace {

namespace po = boost::program_options;

constexpr const char* kExample =
    "Example, the costs of all ten schedules for training ResNet-74 on CIFAR-10:\n"
    "  bitcycle compare --network resnet74-cifar10 --schedules all --bits 3:8 --grad-bits 8 \\\n"
    "    --cycles 8 --iterations 64000 --batch 128\n"
    "Example, what an ideal GEMM costs on each array:\n"
    "  bitcycle compare --gemm 4096,4096,4096 --schedules CR --bits 3:8/8,5:8/8 --arch all\n";

constexpr std::uint64_t kMostIterations = std::uint64_t{1} << 53;
constexpr std::uint64_t kMostBatch = (std::uint64_t{1} << 32) - 1;
constexpr std::uint64_t kMostTiles = 1'000'000'000;

po::options_description describe() {
  po::options_description out("Options of compare", 100, 60);
  const auto text = [](const char* value) {
    return po::value<std::string>()->default_value(value);
  };
  const auto free_text = [] { return po::value<std::string>(); };
  auto add = out.add_options();
  add("help,h", "this text");
  add("network", text("resnet74-cifar10"),
      "networks, separated by commas: names of 'bitcycle network list', FILE.yaml or "
      "FILE.yaml#NAME");
  add("gemm", free_text(), "M,N,K: one dense layer with this forward GEMM, in place of a network");
  add("schedules", free_text(), "names, separated by commas, or all (the default)");
  const auto several = [] { return po::value<std::vector<std::string>>()->composing(); };
  add("schedule-file", several(),
      "a schedule of your own: CSV of iteration,bits,grad_bits; may be given several times");
  add("trace", several(),
      "a trace of bits by layer and iteration, - for standard input; may be given several times");
  add("policy", several(),
      "\"NAME key=value ...\" as trace make --list has them; may be given several times");
  add("configs", free_text(), "CSV of name,bits_w,bits_a,bits_g: a row for each configuration");
  add("bits", text("3:8"),
      "forward bits, such as 3:8; also 3:8/8,3:6/6 and 3:6/6:8 (with gradients)");
  add("grad-bits", text("8"), "gradient bits where --bits has none: 8 or 6:8");
  add("cycles", text("8"), "cycles n of a schedule");
  add("cycle-length", text("floor"), "iterations of a cycle: floor (of N/n) or floor+1");
  add("iterations", text("64000"), "training iterations N");
  add("batch", free_text(), "samples of an iteration; without it the network's own");
  add("workers", free_text(), "workers P that exchange gradients or weights every iteration");
  add("exchange", text("allreduce"), "allreduce (ring) or gossip");
  add("neighbours", text("2"), "of a worker, with gossip");
  add("exchange-bits", text("32"), "bits per parameter that are sent");
  add("link-gbps", free_text(), "10^9 bits per second that a worker can send");
  add("arch", text("serial-1x1"), "arrays: presets or YAML files, separated by commas, or all");
  add("baseline", free_text(), "static:BITS/GRAD; without it static at the top of each bit range");
  add("reference", text("fixed-8x8"), "array whose static 8/8 cycles are the second yardstick");
  add("convention", free_text(),
      "which layers are quantised: all, or one that the network names; without it its first one");
  add("lowering", text("dx=phases"), "how dX becomes GEMMs: dx=phases or dx=gemm");
  add("operand-order", text("best"), "best (fewer cycles, per descriptor) or table");
  add("clock-mhz", text("500"), "clock of every array, MHz");
  add("result-bits", text("32"), "stored width of results, 1 to 64, or operand");
  add("memory", text("bandwidth-latency"),
      "memory of the whole machine: bandwidth-latency, ideal, ddr4-3200, lpddr4-3200, hbm2 or a "
      "YAML file");
  add("ideal-memory", "the array alone: operands are always there, no vector work");
  add("vector-bytes", text("0"), "bytes per cycle of the vector unit; 0 = the memory's bandwidth");
  add("vector-ops", text("64"), "FP32 operations per cycle of the vector unit");
  add("force", "print absolute energy across arrays although the table cannot rank them");
  add("accuracy", free_text(),
      "CSV of schedule,metric,std: joined into table and plot (one network, one bit range)");
  add("check", free_text(), "co-simulate so many tiles of this job on the RTL");
  add("seed", text("1"), "seed of --check");
  add("columns", free_text(), "columns of the table: JSON keys, nested ones joined with dots");
  add("json", free_text(), "write JSON into this file, - for standard output");
  add("csv", free_text(), "write CSV into this file, - for standard output");
  add("latex", free_text(), "write booktabs tables into this file, - for standard output");
  add("plot", free_text(), "draw into this .svg or .pdf file (needs gnuplot)");
  describe_energy(out);
  return out;
}

std::string usage() {
  std::ostringstream out;
  out << "bitcycle compare: what each precision schedule costs in BitOps, cycles and energy\n\n"
      << describe() << "\n"
      << kExample << "\nnetworks: 'bitcycle network list' prints them"
      << "\nschedules: " << join(schedule_names()) << "\narrays: ";
  std::vector<std::string> arrays;
  for (const auto& preset : array_presets()) arrays.push_back(preset.name);
  out << join(arrays) << "\n";
  return out.str();
}

Gemm parse_gemm(const std::string& text) {
  const auto parts = parse_list(text, "--gemm");
  if (parts.size() != 3) {
    throw input_error("", 0, "--gemm", "'" + text + "'", "M,N,K such as 4096,4096,4096");
  }
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 32) - 1;
  return {parse_count(parts[0], "--gemm M", 1, kMost), parse_count(parts[1], "--gemm N", 1, kMost),
          parse_count(parts[2], "--gemm K", 1, kMost)};
}

BitPair parse_baseline(const std::string& text) {
  const std::string head = "static:";
  const char* allowed = "static:BITS/GRAD such as static:8/8";
  if (text.rfind(head, 0) != 0 || text.find(',') != std::string::npos) {
    throw input_error("", 0, "--baseline", "'" + text + "'", allowed);
  }
  const BitRange r = parse_bit_ranges(text.substr(head.size()), 8, 8).front();
  if (r.qmin != r.qmax || r.grad_min != r.grad_max) {
    throw input_error("", 0, "--baseline", "'" + text + "'", allowed);
  }
  return {r.qmax, r.grad_max};
}

BitRange parse_grad_bits(const std::string& text) {
  if (text.find_first_of(",/") != std::string::npos) {
    throw input_error("", 0, "--grad-bits", "'" + text + "'", "8 or 6:8");
  }
  return parse_bit_ranges(text, 8, 8).front();
}

void refuse_without_network(const po::variables_map& values) {
  for (const char* name : {"network", "batch", "convention", "lowering"}) {
    if (is_given(values, name)) {
      throw input_error("", 0, "--gemm", std::string("also --") + name,
                        "one of them: a single GEMM has no such choice");
    }
  }
}

ExchangeSpec exchange_from(const po::variables_map& values) {
  ExchangeSpec e;
  if (!is_given(values, "workers")) {
    for (const char* name : {"exchange", "neighbours", "exchange-bits", "link-gbps"}) {
      if (is_given(values, name)) {
        throw input_error("", 0, std::string("--") + name, "no --workers", "with --workers");
      }
    }
    return e;
  }
  e.workers = parse_count(text_of(values, "workers"), "--workers", 1, 1'000'000);
  e.kind = parse_exchange(text_of(values, "exchange"));
  if (e.kind != ExchangeKind::kGossip && is_given(values, "neighbours")) {
    throw input_error("", 0, "--neighbours", "with allreduce", "with --exchange gossip");
  }
  e.neighbours = parse_count(text_of(values, "neighbours"), "--neighbours", 1, 1'000'000);
  e.bits =
      static_cast<int>(parse_count(text_of(values, "exchange-bits"), "--exchange-bits", 1, 64));
  if (!is_given(values, "link-gbps")) {
    throw input_error("", 0, "--link-gbps", "nothing", "the bandwidth of a worker, with --workers");
  }
  e.link_gbps = parse_positive(text_of(values, "link-gbps"), "--link-gbps", 1e6);
  e.validate();
  return e;
}

void read_machine(const po::variables_map& values, CompareOptions& o) {
  if (values.count("ideal-memory") != 0) {
    for (const char* name : {"memory", "vector-bytes", "vector-ops"}) {
      if (is_given(values, name)) {
        throw input_error("", 0, "--ideal-memory", std::string("also --") + name,
                          "one of them: the array alone has neither memory nor vector unit");
      }
    }
    return;
  }
  o.memory = resolve_memory(text_of(values, "memory"));
  if (text_of(values, "vector-bytes") != "0") {
    o.vector_bytes = parse_positive(text_of(values, "vector-bytes"), "--vector-bytes", 1e9);
  }
  o.vector_ops = parse_positive(text_of(values, "vector-ops"), "--vector-ops", 1e9);
}

CompareOptions options_from(const po::variables_map& values) {
  const auto text = [&](const char* name) { return text_of(values, name); };
  CompareOptions o;
  if (is_given(values, "gemm")) {
    refuse_without_network(values);
    o.gemm = parse_gemm(text("gemm"));
  } else {
    o.networks = parse_list(text("network"), "--network");
    if (is_given(values, "batch")) {
      o.batch = parse_count(text("batch"), "--batch", 1, kMostBatch);
    }
    o.convention = text("convention");
    o.lowering = parse_lowering(text("lowering"));
  }
  o.networks_given = is_given(values, "network");
  o.iterations_given = is_given(values, "iterations");
  o.convention_given = is_given(values, "convention");
  o.schedule_files = texts_of(values, "schedule-file");
  o.traces = texts_of(values, "trace");
  o.policies = texts_of(values, "policy");
  o.configs = text("configs");
  o.exchange = exchange_from(values);
  if (is_given(values, "schedules")) o.schedules = parse_list(text("schedules"), "--schedules");
  const bool own_bits =
      !o.schedule_files.empty() || !o.traces.empty() || !o.policies.empty() || !o.configs.empty();
  const bool file_only = own_bits && o.schedules.empty();
  if (file_only) {
    for (const char* name : {"cycles", "cycle-length"}) {
      if (is_given(values, name)) {
        throw input_error("", 0, std::string("--") + name, "rows with bits of their own only",
                          "with --schedules: files, traces and policies have no such cycles");
      }
    }
  }
  const BitRange grad = parse_grad_bits(text("grad-bits"));
  o.bits.clear();
  if (!file_only || is_given(values, "bits")) {
    o.bits = parse_bit_ranges(text("bits"), grad.qmin, grad.qmax);
  }
  o.iterations = parse_count(text("iterations"), "--iterations", 1, kMostIterations);
  o.cycles = parse_count(text("cycles"), "--cycles", 1, kMostIterations);
  o.cycle_length = parse_cycle_length(text("cycle-length"));
  o.archs = parse_list(text("arch"), "--arch");
  if (is_given(values, "baseline")) o.baseline = parse_baseline(text("baseline"));
  o.reference = text("reference");
  o.operand_order = parse_operand_order(text("operand-order"));
  o.clock_given = is_given(values, "clock-mhz");
  o.clock_hz = 1e6 * parse_positive(text("clock-mhz"), "--clock-mhz", 1e6);
  o.result_bits.reset();
  if (text("result-bits") != "operand") {
    o.result_bits = static_cast<int>(parse_count(text("result-bits"), "--result-bits", 1, 64));
  }
  read_machine(values, o);
  o.energy = energy_settings(values);
  o.energy_table = text("energy-table");
  o.accuracy_file = text("accuracy");
  o.force = values.count("force") != 0;
  return o;
}

// Where results go besides the terminal.
struct Outputs {
  std::string json, csv, latex, plot;
  std::vector<std::string> columns;
  OutputPaths files;
};

Outputs outputs_from(const po::variables_map& values) {
  const std::string json = text_of(values, "json"), csv = text_of(values, "csv");
  const std::string latex = text_of(values, "latex"), plot = text_of(values, "plot");
  Outputs out{json, csv, latex, plot, {}, OutputPaths({json, csv, latex, plot})};
  if (!out.plot.empty()) check_plot_path(out.plot);
  if (is_given(values, "columns")) {
    out.columns = parse_list(text_of(values, "columns"), "--columns");
    check_columns(out.columns);
  }
  return out;
}

std::string check_value(const CheckVerdict& verdict) {
  return fmt::format("{}: {} tiles, {} GEMMs, {} RTL cycles", verdict.pass ? "pass" : "fail",
                     verdict.tiles, verdict.gemms, verdict.cycles);
}

}  // namespace

CompareOptions parse_compare_options(const std::vector<std::string>& args) {
  CompareOptions options = options_from(parse_options(args, describe()));
  options.command = command_text("bitcycle compare", args);
  return options;
}

int cmd_compare(const std::vector<std::string>& args) {
  const po::variables_map values = parse_options(args, describe());
  if (values.count("help") != 0) {
    std::cout << usage();
    return 0;
  }
  CompareOptions options = options_from(values);
  options.command = command_text("bitcycle compare", args);
  Outputs outputs = outputs_from(values);
  std::uint64_t tiles = 0, seed = 0;
  if (is_given(values, "check")) {
    tiles = parse_count(text_of(values, "check"), "--check", 1, kMostTiles);
    seed = parse_count(text_of(values, "seed"), "--seed", 0, ~std::uint64_t{0});
  } else if (is_given(values, "seed")) {
    throw input_error("", 0, "--seed", "no --check", "with --check");
  }

  CompareResult result = run_compare(options);
  if (!outputs.columns.empty()) resolve_columns(outputs.columns, result);
  if (tiles > 0) {
    result.check = check_tiles(result.check_items, tiles, seed);
    result.assumptions.push_back({"rtl_check", check_value(*result.check), result.check->text, ""});
  } else {
    result.assumptions.push_back(
        {"rtl_check", "not run", "--check K co-simulates K tiles of this job on the RTL", ""});
  }
  outputs.files.add(outputs.json, outputs.json.empty() ? "" : report_json(result));
  outputs.files.add(outputs.csv, outputs.csv.empty() ? "" : report_csv(result));
  outputs.files.add(outputs.latex,
                    outputs.latex.empty() ? "" : report_latex(result, outputs.columns));
  // All files are written beside their places by now; drawing is the last that can fail.
  if (!outputs.plot.empty()) draw_plot(report_plot(result), outputs.plot);
  outputs.files.commit();
  if (!outputs.files.to_stdout()) std::cout << printable(report_text(result, outputs.columns));
  std::cout.flush();
  return result.check && !result.check->pass ? 1 : 0;
}

}  // namespace bitcycle
