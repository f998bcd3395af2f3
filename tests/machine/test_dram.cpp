#include <catch2/catch.hpp>
#include <memory>

#include "model/machine/dram.hpp"
#include "model/machine/dram_timer.hpp"
#include "model/machine/memory.hpp"
#include "model/machine/memory_config.hpp"
#include "tests/machine/axi_master.hpp"

using namespace bitcycle;

namespace {

/// Small numbers, all different, to compute by hand. 8-byte accesses (16 bits x 4), 4 of a row.
DramConfig toy() {
  DramConfig c;
  c.name = "toy";
  c.channels = 1;
  c.bank_groups = 2;
  c.banks_per_group = 2;
  c.rows = 16;
  c.row_bytes = 32;
  c.bus_width = 16;
  c.device_width = 8;
  c.burst_length = 4;
  c.tck_ps = 1000;
  c.cl = 5;
  c.cwl = 3;
  c.trcd = 6;
  c.trp = 7;
  c.tras = 20;
  c.trrd_s = 3;
  c.trrd_l = 4;
  c.tfaw = 40;
  c.tccd_s = 2;
  c.tccd_l = 4;
  c.twtr_s = 2;
  c.twtr_l = 5;
  c.twr = 8;
  c.trtp = 4;
  c.trtrs = 1;
  c.trfc = 50;
  c.trefi = 1000;
  c.mapping = {DramField::kRow, DramField::kBank, DramField::kGroup, DramField::kColumn,
               DramField::kChannel};
  c.rails = {{"vdd", 2.0, 50, 20, 30, 130, 110, 200}};
  return c;
}

/// Address of a column of toy()'s row, bank of a group.
std::uint64_t at(int row, int bank, int group, int column) {
  return static_cast<std::uint64_t>(((row * 2 + bank) * 2 + group) * 4 + column) * 8;
}

const char* kPresets[] = {"ddr4-3200", "lpddr4-3200", "hbm2"};

MemoryConfig preset(const std::string& name) {
  return load_memory_config(std::string(BITCYCLE_SOURCE_DIR) + "/configs/memory/" + name + ".yaml");
}

}  // namespace

TEST_CASE("dram: addresses") {
  const auto c = toy();
  const auto a = dram_address(c, at(3, 1, 0, 2) + 5);
  CHECK(a.row == 3);
  CHECK(a.bank == 1);
  CHECK(a.group == 0);
  const auto b = dram_address(c, at(9, 1, 1, 0));
  CHECK(b.row == 9);
  CHECK(b.bank == 3);
  CHECK(b.group == 1);
  CHECK(dram_address(c, at(16, 0, 0, 0)).row == 0);  // wraps at the capacity
}

TEST_CASE("dram: closed, hit and conflict by hand") {
  Dram d(toy());
  // ACT 10, RD 10+6, data 16+5+2.
  CHECK(d.access(at(0, 0, 0, 0), false, 10) == 23);
  CHECK(d.last().activate == 10);
  CHECK(d.last().column == 16);
  // Hit in the same group: tCCD_L.
  CHECK(d.access(at(0, 0, 0, 1), false, 11) == 27);
  CHECK(d.last().activate == -1);
  CHECK(d.last().column == 20);
  // Conflict: PRE at ACT + tRAS = 30 (RD 20 + tRTP = 24 is earlier), ACT 37, RD 43, data 50.
  CHECK(d.access(at(1, 0, 0, 0), false, 12) == 50);
  CHECK(d.last().precharge == 30);
  CHECK(d.last().activate == 37);
  const auto n = d.counts(50);
  CHECK(n.closed == 1);
  CHECK(n.hits == 1);
  CHECK(n.conflicts == 1);
  CHECK(n.reads == 3);
}

TEST_CASE("dram: banks open side by side, tRRD and tFAW") {
  Dram d(toy());
  d.access(at(0, 0, 0, 0), false, 0);  // ACT 0
  d.access(at(0, 0, 1, 0), false, 0);  // other group: ACT 0 + tRRD_S
  CHECK(d.last().activate == 3);
  CHECK(d.last().column == 9);         // 3 + tRCD; tCCD_S after 6 is earlier
  d.access(at(0, 1, 1, 0), false, 0);  // same group as the last: 3 + tRRD_L
  CHECK(d.last().activate == 7);
  d.access(at(0, 1, 0, 0), false, 0);
  CHECK(d.last().activate == 10);
  // A fifth within tFAW of the first: conflict in bank 0, PRE 20, ACT 27, but not before 40.
  d.access(at(1, 0, 0, 0), false, 0);
  CHECK(d.last().precharge == 20);
  CHECK(d.last().activate == 40);
}

