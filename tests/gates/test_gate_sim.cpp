// Gates against arithmetic by hand. All numbers in pJ and ns stand in tests/gates/tiny.hpp.
#include <catch2/catch.hpp>

#include "golden/counter_random.hpp"
#include "model/gates/gate_sim.hpp"
#include "sim/array_area.hpp"
#include "tests/gates/tiny.hpp"
#include "tests/workloads/error_text.hpp"

using namespace bitcycle;

namespace {

struct Bench {
  Bench(const std::string& json, const GateConditions& c, double period = 10e-9,
        bool profile = false)
      : library(tiny_library()),
        netlist(parse_netlist(json, "n.json", library)),
        model(netlist, library, c),
        sim(model, period, profile) {}
  GateCycle cycle(std::uint64_t inputs) { return sim.cycle(&inputs); }
  double pj(std::int64_t units) const {
    return static_cast<double>(units) * model.joules_per_unit() * 1e12;
  }
  LibertyLibrary library;
  Netlist netlist;
  GateModel model;
  GateSim sim;
};

// Every arc is rounded to 2^-28 of the largest one.
Approx near(double value) { return Approx(value).epsilon(1e-6); }

GateConditions by_hand() {
  GateConditions c;
  c.input_slew = 0.1e-9;
  c.output_load = 0.02e-12;
  c.input_delay = 1e-9;
  return c;
}

const std::string kInverter =
    netlist_json(port_json("a", "input", "3") + "," + port_json("y", "output", "4"),
                 R"("i": {"type": "INV", "connections": {"A": [3], "Y": [4]}})");

// y = !(a & !a): a pulse of 0 on y while a has risen and b has not fallen yet.
const std::string kHazard =
    netlist_json(port_json("a", "input", "3") + "," + port_json("y", "output", "4") + "," +
                     port_json("b", "output", "5"),
                 R"("i": {"type": "INV", "connections": {"A": [3], "Y": [5]}},
       "n": {"type": "NAND2", "connections": {"A": [3], "B": [5], "Y": [4]}})");

const std::string kFlipFlop =
    netlist_json(port_json("d", "input", "3") + "," + port_json("q", "output", "4"),
                 R"("f": {"type": "DFF", "connections": {"CLK": [2], "D": [3], "Q": [4]}})");

}  // namespace

TEST_CASE("an inverter: energy and delay by hand") {
  Bench b(kInverter, by_hand());
  CHECK(b.sim.output(0));
  // 0.5 * 0.01 pF * (2 V)^2 for the input, falling output: 0.005.
  auto c = b.cycle(1);
  CHECK(b.pj(c.energy) == near(0.02 + 0.005));
  CHECK(c.events == 2);
  CHECK(c.settled * b.model.tick() * 1e9 == Approx(1.0 + 0.15).epsilon(1e-3));
  CHECK_FALSE(b.sim.output(0));
  CHECK(b.sim.leakage() == Approx(3e-9));
  // Rising: the middle of its table, 0.025; delay 0.25.
  c = b.cycle(0);
  CHECK(b.pj(c.energy) == near(0.02 + 0.025));
  CHECK(c.settled * b.model.tick() * 1e9 == Approx(1.0 + 0.25).epsilon(1e-3));
  CHECK(b.sim.leakage() == Approx(5e-9));
  // Nothing moves: nothing is spent.
  CHECK(b.cycle(0).energy == 0);
  CHECK(b.pj(b.sim.switching()) == near(0.04));
  CHECK(b.model.critical_path() == Approx(1.25e-9).epsilon(1e-3));
}

TEST_CASE("wires add to loads, and are paid for") {
  auto c = by_hand();
  c.wire_f_per_fanout = 0.005e-12;
  c.wire_f_per_net = 0.001e-12;
  Bench b(kInverter, c);
  // Input net: pin, wire of one fan-out and of the net. Output net: 0.001 pF.
  const double input = 0.5 * 0.016 * 4;
  const double output = 0.5 * 0.001 * 4;
  const double clock = 2 * 0.5 * 0.001 * 4;  // its net has a wire too
  CHECK(b.pj(b.cycle(1).energy) == near(input + output + clock + 0.005));
}

TEST_CASE("delays are inertial: a pulse shorter than the gate's delay never appears") {
  // b falls 0.15 ns after a (load 0.02 + 0.01 pF: 0.175), y would fall after 0.2.
  Bench b(kHazard, by_hand());
  const auto c = b.cycle(1);
  CHECK(c.events == 2);  // a and b
  // a: two pins; b: one pin of load; A of the NAND rises while B = 1: free; b falls: 0.005.
  CHECK(b.pj(c.energy) == near(0.5 * 0.02 * 4 + 0.5 * 0.01 * 4 + 0.005));
}

