// SHA-256, by which results name the files that they were made from.
#pragma once

#include <string>
#include <string_view>

namespace bitcycle {

/// SHA-256 of `data` as 64 lower-case hex digits.
std::string sha256_hex(std::string_view data);

}  // namespace bitcycle
