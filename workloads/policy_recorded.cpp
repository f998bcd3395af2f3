#include "workloads/policy_recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>

#include "golden/error.hpp"
#include "workloads/csv_rows.hpp"
#include "workloads/number_text.hpp"
#include "workloads/policy_settings.hpp"
#include "workloads/schedule_curve.hpp"

namespace bitcycle {
namespace {

double real_of(const std::string& text, const std::string& file, int line, const char* field) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) {
    throw input_error(file, line, field, "'" + text + "'", "a finite number");
  }
  return value;
}

std::uint64_t iteration_of(const std::string& text, std::uint64_t least, const std::string& file,
                           int line) {
  std::uint64_t value = 0;
  if (!read_number(text, least, kMaxIterations - 1, value)) {
    throw input_error(file, line, "iteration", "'" + text + "'",
                      fmt::format("a whole number from {} (rows are in order)", least));
  }
  return value;
}

// Layers change one by one, each by a rule on its own bits and a recorded value.
class RecordedPolicy : public Policy {
 public:
  using Rule = std::function<int(int bits, double value)>;

  RecordedPolicy(std::vector<RecordedValue> values, std::string file, std::uint64_t iterations,
                 int start, int grad, Rule rule)
      : values_(std::move(values)),
        file_(std::move(file)),
        iterations_(iterations),
        start_(start),
        grad_(grad),
        rule_(std::move(rule)) {}

  std::uint64_t iterations() const override { return iterations_; }
  bool by_layer() const override { return true; }

  void write(const TraceLayers& layers, TraceSink& sink) const override {
    std::vector<int> bits(layers.size(), start_);
    sink.add(network_record(0, widths(start_)));
    for (const auto& v : values_) {
      if (v.iteration >= iterations_) break;
      for (const auto layer : select_layers(layers, v.layers, file_, v.line)) {
        const int next = rule_(bits[layer], v.value);
        if (next == bits[layer]) continue;
        bits[layer] = next;
        TraceRecord record = network_record(v.iteration, widths(next));
        record.layers = LayerSelection::index(layer);
        sink.add(record);
      }
    }
  }

 private:
  LayerBits widths(int bits) const { return LayerBits(bits, grad_ == 0 ? bits : grad_); }

  std::vector<RecordedValue> values_;
  std::string file_;
  std::uint64_t iterations_;
  int start_, grad_;
  Rule rule_;
};

// Iterations, tensor class (0 W, 1 A, 2 G), overflow rate, quantisation error.
struct DpsRow {
  std::uint64_t iteration;
  std::size_t tensor;
  double overflow, error;
};

std::vector<DpsRow> read_dps(const std::string& path) {
  std::vector<DpsRow> out;
  std::uint64_t least = 0;
  const std::vector<std::string> columns = {"iteration", "tensor", "overflow", "error"};
  for (const auto& row : read_csv_rows(path, columns, "DPS recording")) {
    DpsRow r{};
    r.iteration = iteration_of(row.fields[0], least, path, row.line);
    least = r.iteration;
    const std::size_t place = std::string("WAG").find(row.fields[1]);
    if (row.fields[1].size() != 1 || place == std::string::npos) {
      throw input_error(path, row.line, "tensor", "'" + row.fields[1] + "'", "W, A, G");
    }
    r.tensor = place;
    r.overflow = real_of(row.fields[2], path, row.line, "overflow");
    r.error = real_of(row.fields[3], path, row.line, "error");
    out.push_back(r);
  }
  return out;
}

class DpsPolicy : public Policy {
 public:
  DpsPolicy(std::vector<DpsRow> rows, DpsRule rule, std::uint64_t iterations)
      : rows_(std::move(rows)), rule_(rule), iterations_(iterations) {}
  std::uint64_t iterations() const override { return iterations_; }

  void write(const TraceLayers& /*layers*/, TraceSink& sink) const override {
    std::array<int, 3> integer{}, fraction{};
    integer.fill(rule_.integer);
    fraction.fill(rule_.fraction);
    const auto width = [&](std::size_t i) {
      return std::clamp(integer[i] + fraction[i], 2, kMaxBits);
    };
    LayerBits last(width(0), width(1), width(2));
    sink.add(network_record(0, last));
    for (const auto& r : rows_) {
      if (r.iteration >= iterations_) break;
      int& whole = integer[r.tensor];
      int& part = fraction[r.tensor];
      if (r.overflow > rule_.most_overflow) {
        ++whole;
      } else if (2.0 * r.overflow <= rule_.most_overflow) {
        --whole;
      }
      part += r.error > rule_.most_error ? 1 : -1;
      whole = std::clamp(whole, 1, kMaxBits - 1);
      part = std::clamp(part, 0, kMaxBits - whole);
      const LayerBits bits(width(0), width(1), width(2));
      if (!(bits == last)) sink.add(network_record(r.iteration, bits));
      last = bits;
    }
  }

