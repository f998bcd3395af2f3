#include "model/gates/array_wires.hpp"

#include <algorithm>

namespace bitcycle {
namespace {

constexpr int kSuperDigit = 8;

bool bit_of(std::uint64_t word, int index) { return (word >> index & 1U) != 0; }

std::size_t words64(std::size_t bits) { return (bits + 63) / 64; }

// Bit 0 of every lane of `radix` bits.
std::vector<std::uint64_t> ones_of(int lanes, int radix) {
  const auto bits = static_cast<std::size_t>(lanes) * static_cast<std::size_t>(radix);
  std::vector<std::uint64_t> out(words64(bits), 0);
  for (std::size_t at = 0; at < bits; at += static_cast<std::size_t>(radix)) {
    out[at / 64] |= std::uint64_t{1} << at % 64;
  }
  return out;
}

}  // namespace

ArrayWires::ArrayWires(const ArrayConfig& config, const ArrayCore& core)
    : config_(config),
      core_(core),
      a_data_(core.fill_a_.in_data.size(), 0),
      w_data_(core.fill_w_.in_data.size(), 0),
      zero_(words64(static_cast<std::size_t>(config.kl * std::max(config.ra, config.rw))), 0),
      one_a_(ones_of(config.kl, config.ra)),
      one_w_(ones_of(config.kl, config.rw)) {}

void ArrayWires::observe(const ArrayStep& coming) {
  const RawDescriptor& d = coming.desc;
  desc_ = d;
  desc_valid_ = coming.desc_valid;
  start_ = coming.desc_valid && core_.busy_ == 0 && d.m != 0 && d.n != 0 && d.k != 0 && d.pa != 0 &&
           d.pw != 0 && d.pa <= config_.p_max && d.pw <= config_.p_max;
  a_valid_ = coming.a_valid;
  w_valid_ = coming.w_valid;
  res_ready_ = coming.res_ready;
  if (a_valid_) std::copy_n(coming.a_data, a_data_.size(), a_data_.begin());
  if (w_valid_) std::copy_n(coming.w_data, w_data_.size(), w_data_.begin());
}

PeControl ArrayWires::pe_control() const {
  const bool en = core_.comb_.en;
  PeControl p;
  p.add = en && core_.op_valid_ != 0;
  p.hold = en && core_.ac_valid_ != 0;
  p.first = core_.op_first_ != 0;
  p.a_neg = core_.op_a_neg_ != 0;
  p.w_neg = core_.op_w_neg_ != 0;
  p.a_one = core_.op_a_one_ != 0;
  p.w_one = core_.op_w_one_ != 0;
  p.d = core_.op_d_;
  p.row_en = core_.op_.row_en;
  p.col_en = core_.op_.col_en;
  p.hold_row_en = core_.ac_info_.row_en;
  p.hold_col_en = core_.ac_info_.col_en;
  return p;
}

const std::uint64_t* ArrayWires::a_digit(int row) const {
  if (row == config_.tm) return core_.op_a_one_ != 0 ? one_a_.data() : zero_.data();
  return &core_.a_.digit[static_cast<std::size_t>(row) * core_.a_.digit_words];
}

const std::uint64_t* ArrayWires::w_digit(int col) const {
  if (col == config_.tn) return core_.op_w_one_ != 0 ? one_w_.data() : zero_.data();
  return &core_.w_.digit[static_cast<std::size_t>(col) * core_.w_.digit_words];
}

std::uint32_t ArrayWires::ac(int row, int col) const {
  const auto r = static_cast<std::size_t>(row);
  const auto c = static_cast<std::size_t>(col);
  if (row == config_.tm) return core_.ac_sum_w_[c];
  if (col == config_.tn) return core_.ac_sum_a_[r];
  return core_.ac_[r * static_cast<std::size_t>(config_.tn) + c];
}

std::uint32_t ArrayWires::ah(int row, int col) const {
  if (config_.s == 1) return ac(row, col);
  const auto r = static_cast<std::size_t>(row);
  const auto c = static_cast<std::size_t>(col);
  if (row == config_.tm) return core_.ah_sum_w_[c];
  if (col == config_.tn) return core_.ah_sum_a_[r];
  return core_.ah_[r * static_cast<std::size_t>(config_.tn) + c];
}

void ArrayWires::flush_pins(AccPins& out) const {
  const bool shared = config_.s > 1;
  const auto& fl = shared ? core_.hold_ : core_.ac_info_;
  out.flush = (shared ? core_.hold_valid_ != 0 : core_.ac_valid_ != 0) && core_.comb_.en;
  out.index = shared ? core_.hold_index_ : 0;
  out.load = fl.load != 0;
  out.bank = fl.bank != 0;
  out.shift = fl.shift;
  out.rd_bank = core_.dr_bank_ != 0;
}

void ArrayWires::acc(int col, int group, AccPins& out) const {
  flush_pins(out);
  const auto& fl = config_.s > 1 ? core_.hold_ : core_.ac_info_;
  const auto s = static_cast<std::size_t>(config_.s);
  const auto ac_w = static_cast<std::size_t>(config_.ac_w);
  const bool column = col == config_.tn || bit_of(fl.col_en, col);
  const std::uint64_t rows = fl.row_en >> (group * config_.s);
  out.en = column ? rows & (config_.s >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << s) - 1) : 0;
  out.rd_index = static_cast<std::uint8_t>(core_.dr_row_ % config_.s);
  out.sum.assign(words64(s * ac_w), 0);
  for (std::size_t i = 0; i < s; ++i) {
    put_bits(out.sum.data(), i * ac_w, ac_w, ah(group * config_.s + static_cast<int>(i), col));
  }
  out.acc = &core_.acc_[static_cast<std::size_t>((col * groups() + group) * 2 * config_.s)];
}

