// Strict reading of whole numbers from text. Internal to workloads/.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace bitcycle {

/// `text` without blanks and tabs at both ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// True if the whole of `text` is a decimal number from `low` to `high`: no sign, no point, no
/// exponent, no blank. Leaves `value` alone otherwise.
inline bool read_number(std::string_view text, std::uint64_t low, std::uint64_t high,
                        std::uint64_t& value) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < low || number > high) return false;
  value = number;
  return true;
}

}  // namespace bitcycle
