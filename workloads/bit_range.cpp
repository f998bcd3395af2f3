// The papers' notation of bit ranges: "3:8/8,3:6/6".
#include <string_view>

#include "workloads/number_text.hpp"
#include "workloads/schedule.hpp"
#include "workloads/schedule_curve.hpp"

namespace bitcycle {
namespace {

constexpr const char* kAllowed =
    "widths 1 to 16 as bits, min:max, bits/gradient or min:max/min:max, for example 3:8/8 or "
    "3:6/6:8; a comma between terms";

InputError bad_term(std::string_view term) {
  return input_error("", 0, "bits", "'" + std::string(term) + "'", kAllowed);
}

// "8" or "3:8" into low and high.
void parse_range(std::string_view text, std::string_view term, int& low, int& high) {
  const std::size_t colon = text.find(':');
  std::uint64_t first = 0;
  if (!read_number(trimmed(text.substr(0, colon)), kMinBits, kMaxBits, first)) throw bad_term(term);
  std::uint64_t second = first;
  if (colon != std::string_view::npos &&
      !read_number(trimmed(text.substr(colon + 1)), kMinBits, kMaxBits, second)) {
    throw bad_term(term);
  }
  if (first > second) {
    throw input_error("", 0, "bits", "'" + std::string(term) + "'", "min:max with min <= max");
  }
  low = static_cast<int>(first);
  high = static_cast<int>(second);
}

}  // namespace

std::vector<BitRange> parse_bit_ranges(const std::string& text, int default_grad_min,
                                       int default_grad_max) {
  if (default_grad_min < kMinBits || default_grad_max > kMaxBits ||
      default_grad_min > default_grad_max) {
    throw input_error("", 0, "gradient bits",
                      std::to_string(default_grad_min) + " to " + std::to_string(default_grad_max),
                      "1 to 16, the lower bound first");
  }
  std::vector<BitRange> ranges;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view term = trimmed(rest.substr(0, comma));
    const std::size_t slash = term.find('/');
    BitRange range;
    range.grad_min = default_grad_min;
    range.grad_max = default_grad_max;
    parse_range(term.substr(0, slash), term, range.qmin, range.qmax);
    if (slash != std::string_view::npos) {
      parse_range(term.substr(slash + 1), term, range.grad_min, range.grad_max);
    }
    ranges.push_back(range);
    if (comma == std::string_view::npos) return ranges;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace bitcycle