TEST_CASE("dram: the bus turns") {
  Dram d(toy());
  CHECK(d.access(at(0, 0, 0, 0), true, 0) == 11);  // ACT 0, WR 6, data 9..11
  // Read in the same group after tWTR_L: 11 + 5; data 16+7.
  CHECK(d.access(at(0, 0, 0, 1), false, 0) == 23);
  CHECK(d.last().column == 16);
  // Write after read: 16 + CL + 2 + tRTRS - CWL = 21.
  CHECK(d.access(at(0, 0, 0, 2), true, 0) == 26);
  CHECK(d.last().column == 21);
  // Conflict after a write: PRE at 26 + tWR.
  d.access(at(1, 0, 0, 0), true, 0);
  CHECK(d.last().precharge == 34);
  // Write, then read in the other group: closed bank first, then tWTR_S.
  Dram e(toy());
  e.access(at(0, 0, 1, 0), false, 0);
  e.access(at(0, 0, 0, 0), true, 40);  // ACT 40, WR 46, data until 51
  e.access(at(0, 0, 1, 1), false, 40);
  CHECK(e.last().column == 53);
}

TEST_CASE("dram: refresh closes all rows") {
  Dram d(toy());
  d.access(at(0, 0, 0, 0), false, 990);  // ACT 990, RD 996
  // Due at 1000: PRE when tRAS has passed, 1010; refresh 1017..1067; ACT 1067, data 1067+6+7.
  CHECK(d.access(at(0, 0, 0, 0), false, 1000) == 1080);
  CHECK(d.last().activate == 1067);
  auto n = d.counts(1080);
  CHECK(n.refreshes == 1);
  CHECK(n.closed == 2);
  // Open 990..1010, refreshing 50, open from 1067.
  CHECK(n.open_clocks == 20 + 50 + 13);
  // Idle: one each 1000 clocks.
  n = d.counts(5500);
  CHECK(n.refreshes == 5);
  CHECK(n.open_clocks == 20 + 50 + (2000 - 1067) + 4 * 50);
  CHECK(n.all_clocks == 5500);
}

TEST_CASE("dram: energy by hand") {
  // One supply of 2 V, clock 1 ns, two devices. Activate: 2*(50*27 - 30*20 - 20*7) = 1220 pJ;
  // read 2*(130-30)*2 = 400, write 2*(110-30)*2 = 320, refresh 2*(200-30)*50 = 17000; open 60 and
  // closed 40 pJ a clock.
  const auto e = dram_event_energy(toy());
  CHECK(e.activate == Approx(1220));
  CHECK(e.read == Approx(400));
  CHECK(e.write == Approx(320));
  CHECK(e.refresh == Approx(17000));
  CHECK(e.open_clock == Approx(60));
  CHECK(e.closed_clock == Approx(40));
  auto c = toy();
  c.io_pj_per_bit = 2;
  Dram d(c);
  d.access(at(0, 0, 0, 0), false, 100);
  d.access(at(0, 0, 0, 1), true, 100);
  d.access(at(1, 0, 0, 1), true, 100);
  const auto total = d.energy(1500);
  CHECK(total.activate == Approx(2 * 1220 * 2));
  CHECK(total.read == Approx(400 * 2));
  CHECK(total.write == Approx(2 * 320 * 2));
  CHECK(total.refresh == Approx(17000 * 2));
  // Open 100..1000 and 50 of refresh.
  CHECK(total.standby_open == Approx(950 * 60 * 2));
  CHECK(total.standby_closed == Approx(550 * 40 * 2));
  CHECK(total.io == Approx(3 * 64 * 2));
  CHECK(total.total() == Approx(total.activate + total.read + total.write + total.refresh +
                                total.standby_open + total.standby_closed + total.io));
}

TEST_CASE("dram: nothing but time draws closed standby and refresh") {
  Dram d(toy());
  const auto e = d.energy(999);
  CHECK(e.total() == Approx(999 * 40 * 2));
}

