// YAML the strict way: one document, numbers as people write them.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace bitcycle {

/// The one document of `text`. Throws InputError naming `file` and the line if it is not
/// well-formed YAML, nested deeper than yaml-cpp reads, or has a second document, which a reader of
/// one document would silently drop.
YAML::Node load_yaml(const std::string& text, const std::string& file);

/// Line of a node from 1, for messages; 0 if unknown.
int yaml_line(const YAML::Node& node);

/// True if the whole of `text` is a plain decimal number from `low` to `high`. YAML's octal
/// ("010"), hexadecimal ("0x10") and signed forms are refused: what a reader of the file sees is
/// the value.
bool read_decimal(std::string_view text, std::uint64_t low, std::uint64_t high,
                  std::uint64_t& value);

/// True if `text` is a decimal floating-point number ("8", "0.5", "1e-3"): finite, no hexadecimal,
/// no leading zeros before another digit, no sign other than in the exponent.
bool read_decimal(std::string_view text, double& value);

}  // namespace bitcycle
