#include "model/machine/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "golden/error.hpp"
#include "golden/hardware_random.hpp"
#include "model/machine/layout.hpp"

namespace bitcycle {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

unsigned clog2(std::uint32_t value) {
  unsigned bits = 0;
  while ((std::uint32_t{1} << bits) < value) ++bits;
  return bits;
}

/// The 80-bit product lies in -2^62 .. 2^62-1.
bool short_product(std::uint64_t lo, std::uint16_t hi) {
  const auto top = static_cast<std::int64_t>(lo) >> 62;
  return (top == 0 && hi == 0) || (top == -1 && hi == 0xFFFFU);
}

std::int32_t extend17(std::uint32_t value) { return static_cast<std::int32_t>(value << 15U) >> 15; }

}  // namespace

ResultUnit::ResultUnit(const MachineConfig& config)
    : config_(config),
      gl_(static_cast<std::uint32_t>(config.gl)),
      rows_(static_cast<std::uint32_t>(
          config.array.q > config.array.tn ? config.array.q / config.array.tn : 1)),
      columns_(static_cast<std::uint32_t>(std::min(config.array.q, config.array.tn))),
      groups_(static_cast<std::uint32_t>(config.array.tn) / columns_),
      tm_(static_cast<std::uint32_t>(config.array.tm)),
      tn_(static_cast<std::uint32_t>(config.array.tn)),
      lr_(std::min(gl_, columns_)),
      lc_(std::min(gl_, rows_)),
      word_mask_(static_cast<std::uint32_t>(config.ob_d * (config.dw / config.gl)) - 1),
      sums_(config),
      positions_(std::max(config.array.tm, config.array.tn)),
      buffer_(config),
      lanes_(static_cast<std::size_t>(config.array.q)),
      position_(std::max(rows_, columns_)),
      min_(kMost),
      max_(kLeast),
      zero_col_(columns_) {
  config.validate();
  const auto q = static_cast<std::uint32_t>(config.array.q);
  if ((q & (q - 1)) != 0) {
    throw input_error("", 0, "q", std::to_string(q), "a power of two in a machine");
  }
  for (auto& stage : valid_) stage.mask.resize((q + 63) / 64);
}

void ResultUnit::reset() {
  sums_.reset();
  positions_.reset();
  for (auto& stage : valid_) stage.valid = stage.last = 0;
  min_ = kMost;
  max_ = kLeast;
}

void ResultUnit::step(const Inputs& in) {
  const bool results = sums_.valid() && ps_write_ == 0;  // stage 1 has something to write
  if (valid_[4].valid != 0) raw_ != 0 ? write_integers() : write_codes();
  if (results && sums_on_ != 0) write_sums();

  if (valid_[3].valid != 0) stage4();
  if (in.clear) {
    min_ = kMost;
    max_ = kLeast;
  }
  if (valid_[2].valid != 0) {
    extremes();
    stage3();
  }
  if (results) stage2();
  valid_[4].valid = valid_[3].valid;
  valid_[4].last = valid_[3].last;
  valid_[3].valid = valid_[2].valid;
  valid_[3].last = valid_[2].last;
  valid_[2].valid = results ? 1 : 0;
  valid_[2].last = sums_.last() ? 1 : 0;

  OutPositions::Inputs move;
  move.at = clog2(column() ? tn_ : tm_);
  if (sums_.valid()) {
    const bool tile_end = grp_ == groups_ - 1 && row_ == tm_ - rows_;
    const bool last_col_tile = left_ <= tn_;
    move.next = tile_end && (column() || last_col_tile);
    move.restart = tile_end && column() && last_col_tile;
    walk();
  }
  if (in.start != nullptr) {
    load(in.start);
    move.start = true;
    move.o0 = o0_;
    start_walk();
  }
  if (move.start || move.next || positions_.busy()) positions_.step(move, radices_);

  if (in.beat != nullptr || in.start != nullptr || in.clear || sums_.valid()) {
    PartialSums::Inputs sums;
    sums.clear = in.clear;
    sums.start = in.start != nullptr;
    sums.base =
        in.start != nullptr ? static_cast<std::uint16_t>(in.start[2] >> 32U) : std::uint16_t{0};
    sums.read = ps_read_ != 0;
    sums.write = ps_write_ != 0;
    sums.beat = in.beat;
    sums_.step(sums);
  }
}

