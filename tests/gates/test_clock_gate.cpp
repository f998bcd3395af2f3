// Clock gates against arithmetic by hand: integrated ones, and latch and AND.
#include <catch2/catch.hpp>

#include "model/gates/gate_sim.hpp"
#include "tests/gates/tiny.hpp"
#include "tests/workloads/error_text.hpp"

using namespace bitcycle;
using Catch::Matchers::Contains;

namespace {

// Pins as in tiny.hpp: 0.01 pF, clocks 0.02 pF.
const std::string kIntegrated = R"(
  cell (ICG) {
    area : 5;
    dont_use : true;
    clock_gating_integrated_cell : "latch_posedge_precontrol";
    statetable ("CLK EN SE", "IQ") { table : "L L L : - : L"; }
    pin (IQ) { direction : internal; internal_node : "IQ"; }
    pin (CLK) { direction : input; clock : true; clock_gate_clock_pin : true; capacitance : 0.02; }
    pin (EN) { direction : input; clock_gate_enable_pin : true; capacitance : 0.01; }
    pin (SE) { direction : input; clock_gate_test_pin : true; capacitance : 0.01; }
    pin (GCLK) {
      direction : output;
      clock_gate_out_pin : true;
      state_function : "CLK * IQ";
      internal_power () {
        related_pin : "CLK";
        rise_power (scalar) { values ("0.1"); }
        fall_power (scalar) { values ("0.2"); }
      }
      timing () {
        related_pin : "CLK";
        cell_rise (scalar) { values ("7"); }
        cell_fall (scalar) { values ("7"); }
        rise_transition (scalar) { values ("9"); }
        fall_transition (scalar) { values ("9"); }
      }
    }
  }
)";
const std::string kParts = R"(
  cell (LATCH) {
    area : 4;
    latch (IQ, IQN) { data_in : "D"; enable : "G"; }
    pin (G) { direction : input; clock : true; capacitance : 0.02; }
    pin (D) { direction : input; capacitance : 0.01; }
    pin (Q) { direction : output; function : "IQ"; }
  }
  cell (AND2) {
    area : 3;
    pin (A) { direction : input; capacitance : 0.01; }
    pin (B) { direction : input; capacitance : 0.01; }
    pin (Y) { direction : output; function : "A B"; }
  }
)";

LibertyLibrary library_with(const std::string& cells) {
  std::string text = kTinyLiberty;
  text.insert(text.rfind('}'), cells);
  return make_liberty({LibertyFile::parse(text, "gates.lib")});
}

struct Bench {
  Bench(const std::string& cells, const std::string& netlist_cells,
        const std::string& ports = port_json("en", "input", "3") + "," +
                                   port_json("d", "input", "4") + "," +
                                   port_json("q", "output", "6"))
      : library(library_with(cells)),
        netlist(parse_netlist(netlist_json(ports, netlist_cells), "n.json", library)),
        model(netlist, library, conditions()),
        sim(model, 10e-9) {}
  static GateConditions conditions() {
    GateConditions c;
    c.input_slew = 0.1e-9;
    c.output_load = 0.02e-12;
    c.input_delay = 1e-9;
    c.clock_tree_factor = 1.5;
    return c;
  }
  double pj(bool en, bool d) {
    const std::uint64_t inputs = (d ? 1U : 0U) | (en ? 2U : 0U);  // ports by name
    return static_cast<double>(sim.cycle(&inputs).energy) * model.joules_per_unit() * 1e12;
  }
  LibertyLibrary library;
  Netlist netlist;
  GateModel model;
  GateSim sim;
};

Approx near(double value) { return Approx(value).epsilon(1e-6); }

const std::string kFlipFlop =
    R"("f": {"type": "DFF", "connections": {"CLK": [5], "D": [4], "Q": [6]}},)";
const std::string kGate =
    R"("g": {"type": "ICG", "connections": {"CLK": [2], "EN": [3], "SE": ["0"], "GCLK": [5]}})";
const std::string kGateOfParts =
    R"("i": {"type": "INV", "connections": {"A": [2], "Y": [7]}},
       "l": {"type": "LATCH", "connections": {"G": [7], "D": [3], "Q": [8]}},
       "a": {"type": "AND2", "connections": {"A": [2], "B": [8], "Y": [5]}})";

