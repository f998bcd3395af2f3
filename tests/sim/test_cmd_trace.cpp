// `bitcycle trace` as a user meets it.
#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "capture.hpp"
#include "golden/error.hpp"
#include "golden/output_file.hpp"
#include "sim/cmd_compare.hpp"
#include "sim/cmd_schedule.hpp"
#include "sim/cmd_trace.hpp"
#include "workloads/policy.hpp"

namespace {

using namespace bitcycle;
using Args = std::vector<std::string>;

// Standard output and exit code of a command that goes through std::cout.
template <typename Command>
std::string output_of(Command command, const Args& args, int code = 0) {
  std::ostringstream text;
  std::streambuf* old = std::cout.rdbuf(text.rdbuf());
  int got = -1;
  try {
    got = command(args);
  } catch (...) {
    std::cout.rdbuf(old);
    throw;
  }
  std::cout.rdbuf(old);
  CHECK(got == code);
  return text.str();
}

template <typename Command>
std::string refusal(Command command, const Args& args) {
  try {
    output_of(command, args);
  } catch (const InputError& e) {
    std::string text = e.what();
    CHECK(text.find('\n') == std::string::npos);
    return text;
  }
  return "no error";
}

void refused(const Args& args, const std::string& part) {
  const std::string text = refusal(cmd_trace, args);
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}

std::size_t files_in(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator begin(folder.path());
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
}

}  // namespace

TEST_CASE("a trace is made, checked, shown, counted and converted", "[cmd]") {
  const TemporaryFolder folder;
  const std::string path = folder / "pfq.jsonl";
  CHECK(output_of(cmd_trace,
                  {"make", "--policy", "pfq", "--set", "borders=16000,32000,48000", "--out", path})
            .find("4 records, 64000 iterations") != std::string::npos);
  CHECK(output_of(cmd_trace, {"validate", path}).find("valid, 4 records") != std::string::npos);
  CHECK(output_of(cmd_trace, {"validate", path}).find("convention not checked") !=
        std::string::npos);
  const std::string shown = output_of(cmd_trace, {"show", path, "--limit", "1", "--from", "16000"});
  CHECK(shown.find("{\"t\":16000,\"b\":4,\"g\":6}\n1 of 4 records") != std::string::npos);
  const auto stats = nlohmann::json::parse(output_of(cmd_trace, {"stats", path, "--json", "-"}));
  CHECK(stats["precision_switches"] == 3);
  CHECK(stats["bitops_relative"].get<double>() == Approx((45.0 + 64 + 132 + 192) / 768));
  CHECK(stats["tensors"]["G"]["histogram"][0]["layer_iterations"] == 32000);
  const std::string table = output_of(cmd_trace, {"stats", path});
  CHECK(table.find(" 16000  25.00%") != std::string::npos);
  CHECK(table.find("mean bits W, A, G       5.25000, 5.25000, 7.00000\n") != std::string::npos);
  output_of(cmd_trace, {"convert", path, folder / "pfq.csv"});
  CHECK(read_file(folder / "pfq.csv") ==
        "iteration,bits,grad_bits\n0,3,6\n16000,4,6\n32000,6,8\n48000,8,8\n");
  output_of(cmd_trace,
            {"convert", folder / "pfq.csv", folder / "back.jsonl", "--iterations", "64000"});
  CHECK(read_file(folder / "back.jsonl").find("{\"t\":48000,\"b\":8,\"g\":8}\n{\"end\":4}\n") !=
        std::string::npos);
  output_of(cmd_trace, {"convert", path, folder / "long.jsonl", "--expand"});
  output_of(cmd_trace, {"convert", folder / "long.jsonl", folder / "copy.jsonl"});
  CHECK(read_file(folder / "copy.jsonl") == read_file(folder / "long.jsonl"));
  CHECK(output_of(cmd_trace, {"validate", folder / "long.jsonl"}).find("64000 records") !=
        std::string::npos);
}

TEST_CASE("stats with a network weigh layers by their MACs", "[cmd]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "t.jsonl")
      << "{\"bitcycle_trace\":1,\"iterations\":2,\"batch\":1,\"layers\":["
         "{\"name\":\"a\",\"m\":1,\"n\":30,\"k\":10},{\"name\":\"b\",\"m\":1,\"n\":10,\"k\":10}]}\n"
         "{\"t\":0,\"b\":8,\"g\":8}\n{\"t\":0,\"layer\":\"a\",\"b\":4,\"g\":8}\n{\"end\":2}\n";
  const auto stats =
      nlohmann::json::parse(output_of(cmd_trace, {"stats", folder / "t.jsonl", "--json", "-"}));
  CHECK(stats["bitops_relative"].get<double>() == Approx((300 * 80.0 + 100 * 192) / (400 * 192)));
  CHECK(stats["tensors"]["W"]["mean_bits"] == 6.0);
}

