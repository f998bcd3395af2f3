// Schedules read from CSV files: what is accepted, and what every malformed file says.
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "tests/workloads/error_text.hpp"
#include "tests/workloads/schedule_testing.hpp"
#include "tests/workloads/temporary_file.hpp"
#include "workloads/schedule.hpp"

namespace bitcycle {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

ScheduleSummary read(const std::string& content, std::uint64_t iterations = 100) {
  const TemporaryFile file(content);
  return read_schedule_csv(file.path(), iterations);
}

// The message without the path of the temporary file: ":3: bits: found ...".
std::string refusal(const std::string& content, std::uint64_t iterations = 100) {
  const TemporaryFile file(content);
  const std::string text = error_text([&] { read_schedule_csv(file.path(), iterations); });
  if (text.compare(0, file.path().size(), file.path()) != 0) return "no path in: " + text;
  return text.substr(file.path().size());
}

TEST_CASE("a row holds until the next one", "[csv]") {
  const ScheduleSummary summary = read("iteration,bits,grad_bits\n0,3,8\n10,8,8\n40,3,8\n");
  CHECK(summary.group == "file");
  CHECK_THAT(summary.name, StartsWith("bitcycle_"));
  CHECK(summary.iterations == 100);
  CHECK(summary.cycle_iterations == 0);
  CHECK(summary.precision_switches == 2);
  CHECK(summary.first_bits == 3);
  CHECK(summary.last_bits == 3);
  REQUIRE(summary.pairs.size() == 2);
  CHECK(summary.pairs[0].pair == BitPair{3, 8});
  CHECK(summary.pairs[0].iterations == 70);
  CHECK(summary.pairs[1].pair == BitPair{8, 8});
  CHECK(summary.pairs[1].iterations == 30);
}

TEST_CASE("header, comments, blank lines, CRLF, BOM and a missing last newline make no difference",
          "[csv]") {
  const ScheduleSummary plain = read("0,3,8\n10,8,6\n");
  for (const char* text :
       {"iteration,bits,grad_bits\n0,3,8\n10,8,6\n", "# a\n\n  \n0,3,8\n# b\n10,8,6\n\n",
        "iteration,bits,grad_bits\r\n0,3,8\r\n\r\n10,8,6\r\n",
        "\xEF\xBB\xBF"
        "0,3,8\n10,8,6",
        "\xEF\xBB\xBFiteration,bits,grad_bits\r\n0,3,8\r\n10,8,6",
        " iteration , bits,\tgrad_bits \n 0 , 3 , 8 \n10,8,6 # warm\n",
        "# caf\xC3\xA9\n0,3,8\n10,8,6\n"}) {
    INFO(text);
    CHECK(same_counts(read(text), plain));
  }
}

TEST_CASE("a row that repeats the bits before is no switch", "[csv]") {
  CHECK(read("0,3,8\n10,3,8\n20,3,6\n").precision_switches == 1);
}

TEST_CASE("malformed rows are refused with line, field, found and allowed", "[csv][errors]") {
  CHECK_THAT(refusal("0,3,8\nx,4,8\n"),
             StartsWith(":2: iteration: found 'x', allowed: a whole number from 0 to 99"));
  CHECK_THAT(refusal("0,3,8\n-1,4,8\n"), StartsWith(":2: iteration: found '-1'"));
  CHECK_THAT(refusal("0,3,8\n1.5,4,8\n"), StartsWith(":2: iteration: found '1.5'"));
  CHECK_THAT(refusal("0,3,8\n100,4,8\n"), StartsWith(":2: iteration: found '100'"));
  CHECK_THAT(refusal("0,3,8\n99999999999999999999999,4,8\n"), StartsWith(":2: iteration"));
  CHECK_THAT(refusal("# c\n\n0,0,8\n"), StartsWith(":3: bits: found '0', allowed: a whole number "
                                                   "from 1 to 16"));
  CHECK_THAT(refusal("0,17,8\n"), StartsWith(":1: bits: found '17'"));
  CHECK_THAT(refusal("0,3,17\n"), StartsWith(":1: grad_bits: found '17'"));
  CHECK_THAT(refusal("0,3,\n"), StartsWith(":1: grad_bits: found ''"));
  CHECK_THAT(refusal("0,+3,8\n"), StartsWith(":1: bits: found '+3'"));
  CHECK_THAT(refusal("0,3,8x\n"), StartsWith(":1: grad_bits: found '8x'"));
  CHECK_THAT(refusal("0,0x3,8\n"), StartsWith(":1: bits"));
  CHECK_THAT(refusal("0,nan,8\n"), StartsWith(":1: bits: found 'nan'"));
  CHECK_THAT(refusal("0,3\n"), StartsWith(":1: row: found 2 column(s)") && EndsWith("grad_bits"));
  CHECK_THAT(refusal("0,3,8,1\n"), StartsWith(":1: row: found 4 column(s)"));
  CHECK_THAT(refusal("0;3;8\n"), StartsWith(":1: row: found 1 column(s)"));
}

TEST_CASE("iterations out of order are refused", "[csv][errors]") {
  CHECK_THAT(refusal("1,3,8\n"), StartsWith(":1: iteration: found 1, allowed: 0 in the first row"));
  CHECK_THAT(refusal("0,3,8\n5,4,8\n5,5,8\n"), StartsWith(":3: iteration: found 5, allowed: more"));
  CHECK_THAT(refusal("0,3,8\n5,4,8\n4,5,8\n"), StartsWith(":3: iteration: found 4, allowed: more"));
  CHECK_THAT(refusal("0,3,8\n0,4,8\n"), StartsWith(":2: iteration: found 0"));
}

TEST_CASE("wrong, misplaced and repeated headers are refused", "[csv][errors]") {
  CHECK_THAT(refusal("iter,bits,grad\n0,3,8\n"), StartsWith(":1: header: found 'iter,bits,grad'"));
  CHECK_THAT(refusal("iteration,bits\n0,3\n"), StartsWith(":1: header"));
  CHECK_THAT(refusal("iteration,grad_bits,bits\n0,3,8\n"), StartsWith(":1: header"));
  CHECK_THAT(refusal("0,3,8\niteration,bits,grad_bits\n"), StartsWith(":2: iteration: found"));
  const std::string header = "iteration,bits,grad_bits\n";
  CHECK_THAT(refusal(header + header + "0,3,8\n"), StartsWith(":2: iteration: found 'iteration'"));
}

TEST_CASE("files without rows are refused", "[csv][errors]") {
  for (const char* text :
       {"", "\n\n", "# only a comment\n", "iteration,bits,grad_bits\n", "\xEF\xBB\xBF"}) {
    INFO(text);
    CHECK_THAT(refusal(text), Contains("schedule: found no rows"));
  }
}

TEST_CASE("a directory, a missing file and N = 0 are refused", "[csv][errors]") {
  const std::string directory = std::filesystem::temp_directory_path().string();
  CHECK_THAT(error_text([&] { read_schedule_csv(directory, 100); }), Contains("a directory"));
  CHECK_THAT(error_text([] { read_schedule_csv("no/such/file.csv", 100); }),
             StartsWith("no/such/file.csv: schedule file: found no readable file"));
  CHECK_THAT(error_text([] { read_schedule_csv("", 100); }), Contains("no readable file"));
  CHECK_THAT(refusal("0,3,8\n", 0), Contains("iterations: found 0"));
}

TEST_CASE("binary files and very long lines are refused quickly", "[csv][errors]") {
  CHECK_THAT(refusal(std::string("0,3,8\n5,\0,8\n", 12)), StartsWith(":2: line: found byte 0"));
  CHECK_THAT(refusal("\x7f"
                     "ELF\x01\x02"),
             StartsWith(":1: line: found byte 127"));
  CHECK_THAT(refusal("0,3,8\n\xff\xfe,3,8\n"), StartsWith(":2: line: found byte 255"));
  CHECK_THAT(refusal("0,3,8\n" + std::string(5'000'000, '1') + ",3,8\n"),
             StartsWith(":2: line: found more than 4096 characters"));
  // Never ends; must not be read to the end.
  if (std::filesystem::exists("/dev/zero")) {
    CHECK_THAT(error_text([] { read_schedule_csv("/dev/zero", 100); }), Contains("more than 4096"));
  }
}

TEST_CASE("random damage gives a summary or one clear line, never anything else",
          "[csv][errors][random]") {
  const std::uint64_t seed = 4711;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const std::string good = "iteration,bits,grad_bits\n0,3,8\n10,4,8\n20,8,8\n# end\n30,3,6\r\n";
  const std::string favourites = "0123456789,,,\n\r\t -+.#xe\"\xEF\xBB\xBF\xff";
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = good;
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes) {
      const std::size_t at = random() % (text.size() + 1);
      const char c = random() % 4 == 0 ? static_cast<char>(random() % 256)
                                       : favourites[random() % favourites.size()];
      if (random() % 2 == 0 || at == text.size()) {
        text.insert(at, 1, c);
      } else {
        text[at] = c;
      }
    }
    INFO("case " << i << ": " << text);
    const TemporaryFile file(text);
    std::uint64_t total = 0;
    const std::string message = error_text([&] {
      for (const auto& count : read_schedule_csv(file.path(), 100).pairs) total += count.iterations;
    });
    if (message.empty()) {
      REQUIRE(total == 100);
    } else {
      ++refused;
      REQUIRE(message.find('\n') == std::string::npos);
      REQUIRE_THAT(message, Contains(": found ") && Contains(", allowed: "));
    }
  }
  CHECK(refused > 500);
}

}  // namespace
}  // namespace bitcycle
