// Data path of the cycle-accurate core: chunk registers, operands, PEs, accumulators, drain.
#include <algorithm>

#include "model/core.hpp"
#include "model/kernels.hpp"

namespace bitcycle {
namespace {

std::uint64_t low_mask(std::uint64_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

// `width` (1..64) bits at bit offset `bit` of a word array.
std::uint64_t extract(const std::uint64_t* words, std::size_t bit, std::size_t width) {
  const std::size_t at = bit / 64;
  const std::size_t shift = bit % 64;
  std::uint64_t value = words[at] >> shift;
  if (shift != 0 && shift + width > 64) value |= words[at + 1] << (64 - shift);
  return value & low_mask(width);
}

// Ones of a mask of the first rows (columns), which is what every enable is. Counting zeros needs
// no special instruction.
int count_low(std::uint64_t mask) { return mask == 0 ? 0 : 64 - __builtin_clzll(mask); }

// Bits of a byte spread to stride `radix`.
struct SpreadTable {
  std::uint64_t at[9][256] = {};
  SpreadTable() {
    for (const int radix : {2, 4, 8}) {
      for (int byte = 0; byte < 256; ++byte) {
        for (int b = 0; b < 8; ++b) {
          if ((byte >> b & 1) != 0) at[radix][byte] |= std::uint64_t{1} << (b * radix);
        }
      }
    }
  }
};
const SpreadTable kSpread;

}  // namespace

void ArrayCore::write_chunk(Side& side, const Fill& fill, const FillComb& comb,
                            const Walker& walker, std::uint64_t enabled, int bits) {
  const auto kl = static_cast<std::size_t>(c_.kl);
  const auto row_words = static_cast<std::size_t>(2 * c_.p_max) * lane_words_;
  const int first = fill.groups > 1 ? fill.grp * fill.b : 0;
  const int last = std::min(fill.groups > 1 ? first + fill.b : fill.t, count_low(enabled));
  for (int p = 0; p < comb.planes; ++p) {
    // Planes arrive most significant first.
    const int plane = fill.bank * c_.p_max + bits - 1 - (fill.plane + p);
    std::uint64_t* const of_plane = &side.chunk[static_cast<std::size_t>(plane) * lane_words_];
    for (std::size_t w = 0; w < lane_words_; ++w) {
      const std::size_t lane = w * 64;
      const std::size_t width = std::min<std::size_t>(64, kl - lane);
      const std::uint64_t real = low_mask(walker.k_rem > lane ? walker.k_rem - lane : 0);
      for (int r = first; r < last; ++r) {
        const int word = fill.groups > 1 ? r - first : r * fill.planes_per_beat + p;
        of_plane[static_cast<std::size_t>(r) * row_words + w] =
            extract(fill.in_data.data(), static_cast<std::size_t>(word) * kl + lane, width) & real;
      }
    }
  }
}

void ArrayCore::select() {
  const int ia = a_fast_ ? f_ : s_;
  const int jw = a_fast_ ? s_ : f_;
  const bool a_neg = a_signed_ != 0 && (si_ != 0) == (pa_ > 8) && ia + 1 == digits(pa_, c_.ra, si_);
  const bool w_neg = w_signed_ != 0 && (sj_ != 0) == (pw_ > 8) && jw + 1 == digits(pw_, c_.rw, sj_);
  select_side(a_, row_mask(walk_seq_), si_ * (8 / c_.ra) + ia, pa_, a_signed_ != 0, a_neg);
  select_side(w_, col_mask(walk_seq_), sj_ * (8 / c_.rw) + jw, pw_, w_signed_ != 0, w_neg);
}

void ArrayCore::select_side(Side& side, std::uint64_t enabled, int digit, int bits, bool is_signed,
                            bool negative) {
  const auto kl = static_cast<std::size_t>(c_.kl);
  const auto planes = static_cast<std::size_t>(2 * c_.p_max);
  const int radix = side.radix;
  const bool is_a = &side == &a_;
  if (bit_serial_) {
    const std::uint64_t* word = &side.chunk[static_cast<std::size_t>(bank_ * c_.p_max + digit)];
    const auto rows = static_cast<std::size_t>(count_low(enabled));
    for (std::size_t r = 0; r < rows; ++r) side.digit[r] = word[r * planes];
    return;
  }
  for (int r = 0; r < side.count; ++r) {
    if ((enabled >> r & 1U) == 0) continue;
    const std::uint64_t* bank = &side.chunk[(static_cast<std::size_t>(r) * planes +
                                             static_cast<std::size_t>(bank_ * c_.p_max)) *
                                            lane_words_];
    std::uint64_t* out = &side.digit[static_cast<std::size_t>(r) * side.digit_words];
    if (radix == 1) {
      std::copy_n(bank + static_cast<std::size_t>(digit) * lane_words_, lane_words_, out);
    } else {
      std::fill_n(out, side.digit_words, 0);
      for (int x = 0; x < radix; ++x) {
        int plane = digit * radix + x;
        if (plane >= bits) {
          if (!is_signed) break;
          plane = bits - 1;
        }
        const std::uint64_t* lanes = bank + static_cast<std::size_t>(plane) * lane_words_;
        for (std::size_t byte = 0; byte * 8 < kl; ++byte) {
          const std::uint64_t eight = lanes[byte / 8] >> (byte % 8 * 8) & 0xffU;
          const std::size_t at = byte * 8 * static_cast<std::size_t>(radix);
          out[at / 64] |= kSpread.at[radix][eight] << (at % 64 + static_cast<std::size_t>(x));
        }
      }
    }
    // Digit values, row-major for A and lane-major for W, as product_row wants them.
    const std::uint64_t digit_mask = low_mask(static_cast<unsigned>(radix));
    const auto per_word = 64 / static_cast<std::size_t>(radix);
    const std::int32_t sign = negative ? 1 << (radix - 1) : 0;
    std::int32_t* value = is_a ? &side.value[static_cast<std::size_t>(r) * kl]
                               : &side.value[static_cast<std::size_t>(r)];
    const std::size_t stride = is_a ? 1 : static_cast<std::size_t>(side.count);
    for (std::size_t l = 0; l < kl; ++l) {
      const auto raw = static_cast<std::int32_t>(
          out[l / per_word] >> (l % per_word * static_cast<std::size_t>(radix)) & digit_mask);
      value[l * stride] = (raw ^ sign) - sign;  // sign-extends a two's complement digit
    }
  }
}

void ArrayCore::accumulate() {
  const auto kl = static_cast<std::size_t>(c_.kl);
  const bool first = op_first_ != 0;
  const int columns = count_low(op_.col_en);
  const int rows = count_low(op_.row_en);
  if (bit_serial_) {
    const bool negate = op_a_neg_ != op_w_neg_;
    popcount_tile(ac_.data(), c_.tn, a_.digit.data(), w_.digit.data(), rows, columns, op_d_, first,
                  negate, ac_mask_);
    // The ones row and column: all lanes while the constant's only digit is in place, else none.
    const std::uint64_t lanes = ones_lanes_[0];
    const std::uint64_t w_one = op_w_one_ != 0 ? lanes : 0;
    const std::uint64_t a_one = op_a_one_ != 0 ? lanes : 0;
    popcount_tile(ac_sum_a_.data(), 0, &w_one, a_.digit.data(), 1, rows, op_d_, first,
                  op_a_neg_ != 0, ac_mask_);
    popcount_tile(ac_sum_w_.data(), 0, &a_one, w_.digit.data(), 1, columns, op_d_, first,
                  op_w_neg_ != 0, ac_mask_);
    return;
  }
  product_tile(ac_.data(), c_.tn, a_.value.data(), w_.value.data(), c_.kl, rows, columns, op_d_,
               first, ac_mask_);
  for (int r = 0; r < rows; ++r) {
    const std::int32_t* a = &a_.value[static_cast<std::size_t>(r) * kl];
    std::uint32_t sum = 0;
    if (op_w_one_ != 0) {
      for (std::size_t l = 0; l < kl; ++l) sum += static_cast<std::uint32_t>(a[l]);
    }
    std::uint32_t& ac = ac_sum_a_[static_cast<std::size_t>(r)];
    ac = ((first ? 0U : ac << op_d_) + sum) & ac_mask_;
  }
  product_tile(ac_sum_w_.data(), c_.tn, ones_value_.data(), w_.value.data(),
               op_a_one_ != 0 ? c_.kl : 0, 1, columns, op_d_, first, ac_mask_);
}

void ArrayCore::flush() {
  const bool shared = c_.s > 1;
  const Pass& fl = shared ? hold_ : ac_info_;
  const auto index = static_cast<std::size_t>(shared ? hold_index_ : 0);
  const auto s = static_cast<std::size_t>(c_.s);
  const auto tn = static_cast<std::size_t>(c_.tn);
  const int unused = 64 - c_.ac_w;
  const std::uint64_t sign = std::uint64_t{1} << (c_.acc_w - 1);
  const auto add = [&](std::uint64_t& acc, std::uint32_t sum) {
    const auto extended = static_cast<std::uint64_t>(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) << unused) >> unused);
    const std::uint64_t addend = (extended << (8 * fl.shift)) & acc_mask_;
    const std::uint64_t base = fl.load != 0 ? 0 : acc;
    const std::uint64_t total = (base + addend) & acc_mask_;
    // Two's complement overflow: equal signs in, the other sign out.
    if ((~(base ^ addend) & (total ^ base) & sign) != 0) flush_overflow_ = true;
    acc = total;
  };
  const auto& sums = shared ? ah_ : ac_;
  const auto& sums_a = shared ? ah_sum_a_ : ac_sum_a_;
  const auto& sums_w = shared ? ah_sum_w_ : ac_sum_w_;
  const auto groups = static_cast<std::size_t>(groups_);
  const auto columns = static_cast<std::size_t>(count_low(fl.col_en));
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t r = g * s + index;
    if ((fl.row_en >> r & 1U) == 0) continue;
    const std::size_t in_group = g * 2 * s + fl.bank * s + index;
    for (std::size_t c = 0; c < columns; ++c) {
      add(acc_[c * groups * 2 * s + in_group], sums[r * tn + c]);
    }
    add(acc_[tn * groups * 2 * s + in_group], sums_a[r]);
  }
  const auto ones = static_cast<std::size_t>(ones_group_);
  if (index < ones) {
    for (std::size_t g = 0; g < tn / ones; ++g) {
      const std::size_t c = g * ones + index;
      if (c < columns) add(acc_sum_w_[g * 2 * ones + fl.bank * ones + index], sums_w[c]);
    }
  }
}

