// Reads a precision schedule from a CSV file. Every byte of the file is untrusted.
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

#include "workloads/number_text.hpp"
#include "workloads/schedule.hpp"
#include "workloads/schedule_curve.hpp"
#include "workloads/schedule_export.hpp"

namespace bitcycle {
namespace {

constexpr std::array<std::string_view, 3> kColumns = {"iteration", "bits", "grad_bits"};
constexpr const char* kColumnText = "three columns: iteration,bits,grad_bits";
constexpr std::size_t kLongestLine = 4096;

using Fields = std::vector<std::string_view>;

Fields split(std::string_view line) {
  Fields fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

// Words, not numbers: a header, possibly with wrong names.
bool looks_like_header(const Fields& fields) {
  return std::all_of(fields.begin(), fields.end(), [](std::string_view field) {
    return !field.empty() && std::isalpha(static_cast<unsigned char>(field.front())) != 0;
  });
}

class Reader {
 public:
  // `runs`, if there is one, gets every stretch.
  Reader(const std::string& path, std::uint64_t iterations, std::vector<ScheduleRun>* runs)
      : path_(path), iterations_(iterations), runs_(runs) {
    if (iterations == 0 || iterations > kMaxIterations) {
      throw input_error(path, 0, "iterations", std::to_string(iterations),
                        "1 to " + std::to_string(kMaxIterations) + " (2^53)");
    }
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
      throw input_error(path, 0, "schedule file", "a directory", "a CSV file");
    }
    in_.open(path, std::ios::binary);
    if (!in_) throw input_error(path, 0, "schedule file", "no readable file", "a CSV file");
  }

  ScheduleSummary read() {
    std::string line;
    while (read_line(line)) {
      const std::string_view content = trimmed(std::string_view(line).substr(0, line.find('#')));
      if (content.empty()) continue;
      check_text(content);
      const Fields fields = split(content);
      const bool first = !seen_content_;
      seen_content_ = true;
      if (first && looks_like_header(fields)) {
        check_header(fields, content);
      } else {
        add_row(fields);
      }
    }
    if (rows_ == 0) throw input_error(path_, line_, "schedule", "no rows", kColumnText);
    return finish();
  }

 private:
  // Next line without its end; false at the end of the file. Bounded, so that a file without
  // newlines does not fill the memory.
  bool read_line(std::string& line) {
    line.clear();
    ++line_;
    std::streambuf& buffer = *in_.rdbuf();
    int c = buffer.sbumpc();
    if (c == std::char_traits<char>::eof()) {
      --line_;
      return false;
    }
    for (; c != std::char_traits<char>::eof() && c != '\n'; c = buffer.sbumpc()) {
      if (line.size() == kLongestLine) {
        throw input_error(path_, line_, "line",
                          "more than " + std::to_string(kLongestLine) + " characters", kColumnText);
      }
      line.push_back(static_cast<char>(c));
    }
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line_ == 1 && line.compare(0, 3, "\xEF\xBB\xBF") == 0) line.erase(0, 3);
    return true;
  }

  void check_text(std::string_view content) const {
    for (const char c : content) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte < 0x20 && c != '\t') || byte >= 0x7f) {
        throw input_error(path_, line_, "line", "byte " + std::to_string(byte),
                          "plain text with " + std::string(kColumnText));
      }
    }
  }

  void check_header(const Fields& fields, std::string_view content) const {
    if (fields.size() == kColumns.size() &&
        std::equal(fields.begin(), fields.end(), kColumns.begin())) {
      return;
    }
    throw input_error(path_, line_, "header", "'" + std::string(content) + "'", kColumnText);
  }

  std::uint64_t number(const Fields& fields, std::size_t column, std::uint64_t low,
                       std::uint64_t high) const {
    std::uint64_t value = 0;
    if (!read_number(fields[column], low, high, value)) {
      throw input_error(
          path_, line_, std::string(kColumns[column]), "'" + std::string(fields[column]) + "'",
          "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    }
    return value;
  }

  void add_row(const Fields& fields) {
    if (fields.size() != kColumns.size()) {
      throw input_error(path_, line_, "row", std::to_string(fields.size()) + " column(s)",
                        kColumnText);
    }
    const std::uint64_t start = number(fields, 0, 0, iterations_ - 1);
    const BitPair pair = {static_cast<int>(number(fields, 1, kMinBits, kMaxBits)),
                          static_cast<int>(number(fields, 2, kMinBits, kMaxBits))};
    if (rows_ == 0) {
      if (start != 0) {
        throw input_error(path_, line_, "iteration", std::to_string(start), "0 in the first row");
      }
      out_.first_bits = pair.bits;
    } else {
      if (start <= start_) {
        throw input_error(path_, line_, "iteration", std::to_string(start),
                          "more than that of the row before, " + std::to_string(start_));
      }
      take_run(start - start_);
      if (!(pair == pair_)) ++out_.precision_switches;
    }
    start_ = start;
    pair_ = pair;
    ++rows_;
  }

  void take_run(std::uint64_t length) {
    counts_[pair_] += length;
    if (runs_ == nullptr) return;
    if (!runs_->empty() && runs_->back().pair == pair_) {
      runs_->back().length += length;
      return;
    }
    if (runs_->size() == kMaxScheduleRuns) {
      throw input_error(path_, line_, "schedule", "more than a million changes", "fewer");
    }
    runs_->push_back({start_, length, pair_});
  }

  ScheduleSummary finish() {
    take_run(iterations_ - start_);
    out_.name = std::filesystem::path(path_).stem().string();
    out_.group = "file";
    out_.iterations = iterations_;
    out_.last_bits = pair_.bits;
    for (const auto& [pair, iterations] : counts_) out_.pairs.push_back({pair, iterations});
    return out_;
  }

  std::string path_;
  std::uint64_t iterations_;
  std::vector<ScheduleRun>* runs_;
  std::ifstream in_;
  int line_ = 0;
  bool seen_content_ = false;
  std::uint64_t rows_ = 0;
  std::uint64_t start_ = 0;  // of the row before
  BitPair pair_;             // of the row before
  std::map<BitPair, std::uint64_t> counts_;
  ScheduleSummary out_;
};

}  // namespace

ScheduleSummary read_schedule_csv(const std::string& path, std::uint64_t iterations) {
  return Reader(path, iterations, nullptr).read();
}

std::vector<ScheduleRun> read_schedule_csv_runs(const std::string& path, std::uint64_t iterations) {
  std::vector<ScheduleRun> runs;
  Reader(path, iterations, &runs).read();
  return runs;
}

}  // namespace bitcycle
