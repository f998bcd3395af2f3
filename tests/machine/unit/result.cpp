// bc_result against ResultUnit in every register and memory, and what it writes against golden.
//
// cpp: model/machine/partial_sums.cpp model/machine/out_position.cpp model/machine/result.cpp
// cpp: model/machine/machine_config.cpp model/array_config.cpp golden/text_file.cpp
// cpp: golden/yaml_text.cpp
// cpp: golden/requantise.cpp
#include "model/machine/result.hpp"

#include <algorithm>
#include <map>

#include "Vdut.h"
#include "golden/requantise.hpp"
#include "model/machine/layout.hpp"
#include "tests/machine/unit/unit.hpp"

using namespace bitcycle;
namespace lay = bitcycle::layout;

namespace {

struct Plan {  // an instruction and what it must leave in the output buffer
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(27);
  std::uint32_t m = 1, n = 1, or0 = 1, or1 = 1;
  bool ps_read = false, ps_write = false, raw = false, raw32 = false, column = false, sums = false;
  std::uint32_t ob_base = 0, o0 = 0, o1 = 0, o2 = 0, oc = 0, sum_a = 0, sum_w = 0;
  std::uint32_t element = 0, row_stride = 0, ps_base = 0;
  Requantisation q;

  std::uint32_t position(std::uint32_t i) const {
    return i % or0 * o0 + i / or0 % or1 * o1 + i / (or0 * or1) * o2;
  }
};

class Campaign {
 public:
  Campaign(const unit::Arguments& arguments, unit::Random& random)
      : random_(random), dut_(random.word(), "bc_result") {
    auto& a = config_.array;
    a.tm = arguments.get("TM", 4);
    a.tn = arguments.get("TN", 4);
    a.q = arguments.get("Q", 4);
    a.acc_w = arguments.get("ACC_W", 48);
    a.ac_w = 24;
    a.kl = arguments.get("GL", 16);
    a.s = 1;
    a.p_max = 8;
    a.ba = a.tm;
    a.bw = a.tn;
    config_.gl = arguments.get("GL", 16);
    config_.dw = arguments.get("DW", 64);
    config_.ob_d = arguments.get("OB_D", 64);
    config_.ps_d = arguments.get("PS_D", 64);
    model_ = std::make_unique<ResultUnit>(config_);
    rows_ = std::max(1, a.q / a.tn);
    columns_ = std::min(a.q, a.tn);
    words_in_ob_ = static_cast<std::uint32_t>(config_.ob_d * config_.words_per_beat());
    width_ = static_cast<unsigned>(a.acc_w);
    std::vector<RegisterView> registers;
    model_->list("bc_result", registers);
    drive(false, nullptr, false);
    dut_.reset();
    dut_.attach(registers);
  }

  void run(int cycles) {
    while (static_cast<int>(dut_.cycle()) < cycles) {
      Plan plan;
      const int blocks = random_.chance(40) ? random_.range(2, 4) : 1;
      if (!make(plan)) continue;
      const auto count = static_cast<std::size_t>(tiles(plan.m, tm()) * tiles(plan.n, tn())) *
                         static_cast<std::size_t>(tm() * tn() / config_.array.q);
      // A reduction in blocks goes through the partial-sum buffer where it fits.
      const bool split = blocks > 1 && count <= static_cast<std::size_t>(config_.ps_d);
      start_product(plan);
      for (int b = 0; b < (split ? blocks : 1); ++b) {
        plan.ps_read = split && b > 0;
        plan.ps_write = split && b + 1 < blocks;
        encode(plan);
        execute(plan);
      }
      check(plan);
      ++instructions_;
    }
    if (codes_ == 0 || raws_ == 0 || splits_ == 0 || overflows_ == 0) {
      dut_.fail("the campaign has not met every kind of output");
    }
    std::printf(
        "ok: %llu cycles, %llu instructions, %llu words of codes, %llu integers, %llu wraps\n",
        ull(dut_.cycle()), ull(instructions_), ull(codes_), ull(raws_), ull(overflows_));
  }

