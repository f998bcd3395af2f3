// Presets, the rules of a legal array and the YAML that describes one.
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "golden/error.hpp"
#include "model/array_config.hpp"
#include "model/formula.hpp"
#include "tests/workloads/error_text.hpp"
#include "tests/workloads/temporary_file.hpp"

namespace {

using namespace bitcycle;
using Catch::Matchers::Contains;

// The architecture table: class of arrays at 16,384 bit operations per cycle.
struct Row {
  const char* name;
  int ra, rw, kl, s, ba, bw, ac_w;
  int free_a, free_w;  ///< stall-free from these widths on
};
constexpr Row kPresetTable[] = {
    {"serial-1x1", 1, 1, 64, 8, 8, 8, 23, 3, 3},   {"stripes-1x8", 1, 8, 8, 2, 16, 64, 20, 3, 8},
    {"brick-2x2", 2, 2, 16, 4, 16, 16, 21, 3, 3},  {"nibble-4x4", 4, 4, 4, 1, 64, 64, 19, 1, 1},
    {"fixed-8x8", 8, 8, 1, 1, 128, 128, 17, 1, 1},
};

Descriptor one_tile(const ArrayConfig& c, int pa, int pw) {
  return {{static_cast<std::uint64_t>(c.tm), static_cast<std::uint64_t>(c.tn), 1000},
          {pa, false},
          {pw, false}};
}

std::string load_error(const std::string& yaml) {
  const TemporaryFile file(yaml);
  const std::string text = error_text([&] { load_array_config(file.path()); });
  CHECK(text.find('\n') == std::string::npos);
  // The file is named; what follows it is what a test looks at.
  CHECK(text.rfind(file.path(), 0) == 0);
  return text.empty() ? text : text.substr(file.path().size());
}

ArrayConfig load(const std::string& yaml) {
  const TemporaryFile file(yaml);
  return load_array_config(file.path());
}

// validate() of a legal array with one thing changed.
template <typename Change>
std::string validation_error(const Change& change) {
  ArrayConfig c;
  change(c);
  std::string text = error_text([&] { c.validate(); });
  CHECK(text.find('\n') == std::string::npos);
  return text;
}

}  // namespace

TEST_CASE("the five presets are those of the architecture table") {
  REQUIRE(array_presets().size() == std::size(kPresetTable));
  for (const Row& row : kPresetTable) {
    CAPTURE(row.name);
    const ArrayConfig c = resolve_array(row.name);
    CHECK(c.name == row.name);
    CHECK(c.ra == row.ra);
    CHECK(c.rw == row.rw);
    CHECK(c.kl == row.kl);
    CHECK(c.tm == 16);
    CHECK(c.tn == 16);
    CHECK(c.s == row.s);
    CHECK(c.ba == row.ba);
    CHECK(c.bw == row.bw);
    CHECK(c.ac_w == row.ac_w);
    CHECK(c.acc_w == 48);
    CHECK(c.p_max == 8);
    CHECK(c.q == 16);
    CHECK(c.bitops_per_cycle() == 16384);
    CHECK_NOTHROW(c.validate());
  }
}

TEST_CASE("each preset neither idles nor waits for operands in the range that it exists for") {
  for (const Row& row : kPresetTable) {
    const ArrayConfig c = resolve_array(row.name);
    for (int pa = row.free_a; pa <= 8; ++pa) {
      for (int pw = row.free_w; pw <= 8; ++pw) {
        CAPTURE(row.name, pa, pw);
        const GemmTiming t = gemm_timing(c, one_tile(c, pa, pw));
        CHECK(t.p == t.digit_pairs);
        CHECK(t.f <= t.p);
        CHECK(t.ct == t.kc * t.digit_pairs);
      }
    }
  }
}