TEST_CASE("dram: burst energies agree with DRAMsim3") {
  // DRAMsim3 measured on streams of two reads to a write: 8.2 (DDR4-3200 8Gb x8) and 1.7 (HBM2) per
  // bit for the bursts alone. It adds up volt * milliampere * CLOCKS, so its figure is in pJ only
  // times the clock in ns (0.63 and 1).
  const auto per_bit = [](const DramConfig& c) {
    const auto e = dram_event_energy(c);
    return (2 * e.read + e.write) / 3 * c.devices() / (c.access_bytes() * 8);
  };
  CHECK(per_bit(preset("ddr4-3200").dram) == Approx(8.2 * 0.63).epsilon(0.02));
  CHECK(per_bit(preset("hbm2").dram) == Approx(1.7).epsilon(0.03));
}

TEST_CASE("dram: presets carry a source for every parameter and known figures") {
  for (const auto* name : kPresets) {
    INFO(name);
    const auto m = preset(name);
    CHECK(m.is_dram);
    CHECK(m.sources.size() == 30 + m.dram.rails.size());
    for (const auto& [field, source] : m.sources) CHECK(source.size() > 20);
  }
  CHECK(preset("ddr4-3200").dram.peak_bandwidth() == Approx(25.6e9));
  CHECK(preset("lpddr4-3200").dram.peak_bandwidth() == Approx(12.8e9));
  CHECK(preset("hbm2").dram.peak_bandwidth() == Approx(256e9));
  CHECK(preset("ddr4-3200").dram.access_bytes() == 64);
  CHECK(preset("lpddr4-3200").dram.access_bytes() == 32);
  CHECK(preset("hbm2").dram.access_bytes() == 64);
  // 8 Gb of a device.
  const auto d = preset("ddr4-3200").dram;
  CHECK(std::uint64_t{1} * d.rows * d.row_bytes * d.banks() * 8 ==
        (std::uint64_t{8} << 30) * d.devices());
}

TEST_CASE("dram: a sequential stream reaches the peak, a random one does not") {
  for (const auto* name : kPresets) {
    const auto c = preset(name).dram;
    Dram in_order(c), scattered(c);
    std::int64_t a = 0, b = 0;
    constexpr int kAccesses = 40000;
    for (int i = 0; i < kAccesses; ++i) {
      const auto bytes = static_cast<std::uint64_t>(c.access_bytes());
      a = std::max(a, in_order.access(static_cast<std::uint64_t>(i) * bytes, false, 0));
      b = std::max(b, scattered.access(counter_random(1, 2, static_cast<std::uint64_t>(i)) %
                                           (1U << 30U) / bytes * bytes,
                                       false, 0));
    }
    const double peak = static_cast<double>(kAccesses) * c.column_gap_s() / c.channels;
    INFO(name);
    // Refresh takes tRFC of every tREFI, rows their share.
    CHECK(static_cast<double>(a) > peak);
    CHECK(static_cast<double>(a) < 1.2 * peak);
    CHECK(static_cast<double>(b) > 1.5 * peak);
    // Energy per bit, core only: published measurements of random over sequential are 1.2 to 3.7.
    const double bits = static_cast<double>(kAccesses) * c.access_bytes() * 8;
    const double seq = (in_order.energy(a).total() - in_order.energy(a).io) / bits;
    const double rnd = (scattered.energy(b).total() - scattered.energy(b).io) / bits;
    CHECK(rnd > 1.2 * seq);
    CHECK(seq > 1);
    CHECK(seq < 25);
    CAPTURE(seq, rnd);
    CHECK(rnd < 60);
  }
}

TEST_CASE("dram: bounds of random streams hold, with refreshes in them") {
  std::vector<DramConfig> configs = {toy()};
  for (const auto* name : kPresets) configs.push_back(preset(name).dram);
  configs.push_back(toy());
  configs.back().trefi = 200;  // refresh counts
  for (const auto& c : configs) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Dram d(c);
      std::vector<DramBurst> bursts;
      std::int64_t end = 0;
      const auto bytes = static_cast<std::uint64_t>(c.access_bytes());
      const int writes = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 100 : 40;
      for (const auto& b :
           random_bursts(seed, 64, 1 + seed * 5, 1 << (12 + seed % 12), 64, writes, 0)) {
        bursts.push_back({b.address, b.beats * 8ULL, b.is_write});
        for (std::uint64_t a = b.address / bytes; a <= (b.address + b.beats * 8ULL - 1) / bytes;
             ++a) {
          end = std::max(end, d.access(a * bytes, b.is_write, 0));
        }
      }
      const auto bounds = dram_bounds(c, bursts);
      INFO(c.name << " seed " << seed << " bounds " << bounds.all_hit << " " << bounds.all_miss);
      REQUIRE(bounds.all_hit <= end);
      REQUIRE(end <= bounds.all_miss);
    }
  }
}

