#include "sim/cmd_cosim.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "model/core.hpp"
#include "sim/cli.hpp"
#include "sim/cosim.hpp"
#include "sim/judge.hpp"
#include "sim/rtl_library.hpp"

namespace bitcycle {
namespace {

namespace po = boost::program_options;

constexpr std::uint64_t kMostDimension = 0xffffffffULL;
constexpr std::uint64_t kMostJobs = 1000000000ULL;
constexpr std::uint64_t kAnySeed = 0xffffffffffffULL;

const char* const kCosimHelp = R"(Usage: bitcycle cosim [options]

Runs the array's Verilated RTL and its SystemC model side by side under one SystemC clock and
compares every architectural register and port in every cycle. Results are compared with the golden
model as integers, cycles and event counts with the formula. At the first difference it stops,
prints cycle, instance, signal and both values, and leaves an FST waveform of the cycles around it.

Examples:
  bitcycle cosim --m 5 --n 6 --k 40 --bits 3x8 --signed us
  bitcycle cosim --random 500 --seed 7
  bitcycle cosim --all-precisions 1 --arch ci-2x2-s1
  bitcycle cosim --inject g_col[0].g_pe[0].u_pe.ac_q:3:30     (exit code 1: the checker catches it)

)";

po::options_description cosim_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("help,h", "print this text");
  add("arch", po::value<std::string>()->default_value("ci-1x1-s4"),
      "preset, CI configuration or YAML file of array parameters");
  add("m", po::value<std::string>()->default_value("8"), "rows of A");
  add("n", po::value<std::string>()->default_value("8"), "rows of W (columns of the result)");
  add("k", po::value<std::string>()->default_value("64"), "reduction length");
  add("bits", po::value<std::string>()->default_value("8x8"), "widths of A and W, as 3x8");
  add("signed", po::value<std::string>()->default_value("uu"),
      "signs of A and W: u or s each, as us");
  add("pattern", po::value<std::string>()->default_value("uniform"),
      "operands: uniform, minimum, maximum, all-ones, alternating, cancel, zero, one-hot");
  add("seed", po::value<std::string>()->default_value("1"),
      "seed of operands, stalls, unused lanes and register start values");
  add("random", po::value<std::string>(), "instead of one GEMM: so many random ones, back to back");
  add("all-precisions", po::value<std::string>(),
      "instead: every width pair and sign mode, each so many times");
  add("stalls", po::value<std::string>()->default_value("0"),
      "percent of cycles withheld at random on every handshake (one GEMM only)");
  add("inject", po::value<std::string>(),
      "REG:BIT:CYCLE, flip one bit of an RTL register before that edge");
  add("list-registers", "print the registers that are compared, and stop");
  add("wave", po::value<std::string>(),
      "write an FST waveform of the RTL (whole run, or around a mismatch)");
  add("max-cycles", po::value<std::string>(), "stop after so many cycles (exit code 1)");
  add("rtl-model", po::value<std::string>(),
      "use this shared object (from 'bitcycle verilate') as the RTL");
  add("json", po::value<std::string>(), "write the verdict as JSON ('-' = standard output)");
  return options;
}

Precision precision(const std::string& bits, char sign, const ArrayConfig& array) {
  const auto value = parse_count(bits, "--bits", 1, static_cast<unsigned>(array.p_max));
  return {static_cast<int>(value), sign == 's'};
}

// Widths and signs of the single GEMM.
void read_precisions(const po::variables_map& values, CosimOptions& o) {
  const std::string bits = text_of(values, "bits");
  const std::string signs = text_of(values, "signed");
  const std::size_t x = bits.find('x');
  if (x == std::string::npos) throw input_error("", 0, "--bits", "'" + bits + "'", "PAxPW, as 3x8");
  if (signs.size() != 2 || signs.find_first_not_of("us") != std::string::npos) {
    throw input_error("", 0, "--signed", "'" + signs + "'", "uu, us, su or ss");
  }
  o.descriptor.a = precision(bits.substr(0, x), signs[0], o.array);
  o.descriptor.w = precision(bits.substr(x + 1), signs[1], o.array);
}

