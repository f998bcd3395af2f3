// Where this build's sources and products are.
#pragma once

#include <string>

namespace bitcycle {

/// Source tree (rtl/, scripts/): $BITCYCLE_SOURCE, or where the program was built from.
std::string source_dir();
/// Build tree of this preset (holds rtl/FLAVOUR/NAME.so).
std::string build_dir();

}  // namespace bitcycle