TEST_CASE("delays are inertial: a longer pulse costs both its edges") {
  auto conditions = by_hand();
  conditions.output_load = 0.06e-12;  // b falls after 0.1 + 0.07 pF / 0.04 pF * 0.1 = 0.275 ns
  Bench b(kHazard, conditions);
  const auto c = b.cycle(1);
  CHECK(c.events == 4);
  CHECK(b.pj(c.energy) ==
        near(0.5 * 0.02 * 4 + 0.5 * 0.01 * 4 + 0.005 + 0.050 + 0.060));  // by A, then by B
  CHECK(c.settled * b.model.tick() * 1e9 == Approx(1.0 + 0.275 + 0.1).epsilon(1e-3));
  CHECK(b.sim.output(b.model.output_at("y")));
}

TEST_CASE("energy of an input depends on the state before its edge") {
  // A toggles with B = 0 (b = !1): 0.002 rising and 0.001 falling, by `when`.
  const std::string json =
      netlist_json(port_json("a", "input", "3, 6") + "," + port_json("y", "output", "4"),
                   R"("n": {"type": "NAND2", "connections": {"A": [3], "B": [6], "Y": [4]}})");
  Bench b(json, by_hand());
  CHECK(b.pj(b.cycle(1).energy) == near(0.02 + 0.002));
  CHECK(b.pj(b.cycle(0).energy) == near(0.02 + 0.001));
  CHECK(b.pj(b.cycle(2).energy) == near(0.02));          // B rises
  CHECK(b.pj(b.cycle(3).energy) == near(0.02 + 0.050));  // A rises: y falls by A
  CHECK(b.pj(b.cycle(1).energy) == near(0.02 + 0.060));  // B falls: y rises by B
}

TEST_CASE("a flip-flop: every edge by hand") {
  auto conditions = by_hand();
  conditions.clock_tree_factor = 1.5;
  Bench b(kFlipFlop, conditions);
  const double net = 0.5 * 0.02 * 4 * 1.5;  // clock net, either edge
  // D = Q = 0: rise 0.003, fall 0.004.
  auto c = b.cycle(0);
  CHECK(b.pj(c.energy) == near(2 * net + 0.003 + 0.004));
  CHECK(c.clock == c.energy);
  // D rises after the clock's rise and before its fall: 0.02 + 0.008, and the fall costs 0.006.
  c = b.cycle(1);
  CHECK(b.pj(c.energy) == near(2 * net + 0.003 + 0.006 + 0.02 + 0.008));
  CHECK(b.pj(c.clock) == near(2 * net + 0.003 + 0.006));
  CHECK_FALSE(b.sim.output(0));
  // Now it is taken: the clock's own rise is free (D != Q before it), Q rises for 0.080.
  c = b.cycle(1);
  CHECK(b.sim.output(0));
  CHECK(b.pj(c.energy) == near(2 * net + 0.080 + 0.004));
  CHECK(c.settled * b.model.tick() * 1e9 == Approx(0.5).epsilon(1e-3));
  // And falls for 0.090, after D has fallen for 0.02 + 0.009.
  b.cycle(0);
  c = b.cycle(0);
  CHECK(b.pj(c.energy) == near(2 * net + 0.090 + 0.004));
  CHECK_FALSE(b.sim.output(0));
}

TEST_CASE("flip-flops in a row see one edge at one time") {
  const std::string json =
      netlist_json(port_json("d", "input", "3") + "," + port_json("q", "output", "4, 5, 6"),
                   R"("f": {"type": "DFF", "connections": {"CLK": [2], "D": [3], "Q": [4]}},
                      "g": {"type": "DFF", "connections": {"CLK": [2], "D": [4], "Q": [5]}},
                      "h": {"type": "DFF", "connections": {"CLK": [2], "D": [5], "Q": [6]}})");
  Bench b(json, by_hand());
  const unsigned bits[] = {1, 0, 1, 1, 0, 0, 1, 0};
  unsigned history = 0;
  for (const unsigned bit : bits) {
    b.cycle(bit);
    CHECK(b.sim.output_bits(0, 3) == (history & 7U));
    history = history << 1 | bit;
  }
}

TEST_CASE("the total is exactly the sum over arcs of count times energy") {
  const std::uint64_t seed = 99;
  INFO("seed " << seed);
  auto conditions = by_hand();
  conditions.output_load = 0.06e-12;
  conditions.clock_tree_factor = 1.3;
  const std::string json =
      netlist_json(port_json("a", "input", "3, 6") + "," + port_json("y", "output", "4, 7, 8"),
                   R"("i": {"type": "INV", "connections": {"A": [3], "Y": [5]}},
         "n": {"type": "NAND2", "connections": {"A": [6], "B": [5], "Y": [4]}},
         "m": {"type": "NAND2", "connections": {"A": [4], "B": [3], "Y": [7]}},
         "f": {"type": "DFF", "connections": {"CLK": [2], "D": [7], "Q": [8]}})");
  Bench b(json, conditions, 10e-9, true);
  std::int64_t total = 0;
  for (std::uint64_t k = 0; k < 1000; ++k) total += b.cycle(counter_random(seed, 0, k) & 3U).energy;
  std::int64_t sum = 2 * static_cast<std::int64_t>(b.sim.cycles()) * b.model.clock_switching();
  for (std::size_t e = 0; e < b.model.entries().size(); ++e) {
    sum += static_cast<std::int64_t>(b.sim.pin_counts()[e]) * b.model.entries()[e].pin_energy;
    sum += static_cast<std::int64_t>(b.sim.out_counts()[e]) * b.model.entries()[e].out_energy;
  }
  for (std::size_t i = 0; i < b.model.inputs().size(); ++i) {
    sum += static_cast<std::int64_t>(b.sim.input_toggles()[i]) * b.model.inputs()[i].switching;
  }
  CHECK(sum == total);
  CHECK(total > 0);
  // Without counting: the same, to the last unit.
  Bench plain(json, conditions);
  std::int64_t again = 0;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    again += plain.cycle(counter_random(seed, 0, k) & 3U).energy;
  }
  CHECK(again == total);
}