void ArrayWires::ones_acc(int group, AccPins& out) const {
  flush_pins(out);
  const auto& fl = config_.s > 1 ? core_.hold_ : core_.ac_info_;
  const int size = ones_group();
  const auto ac_w = static_cast<std::size_t>(config_.ac_w);
  out.en = fl.col_en >> (group * size) &
           (size >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1);
  out.rd_index = 0;
  out.sum.assign(words64(static_cast<std::size_t>(size) * ac_w), 0);
  for (int i = 0; i < size; ++i) {
    put_bits(out.sum.data(), static_cast<std::size_t>(i) * ac_w, ac_w,
             ah(config_.tm, group * size + i));
  }
  out.acc = &core_.acc_sum_w_[static_cast<std::size_t>(group * 2 * size)];
}

int ArrayWires::flush_columns() const {
  const auto& fl = config_.s > 1 ? core_.hold_ : core_.ac_info_;
  return __builtin_popcountll(fl.col_en);
}

int ArrayWires::selected(bool is_a) const {
  const auto& walk = core_.walk_seq_;
  return __builtin_popcountll(is_a ? core_.row_mask(walk) : core_.col_mask(walk));
}

void ArrayWires::chunk(bool is_a, int row, ChunkPins& out) const {
  const auto& fill = is_a ? core_.fill_a_ : core_.fill_w_;
  const auto& comb = is_a ? core_.comb_.a : core_.comb_.w;
  const auto& side = is_a ? core_.a_ : core_.w_;
  const auto& walk = is_a ? core_.walk_a_ : core_.walk_w_;
  const auto kl = static_cast<std::size_t>(config_.kl);
  const std::uint64_t enabled = is_a ? core_.row_mask(walk) : core_.col_mask(walk);
  const std::uint64_t selected =
      is_a ? core_.row_mask(core_.walk_seq_) : core_.col_mask(core_.walk_seq_);
  out.we = comb.write && bit_of(enabled, row) && (fill.groups == 1 || fill.grp == row / fill.b);
  out.wr_bank = fill.bank != 0;
  out.plane = fill.plane;
  const int first = fill.groups == 1 ? row * fill.planes_per_beat : row % fill.b;
  const std::size_t bits = static_cast<std::size_t>(fill.planes_per_beat) * kl;
  out.data.assign(words64(bits), 0);
  for (std::size_t at = 0; at < bits; at += 64) {
    const std::size_t width = std::min<std::size_t>(64, bits - at);
    out.data[at / 64] =
        get_bits(fill.in_data.data(), static_cast<std::size_t>(first) * kl + at, width);
  }
  out.lane_en.assign(words64(kl), 0);
  for (std::size_t w = 0; w < out.lane_en.size(); ++w) {
    const std::size_t width =
        std::min<std::size_t>({64, kl - w * 64, walk.k_rem > w * 64 ? walk.k_rem - w * 64 : 0});
    out.lane_en[w] = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  }
  SeqPins s;
  seq(s);
  out.sel = s.digit && bit_of(selected, row);
  out.bank = s.bank;
  out.digit = is_a ? s.a_digit : s.w_digit;
  out.bits = is_a ? core_.pa_ : core_.pw_;
  out.is_signed = (is_a ? core_.a_signed_ : core_.w_signed_) != 0;
  const auto r = static_cast<std::size_t>(row);
  out.chunk = &side.chunk[r * 2 * static_cast<std::size_t>(config_.p_max) * core_.lane_words_];
  out.digit_q = &side.digit[r * side.digit_words];
}