 private:
  static unsigned long long ull(std::uint64_t v) { return v; }
  std::uint32_t tm() const { return static_cast<std::uint32_t>(config_.array.tm); }
  std::uint32_t tn() const { return static_cast<std::uint32_t>(config_.array.tn); }
  std::uint32_t gl() const { return static_cast<std::uint32_t>(config_.gl); }
  static std::uint32_t tiles(std::uint32_t x, std::uint32_t t) { return (x + t - 1) / t; }
  std::int64_t wrap(std::uint64_t value) const {
    return static_cast<std::int64_t>(value << (64 - width_)) >> (64 - width_);
  }

  /// Shape, modes and a layout without overlaps; false if it does not fit the buffer.
  bool make(Plan& p) {
    p.m = static_cast<std::uint32_t>(random_.range(1, random_.chance(70) ? 9 : 40));
    p.n = static_cast<std::uint32_t>(random_.range(1, random_.chance(70) ? 9 : 40));
    if (random_.chance(20)) p.m = p.m * tm() % 64 + 1;
    p.raw = random_.chance(30);
    p.raw32 = random_.chance(50);
    p.column = random_.chance(50);
    p.sums = random_.chance(30);
    auto& q = p.q;
    q.mult = static_cast<std::uint16_t>(random_.chance(20) ? 65535 : random_.word());
    q.shift = random_.range(0, 63);
    if (random_.chance(30)) q.shift = random_.range(0, 20);
    const auto s17 = [&] {
      return random_.chance(10) ? -65536 : random_.chance(30) ? 0 : random_.range(-65536, 65535);
    };
    q.za = s17();
    q.zw = s17();
    q.zout = s17();
    if (random_.chance(50)) q.zout = random_.range(-10, 10);
    q.kzz = static_cast<std::int64_t>(random_.word()) >> random_.range(0, 63);
    if (random_.chance(25)) {  // small numbers: ties
      q.mult = static_cast<std::uint16_t>(1 << random_.range(0, 1));
      q.shift = random_.range(1, 4);
      q.za = q.zw = q.zout = 0;
      q.kzz = random_.range(-9, 9);
    }
    q.out_bits = random_.range(1, 16);
    q.out_signed = random_.chance(50);
    q.rounding = static_cast<Rounding>(random_.range(0, 3));
    q.seed = static_cast<std::uint32_t>(random_.word());
    p.element = static_cast<std::uint32_t>(random_.word());
    p.row_stride = random_.chance(50) ? p.n : static_cast<std::uint32_t>(random_.word());
    p.ps_base = static_cast<std::uint32_t>(random_.bits(16));
    // Positions: digits o % or0, o / or0 % or1, the rest; one of the three is the fastest.
    const bool column = p.column && !p.raw;
    const std::uint32_t along = column ? p.n : p.m, across = column ? p.m : p.n;
    p.or0 = static_cast<std::uint32_t>(random_.range(1, 7));
    p.or1 = static_cast<std::uint32_t>(random_.range(1, 5));
    if (random_.chance(10)) p.or0 = 65535;
    const std::uint32_t integer = (p.raw32 ? 32U : 48U) / gl();
    const std::uint32_t item = p.raw ? across * integer : static_cast<std::uint32_t>(q.out_bits);
    const std::uint32_t gap = static_cast<std::uint32_t>(random_.range(0, 3));
    const std::uint32_t c0 = std::min(along, p.or0), c1 = std::min(tiles(along, p.or0), p.or1);
    const std::uint32_t c2 = tiles(along, p.or0 * p.or1);
    p.o0 = item + gap;
    p.o1 = c0 * p.o0 + gap;
    p.o2 = c1 * p.o1 + gap;
    std::uint32_t size = c2 * p.o2;
    p.oc = size + gap;
    if (!p.raw && random_.chance(50)) {  // granules inside, positions outside
      p.oc = item + gap;
      p.o0 = tiles(across, gl()) * p.oc;
      p.o1 = c0 * p.o0;
      p.o2 = c1 * p.o1;
      size = c2 * p.o2;
    } else if (!p.raw) {
      size = tiles(across, gl()) * p.oc;
    }
    const std::uint32_t sums = (p.m + p.n) * integer;
    if (size + (p.sums ? sums : 0) > words_in_ob_) return false;
    p.ob_base = static_cast<std::uint32_t>(random_.bits(24));  // wraps round the buffer
    p.sum_a = p.ob_base + size;
    p.sum_w = p.sum_a + p.m * integer;
    if (((p.sum_a | p.sum_w) >> 24U) != 0) return false;
    return true;
  }

