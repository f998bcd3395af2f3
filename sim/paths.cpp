#include "sim/paths.hpp"

#include <cstdlib>

namespace bitcycle {

std::string source_dir() {
  const char* moved = std::getenv("BITCYCLE_SOURCE");
  return moved != nullptr && *moved != '\0' ? moved : BITCYCLE_SOURCE_DIR;
}

std::string build_dir() { return BITCYCLE_BUILD_DIR; }

}  // namespace bitcycle