void ArrayWires::chunk_a(int row, ChunkPins& out) const { chunk(true, row, out); }
void ArrayWires::chunk_w(int col, ChunkPins& out) const { chunk(false, col, out); }

void ArrayWires::fill(bool is_a, FillPins& out) const {
  const auto& fill = is_a ? core_.fill_a_ : core_.fill_w_;
  const auto& comb = is_a ? core_.comb_.a : core_.comb_.w;
  out.start = start_;
  out.bits = is_a ? core_.pa_ : core_.pw_;
  out.valid = is_a ? a_valid_ : w_valid_;
  out.data = is_a ? a_data_.data() : w_data_.data();
  out.last_chunk = comb.last_chunk;
  out.ready = comb.ready;
  out.chunk_done = comb.done;
  out.we = comb.write;
  out.bank = fill.bank != 0;
  out.plane = fill.plane;
  out.full = fill.full;
  out.free = core_.comb_.chunk_done ? static_cast<std::uint8_t>(1U << core_.bank_) : 0;
  out.filling = fill.filling != 0;
  out.in_valid = fill.in_valid != 0;
  out.grp = fill.grp;
  out.in_data = fill.in_data.data();
  const int t = fill.t;
  const std::uint64_t all = t >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << t) - 1;
  if (!comb.write) {
    out.row_sel = 0;
  } else if (fill.groups == 1) {
    out.row_sel = all;
  } else {
    const std::uint64_t block = (std::uint64_t{1} << fill.b) - 1;
    out.row_sel = block << (fill.grp * fill.b) & all;
  }
}

void ArrayWires::fill_a(FillPins& out) const { fill(true, out); }
void ArrayWires::fill_w(FillPins& out) const { fill(false, out); }

void ArrayWires::walker(Walk which, WalkerPins& out) const {
  const auto& walk = which == Walk::kA     ? core_.walk_a_
                     : which == Walk::kW   ? core_.walk_w_
                     : which == Walk::kSeq ? core_.walk_seq_
                                           : core_.walk_drain_;
  const bool drain = which == Walk::kDrain;
  DrainPins d;
  if (drain) this->drain(d);
  out.load = start_;
  out.step = which == Walk::kA     ? core_.comb_.a.done
             : which == Walk::kW   ? core_.comb_.w.done
             : which == Walk::kSeq ? core_.comb_.chunk_done
                                   : d.tile_read;
  out.m = start_ ? desc_.m : core_.m_;
  out.n = start_ ? desc_.n : core_.n_;
  out.k = drain ? 1 : start_ ? desc_.k : core_.k_;
  out.m_rem = walk.m_rem;
  out.n_rem = walk.n_rem;
  out.k_rem = walk.k_rem;
  out.first_k = walk.first_k != 0;
  out.last_k = walk.k_rem <= (drain ? 1U : static_cast<unsigned>(config_.kl));
  out.last_tile = core_.last_tile(walk);
}

