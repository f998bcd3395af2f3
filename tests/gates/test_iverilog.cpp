// The gate simulator against Icarus Verilog with delays from OpenSTA's SDF, on a PE.
#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>

#include "golden/counter_random.hpp"
#include "golden/text_file.hpp"
#include "model/gates/gate_sim.hpp"
#include "sim/gate_stimuli.hpp"
#include "sim/module_probe.hpp"
#include "sim/paths.hpp"
#include "sim/process.hpp"
#include "sim/synthesis.hpp"
#include "tests/gates/libraries.hpp"

using namespace bitcycle;

namespace {

constexpr int kCycles = 400;
constexpr int kWarmUp = 40;

std::string slurp(const std::string& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

void shell(const std::string& command, const std::string& dir) {
  INFO(command);
  const int code = run_logged({"sh", "-c", "cd " + dir + " && " + command}, dir + "/log");
  INFO(slurp(dir + "/log").substr(0, 2000));
  REQUIRE(code == 0);
}

bool available(const std::string& program) {
  return run_logged({"sh", "-c", "command -v " + program}, "/dev/null") == 0;
}

// Cell models of yosys with a path from every input to every output, for the SDF to land on.
std::string with_paths(const std::string& cells) {
  std::string out;
  std::istringstream in(cells);
  std::vector<std::string> inputs, outputs;
  for (std::string line; std::getline(in, line);) {
    std::smatch m;
    if (std::regex_match(line, m, std::regex("\\s*input (\\w+);"))) inputs.push_back(m[1]);
    if (std::regex_match(line, m, std::regex("\\s*output (\\w+);"))) outputs.push_back(m[1]);
    if (line == "endmodule") {
      out += "  specify\n";
      for (const auto& o : outputs) {
        for (const auto& i : inputs) out += "    (" + i + " => " + o + ") = (0.001, 0.001);\n";
      }
      out += "  endspecify\n";
      inputs.clear();
      outputs.clear();
    }
    out += line + "\n";
  }
  return out;
}

// Icarus takes the middle of a triple, which OpenSTA leaves empty.
std::string with_middles(const std::string& sdf) {
  static const std::regex triple("\\(([-0-9.]+)::([-0-9.]+)\\)");
  std::string out;
  auto from = sdf.cbegin();
  for (std::sregex_iterator it(sdf.begin(), sdf.end(), triple), end; it != end; ++it) {
    out.append(from, (*it)[0].first);
    const double middle = 0.5 * (std::stod((*it)[1]) + std::stod((*it)[2]));
    out += "(" + (*it)[1].str() + ":" + std::to_string(middle) + ":" + (*it)[2].str() + ")";
    from = (*it)[0].second;
  }
  return out.append(from, sdf.cend());
}

// Edges 0-1 and 1-0 of every net from `start` (ps) on, by name with index.
std::map<std::string, std::uint64_t> edges_in(const std::string& vcd, std::uint64_t start) {
  struct Var {
    std::string name, value;
    bool vector = false;
  };
  std::map<std::string, Var> vars;
  std::map<std::string, std::uint64_t> edges;
  std::istringstream in(vcd);
  std::uint64_t now = 0;
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "$var") {
      std::string type, code, name;
      int width = 0;
      words >> type >> width >> code >> name;
      vars[code] = {name, std::string(static_cast<std::size_t>(width), 'x'), width > 1};
    } else if (!line.empty() && line[0] == '#') {
      now = std::stoull(line.substr(1));
    } else if (!line.empty() && std::string("01xzb").find(line[0]) != std::string::npos) {
      std::string value = line[0] == 'b' ? word.substr(1) : line.substr(0, 1);
      std::string code = line.substr(1);
      if (line[0] == 'b') words >> code;
      Var& v = vars.at(code);
      value.insert(0, v.value.size() - value.size(), value[0] == '1' ? '0' : value[0]);
      for (std::size_t i = 0; i < value.size(); ++i) {
        const char a = v.value[i];
        const char b = value[i];
        if (now < start || a == b || a == 'x' || b == 'x') continue;
        const auto bit = std::to_string(value.size() - 1 - i);
        ++edges[v.vector ? v.name + "[" + bit + "]" : v.name];
      }
      v.value = value;
    }
  }
  return edges;
}

}  // namespace

