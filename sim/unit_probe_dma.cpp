// Fetch and store engines (rtl/bc_fetch.sv, rtl/bc_store.sv) against FetchUnit and StoreUnit, on a
// memory of some latency.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

#include "model/machine/dma.hpp"
#include "model/machine/layout.hpp"
#include "sim/unit_probe.hpp"

namespace bitcycle {
namespace {

using Words = std::array<std::uint64_t, layout::kFetchWords>;
constexpr std::uint64_t kLatency = 40;  // cycles
constexpr int kInstBits = layout::kFetchWords * 64;

const std::vector<std::string>& dma_files() {
  static const std::vector<std::string> files = {"bc_machine_pkg.sv", "bc_dma_check.sv",
                                                 "bc_burst.sv"};
  return files;
}

void put(Words& words, const layout::Field& field, std::uint64_t value) {
  put_bits(words.data(), static_cast<std::size_t>(field.bit), static_cast<std::size_t>(field.width),
           value);
}

class DmaUnit : public UnitProbe {
 public:
  DmaUnit(const MachineConfig& config, const std::string& name)
      : config_(config), dw_(static_cast<std::size_t>(config.dw)), beat_((dw_ + 63) / 64, 0) {
    module_ = "bc_" + name;
    parameters_ = {{"DW", config.dw}, {"OUT", config.out}, {"BURST", config.burst}};
    if (module_ == "bc_store") parameters_.emplace_back("CLOCK_GATING", 1);
    files_ = dma_files();
    if (module_ == "bc_store") files_.emplace_back("bc_clock_gate.sv");
    files_.push_back(module_ + ".sv");
  }

  // busy: percent of cycles in which the memory is ready; size: beats of a line; kind: percent of
  // one bits in the data.
  std::vector<UnitJob> training() const override {
    std::vector<UnitJob> jobs = {{"idle", true}};
    for (const int busy : {100, 60, 25}) {
      for (const int size : {4, 16, 200}) {
        for (const int kind : {50, 10}) jobs.push_back(job(busy, size, kind));
      }
    }
    return jobs;
  }
  std::vector<UnitJob> held_out() const override {
    std::vector<UnitJob> jobs;
    for (const int busy : {80, 40}) {
      for (const int size : {8, 64}) {
        for (const int kind : {50, 25, 0}) jobs.push_back(job(busy, size, kind));
      }
    }
    return jobs;
  }

 protected:
  static UnitJob job(int busy, int size, int kind) {
    UnitJob j;
    j.label = fmt::format("lines of {}, ready {} %, ones {} %", size, busy, kind);
    j.busy = busy;
    j.size = size;
    j.kind = kind;
    j.seed = static_cast<std::uint64_t>(busy * 1000000 + size * 1000 + kind);
    j.cycles = 768;
    return j;
  }

  Words instruction(const UnitJob& job, Random& random) const {
    Words words{};
    const auto bytes = static_cast<std::uint64_t>(config_.dw / 8);
    put(words, layout::kFetchDram, random.below(std::uint64_t{1} << 24U) * bytes);
    put(words, layout::kFetchLineBeats, static_cast<std::uint64_t>(job.size));
    put(words, layout::kFetchN0, job.size > 100 ? 1 : 1 + random.below(6));
    put(words, layout::kFetchN1, 1 + random.below(2));
    put(words, layout::kFetchN2, 1);
    put(words, layout::kFetchBuffer, random.below(2048));
    put(words, layout::kFetchTarget, random.below(2));
    put(words, layout::kFetchStride0, static_cast<std::uint64_t>(job.size) + random.below(50));
    put(words, layout::kFetchStride1, 1000 + random.below(5000));
    put(words, layout::kFetchStride2, random.below(5000));
    return words;
  }

  // Independent bits, `ones` percent of them set; returns how many changed.
  int new_beat(Random& random, int ones) {
    int changed = 0;
    for (auto& word : beat_) {
      std::uint64_t next = 0;
      if (ones >= 50) {
        next = random.word();
      } else if (ones > 0) {
        for (unsigned b = 0; b < 64; ++b) next |= std::uint64_t{random.chance(ones)} << b;
      }
      changed += __builtin_popcountll(next ^ word);
      word = next;
    }
    return changed;
  }