void ResultUnit::load(const std::uint64_t* words) {
  const auto field = [&](const layout::Field& f) {
    return get_bits(words, static_cast<std::size_t>(f.bit), static_cast<std::size_t>(f.width));
  };
  const auto set = [&](auto& to, const layout::Field& f) {
    to = static_cast<std::remove_reference_t<decltype(to)>>(field(f));
  };
  set(ps_read_, layout::kExecPsRead);
  set(ps_write_, layout::kExecPsWrite);
  set(raw_, layout::kExecRaw);
  set(column_, layout::kExecColumn);
  set(sums_on_, layout::kExecSums);
  set(raw32_, layout::kExecRaw32);
  set(out_bits_, layout::kExecOutBits);
  set(out_signed_, layout::kExecOutSigned);
  set(rounding_, layout::kExecRounding);
  set(n_total_, layout::kExecN);
  set(ob_base_, layout::kExecObBase);
  set(or0_, layout::kExecOr0);
  set(or1_, layout::kExecOr1);
  set(o0_, layout::kExecO0);
  set(o1w_, layout::kExecO1w);
  set(o2w_, layout::kExecO2w);
  set(oc_, layout::kExecOc);
  set(sum_a_base_, layout::kExecSumA);
  set(sum_w_base_, layout::kExecSumW);
  set(mult_, layout::kExecMult);
  set(shift_, layout::kExecShift);
  set(za_, layout::kExecZa);
  set(zw_, layout::kExecZw);
  set(kzz_, layout::kExecKzz);
  set(zout_, layout::kExecZout);
  set(seed_, layout::kExecSeed);
  set(element_base_, layout::kExecElement);
  set(row_stride_, layout::kExecElementRow);

  requant_.mult = mult_;
  requant_.shift = shift_;
  requant_.za = extend17(za_);
  requant_.zw = extend17(zw_);
  requant_.kzz = static_cast<std::int64_t>(kzz_);
  requant_.zout = extend17(zout_);
  requant_.out_bits = out_bits_;
  requant_.out_signed = out_signed_ != 0;
  requant_.rounding = static_cast<Rounding>(rounding_);
  requant_.seed = seed_;
  radices_ = {or0_, or1_, o1w_, o2w_};
}

// ------------------------------------------------------------------ walk (rtl/bc_pack.sv)

void ResultUnit::start_walk() {
  row_ = grp_ = 0;
  left_ = n_total_;
  first_row_tile_ = first_col_tile_ = 1;
  n_ = n_tile_ = n_oc_ = n_oc_tile_ = 0;
  m_ = m_tile_ = m_oc_ = m_oc_tile_ = 0;
  element_ = element_tile_ = element_base_;
}

void ResultUnit::walk() {
  const bool last_grp = grp_ == groups_ - 1;
  const bool last_row = row_ == tm_ - rows_;
  const auto granules = [&](std::uint32_t oc, std::uint32_t next, std::uint32_t lanes) {
    if (lanes >= gl_) return oc + oc_ * (lanes / gl_);
    return next % gl_ == 0 ? oc + oc_ : oc;
  };
  const std::uint32_t n_next = n_ + columns_;
  const std::uint32_t n_oc_next = granules(n_oc_, n_next, columns_);
  grp_ = last_grp ? std::uint8_t{0} : static_cast<std::uint8_t>(grp_ + 1);
  if (!last_grp) {
    n_ = n_next;
    n_oc_ = n_oc_next;
    return;
  }
  const std::uint32_t m_next = m_ + rows_;
  const std::uint32_t m_oc_next = granules(m_oc_, m_next, rows_);
  const std::uint32_t element_next = element_ + row_stride_ * rows_;
  row_ = last_row ? std::uint8_t{0} : static_cast<std::uint8_t>(row_ + rows_);
  if (!last_row) {
    n_ = n_tile_;
    n_oc_ = n_oc_tile_;
    m_ = m_next;
    m_oc_ = m_oc_next;
    element_ = element_next;
  } else if (left_ > tn_) {
    left_ -= tn_;
    first_col_tile_ = 0;
    n_ = n_tile_ = n_next;
    n_oc_ = n_oc_tile_ = n_oc_next;
    m_ = m_tile_;
    m_oc_ = m_oc_tile_;
    element_ = element_tile_;
  } else {
    left_ = n_total_;
    first_row_tile_ = 0;
    first_col_tile_ = 1;
    n_ = n_tile_ = n_oc_ = n_oc_tile_ = 0;
    m_ = m_tile_ = m_next;
    m_oc_ = m_oc_tile_ = m_oc_next;
    element_ = element_tile_ = element_next;
  }
}