TEST_CASE("dram: all-miss is what misses cost") {
  // Rows of one bank in turn: the bound is met up to the first access and the refresh margin.
  auto c = toy();
  c.tfaw = 20;  // out of the way
  Dram d(c);
  std::vector<DramBurst> bursts;
  std::int64_t end = 0;
  for (int i = 0; i < 30; ++i) {
    bursts.push_back({at(i % 2, 0, 0, 0), 8, false});
    end = std::max(end, d.access(bursts.back().address, false, 0));
  }
  CHECK(end == 29 * 27 + 13);
  const auto bounds = dram_bounds(c, bursts);
  CHECK(bounds.all_miss >= end);
  CHECK(bounds.all_miss <= end + dram_worst_refresh(c, false));
  // Hits in changing groups: the lower bound is met up to opening the rows.
  Dram h(c);
  bursts.clear();
  end = 0;
  for (int i = 0; i < 30; ++i) {
    bursts.push_back({at(0, 0, i % 2, i / 2 % 4), 8, false});
    end = std::max(end, h.access(bursts.back().address, false, 0));
  }
  CHECK(dram_bounds(c, bursts).all_hit == 5 + 29 * 2 + 2);
  CHECK(end <= dram_bounds(c, bursts).all_hit + c.trcd + c.trrd_s);
}

TEST_CASE("dram behind AXI: a read by hand") {
  // Machine at 2 ns, DRAM clock 1 ns, 8-byte beats of one access each. AR in cycle 0: clock 2. ACT
  // 2, RD 8, data 15 -> 7.5 cycles -> beat in 8; next columns 12, 16, 20: 19, 23, 27 -> 10, 12, 14.
  Memory memory(64, std::make_unique<DramTimer>(toy(), 64, 2000));
  PlayedBurst b;
  b.beats = 4;
  std::vector<PlayedBurst> list = {b};
  REQUIRE(play(memory, 64, list) == 15);
  CHECK(list[0].beat_at == std::vector<std::uint64_t>{8, 10, 12, 14});
}

TEST_CASE("dram behind AXI: narrow beats share an access, wide ones have several") {
  // 8-bit beats: eight of an access come one a cycle once it has ended.
  Memory narrow(8, std::make_unique<DramTimer>(toy(), 8, 2000));
  PlayedBurst b;
  b.beats = 10;
  b.address = 2;
  std::vector<PlayedBurst> list = {b};
  REQUIRE(play(narrow, 8, list) != 0);
  CHECK(list[0].beat_at == std::vector<std::uint64_t>{8, 9, 10, 11, 12, 13, 14, 15, 16, 17});
  Memory wide(256, std::make_unique<DramTimer>(toy(), 256, 2000));
  b.beats = 1;
  b.address = 0;
  list = {b};
  REQUIRE(play(wide, 256, list) != 0);
  CHECK(list[0].beat_at == std::vector<std::uint64_t>{14});  // the fourth access
}

TEST_CASE("dram behind AXI: a write is answered when its data has been written") {
  // AW 0, W in 1 and 2 (clocks 4 and 6): ACT 4, WR 10, data 15; WR 14, data 19 -> B in 10.
  Memory memory(64, std::make_unique<DramTimer>(toy(), 64, 2000));
  PlayedBurst b;
  b.beats = 2;
  b.is_write = true;
  b.data.assign(16, 1);
  std::vector<PlayedBurst> list = {b};
  REQUIRE(play(memory, 64, list) != 0);
  CHECK(list[0].beat_at == std::vector<std::uint64_t>{1, 2});
  CHECK(list[0].answered == 10);
}