  MachineConfig config_;
  std::size_t dw_;
  std::vector<std::uint64_t> beat_;
};

class FetchProbe final : public DmaUnit {
 public:
  explicit FetchProbe(const MachineConfig& config) : DmaUnit(config, "fetch") {
    ports({{"rst_ni", 1},
           {"inst_i", kInstBits},
           {"start_i", 1},
           {"busy_i", 1},
           {"stop_i", 1},
           {"arready_i", 1},
           {"rvalid_i", 1},
           {"rdata_i", dw_},
           {"rresp_i", 2},
           {"rlast_i", 1}},
          {{"illegal_o", 1},
           {"cause_o", 4},
           {"done_o", 1},
           {"quiet_o", 1},
           {"l1_we_o", 1},
           {"arvalid_o", 1},
           {"rready_o", 1},
           {"l1_target_o", 1},
           {"l1_addr_o", 24},
           {"l1_data_o", dw_},
           {"araddr_o", 40},
           {"arlen_o", 8}});
    add_feature("cycle", "1: clock, and registers that hold");
    add_feature("start", "1 if an instruction starts");
    add_feature("burst", "1 if a burst is asked for");
    add_feature("beat", "1 if a beat is written to an operand buffer");
    add_feature("waiting", "1 if an address waits to be taken");
  }

  void run(const UnitJob& job, const std::function<void()>& cycle) override {
    Random random(job.seed);
    FetchUnit unit(config_);
    unit.reset();
    struct Beat {
      std::uint64_t when;
      bool last;
    };
    std::deque<Beat> memory;
    Words words{};
    bool busy = false, rvalid = false, done = false;
    std::fill(beat_.begin(), beat_.end(), 0);
    for (std::uint64_t i = 0; i < job.cycles; ++i) {
      FetchUnit::Inputs in;
      in.start = !job.idle && !busy && i % 4 == 3;
      if (in.start) words = instruction(job, random);
      in.inst = words.data();
      in.busy = busy;
      in.axi.arready = random.chance(job.busy);
      if (!rvalid && !memory.empty() && memory.front().when <= i && random.chance(job.busy)) {
        rvalid = true;
        new_beat(random, job.kind);
      }
      in.axi.rvalid = rvalid;
      in.axi.rlast = rvalid && memory.front().last;
      in.axi.rdata = beat_.data();
      const AxiReadReq axi = unit.axi(in);
      const FetchUnit::Write write = unit.write(in);
      done = unit.done(in);

      drive(0, 1);
      drive(1, words.data());
      drive(2, in.start);
      drive(3, in.busy);
      drive(4, std::uint64_t{0});
      drive(5, in.axi.arready);
      drive(6, in.axi.rvalid);
      drive(7, beat_.data());
      drive(8, std::uint64_t{0});
      drive(9, in.axi.rlast);
      const auto cause = Transfer::decode(words.data()).check(config_.dw);
      expect(0, cause != layout::MachineCause::kNone);
      expect(1, static_cast<std::uint64_t>(cause));
      expect(2, done);
      expect(3, unit.quiet(in));
      expect(4, write.we);
      expect(5, axi.arvalid);
      expect(6, axi.rready);
      expect(7, write.target);
      expect(8, write.address);
      expect(9, beat_.data());
      expect(10, axi.araddr);
      expect(11, axi.arlen);
      for (const std::size_t o : {7, 8, 9}) outputs_[o].known = write.we;
      for (const std::size_t o : {10, 11}) outputs_[o].known = axi.arvalid;
      const bool taken = axi.arvalid && in.axi.arready;
      count({1.0, in.start ? 1.0 : 0.0, taken ? 1.0 : 0.0, write.we ? 1.0 : 0.0,
             axi.arvalid && !taken ? 1.0 : 0.0});
      cycle();

      if (taken) {
        const unsigned beats = axi.arlen + 1U;
        const std::uint64_t from = memory.empty() ? i + kLatency : memory.back().when + 1;
        for (unsigned b = 0; b < beats; ++b) {
          memory.push_back({std::max(from, i + kLatency) + b, b + 1 == beats});
        }
      }
      if (write.we) {
        memory.pop_front();
        rvalid = false;
      }
      unit.step(in);
      busy = in.start || (busy && !done);
    }
  }
};

class StoreProbe final : public DmaUnit {
 public:
  explicit StoreProbe(const MachineConfig& config) : DmaUnit(config, "store") {
    ports({{"rst_ni", 1},
           {"inst_i", kInstBits},
           {"start_i", 1},
           {"stop_i", 1},
           {"ob_data_i", dw_},
           {"awready_i", 1},
           {"wready_i", 1},
           {"bvalid_i", 1},
           {"bresp_i", 2}},
          {{"illegal_o", 1},
           {"cause_o", 4},
           {"done_o", 1},
           {"quiet_o", 1},
           {"awvalid_o", 1},
           {"wvalid_o", 1},
           {"bready_o", 1},
           {"ob_addr_o", 24},
           {"awaddr_o", 40},
           {"awlen_o", 8},
           {"wdata_o", dw_},
           {"wlast_o", 1}});
    add_feature("cycle", "1: clock, and registers that hold");
    add_feature("start", "1 if an instruction starts");
    add_feature("burst", "1 if a burst's address is taken");
    add_feature("beat", "1 if a beat is taken");
    add_feature("data", "changed bits of the beats' data");
    add_feature("waiting", "1 if an address waits to be taken");
  }