CosimOptions read_options(const po::variables_map& values) {
  CosimOptions o;
  o.array = resolve_array(text_of(values, "arch"));
  o.seed = parse_count(text_of(values, "seed"), "--seed", 0, kAnySeed);
  o.descriptor.gemm.m = parse_count(text_of(values, "m"), "--m", 1, kMostDimension);
  o.descriptor.gemm.n = parse_count(text_of(values, "n"), "--n", 1, kMostDimension);
  o.descriptor.gemm.k = parse_count(text_of(values, "k"), "--k", 1, kMostDimension);
  const bool campaign = is_given(values, "random") || is_given(values, "all-precisions");
  if (!campaign) read_precisions(values, o);
  o.pattern = operand_pattern_from_name(text_of(values, "pattern"));
  const auto percent = parse_count(text_of(values, "stalls"), "--stalls", 0, 99);
  const int stall = static_cast<int>(percent * 256 / 100);
  o.stalls = {stall, stall, stall, stall};
  if (is_given(values, "random")) {
    o.random = parse_count(text_of(values, "random"), "--random", 1, kMostJobs);
  }
  if (is_given(values, "all-precisions")) {
    o.all_precisions =
        parse_count(text_of(values, "all-precisions"), "--all-precisions", 1, kMostJobs);
  }
  if (o.random > 0 || o.all_precisions > 0) {
    if (o.random > 0 && o.all_precisions > 0) {
      throw input_error("", 0, "--random", "with --all-precisions", "one of them");
    }
    for (const char* name : {"m", "n", "k", "bits", "signed", "pattern", "stalls"}) {
      if (is_given(values, name)) {
        throw input_error("", 0, std::string("--") + name, "with a campaign",
                          "it for a single GEMM only");
      }
    }
  }
  // A co-simulation holds its operands and results in memory.
  const Gemm& g = o.descriptor.gemm;
  constexpr u128 kMostElements = u128{1} << 28;
  if (u128{g.m} * g.k + u128{g.n} * g.k + u128{g.m} * g.n > kMostElements) {
    throw input_error("", 0, "--m --n --k", fmt::format("{} x {} x {}", g.m, g.n, g.k),
                      "at most 2^28 operand and result elements; 'compare' costs larger GEMMs");
  }
  if (is_given(values, "inject")) o.inject = parse_injection(text_of(values, "inject"));
  if (is_given(values, "max-cycles")) {
    o.max_cycles = parse_count(text_of(values, "max-cycles"), "--max-cycles", 1, ~0ULL >> 1U);
  }
  o.wave = text_of(values, "wave");
  if (!o.wave.empty() && (o.wave.size() < 5 || o.wave.substr(o.wave.size() - 4) != ".fst")) {
    throw input_error("", 0, "--wave", "'" + o.wave + "'", "a file name that ends in .fst");
  }
  o.rtl_model = text_of(values, "rtl-model");
  o.progress = true;
  return o;
}

nlohmann::ordered_json to_json(const CosimOptions& o, const CosimReport& r) {
  nlohmann::ordered_json out;
  out["verdict"] = r.pass ? "pass" : "fail";
  out["arch"] = o.array.name;
  out["cycles_rtl"] = r.cycles_rtl;
  out["cycles_systemc"] = r.cycles_model;
  out["cycles_formula"] = r.cycles_formula;
  if (r.totals.gemms == 0) out["cycles_formula"] = nullptr;  // stopped before one was finished
  out["stalled"] = {{"gemms", r.totals.stalled},
                    {"cycles_rtl", r.totals.stalled_cycles},
                    {"cycles_least", r.totals.stalled_least},
                    {"cycles_most", r.totals.stalled_most}};
  out["gemms"] = r.totals.gemms;
  out["tiles"] = r.totals.tiles;
  out["registers"] = r.registers;
  out["mismatch"] = nullptr;
  if (r.mismatch) {
    out["mismatch"] = {{"cycle", r.mismatch->cycle},
                       {"signal", r.mismatch->signal},
                       {"rtl", r.mismatch->rtl},
                       {"systemc", r.mismatch->model}};
  }
  out["failure"] = r.failure;
  out["wave"] = r.wave;
  out["seed"] = o.seed;
  return out;
}

