// Netlists out of parts, by hand, in the library of tests/gates/tiny.hpp.
#include <catch2/catch.hpp>

#include "model/gates/gate_sim.hpp"
#include "model/gates/netlist_join.hpp"
#include "tests/gates/tiny.hpp"
#include "tests/workloads/error_text.hpp"

using namespace bitcycle;

namespace {

// A module with these ports and cells, as yosys writes one whose parameters were given.
std::string module_json(const std::string& type, const std::string& ports,
                        const std::string& cells = "") {
  return "\"" + type +
         R"(": {"attributes": {"hdlname": "\\bc_leaf"}, "parameter_default_values": )" +
         R"({"N": "00000000000000000000000000000101", "bc_pkg::X": "00000000000000000000000000000001"}, )" +
         "\"ports\": {" + ports + "}, \"cells\": {" + cells + "}, \"netnames\": {}}";
}

// A design `top` (clk_i is net 2) around boxes of the type "$leaf" with the given ports.
std::string design_json(const std::string& ports, const std::string& cells,
                        const std::string& leaf_ports) {
  std::string json = netlist_json(ports, cells);
  const std::string head = R"("modules": {)";
  return json.insert(json.find(head) + head.size(), module_json("$leaf", leaf_ports) + ", ");
}

std::string box_json(const std::string& name, const std::string& connections) {
  return "\"" + name + R"(": {"type": "$leaf", "connections": {)" + connections + "}}";
}

std::string cell_json(const std::string& name, const std::string& type,
                      const std::string& connections) {
  return "\"" + name + R"(": {"type": ")" + type + R"(", "connections": {)" + connections + "}}";
}

// A part with these ports and cells; nets of its own numbers.
std::string part_json(const std::string& ports, const std::string& cells) {
  return R"({"creator": "by hand", "modules": {"leaf": {"attributes": {"top": "1"}, "ports": {)" +
         ports + R"(}, "cells": {)" + cells + R"(}, "netnames": {}}}})";
}

struct Joined {
  Joined(const std::string& design, const std::string& part)
      : library(tiny_library()),
        boxed(parse_boxed_netlist(design, "top.json", library, "top")),
        leaf(parse_netlist(part, "leaf.json", library)),
        whole(join_netlists(boxed, {{"$leaf", &leaf}})) {}
  LibertyLibrary library;
  BoxedNetlist boxed;
  Netlist leaf, whole;
};

// Outputs for the inputs 0, 1, 2 ... in this order, all output bits as one number.
std::vector<std::uint64_t> answers(const Netlist& n, const LibertyLibrary& library,
                                   std::size_t inputs) {
  const GateModel model(n, library, {});
  GateSim sim(model, 10e-9);
  std::vector<std::uint64_t> out;
  for (std::uint64_t in = 0; in < std::uint64_t{1} << inputs; ++in) {
    sim.cycle(&in);
    out.push_back(sim.output_bits(0, model.outputs().size()));
  }
  return out;
}

const std::string kLeafPorts = port_json("a", "input", "9") + "," + port_json("y", "output", "8");
const std::string kInverterPart =
    part_json(kLeafPorts, cell_json("inv", "INV", R"("A": [9], "Y": [8])"));
const std::string kIo = port_json("a", "input", "3") + "," + port_json("y", "output", "4");
const std::string kTwo =
    box_json("first", R"("a": [3], "y": [5])") + "," + box_json("second", R"("a": [5], "y": [4])");

using Values = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("two inverters in boxes are the same gates as two inverters") {
  const Joined j(design_json(kIo, kTwo, kLeafPorts), kInverterPart);
  REQUIRE(j.boxed.boxes.size() == 2);
  CHECK(j.boxed.boxes[0].module == "bc_leaf");
  CHECK(j.boxed.boxes[0].parameters == std::vector<std::pair<std::string, int>>{{"N", 5}});
  REQUIRE(j.whole.instances.size() == 2);
  CHECK(j.whole.instances[1].name == "second.inv");
  CHECK(j.whole.area() == 4.0);
  CHECK(answers(j.whole, j.library, 1) == Values{0, 1});
  const auto flat =
      parse_netlist(netlist_json(kIo, cell_json("i", "INV", R"("A": [3], "Y": [5])") + "," +
                                          cell_json("j", "INV", R"("A": [5], "Y": [4])")),
                    "flat.json", j.library);
  const GateModel joined_model(j.whole, j.library, {}), flat_model(flat, j.library, {});
  GateSim joined_sim(joined_model, 10e-9), flat_sim(flat_model, 10e-9);
  for (const std::uint64_t in : {1, 1, 0}) {
    CHECK(joined_sim.cycle(&in).energy == flat_sim.cycle(&in).energy);
  }
}

TEST_CASE("wires that only pass through a part are joined, crossed ones too") {
  const std::string ports =
      port_json("a", "input", "5, 6") + "," + port_json("y", "output", "6, 5");
  const std::string io = port_json("a", "input", "3, 4") + "," + port_json("y", "output", "7, 8");
  const Joined j(design_json(io, box_json("swap", R"("a": [3, 4], "y": [7, 8])"), ports),
                 part_json(ports, ""));
  CHECK(j.whole.instances.empty());
  CHECK(answers(j.whole, j.library, 2) == Values{0, 2, 1, 3});
}