  void encode(Plan& p) {
    std::fill(p.words.begin(), p.words.end(), 0);
    for (auto& word : p.words) word = random_.word();  // what is not the unit's is noise
    const auto put = [&](const lay::Field& f, std::uint64_t value) {
      put_bits(p.words.data(), static_cast<std::size_t>(f.bit), static_cast<std::size_t>(f.width),
               value);
    };
    put(lay::kExecPsRead, p.ps_read);
    put(lay::kExecPsWrite, p.ps_write);
    put(lay::kExecRaw, p.raw);
    put(lay::kExecRaw32, p.raw32);
    put(lay::kExecColumn, p.column);
    put(lay::kExecSums, p.sums);
    put(lay::kExecOutBits, static_cast<std::uint64_t>(p.q.out_bits));
    put(lay::kExecOutSigned, p.q.out_signed);
    put(lay::kExecRounding, static_cast<std::uint64_t>(p.q.rounding));
    put(lay::kExecM, p.m);
    put(lay::kExecN, p.n);
    put(lay::kExecPsBase, p.ps_base);
    put(lay::kExecObBase, p.ob_base);
    put(lay::kExecOr0, p.or0);
    put(lay::kExecOr1, p.or1);
    put(lay::kExecO0, p.o0);
    put(lay::kExecO1w, p.o1 - p.or0 * p.o0);
    put(lay::kExecO2w, p.o2 - p.or1 * p.o1);
    put(lay::kExecOc, p.oc);
    put(lay::kExecSumA, p.sum_a);
    put(lay::kExecSumW, p.sum_w);
    put(lay::kExecMult, p.q.mult);
    put(lay::kExecShift, static_cast<std::uint64_t>(p.q.shift));
    put(lay::kExecZa, static_cast<std::uint64_t>(p.q.za));
    put(lay::kExecZw, static_cast<std::uint64_t>(p.q.zw));
    put(lay::kExecKzz, static_cast<std::uint64_t>(p.q.kzz));
    put(lay::kExecZout, static_cast<std::uint64_t>(p.q.zout));
    put(lay::kExecSeed, p.q.seed);
    put(lay::kExecElement, p.element);
    put(lay::kExecElementRow, p.row_stride);
  }

  void start_product(const Plan& p) {
    acc_.assign(std::size_t{p.m} * p.n, 0);
    sum_a_.assign(p.m, 0);
    sum_w_.assign(p.n, 0);
    wrapped_ = false;
    magnitude_ = p.q.mult <= 2        ? static_cast<int>(width_) - random_.range(4, 8)
                 : random_.chance(10) ? 0
                                      : random_.range(0, static_cast<int>(width_) - 1);
  }

  std::uint64_t draw() {
    const std::uint64_t value = random_.word();
    const std::uint64_t mask = (std::uint64_t{1} << width_) - 1;
    return static_cast<std::uint64_t>(wrap(value) >> magnitude_) & mask;
  }
  void accumulate(std::int64_t& to, std::uint64_t value, bool read) {
    const std::int64_t exact = (read ? to : 0) + wrap(value);
    to = wrap(static_cast<std::uint64_t>(exact));
    if (read && to != exact) wrapped_ = true;
  }

