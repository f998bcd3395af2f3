#include <catch2/catch.hpp>

#include "golden/error.hpp"
#include "golden/text_file.hpp"
#include "model/machine/memory_config.hpp"

using namespace bitcycle;

namespace {

std::string file(const std::string& name) {
  return std::string(BITCYCLE_SOURCE_DIR) + "/configs/memory/" + name + ".yaml";
}

/// The DDR4 preset with one text replaced; the error it gives.
std::string broken(const std::string& from, const std::string& to,
                   const std::string& name = "ddr4-3200") {
  std::string text = read_text_file(file(name), "", "");
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  try {
    parse_memory_config(text, "m.yaml");
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("memory files: the bandwidth kind") {
  const auto ideal = load_memory_config(file("ideal"));
  CHECK_FALSE(ideal.is_dram);
  const auto t = ideal.timing(512);
  CHECK(t.latency == 1);
  CHECK(t.write_latency == 1);
  CHECK(t.read_cost == 256);
  CHECK(t.write_cost == 256);
  const auto real = load_memory_config(file("bandwidth-latency"));
  CHECK(real.timing(64).read_cost == 256);   // 8 bytes of 25.6
  CHECK(real.timing(512).read_cost == 640);  // 64 of 25.6: 2.5 cycles
  CHECK(real.timing(512).latency == 40);
  CHECK(real.sources.size() == 4);
  CHECK_THROWS_WITH(load_memory_config(file("hbm2")).timing(64), Catch::Contains("kind dram"));
  CHECK(real.timer(64, 1000) != nullptr);
  CHECK(load_memory_config(file("hbm2")).timer(64, 1000) != nullptr);
}

TEST_CASE("memory files: errors name file, line and field") {
  CHECK(broken("label:", "label:") == "accepted");
  CHECK_THAT(broken("kind: dram", "kind: drum"),
             Catch::StartsWith("m.yaml:") && Catch::Contains("kind") && Catch::Contains("'drum'"));
  CHECK_THAT(broken("trcd: {value: 22", "trcd: {value: two"),
             Catch::Contains("trcd") && Catch::Contains("'two'"));
  CHECK_THAT(broken("trcd: {value: 22", "trcd: {value: 0"),
             Catch::Contains("trcd") && Catch::Contains("1 to 1000"));
  CHECK_THAT(broken("tras: {value: 52", "tras: {value: 5"), Catch::Contains("tras"));
  CHECK_THAT(broken("tccd_l: {value: 8", "tccd_l: {value: 3"), Catch::Contains("tccd_l"));
  CHECK_THAT(broken("trefi: {value: 12480", "trefi: {value: 600"), Catch::Contains("trefi"));
  CHECK_THAT(broken("channels: {value: 1,", "channels: {value: 3,"),
             Catch::Contains("power of two"));
  CHECK_THAT(broken("  twr: {value: 24, source: dramsim3}\n", ""),
             Catch::Contains("twr") && Catch::Contains("nothing"));
  CHECK_THAT(broken("twr: {value: 24, source: dramsim3}", "twr: {value: 24}"),
             Catch::Contains("source"));
  CHECK_THAT(broken("twr: {value: 24, source: dramsim3}", "twr: {value: 24, source: dramsin}"),
             Catch::Contains("twr.source") && Catch::Contains("did you mean 'dramsim3'"));
  CHECK_THAT(broken("twr:", "twrr:"), Catch::Contains("'twrr', did you mean 'twr'"));
  CHECK_THAT(broken("  twr: {", "  cl: {value: 1, source: choice}\n  twr: {"),
             Catch::Contains("cl") && Catch::Contains("twice"));
  CHECK_THAT(broken("column, group", "column, column"), Catch::Contains("mapping"));
  CHECK_THAT(broken("volt: 1.2", "volt: 0"), Catch::Contains("rail vdd"));
  CHECK_THAT(broken("idd0: 57", "idd0: -57"), Catch::Contains("rail vdd.idd0"));
  CHECK_THAT(broken("idd0: 57, ", ""), Catch::Contains("idd0"));
  CHECK_THAT(broken("parameters:", "  unused: \"x\"\nparameters:"),
             Catch::Contains("nothing refers to"));
  CHECK_THAT(broken("kind: dram", "kind: [dram"), Catch::Contains("YAML"));
  CHECK_THAT(broken("read_latency: {value: 1,", "read_latency: {value: 0,", "ideal"),
             Catch::Contains("read_latency") && Catch::Contains("1 to 1000000"));
  CHECK_THAT(
      broken("read_bytes_per_cycle: {value: 0,", "read_bytes_per_cycle: {value: .nan,", "ideal"),
      Catch::Contains("read_bytes_per_cycle"));
  CHECK_THROWS_WITH(load_memory_config("no/such/file.yaml"), Catch::Contains("no/such/file.yaml"));
}

TEST_CASE("memory files: the line is the line") {
  // Lines 1 and 2 are comments.
  const std::string text =
      "# a\n# b\nkind: bandwidth\nsources: {a: some text}\nparameters:\n"
      "  read_latency: {value: 5, source: a}\n  write_latency: {value: -5, source: a}\n"
      "  read_bytes_per_cycle: {value: 0, source: a}\n"
      "  write_bytes_per_cycle: {value: 0, source: a}\n";
  CHECK_THROWS_WITH(parse_memory_config(text, "x.yaml"), Catch::StartsWith("x.yaml:7: "));
}