void print_report(const CosimOptions& o, const CosimReport& r) {
  const bool campaign = o.random > 0 || o.all_precisions > 0;
  fmt::print("array      {}  ({})\n", o.array.name, rtl_parameters(o.array));
  fmt::print("work       {}\n", campaign
                                    ? fmt::format("{} GEMMs, {} tiles, {} refused on purpose, "
                                                  "{} with random stalls, {} overflowed",
                                                  r.totals.gemms, r.totals.tiles, r.totals.refused,
                                                  r.totals.stalled, r.totals.overflows)
                                    : describe(o.descriptor));
  fmt::print("compared   {} registers and all ports, RTL with SystemC model, every cycle\n",
             r.registers);
  const bool none = r.totals.gemms == 0;
  fmt::print("cycles     RTL {}   SystemC {}   formula {}\n", r.cycles_rtl, r.cycles_model,
             none ? "- (no GEMM was finished)" : std::to_string(r.cycles_formula));
  if (r.totals.stalled > 0) {
    fmt::print(
        "stalled    RTL {} in {} GEMMs not counted above; without stalls {}, with every "
        "withheld cycle {}\n",
        r.totals.stalled_cycles, r.totals.stalled, r.totals.stalled_least, r.totals.stalled_most);
  }
  if (r.pass) {
    fmt::print(
        "verdict    PASS: registers, results, sums, flags, events and cycles agree "
        "(seed {})\n",
        o.seed);
    if (r.injected) {
      fmt::print(
          "note       the flipped bit had no effect: the register was not in use, or was written "
          "before anything read it\n");
    }
  } else {
    fmt::print("verdict    FAIL: {} (seed {})\n", r.failure, o.seed);
  }
  if (!r.wave.empty()) fmt::print("waveform   {}\n", r.wave);
}

}  // namespace

int cmd_cosim(const std::vector<std::string>& args) {
  const auto options = cosim_options();
  const auto values = parse_options(args, options);
  if (values.count("help") > 0) {
    std::ostringstream text;
    text << options;
    fmt::print("{}{}", kCosimHelp, text.str());
    return 0;
  }
  if (values.count("list-registers") > 0) {
    ArrayCore core(resolve_array(text_of(values, "arch")));
    for (const auto& view : core.registers()) {
      fmt::print("{}  {} x {} bits\n", view.name, view.count, view.bits);
    }
    return 0;
  }
  const CosimOptions o = read_options(values);
  const std::string json = text_of(values, "json");
  if (!json.empty() && json != "-") check_output_path(json);
  if (!o.wave.empty()) check_output_path(o.wave);
  const CosimReport report = cosim(o);
  if (json == "-") {
    fmt::print("{}\n",
               to_json(o, report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    print_report(o, report);
    if (!json.empty())
      write_file(
          json,
          to_json(o, report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  return report.pass ? 0 : 1;
}

int cmd_verilate(const std::vector<std::string>& args) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("help,h", "print this text");
  add("arch", po::value<std::string>(), "preset, CI configuration or YAML file");
  add("flavour", po::value<std::string>()->default_value("plain"),
      "plain (fastest), wave (can write FST), inject (wave, and registers can be overwritten)");
  add("out", po::value<std::string>(), "shared object to write");
  add("rtl", po::value<std::string>(), "directory of the RTL instead of the project's");
  add("jobs", po::value<std::string>(), "compiler processes at once");
  add("machine", "the whole machine around the array, with the sizes that 'run' uses");
  add("print-params", "print the parameters as Verilator's -G takes them, and stop");
  const auto values = parse_options(args, options);
  if (values.count("help") > 0) {
    std::ostringstream text;
    text << options;
    fmt::print(
        "Usage: bitcycle verilate --arch NAME|FILE --out FILE.so [options]\n\n"
        "Verilates the RTL of an array (or machine) ahead of time. The other commands do so by "
        "themselves, "
        "into a cache.\n\nExample:\n"
        "  bitcycle verilate --arch ci-1x1-s4 --flavour wave --out array.so\n\n{}",
        text.str());
    return 0;
  }
  if (values.count("arch") == 0) throw input_error("", 0, "--arch", "nothing", "an array");
  const ArrayConfig array = resolve_array(text_of(values, "arch"));
  const bool machine = values.count("machine") > 0;
  if (values.count("print-params") > 0) {
    fmt::print("{}\n", machine ? rtl_parameters(machine_for(array)) : rtl_parameters(array));
    return 0;
  }
  if (values.count("out") == 0) throw input_error("", 0, "--out", "nothing", "a file name");
  const std::string out = text_of(values, "out");
  const int jobs = is_given(values, "jobs")
                       ? static_cast<int>(parse_count(text_of(values, "jobs"), "--jobs", 1, 256))
                       : 0;
  const RtlFlavour flavour = parse_flavour(text_of(values, "flavour"));
  if (machine) {
    verilate_machine(machine_for(array), flavour, out, text_of(values, "rtl"), jobs);
  } else {
    verilate_array(array, flavour, out, text_of(values, "rtl"), jobs);
  }
  return 0;
}

}  // namespace bitcycle
