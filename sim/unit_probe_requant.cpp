// One lane of the requantiser (rtl/bc_requant.sv) against golden/requantise.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "golden/hardware_random.hpp"
#include "golden/requantise.hpp"
#include "sim/unit_probe.hpp"

namespace bitcycle {
namespace {

// Kinds of work.
enum Kind : int { kRaw, kNearest, kHalfUp, kStochasticBits };
constexpr int kDrainBeats = 16;  // results of a tile that come one after the other

class RequantUnit final : public UnitProbe {
 public:
  explicit RequantUnit(int acc_w) : acc_w_(acc_w) {
    module_ = "bc_requant";
    parameters_ = {{"ACC_W", acc_w}, {"CLOCK_GATING", 1}};
    files_ = {"bc_clock_gate.sv", "bc_random.sv", "bc_requant.sv"};
    ports({{"raw_i", 1},
           {"rounding_i", 2},
           {"out_bits_i", 5},
           {"out_signed_i", 1},
           {"mult_i", 16},
           {"shift_i", 6},
           {"zout_i", 17},
           {"seed_i", 32},
           {"en1_i", 1},
           {"acc_i", static_cast<std::size_t>(acc_w)},
           {"zero_row_i", 64},
           {"zero_col_i", 64},
           {"element_i", 32},
           {"en2_i", 1},
           {"en3_i", 1},
           {"mask3_i", 1}},
          {{"v_o", 64}, {"out_o", 48}});
    add_feature("cycle", "1: clock, and registers that hold");
    add_feature("raw", "1 if a result leaves as an integer");
    add_feature("code", "1 if a result is requantised");
    add_feature("stochastic", "1 if it is rounded stochastically: besides code");
  }

  // busy: percent of cycles with results, in runs as a drain makes them; size: standard deviation
  // of the accumulator, bits.
  std::vector<UnitJob> training() const override {
    std::vector<UnitJob> jobs = {{"idle", true}};
    for (const int kind : {kRaw, kNearest, kStochasticBits}) {
      for (const int busy : {5, 30, 90}) {
        for (const int size : {12, 17, 22}) jobs.push_back(job(kind, busy, size));
      }
    }
    return jobs;
  }
  std::vector<UnitJob> held_out() const override {
    std::vector<UnitJob> jobs;
    for (const int kind : {kRaw, kNearest, kHalfUp, kStochasticBits}) {
      for (const int busy : {12, 60}) {
        for (const int size : {14, 20}) jobs.push_back(job(kind, busy, size));
      }
    }
    return jobs;
  }

  void run(const UnitJob& job, const std::function<void()>& cycle) override {
    Random random(job.seed);
    const bool raw = job.kind == kRaw;
    Requantisation q;
    // Codes of 8 bits from accumulators of `size` bits.
    q.out_bits = job.size % 2 == 0 ? 8 : 4;
    q.out_signed = job.size % 4 < 2;
    q.shift = std::max(0, job.size + 15 - q.out_bits);
    q.mult = static_cast<std::uint16_t>(0x6000 + random.below(0x4000));
    q.zout = static_cast<std::int32_t>(random.below(16));
    q.rounding = job.kind == kHalfUp           ? Rounding::kHalfUp
                 : job.kind == kStochasticBits ? Rounding::kStochastic
                                               : Rounding::kNearestEven;
    q.seed = static_cast<std::uint32_t>(random.word());
    const std::uint64_t mask = acc_w_ >= 64 ? ~0ULL : (1ULL << static_cast<unsigned>(acc_w_)) - 1;
    bool en1 = false, en2 = false, en3 = false;
    std::int64_t v = 0, product_of = 0;  // stages 2 and 3
    std::uint32_t element = 0, element2 = 0;
    std::uint16_t bits = 0;
    std::uint64_t out = 0, acc = 0, zero_row = 0, zero_col = 0;
    int run = 0, wait = 0;
    for (std::uint64_t i = 0; i < job.cycles; ++i) {
      if (!job.idle) {
        if (run == 0 && wait == 0) {
          run = kDrainBeats;
          wait = kDrainBeats * (100 - job.busy) / job.busy;
        }
        en1 = run > 0;
        if (run > 0)
          --run;
        else if (wait > 0)
          --wait;
      }
      if (en1) {
        acc = static_cast<std::uint64_t>(std::llround(std::ldexp(random.normal(), job.size)));
        zero_row =
            static_cast<std::uint64_t>(std::llround(std::ldexp(random.normal(), job.size - 2)));
        // A column's zero point changes with the tile.
        if (run == kDrainBeats - 1) {
          zero_col =
              static_cast<std::uint64_t>(std::llround(std::ldexp(random.normal(), job.size - 2)));
        }
        ++element;
      }
      const bool mask3 = true;
      drive_all({raw ? 1U : 0U, static_cast<std::uint64_t>(q.rounding),
                 static_cast<std::uint64_t>(q.out_bits), q.out_signed ? 1U : 0U, q.mult,
                 static_cast<std::uint64_t>(q.shift), static_cast<std::uint64_t>(q.zout) & 0x1ffffU,
                 q.seed, en1 ? 1U : 0U, acc & mask, zero_row, zero_col, element, en2 ? 1U : 0U,
                 en3 ? 1U : 0U, mask3 ? 1U : 0U});
      expect(0, static_cast<std::uint64_t>(v));
      expect(1, out & 0xffffffffffffULL);
      count({1.0, en1 && raw ? 1.0 : 0.0, en1 && !raw ? 1.0 : 0.0,
             en1 && job.kind == kStochasticBits ? 1.0 : 0.0});
      cycle();
      // The edge, last stage first.
      if (en3) {
        out = raw ? static_cast<std::uint64_t>(product_of)
                  : static_cast<std::uint64_t>(requantise_value(product_of, q, bits)) &
                        ((1U << static_cast<unsigned>(q.out_bits)) - 1U);
      }
      if (en2) {
        product_of = v;
        bits = hardware_random(q.seed, element2);
      }
      if (en1) {
        v = static_cast<std::int64_t>(raw ? acc : acc - zero_col - zero_row);
        if (!raw && job.kind == kStochasticBits) element2 = element;
      }
      en3 = en2;
      en2 = en1;
    }
  }

 private:
  static UnitJob job(int kind, int busy, int size) {
    static const char* const names[] = {"raw", "nearest", "half up", "stochastic"};
    UnitJob j;
    j.label = fmt::format("{} {} bits, {} % busy", names[kind], size, busy);
    j.kind = kind;
    j.busy = busy;
    j.size = size;
    j.seed = static_cast<std::uint64_t>(kind * 10000 + busy * 100 + size);
    return j;
  }
  int acc_w_;
};

}  // namespace

std::unique_ptr<UnitProbe> make_requant_unit(const MachineConfig& config) {
  return std::make_unique<RequantUnit>(config.array.acc_w);
}

}  // namespace bitcycle
