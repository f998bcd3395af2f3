#include <zlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>

#include "golden/counter_random.hpp"
#include "model/gates/liberty.hpp"
#include "tests/gates/libraries.hpp"
#include "tests/gates/tiny.hpp"
#include "tests/workloads/error_text.hpp"
#include "tests/workloads/temporary_file.hpp"

using namespace bitcycle;

namespace {

std::string message(const std::string& text) {
  return error_text([&] { make_liberty({LibertyFile::parse(text, "x.lib")}); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("Liberty: units, tables and pins become SI") {
  const auto lib = tiny_library();
  CHECK(lib.voltage == 2.0);
  CHECK(lib.temperature == 25.0);
  REQUIRE(lib.cells.size() == 3);
  const auto& inv = lib.cell("INV");
  CHECK(inv.area == 2.0);
  CHECK(inv.pin("A")->rise_capacitance == Approx(0.012e-12));
  const auto& timing = inv.pin("Y")->timing.at(0);
  // Order of axes differs between the delay (slew, load) and the energy template (load, slew).
  CHECK(timing.cell_rise.at(0, 0) == Approx(0.1e-9));
  CHECK(timing.cell_rise.at(0.2e-9, 0) == Approx(0.2e-9));
  CHECK(timing.cell_rise.at(0, 0.04e-12) == Approx(0.3e-9));
  CHECK(timing.cell_rise.at(0.1e-9, 0.02e-12) == Approx(0.25e-9));
  CHECK(timing.cell_rise.at(0.4e-9, 0) == Approx(0.3e-9));  // beyond the table: on in a line
  const auto& power = inv.pin("Y")->power.at(0);
  CHECK(power.rise.at(0.2e-9, 0) == Approx(0.030e-12));
  CHECK(power.rise.at(0, 0.04e-12) == Approx(0.020e-12));
  CHECK(power.fall.at(1, 1) == Approx(0.005e-12));
  CHECK(inv.mean_leakage() == Approx(4e-9));
  CHECK(lib.cell("NAND2").mean_leakage() == Approx(7e-9));
  CHECK(lib.cell("DFF").sequential->clock->text() == "CLK");
}

TEST_CASE("Liberty: other units give the same energies") {
  std::string text = kTinyLiberty;
  text = replaced(text, "(1, pf)", "(1000, ff)");
  text = replaced(text, "\"1ns\"", "\"1000ps\"");
  text = replaced(text, "\"1nW\"", "\"1000pW\"");
  const auto lib = make_liberty({LibertyFile::parse(text, "x.lib")});
  CHECK(lib.cell("INV").pin("Y")->power.at(0).fall.at(0, 0) == Approx(0.005e-12));
  CHECK(lib.cell("INV").pin("Y")->timing.at(0).cell_fall.at(0, 0) == Approx(0.05e-9));
  CHECK(lib.cell("INV").mean_leakage() == Approx(4e-9));
}

TEST_CASE("Liberty: errors have file and line") {
  CHECK_THAT(message("library (x) {"), Catch::StartsWith("x.lib:1: library: found no end"));
  CHECK_THAT(message("cell (x) { }"), Catch::Contains("library (NAME) {"));
  CHECK_THAT(message("library (x) { a : ; }"), Catch::Contains("no value"));
  CHECK_THAT(message("library (x) { a : \"b\n\" ; }"), Catch::Contains("no closing quote"));
  CHECK_THAT(message("library (x) { /* "), Catch::StartsWith("x.lib:1: comment"));
  const std::string tiny = kTinyLiberty;
  CHECK_THAT(message(replaced(tiny, "capacitive_load_unit (1, pf);", "")),
             Catch::Contains("capacitive_load_unit: found nothing"));
  CHECK_THAT(message(replaced(tiny, "(1, pf)", "(1, kg)")), Catch::Contains("unit 'kg'"));
  CHECK_THAT(message(replaced(tiny, "0.1, 0.3", "0.1, x")), Catch::StartsWith("x.lib:37: values"));
  CHECK_THAT(message(replaced(tiny, "\"0.1, 0.3\", ", "")),
             Catch::Contains("2 numbers, allowed: 4"));
  CHECK_THAT(message(replaced(tiny, "\"0, 0.2\"", "\"0.2, 0\"")),
             Catch::Contains("do not increase"));
  CHECK_THAT(message(replaced(tiny, "cell_rise (d)", "cell_rise (e)")),
             Catch::Contains("template 'e'"));
  CHECK_THAT(message(replaced(tiny, "function : \"!A\"", "function : \"!A +\"")),
             Catch::StartsWith("x.lib:33: function"));
  CHECK_THAT(message(replaced(tiny, "cell (NAND2)", "cell (INV)")), Catch::Contains("INV again"));
  CHECK_THAT(message(replaced(tiny, "nom_voltage : 2.0;", "")), Catch::Contains("nom_voltage"));
  CHECK_THAT(error_text([] { load_liberty({"/no/such.lib"}); }), Catch::Contains("no such file"));
  CHECK_THAT(error_text([] { load_liberty({"/"}); }), Catch::Contains("a directory"));
  CHECK_THAT(error_text([] { static_cast<void>(tiny_library().cell("NAND")); }),
             Catch::Contains("did you mean 'NAND2'?"));
}

TEST_CASE("Liberty: files of several corners are not merged") {
  const auto one = LibertyFile::parse(kTinyLiberty, "a.lib");
  const auto other = LibertyFile::parse(replaced(kTinyLiberty, "2.0", "1.9"), "b.lib");
  CHECK_THAT(error_text([&] {
               make_liberty({one, other});
             }),
             Catch::StartsWith("b.lib:2: nom_voltage, nom_temperature: found 1.9 V"));
}

TEST_CASE("Liberty: gzipped is the same as plain, damaged is refused") {
  const TemporaryFile plain(kTinyLiberty);
  const std::string packed = plain.path() + ".gz";
  gzFile out = gzopen(packed.c_str(), "wb");
  gzputs(out, kTinyLiberty);
  gzclose(out);
  const auto a = load_liberty({plain.path()});
  const auto b = load_liberty({packed});
  CHECK(a.sources[0].sha256 == b.sources[0].sha256);
  CHECK(b.cells.size() == 3);
  std::filesystem::resize_file(packed, std::filesystem::file_size(packed) - 9);
  CHECK_THAT(error_text([&] { load_liberty({packed}); }), Catch::Contains("file: found"));
  std::filesystem::remove(packed);
}

TEST_CASE("Liberty: what is written for synthesis reads back with the same delays") {
  const auto lib = tiny_library();
  std::string text = liberty_for_synthesis(lib);
  text = replaced(text, "delay_model", "nom_voltage : 2;\n  delay_model");
  const auto again = make_liberty({LibertyFile::parse(text, "again.lib")});
  CHECK(again.cells.size() == 3);
  CHECK(again.cell("INV").pin("Y")->timing.at(0).cell_rise.at(0.1e-9, 0.02e-12) == Approx(0.25e-9));
  CHECK(again.cell("DFF").sequential->data->text() == "D");
}

TEST_CASE("Liberty: set and reset change places for synthesis where a flip-flop stores not D") {
  const auto cell = [](const std::string& data) {
    return "library (l) { nom_voltage : 1; capacitive_load_unit (1, pf); cell (DFF) { ff (IQ, IQN) "
           "{ clocked_on : \"C\";"
           " next_state : \"" +
           data +
           "\"; clear : \"!R\"; preset : \"!S\"; }"
           " pin (C) { direction : input; } pin (D) { direction : input; }"
           " pin (R) { direction : input; } pin (S) { direction : input; }"
           " pin (Q) { direction : output; function : \"IQ\"; } } }";
  };
  const auto written = [&](const std::string& data) {
    return liberty_for_synthesis(make_liberty({LibertyFile::parse(cell(data), "l.lib")}));
  };
  CHECK_THAT(written("D"), Catch::Contains("clear : \"!R\"") && Catch::Contains("preset : \"!S\""));
  CHECK_THAT(written("!D"),
             Catch::Contains("clear : \"!S\"") && Catch::Contains("preset : \"!R\""));
}

TEST_CASE("Liberty: memories keep their access energies by condition") {
  const std::string text = R"(library (m) {
    capacitive_load_unit (1, pf); nom_voltage : 1.2;
    type (bus8) { base_type : array; bit_width : 8; }
    cell (RAM) {
      memory () { type : ram; address_width : 8; word_width : 8; }
      pg_pin (VDD) { pg_type : primary_power; }
      bus (DI) { bus_type : bus8; direction : input; pin (DI[7:0]) { capacitance : 0.004; } }
      pin (CLK) {
        direction : input;
        internal_power () { when : "EN & !WE"; rise_power (scalar) { values ("40"); }
                            fall_power (scalar) { values ("0"); } }
      }
      pin (EN) { direction : input; }
      pin (WE) { direction : input; }
    }
  })";
  const auto lib = make_liberty({LibertyFile::parse(text, "m.lib")});
  const auto& ram = lib.cell("RAM");
  CHECK(ram.memory);
  REQUIRE(ram.pin("DI") != nullptr);
  CHECK(ram.pin("DI")->width == 8);
  CHECK(ram.pin("DI")->capacitance == Approx(0.004e-12));
  CHECK(ram.pin("CLK")->power.at(0).rise.at(0, 0) == Approx(40e-12));
  CHECK(ram.pin("CLK")->power.at(0).when->text() == "EN & !WE");
}

TEST_CASE("Liberty: damaged libraries end in a message, never in anything else") {
  const std::uint64_t seed = 20240;
  INFO("seed " << seed);
  const std::string tiny = kTinyLiberty;
  int refused = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    std::string text = tiny;
    if (i % 2 == 0) {
      text.resize(counter_random(seed, 0, i) % tiny.size());
    } else {
      for (std::uint64_t k = 0; k < 3; ++k) {
        text[counter_random(seed, 1, 3 * i + k) % tiny.size()] =
            "(){};:\",\\\n!*/0A"[counter_random(seed, 2, 3 * i + k) % 16];
      }
    }
    refused += message(text).empty() ? 0 : 1;
  }
  CHECK(refused > 1000);
}

TEST_CASE("Liberty: the three libraries of the documentation") {
  int found = 0;
  for (const auto& set : known_libraries()) {
    if (!set.present()) {
      std::cout << "skipped: " << set.name << " is not here\n";
      continue;
    }
    ++found;
    const auto lib = load_liberty(set.files);
    INFO(set.name);
    CHECK(lib.voltage == Approx(set.voltage));
    CHECK(lib.cells.size() == set.cells);
    CHECK(liberty_for_synthesis(lib).size() > 10000);
  }
  WARN(found << " of 3 libraries were there");
}