TEST_CASE("constants on a part's inputs and outputs, and outputs that nothing reads") {
  const std::string ports = port_json("a", "input", "5") + "," + port_json("b", "input", "6") +
                            "," + port_json("y", "output", "7") + "," +
                            port_json("one", "output", "\"1\"");
  const std::string nand =
      part_json(ports, cell_json("n", "NAND2", R"("A": [5], "B": [6], "Y": [7])"));
  const std::string held = box_json("held", R"("a": [3], "b": ["1"], "y": [4], "one": [9])");
  const Joined not_a(design_json(kIo, held, ports), nand);
  CHECK(answers(not_a.whole, not_a.library, 1) == Values{1, 0});
  const std::string chain = box_json("p", R"("a": ["0"], "b": ["0"], "y": [5], "one": [6])") + "," +
                            cell_json("n", "NAND2", R"("A": [3], "B": [6], "Y": [4])");
  const Joined reads_one(design_json(kIo, chain, ports), nand);
  CHECK(answers(reads_one.whole, reads_one.library, 1) == Values{1, 0});
}

TEST_CASE("parts that do not fit are refused") {
  const auto message = [](const std::string& cells, const std::string& design_ports,
                          const std::string& part) {
    return error_text([&] { Joined(design_json(kIo, cells, design_ports), part); });
  };
  const std::string inverter = cell_json("inv", "INV", R"("A": [9], "Y": [8])");
  CHECK_THAT(message(kTwo, kLeafPorts,
                     part_json(port_json("b", "input", "9") + "," + port_json("y", "output", "8"),
                               inverter)),
             Catch::Contains("instance first of bc_leaf: found port a"));
  CHECK_THAT(message(kTwo, kLeafPorts,
                     part_json(kLeafPorts + "," + port_json("b", "input", "7"), inverter)),
             Catch::Contains("nothing on port b"));
  CHECK_THAT(
      message(kTwo, kLeafPorts,
              part_json(port_json("a", "input", "9, 7") + "," + port_json("y", "output", "8"),
                        inverter)),
      Catch::Contains("same direction and width"));
  CHECK_THAT(message(box_json("first", R"("y": [4])"), kLeafPorts, kInverterPart),
             Catch::Contains("top.json: instance first: found nothing on port a"));
  CHECK_THAT(message(kTwo + "," + cell_json("i", "INV", R"("A": [3], "Y": [5])"), kLeafPorts,
                     kInverterPart),
             Catch::Contains("2 drivers"));
  const auto library = tiny_library();
  const auto boxed = parse_boxed_netlist(design_json(kIo, kTwo, kLeafPorts), "t", library, "top");
  CHECK_THAT(error_text([&] { join_netlists(boxed, {}); }),
             Catch::Contains("no netlist of bc_leaf"));
  // Boxes are for those who ask for them.
  CHECK_THAT(
      error_text([&] { parse_netlist(design_json(kIo, kTwo, kLeafPorts), "t", library, "top"); }),
      Catch::Contains("type '$leaf'"));
}

TEST_CASE("what is around boxes: their pins are ports, wires that pass through are not") {
  const std::string ports = port_json("a", "input", "5, 6") + "," + port_json("y", "output", "7");
  // p.y -> INV -> q.a[0]; q.a[1] and p.a are wires from outside, q.y goes straight out.
  const std::string cells = box_json("p", R"("a": [3, 3], "y": [10])") + "," +
                            box_json("q", R"("a": [11, 3], "y": [4])") + "," +
                            cell_json("i", "INV", R"("A": [10], "Y": [11])");
  const auto library = tiny_library();
  const auto glue =
      open_boxes(parse_boxed_netlist(design_json(kIo, cells, ports), "t", library, "top"));
  std::vector<std::string> in, out;
  for (const auto& p : glue.ports) (p.input ? in : out).push_back(p.name);
  // `a` of the design stays, because q.a reads it.
  CHECK(in == std::vector<std::string>{"a", "p.y"});
  CHECK(out == std::vector<std::string>{"q.a"});
  CHECK(glue.nets.size() == 5);
}

TEST_CASE("a load beyond the most that a driver sees costs energy, not time") {
  const auto library = tiny_library();
  const auto netlist = parse_netlist(
      netlist_json(kIo, cell_json("i", "INV", R"("A": [3], "Y": [4])")), "n.json", library);
  GateConditions c;
  c.input_slew = 0.1e-9;
  c.output_load = 0.01e-12;
  c.wire_f_per_net = 0.03e-12;
  const GateModel slow(netlist, library, c);
  c.most_load = 0.01e-12;
  const GateModel buffered(netlist, library, c);
  CHECK(buffered.critical_path() < slow.critical_path());
  const std::size_t y = netlist.port("y").nets[0];
  CHECK(buffered.load(static_cast<std::uint32_t>(y)) == slow.load(static_cast<std::uint32_t>(y)));
  CHECK(buffered.gates()[0].switching * buffered.joules_per_unit() ==
        Approx(slow.gates()[0].switching * slow.joules_per_unit()));
  c.most_load = 1e-12;
  CHECK(GateModel(netlist, library, c).critical_path() == slow.critical_path());
}
