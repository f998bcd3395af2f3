#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "golden/error.hpp"
#include "model/scaling.hpp"
#include "model/sram.hpp"

using namespace bitcycle;

namespace {

const char* const kTables[] = {"ihp-sg13g2",    "cacti-45nm-hp", "cacti-45nm-lstp",
                               "cacti-32nm-hp", "cacti-22nm-hp", "cacti-22nm-lstp"};

SramTable shipped(const std::string& name) {
  return load_sram_table(std::string(BITCYCLE_SOURCE_DIR) + "/configs/energy/sram-" + name +
                         ".yaml");
}

std::string refusal(const std::string& yaml) {
  try {
    (void)parse_sram_yaml(yaml, "mine.yaml");
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

const std::string kSmall =
    "label: l\nnode: n\nvoltage: 1\nsources: {a: text}\nband: {low: 0.1, high: 0.2, source: a}\n"
    "leakage: [{bytes: 1000, microwatt: 2, source: a}]\n"
    "curves:\n  - width: 32\n    points:\n      - {words: 100, read_pj: 1, write_pj: 2, source: "
    "a}\n      - {words: 10000, read_pj: 4, write_pj: 8, source: a}\n";

}  // namespace

TEST_CASE("SRAM: published points come back, between them lies a power law") {
  const SramTable ihp = shipped("ihp-sg13g2");
  CHECK(sram_energy(ihp, 1024, 64).read_j == Approx(92e-12));
  CHECK(sram_energy(ihp, 1024, 64).write_j == Approx(111e-12));
  CHECK(sram_energy(ihp, 256, 32).read_j == Approx(26e-12));
  CHECK(sram_energy(ihp, 1024, 64).leakage_w == Approx(0.8e-6));
  const SramTable small = parse_sram_yaml(kSmall, "mine.yaml");
  CHECK(sram_energy(small, 1000, 32).read_j == Approx(2e-12));
  CHECK(sram_energy(small, 1000, 32).leakage_w == Approx(2e-6 * 4));  // 4000 bytes
  // Two memories side by side.
  CHECK(sram_energy(small, 100, 64).write_j == Approx(4e-12));
}

TEST_CASE("SRAM: energy never falls when depth or width grows") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> log_words(0, 21), log_width(0, 10);
  for (const char* name : kTables) {
    INFO(name);
    const SramTable t = shipped(name);
    for (int i = 0; i < 3000; ++i) {
      const double words = std::exp2(log_words(random));
      const double width = std::exp2(log_width(random));
      const SramEnergy e = sram_energy(t, words, width);
      const SramEnergy deeper = sram_energy(t, words * 1.01, width);
      const SramEnergy wider = sram_energy(t, words, width * 1.01);
      constexpr double kRounding = 1 - 1e-12;
      REQUIRE(e.read_j > 0);
      REQUIRE(deeper.read_j >= e.read_j * kRounding);
      REQUIRE(deeper.write_j >= e.write_j * kRounding);
      REQUIRE(wider.read_j >= e.read_j * kRounding);
      REQUIRE(wider.write_j >= e.write_j * kRounding);
      REQUIRE(deeper.leakage_w >= e.leakage_w * kRounding);
    }
  }
}

TEST_CASE("SRAM: what lies outside the table is marked") {
  const SramTable small = parse_sram_yaml(kSmall, "mine.yaml");
  CHECK_FALSE(sram_energy(small, 5000, 32).below);
  CHECK_FALSE(sram_energy(small, 5000, 32).beyond);
  CHECK(sram_energy(small, 50, 32).below);
  CHECK(sram_energy(small, 5000, 8).below);
  CHECK(sram_energy(small, 20000, 32).beyond);
  CHECK(sram_energy(small, 20000, 32).read_j == Approx(4e-12));
}

TEST_CASE("SRAM: tables that are wrong are refused with their line") {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = kSmall;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return refusal(text.replace(at, from.size(), to));
  };
  CHECK(refusal(kSmall).empty());
  CHECK(changed("write_pj: 2, source: a", "write_pj: 2").find("without source") !=
        std::string::npos);
  CHECK(changed("microwatt: 2, source: a", "microwatt: 2, source: b").find("'b'") !=
        std::string::npos);
  CHECK(changed("read_pj: 1", "read_pj: -1").find("mine.yaml:10: read_pj") != std::string::npos);
  CHECK(changed("words: 10000", "words: 100").find("twice") != std::string::npos);
  CHECK(changed("node: n", "nodes: n").find("did you mean 'node'") != std::string::npos);
}

TEST_CASE("SRAM: a CSV of one's own needs a source in every row") {
  const std::string csv =
      "words,width,read_pj,write_pj,leakage_uw,source\n256,32,2,3,,data sheet, page 3\n";
  const SramTable t = parse_sram_csv(csv, "own.csv");
  CHECK(sram_energy(t, 256, 32).write_j == Approx(3e-12));
  CHECK_FALSE(sram_energy(t, 256, 32).leakage_known);
  CHECK(t.sources.front().second == "data sheet, page 3");
  CHECK_THROWS_WITH(parse_sram_csv("256,32,2,3,1,\n", "own.csv"),
                    Catch::Contains("own.csv:1: source: found a number without source"));
  CHECK_THROWS_WITH(parse_sram_csv("256,32,2\n", "own.csv"), Catch::Contains("own.csv:1: row"));
  CHECK_THROWS_WITH(parse_sram_csv("", "own.csv"), Catch::Contains("curves"));
}

// The published table, relative to 45 nm HP at 1.0 V.
TEST_CASE("scaling: Stillmaker and Baas's factors") {
  CHECK(scaling_factor("45HP", 1.0, "180", "f") == Approx(30.6).epsilon(0.01));
  CHECK(scaling_factor("45HP", 1.0, "130", "f") == Approx(6.0).epsilon(0.02));
  CHECK(scaling_factor("45HP", 1.0, "7HP", "f") == Approx(0.056).epsilon(0.02));
  CHECK(scaling_factor("45HP", 1.0, "45HP", "f") == Approx(1.0));
  CHECK(scaling_factor("130", 1.2, "45HP", "f") * scaling_factor("45HP", 1.0, "130", "f") ==
        Approx(1.0));
  CHECK_THROWS_WITH(scaling_factor("130", 1.2, "7", "--scale-to"), Catch::Contains("7HP"));
}