TEST_CASE("events and switching energy agree with Icarus and OpenSTA within 5 %") {
  const auto set = known_libraries()[0];
  if (!set.present() || !available("yosys") || !available("iverilog") || !available("sta")) {
    std::cout << "skipped: needs yosys, iverilog, sta and qflow-tech-osu018\n";
    return;
  }
  const auto library = load_liberty(set.files);
  const auto small = small_array(resolve_array("serial-1x1"));
  ArrayCore core(small);
  const auto probe = make_probe("pe", small, core);
  const ScratchDirectory scratch;
  const std::string& dir = scratch.path();
  SynthesisRequest request;
  request.module = "bc_pe";
  request.files = probe->files();
  request.parameters = probe->parameters();
  // Delays of a clock gate would be those of a clock tree that is not there.
  without_clock_gates(request);
  request.rtl_dir = source_dir() + "/rtl";
  request.out_dir = dir;
  synthesise(library, request);
  // Back from Verilog, so that nets are called the same here and there.
  shell(
      "yosys -q -p 'read_liberty -lib library.lib; read_verilog netlist.v;"
      " hierarchy -top bc_pe; write_json named.json'",
      dir);
  shell(
      "yosys -q -p 'read_liberty -ignore_miss_func library.lib; proc;"
      " write_verilog -noattr cells.v'",
      dir);
  const auto netlist = load_netlist(dir + "/named.json", library, "bc_pe");
  const GateModel model(netlist, library, {});
  const double period = 4.0 * std::ceil(model.critical_path() * 1e9 / 2.0);  // ns, even
  const double delay = model.conditions().input_delay * 1e9;

  // OpenSTA, with the same loads and slews at the borders.
  {
    std::ofstream out(dir + "/sta.tcl");
    out << "read_liberty " << set.files[0] << "\nread_verilog netlist.v\nlink_design bc_pe\n"
        << "create_clock -name c -period " << period << " [get_ports clk_i]\n"
        << "set_input_transition " << model.conditions().input_slew * 1e9 << " [all_inputs]\n"
        << "set_load " << model.conditions().output_load * 1e12 << " [all_outputs]\n"
        << "write_sdf -divider . raw.sdf\nexit\n";
  }
  shell("sta -no_splash -exit sta.tcl", dir);
  std::ofstream(dir + "/pe.sdf") << with_middles(slurp(dir + "/raw.sdf"));
  std::ofstream(dir + "/paths.v") << with_paths(slurp(dir + "/cells.v"));

  // One stimulus for both: random data, controls now and then.
  const std::uint64_t seed = 5;
  GateSim sim(model, period * 1e-9);
  std::vector<std::uint64_t> inputs((model.inputs().size() + 63) / 64);
  std::uint64_t events = 0;
  std::int64_t switching = 0;
  {
    std::ofstream hex(dir + "/stimulus.hex");
    const auto toggle_sum = [&] { return sim.switching(); };
    std::int64_t before = 0;
    for (int c = 0; c < kCycles; ++c) {
      const auto k = static_cast<std::uint64_t>(c);
      std::string bits;
      std::fill(inputs.begin(), inputs.end(), 0);
      std::size_t at = 0;
      for (const auto& port : netlist.ports) {
        if (!port.input || port.name == "clk_i") continue;
        for (std::size_t b = 0; b < port.nets.size(); ++b, ++at) {
          const auto random = counter_random(seed, at, k);
          const bool often = port.nets.size() > 8 || port.name == "add_i";
          const bool value = c < 8 || (often ? (random & 1U) != 0 : random % 8 == 0);
          if (value) inputs[at / 64] |= std::uint64_t{1} << at % 64;
          bits.insert(bits.begin(), value ? '1' : '0');
        }
      }
      hex << bits << "\n";
      const auto cycle = sim.cycle(inputs.data());
      if (c >= kWarmUp) events += cycle.events;
      if (c == kWarmUp - 1) before = toggle_sum();
    }
    switching = toggle_sum() - before -
                2 * static_cast<std::int64_t>(kCycles - kWarmUp) * model.clock_switching();
  }
  {
    std::ofstream tb(dir + "/tb.v");
    tb << "`timescale 1ns/1ps\nmodule tb;\n  reg clk = 0;\n";
    std::string map, list;
    std::size_t at = 0;
    for (const auto& port : netlist.ports) {
      const auto width = port.nets.size();
      if (port.name == "clk_i") {
        list += ", .clk_i(clk)";
      } else if (port.input) {
        list +=
            ", ." + port.name + "(in[" + std::to_string(at) + " +: " + std::to_string(width) + "])";
        at += width;
      }
    }
    tb << "  reg [" << at - 1 << ":0] in = 0;\n  reg [" << at - 1 << ":0] all [0:" << kCycles - 1
       << "];\n  integer i;\n  bc_pe dut (" << list.substr(2) << ");\n"
       << "  initial begin\n    $sdf_annotate(\"pe.sdf\", dut);\n"
       << "    $readmemb(\"stimulus.hex\", all);\n    $dumpfile(\"out.vcd\");\n"
       << "    $dumpvars(1, dut);\n    for (i = 0; i < " << kCycles << "; i = i + 1) begin\n"
       << "      clk = 1;\n      #" << delay << " in = all[i];\n      #" << period / 2 - delay
       << " clk = 0;\n      #" << period / 2 << ";\n    end\n    $finish;\n  end\nendmodule\n";
  }
  shell(
      "sed -i '1i `timescale 1ns/1ps' netlist.v paths.v && iverilog -g2012 -gspecify -o sim"
      " tb.v netlist.v paths.v && vvp -n sim",
      dir);

  const auto start = static_cast<std::uint64_t>(kWarmUp * period * 1000);
  std::uint64_t other_events = 0;
  double other_switching = 0.0;
  std::map<std::string, double> load;
  for (std::uint32_t n = 2; n < netlist.nets.size(); ++n) load[netlist.nets[n]] = model.load(n);
  for (const auto& [name, count] : edges_in(slurp(dir + "/out.vcd"), start)) {
    const auto it = load.find(name);
    if (it == load.end() || name == "clk_i") continue;
    other_events += count;
    other_switching +=
        static_cast<double>(count) * 0.5 * it->second * model.voltage() * model.voltage();
  }
  const double ours = static_cast<double>(switching) * model.joules_per_unit();
  WARN("events " << events << " against " << other_events << ", switching " << ours * 1e12
                 << " pJ against " << other_switching * 1e12 << " pJ");
  CHECK(other_events > 10000);
  CHECK(static_cast<double>(events) == Approx(static_cast<double>(other_events)).epsilon(0.05));
  CHECK(ours == Approx(other_switching).epsilon(0.05));
}