// ------------------------------------------------------------------ stages

void ResultUnit::stage2() {
  for (std::size_t j = 0; j < columns_; ++j) {
    zero_col_[j] =
        static_cast<std::uint64_t>(requant_.za) * static_cast<std::uint64_t>(sums_.sum_w(j));
  }
  std::size_t lane = 0;
  for (std::uint32_t i = 0; i < rows_; ++i) {
    const std::uint64_t zero_row =
        static_cast<std::uint64_t>(requant_.zw) * static_cast<std::uint64_t>(sums_.sum_a(i)) - kzz_;
    for (std::uint32_t j = 0; j < columns_; ++j, ++lane) {
      const auto acc = static_cast<std::uint64_t>(sums_.acc(lane));
      lanes_[lane].v = raw_ != 0 ? acc : acc - zero_col_[j] - zero_row;
      if (stochastic()) lanes_[lane].element = element_ + row_stride_ * i + n_ + j;
    }
  }
  valid_[2].mask = sums_.mask_words();
  const std::uint32_t first = column() ? grp_ * columns_ : row_;
  for (std::size_t p = 0; p < used_positions(); ++p) {
    position_[p].pos2 = positions_.address(first + p, radices_);
  }
  base2_ = ob_base_ + (raw_ != 0 ? n_ * integer_words() : column() ? m_oc_ : n_oc_);
  lane2_ = static_cast<std::uint8_t>((column() ? m_ : n_) % gl_);
}

void ResultUnit::extremes() {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (!masked_in(valid_[2], lane)) continue;
    const auto v = static_cast<std::int64_t>(lanes_[lane].v);
    min_ = std::min(min_, v);
    max_ = std::max(max_, v);
  }
}

void ResultUnit::stage3() {
  for (Lane& lane : lanes_) {
    if (raw_ != 0) {
      lane.lo = lane.v;
      continue;
    }
    const auto product = static_cast<u128>(i128{static_cast<std::int64_t>(lane.v)} * mult_);
    lane.lo = static_cast<std::uint64_t>(product);
    lane.hi = static_cast<std::uint16_t>(product >> 64U);
    if (stochastic()) lane.random = hardware_random(seed_, lane.element);
  }
  valid_[3].mask = valid_[2].mask;
  for (std::size_t p = 0; p < used_positions(); ++p) {
    position_[p].addr3 = (position_[p].pos2 + base2_) & word_mask_;
  }
  lane3_ = lane2_;
}

