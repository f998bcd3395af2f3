// Whether bytes are text that can be printed.
#pragma once

#include <string_view>

namespace bitcycle {

/// True if `text` is well-formed UTF-8 (no overlong forms, no surrogates, at most U+10FFFF) without
/// control characters other than the tab.
inline bool is_clean_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if ((lead < 0x20 && lead != '\t') || lead == 0x7f) return false;
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || i + length > text.size()) return false;
    const auto second = static_cast<unsigned char>(text[i + 1]);
    const bool bad_second = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                            (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
    if (bad_second) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0U) != 0x80) return false;
    }
    i += length;
  }
  return true;
}

}  // namespace bitcycle