TEST_CASE("dram behind AXI: the write buffer holds back, data stays right") {
  for (const int buffer : {1, 2, 32}) {
    auto c = toy();
    c.write_buffer = buffer;
    auto list = random_bursts(9, 64, 60, 1 << 12, 16, 100, 0);
    Memory memory(64, std::make_unique<DramTimer>(c, 64, 2000));
    REQUIRE(play(memory, 64, list) != 0);
    MemoryStore expected(0);
    for (const auto& b : list) expected.write(b.address, b.data.data(), b.data.size());
    std::vector<std::uint8_t> want(1 << 13), got(1 << 13);
    expected.read(0, want.data(), want.size());
    memory.dump(0, got.data(), got.size());
    CHECK(want == got);
    CHECK(memory.violation().empty());
  }
}

TEST_CASE("dram behind AXI: lies between the two memories of the recurrence") {
  std::vector<DramConfig> configs = {toy()};
  for (const auto* name : kPresets) configs.push_back(preset(name).dram);
  configs.push_back(toy());
  configs.back().trefi = 300;  // refresh counts
  int shared = 0;              // runs in which the channel bounds more than one direction alone
  for (const auto& c : configs) {
    for (const int dw : {64, 512}) {
      for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        const int writes = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 100 : 40;
        const auto plan =
            random_bursts(seed, dw, 80, 1 << (14 + seed % 10), 16, writes, seed % 4 * 25);
        const auto run = [&](std::unique_ptr<MemoryTimer> timer) {
          auto list = plan;
          Memory memory(dw, std::move(timer));
          const auto cycles = play(memory, dw, list);
          REQUIRE(cycles != 0);
          return cycles;
        };
        const auto bounds = dram_timing_bounds(c, dw, 1000);
        auto timer = std::make_unique<DramTimer>(c, dw, 1000);
        DramTimer* dram = timer.get();
        auto list = plan;
        Memory memory(dw, std::move(timer));
        const auto cycles = play(memory, dw, list);
        const auto n = dram->counts(cycles);
        const auto alone = run(std::make_unique<BandwidthTimer>(bounds.lower));
        const auto moved = (n.reads + n.writes) * static_cast<unsigned>(c.access_bytes()) * 8;
        const auto low = bounds.lower_cycles(alone, moved);
        REQUIRE(low >= alone);
        shared += low > alone ? 1 : 0;
        const auto high = bounds.upper_cycles(run(std::make_unique<BandwidthTimer>(bounds.upper)),
                                              n.reads, n.writes);
        INFO(c.name << " dw " << dw << " seed " << seed << ": " << low << " <= " << cycles
                    << " <= " << high);
        REQUIRE(low <= cycles);
        REQUIRE(cycles <= high);
      }
    }
  }
  CHECK(shared > 50);
}

TEST_CASE("dram: fewest clocks of a channel by hand, and met by a stream of hits") {
  auto c = toy();
  c.trefi = 100000;
  CHECK(dram_least_span(c, 1, 2) == 0);
  CHECK(dram_least_span(c, 31, 2) == 60);
  c.trefi = 120;
  c.trfc = 30;
  // Without refresh 200 columns 2 apart take 398. That time brings 3 refreshes, 398 + 3 * 28 clocks
  // bring 4, and 398 + 4 * 28 no more.
  CHECK(dram_least_span(c, 200, 2) == 398 + 4 * 28);
  // Reads of one row, over and over: only opening it after each refresh is not in the bound.
  Dram d(c);
  std::int64_t end = 0;
  for (int i = 0; i < 2000; ++i) end = d.access(0, false, 0);
  const std::int64_t least = c.cl + dram_least_span(c, 2000, c.column_gap_l()) + c.burst_clocks();
  CHECK(least <= end);
  CHECK(static_cast<double>(least) > 0.8 * static_cast<double>(end));
}

TEST_CASE("dram: reads and writes share the channel in the lower bound") {
  const auto c = preset("ddr4-3200").dram;
  const auto bounds = dram_timing_bounds(c, 512, 1000);
  // 25.6 bytes a nanosecond: a mebibyte takes 40960 cycles and refresh more; few bits no longer.
  const std::uint64_t bits = std::uint64_t{8} << 20U;
  CHECK(bounds.lower_cycles(1, bits) > 40960);
  CHECK(bounds.lower_cycles(1, bits) < 40960 * 1.06);
  CHECK(bounds.lower_cycles(100000, bits) == 100000);
  CHECK(bounds.lower_cycles(5000, 512) == 5000);
  CHECK(bounds.lower_cycles(7, 0) == 7);
}