TEST_CASE("netlists that make no sense are refused by name") {
  const auto lib = tiny_library();
  const auto message = [&](const std::string& json) {
    return error_text([&] {
      const auto n = parse_netlist(json, "n.json", lib);
      const GateModel m(n, lib, {});
    });
  };
  const std::string io = port_json("a", "input", "3") + "," + port_json("y", "output", "4");
  CHECK_THAT(message("{"), Catch::StartsWith("n.json: netlist: found"));
  CHECK_THAT(message("{\"modules\": {}}"), Catch::Contains("none marked as top"));
  CHECK_THAT(message(netlist_json(io, R"("i": {"type": "OR9", "connections": {}})")),
             Catch::Contains("type 'OR9'"));
  CHECK_THAT(message(netlist_json(io, R"("i": {"type": "INV", "connections": {"Y": [4]}})")),
             Catch::Contains("nothing on input A"));
  CHECK_THAT(
      message(netlist_json(io, R"("i": {"type": "INV", "connections": {"A": ["x"], "Y": [4]}})")),
      Catch::Contains("constant 'x'"));
  CHECK_THAT(
      message(netlist_json(io, R"("i": {"type": "INV", "connections": {"A": [3], "Z": [4]}})")),
      Catch::Contains("pin 'Z'"));
  CHECK_THAT(message(netlist_json(io, "")), Catch::Contains("0 drivers"));
  CHECK_THAT(message(netlist_json(io, R"("i": {"type": "INV", "connections": {"A": [3], "Y": [4]}},
                        "j": {"type": "INV", "connections": {"A": [3], "Y": [4]}})")),
             Catch::Contains("2 drivers"));
  CHECK_THAT(message(netlist_json(
                 io, R"("i": {"type": "NAND2", "connections": {"A": [3], "B": [4], "Y": [5]}},
                        "j": {"type": "INV", "connections": {"A": [5], "Y": [4]}})")),
             Catch::Contains("a combinational loop"));
  GateConditions c;
  c.clock = "ck";
  CHECK_THAT(error_text([&] {
               const auto n = parse_netlist(kInverter, "n.json", lib);
               const GateModel m(n, lib, c);
             }),
             Catch::Contains("port: found 'ck'"));
}

TEST_CASE("the hash of a netlist does not depend on names, but on connections") {
  const auto lib = tiny_library();
  const auto hash = [&](std::string json, const std::string& from, const std::string& to) {
    const auto at = json.find(from);
    REQUIRE(at != std::string::npos);
    return parse_netlist(json.replace(at, from.size(), to), "n", lib).sha256;
  };
  const auto plain = parse_netlist(kHazard, "n", lib).sha256;
  CHECK(hash(kHazard, "\"i\"", "\"/somewhere/i\"") == plain);
  CHECK(hash(kHazard, "\"A\": [3], \"B\": [5]", "\"A\": [5], \"B\": [3]") != plain);
}

TEST_CASE("area of a hierarchy: every instance of a module counts") {
  const std::string inverter = R"("i": {"type": "INV", "connections": {}})";
  const std::string json =
      R"({"modules": {"$paramod\\bc_leaf\\N=1": {"attributes": {}, "cells": {)" + inverter +
      R"(}}, "bc_top": {"attributes": {"top": "1"}, "cells": {)"
      R"("a": {"type": "$paramod\\bc_leaf\\N=1"}, "b": {"type": "$paramod\\bc_leaf\\N=1"}, )"
      R"("n": {"type": "NAND2"}}}}})";
  const auto areas = netlist_area(json, "n.json", tiny_library());
  REQUIRE(areas.size() == 2);
  CHECK(areas[0].module == "bc_leaf");
  CHECK(areas[0].instances == 2);
  CHECK(areas[0].area == 4.0);
  CHECK(areas[1].module == "bc_top");
  CHECK(areas[1].area == 3.0);
  CHECK_THAT(error_text([&] { netlist_area("{}", "n.json", tiny_library()); }),
             Catch::Contains("n.json: netlist"));
}