void ResultUnit::stage4() {
  const std::uint64_t code_mask = (std::uint64_t{1} << out_bits_) - 1;
  const std::int32_t low = requant_.low();
  const std::int32_t high = requant_.high();
  const bool short_shift = requant_.shift <= 46;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    if (raw_ != 0) {
      lane.out = lane.lo & 0xFFFFFFFFFFFFU;
    } else if (!masked_in(valid_[3], i)) {
      lane.out = 0;
    } else if (short_shift && short_product(lane.lo, lane.hi)) {
      // 64 bits are enough, and much faster.
      const std::int64_t code = round_shift(static_cast<std::int64_t>(lane.lo), requant_.shift,
                                            requant_.rounding, lane.random) +
                                requant_.zout;
      lane.out = static_cast<std::uint64_t>(std::clamp<std::int64_t>(code, low, high)) & code_mask;
    } else {
      const auto product = static_cast<i128>(
          u128{static_cast<std::uint64_t>(static_cast<std::int16_t>(lane.hi))} << 64U | lane.lo);
      const i128 code =
          round_shift(product, requant_.shift, requant_.rounding, lane.random) + requant_.zout;
      lane.out = static_cast<std::uint64_t>(std::clamp<i128>(code, low, high)) & code_mask;
    }
  }
  valid_[4].mask = valid_[3].mask;
  for (std::size_t p = 0; p < used_positions(); ++p) position_[p].addr4 = position_[p].addr3;
  lane4_ = lane3_;
}

// ------------------------------------------------------------------ writes

void ResultUnit::write_codes() {
  const bool by_column = column();
  // A segment: the lanes of one granule that the beat holds.
  const std::size_t lanes = by_column ? lc_ : lr_;
  const std::size_t stride = by_column ? columns_ : 1;
  const std::size_t outer = by_column ? columns_ : rows_;
  const std::size_t inner = (by_column ? rows_ : columns_) / lanes;
  const bool whole = lanes == gl_ || lane4_ == 0;
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t g = 0; g < inner; ++g) {
      const std::size_t first = by_column ? g * lanes * columns_ + o : o * columns_ + g * lanes;
      if (!masked_in(valid_[4], first)) continue;
      std::uint32_t planes[16] = {};
      for (std::size_t l = 0; l < lanes; ++l) {
        const std::uint64_t code = lanes_[first + l * stride].out;
        for (unsigned p = 0; p < out_bits_; ++p) {
          planes[p] |= static_cast<std::uint32_t>(code >> (out_bits_ - 1U - p) & 1U) << l;
        }
      }
      const std::uint32_t address = position_[o].addr4 + oc_ * static_cast<std::uint32_t>(g);
      for (unsigned p = 0; p < out_bits_; ++p) {
        if (whole) {
          buffer_.write_word(address + p, planes[p]);
        } else {
          buffer_.write_lanes(address + p, lane4_, static_cast<unsigned>(lanes), planes[p]);
        }
      }
    }
  }
}

void ResultUnit::write_integers() {
  std::size_t lane = 0;
  for (std::uint32_t i = 0; i < rows_; ++i) {
    for (std::uint32_t j = 0; j < columns_; ++j, ++lane) {
      if (!masked_in(valid_[4], lane)) continue;
      buffer_.write_integer(position_[i].addr4 + j * integer_words(), lanes_[lane].out,
                            raw32_ != 0);
    }
  }
}

void ResultUnit::write_sums() {
  if (first_col_tile_ != 0 && grp_ == 0) {
    for (std::uint32_t i = 0; i < rows_; ++i) {
      if (!sums_.mask(std::size_t{i} * columns_)) continue;
      buffer_.write_integer(sum_a_base_ + (m_ + i) * integer_words(),
                            static_cast<std::uint64_t>(sums_.sum_a(i)), raw32_ != 0);
    }
  }
  if (first_row_tile_ != 0 && row_ == 0) {
    for (std::uint32_t j = 0; j < columns_; ++j) {
      if (!sums_.mask(j)) continue;
      buffer_.write_integer(sum_w_base_ + (n_ + j) * integer_words(),
                            static_cast<std::uint64_t>(sums_.sum_w(j)), raw32_ != 0);
    }
  }
}

// ------------------------------------------------------------------ registers

