// Names of the core's registers, as they stand in the RTL's hierarchy.
#include <fmt/format.h>

#include "model/core.hpp"

namespace bitcycle {

void ArrayCore::list_registers() {
  const auto one = [&](const std::string& name, auto& value, int bits) {
    registers_.push_back(
        {"bc_array." + name, &value, 1, sizeof(value), static_cast<std::size_t>(bits)});
  };
  const auto packed = [&](const std::string& name, std::vector<std::uint64_t>& words, int bits) {
    registers_.push_back(
        {"bc_array." + name, words.data(), 1, words.size() * 8, static_cast<std::size_t>(bits)});
  };
  const auto clog2 = [](int value) {
    int bits = 0;
    while ((1 << bits) < value) ++bits;
    return bits;
  };

  one("busy_q", busy_, 1);
  one("m_q", m_, 32);
  one("n_q", n_, 32);
  one("k_q", k_, 32);
  one("pa_q", pa_, 5);
  one("pw_q", pw_, 5);
  one("a_signed_q", a_signed_, 1);
  one("w_signed_q", w_signed_, 1);
  one("err_q", err_, 1);
  one("cause_q", cause_, 2);
  one("overflow_q", overflow_, 1);

  const auto walker = [&](const std::string& name, Walker& w) {
    one(name + ".m_rem_q", w.m_rem, 32);
    one(name + ".n_rem_q", w.n_rem, 32);
    one(name + ".k_rem_q", w.k_rem, 32);
    one(name + ".first_k_q", w.first_k, 1);
  };
  walker("u_walk_a", walk_a_);
  walker("u_walk_w", walk_w_);
  walker("u_walk_seq", walk_seq_);
  walker("u_walk_drain", walk_drain_);

  const auto fill = [&](const std::string& name, Fill& f) {
    packed(name + ".in_data_q", f.in_data, f.b * c_.kl);
    one(name + ".in_valid_q", f.in_valid, 1);
    one(name + ".filling_q", f.filling, 1);
    one(name + ".bank_q", f.bank, 1);
    one(name + ".full_q", f.full, 2);
    one(name + ".plane_q", f.plane, 5);
    one(name + ".grp_q", f.grp, f.groups > 1 ? clog2(f.groups) : 1);
  };
  fill("u_fill_a", fill_a_);
  fill("u_fill_w", fill_w_);

  one("u_seq.run_q", run_, 1);
  one("u_seq.init_q", init_, 1);
  one("u_seq.bank_q", bank_, 1);
  one("u_seq.acc_bank_q", acc_bank_, 1);
  one("u_seq.si_q", si_, 1);
  one("u_seq.sj_q", sj_, 1);
  one("u_seq.f_q", f_, 3);
  one("u_seq.s_q", s_, 3);
  one("u_seq.d_q", d_, 3);
  one("u_seq.first_q", first_, 1);
  one("u_seq.idle_q", idle_, clog2(c_.s + 1));

  const auto side = [&](const char* name, Side& s) {
    const auto planes = static_cast<std::size_t>(2 * c_.p_max);
    for (int r = 0; r < s.count; ++r) {
      const auto at = static_cast<std::size_t>(r);
      registers_.push_back({fmt::format("bc_array.{}[{}].u_chunk.chunk_q", name, r),
                            &s.chunk[at * planes * lane_words_], planes, lane_words_ * 8,
                            static_cast<std::size_t>(c_.kl)});
      registers_.push_back({fmt::format("bc_array.{}[{}].u_chunk.digit_q", name, r),
                            &s.digit[at * s.digit_words], 1, s.digit_words * 8,
                            static_cast<std::size_t>(c_.kl * s.radix)});
    }
  };
  side("g_a", a_);
  side("g_w", w_);

  one("op_valid_q", op_valid_, 1);
  one("op_first_q", op_first_, 1);
  one("op_last_q", op_last_, 1);
  one("op_a_neg_q", op_a_neg_, 1);
  one("op_w_neg_q", op_w_neg_, 1);
  one("op_a_one_q", op_a_one_, 1);
  one("op_w_one_q", op_w_one_, 1);
  one("op_d_q", op_d_, 3);
  const auto pass = [&](const std::string& prefix, Pass& p) {
    one(prefix + "shift_q", p.shift, 2);
    one(prefix + "load_q", p.load, 1);
    one(prefix + "tile_last_q", p.tile_last, 1);
    one(prefix + "bank_q", p.bank, 1);
    one(prefix + "row_en_q", p.row_en, c_.tm);
    one(prefix + "col_en_q", p.col_en, c_.tn);
  };
  pass("op_", op_);
  one("ac_valid_q", ac_valid_, 1);
  pass("ac_", ac_info_);
  if (c_.s > 1) {
    one("g_hold.valid_q", hold_valid_, 1);
    one("g_hold.index_q", hold_index_, clog2(c_.s));
    pass("g_hold.", hold_);
  }

  const auto pe = [&](const std::string& name, std::uint32_t& ac, std::uint32_t& ah) {
    one(name + ".u_pe.ac_q", ac, c_.ac_w);
    if (c_.s > 1) one(name + ".u_pe.g_hold.ah_q", ah, c_.ac_w);
  };
  const auto group = [&](const std::string& name, std::uint64_t& first, int members) {
    registers_.push_back({"bc_array." + name + ".u_acc.acc_q", &first,
                          static_cast<std::size_t>(2 * members), 8,
                          static_cast<std::size_t>(c_.acc_w)});
  };
  for (int c = 0; c <= c_.tn; ++c) {
    for (int r = 0; r < c_.tm; ++r) {
      const auto row = static_cast<std::size_t>(r);
      const auto at = row * static_cast<std::size_t>(c_.tn) + static_cast<std::size_t>(c);
      pe(fmt::format("g_col[{}].g_pe[{}]", c, r), c == c_.tn ? ac_sum_a_[row] : ac_[at],
         c == c_.tn ? ah_sum_a_[row] : ah_[at]);
    }
    for (int g = 0; g < groups_; ++g) {
      group(fmt::format("g_col[{}].g_acc[{}]", c, g),
            acc_[static_cast<std::size_t>((c * groups_ + g) * 2 * c_.s)], c_.s);
    }
  }
  for (int c = 0; c < c_.tn; ++c) {
    const auto at = static_cast<std::size_t>(c);
    pe(fmt::format("g_ones[{}]", c), ac_sum_w_[at], ah_sum_w_[at]);
  }
  for (int g = 0; g < c_.tn / ones_group_; ++g) {
    group(fmt::format("g_ones_acc[{}]", g),
          acc_sum_w_[static_cast<std::size_t>(g * 2 * ones_group_)], ones_group_);
  }

  const int groups_per_row = c_.tn / cols_per_beat_;
  one("u_drain.busy_q", dr_busy_, 2);
  one("u_drain.bank_q", dr_bank_, 1);
  one("u_drain.row_q", dr_row_, clog2(c_.tm + rows_per_beat_));
  one("u_drain.grp_q", dr_grp_, groups_per_row > 1 ? clog2(groups_per_row) : 1);
  one("u_drain.valid_q", dr_valid_, 1);
  one("u_drain.last_q", dr_last_, 1);
  packed("u_drain.mask_q", mask_, c_.q);
  packed("u_drain.data_q", data_, c_.q * c_.acc_w);
  packed("u_drain.sum_a_q", sum_a_, rows_per_beat_ * c_.acc_w);
  packed("u_drain.sum_w_q", sum_w_, cols_per_beat_ * c_.acc_w);

  ports_.res_mask = mask_.data();
  ports_.res_data = data_.data();
  ports_.res_sum_a = sum_a_.data();
  ports_.res_sum_w = sum_w_.data();
}

}  // namespace bitcycle