 private:
  std::vector<DpsRow> rows_;
  DpsRule rule_;
  std::uint64_t iterations_;
};

std::string file_of(PolicySettings& settings, const char* what) {
  std::string file = settings.text("values", "");
  if (file.empty()) throw settings.error("values", "nothing", what);
  return file;
}

}  // namespace

std::vector<RecordedValue> read_recorded(const std::string& path) {
  std::vector<RecordedValue> out;
  std::uint64_t least = 0;
  for (const auto& row : read_csv_rows(path, {"iteration", "layer", "value"}, "recorded values")) {
    RecordedValue v;
    v.line = row.line;
    v.iteration = iteration_of(row.fields[0], least, path, row.line);
    least = v.iteration;
    std::uint64_t index = 0;
    if (row.fields[1].empty()) {
      throw input_error(path, row.line, "layer", "nothing", "all, a name, an index or a pattern");
    }
    if (read_number(row.fields[1], 0, kMostTraceLayers, index)) {
      v.layers = LayerSelection::index(index);
    } else if (row.fields[1] != "all") {
      v.layers = LayerSelection::named(row.fields[1]);
    }
    v.value = real_of(row.fields[2], path, row.line, "value");
    out.push_back(v);
  }
  return out;
}

int ldp_bits(double beta, int bmin, int bmax) {
  const double span = bmax - bmin;
  return static_cast<int>(
      std::clamp(std::nearbyint(beta * span + bmin), double(bmin), double(bmax)));
}

int AptRule::next(int bits, double gavg) const {
  if (gavg < threshold) return std::min(bits + 1, bmax);
  if (gavg > upper) return std::max(bits - 1, bmin);
  return bits;
}

std::unique_ptr<Policy> make_ldp_policy(const std::string& /*name*/, PolicySettings& settings) {
  const std::string file = file_of(settings, "a CSV of iteration,layer,value (beta)");
  const int low = static_cast<int>(settings.number("bmin", 3, kMinBits, kMaxBits));
  const int high = static_cast<int>(settings.number("bmax", 8, std::uint64_t(low), kMaxBits));
  const int grad = static_cast<int>(settings.number("grad", 8, kMinBits, kMaxBits));
  const std::uint64_t iterations = settings.iterations(64000);
  // beta starts at 0.
  return std::make_unique<RecordedPolicy>(
      read_recorded(file), file, iterations, low, grad,
      [low, high](int, double beta) { return ldp_bits(beta, low, high); });
}

std::unique_ptr<Policy> make_apt_policy(const std::string& /*name*/, PolicySettings& settings) {
  const std::string file = file_of(settings, "a CSV of iteration,layer,value (Gavg)");
  AptRule rule;
  rule.bmin = static_cast<int>(settings.number("bmin", 2, kMinBits, kMaxBits));
  rule.bmax = static_cast<int>(settings.number("bmax", 16, std::uint64_t(rule.bmin), kMaxBits));
  rule.start = static_cast<int>(
      settings.number("start", 6, std::uint64_t(rule.bmin), std::uint64_t(rule.bmax)));
  rule.threshold = settings.real("threshold", rule.threshold, 0.0, 1e30);
  rule.upper = settings.real("upper", rule.upper, rule.threshold, 1e30);
  const std::uint64_t iterations = settings.iterations(64000);
  return std::make_unique<RecordedPolicy>(
      read_recorded(file), file, iterations, rule.start, 0,
      [rule](int bits, double gavg) { return rule.next(bits, gavg); });
}

std::unique_ptr<Policy> make_dps_policy(const std::string& /*name*/, PolicySettings& settings) {
  const std::string file = file_of(settings, "a CSV of iteration,tensor,overflow,error");
  DpsRule rule;
  rule.most_overflow = settings.real("overflow", rule.most_overflow, 0.0, 1.0);
  rule.most_error = settings.real("error", rule.most_error, 0.0, 1e30);
  rule.integer = static_cast<int>(settings.number("integer", 4, 1, 15));
  rule.fraction = static_cast<int>(settings.number("fraction", 12, 0, 15));
  const std::uint64_t iterations = settings.iterations(64000);
  return std::make_unique<DpsPolicy>(read_dps(file), rule, iterations);
}

}  // namespace bitcycle