TEST_CASE("trace refuses wrong use", "[cmd]") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.jsonl";
  refused({"maek"}, "did you mean 'make'?");
  refused({"make"}, "--policy: found nothing");
  refused({"make", "--policy", "CR"}, "--out: found nothing");
  refused({"make", "--policy", "CRR", "--out", path}, "did you mean 'RR'?");
  refused({"make", "--policy", "CR", "--set", "cycles", "--out", path}, "key=value");
  refused({"make", "--policy", "fast", "--out", path}, "treats layers apart");
  refused({"make", "--policy", "CR", "--convention", "all", "--out", path}, "with --network");
  refused({"make", "--policy", "CR", "--out", "/no/such/dir/x"}, "no directory");
  refused({"make", "--policy", "CR", "--out", ""}, "--out: found an empty value");
  refused({"make", "--policy", "CR", "--name", "a\nb", "--out", path}, "control character");
  refused({"validate"}, "no file");
  refused({"show"}, "no file");
  refused({"show", "/no/such/file"}, "/no/such/file");
  refused({"stats", "/no/such/file"}, "/no/such/file");
  CHECK(files_in(folder) == 0);
  output_of(cmd_trace,
            {"make", "--policy", "fast", "--network", "resnet20-cifar10", "--out", path});
  refused({"validate", path, "--network", "resnet20-cifar10"}, "a network of its own");
  refused({"convert", path, folder / "y.csv"}, "one pair of bits");
  refused({"convert", path}, "IN OUT");
  refused({"convert", path, folder.path() + "/./x.jsonl"}, "one file");
  refused({"convert", path, folder / "y.jsonl", "--expand", "--compress"}, "one of them");
  refused({"convert", path, folder / "y.jsonl", "--expand", "--most", "9"}, "over 9 records");
  // Refused before the first of 2^53 records, not after gigabytes.
  std::ofstream(folder / "long.jsonl") << "{\"bitcycle_trace\":1,\"iterations\":9007199254740992}\n"
                                          "{\"t\":0,\"b\":3,\"g\":6}\n{\"end\":1}\n";
  refused({"convert", folder / "long.jsonl", folder / "y.jsonl", "--expand"},
          "over 100000000 records");
  std::filesystem::remove(folder / "long.jsonl");
  refused({"convert", path, folder / "y.jsonl", "--iterations", "9"}, "a list as input");
  std::ofstream(folder / "l.csv") << "0,3,8\n";
  refused({"convert", folder / "l.csv", folder / "y.jsonl"}, "--iterations: found nothing");
  CHECK(files_in(folder) == 2);
  CHECK(output_of(cmd_trace, {"make", "--list"}).find("halp: ") != std::string::npos);
  for (const char* word : {"make", "validate", "show", "stats", "convert"}) {
    CHECK(output_of(cmd_trace, {word, "--help"}).find("bitcycle trace") == 0);
  }
  output_of(cmd_trace, {}, 2);
}

TEST_CASE("schedule --json - prints nothing but JSON", "[cmd]") {
  const auto json = nlohmann::json::parse(output_of(cmd_schedule, {"CR", "--json", "-"}));
  CHECK(json["rows"].size() == 1);
  CHECK(output_of(cmd_schedule, {"CR", "--csv", "-"}).find("iteration,bits,grad_bits\n0,3,8\n") ==
        0);
  CHECK(refusal(cmd_schedule, {"CR", "--csv", "-", "--json", "-"}).find("- more than once") !=
        std::string::npos);
}

TEST_CASE("schedule files: several, and names that differ", "[cmd]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.csv") << "0,4,8\n";
  std::ofstream(folder / "b.csv") << "0,6,6\n";
  std::ofstream(folder / "CR.csv") << "0,6,6\n";
  std::filesystem::create_directory(folder / "other");
  std::ofstream(folder / "other/a.csv") << "0,5,8\n";
  const auto rows = nlohmann::json::parse(
      output_of(cmd_compare, {"--schedule-file", folder / "a.csv", "--schedule-file",
                              folder / "b.csv", "--json", "-"}))["rows"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["qmax"] == 6);  // the top of both files
  CHECK(rows[0]["grad_max"] == 8);
  CHECK(rows[1]["schedule"] == "a");
  CHECK(rows[2]["schedule"] == "b");
  CHECK(refusal(cmd_compare, {"--schedule-file", folder / "CR.csv"}).find("'CR', as another") !=
        std::string::npos);
  CHECK(refusal(cmd_compare,
                {"--schedule-file", folder / "a.csv", "--schedule-file", folder / "other/a.csv"})
            .find("'a', as another") != std::string::npos);
}

