// The energy table and the sums made from it.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "golden/error.hpp"
#include "model/energy.hpp"

namespace {

using namespace bitcycle;

// A small valid table; tests change one thing in it.
const char* const kTable = R"(name: mine
label: my constants
node: 45 nm
voltage: 0.9 V
uncertainty_factor: 1.5
operand_buffer_kb: 32
ranks_arrays: true
entries:
  digit_product: {value: 2, unit: pJ, per: 1, per_unit: x, node: n, conditions: c, source: s, text: t}
  adder_bit: {value: 3, unit: fJ, per: 1, per_unit: x, node: n, conditions: c, source: s, text: t}
  register_bit: {value: 5, unit: pJ, per: 10, per_unit: x, node: n, conditions: c, source: s, text: t}
  sram_8kb: {value: 10, unit: pJ, per: 1, per_unit: x, node: n, conditions: c, source: s, text: t}
  sram_128kb: {value: 40, unit: pJ, per: 1, per_unit: x, node: n, conditions: c, source: s, text: t}
  dram: {value: 7, unit: nJ, per: 1, per_unit: x, node: n, conditions: c, source: s, text: t}
)";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kTable;
  const auto place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

std::string message(const std::string& yaml) {
  try {
    parse_energy_table(yaml, "t.yaml");
  } catch (const InputError& e) {
    const std::string text = e.what();
    CHECK(text.find('\n') == std::string::npos);
    return text;
  }
  return "no error";
}

