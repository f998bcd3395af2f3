#include "sim/array_activity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "model/gates/pe_activity.hpp"
#include "sim/module_probe.hpp"

namespace bitcycle {
namespace {

using Words = std::vector<std::uint64_t>;
constexpr std::size_t kBatches = 8;

std::size_t at(PeState s) { return static_cast<std::size_t>(s); }

// Registers that are read in every cycle, by element.
class Reg {
 public:
  Reg(const RegisterReader& reader, const std::string& name) : view_(&reader.view(name)) {}
  std::uint64_t get() const {
    return get_bits(view_->data, 0, std::min<std::size_t>(64, view_->bits));
  }
  bool bit(std::size_t i) const { return get_bits(view_->data, i, 1) != 0; }
  void copy(Words& out) const {
    for (std::size_t from = 0; from < view_->bits; from += 64) {
      out[from / 64] = get_bits(view_->data, from, std::min<std::size_t>(64, view_->bits - from));
    }
  }

 private:
  const RegisterView* view_;
};

// One PE, real or imagined, and its features summed over the cycles in which the array adds.
struct Seen {
  Seen(const ArrayConfig& c, PeState s) : state(s), activity(c) {
    step.assign(activity.names().size(), 0.0);
    sum = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(step.size()));
  }
  Eigen::Map<const Eigen::VectorXd> observe(const PePins& pins) {
    activity.step(pins, step.data());
    return {step.data(), sum.size()};
  }
  PeState state;
  PeActivity activity;
  std::vector<double> step;
  Eigen::VectorXd sum;
};

class Sampler {
 public:
  Sampler(const ArrayConfig& small, ArrayCore& core)
      : core_(core),
        hold_(small.s > 1),
        reader_(core),
        valid_(reader_, "op_valid_q"),
        first_(reader_, "op_first_q"),
        d_(reader_, "op_d_q"),
        a_neg_(reader_, "op_a_neg_q"),
        w_neg_(reader_, "op_w_neg_q"),
        a_one_(reader_, "op_a_one_q"),
        w_one_(reader_, "op_w_one_q"),
        ac_valid_(reader_, "ac_valid_q"),
        a_(reader_, "g_a[1].u_chunk.digit_q"),
        w_(reader_, "g_w[1].u_chunk.digit_q"),
        ac_(reader_, "g_col[1].g_pe[1].u_pe.ac_q"),
        ah_(reader_, hold_ ? "g_col[1].g_pe[1].u_pe.g_hold.ah_q" : "g_col[1].g_pe[1].u_pe.ac_q"),
        col_ac_(reader_, pe_name(small.tn, 1, "ac_q")),
        col_ah_(reader_, pe_name(small.tn, 1, hold_ ? "g_hold.ah_q" : "ac_q")),
        row_ac_(reader_, "g_ones[1].u_pe.ac_q"),
        row_ah_(reader_, hold_ ? "g_ones[1].u_pe.g_hold.ah_q" : "g_ones[1].u_pe.ac_q"),
        a_bits_(words(small.kl * small.ra)),
        w_bits_(words(small.kl * small.rw)),
        zero_(std::max(a_bits_.size(), w_bits_.size()), 0),
        a_ones_(ones(small.kl, small.ra)),
        w_ones_(ones(small.kl, small.rw)) {
    for (const PeState s : {PeState::kActive, PeState::kOnesColumn, PeState::kOnesRow,
                            PeState::kRowOff, PeState::kColumnOff, PeState::kBothOff}) {
      seen_.emplace_back(small, s);
    }
    pending_ = pause_sum_ = seen_[0].sum;
  }

  // The cycle that the last edge has begun.
  void observe() {
    const bool enabled = !core_.ports().ev.freeze;
    const bool add = enabled && valid_.bit(0);
    a_.copy(a_bits_);
    w_.copy(w_bits_);
    PePins pins;
    pins.add = add;
    pins.first = first_.bit(0);
    pins.d = static_cast<std::uint8_t>(d_.get());
    pins.a_neg = a_neg_.bit(0);
    pins.w_neg = w_neg_.bit(0);
    pins.hold = enabled && ac_valid_.bit(0);
    pins.a = a_bits_.data();
    pins.w = w_bits_.data();
    pins.ac = static_cast<std::uint32_t>(ac_.get());
    pins.ah = static_cast<std::uint32_t>(ah_.get());
    see(0, pins, add);
    see_ones(pins, add);
    see_off(pins, add);
    ++cycles_;
  }

