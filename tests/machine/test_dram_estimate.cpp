#include <catch2/catch.hpp>

#include "model/machine/dram_estimate.hpp"
#include "model/machine/dram_timer.hpp"
#include "model/machine/memory_config.hpp"

using namespace bitcycle;

// Two streams read and one written in turns, through the timer: the estimate knows bits and time
// only.
TEST_CASE("DRAM estimate: near the state model's energy of streams", "[dram]") {
  for (const char* name : {"ddr4-3200", "lpddr4-3200", "hbm2"}) {
    INFO(name);
    const MemoryConfig memory =
        load_memory_config(std::string(BITCYCLE_SOURCE_DIR) + "/configs/memory/" + name + ".yaml");
    constexpr int kWidth = 512, kPeriod = 2000;
    constexpr unsigned kBeats = 16;
    DramTimer timer(memory.dram, kWidth, kPeriod);
    std::uint64_t cycle = 0, read = 0, written = 0;
    std::uint64_t at[3] = {0, 40'000'000, 90'000'000};
    std::vector<std::uint64_t> ready;
    for (int burst = 0; burst < 3000; ++burst) {
      const int stream = burst % 3;
      if (stream < 2) {
        timer.read(cycle, at[stream], kBeats, ready);
        cycle = std::max(cycle, ready.back() / 256 + 1);  // times are in 1/256 cycle
        ready.clear();
        read += kBeats * kWidth;
      } else {
        for (unsigned b = 0; b < kBeats; ++b) {
          while (!timer.can_write(cycle)) ++cycle;
          timer.write(cycle, at[stream] + b * kWidth / 8, b + 1 == kBeats);
          ++cycle;
        }
        written += kBeats * kWidth;
      }
      at[stream] += kBeats * kWidth / 8;
    }
    const DramEnergy state = timer.energy(cycle);
    DramEstimate estimate(memory.dram, kBeats * kWidth / 8);
    const DramWork work{static_cast<double>(read), static_cast<double>(written),
                        static_cast<double>(cycle) * kPeriod * 1e-12};
    const DramEnergy energy = estimate.energy(work);
    CHECK(energy.read == Approx(state.read).epsilon(0.01));
    CHECK(energy.write == Approx(state.write).epsilon(0.01));
    CHECK(energy.refresh == Approx(state.refresh).epsilon(0.05));
    CHECK(energy.total() == Approx(state.total()).epsilon(0.1));
    CHECK(estimate.least(work).activate <= energy.activate * 1.0001);
    CHECK(estimate.most(work).activate >= energy.activate);
    CHECK(state.activate >= estimate.least(work).activate * 0.99);
    CHECK(state.activate <= estimate.most(work).activate);
    // Nothing moves: standby and refresh alone.
    const DramEnergy idle = estimate.energy({0, 0, 1e-3});
    CHECK(idle.total() == Approx(idle.refresh + idle.standby_open));
  }
}