TEST_CASE("outside its range a preset loses cycles") {
  // One below the table's range where there is anything below it; S = 4 lets serial do 2x2.
  const ArrayConfig serial = resolve_array("serial-1x1");
  const GemmTiming idle = gemm_timing(serial, one_tile(serial, 2, 2));
  CHECK(idle.p == 8);
  CHECK(idle.digit_pairs == 4);
  ArrayConfig narrow = serial;
  narrow.s = 4;
  const GemmTiming free = gemm_timing(narrow, one_tile(narrow, 2, 2));
  CHECK(free.cc == free.digit_pairs);
  const ArrayConfig brick = resolve_array("brick-2x2");
  const GemmTiming starved = gemm_timing(brick, one_tile(brick, 2, 8));
  CHECK(starved.f == 8);
  CHECK(starved.p == 4);
}

TEST_CASE("the CI arrays are 4x4 with KL 16, one per radix pair and S") {
  std::set<std::string> names;
  for (const auto& c : ci_configs()) {
    CAPTURE(c.name);
    CHECK_NOTHROW(c.validate());
    CHECK(c.tm == 4);
    CHECK(c.tn == 4);
    CHECK(c.kl == 16);
    CHECK(c.p_max == 16);
    CHECK(c.ac_w == 24);
    CHECK(c.acc_w == 48);
    CHECK(c.ba == 4);
    CHECK(c.bw == 4);
    names.insert(c.name);
  }
  CHECK(names == std::set<std::string>{"ci-1x1-s1", "ci-1x1-s4", "ci-1x4-s1", "ci-1x4-s4",
                                       "ci-1x8-s1", "ci-1x8-s4", "ci-2x2-s1", "ci-2x2-s4",
                                       "ci-4x4-s1", "ci-4x4-s4"});
}

TEST_CASE("the smallest chunk accumulator holds KL products of unsigned 8x8 and no bit more") {
  for (int kl = 1; kl <= 256; ++kl) {
    CAPTURE(kl);
    const int w = min_ac_w(kl);
    const std::int64_t most = std::int64_t{255} * 255 * kl;
    CHECK((std::int64_t{1} << (w - 1)) - 1 >= most);
    CHECK((std::int64_t{1} << (w - 2)) - 1 < most);
  }
  CHECK(min_ac_w(1) == 17);
  CHECK(min_ac_w(16) == 21);
  CHECK(min_ac_w(64) == 23);
  CHECK(min_ac_w(256) == 25);
}

TEST_CASE("every rule of a legal array is checked and named") {
  CHECK(validation_error([](ArrayConfig&) {}).empty());
  const auto bad = [](int ArrayConfig::*field, int value, const char* name) {
    CAPTURE(name, value);
    const std::string text = validation_error([&](ArrayConfig& c) { c.*field = value; });
    CHECK_THAT(text, Contains(std::string(": ") + name + ": found " + std::to_string(value)));
  };
  for (const int r : {0, -1, 3, 5, 6, 7, 9, 16}) {
    bad(&ArrayConfig::ra, r, "ra");
    bad(&ArrayConfig::rw, r, "rw");
  }
  for (const int kl : {0, -4, 257}) bad(&ArrayConfig::kl, kl, "kl");
  for (const int t : {0, -1, 65}) {
    bad(&ArrayConfig::tm, t, "tm");
    bad(&ArrayConfig::tn, t, "tn");
  }
  for (const int s : {0, -8, 3, 5, 32}) bad(&ArrayConfig::s, s, "s");
  for (const int b : {0, -8, 3, 24, 17, 512}) {
    bad(&ArrayConfig::ba, b, "ba");
    bad(&ArrayConfig::bw, b, "bw");
  }
  for (const int p : {0, -1, 17}) bad(&ArrayConfig::p_max, p, "p_max");
  for (const int w : {22, 0, 33}) bad(&ArrayConfig::ac_w, w, "ac_w");
  for (const int w : {39, 0, 65}) bad(&ArrayConfig::acc_w, w, "acc_w");
  for (const int q : {0, -16, 3, 24, 512}) bad(&ArrayConfig::q, q, "q");
}