void ArrayCore::drain(const ArrayStep& in) {
  if (!comb_.drain || (dr_valid_ != 0 && !in.res_ready)) {
    if (in.res_ready) dr_valid_ = dr_last_ = 0;
    return;
  }
  const auto s = static_cast<std::size_t>(c_.s);
  const auto tm = static_cast<std::size_t>(c_.tm);
  const auto tn = static_cast<std::size_t>(c_.tn);
  const auto acc_w = static_cast<std::size_t>(c_.acc_w);
  const auto ones = static_cast<std::size_t>(ones_group_);
  const std::uint64_t rows = row_mask(walk_drain_);
  const std::uint64_t cols = col_mask(walk_drain_);
  const auto column_acc = [&](std::size_t c, std::size_t r) {
    return acc_[c * 2 * tm + r / s * 2 * s + dr_bank_ * s + r % s];
  };
  const auto first_col = static_cast<std::size_t>(dr_grp_ * cols_per_beat_);
  const auto per_row = static_cast<std::size_t>(cols_per_beat_);
  std::fill(mask_.begin(), mask_.end(), 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows_per_beat_); ++i) {
    const std::size_t r = dr_row_ + i;
    const bool row_ok = r < tm && (rows >> r & 1U) != 0;
    put_bits(sum_a_.data(), i * acc_w, acc_w, row_ok ? column_acc(tn, r) : 0);
    for (std::size_t j = 0; j < per_row; ++j) {
      const std::size_t c = first_col + j;
      const bool ok = row_ok && (cols >> c & 1U) != 0;
      const std::size_t at = i * per_row + j;
      if (ok) mask_[at / 64] |= std::uint64_t{1} << (at % 64);
      put_bits(data_.data(), at * acc_w, acc_w, ok ? column_acc(c, r) : 0);
    }
  }
  for (std::size_t j = 0; j < per_row; ++j) {
    const std::size_t c = first_col + j;
    const bool ok = (cols >> c & 1U) != 0;
    put_bits(sum_w_.data(), j * acc_w, acc_w,
             ok ? acc_sum_w_[c / ones * 2 * ones + dr_bank_ * ones + c % ones] : 0);
  }
  const bool last_group = dr_grp_ == c_.tn / cols_per_beat_ - 1;
  const bool last_beat = last_group && dr_row_ + rows_per_beat_ >= c_.tm;
  dr_valid_ = 1;
  dr_last_ = last_beat && last_tile(walk_drain_) ? 1 : 0;
  dr_grp_ = last_group ? 0 : static_cast<std::uint8_t>(dr_grp_ + 1);
  if (last_group) dr_row_ = last_beat ? 0 : static_cast<std::uint8_t>(dr_row_ + rows_per_beat_);
  if (last_beat) {
    dr_busy_ = static_cast<std::uint8_t>(dr_busy_ & ~(1U << dr_bank_));
    dr_bank_ ^= 1U;
    advance(walk_drain_, 1, 1);
  }
}

}  // namespace bitcycle
