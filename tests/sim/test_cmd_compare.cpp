// The commands `compare` and `schedule` as a user meets them: wrong use ends in one clear line.
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/cmd_compare.hpp"
#include "sim/cmd_schedule.hpp"
#include "sim/report.hpp"

namespace {

using namespace bitcycle;
using Args = std::vector<std::string>;

// A directory of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "bitcycle_cmd_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) FAIL("no temporary directory");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }
  std::size_t files() const {
    const std::filesystem::directory_iterator begin(path_);
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
  }

 private:
  std::filesystem::path path_;
};

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Standard output of a command.
class Capture {
 public:
  Capture() : old_(std::cout.rdbuf(text_.rdbuf())) {}
  ~Capture() { std::cout.rdbuf(old_); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* old_;
};

int quiet_compare(const Args& args, std::string* text = nullptr) {
  const Capture capture;
  const int code = cmd_compare(args);
  if (text != nullptr) *text = capture.text();
  return code;
}

template <typename Command>
std::string error_of(Command command, const Args& args) {
  const Capture capture;
  try {
    command(args);
  } catch (const InputError& e) {
    std::string text = e.what();
    CHECK(text.find('\n') == std::string::npos);
    CHECK(capture.text().empty());
    return text;
  }
  return "no error";
}

void refused(const Args& args, const std::string& part) {
  const std::string text = error_of(cmd_compare, args);
  INFO(command_text("compare", args) << " -> " << text);
  CHECK(text.find(part) != std::string::npos);
}

void schedule_refused(const Args& args, const std::string& part) {
  const std::string text = error_of(cmd_schedule, args);
  INFO(command_text("schedule", args) << " -> " << text);
  CHECK(text.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("two networks of one name are refused: their rows could not be told apart", "[cmd]") {
  const Folder folder;
  for (const char* file : {"a.yaml", "b.yaml"}) {
    std::ofstream(folder.file(file))
        << "network: same\nnodes:\n  - input: {channels: 8}\n"
        << "  - dense: {name: fc, channels: " << (file[0] - 'a' + 4) << "}\n";
  }
  const std::string both = folder.file("a.yaml") + "," + folder.file("b.yaml");
  refused({"--network", both, "--convention", "all", "--schedules", "CR"}, "both named 'same'");
}

TEST_CASE("compare refuses wrong options", "[cmd]") {
  refused({"--schedules", "CRR"}, "did you mean 'RR'?");
  refused({"--schedule", "CR"}, "did you mean '--schedules'?");
  refused({"--schedules"}, "argument");
  refused({"stray"}, "'stray', a word that belongs to no option");
  refused({"--batch", "1", "--batch", "2"}, "more than once");
  refused({"--force=1"}, "--force");
  refused({"--network", "resnet75-cifar10"}, "did you mean 'resnet74-cifar10'?");
  refused({"--network", "a,,b"}, "empty item");
  refused({"--bits", "0:8"}, "bits");
  refused({"--bits", "8:3"}, "bits");
  refused({"--bits", "3:17"}, "bits");
  refused({"--bits", "3:16"}, "P_MAX = 8 of array serial-1x1");
  refused({"--bits", "3:16/16"}, "--bits: found 16 bits in 3:16/16");
  refused({"--bits", "3:16"}, "a YAML array with p_max: 16");
  refused({"--grad-bits", "16"}, "--grad-bits: found 16 bits in 3:8/16");
  refused({"--baseline", "static:16/16"}, "--baseline: found 16 bits");
  refused({"--bits", ""}, "bits");
  refused({"--grad-bits", "8/8"}, "--grad-bits");
  refused({"--iterations", "0"}, "--iterations");
  refused({"--iterations", "-1"}, "--iterations");
  refused({"--iterations", "6e4"}, "--iterations");
  refused({"--iterations", "10", "--cycles", "11"}, "cycles");
  refused({"--iterations", "9007199254740992"}, "below 2^64");
  refused({"--cycles", "0"}, "--cycles");
  refused({"--cycle-length", "ceil"}, "--cycle-length");
  refused({"--batch", "0"}, "--batch");
  refused({"--batch", "4294967295"}, "a smaller batch");
  refused({"--arch", "serial1x1"}, "did you mean 'serial-1x1'?");
  refused({"--reference", "fixed8x8"}, "--reference: found 'fixed8x8', did you mean 'fixed-8x8'?");
  refused({"--baseline", "8/8"}, "--baseline");
  refused({"--baseline", "static:3:8/8"}, "--baseline");
  refused({"--convention", "cpt-cifer"}, "did you mean 'cpt-cifar'?");
  refused({"--lowering", "gemm"}, "dx=gemm");
  refused({"--operand-order", "tabel"}, "did you mean 'table'?");
  for (const char* clock : {"0", "-5", "nan", "inf", "5x", ""})
    refused({"--clock-mhz", clock}, "--clock");
  for (const char* bits : {"0", "65", "operands"})
    refused({"--result-bits", bits}, "--result-bits");
  refused({"--gemm", "1,2"}, "M,N,K");
  refused({"--gemm", "0,1,1"}, "--gemm M");
  refused({"--gemm", "1,1,4294967296"}, "--gemm K");
  refused({"--gemm", "4294967295,4294967295,4294967295"}, "below 2^64");
  for (const char* other : {"network", "batch", "convention", "lowering"}) {
    refused({"--gemm", "1,1,1", std::string("--") + other, "7"}, "a single GEMM");
  }
  refused({"--columns", "foo"}, "--columns");
  refused({"--columns", "metric"}, "--columns");
  refused({"--check", "0"}, "--check");
  refused({"--seed", "1"}, "--check");
  refused({"--json", "-", "--csv", "-"}, "- more than once");
  refused({"--json", "x", "--csv", "x"}, "twice");
  refused({"--json", "/no/such/directory/x"}, "no directory");
  refused({"--json", "/"}, "a directory");
  refused({"--plot", "x.png"}, ".svg or .pdf");
  refused({"--energy-table", "/no/such/file"}, "/no/such/file");
  refused({"--accuracy", "/no/such/file"}, "/no/such/file");
  refused({"--schedule-file", "/no/such/file"}, "/no/such/file");
  refused({"--arch", "/no/such/file.yaml"}, "/no/such/file.yaml");
}

TEST_CASE("compare refuses bad files with their line", "[cmd]") {
  const Folder folder;
  const auto accuracy = [&](const std::string& text) { return folder.write("acc.csv", text); };
  refused({"--accuracy", accuracy("CR,abc\n")}, "acc.csv:1: metric");
  refused({"--accuracy", accuracy("schedule,acc\nCR,1\nCX,2\n")}, "acc.csv:3: schedule");
  refused({"--accuracy", accuracy("CR,1\nCR,2\n")}, "acc.csv:2: schedule");
  refused({"--accuracy", accuracy("CR,1,-2\n")}, "acc.csv:1: std");
  refused({"--accuracy", accuracy("CR,1,2,3\n")}, "acc.csv:1: row");
  refused({"--accuracy", accuracy("CR,inf\n")}, "acc.csv:1: metric");
  refused({"--accuracy", accuracy("\n")}, "no rows");
  refused({"--accuracy", accuracy("CR,1\n"), "--bits", "3:8,3:6"}, "one bit range");
  refused({"--schedule-file", folder.write("s.csv", "0,8,8\n5,99,8\n")}, "s.csv:2");
  refused({"--schedule-file", folder.write("s.csv", "0,8,8\n"), "--cycles", "4"}, "--cycles");
  const std::string wide = folder.write("s.csv", "iteration,bits,grad_bits\n0,8,8 # a\n5,8,16\n");
  refused({"--schedule-file", wide}, "s.csv:3: bits: found 16 bits");
  refused({"--schedules", "CR", "--accuracy", accuracy("ER,1\n")},
          "no schedule of this table, allowed: static, CR");
  const std::string own = folder.write("mine.csv", "0,8,8\n");
  refused({"--schedule-file", own, "--accuracy", accuracy("CX,1\n")}, "ETH, mine");
  refused({"--energy-table", folder.write("e.yaml", "name: x\nnode: [\n")}, "e.yaml:");
  refused({"--arch", folder.write("a.yaml", "ra: 1\nrb: 2\n")}, "a.yaml:2");
}

TEST_CASE("schedule refuses wrong use", "[cmd]") {
  schedule_refused({}, "no name");
  schedule_refused({"CX"}, "did you mean");
  schedule_refused({"CR", "LR"}, "belongs to no option");
  schedule_refused({"CR", "--bits", "3:8,3:6"}, "2 ranges");
  schedule_refused({"CR", "--iterations", "0"}, "--iterations");
  schedule_refused({"CR", "--iterations", "4"}, "cycles");
  schedule_refused({"all", "--csv", "x.csv"}, "one schedule");
  schedule_refused({"CR", "--plot", "x.gif"}, ".svg or .pdf");
}

TEST_CASE("compare writes what it is asked for, whole files only", "[cmd]") {
  const Folder folder;
  const std::string accuracy =
      folder.write("acc.csv", "schedule,top-1 %,std\nstatic,92.1,0.1\nCR,92.3,0.2\n");
  std::string text;
  CHECK(quiet_compare({"--schedules", "CR,RR", "--json", folder.file("r.json"), "--csv",
                       folder.file("r.csv"), "--latex", folder.file("r.tex"), "--accuracy",
                       accuracy, "--plot", folder.file("r.svg")},
                      &text) == 0);
  CHECK(folder.files() == 5);
  CHECK(text.find("top-1 %") != std::string::npos);
  const auto json = nlohmann::json::parse(read(folder.file("r.json")));
  REQUIRE(json["rows"].size() == 3);
  CHECK(json["rows"][2]["metric"] == 92.3);
  CHECK(json["rows"][1]["metric"].is_null());
  CHECK(read(folder.file("r.csv")).find("metric_std") != std::string::npos);
  CHECK(read(folder.file("r.tex")).find("92.3") != std::string::npos);
  CHECK(read(folder.file("r.svg")).find("</svg>") != std::string::npos);
}

TEST_CASE("figures carry no date", "[cmd]") {
  const Folder folder;
  for (const char* kind : {".svg", ".pdf"}) {
    const std::string a = folder.file(std::string("a") + kind);
    const std::string b = folder.file(std::string("b") + kind);
    quiet_compare({"--schedules", "CR", "--plot", a});
    quiet_compare({"--schedules", "CR", "--plot", b});
    CHECK(read(a) == read(b));
  }
  const std::string pdf = read(folder.file("a.pdf"));
  CHECK(pdf.find("(D:19700101000000") != std::string::npos);
}

TEST_CASE("a program can read JSON from standard output", "[cmd]") {
  std::string text;
  CHECK(quiet_compare({"--schedules", "CR", "--json", "-"}, &text) == 0);
  CHECK(nlohmann::json::parse(text)["rows"].size() == 2);
}

TEST_CASE("a schedule of one's own", "[cmd]") {
  const Folder folder;
  const std::string csv = folder.write("mine.csv", "iteration,bits,grad_bits\n0,8,8\n32000,4,8\n");
  std::string text;
  CHECK(quiet_compare({"--schedule-file", csv, "--json", "-"}, &text) == 0);
  const auto rows = nlohmann::json::parse(text)["rows"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[1]["schedule"] == "mine");
  CHECK(rows[1]["group"] == "file");
  CHECK(rows[1]["qmin"] == 4);
  CHECK(rows[1]["bitops_relative"].get<double>() == Approx((192.0 + 80.0) / 384.0));
}

TEST_CASE("a schedule of one's own and the range of --bits", "[cmd]") {
  const Folder folder;
  const std::string csv = folder.write("mine.csv", "0,3,8\n32000,8,8\n");
  const auto note = [&](const Args& more) {
    Args args = {"--schedule-file", csv, "--json", "-"};
    args.insert(args.end(), more.begin(), more.end());
    std::string text;
    CHECK(quiet_compare(args, &text) == 0);
    const auto json = nlohmann::json::parse(text);
    for (const auto& a : json["assumptions"]) {
      if (a["key"] == "schedule_file")
        return a["value"].get<std::string>() + "; " + a["text"].get<std::string>();
    }
    return std::string("none");
  };
  CHECK(note({}).find("mine: bits 3:8/8; no --bits: ") == 0);
  CHECK(note({}).find("own maximum, 8/8") != std::string::npos);
  CHECK(note({"--bits", "3:6/6"}).find("leaves --bits 3:6/6") != std::string::npos);
  CHECK(note({"--bits", "3:8/8"}).find("leaves") == std::string::npos);
}

TEST_CASE("a metric prints as typed, and no deviation is none", "[cmd]") {
  const Folder folder;
  const std::string accuracy =
      folder.write("acc.csv", "schedule,acc,std\nstatic,92.80,\nCR,93.0,0.10\nRR,91\n");
  const Args args = {"--schedules", "CR,RR",     "--accuracy",
                     accuracy,      "--columns", "schedule,metric,metric_std"};
  const auto with = [&](const Args& more) {
    Args all = args;
    all.insert(all.end(), more.begin(), more.end());
    std::string text;
    CHECK(quiet_compare(all, &text) == 0);
    return text;
  };
  const std::string text = with({});
  CHECK(text.find("static    92.80     -\n") != std::string::npos);
  CHECK(text.find("CR         93.0  0.10\n") != std::string::npos);
  CHECK(text.find("RR           91     -\n") != std::string::npos);
  const auto rows = nlohmann::json::parse(with({"--json", "-"}))["rows"];
  CHECK(rows[0]["metric"] == 92.8);
  CHECK(rows[0]["metric_std"].is_null());
  CHECK(rows[2]["metric_std"] == 0.1);
  CHECK(with({"--csv", "-"}).find(",acc,92.8,,") != std::string::npos);
  const std::string tex = with({"--latex", "-"});
  CHECK(tex.find("\\begin{tabular}{lr}") != std::string::npos);
  CHECK(tex.find("static & 92.80 \\\\\n") != std::string::npos);
  CHECK(tex.find("CR & 93.0 $\\pm$ 0.10 \\\\\n") != std::string::npos);
  const std::string script = report_plot([&] {
                               Args plain(args.begin(), args.end() - 2);
                               return run_compare(parse_compare_options(plain));
                             }())
                                 .body;
  const auto bars = [&](const std::string& part) {
    std::size_t count = 0;
    for (auto at = script.find(part); at != std::string::npos; at = script.find(part, at + 1)) {
      ++count;
    }
    return count;
  };
  CHECK(bars("with yerrorbars") == 1);
  CHECK(bars("using 2:3") == 3);
  CHECK(bars("on array serial-1x1") == 1);
}

TEST_CASE("each option changes the job or the result", "[cmd]") {
  const auto base = parse_compare_options({});
  CHECK(parse_compare_options({"--bits", "3:8/8,3:6/6"}).bits.size() == 2);
  CHECK(parse_compare_options({"--bits", "3:6/6:8"}).bits[0].grad_min == 6);
  CHECK(parse_compare_options({"--grad-bits", "6:8"}).bits[0].grad_min == 6);
  CHECK(parse_compare_options({"--clock-mhz", "800"}).clock_hz == 800e6);
  CHECK(parse_compare_options({"--clock-mhz", "500"}).clock_given);
  CHECK_FALSE(base.clock_given);
  CHECK(base.result_bits == 32);
  CHECK_FALSE(parse_compare_options({"--result-bits", "operand"}).result_bits);
  CHECK(parse_compare_options({"--baseline", "static:6/6"}).baseline->bits == 6);
  CHECK(parse_compare_options({"--cycle-length", "floor+1"}).cycle_length ==
        CycleLength::kFloorPlusOne);
  CHECK(parse_compare_options({"--json", "a b"}).command == "bitcycle compare --json 'a b'");
  const auto cycles = [](const Args& args) {
    CompareOptions o = parse_compare_options(args);
    return run_compare(o).rows.back().cycles;
  };
  const auto all = cycles({});
  for (const Args& args :
       {Args{"--convention", "all"}, Args{"--lowering", "dx=gemm"}, Args{"--batch", "64"},
        Args{"--cycles", "32"}, Args{"--cycle-length", "floor+1"}, Args{"--arch", "brick-2x2"},
        Args{"--network", "resnet38-cifar10"}}) {
    INFO(args[0]);
    CHECK(cycles(args) != all);
  }
  // A symmetric array has no order to choose.
  CHECK(cycles({"--arch", "stripes-1x8", "--operand-order", "table"}) >
        cycles({"--arch", "stripes-1x8"}));
}

TEST_CASE("help and schedule output", "[cmd]") {
  std::string text;
  CHECK(quiet_compare({"--help"}, &text) == 0);
  CHECK(text.find("bitcycle compare --network resnet74-cifar10") != std::string::npos);
  const Folder folder;
  {
    const Capture capture;
    CHECK(cmd_schedule({"CR", "--bits", "3:8", "--cycles", "8", "--iterations", "64000", "--csv",
                        folder.file("s.csv"), "--json", folder.file("s.json"), "--plot",
                        folder.file("s.pdf")}) == 0);
    CHECK(capture.text().find("0.633375") != std::string::npos);
    CHECK(capture.text().find("13112") != std::string::npos);
  }
  CHECK(folder.files() == 3);
  CHECK(read(folder.file("s.csv")).rfind("iteration,bits,grad_bits\n0,3,8\n", 0) == 0);
  CHECK(nlohmann::json::parse(read(folder.file("s.json")))["rows"][0]["precision_switches"] == 47);
  const Capture capture;
  CHECK(cmd_schedule({"all"}) == 0);
  for (const auto& name : {"CR", "ETV", "RTH"}) {
    CHECK(capture.text().find(std::string("\n") + name) != std::string::npos);
  }
}