TEST_CASE("limits of a parameter that depend on others follow them") {
  // ACC needs 16 more bits than AC only if operands can be wider than 8 bits.
  CHECK(validation_error([](ArrayConfig& c) { c.p_max = 8, c.acc_w = 24; }).empty());
  CHECK(validation_error([](ArrayConfig& c) { c.p_max = 9, c.acc_w = 40; }).empty());
  CHECK_THAT(validation_error([](ArrayConfig& c) { c.p_max = 9, c.acc_w = 39; }),
             Contains("acc_w"));
  CHECK_THAT(validation_error([](ArrayConfig& c) { c.p_max = 8, c.acc_w = 23; }),
             Contains("acc_w"));
  // More words per beat than an operand has planes are of no use.
  CHECK(validation_error([](ArrayConfig& c) { c.p_max = 4, c.ba = 64; }).empty());
  CHECK_THAT(validation_error([](ArrayConfig& c) { c.p_max = 4, c.ba = 128; }), Contains("ba"));
  // A whole tile per cycle is the widest drain; multiples of a row need not divide the tile.
  CHECK(validation_error([](ArrayConfig& c) { c.q = 256; }).empty());
  CHECK(validation_error([](ArrayConfig& c) { c.q = 48; }).empty());
  CHECK(validation_error([](ArrayConfig& c) { c.q = 1; }).empty());
  // The widest lanes still leave room for AC.
  CHECK(validation_error([](ArrayConfig& c) { c.kl = 256, c.ac_w = 25; }).empty());
  CHECK_THAT(validation_error([](ArrayConfig& c) { c.kl = 256; }), Contains("ac_w"));
}

TEST_CASE("the key tells every two different arrays apart and ignores the name") {
  const ArrayConfig base;
  std::set<std::string> keys = {base.key()};
  int ArrayConfig::*const fields[] = {&ArrayConfig::ra,    &ArrayConfig::rw,    &ArrayConfig::kl,
                                      &ArrayConfig::tm,    &ArrayConfig::tn,    &ArrayConfig::s,
                                      &ArrayConfig::ba,    &ArrayConfig::bw,    &ArrayConfig::ac_w,
                                      &ArrayConfig::acc_w, &ArrayConfig::p_max, &ArrayConfig::q};
  for (int ArrayConfig::*field : fields) {
    for (const int value : {11, 111, 12}) {
      ArrayConfig c = base;
      c.*field = value;
      CHECK(keys.insert(c.key()).second);
    }
  }
  ArrayConfig renamed = base;
  renamed.name = "other";
  CHECK(renamed.key() == base.key());
  CHECK(base.key().find_first_of("/ \t\n") == std::string::npos);
  for (const auto* list : {&array_presets(), &ci_configs()}) {
    for (const auto& c : *list) CHECK(keys.insert(c.key()).second);
  }
}

TEST_CASE("a YAML file starts from the defaults or from a preset and overrides them") {
  const ArrayConfig plain = load("ra: 2\nrw: 2\nkl: 16\n");
  CHECK(plain.ra == 2);
  CHECK(plain.kl == 16);
  CHECK(plain.p_max == ArrayConfig{}.p_max);

  const ArrayConfig from_preset = load("s: 1\nname: mine\npreset: brick-2x2\nbw: 32\n");
  CHECK(from_preset.name == "mine");
  CHECK(from_preset.s == 1);
  CHECK(from_preset.bw == 32);
  CHECK(from_preset.ra == 2);
  CHECK(from_preset.p_max == 8);
  CHECK(from_preset.ac_w == 21);

  // Without a name it is the file's.
  const TemporaryFile file("tm: 8\n");
  CHECK(load_array_config(file.path()).name == std::filesystem::path(file.path()).stem().string());
  CHECK(resolve_array(file.path()).tm == 8);
}