bool names(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("literature table holds the published 45 nm figures with their sources", "[energy]") {
  const EnergyTable& t = literature_energy_table();
  CHECK(t.label == "literature constants");
  CHECK_FALSE(t.ranks_arrays);
  CHECK(t.uncertainty_factor == 2.0);
  CHECK(t.digit_product_j == Approx(0.2e-12 / 64));
  CHECK(t.adder_bit_j == Approx(0.1e-12 / 32));
  CHECK(t.register_bit_j == Approx(0.009e-12));
  CHECK(t.buffer_bit_j == Approx(20e-12 / 64));
  CHECK(t.dram_bit_j == Approx(1300e-12 / 64));
  for (const auto& e : t.entries) {
    CHECK_FALSE(e.source.empty());
    CHECK_FALSE(e.node.empty());
    CHECK_FALSE(e.conditions.empty());
    CHECK_FALSE(e.confirmed.empty());
  }
}

TEST_CASE("units, per and the SRAM power law", "[energy]") {
  const EnergyTable t = parse_energy_table(kTable, "t.yaml");
  CHECK(t.digit_product_j == Approx(2e-12));
  CHECK(t.adder_bit_j == Approx(3e-15));
  CHECK(t.register_bit_j == Approx(0.5e-12));
  CHECK(t.dram_bit_j == Approx(7e-9));
  // 8 -> 128 KB is four doublings and a factor of four in energy; 32 KB is half of the way.
  CHECK(t.buffer_bit_j == Approx(20e-12));
}

TEST_CASE("energy is counts times constants, by hand", "[energy]") {
  EnergyTable t;
  t.digit_product_j = 1;
  t.adder_bit_j = 100;
  t.register_bit_j = 10000;
  t.buffer_bit_j = 1e6;
  t.dram_bit_j = 1e8;
  ArrayConfig c;
  c.ra = 1;
  c.rw = 8;
  c.kl = 4;
  c.ac_w = 20;
  c.acc_w = 40;
  c.s = 2;
  GemmEvents e;
  e.ac_adds = 3;
  e.ac_adds_ones = 2;
  e.acc_flushes = 5;
  e.acc_flushes_ones = 1;
  e.a_words_read = 7;
  e.w_words_read = 9;
  const EnergyBreakdown b = array_energy(t, c, e);
  CHECK(b.digit_products == Approx(3 * 4 * 8 + 2 * 4 * 8));
  CHECK(b.ac_adds == Approx(5 * 20 * 10100.0));
  CHECK(b.acc_adds == Approx(6 * (40 * 10100.0 + 20 * 10000.0)));
  CHECK(b.chunk_registers == Approx(16 * 4 * 10000.0));
  CHECK(b.buffer_reads == Approx(16 * 4 * 1e6));
  CHECK(b.dram == 0.0);
  const EnergyBreakdown moved = traffic_energy(t, 11, 13);
  CHECK(moved.buffer_writes == Approx(11e6));
  CHECK(moved.dram == Approx(24e8));
  CHECK(moved.array() == 0.0);
  EnergyBreakdown sum = b;
  sum += moved * 2.0;
  CHECK(sum.total() == Approx(b.array() + b.buffer_reads + 22e6 + 48e8));
  // Private accumulators have no hold register.
  c.s = 1;
  CHECK(array_energy(t, c, e).acc_adds == Approx(6 * 40 * 10100.0));
}

TEST_CASE("a table that is not right is refused with file and line", "[energy]") {
  CHECK(message(kTable) == "no error");
  CHECK(names(message(changed("source: s, text: t}\n  adder", "text: t}\n  adder")),
              "t.yaml:9: digit_product: found no 'source'"));
  CHECK(names(message(changed("source: s", "source: ''")), "source"));
  CHECK(names(message(changed("voltage:", "voltege:")), "did you mean 'voltage'?"));
  CHECK(names(message(changed("conditions: c", "condition: c")), "did you mean 'conditions'?"));
  CHECK(
      names(message(changed("adder_bit", "adder_bits")), "t.yaml:10: entries: found unknown key"));
  CHECK(names(message(changed("node: 45 nm\n", "node: 45 nm\nnode: 7 nm\n")), "t.yaml:4: energy"));
  CHECK(names(message(changed("  adder_bit", "  digit_product")), "twice"));
  CHECK(names(message(changed("value: 2,", "value: -2,")), "t.yaml:9: digit_product.value"));
  CHECK(names(message(changed("value: 2,", "value: .nan,")), "t.yaml:9"));
  CHECK(names(message(changed("value: 2,", "value: .inf,")), "t.yaml:9"));
  CHECK(names(message(changed("value: 2,", "value: two,")), "'two'"));
  CHECK(names(message(changed("value: 2,", "value: [2],")), "t.yaml:9"));
  CHECK(names(message(changed("per: 1,", "per: 0,")), "t.yaml:9: digit_product.per"));
  CHECK(names(message(changed("unit: pJ", "unit: kJ")), "fJ, pJ, nJ"));
  CHECK(names(message(changed("operand_buffer_kb: 32", "operand_buffer_kb: 4")), "8 to 128"));
  CHECK(names(message(changed("operand_buffer_kb: 32", "operand_buffer_kb: 256")), "t.yaml:6"));
  CHECK(names(message(changed("uncertainty_factor: 1.5", "uncertainty_factor: 0.5")), "1 or more"));
  CHECK(names(message(changed("uncertainty_factor: 1.5", "uncertainty_factor: 1e308")), "1000"));
  CHECK(names(message(changed("value: 2,", "value: 1e308,")), "J per event"));
  CHECK(names(message(changed("value: 2,", "value: 1e-300,")), "J per event"));
  CHECK(names(message(changed("ranks_arrays: true", "ranks_arrays: maybe")), "true or false"));
  CHECK(names(message(changed("entries:\n", "entries: [\n")), "YAML"));
  CHECK(names(message("- a\n- b\n"), "t.yaml:1"));
  CHECK(names(message(""), "energy table"));
  CHECK_THROWS_AS(load_energy_table("/no/such/table.yaml"), InputError);
  CHECK_THROWS_AS(load_energy_table("/"), InputError);
}

TEST_CASE("numbers of a table are decimal, and there is one document", "[energy]") {
  for (const char* number : {"0x7", "07", ".inf", "nan", "+7", "7_0"}) {
    CAPTURE(number);
    CHECK(names(message(changed("value: 7", std::string("value: ") + number)), ".value: found '"));
  }
  CHECK(parse_energy_table(changed("value: 7", "value: 7e0"), "t.yaml").dram_bit_j > 0.0);
  CHECK(
      names(message(std::string(kTable) + "---\nname: other\n"), "text after the first document"));
}

TEST_CASE("zero is a legal energy, except for SRAM", "[energy]") {
  CHECK(parse_energy_table(changed("value: 7", "value: 0"), "t.yaml").dram_bit_j == 0.0);
  CHECK(names(message(changed("value: 40", "value: 0")), "sram_128kb.value"));
}