TEST_CASE("names with control characters cannot reach the terminal", "[cmd]") {
  const TemporaryFolder folder;
  const std::string path = folder / "a\x1b[31m\tb\xc2\x9b.csv";
  std::ofstream(path) << "0,4,8\n";
  const std::string text = output_of(cmd_compare, {"--schedule-file", path});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\t') == std::string::npos);
  CHECK(text.find("\xc2\x9b") == std::string::npos);
  CHECK(text.find("a\\x1b[31m\\x09b\\x9b") != std::string::npos);
}

TEST_CASE("outputs in one file are noticed however they are spelt", "[cmd]") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "d");
  std::filesystem::create_symlink(folder / "x", folder / "link");
  std::ofstream(folder / "x") << "";
  for (const std::string& other : {folder / "./x", folder / "d/../x", folder / "link"}) {
    CHECK(refusal(cmd_compare, {"--schedules", "CR", "--json", folder / "x", "--csv", other})
              .find("twice") != std::string::npos);
  }
  CHECK(refusal(cmd_schedule, {"CR", "--json", folder / "x", "--csv", folder / "./x"})
            .find("twice") != std::string::npos);
}

TEST_CASE("all outputs appear, or none", "[cmd]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "old.json") << "old";
  // The second output cannot be written: its temporary name is taken by a directory.
  const std::string second = folder / "second.csv";
  std::filesystem::create_directory(temporary_beside(second));
  CHECK(refusal(cmd_compare, {"--schedules", "CR", "--json", folder / "old.json", "--csv", second})
            .find("second.csv: output file") != std::string::npos);
  CHECK(read_file(folder / "old.json") == "old");
  CHECK(files_in(folder) == 2);
  // A full device is noticed before the first file is there.
  CHECK(refusal(cmd_compare,
                {"--schedules", "CR", "--json", folder / "new.json", "--csv", "/dev/full"})
            .find("/dev/full") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "new.json"));
}

TEST_CASE("an empty option value is refused", "[cmd]") {
  for (const char* option : {"--json", "--csv", "--latex", "--plot", "--schedule-file", "--trace",
                             "--policy", "--energy-table", "--accuracy", "--configs"}) {
    CHECK(refusal(cmd_compare, {option, ""}).find(std::string(option) + ": found an empty value") !=
          std::string::npos);
  }
  CHECK(refusal(cmd_schedule, {"CR", "--json", ""}).find("an empty value") != std::string::npos);
}

TEST_CASE("exchange options need each other", "[cmd]") {
  const auto compare_refused = [](const Args& args, const std::string& part) {
    CHECK(refusal(cmd_compare, args).find(part) != std::string::npos);
  };
  compare_refused({"--workers", "4"}, "--link-gbps: found nothing");
  compare_refused({"--link-gbps", "10"}, "no --workers");
  compare_refused({"--exchange", "gossip"}, "no --workers");
  compare_refused({"--workers", "4", "--link-gbps", "10", "--neighbours", "2"}, "with allreduce");
  compare_refused(
      {"--workers", "4", "--link-gbps", "10", "--exchange", "gossip", "--neighbours", "4"},
      "1 to 3, the other workers");
  compare_refused({"--workers", "0", "--link-gbps", "10"}, "--workers");
  compare_refused({"--workers", "4", "--link-gbps", "-1"}, "--link-gbps");
  compare_refused({"--workers", "4", "--link-gbps", "10", "--exchange-bits", "65"},
                  "--exchange-bits");
  const std::string text =
      output_of(cmd_compare, {"--schedules", "CR", "--workers", "4", "--link-gbps", "10",
                              "--exchange", "gossip", "--neighbours", "3"});
  CHECK(text.find("Exchange, CR: ") != std::string::npos);
}

TEST_CASE("the recorded example runs", "[cmd]") {
  const std::string path = std::string(BITCYCLE_SOURCE_DIR) + "/workloads/examples/cnn-cpt.jsonl";
  const auto rows =
      nlohmann::json::parse(output_of(cmd_compare, {"--trace", path, "--json", "-"}))["rows"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[1]["iterations"] == 64);
  // 4 cycles of 16 iterations, as CR with the same numbers.
  ScheduleSpec spec;
  spec.cycles = 4;
  spec.iterations = 64;
  CHECK(rows[1]["sum_bits"].get<std::uint64_t>() ==
        static_cast<std::uint64_t>(summarise(spec).sum_bits()));
  CHECK(rows[1]["precision_switches"] == summarise(spec).precision_switches);
}
