#include "model/machine/gather.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "model/machine/layout.hpp"

namespace bitcycle {
namespace {

int log2_of(int power) { return __builtin_ctz(static_cast<unsigned>(power)); }

std::uint32_t low_ones(std::uint32_t count) {
  return count >= 32 ? ~std::uint32_t{0} : (1U << count) - 1U;
}

// The low `width` bits again and again.
std::uint32_t repeat(std::uint32_t bits, int width) {
  for (int filled = width; filled < 32; filled *= 2) bits |= bits << filled;
  return bits;
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
      rows_(config.t),
      elements_(config.kl),
      row_bit_(static_cast<std::size_t>(config.t)),
      site_addr_(static_cast<std::size_t>(config.t) * static_cast<std::size_t>(config.kl)),
      site_mask_(site_addr_.size()),
      taps_(static_cast<std::size_t>(std::max(config.t, config.kl / config.gl))),
      low_(static_cast<std::size_t>(config.kl)),
      high_(static_cast<std::size_t>(config.kl)),
      data_((static_cast<std::size_t>(config.b) * static_cast<std::size_t>(config.kl) + 63) / 64) {}

Gather::Places::Places(int count)
    : addr(static_cast<std::size_t>(count)),
      mask(static_cast<std::size_t>(count)),
      y(static_cast<std::size_t>(count)),
      x(static_cast<std::size_t>(count)) {}

void Gather::Places::set(int i, const Element& at, std::uint32_t mask_bits) {
  const auto index = static_cast<std::size_t>(i);
  addr[index] = at.addr;
  y[index] = at.y;
  x[index] = at.x;
  mask[index] = mask_bits;
}

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

void Gather::locate_rows() {
  runs_.clear();
  if (mode_ != 0) tap_.elements(c_.t, taps_.data());
  for (int r = 0; r < c_.t; ++r) {
    const bool enabled = static_cast<std::uint32_t>(r) < own_rem_;
    if (mode_ == 0) {
      rows_.set(r, outer_.element(r), enabled ? ~0U : 0);
      continue;
    }
    const PosTap::Tap& tap = taps_[static_cast<std::size_t>(r)];
    const int bit = tap.bit + lo_;
    row_bit_[static_cast<std::size_t>(r)] = static_cast<std::uint8_t>(bit);
    const std::uint32_t mask = enabled && bit < c_.gl ? ~0U : 0;
    rows_.set(r, tap, mask);
    const auto here = static_cast<std::size_t>(r);
    const bool same = r > 0 && rows_.addr[here] == rows_.addr[here - 1] &&
                      rows_.y[here] == rows_.y[here - 1] && rows_.x[here] == rows_.x[here - 1] &&
                      mask == rows_.mask[here - 1];
    if (same) {
      ++runs_.back().count;
    } else {
      runs_.push_back({r, 1});
    }
  }
}

void Gather::locate_elements() {
  if (mode_ != 0) {
    for (int l = 0; l < c_.kl; ++l) {
      elements_.set(l, outer_.element(l), static_cast<std::uint32_t>(l) < k_rem_ ? ~0U : 0);
    }
    return;
  }
  const int granules = c_.kl / c_.gl;
  tap_.elements(granules, taps_.data());
  const auto gl = static_cast<std::uint32_t>(c_.gl);
  for (int j = 0; j < granules; ++j) {
    const PosTap::Tap& tap = taps_[static_cast<std::size_t>(j)];
    const auto first = static_cast<std::uint32_t>(j) * gl;
    std::uint32_t mask = low_ones(k_rem_ > first ? std::min(k_rem_ - first, gl) : 0);
    if (tap.first_cg) mask &= ~low_ones(lo_);
    if (tap.last_cg) mask &= low_ones(hi_);
    elements_.set(j, tap, repeat(mask, c_.gl));
  }
}

// Sites from `site` on: the first `count` of `many`, each with `one`. A pixel is inside if
// 0 <= y < h and 0 <= x < w for 16-bit two's complement y, x.
void Gather::cross(const Places& many, int count, const Places& one, int index, int site) {
  const auto i = static_cast<std::size_t>(index);
  const std::uint32_t addr = one.addr[i], mask = one.mask[i];
  const std::uint16_t y = one.y[i], x = one.x[i];
  const std::uint16_t h = std::min<std::uint16_t>(h_, 0x8000),
                      w = std::min<std::uint16_t>(w_, 0x8000);
  std::uint32_t* out_addr = &site_addr_[static_cast<std::size_t>(site)];
  std::uint32_t* out_mask = &site_mask_[static_cast<std::size_t>(site)];
  const std::uint32_t* in_addr = many.addr.data();
  const std::uint32_t* in_mask = many.mask.data();
  const std::uint16_t* in_y = many.y.data();
  const std::uint16_t* in_x = many.x.data();
  for (int k = 0; k < count; ++k) {
    const bool inside = (static_cast<std::uint16_t>(in_y[k] + y) < h) &
                        (static_cast<std::uint16_t>(in_x[k] + x) < w);
    out_addr[k] = in_addr[k] + addr;
    out_mask[k] = in_mask[k] & mask & (0U - static_cast<std::uint32_t>(inside));
  }
}

void Gather::locate() {
  if (rows_known_ && elements_known_) return;
  if (!rows_known_) locate_rows();
  if (!elements_known_) locate_elements();
  rows_known_ = elements_known_ = true;
  if (mode_ != 0 && c_.kl > 1) {
    int site = 0;
    for (const Run& run : runs_) {
      cross(elements_, c_.kl, rows_, run.first, site);
      site += c_.kl;
    }
  } else if (c_.kl == c_.gl) {
    cross(rows_, c_.t, elements_, 0, 0);
  } else {
    const int granules = c_.kl / c_.gl;
    for (int r = 0; r < c_.t; ++r) cross(elements_, granules, rows_, r, r * granules);
  }
}

const std::uint64_t* Gather::beat(const OperandMemory& memory, std::uint8_t bits) {
  locate();
  std::fill(data_.begin(), data_.end(), 0);
  const int first_row = groups_ > 1 ? grp_ * c_.b : 0;
  const int planes = std::clamp(bits - plane_, 0, planes_per_beat_);
  if (mode_ == 0 || c_.kl == 1) {
    if (c_.kl == c_.gl) {
      runs(memory, first_row, planes);
    } else {
      granules(memory, first_row, planes);
    }
  } else if (c_.kl <= 8) {
    spread(memory, first_row, planes);
  } else {
    turn(memory, first_row, planes);
  }
  return data_.data();
}

// Mode N, several granules of 16 lanes in a word of the array.
void Gather::granules(const OperandMemory& memory, int first_row, int planes) {
  const auto count = static_cast<std::size_t>(c_.kl / 16);
  const std::size_t row_bytes = static_cast<std::size_t>(planes_per_beat_) * count * 2;
  auto* out = reinterpret_cast<unsigned char*>(data_.data());
  const std::uint32_t* addr = &site_addr_[static_cast<std::size_t>(first_row) * count];
  const std::uint32_t* mask = &site_mask_[static_cast<std::size_t>(first_row) * count];
  for (int r = 0; r < rows_per_beat_; ++r, addr += count, mask += count, out += row_bytes) {
    unsigned char* to = out;
    for (int p = 0; p < planes; ++p) {
      const std::uint32_t plane = plane_ + static_cast<std::uint32_t>(p);
      for (std::size_t j = 0; j < count; ++j, to += 2) {
        const auto word = static_cast<std::uint16_t>(memory.word16(addr[j] + plane) & mask[j]);
        std::memcpy(to, &word, 2);
      }
    }
  }
}

// Mode N, a word of the array is a word of the buffer: the planes of a row follow each other in
// both. Also mode T with one lane, where the bit of the word is its only one.
void Gather::runs(const OperandMemory& memory, int first_row, int planes) {
  const auto gl = static_cast<std::uint32_t>(c_.gl);
  const int step = std::min(planes_per_beat_, 32 / c_.gl);
  for (int r = 0; r < rows_per_beat_; ++r) {
    const auto site = static_cast<std::size_t>(first_row + r);
    const std::uint32_t mask = site_mask_[site];
    if (mask == 0) continue;
    const std::uint32_t address = site_addr_[site] + plane_;
    for (int p = 0; p < planes; p += step) {
      const auto count = static_cast<std::uint32_t>(std::min(step, planes - p));
      const std::uint64_t run = memory.run(address + static_cast<std::uint32_t>(p), count) & mask;
      const auto at = static_cast<std::uint32_t>(r * planes_per_beat_ + p) * gl;
      data_[at / 64] |= run << (at % 64);
    }
  }
}

// Mode T, few lanes (kl = gl <= 8): bit g of every plane's word, for a lane at once.
void Gather::spread(const OperandMemory& memory, int first_row, int planes) {
  const int kl = c_.kl;
  const int step = std::min(planes_per_beat_, 32 / kl);
  const std::uint32_t ones = repeat(1, kl);
  std::array<std::uint32_t, 8> lane{};
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const int from = std::max(runs_[i].first, first_row);
    const int to = std::min(runs_[i].first + runs_[i].count, first_row + rows_per_beat_);
    if (from >= to) continue;
    const std::size_t site = i * static_cast<std::size_t>(kl);
    for (int p = 0; p < planes; p += step) {
      const auto count = static_cast<std::uint32_t>(std::min(step, planes - p));
      const std::uint32_t plane = plane_ + static_cast<std::uint32_t>(p);
      for (std::size_t l = 0; l < static_cast<std::size_t>(kl); ++l) {
        lane[l] = memory.run(site_addr_[site + l] + plane, count) & site_mask_[site + l];
      }
      for (int r = from; r < to; ++r) {
        const unsigned bit = row_bit_[static_cast<std::size_t>(r)] & 7U;
        std::uint64_t words = 0;
        for (std::size_t l = 0; l < static_cast<std::size_t>(kl); ++l) {
          words |= (lane[l] >> bit & ones) << l;
        }
        const auto at = static_cast<unsigned>(((r - first_row) * planes_per_beat_ + p) * kl);
        data_[at / 64] |= words << (at % 64);
      }
    }
  }
}

// Mode T, many lanes: the words of 8 lanes are a bit matrix that is turned.
void Gather::turn(const OperandMemory& memory, int first_row, int planes) {
  const auto kl = static_cast<std::size_t>(c_.kl);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    Run run = runs_[i];
    const int end = std::min(run.first + run.count, first_row + rows_per_beat_);
    run.first = std::max(run.first, first_row);
    run.count = end - run.first;
    if (run.count <= 0) continue;
    const std::uint32_t* addr = &site_addr_[i * kl];
    const std::uint32_t* mask = &site_mask_[i * kl];
    for (int p = 0; p < planes; ++p) {
      const std::uint32_t plane = plane_ + static_cast<std::uint32_t>(p);
      for (std::size_t l = 0; l < kl; ++l) {
        const std::uint32_t word = memory.word16(addr[l] + plane) & mask[l];
        low_[l] = static_cast<std::uint8_t>(word);
        high_[l] = static_cast<std::uint8_t>(word >> 8U);
      }
      turn_rows(run, first_row, p);
    }
  }
}

// Bit row_bit_ of every lane becomes the word of its row.
void Gather::turn_rows(const Run& run, int first_row, int plane) {
  auto* out = reinterpret_cast<unsigned char*>(data_.data());
  for (int half = 0; half < 2; ++half) {
    const std::vector<std::uint8_t>& bytes = half == 0 ? low_ : high_;
    int from = run.first;  // the first row of this half
    const int end = run.first + run.count;
    while (from < end && row_bit_[static_cast<std::size_t>(from)] / 8 != half) ++from;
    if (from == end) continue;
    for (int block = 0; block < c_.kl / 8; ++block) {
      std::uint64_t matrix = 0;
      std::memcpy(&matrix, &bytes[static_cast<std::size_t>(block) * 8], 8);
      matrix = transpose8(matrix);
      for (int r = from; r < end; ++r) {
        const unsigned bit = row_bit_[static_cast<std::size_t>(r)];
        if (static_cast<int>(bit / 8) != half) continue;
        const int word = (r - first_row) * planes_per_beat_ + plane;
        out[word * (c_.kl / 8) + block] = static_cast<unsigned char>(matrix >> (8 * (bit % 8)));
      }
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