  /// One instruction: set-up, beats of the array with gaps, until done.
  void execute(const Plan& p) {
    // Now and then a soft reset's worth of time, a clear, a wait.
    clear_ = random_.chance(30);
    if (clear_) clear_extremes();
    cycle(p.words.data(), nullptr);
    for (int i = random_.range(8, 12); i > 0; --i) cycle(nullptr, nullptr);
    const int gap = random_.chance(50) ? 0 : random_.range(0, 90);
    const std::uint32_t row_tiles = tiles(p.m, tm()), column_tiles = tiles(p.n, tn());
    std::vector<std::uint64_t> row_sums(p.m), column_sums(p.n);
    for (auto& v : row_sums) v = draw();
    for (auto& v : column_sums) v = draw();
    for (std::uint32_t i = 0; i < p.m; ++i) accumulate(sum_a_[i], row_sums[i], p.ps_read);
    for (std::uint32_t j = 0; j < p.n; ++j) accumulate(sum_w_[j], column_sums[j], p.ps_read);
    for (std::uint32_t rt = 0; rt < row_tiles; ++rt) {
      for (std::uint32_t ct = 0; ct < column_tiles; ++ct) {
        for (std::uint32_t r = 0; r < tm(); r += rows_) {
          for (std::uint32_t c = 0; c < tn(); c += columns_) {
            while (random_.chance(gap)) cycle(nullptr, nullptr);
            Packed beat(config_);
            const bool last = rt + 1 == row_tiles && ct + 1 == column_tiles && r + rows_ == tm() &&
                              c + columns_ == tn();
            for (std::uint32_t i = 0; i < rows_; ++i) {
              const std::uint32_t m = rt * tm() + r + i;
              if (m < p.m) put_bits(beat.sum_a.data(), i * width_, width_, row_sums[m]);
              for (std::uint32_t j = 0; j < columns_; ++j) {
                const std::uint32_t n = ct * tn() + c + j;
                if (i == 0 && n < p.n) {
                  put_bits(beat.sum_w.data(), j * width_, width_, column_sums[n]);
                }
                if (m >= p.m || n >= p.n) continue;
                const std::size_t lane = i * columns_ + j;
                const std::uint64_t value = draw();
                put_bits(beat.mask.data(), lane, 1, 1);
                put_bits(beat.data.data(), lane * width_, width_, value);
                accumulate(acc_[std::size_t{m} * p.n + n], value, p.ps_read);
              }
            }
            beat.last = last;
            beat.overflow = random_.chance(1);
            wrapped_ |= beat.overflow;
            cycle(nullptr, &beat);
          }
        }
      }
    }
    // The last beat was handed over one cycle ago; done comes four cycles after it.
    for (int i = 1; i <= 4; ++i) {
      if (model_->done() != (i == 4)) dut_.fail("done is not four cycles after the last beat");
      cycle(nullptr, nullptr);
    }
    if (p.ps_read || p.ps_write) ++splits_;
  }

  struct Packed {
    explicit Packed(const MachineConfig& c) : mask(16), data(2048), sum_a(1024), sum_w(1024) {
      (void)c;
    }
    std::vector<std::uint64_t> mask, data, sum_a, sum_w;
    bool last = false, overflow = false;
  };

  void clear_extremes() {
    min_ = INT64_MAX;
    max_ = INT64_MIN;
    seen_overflow_ = wrapped_ = false;
    clearing_ = true;
    cycle(nullptr, nullptr);
    clearing_ = false;
  }

  void check(const Plan& p) {
    seen_overflow_ |= wrapped_;
    if (wrapped_) ++overflows_;
    dut_.same("overflow_o", dut_->overflow_o, seen_overflow_);
    const auto word = [&](std::uint32_t address) {
      return get_bits(model_->read_beat(0), std::size_t{address % words_in_ob_} * gl(), gl());
    };
    const std::uint32_t integer = (p.raw32 ? 32U : 48U) / gl();
    const auto expect_integer = [&](std::uint32_t address, std::int64_t value, const char* what) {
      for (std::uint32_t w = 0; w < integer; ++w) {
        const auto want =
            static_cast<std::uint64_t>(value) >> (w * gl()) & ((std::uint64_t{1} << gl()) - 1);
        dut_.same(what, word(address + w), want);
      }
      ++raws_;
    };
    for (std::uint32_t m = 0; m < p.m; ++m) {
      for (std::uint32_t n = 0; n < p.n; ++n) {
        const std::int64_t acc = acc_[std::size_t{m} * p.n + n];
        const std::int64_t v = p.raw ? acc : remove_zero_points(acc, sum_a_[m], sum_w_[n], p.q);
        min_ = std::min(min_, v);
        max_ = std::max(max_, v);
        if (p.raw) {
          expect_integer(p.ob_base + p.position(m) + n * integer, acc, "raw");
          continue;
        }
        const std::uint32_t along = p.column ? n : m, across = p.column ? m : n;
        const std::int32_t code =
            requantise(acc, sum_a_[m], sum_w_[n], p.q, p.element + m * p.row_stride + n);
        for (int plane = 0; plane < p.q.out_bits; ++plane) {
          const std::uint64_t bits = word(p.ob_base + p.position(along) + across / gl() * p.oc +
                                          static_cast<std::uint32_t>(plane));
          dut_.same("code bit", bits >> (across % gl()) & 1U,
                    static_cast<std::uint32_t>(code) >> (p.q.out_bits - 1 - plane) & 1U);
          // Lanes behind the last one of a granule are zero.
          if (across + 1 == (p.column ? p.m : p.n)) {
            dut_.same("lanes beyond the end", bits >> (across % gl()) >> 1U, 0U);
          }
          ++codes_;
        }
      }
    }
    if (p.sums) {
      for (std::uint32_t m = 0; m < p.m; ++m)
        expect_integer(p.sum_a + m * integer, sum_a_[m], "sum of A");
      for (std::uint32_t n = 0; n < p.n; ++n)
        expect_integer(p.sum_w + n * integer, sum_w_[n], "sum of W");
    }
    dut_.same("min_o", dut_->min_o, min_);
    dut_.same("max_o", dut_->max_o, max_);
  }

