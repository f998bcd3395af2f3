#include "sim/memory_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "sim/paths.hpp"

namespace bitcycle {

MemoryConfig resolve_memory(const std::string& word) {
  namespace fs = std::filesystem;
  std::vector<std::string> known;
  const fs::path dir = fs::path(source_dir()) / "configs/memory";
  if (fs::is_directory(dir)) {
    for (const auto& entry : fs::directory_iterator(dir)) known.push_back(entry.path().stem());
  }
  std::sort(known.begin(), known.end());
  if (std::find(known.begin(), known.end(), word) != known.end()) {
    return load_memory_config((dir / (word + ".yaml")).string());
  }
  if (word.find('.') == std::string::npos && word.find('/') == std::string::npos) {
    throw input_error("", 0, "--memory", "'" + word + "'" + suggestion(word, known),
                      join(known) + ", or a YAML file");
  }
  return load_memory_config(word);
}

MemoryView view_memory(const MemoryConfig& memory, int dw, double clock_hz,
                       const std::string& clock_field) {
  if (!memory.is_dram) return {memory.timing(dw), std::nullopt};
  const double period = 1e12 / clock_hz;
  if (!(period >= 1 && period <= 1e9)) {
    throw input_error("", 0, clock_field, fmt::format("{:g} MHz", clock_hz / 1e6),
                      "0.001 to 1e6 MHz with a DRAM");
  }
  MemoryView out;
  out.dram = dram_timing_bounds(memory.dram, dw, static_cast<int>(std::lround(period)), 1);
  out.timing = out.dram->lower;
  return out;
}

void share_channels(MachineGemm& g, const DramTimingBounds& dram) {
  const std::uint64_t bits = checked_add(checked_add(g.first_bits, g.second_bits, "bits of a GEMM"),
                                         g.result_bits, "bits of a GEMM");
  const std::uint64_t cycles = dram.lower_cycles(g.cycles, bits);
  const std::uint64_t more = cycles - g.cycles;
  g.cycles = cycles;
  g.wait_fetch += more;
  for (std::size_t e = 0; e < g.engines.size(); ++e) {
    const bool is_exec = e == static_cast<std::size_t>(MachineEngine::kExec);
    (is_exec ? g.engines[e].wait_in : g.engines[e].idle) += more;
  }
}

double bytes_per_cycle(const MemoryTiming& timing, int dw) {
  return dw / 8.0 * 256.0 / static_cast<double>(timing.read_cost);
}

}  // namespace bitcycle
