// Cell libraries that tests use where they are installed.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace bitcycle {

struct KnownLibrary {
  std::string name;
  std::vector<std::string> files;
  double voltage = 0.0;
  std::size_t cells = 0;
  bool present() const {
    if (files.empty()) return false;
    for (const auto& f : files) {
      if (!std::filesystem::exists(f)) return false;
    }
    return true;
  }
};

/// OSU 180 nm comes from Debian (qflow-tech-osu018). The others are looked for below
/// $BITCYCLE_LIBERTY: ihp-sg13g2/*.lib and asap7/*.lib.gz.
inline std::vector<KnownLibrary> known_libraries() {
  const auto below = [](const std::string& folder) {
    std::vector<std::string> out;
    const char* root = std::getenv("BITCYCLE_LIBERTY");
    if (root == nullptr) return out;
    const auto dir = std::filesystem::path(root) / folder;
    if (!std::filesystem::is_directory(dir)) return out;
    for (const auto& e : std::filesystem::directory_iterator(dir)) {
      if (e.is_regular_file() && e.path().string().find(".lib") != std::string::npos) {
        out.push_back(e.path().string());
      }
    }
    return out;
  };
  return {{"OSU 180 nm", {"/usr/share/qflow/tech/osu018/osu018_stdcells.lib"}, 1.8, 32},
          {"IHP SG13G2", below("ihp-sg13g2"), 1.2, 84},
          {"ASAP7", below("asap7"), 0.7, 202}};
}

}  // namespace bitcycle