TEST_CASE("a bad YAML file is refused in one line with file and line") {
  CHECK_THAT(load_error("ra: 1\nkll: 16\n"), Contains(":2:") && Contains("did you mean 'kl'?"));
  CHECK_THAT(load_error("ra: 1\n\nra: 2\n"), Contains(":3:") && Contains("twice"));
  CHECK_THAT(load_error("ra: one\n"), Contains(":1: ra: found 'one'"));
  CHECK_THAT(load_error("ra: 1.5\n"), Contains(":1: ra: found '1.5'"));
  CHECK_THAT(load_error("kl: 99999999999999\n"), Contains(":1: kl: found '99999999999999'"));
  CHECK_THAT(load_error("kl: [1, 2]\n"), Contains(":1: kl: found no scalar"));
  CHECK_THAT(load_error("kl: ~\n"), Contains("kl: found"));
  CHECK_THAT(load_error("ra: 3\n"),
             Contains(":1: array") && Contains("ra: found 3, allowed: 1, 2, 4 or 8"));
  CHECK_THAT(load_error("ra: 1\nkl: 8\ns: 3\n"), Contains(":3: array") && Contains("s: found 3"));
  CHECK_THAT(load_error("kl: 256\n"), Contains("ac_w: found 24, allowed: 25 to 32"));
  CHECK_THAT(load_error("preset: brick-2x3\n"), Contains("did you mean 'brick-2x2'?"));
  CHECK_THAT(load_error("preset: brick-2x2\npreset: brick-2x2\n"), Contains("twice"));
  CHECK_THAT(load_error("ra: 1\n  rw: 1\n"), Contains(":2:") && Contains("YAML"));
  CHECK_THAT(load_error("ra: [1\n"), Contains("YAML"));
  CHECK_THAT(load_error("- ra\n- rw\n"), Contains("no map"));
  CHECK_THAT(load_error("just text\n"), Contains("no map"));
  CHECK_THAT(load_error(""), Contains("no map"));
  CHECK_THAT(load_error("? [a, b]\n: 1\n"), Contains("key"));
}

TEST_CASE("an array file that cannot be read is refused") {
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK_THAT(error_text([&] { load_array_config(folder); }), Contains("a directory"));
  CHECK_THAT(error_text([&] { resolve_array(folder); }), Contains("a directory"));
  CHECK_THAT(error_text([] { resolve_array("no/such/file.yaml"); }),
             Contains("no/such/file.yaml") && Contains("no readable file"));
}

TEST_CASE("an unknown array name is answered with the nearest one and the list") {
  CHECK_THAT(error_text([] { resolve_array("serial-1x2"); }),
             Contains("--arch") && Contains("did you mean 'serial-1x1'?") &&
                 Contains("fixed-8x8") && Contains("ci-4x4-s4"));
  CHECK_THAT(error_text([] { resolve_array(""); }), Contains("--arch"));
}

TEST_CASE("numbers of an array file are decimal, and there is one document") {
  CHECK(load("preset: serial-1x1\ntm: 8\nba: 8\n").tm == 8);
  for (const char* number : {"010", "0x8", "0o10", "+8", "8.0", "1e1", "-8", "nan", "1e30"}) {
    CAPTURE(number);
    CHECK_THAT(load_error(std::string("preset: serial-1x1\ntm: ") + number + "\n"),
               Catch::Matchers::StartsWith(":2: tm: found '"));
  }
  CHECK_THAT(load_error("tm: 8\n---\ntm: 9\n"),
             Catch::Matchers::StartsWith(":2: YAML: found text after the first document") ||
                 Catch::Matchers::StartsWith(":3: YAML: found text after the first document"));
  // yaml-cpp's LoadAll never came back from this one.
  CHECK_THAT(load_error(",!ac_w\ntm: 6\nba: 8+"), Catch::Matchers::Contains("YAML"));
}