// An edge of a clock net of 0.02 pF at 2 V, with the clock tree.
constexpr double kEdge = 0.5 * 0.02 * 4.0 * 1.5;

}  // namespace

TEST_CASE("a flip-flop behind an integrated clock gate: energy and state by hand") {
  Bench b(kIntegrated, kFlipFlop + kGate);
  // The gate is shut: the root's two edges, and those of the inputs (0.02 each, 0.008 in D).
  CHECK(b.pj(true, true) == near(2 * kEdge + 0.02 + 0.02 + 0.008));
  CHECK_FALSE(b.sim.output(0));
  // It is open: two edges behind it (0.1 and 0.2 inside), Q rises (0.08), and the clock pin of the
  // flip-flop falls with D = Q (0.004).
  CHECK(b.pj(true, true) == near(4 * kEdge + 0.1 + 0.2 + 0.08 + 0.004));
  CHECK(b.sim.output(0));
  // The enable falls after the edge: this pulse is whole.
  CHECK(b.pj(false, true) == near(4 * kEdge + 0.1 + 0.2 + 0.003 + 0.004 + 0.02));
  // And the next one is missing: D changes, Q does not.
  CHECK(b.pj(false, false) == near(2 * kEdge + 0.02 + 0.009));
  CHECK(b.pj(false, false) == near(2 * kEdge));
  CHECK(b.sim.output(0));
}

TEST_CASE("a clock gate of latch, AND and inverter does what an integrated one does") {
  Bench parts(kParts, kFlipFlop + kGateOfParts);
  Bench whole(kIntegrated, kFlipFlop + kGate);
  std::uint32_t random = 1;
  for (int i = 0; i < 500; ++i) {
    random = random * 1664525U + 1013904223U;
    const bool en = (random >> 30U & 1U) != 0, d = (random >> 31U) != 0;
    parts.pj(en, d);
    whole.pj(en, d);
    CAPTURE(i);
    REQUIRE(parts.sim.output(0) == whole.sim.output(0));
  }
  // Shut: root (inverter and AND) and the net to the latch, and the inverter itself.
  parts.pj(false, false);
  CHECK(parts.pj(false, false) == near(4 * kEdge + 0.025 + 0.005));
}

TEST_CASE("a gate whose enable is high from the start lets the first pulse through") {
  Bench b(kIntegrated,
          R"("i": {"type": "INV", "connections": {"A": [3], "Y": [7]}},
             "g": {"type": "ICG", "connections": {"CLK": [2], "EN": [7], "SE": ["0"], "GCLK": [5]}},
             "f": {"type": "DFF", "connections": {"CLK": [5], "D": ["1"], "Q": [6]}})",
          port_json("en", "input", "3") + "," + port_json("q", "output", "6"));
  b.pj(false, false);
  CHECK(b.sim.output(0));
}

TEST_CASE("the clock's network has no delay and no part in the critical path") {
  Bench b(kIntegrated, kFlipFlop + kGate);
  // Clock to Q of a flip-flop, and the enable 1 ns after the edge; not the gate's own 7 ns.
  CHECK(b.model.critical_path() == Approx(1e-9).epsilon(1e-3));
  CHECK(b.model.slew(b.netlist.instances[1].nets[4], true) == Approx(0.1e-9));
}

TEST_CASE("the RTL's clock gate in cells of a library") {
  CHECK_THAT(clock_gate_verilog(library_with(kIntegrated + kParts)),
             Contains("ICG u_gate (.CLK(clk_i), .EN(en_i), .SE(1'b0), .GCLK(clk_o));") &&
                 Contains("(* blackbox *) module ICG"));
  const std::string parts = clock_gate_verilog(library_with(kParts));
  CHECK_THAT(parts, Contains("INV u_not (.A(clk_i), .Y(low));") &&
                        Contains("LATCH u_latch (.D(en_i), .G(low), .Q(held));") &&
                        Contains("AND2 u_and (.A(clk_i), .B(held), .Y(clk_o));"));
  CHECK_THAT(error_text([] { clock_gate_verilog(tiny_library()); }),
             Contains("without clock gate") && Contains("--no-clock-gates"));
}

TEST_CASE("clock gates are no cells for yosys to choose from") {
  CHECK(liberty_for_synthesis(library_with(kIntegrated)).find("ICG") == std::string::npos);
}