  void run(const UnitJob& job, const std::function<void()>& cycle) override {
    Random random(job.seed);
    StoreUnit unit(config_);
    unit.reset();
    std::deque<std::uint64_t> responses;  // cycles in which they may come
    std::deque<unsigned> bursts;          // beats that are to come
    Words words{};
    bool busy = false;
    std::fill(beat_.begin(), beat_.end(), 0);
    std::uint32_t address = unit.ob_address();
    for (std::uint64_t i = 0; i < job.cycles; ++i) {
      StoreUnit::Inputs in;
      in.start = !job.idle && !busy && i % 4 == 3;
      if (in.start) words = instruction(job, random);
      in.inst = words.data();
      int data = 0;
      if (unit.ob_address() != address) {
        data = new_beat(random, job.kind);
        address = unit.ob_address();
      }
      in.ob_data = beat_.data();
      in.axi.awready = random.chance(job.busy);
      in.axi.wready = random.chance(job.busy);
      in.axi.bvalid = !responses.empty() && responses.front() <= i;
      const AxiWriteReq axi = unit.axi(in);
      const bool done = unit.done(in);

      drive(0, 1);
      drive(1, words.data());
      drive(2, in.start);
      drive(3, std::uint64_t{0});
      drive(4, beat_.data());
      drive(5, in.axi.awready);
      drive(6, in.axi.wready);
      drive(7, in.axi.bvalid);
      drive(8, std::uint64_t{0});
      const auto cause = Transfer::decode(words.data()).check(config_.dw);
      expect(0, cause != layout::MachineCause::kNone);
      expect(1, static_cast<std::uint64_t>(cause));
      expect(2, done);
      expect(3, unit.quiet(in));
      expect(4, axi.awvalid);
      expect(5, axi.wvalid);
      expect(6, axi.bready);
      expect(7, unit.ob_address());
      expect(8, axi.awaddr);
      expect(9, axi.awlen);
      if (axi.wvalid) expect(10, axi.wdata);
      expect(11, axi.wlast);
      for (const std::size_t o : {8, 9}) outputs_[o].known = axi.awvalid;
      for (const std::size_t o : {10, 11}) outputs_[o].known = axi.wvalid;
      const bool address_taken = axi.awvalid && in.axi.awready;
      const bool data_taken = axi.wvalid && in.axi.wready;
      count({1.0, in.start ? 1.0 : 0.0, address_taken ? 1.0 : 0.0, data_taken ? 1.0 : 0.0,
             static_cast<double>(data), axi.awvalid && !address_taken ? 1.0 : 0.0});
      cycle();

      if (address_taken) bursts.push_back(axi.awlen + 1U);
      if (data_taken && --bursts.front() == 0) {
        bursts.pop_front();
        responses.push_back(i + kLatency);
      }
      if (in.axi.bvalid) responses.pop_front();
      unit.step(in);
      busy = in.start || (busy && !done);
    }
  }
};

}  // namespace

std::unique_ptr<UnitProbe> make_fetch_unit(const MachineConfig& config) {
  return std::make_unique<FetchProbe>(config);
}
std::unique_ptr<UnitProbe> make_store_unit(const MachineConfig& config) {
  return std::make_unique<StoreProbe>(config);
}

}  // namespace bitcycle