  void drive(bool start, const std::uint64_t* words, bool valid, const Packed* beat = nullptr) {
    const auto& a = config_.array;
    dut_->clear_i = clearing_;
    dut_->start_i = start;
    if (words != nullptr) unit::drive(dut_->inst_i, words, 27 * 64);
    dut_->res_valid_i = valid;
    dut_->res_last_i = beat != nullptr ? beat->last : random_.chance(50);
    dut_->res_overflow_i = beat != nullptr ? beat->overflow : random_.chance(50);
    if (beat == nullptr) return;
    unit::drive(dut_->res_mask_i, beat->mask.data(), static_cast<std::size_t>(a.q));
    unit::drive(dut_->res_data_i, beat->data.data(), static_cast<std::size_t>(a.q) * width_);
    unit::drive(dut_->res_sum_a_i, beat->sum_a.data(), rows_ * width_);
    unit::drive(dut_->res_sum_w_i, beat->sum_w.data(), columns_ * width_);
  }

  void cycle(const std::uint64_t* words, const Packed* beat) {
    drive(words != nullptr, words, beat != nullptr, beat);
    const auto at =
        static_cast<std::uint32_t>(random_.below(static_cast<std::uint64_t>(config_.ob_d)));
    dut_->rd_beat_i = at;
    dut_.settle();
    dut_.same("done_o", dut_->done_o, model_->done());
    dut_.same("min_o", dut_->min_o, model_->minimum());
    dut_.same("max_o", dut_->max_o, model_->maximum());
    dut_.same("overflow_o", dut_->overflow_o, model_->overflow());
    if (!unit::equal(dut_->rd_data_o, model_->read_beat(at),
                     static_cast<std::size_t>(config_.dw))) {
      dut_.fail("rd_data_o");
    }
    ResultBeat result;
    ResultUnit::Inputs in;
    in.clear = clearing_;
    in.start = words;
    if (beat != nullptr) {
      result = {beat->last,        beat->overflow,     beat->mask.data(),
                beat->data.data(), beat->sum_a.data(), beat->sum_w.data()};
      in.beat = &result;
    }
    model_->step(in);
    dut_.edge();
  }

  unit::Random& random_;
  MachineConfig config_;
  unit::Unit<Vdut> dut_;
  std::unique_ptr<ResultUnit> model_;
  std::uint32_t rows_ = 1, columns_ = 1, words_in_ob_ = 0;
  unsigned width_ = 48;
  int magnitude_ = 0;
  bool clear_ = false, clearing_ = false, wrapped_ = false, seen_overflow_ = false;
  std::int64_t min_ = INT64_MAX, max_ = INT64_MIN;
  std::vector<std::int64_t> acc_, sum_a_, sum_w_;
  std::uint64_t instructions_ = 0, codes_ = 0, raws_ = 0, splits_ = 0, overflows_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const unit::Arguments arguments(argc, argv);
  unit::Random random(static_cast<std::uint64_t>(arguments.get("SEED", 1)));
  Campaign campaign(arguments, random);
  campaign.run(arguments.get("CYCLES", 35000));
  return 0;
}