void ResultUnit::list(const std::string& prefix, std::vector<RegisterView>& out) {
  const auto one = [&](const std::string& name, auto& value, std::size_t bits) {
    out.push_back({prefix + "." + name, &value, 1, sizeof(value), bits});
  };
  one("ps_read_q", ps_read_, 1);
  one("ps_write_q", ps_write_, 1);
  one("raw_q", raw_, 1);
  one("column_q", column_, 1);
  one("sums_q", sums_on_, 1);
  one("raw32_q", raw32_, 1);
  one("out_signed_q", out_signed_, 1);
  one("out_bits_q", out_bits_, 5);
  one("rounding_q", rounding_, 2);
  one("n_q", n_total_, 32);
  one("ob_base_q", ob_base_, 24);
  one("sum_a_base_q", sum_a_base_, 24);
  one("sum_w_base_q", sum_w_base_, 24);
  one("or0_q", or0_, 16);
  one("or1_q", or1_, 16);
  one("o0_q", o0_, 32);
  one("o1w_q", o1w_, 32);
  one("o2w_q", o2w_, 32);
  one("oc_q", oc_, 32);
  one("mult_q", mult_, 16);
  one("shift_q", shift_, 6);
  one("za_q", za_, 17);
  one("zw_q", zw_, 17);
  one("zout_q", zout_, 17);
  one("kzz_q", kzz_, 64);
  one("seed_q", seed_, 32);
  one("element_base_q", element_base_, 32);
  one("row_stride_q", row_stride_, 32);
  for (int s = 2; s <= 4; ++s) {
    one(fmt::format("s{}_valid_q", s), valid_[s].valid, 1);
    one(fmt::format("s{}_last_q", s), valid_[s].last, 1);
    out.push_back({fmt::format("{}.s{}_mask_q", prefix, s), valid_[s].mask.data(), 1,
                   valid_[s].mask.size() * 8, lanes_.size()});
  }
  one("min_q", min_, 64);
  one("max_q", max_, 64);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const std::string at = fmt::format("g_lane[{}].u_requant.", i);
    one(at + "v_q", lanes_[i].v, 64);
    one(at + "element_q", lanes_[i].element, 32);
    one(at + "lo_q", lanes_[i].lo, 64);
    one(at + "hi_q", lanes_[i].hi, 16);
    one(at + "u_random.random_q", lanes_[i].random, 16);
    one(at + "out_q", lanes_[i].out, 48);
  }
  one("u_pack.row_q", row_, clog2(tm_ + 1));
  one("u_pack.grp_q", grp_, groups_ > 1 ? clog2(groups_) : 1);
  one("u_pack.left_q", left_, 32);
  one("u_pack.first_row_tile_q", first_row_tile_, 1);
  one("u_pack.first_col_tile_q", first_col_tile_, 1);
  one("u_pack.n_q", n_, 32);
  one("u_pack.n_tile_q", n_tile_, 32);
  one("u_pack.n_oc_q", n_oc_, 32);
  one("u_pack.n_oc_tile_q", n_oc_tile_, 32);
  one("u_pack.m_q", m_, 32);
  one("u_pack.m_tile_q", m_tile_, 32);
  one("u_pack.m_oc_q", m_oc_, 32);
  one("u_pack.m_oc_tile_q", m_oc_tile_, 32);
  one("u_pack.element_q", element_, 32);
  one("u_pack.element_tile_q", element_tile_, 32);
  one("u_pack.base2_q", base2_, 32);
  const std::size_t lane_bits = gl_ > 1 ? clog2(gl_) : 1;
  one("u_pack.lane2_q", lane2_, lane_bits);
  one("u_pack.lane3_q", lane3_, lane_bits);
  one("u_pack.lane4_q", lane4_, lane_bits);
  const std::size_t word_bits = clog2(word_mask_ + 1);
  for (std::size_t p = 0; p < position_.size(); ++p) {
    const std::string at = fmt::format("u_pack.g_position[{}].", p);
    one(at + "pos2_q", position_[p].pos2, 32);
    one(at + "addr3_q", position_[p].addr3, word_bits);
    one(at + "addr4_q", position_[p].addr4, word_bits);
  }
  sums_.list(prefix + ".u_psum", out);
  positions_.list(prefix + ".u_pack.u_pos", out);
  buffer_.list(prefix + ".u_ob", out);
}

}  // namespace bitcycle
