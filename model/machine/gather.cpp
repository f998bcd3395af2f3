#include "model/machine/gather.hpp"

#include <algorithm>
#include <cstring>

#include "model/machine/layout.hpp"

namespace bitcycle {
namespace {

int log2_of(int power) { return __builtin_ctz(static_cast<unsigned>(power)); }

std::uint32_t low_ones(std::uint32_t count) {
  return count >= 32 ? ~std::uint32_t{0} : (1U << count) - 1U;
}

// Bit matrix of 8 bytes (rows) turned: byte b of the result holds bit b of every byte.
std::uint64_t transpose8(std::uint64_t x) {
  std::uint64_t t = (x ^ (x >> 7U)) & 0x00AA00AA00AA00AAULL;
  x ^= t ^ (t << 7U);
  t = (x ^ (x >> 14U)) & 0x0000CCCC0000CCCCULL;
  x ^= t ^ (t << 14U);
  t = (x ^ (x >> 28U)) & 0x00000000F0F0F0F0ULL;
  return x ^ t ^ (t << 28U);
}

template <class T>
T side_field(const std::uint64_t* side, const layout::Field& field) {
  return static_cast<T>(
      get_bits(side, static_cast<std::size_t>(field.bit), static_cast<std::size_t>(field.width)));
}

}  // namespace

Gather::Gather(const GatherConfig& config)
    : c_(config),
      rows_per_beat_(std::min(config.b, config.t)),
      planes_per_beat_(std::max(config.b / config.t, 1)),
      groups_(std::max(config.t / config.b, 1)),
      log_t_(log2_of(config.t)),
      log_kl_(log2_of(config.kl)),
      log_granules_(log2_of(config.kl / config.gl)),
      outer_(std::max(config.t, config.kl)),
      tap_(std::max(config.t, config.kl / config.gl)),
      rows_(static_cast<std::size_t>(config.t)),
      elements_(static_cast<std::size_t>(config.kl)),
      lane_mask_(static_cast<std::size_t>(config.kl / config.gl)),
      taps_(static_cast<std::size_t>(std::max(config.t, config.kl / config.gl))),
      words_(static_cast<std::size_t>(config.kl)),
      data_((static_cast<std::size_t>(config.b) * static_cast<std::size_t>(config.kl) + 63) / 64) {}

void Gather::reset() {
  valid_ = plane_ = grp_ = 0;
  own_rem_ = other_rem_ = k_rem_ = 0;
}

void Gather::step(const GatherStep& in) {
  const bool beat = valid_ != 0 && in.ready;
  const bool last_grp = grp_ == groups_ - 1;
  const bool last_beat = last_grp && plane_ + planes_per_beat_ >= in.bits;
  const auto t = static_cast<std::uint32_t>(c_.t);
  const auto t_other = static_cast<std::uint32_t>(c_.t_other);
  const auto kl = static_cast<std::uint32_t>(c_.kl);
  const bool last_k = k_rem_ <= kl;
  const bool last_own = own_rem_ <= t;
  const bool last_other = other_rem_ <= t_other;
  const bool chunk = beat && last_beat;
  const bool tile = chunk && last_k;
  const bool next_row = tile && (c_.rows_first ? last_other : !last_own);
  const bool restart_row = tile && !c_.rows_first && last_own;

  if (in.start || in.setup || in.load || chunk) {
    PositionStep row{in.start, in.setup, in.setup_k, log_t_, in.load, next_row, restart_row};
    PositionStep element = row;
    element.next = chunk && !last_k;
    element.restart = tile;
    element.at = mode_ != 0 ? log_kl_ : log_granules_;
    OuterFields outer;
    TapFields tap;
    if (in.start) {
      outer.r0 = side_field<std::uint16_t>(in.side, layout::kSideR0);
      outer.r1 = side_field<std::uint16_t>(in.side, layout::kSideR1);
      outer.a0 = side_field<std::uint32_t>(in.side, layout::kSideA0);
      outer.a1w = side_field<std::uint32_t>(in.side, layout::kSideA1w);
      outer.a2w = side_field<std::uint32_t>(in.side, layout::kSideA2w);
      outer.sy = side_field<std::uint16_t>(in.side, layout::kSideSy);
      outer.sx = side_field<std::uint16_t>(in.side, layout::kSideSx);
      outer.xw = side_field<std::uint16_t>(in.side, layout::kSideXw);
      outer.yw = side_field<std::uint16_t>(in.side, layout::kSideYw);
      outer.base = side_field<std::uint32_t>(in.side, layout::kSideBase);
      outer.y0 = side_field<std::uint16_t>(in.side, layout::kSideY0);
      outer.x0 = side_field<std::uint16_t>(in.side, layout::kSideX0);
      // Granules of mode N have no bit digit.
      if (side_field<bool>(in.side, layout::kSideTransposed)) {
        tap.br = side_field<std::uint8_t>(in.side, layout::kSideBr);
      }
      tap.cg = side_field<std::uint16_t>(in.side, layout::kSideCg);
      tap.kb0 = side_field<std::uint16_t>(in.side, layout::kSideKb0);
      tap.sc = side_field<std::uint32_t>(in.side, layout::kSideSc);
      tap.b0w = side_field<std::uint32_t>(in.side, layout::kSideB0w);
      tap.b1w = side_field<std::uint32_t>(in.side, layout::kSideB1w);
      tap.dx = side_field<std::uint16_t>(in.side, layout::kSideDx);
      tap.dy = side_field<std::uint16_t>(in.side, layout::kSideDy);
      tap.dxw = side_field<std::uint16_t>(in.side, layout::kSideDxw);
    }
    outer_.step(mode_ != 0 ? element : row, outer);
    tap_.step(mode_ != 0 ? row : element, tap);
    elements_known_ = false;
    if (!chunk || next_row || restart_row) rows_known_ = false;
  }
  if (in.start) {
    mode_ = side_field<bool>(in.side, layout::kSideTransposed) ? 1 : 0;
    h_ = side_field<std::uint16_t>(in.side, layout::kSideH);
    w_ = side_field<std::uint16_t>(in.side, layout::kSideWd);
    lo_ = side_field<std::uint8_t>(in.side, layout::kSideLo);
    hi_ = side_field<std::uint8_t>(in.side, layout::kSideHi);
    const auto br = side_field<std::uint8_t>(in.side, layout::kSideBr);
    br_bad_ = br == 0 || br > c_.gl ? 1 : 0;
  }

  if (in.load) {
    valid_ = 1;
    plane_ = grp_ = 0;
    own_rem_ = in.own;
    other_rem_ = in.other;
    k_rem_ = in.k;
  } else if (beat) {
    grp_ = static_cast<std::uint8_t>(last_grp ? 0 : grp_ + 1);
    if (last_grp) {
      plane_ = static_cast<std::uint8_t>(last_beat ? 0 : (plane_ + planes_per_beat_) & 31);
    }
    if (chunk) k_rem_ = last_k ? in.k : k_rem_ - kl;
    if (tile) {
      if (next_row) {
        own_rem_ -= t;
      } else if (restart_row) {
        own_rem_ = in.own;
      }
      if (c_.rows_first) {
        other_rem_ = last_other ? in.other : other_rem_ - t_other;
      } else if (last_own) {
        other_rem_ -= t_other;
      }
      if (last_own && last_other) valid_ = 0;
    }
  }
}

// 0 <= y < h and 0 <= x < w for 16-bit two's complement y, x.
bool Gather::inside(const Element& row, const Element& element) const {
  const auto y = static_cast<std::uint16_t>(row.y + element.y);
  const auto x = static_cast<std::uint16_t>(row.x + element.x);
  return y < 0x8000 && x < 0x8000 && y < h_ && x < w_;
}

void Gather::locate() {
  if (!rows_known_) {
    rows_known_ = true;
    if (mode_ != 0) tap_.elements(c_.t, taps_.data());
    for (int r = 0; r < c_.t; ++r) {
      Row& row = rows_[static_cast<std::size_t>(r)];
      row.enabled = static_cast<std::uint32_t>(r) < own_rem_;
      if (mode_ != 0) {
        const PosTap::Tap& tap = taps_[static_cast<std::size_t>(r)];
        static_cast<Element&>(row) = tap;
        const int bit = tap.bit + lo_;
        row.bit = static_cast<std::uint8_t>(bit);
        row.enabled = row.enabled && bit < c_.gl;
      } else {
        static_cast<Element&>(row) = outer_.element(r);
      }
    }
  }
  if (!elements_known_) {
    elements_known_ = true;
    const int granules = c_.kl / c_.gl;
    if (mode_ != 0) {
      outer_.elements(c_.kl, elements_.data());
    } else {
      tap_.elements(granules, taps_.data());
    }
    for (int j = 0; j < granules; ++j) {
      const auto first = static_cast<std::uint32_t>(j * c_.gl);
      const auto gl = static_cast<std::uint32_t>(c_.gl);
      std::uint32_t mask = low_ones(k_rem_ > first ? std::min(k_rem_ - first, gl) : 0);
      if (mode_ == 0) {
        const PosTap::Tap& tap = taps_[static_cast<std::size_t>(j)];
        elements_[static_cast<std::size_t>(j)] = tap;
        if (tap.first_cg) mask &= ~low_ones(lo_);
        if (tap.last_cg) mask &= low_ones(hi_);
      }
      lane_mask_[static_cast<std::size_t>(j)] = mask;
    }
  }
}

const std::uint64_t* Gather::beat(const OperandMemory& memory, std::uint8_t bits) {
  locate();
  std::fill(data_.begin(), data_.end(), 0);
  const Row* rows = &rows_[static_cast<std::size_t>(groups_ > 1 ? grp_ * c_.b : 0)];
  const int planes = std::clamp(bits - plane_, 0, planes_per_beat_);
  if (mode_ != 0 && c_.kl > 1) {
    lanes(memory, rows, planes);
  } else if (c_.kl == c_.gl) {
    runs(memory, rows, planes);
  } else {
    granules(memory, rows, planes);
  }
  return data_.data();
}

// Mode N, several granules of 16 lanes in a word.
void Gather::granules(const OperandMemory& memory, const Row* rows, int planes) {
  const int count = c_.kl / 16;
  auto* out = reinterpret_cast<unsigned char*>(data_.data());
  for (int r = 0; r < rows_per_beat_; ++r, ++rows) {
    if (!rows->enabled) continue;
    unsigned char* row_out = out + r * planes_per_beat_ * count * 2;
    for (int j = 0; j < count; ++j) {
      const Element& element = elements_[static_cast<std::size_t>(j)];
      if (!inside(*rows, element)) continue;
      const std::uint32_t address = rows->addr + element.addr + plane_;
      const std::uint32_t mask = lane_mask_[static_cast<std::size_t>(j)];
      for (int p = 0; p < planes; ++p) {
        const auto word = static_cast<std::uint16_t>(
            memory.word16(address + static_cast<std::uint32_t>(p)) & mask);
        std::memcpy(row_out + (p * count + j) * 2, &word, 2);
      }
    }
  }
}

// A word of the array is a word of the buffer: the planes of a row follow each other in both. Also
// mode T with one lane, where the bit of the word is bit 0.
void Gather::runs(const OperandMemory& memory, const Row* rows, int planes) {
  const auto gl = static_cast<std::uint32_t>(c_.gl);
  const int step = std::min<int>(planes_per_beat_, static_cast<int>(32 / gl));
  std::uint32_t mask = lane_mask_[0];
  for (std::uint32_t filled = gl; filled < 32; filled *= 2) mask |= mask << filled;
  const Element& element = elements_[0];
  for (int r = 0; r < rows_per_beat_; ++r, ++rows) {
    if (!rows->enabled || !inside(*rows, element)) continue;
    const std::uint32_t address = rows->addr + element.addr + plane_;
    for (int p = 0; p < planes; p += step) {
      const auto count = static_cast<std::uint32_t>(std::min(step, planes - p));
      const std::uint64_t run = memory.run(address + static_cast<std::uint32_t>(p), count) & mask;
      const auto at = static_cast<std::uint32_t>(r * planes_per_beat_ + p) * gl;
      data_[at / 64] |= run << (at % 64);
    }
  }
}

// Mode T: neighbouring rows are mostly bits of the same words, which are read once.
void Gather::lanes(const OperandMemory& memory, const Row* rows, int planes) {
  const int kl = static_cast<int>(std::min<std::uint32_t>(k_rem_, static_cast<unsigned>(c_.kl)));
  std::fill(words_.begin() + kl, words_.end(), 0);
  for (int r = 0; r < rows_per_beat_;) {
    const Row& row = rows[r];
    int same = 1;
    while (r + same < rows_per_beat_ && rows[r + same].addr == row.addr &&
           rows[r + same].y == row.y && rows[r + same].x == row.x) {
      ++same;
    }
    for (int p = 0; p < planes; ++p) {
      const std::uint32_t address = row.addr + plane_ + static_cast<std::uint32_t>(p);
      for (int l = 0; l < kl; ++l) {
        const Element& element = elements_[static_cast<std::size_t>(l)];
        words_[static_cast<std::size_t>(l)] = static_cast<std::uint16_t>(
            inside(row, element) ? memory.word(address + element.addr) : 0);
      }
      transpose(&rows[r], same, r * planes_per_beat_ + p);
    }
    r += same;
  }
}

// Bit rows[i].bit of every lane's word becomes the word of row i, `planes_per_beat_` words apart.
void Gather::transpose(const Row* rows, int count, int first_word) {
  const auto kl = static_cast<std::size_t>(c_.kl);
  const auto word = static_cast<std::size_t>(first_word);
  const auto stride = static_cast<std::size_t>(planes_per_beat_);
  if (kl < 8) {
    for (int i = 0; i < count; ++i) {
      if (!rows[i].enabled) continue;
      std::uint64_t lanes = 0;
      for (std::size_t l = 0; l < kl; ++l) {
        lanes |= std::uint64_t{(words_[l] >> rows[i].bit) & 1U} << l;
      }
      const std::size_t at = (word + static_cast<std::size_t>(i) * stride) * kl;
      data_[at / 64] |= lanes << (at % 64);
    }
    return;
  }
  auto* out = reinterpret_cast<unsigned char*>(data_.data());
  for (std::size_t l = 0; l < kl; l += 8) {
    std::uint64_t low = 0, high = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      low |= std::uint64_t{words_[l + i] & 0xFFU} << (8 * i);
      high |= std::uint64_t{words_[l + i]} >> 8U << (8 * i);
    }
    low = transpose8(low);
    if (c_.gl > 8) high = transpose8(high);
    for (int i = 0; i < count; ++i) {
      if (!rows[i].enabled) continue;
      const std::uint64_t half = rows[i].bit < 8 ? low : high;
      const std::size_t at = (word + static_cast<std::size_t>(i) * stride) * kl + l;
      out[at / 8] = static_cast<unsigned char>(half >> (8U * (rows[i].bit % 8U)));
    }
  }
}

void Gather::list(const std::string& prefix, std::vector<RegisterView>& out) {
  const auto one = [&](const char* name, auto& value, std::size_t bits) {
    out.push_back({prefix + name, &value, 1, sizeof(value), bits});
  };
  one(".mode_q", mode_, 1);
  one(".h_q", h_, 16);
  one(".w_q", w_, 16);
  one(".lo_q", lo_, 8);
  one(".hi_q", hi_, 8);
  one(".br_bad_q", br_bad_, 1);
  one(".valid_q", valid_, 1);
  one(".plane_q", plane_, 5);
  one(".grp_q", grp_, groups_ > 1 ? static_cast<std::size_t>(log2_of(groups_)) : 1);
  one(".own_rem_q", own_rem_, 32);
  one(".other_rem_q", other_rem_, 32);
  one(".k_rem_q", k_rem_, 32);
  outer_.list(prefix + ".u_outer", out);
  tap_.list(prefix + ".u_tap", out);
}

}  // namespace bitcycle