void ArrayWires::seq(SeqPins& out) const {
  const auto& comb = core_.comb_;
  const bool fast = config_.ra <= config_.rw;
  const int ia = fast ? core_.f_ : core_.s_;
  const int jw = fast ? core_.s_ : core_.f_;
  const bool a_top = (core_.si_ != 0) == (core_.pa_ > kSuperDigit);
  const bool w_top = (core_.sj_ != 0) == (core_.pw_ > kSuperDigit);
  out.start = start_;
  out.en = comb.en;
  out.a_signed = core_.a_signed_ != 0;
  out.w_signed = core_.w_signed_ != 0;
  out.a_bits = core_.pa_;
  out.w_bits = core_.pw_;
  out.a_full = core_.fill_a_.full;
  out.w_full = core_.fill_w_.full;
  out.first_k = core_.walk_seq_.first_k != 0;
  out.last_k = comb.last_k;
  out.last_tile = comb.last_tile;
  out.chunk_done = comb.chunk_done;
  out.digit = comb.digit;
  out.idle = comb.idle;
  out.bank = core_.bank_ != 0;
  out.free = comb.chunk_done ? static_cast<std::uint8_t>(1U << core_.bank_) : 0;
  out.a_digit = static_cast<std::uint8_t>(core_.si_ * (kSuperDigit / config_.ra) + ia);
  out.w_digit = static_cast<std::uint8_t>(core_.sj_ * (kSuperDigit / config_.rw) + jw);
  out.a_neg =
      core_.a_signed_ != 0 && a_top && ia + 1 == core_.digits(core_.pa_, config_.ra, core_.si_);
  out.w_neg =
      core_.w_signed_ != 0 && w_top && jw + 1 == core_.digits(core_.pw_, config_.rw, core_.sj_);
  out.first = core_.first_ != 0;
  out.d = core_.d_;
  out.last = core_.f_ == 0 && core_.s_ == 0;
  out.shift = static_cast<std::uint8_t>(core_.si_ + core_.sj_);
  out.load = out.first_k && core_.si_ == 0 && core_.sj_ == 0;
  out.tile_last = comb.last_k && a_top && w_top;
  out.acc_bank = core_.acc_bank_ != 0;
  out.f_q = core_.f_;
  out.s_q = core_.s_;
  out.idle_q = core_.idle_;
  out.flags_q = static_cast<std::uint8_t>(core_.run_ | core_.init_ << 1 | core_.bank_ << 2 |
                                          core_.acc_bank_ << 3 | core_.si_ << 4 | core_.sj_ << 5 |
                                          core_.first_ << 6);
}

std::uint64_t ArrayWires::acc_register(int row, int col, int bank) const {
  const int s = config_.s;
  return core_
      .acc_[static_cast<std::size_t>((col * groups() + row / s) * 2 * s + bank * s + row % s)];
}

void ArrayWires::drain(DrainPins& out) const {
  const bool shared = config_.s > 1;
  const auto& fl = shared ? core_.hold_ : core_.ac_info_;
  const bool fl_valid = shared ? core_.hold_valid_ != 0 : core_.ac_valid_ != 0;
  const bool done = fl_valid && core_.comb_.en && fl.tile_last != 0 && core_.comb_.fl_end;
  out.tile_done = done ? static_cast<std::uint8_t>(1U << fl.bank) : 0;
  out.busy = core_.dr_busy_;
  out.rd_bank = core_.dr_bank_ != 0;
  out.rd_row = core_.dr_row_;
  out.last_tile = core_.last_tile(core_.walk_drain_);
  out.valid = core_.dr_valid_ != 0;
  out.ready = res_ready_;
  out.last = core_.dr_last_ != 0;
  out.row_en = core_.row_mask(core_.walk_drain_);
  out.col_en = core_.col_mask(core_.walk_drain_);
  const bool step = core_.comb_.drain && (!out.valid || out.ready);
  const bool last_group = core_.dr_grp_ == config_.tn / cols_per_beat() - 1;
  out.tile_read = step && last_group && core_.dr_row_ + rows_per_beat() >= config_.tm;
  const auto acc_w = static_cast<std::size_t>(config_.acc_w);
  const int rd = read_rows();
  const auto ports = static_cast<std::size_t>(rd);
  const auto tn = static_cast<std::size_t>(config_.tn);
  out.acc.assign(words64(tn * ports * acc_w), 0);
  out.sum_a.assign(words64(ports * acc_w), 0);
  out.sum_w.assign(words64(tn * acc_w), 0);
  const int ones = ones_group();
  for (int r = 0; r < rd; ++r) {
    // Past the tile the read port's group number has no group: the core and the mask do not care.
    const int row = rd == 1 ? std::min<int>(core_.dr_row_, config_.tm - 1) : r;
    const auto at = static_cast<std::size_t>(r);
    for (int c = 0; c < config_.tn; ++c) {
      put_bits(out.acc.data(), (static_cast<std::size_t>(c) * ports + at) * acc_w, acc_w,
               acc_register(row, c, core_.dr_bank_));
    }
    put_bits(out.sum_a.data(), at * acc_w, acc_w, acc_register(row, config_.tn, core_.dr_bank_));
  }
  for (int c = 0; c < config_.tn; ++c) {
    put_bits(out.sum_w.data(), static_cast<std::size_t>(c) * acc_w, acc_w,
             core_.acc_sum_w_[static_cast<std::size_t>(c / ones * 2 * ones + core_.dr_bank_ * ones +
                                                       c % ones)]);
  }
  out.mask = core_.mask_.data();
  out.data = core_.data_.data();
  out.out_sum_a = core_.sum_a_.data();
  out.out_sum_w = core_.sum_w_.data();
}

}  // namespace bitcycle
