#include "sim/synthesis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/paths.hpp"
#include "sim/process.hpp"

namespace bitcycle {
namespace {

namespace fs = std::filesystem;

// "inverting" 0: a buffer; 1: an inverter; -1: something else.
int single_input(const LibertyCell& cell) {
  if (cell.sequential || cell.dont_use) return -1;
  const LibertyPin* in = nullptr;
  const LibertyPin* out = nullptr;
  for (const auto& p : cell.pins) {
    const bool output = p.direction == PinDirection::kOutput;
    const LibertyPin*& which = output ? out : in;
    if (which != nullptr || (output && (!p.function || p.three_state))) return -1;
    which = &p;
  }
  if (in == nullptr || out == nullptr || out->function->names().size() != 1) return -1;
  return out->function->eval(0) ? 1 : 0;
}

// The second smallest buffer (the smallest is often a delay cell or hardly drives anything).
std::string driving_cell(const LibertyLibrary& library) {
  std::vector<std::pair<double, std::string>> buffers;
  bool inverter = false;
  for (const auto& [name, cell] : library.cells) {
    const int kind = single_input(cell);
    inverter = inverter || kind == 1;
    if (kind == 0) buffers.emplace_back(cell.area, name);
  }
  if (!inverter) {
    throw input_error("", 0, "--liberty", library.title() + " without inverter",
                      "a standard cell library");
  }
  if (buffers.empty()) return "";
  std::sort(buffers.begin(), buffers.end());
  return buffers[buffers.size() > 1 ? 1 : 0].second;
}

std::string first_line_in(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

std::string synthesise(const LibertyLibrary& library, const SynthesisRequest& r) {
  if (yosys_version().empty()) {
    throw input_error("", 0, "yosys", "no such program", "yosys (scripts/setup installs it)");
  }
  const bool has_flip_flop =
      std::any_of(library.cells.begin(), library.cells.end(),
                  [](const auto& c) { return c.second.sequential && !c.second.sequential->latch; });
  if (!has_flip_flop) {
    throw input_error("", 0, "--liberty", library.title() + " without flip-flop",
                      "a standard cell library");
  }
  fs::create_directories(r.out_dir);
  const std::string liberty = r.out_dir + "/library.lib";
  write_file(liberty, liberty_for_synthesis(library));
  std::vector<std::string> words = {source_dir() + "/scripts/synthesise",
                                    "--module",
                                    r.module,
                                    "--liberty",
                                    liberty,
                                    "--out",
                                    r.out_dir,
                                    "--rtl",
                                    r.rtl_dir};
  if (const auto buffer = driving_cell(library); !buffer.empty()) {
    words.insert(words.end(), {"--buffer", buffer});
  }
  const double ps = r.delay > 0 ? r.delay * 1e12 : 1e6;
  words.insert(words.end(), {"--delay", fmt::format("{:.0f}", ps)});
  if (r.keep_hierarchy) words.emplace_back("--keep-hierarchy");
  for (const auto& box : r.blackboxes) words.insert(words.end(), {"--blackbox", box});
  if (r.flatten_mapped) words.emplace_back("--flatten-mapped");
  for (const auto& file : r.files) words.push_back(file);
  for (const auto& [name, value] : r.parameters) words.push_back(fmt::format("{}={}", name, value));
  // Clock gates are the library's; without them the RTL's own file passes the clock.
  const bool gated = std::any_of(r.parameters.begin(), r.parameters.end(), [](const auto& p) {
    return p.first == "CLOCK_GATING" && p.second != 0;
  });
  if (gated) {
    const std::string gate = r.out_dir + "/clock_gate.v";
    write_file(gate, clock_gate_verilog(library));
    words.insert(words.end(), {"--clock-gate", gate});
  }
  const std::string log = r.out_dir + "/synthesise.log";
  if (run_logged(words, log) != 0) {
    throw std::runtime_error(
        fmt::format("synthesis of {} failed: {}", r.module, first_line_in(log)));
  }
  return r.out_dir + "/netlist.json";
}

void without_clock_gates(SynthesisRequest& request) {
  for (auto& [name, value] : request.parameters) {
    if (name == "CLOCK_GATING") value = 0;
  }
}

std::string yosys_version() {
  static const std::string version = first_line_of({"yosys", "-V"});
  return version;
}

ScratchDirectory::ScratchDirectory() {
  path_ = (fs::temp_directory_path() / "bitcycle-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) {
    throw input_error(path_, 0, "temporary directory", "an error", "a writable $TMPDIR");
  }
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace bitcycle
