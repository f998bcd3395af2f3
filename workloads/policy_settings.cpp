#include "workloads/policy_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "golden/error.hpp"
#include "golden/text_file.hpp"
#include "workloads/number_text.hpp"
#include "workloads/schedule_curve.hpp"

namespace bitcycle {
namespace {

bool read_real(std::string_view text, double& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && std::isfinite(value);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == at) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

}  // namespace

PolicySettings::PolicySettings(std::string policy, const PolicyValues& values)
    : policy_(std::move(policy)), values_(values) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (values_[i].first == values_[j].first) {
        throw error(values_[i].first, "the key twice", "each key once");
      }
    }
  }
}

InputError PolicySettings::error(const std::string& key, const std::string& found,
                                 const std::string& allowed) const {
  return input_error("", 0, "policy " + policy_ + ": " + key, found, allowed);
}

const std::string* PolicySettings::find(const std::string& key) {
  known_.push_back(key);
  for (const auto& [name, value] : values_) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool PolicySettings::has(const std::string& key) const {
  return std::any_of(values_.begin(), values_.end(), [&](const auto& v) { return v.first == key; });
}

std::string PolicySettings::text(const std::string& key, const std::string& none) {
  const std::string* value = find(key);
  return value != nullptr ? *value : none;
}

std::uint64_t PolicySettings::number(const std::string& key, std::uint64_t none, std::uint64_t low,
                                     std::uint64_t high) {
  const std::string* value = find(key);
  if (value == nullptr) return none;
  std::uint64_t out = 0;
  if (!read_number(*value, low, high, out)) {
    throw error(key, "'" + *value + "'", fmt::format("a whole number from {} to {}", low, high));
  }
  return out;
}

std::uint64_t PolicySettings::iterations(std::uint64_t none) {
  return number("iterations", none, 1, kMaxIterations);
}

double PolicySettings::real(const std::string& key, double none, double low, double high) {
  const std::string* value = find(key);
  if (value == nullptr) return none;
  double out = 0.0;
  if (!read_real(*value, out) || out < low || out > high) {
    throw error(key, "'" + *value + "'", fmt::format("a number from {:g} to {:g}", low, high));
  }
  return out;
}

bool PolicySettings::flag(const std::string& key, bool none) {
  const std::string* value = find(key);
  if (value == nullptr) return none;
  if (*value != "yes" && *value != "no") throw error(key, "'" + *value + "'", "yes, no");
  return *value == "yes";
}

std::size_t PolicySettings::choice(const std::string& key,
                                   const std::vector<std::string>& allowed) {
  const std::string* value = find(key);
  if (value == nullptr) return 0;
  const auto found = std::find(allowed.begin(), allowed.end(), *value);
  if (found == allowed.end()) {
    throw error(key, "'" + *value + "'" + suggestion(*value, allowed), join(allowed));
  }
  return static_cast<std::size_t>(found - allowed.begin());
}

BitRange PolicySettings::range(const std::string& key, const BitRange& none) {
  const std::string* value = find(key);
  if (value == nullptr) return none;
  if (value->find(',') != std::string::npos) throw error(key, "'" + *value + "'", "one range");
  return parse_bit_ranges(*value, 8, 8).front();
}

BitPair PolicySettings::pair(const std::string& key, const BitPair& none) {
  const std::string* value = find(key);
  if (value == nullptr) return none;
  const bool alone = value->find('/') == std::string::npos;
  const BitRange r = parse_bit_ranges(*value, 8, 8).front();
  if (value->find(',') != std::string::npos || r.qmin != r.qmax || r.grad_min != r.grad_max) {
    throw error(key, "'" + *value + "'", "one pair of bits such as 8/8");
  }
  return {r.qmax, alone ? r.qmax : r.grad_max};
}

std::vector<std::uint64_t> PolicySettings::numbers(const std::string& key, std::uint64_t low,
                                                   std::uint64_t high) {
  const std::string* value = find(key);
  std::vector<std::uint64_t> out;
  if (value == nullptr) return out;
  for (const auto& item : split(*value, ',')) {
    out.emplace_back();
    if (!read_number(item, low, high, out.back())) {
      throw error(key, "'" + *value + "'",
                  fmt::format("whole numbers from {} to {}, separated by commas", low, high));
    }
  }
  return out;
}

std::vector<double> PolicySettings::series(const std::string& key) {
  const std::string* value = find(key);
  return value == nullptr ? std::vector<double>{} : read_series(*value);
}

void PolicySettings::done() const {
  for (const auto& [key, value] : values_) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    throw error("key", "'" + key + "'" + suggestion(key, known_), join(known_));
  }
}

TraceRecord network_record(std::uint64_t start, const LayerBits& bits) {
  TraceRecord record;
  record.start = start;
  record.work.bits = bits;
  return record;
}

std::vector<double> read_series(const std::string& path) {
  std::istringstream in(read_text_file(path, "recorded values", "one number a line"));
  std::vector<double> out;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::string_view content = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (content.empty()) continue;
    out.emplace_back();
    if (!read_real(content, out.back())) {
      throw input_error(path, number, "value", "'" + std::string(content) + "'", "a finite number");
    }
  }
  if (out.empty()) throw input_error(path, 0, "recorded values", "none", "one number a line");
  return out;
}

}  // namespace bitcycle