  // What was seen: cycles in which nothing but the clock moves are no part of it.
  ArrayActivity result() {
    ArrayActivity out;
    out.cycles = adds_.size();
    const auto n = static_cast<double>(std::max<std::size_t>(1, adds_.size()));
    for (const Seen& s : seen_) out.features[at(s.state)] = s.sum / n;
    Eigen::VectorXd quiet = Eigen::VectorXd::Zero(seen_[0].sum.size());
    quiet[0] = 1.0;
    out.features[at(PeState::kQuiet)] = quiet;
    // Gaps behind the last addition are the end of the work, not pauses.
    out.features[at(PeState::kPause)] =
        pauses_ > 0 ? Eigen::VectorXd(pause_sum_ / static_cast<double>(pauses_)) : quiet;
    const std::size_t size = adds_.size() / kBatches;
    for (std::size_t b = 0; size > 0 && b < kBatches; ++b) {
      Eigen::VectorXd mean = Eigen::VectorXd::Zero(quiet.size());
      for (std::size_t i = b * size; i < (b + 1) * size; ++i) mean += adds_[i];
      out.batches.push_back(mean / static_cast<double>(size));
    }
    return out;
  }

 private:
  void see(std::size_t which, const PePins& pins, bool add) {
    const auto step = seen_[which].observe(pins);
    if (add) seen_[which].sum += step;
    if (which != 0) return;
    if (add) {
      adds_.emplace_back(step);
      if (waiting_ > 0) {
        pause_sum_ += pending_;
        pauses_ += waiting_;
        pending_.setZero();
        waiting_ = 0;
      }
    } else if (!adds_.empty()) {
      pending_ += step;
      ++waiting_;
    }
  }
  void see_ones(const PePins& pins, bool add) {
    PePins column = pins;
    column.w = w_one_.bit(0) ? w_ones_.data() : zero_.data();
    column.w_neg = false;
    column.ac = static_cast<std::uint32_t>(col_ac_.get());
    column.ah = static_cast<std::uint32_t>(col_ah_.get());
    see(1, column, add);
    PePins row = pins;
    row.a = a_one_.bit(0) ? a_ones_.data() : zero_.data();
    row.a_neg = false;
    row.ac = static_cast<std::uint32_t>(row_ac_.get());
    row.ah = static_cast<std::uint32_t>(row_ah_.get());
    see(2, row, add);
  }
  void see_off(const PePins& pins, bool add) {
    PePins off = pins;
    off.add = off.hold = false;
    off.ac = off.ah = 0;
    off.a = zero_.data();
    see(3, off, add);
    off.a = pins.a;
    off.w = zero_.data();
    see(4, off, add);
    off.a = zero_.data();
    see(5, off, add);
  }
  static std::string pe_name(int column, int row, const std::string& reg) {
    return fmt::format("g_col[{}].g_pe[{}].u_pe.{}", column, row, reg);
  }
  static Words words(int bits) { return Words((static_cast<std::size_t>(bits) + 63) / 64, 0); }
  static Words ones(int lanes, int radix) {
    Words out = words(lanes * radix);
    for (int l = 0; l < lanes; ++l) {
      put_bits(out.data(), static_cast<std::size_t>(l * radix), 1, 1);
    }
    return out;
  }
  ArrayCore& core_;
  bool hold_;
  RegisterReader reader_;
  Reg valid_, first_, d_, a_neg_, w_neg_, a_one_, w_one_, ac_valid_, a_, w_, ac_, ah_;
  Reg col_ac_, col_ah_, row_ac_, row_ah_;
  Words a_bits_, w_bits_, zero_, a_ones_, w_ones_;
  std::vector<Seen> seen_;
  std::vector<Eigen::VectorXd> adds_;
  Eigen::VectorXd pending_, pause_sum_;
  std::uint64_t cycles_ = 0, pauses_ = 0, waiting_ = 0;
};

}  // namespace

std::string to_string(PeState state) {
  constexpr const char* kNames[kPeStates] = {"active",     "ones column", "ones row", "row off",
                                             "column off", "both off",    "pause",    "quiet"};
  return kNames[at(state)];
}

bool ActivityKey::operator<(const ActivityKey& o) const {
  const auto tie = [](const ActivityKey& k) {
    return std::make_tuple(k.a.bits, k.a.is_signed, k.w.bits, k.w.is_signed,
                           static_cast<int>(k.a_data), static_cast<int>(k.w_data), k.lanes, k.seed);
  };
  return tie(*this) < tie(o);
}

ArrayActivity sample_activity(const ArrayConfig& config, const ActivityKey& key,
                              std::uint64_t cycles) {
  const ArrayConfig small = small_array(config);
  ArrayCore core(small);
  Sampler sampler(small, core);
  ActivityJob job;
  job.a = key.a;
  job.w = key.w;
  job.data = key.a_data;
  job.w_data = key.w_data;
  job.lanes = key.lanes;
  job.seed = key.seed;
  job.cycles = cycles;
  run_activity(small, core, job, [&](const ArrayStep&) { sampler.observe(); });
  return sampler.result();
}

std::vector<std::string> pe_feature_names(const ArrayConfig& config) {
  return PeActivity(config).names();
}

}  // namespace bitcycle
