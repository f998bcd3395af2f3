#include "model/core.hpp"

#include <algorithm>

#include "golden/checked.hpp"

namespace bitcycle {
namespace {

constexpr int kSuperDigit = 8;

std::uint64_t low_mask(std::uint64_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::uint64_t bit_of(std::uint64_t word, int index) { return (word >> index) & 1U; }

// Ones of a mask of the first rows (columns), which is what every enable is. Counting zeros needs
// no special instruction.
int count_low(std::uint64_t mask) { return mask == 0 ? 0 : 64 - __builtin_clzll(mask); }

std::size_t words64(std::size_t bits) { return (bits + 63) / 64; }

}  // namespace

ArrayCore::ArrayCore(const ArrayConfig& config) : c_(config) {
  c_.validate();
  groups_ = c_.tm / c_.s;
  ones_group_ = c_.tn % c_.s == 0 ? c_.s : 1;
  rows_per_beat_ = c_.q > c_.tn ? c_.q / c_.tn : 1;
  cols_per_beat_ = c_.q > c_.tn ? c_.tn : c_.q;
  const auto kl = static_cast<std::size_t>(c_.kl);
  const auto tm = static_cast<std::size_t>(c_.tm);
  const auto tn = static_cast<std::size_t>(c_.tn);
  lane_words_ = words64(kl);
  ac_mask_ = static_cast<std::uint32_t>(low_mask(static_cast<unsigned>(c_.ac_w)));
  acc_mask_ = low_mask(static_cast<unsigned>(c_.acc_w));
  a_fast_ = c_.ra <= c_.rw;
  bit_serial_ = c_.ra == 1 && c_.rw == 1 && c_.kl <= 64;

  const auto make_fill = [&](Fill& fill, int t, int b) {
    fill.t = t;
    fill.b = b;
    fill.planes_per_beat = b >= t ? b / t : 1;
    fill.groups = b >= t ? 1 : t / b;
    fill.in_data.assign(words64(static_cast<std::size_t>(b) * kl), 0);
  };
  make_fill(fill_a_, c_.tm, c_.ba);
  make_fill(fill_w_, c_.tn, c_.bw);

  const auto make_side = [&](Side& side, int rows, int radix) {
    side.count = rows;
    side.radix = radix;
    side.digit_words = words64(kl * static_cast<std::size_t>(radix));
    const auto r = static_cast<std::size_t>(rows);
    side.chunk.assign(r * 2 * static_cast<std::size_t>(c_.p_max) * lane_words_, 0);
    side.digit.assign(r * side.digit_words, 0);
    side.value.assign(r * kl, 0);
  };
  make_side(a_, c_.tm, c_.ra);
  make_side(w_, c_.tn, c_.rw);

  ac_.assign(tm * tn, 0);
  ac_sum_a_.assign(tm, 0);
  ac_sum_w_.assign(tn, 0);
  ah_ = ac_;
  ah_sum_a_ = ac_sum_a_;
  ah_sum_w_ = ac_sum_w_;
  acc_.assign((tn + 1) * 2 * tm, 0);
  acc_sum_w_.assign(2 * tn, 0);
  const auto acc_w = static_cast<std::size_t>(c_.acc_w);
  mask_.assign(words64(static_cast<std::size_t>(c_.q)), 0);
  data_.assign(words64(static_cast<std::size_t>(c_.q) * acc_w), 0);
  sum_a_.assign(words64(static_cast<std::size_t>(rows_per_beat_) * acc_w), 0);
  sum_w_.assign(words64(static_cast<std::size_t>(cols_per_beat_) * acc_w), 0);
  ones_value_.assign(kl, 1);
  ones_lanes_.assign(lane_words_, low_mask(kl));

  // The walk of a pass, by sorting: descending weight; of equal weights the largest digit of the
  // operand with the smaller radix first. (The RTL finds the same order incrementally.)
  const int fast = std::min(c_.ra, c_.rw);
  const int slow = std::max(c_.ra, c_.rw);
  for (int nf = 1; nf <= kSuperDigit / fast; ++nf) {
    for (int ns = 1; ns <= kSuperDigit / slow; ++ns) {
      std::vector<Pair> walk;
      for (int f = 0; f < nf; ++f) {
        for (int s = 0; s < ns; ++s) {
          walk.push_back({static_cast<std::uint8_t>(f), static_cast<std::uint8_t>(s), 0});
        }
      }
      const auto weight = [&](const Pair& p) { return p.f * fast + p.s * slow; };
      std::sort(walk.begin(), walk.end(), [&](const Pair& x, const Pair& y) {
        return weight(x) != weight(y) ? weight(x) > weight(y) : x.f > y.f;
      });
      for (std::size_t i = 1; i < walk.size(); ++i) {
        walk[i].d = static_cast<std::uint8_t>(weight(walk[i - 1]) - weight(walk[i]));
      }
      pair_table_[static_cast<std::size_t>(nf * 9 + ns)] = std::move(walk);
    }
  }
  pass_ = &pairs(1, 1);
  list_registers();
  evaluate();
  publish();
}

const std::vector<ArrayCore::Pair>& ArrayCore::pairs(int na, int nw) const {
  const int nf = a_fast_ ? na : nw;
  const int ns = a_fast_ ? nw : na;
  return pair_table_[static_cast<std::size_t>(nf * 9 + ns)];
}

int ArrayCore::digits(int bits, int radix, int second) const {
  const int width = second != 0 ? bits - kSuperDigit : std::min(bits, kSuperDigit);
  return std::clamp((width + radix - 1) >> __builtin_ctz(static_cast<unsigned>(radix)), 1,
                    kSuperDigit);  // radix is a power of two
}

void ArrayCore::reset() {
  busy_ = err_ = cause_ = overflow_ = 0;
  m_ = n_ = k_ = 0;
  pa_ = pw_ = a_signed_ = w_signed_ = 0;
  for (Walker* w : {&walk_a_, &walk_w_, &walk_seq_, &walk_drain_}) *w = Walker{};
  for (Fill* f : {&fill_a_, &fill_w_}) {
    f->in_valid = f->filling = f->bank = f->full = f->plane = f->grp = 0;
  }
  run_ = init_ = bank_ = acc_bank_ = si_ = sj_ = f_ = s_ = d_ = first_ = idle_ = 0;
  position_ = 0;
  pass_ = &pairs(1, 1);
  op_valid_ = op_first_ = op_last_ = op_a_neg_ = op_w_neg_ = op_a_one_ = op_w_one_ = op_d_ = 0;
  op_ = ac_info_ = hold_ = Pass{};
  ac_valid_ = hold_valid_ = hold_index_ = 0;
  dr_busy_ = dr_bank_ = dr_row_ = dr_grp_ = dr_valid_ = dr_last_ = 0;
  evaluate();
  publish();
}

std::uint64_t ArrayCore::row_mask(const Walker& w) const {
  return low_mask(std::min<std::uint64_t>(w.m_rem, static_cast<unsigned>(c_.tm)));
}

std::uint64_t ArrayCore::col_mask(const Walker& w) const {
  return low_mask(std::min<std::uint64_t>(w.n_rem, static_cast<unsigned>(c_.tn)));
}

bool ArrayCore::last_tile(const Walker& w) const {
  return w.m_rem <= static_cast<unsigned>(c_.tm) && w.n_rem <= static_cast<unsigned>(c_.tn);
}

void ArrayCore::load(Walker& w, const RawDescriptor& d, std::uint32_t k) { w = {d.m, d.n, k, 1}; }

void ArrayCore::advance(Walker& w, std::uint32_t kl, std::uint32_t k) {
  const bool last_k = w.k_rem <= kl;
  w.first_k = last_k ? 1 : 0;
  if (!last_k) {
    w.k_rem -= kl;
    return;
  }
  w.k_rem = k;
  const auto tm = static_cast<std::uint32_t>(c_.tm);
  const auto tn = static_cast<std::uint32_t>(c_.tn);
  if (w.n_rem > tn) {
    w.n_rem -= tn;
  } else {
    w.n_rem = n_;
    if (w.m_rem > tm) w.m_rem -= tm;
  }
}

void ArrayCore::evaluate_fill(FillComb& out, const Fill& fill, const Walker& walker,
                              int bits) const {
  out.write = fill.in_valid != 0 && bit_of(fill.full, fill.bank) == 0;
  out.last_beat = fill.grp == fill.groups - 1 && fill.plane + fill.planes_per_beat >= bits;
  out.done = out.write && out.last_beat;
  out.last_chunk = walker.k_rem <= static_cast<unsigned>(c_.kl) && last_tile(walker);
  out.ready = fill.filling != 0 &&
              (fill.in_valid == 0 || (out.write && !(out.last_beat && out.last_chunk)));
  out.planes = std::min(bits - fill.plane, fill.planes_per_beat);
}

// All signals that depend on registers alone, for the coming edge.
void ArrayCore::evaluate() {
  Comb& cb = comb_;
  evaluate_fill(cb.a, fill_a_, walk_a_, pa_);
  evaluate_fill(cb.w, fill_w_, walk_w_, pw_);
  const bool shared = c_.s > 1;
  const Pass& fl = shared ? hold_ : ac_info_;
  const bool fl_valid = shared ? hold_valid_ != 0 : ac_valid_ != 0;
  cb.fl_end = !shared || hold_index_ == c_.s - 1;
  cb.en = !(fl_valid && fl.load != 0 && (!shared || hold_index_ == 0) &&
            bit_of(dr_busy_, fl.bank) != 0);
  const bool chunk_ready = bit_of(fill_a_.full, bank_) != 0 && bit_of(fill_w_.full, bank_) != 0;
  cb.step = run_ != 0 && init_ == 0 && chunk_ready && cb.en;
  cb.digit = cb.step && idle_ == 0;
  cb.idle = cb.step && idle_ != 0;
  cb.pass_end = cb.digit && f_ == 0 && s_ == 0;
  const bool last_pass = (si_ != 0) == (pa_ > kSuperDigit) && (sj_ != 0) == (pw_ > kSuperDigit);
  cb.chunk_done = cb.pass_end && last_pass;
  cb.last_k = walk_seq_.k_rem <= static_cast<unsigned>(c_.kl);
  cb.last_tile = last_tile(walk_seq_);
  cb.drain = bit_of(dr_busy_, dr_bank_) != 0;
}

void ArrayCore::step(const ArrayStep& in) {
  const Comb cb = comb_;
  const bool handshake = in.desc_valid && busy_ == 0;
  Cause cause = Cause::kNone;
  if (handshake) {
    const RawDescriptor& d = in.desc;
    if (d.m == 0 || d.n == 0 || d.k == 0)
      cause = Cause::kDimZero;
    else if (d.pa == 0 || d.pw == 0)
      cause = Cause::kWidthZero;
    else if (d.pa > c_.p_max || d.pw > c_.p_max)
      cause = Cause::kWidthOver;
  }
  const bool start = handshake && cause == Cause::kNone;
  const bool finish = dr_valid_ != 0 && in.res_ready && dr_last_ != 0;
  const bool shared = c_.s > 1;
  const bool fl_valid = shared ? hold_valid_ != 0 : ac_valid_ != 0;
  const Pass& fl = shared ? hold_ : ac_info_;
  const bool tile_done = fl_valid && cb.en && fl.tile_last != 0 && cb.fl_end;
  const std::uint8_t done_bank = fl.bank;

  // From the end of the pipeline backwards, so that every stage still sees its old inputs.
  drain(in);
  if (tile_done) dr_busy_ = static_cast<std::uint8_t>(dr_busy_ | (1U << done_bank));
  flush_overflow_ = false;
  if (fl_valid && cb.en) flush();
  if (shared && ac_valid_ != 0 && cb.en) {
    for (int r = 0; r < c_.tm; ++r) {
      if (bit_of(ac_info_.row_en, r) == 0) continue;
      const std::size_t at = static_cast<std::size_t>(r) * static_cast<std::size_t>(c_.tn);
      // Enabled columns are the first ones.
      std::copy_n(ac_.begin() + static_cast<std::ptrdiff_t>(at), count_low(ac_info_.col_en),
                  ah_.begin() + static_cast<std::ptrdiff_t>(at));
      ah_sum_a_[static_cast<std::size_t>(r)] = ac_sum_a_[static_cast<std::size_t>(r)];
    }
    std::copy_n(ac_sum_w_.begin(), count_low(ac_info_.col_en), ah_sum_w_.begin());
  }
  if (op_valid_ != 0 && cb.en) accumulate();
  if (cb.digit) select();
  if (cb.a.write) write_chunk(a_, fill_a_, cb.a, walk_a_, row_mask(walk_a_), pa_);
  if (cb.w.write) write_chunk(w_, fill_w_, cb.w, walk_w_, col_mask(walk_w_), pw_);

  const auto freed = static_cast<std::uint8_t>(cb.chunk_done ? 1U << bank_ : 0U);
  step_fill(fill_a_, cb.a, in.a_valid, in.a_data, freed, start);
  step_fill(fill_w_, cb.w, in.w_valid, in.w_data, freed, start);
  step_pipeline();
  step_sequencer(start);

  const auto kl = static_cast<std::uint32_t>(c_.kl);
  if (start) {
    for (Walker* w : {&walk_a_, &walk_w_, &walk_seq_}) load(*w, in.desc, in.desc.k);
    load(walk_drain_, in.desc, 1);
  } else {
    if (cb.a.done) advance(walk_a_, kl, k_);
    if (cb.w.done) advance(walk_w_, kl, k_);
    if (cb.chunk_done) advance(walk_seq_, kl, k_);
  }

  err_ = handshake && !start ? 1 : 0;
  if (handshake) cause_ = static_cast<std::uint8_t>(cause);
  if (start) {
    busy_ = 1;
    m_ = in.desc.m;
    n_ = in.desc.n;
    k_ = in.desc.k;
    pa_ = in.desc.pa;
    pw_ = in.desc.pw;
    a_signed_ = in.desc.a_signed ? 1 : 0;
    w_signed_ = in.desc.w_signed ? 1 : 0;
    overflow_ = 0;
  } else {
    if (finish) busy_ = 0;
    if (flush_overflow_) overflow_ = 1;
  }
  evaluate();
  publish();
}

void ArrayCore::step_fill(Fill& fill, const FillComb& comb, bool valid, const std::uint64_t* data,
                          std::uint8_t freed, bool start) {
  fill.full = static_cast<std::uint8_t>(fill.full & ~freed);
  if (start) fill.filling = 1;
  if (comb.ready && valid) {
    fill.in_valid = 1;
    std::copy_n(data, fill.in_data.size(), fill.in_data.begin());
  } else if (comb.write) {
    fill.in_valid = 0;
  }
  if (comb.write) {
    const bool last_group = fill.grp == fill.groups - 1;
    fill.grp = last_group ? 0 : static_cast<std::uint8_t>(fill.grp + 1);
    if (last_group) {
      fill.plane =
          comb.last_beat ? 0 : static_cast<std::uint8_t>(fill.plane + fill.planes_per_beat);
    }
  }
  if (comb.done) {
    fill.full = static_cast<std::uint8_t>(fill.full | (1U << fill.bank));
    fill.bank ^= 1U;
    if (comb.last_chunk) fill.filling = 0;
  }
}

void ArrayCore::step_pipeline() {
  const Comb& cb = comb_;
  if (!cb.en) return;
  if (c_.s > 1) {
    if (ac_valid_ != 0) {
      hold_valid_ = 1;
      hold_index_ = 0;
      hold_ = ac_info_;
    } else if (hold_valid_ != 0) {
      hold_valid_ = cb.fl_end ? 0 : 1;
      hold_index_ = cb.fl_end ? 0 : static_cast<std::uint8_t>(hold_index_ + 1);
    }
  }
  const bool finished = op_valid_ != 0 && op_last_ != 0;
  ac_valid_ = finished ? 1 : 0;
  if (finished) ac_info_ = op_;
  op_valid_ = cb.digit ? 1 : 0;
  if (!cb.digit) return;
  const int ia = a_fast_ ? f_ : s_;
  const int jw = a_fast_ ? s_ : f_;
  const bool a_two = pa_ > kSuperDigit;
  const bool w_two = pw_ > kSuperDigit;
  op_first_ = first_;
  op_last_ = f_ == 0 && s_ == 0 ? 1 : 0;
  op_d_ = d_;
  op_a_neg_ = a_signed_ != 0 && (si_ != 0) == a_two && ia + 1 == digits(pa_, c_.ra, si_) ? 1 : 0;
  op_w_neg_ = w_signed_ != 0 && (sj_ != 0) == w_two && jw + 1 == digits(pw_, c_.rw, sj_) ? 1 : 0;
  op_a_one_ = si_ == 0 && ia == 0 ? 1 : 0;
  op_w_one_ = sj_ == 0 && jw == 0 ? 1 : 0;
  op_.shift = static_cast<std::uint8_t>(si_ + sj_);
  op_.load = walk_seq_.first_k != 0 && si_ == 0 && sj_ == 0 ? 1 : 0;
  op_.tile_last = cb.last_k && (si_ != 0) == a_two && (sj_ != 0) == w_two ? 1 : 0;
  op_.bank = acc_bank_;
  op_.row_en = row_mask(walk_seq_);
  op_.col_en = col_mask(walk_seq_);
}

void ArrayCore::step_sequencer(bool start) {
  const Comb& cb = comb_;
  const bool w_two = pw_ > kSuperDigit;
  if (init_ != 0 || cb.pass_end) {
    // Super-digits: W's runs fastest, both start again with a chunk.
    const bool restart = init_ != 0 || cb.chunk_done;
    const bool w_done = (sj_ != 0) == w_two;
    const std::uint8_t si = restart ? 0 : w_done ? 1 : si_;
    const std::uint8_t sj = restart || w_done ? 0 : 1;
    si_ = si;
    sj_ = sj;
    const int na = digits(pa_, c_.ra, si_);
    const int nw = digits(pw_, c_.rw, sj_);
    pass_ = &pairs(na, nw);
    position_ = 0;
    f_ = (*pass_)[0].f;
    s_ = (*pass_)[0].s;
    d_ = 0;
    first_ = 1;
    idle_ = static_cast<std::uint8_t>(std::max(c_.s - na * nw, 0));
  } else if (cb.digit) {
    const Pair& next = (*pass_)[++position_];
    f_ = next.f;
    s_ = next.s;
    d_ = next.d;
    first_ = 0;
  } else if (cb.idle) {
    --idle_;
  }
  init_ = start ? 1 : 0;
  if (start) run_ = 1;
  if (cb.chunk_done) {
    bank_ ^= 1U;
    if (cb.last_k) {
      acc_bank_ ^= 1U;
      if (cb.last_tile) run_ = 0;
    }
  }
}

void ArrayCore::publish() {
  const Comb& cb = comb_;
  ports_.desc_ready = busy_ == 0;
  ports_.err = err_ != 0;
  ports_.cause = cause_;
  ports_.a_ready = cb.a.ready;
  ports_.w_ready = cb.w.ready;
  ports_.res_valid = dr_valid_ != 0;
  ports_.res_last = dr_last_ != 0;
  ports_.overflow = overflow_ != 0;
  EventPulses& ev = ports_.ev;
  ev = EventPulses{};
  ev.digit = cb.digit;
  ev.idle = cb.idle;
  ev.freeze = !cb.en;
  ev.add = op_valid_ != 0 && cb.en;
  if (ev.add) {
    ev.rows = static_cast<std::uint8_t>(count_low(op_.row_en));
    ev.cols = static_cast<std::uint8_t>(count_low(op_.col_en));
  }
  const auto words = [](const Fill& fill, const FillComb& comb, std::uint64_t enabled) {
    if (!comb.write) return 0;
    const int first = fill.groups > 1 ? fill.grp * fill.b : 0;
    const int rows = fill.groups > 1 ? fill.b : fill.t;
    return std::clamp(count_low(enabled) - first, 0, rows) * comb.planes;
  };
  ev.a_words = static_cast<std::uint16_t>(words(fill_a_, cb.a, row_mask(walk_a_)));
  ev.w_words = static_cast<std::uint16_t>(words(fill_w_, cb.w, col_mask(walk_w_)));
  const bool shared = c_.s > 1;
  const Pass& fl = shared ? hold_ : ac_info_;
  ev.flush = (shared ? hold_valid_ != 0 : ac_valid_ != 0) && cb.en;
  if (ev.flush) {
    const int index = shared ? hold_index_ : 0;
    int rows = 0;
    int ones = 0;
    for (int g = 0; g < groups_; ++g) rows += static_cast<int>(bit_of(fl.row_en, g * c_.s + index));
    if (index < ones_group_) {
      for (int g = 0; g < c_.tn / ones_group_; ++g) {
        ones += static_cast<int>(bit_of(fl.col_en, g * ones_group_ + index));
      }
    }
    ev.flush_rows = static_cast<std::uint8_t>(rows);
    ev.flush_ones = static_cast<std::uint8_t>(ones);
    ev.flush_cols = static_cast<std::uint8_t>(count_low(fl.col_en));
  }
}

}  // namespace bitcycle
