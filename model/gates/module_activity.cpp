#include "model/gates/module_activity.hpp"

#include <algorithm>
#include <cmath>

#include "model/gates/popcount.hpp"

namespace bitcycle {
namespace {

std::uint64_t low_mask(std::size_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::size_t words64(std::size_t bits) { return (bits + 63) / 64; }

std::size_t product(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

}  // namespace

// ------------------------------------------------------------------ FeatureList
std::size_t FeatureList::add_count(const std::string& name, const std::string& description) {
  if (names_.empty() && name != "cycle") add_count("cycle", "1: clock, and registers that hold");
  names_.push_back(name);
  descriptions_.push_back(description);
  counts_.push_back(names_.size() == 1 ? 1.0 : 0.0);
  groups_.emplace_back();
  return names_.size() - 1;
}

std::size_t FeatureList::add_bits(const std::string& name, const std::string& description,
                                  std::size_t bits) {
  const std::size_t feature = add_count(name, "changed bits of " + description);
  groups_[feature].now.assign(std::max<std::size_t>(1, words64(bits)), 0);
  groups_[feature].before = groups_[feature].now;
  return feature;
}

void FeatureList::finish() {
  for (std::size_t i = 1, n = names_.size(); i < n; ++i) {
    names_.push_back("sqrt_" + names_[i]);
    descriptions_.push_back("square root of " + names_[i] + ", cycle by cycle");
  }
}

bool FeatureList::copy(std::size_t feature, const std::uint64_t* words) {
  auto& now = groups_[feature].now;
  if (std::equal(now.begin(), now.end(), words)) return false;
  std::copy_n(words, now.size(), now.begin());
  return true;
}

void FeatureList::write(double* features) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& g = groups_[i];
    if (g.now.empty()) continue;
    int bits = 0;
    for (std::size_t w = 0; w < g.now.size(); ++w) {
      if (g.now[w] == g.before[w]) continue;
      bits += changed_bits(g.now[w], g.before[w]);
      g.before[w] = g.now[w];
    }
    counts_[i] = bits;
  }
  features = std::copy(counts_.begin(), counts_.end(), features);
  for (std::size_t i = 1; i < counts_.size(); ++i) {
    *features++ = counts_[i] == 0.0 ? 0.0 : std::sqrt(counts_[i]);
  }
}

// ------------------------------------------------------------------ bc_acc
AccFlush acc_flush(const AccPins& p, const ArrayConfig& config, int g) {
  const auto ac_w = static_cast<std::size_t>(config.ac_w);
  const std::uint64_t mask = low_mask(static_cast<std::size_t>(config.acc_w));
  AccFlush f;
  const int sel = g > 1 ? p.index % (1 << (32 - __builtin_clz(static_cast<unsigned>(g - 1)))) : 0;
  const bool hit = g > 1 ? sel < g : p.index == 0;
  f.ours = p.flush && hit && (p.en >> sel & 1U) != 0;
  f.raw = hit || g == 1 ? get_bits(p.sum.data(), product(sel, config.ac_w), ac_w) : 0;
  const auto unused = static_cast<unsigned>(64 - config.ac_w);
  const auto extended =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(f.raw << unused) >> unused);
  f.addend = extended << (8U * p.shift) & mask;
  f.old = p.acc[(p.bank ? g : 0) + sel % g];
  f.base = p.load ? 0 : f.old;
  f.total = (f.base + f.addend) & mask;
  const std::uint64_t sign = std::uint64_t{1} << (config.acc_w - 1);
  f.overflow = f.ours && (~(f.base ^ f.addend) & (f.total ^ f.base) & sign) != 0;
  return f;
}

AccActivity::AccActivity(const ArrayConfig& config, int g, int rd)
    : config_(config), g_(g), rd_(rd), read_(words64(product(rd, config.acc_w)), 0) {
  std::size_t i = 0;
  f_[i++] = list_.add_count("flush", "1 if a sum is added to a register");
  f_[i++] = list_.add_count("flush_seen", "1 if a sum is added to a register of any group");
  f_[i++] = list_.add_bits("flush_control", "flush, load, bank and shift", 64);
  f_[i++] = list_.add_bits("index", "the index of the flush", 64);
  f_[i++] = list_.add_bits("read_control", "read bank and index", 64);
  f_[i++] = list_.add_bits("enables", "the enables of the group's PEs", product(g, 1));
  f_[i++] = list_.add_bits("sums", "the sums of all PEs of the group", product(g, config.ac_w));
  f_[i++] = list_.add_bits("sum", "the selected sum", 64);
  f_[i++] = list_.add_bits("addend", "the shifted sum", 64);
  f_[i++] = list_.add_bits("old", "the register that the bank and index select", 64);
  f_[i++] = list_.add_bits("base", "that register, or 0 where the flush loads", 64);
  f_[i++] = list_.add_bits("carries", "the carries of the addition", 64);
  f_[i++] = list_.add_bits("total", "the new value", 64);
  f_[i++] = list_.add_bits("registers", "the registers", product(2 * g, 64));
  f_[i++] = list_.add_bits("read", "the read port", product(rd, config.acc_w));
  if (g > 1)
    f_[i++] = list_.add_bits("sum_tree", "the halves of the multiplexer of sums", product(g, 64));
  if (g > 1 && rd == 1)
    f_[i++] = list_.add_bits("read_tree", "the halves of the read multiplexer", product(g, 64));
  list_.finish();
}

void AccActivity::step(const AccPins& p, double* features) {
  const AccFlush flush = acc_flush(p, config_, g_);
  overflow_ = flush.overflow;
  const auto width = static_cast<std::size_t>(config_.acc_w);
  const std::uint64_t* bank = p.acc + (p.rd_bank ? g_ : 0);
  if (rd_ == 1) {
    read_[0] = bank[p.rd_index % g_];
  } else {
    for (int r = 0; r < rd_; ++r) put_bits(read_.data(), product(r, config_.acc_w), width, bank[r]);
  }

  std::size_t i = 0;
  list_.count(f_[i++], flush.ours ? 1.0 : 0.0);
  list_.count(f_[i++], p.flush ? 1.0 : 0.0);
  list_.set(f_[i++], (p.flush ? 1U : 0U) | (p.load ? 2U : 0U) | (p.bank ? 4U : 0U) | p.shift * 8U);
  list_.set(f_[i++], p.index);
  list_.set(f_[i++], (p.rd_bank ? 1U : 0U) | std::uint64_t{p.rd_index} << 8U);
  list_.set(f_[i++], p.en);
  list_.copy(f_[i++], p.sum.data());
  list_.set(f_[i++], flush.raw);
  list_.set(f_[i++], flush.addend);
  list_.set(f_[i++], flush.old);
  list_.set(f_[i++], flush.base);
  list_.set(f_[i++], flush.base ^ flush.addend ^ flush.total);
  list_.set(f_[i++], flush.total);
  list_.copy(f_[i++], p.acc);
  list_.copy(f_[i++], read_.data());
  if (g_ > 1) {
    std::uint64_t* tree = list_.bits(f_[i++]);
    for (int r = 0; r < g_; r += 2) {
      tree[r / 2] = get_bits(p.sum.data(), product(std::min(r + p.index % 2, g_ - 1), config_.ac_w),
                             static_cast<std::size_t>(config_.ac_w));
    }
  }
  if (g_ > 1 && rd_ == 1) {
    // What a multiplexer tree holds after its first level: one of every two registers.
    std::uint64_t* tree = list_.bits(f_[i++]);
    for (int r = 0; r < 2 * g_; r += 2)
      tree[r / 2] = p.acc[std::min(r + p.rd_index % 2, 2 * g_ - 1)];
  }
  list_.write(features);
}

// ------------------------------------------------------------------ bc_chunk
ChunkActivity::ChunkActivity(const ArrayConfig& config, bool is_a)
    : kl_(config.kl),
      radix_(is_a ? config.ra : config.rw),
      planes_(is_a ? (config.ba >= config.tm ? config.ba / config.tm : 1)
                   : (config.bw >= config.tn ? config.bw / config.tn : 1)),
      p_max_(config.p_max),
      words_(words64(static_cast<std::size_t>(config.kl))),
      chunk_(product(2 * p_max_, 1) * words_, 0) {
  std::size_t i = 0;
  f_[i++] = list_.add_count("write", "1 if planes are written");
  f_[i++] = list_.add_count("select", "1 if the operand register is enabled");
  f_[i++] = list_.add_bits("write_control", "write, bank, plane and operand bits", 64);
  f_[i++] = list_.add_bits("select_control", "select, bank, digit, bits and sign", 64);
  f_[i++] = list_.add_bits("data", "the written words", product(planes_, kl_));
  f_[i++] = list_.add_bits("lanes", "the lane enables", product(kl_, 1));
  f_[i++] = list_.add_bits("masked", "the words of enabled lanes", product(planes_, kl_));
  f_[i++] = list_.add_count("chunk", "changed bits of the chunk registers");
  f_[i++] = list_.add_count("tree", "changed bits inside the read multiplexers");
  f_[i++] = list_.add_bits("selected", "the selected digits", product(kl_, radix_));
  f_[i++] = list_.add_bits("digit", "the operand register", product(kl_, radix_));
  list_.finish();
}

int ChunkActivity::changed_chunk(const std::uint64_t* chunk) {
  int changes = 0;
  for (std::uint64_t& word : chunk_) {
    const std::uint64_t now = *chunk++;
    if (now == word) continue;
    changes += changed_bits(now, word);
    word = now;
  }
  return changes;
}

// Nodes of the read multiplexers: all levels below the last, for every plane of the digit.
int ChunkActivity::changed_tree(const ChunkPins& p) {
  int changes = 0;
  std::size_t node = 0;
  for (int x = 0; x < radix_; ++x) {
    const unsigned address =
        static_cast<unsigned>((p.bank ? p_max_ : 0) + p.digit * radix_ + x) & 63U;
    level_ = chunk_;
    for (unsigned bit = 0; level_.size() > 2 * words_; ++bit) {
      // In place: every node is written where it, or one before it, was read.
      std::size_t size = 0;
      for (std::size_t n = 0; n < level_.size(); n += 2 * words_) {
        const std::size_t at = n + ((address >> bit & 1U) != 0 ? words_ : 0);
        for (std::size_t w = 0; w < words_; ++w) {
          level_[size++] = at + w < level_.size() ? level_[at + w] : 0;
        }
      }
      level_.resize(size);
      if (tree_.size() < node + size) tree_.resize(node + size, 0);
      for (const std::uint64_t now : level_) {
        std::uint64_t& before = tree_[node++];
        if (now == before) continue;
        changes += changed_bits(now, before);
        before = now;
      }
    }
  }
  return changes;
}

void ChunkActivity::mask(const ChunkPins& p, std::uint64_t* masked) const {
  const auto kl = static_cast<std::size_t>(kl_);
  for (int w = 0; w < planes_; ++w) {
    for (std::size_t at = 0; at < kl; at += 64) {
      const std::size_t width = std::min<std::size_t>(64, kl - at);
      const std::size_t bit = product(w, kl_) + at;
      put_bits(masked, bit, width, get_bits(p.data.data(), bit, width) & p.lane_en[at / 64]);
    }
  }
}

void ChunkActivity::select(const ChunkPins& p, std::uint64_t* selected) const {
  const auto kl = static_cast<std::size_t>(kl_);
  std::fill_n(selected, words64(product(kl_, radix_)), 0);
  for (int x = 0; x < radix_; ++x) {
    int plane = p.digit * radix_ + x;
    if (plane >= p.bits) {
      if (!p.is_signed || p.bits == 0) continue;
      plane = p.bits - 1;
    }
    const std::uint64_t* lanes = p.chunk + product((p.bank ? p_max_ : 0) + plane, 1) * words_;
    for (std::size_t l = 0; l < kl; ++l) {
      if ((lanes[l / 64] >> l % 64 & 1U) == 0) continue;
      const std::size_t at = l * static_cast<std::size_t>(radix_) + static_cast<std::size_t>(x);
      selected[at / 64] |= std::uint64_t{1} << at % 64;
    }
  }
}

void ChunkActivity::step(const ChunkPins& p, double* features) {
  std::size_t i = 0;
  list_.count(f_[i++], p.we ? 1.0 : 0.0);
  list_.count(f_[i++], p.sel ? 1.0 : 0.0);
  list_.set(f_[i++], (p.we ? 1U : 0U) | (p.wr_bank ? 2U : 0U) | std::uint64_t{p.plane} << 8U |
                         std::uint64_t{p.bits} << 16U);
  const std::uint32_t address = (p.bank ? 2U : 0U) | (p.is_signed ? 4U : 0U) |
                                std::uint32_t{p.digit} << 8U | std::uint32_t{p.bits} << 16U;
  list_.set(f_[i++], (p.sel ? 1U : 0U) | address);
  const bool data = list_.copy(f_[i++], p.data.data());
  const bool lanes = list_.copy(f_[i++], p.lane_en.data());
  std::uint64_t* masked = list_.bits(f_[i++]);
  if (data || lanes) mask(p, masked);
  const int chunk = changed_chunk(p.chunk);
  const bool read = chunk != 0 || address != address_;
  address_ = address;
  list_.count(f_[i++], chunk);
  list_.count(f_[i++], read ? changed_tree(p) : 0);
  std::uint64_t* selected = list_.bits(f_[i++]);
  if (read) select(p, selected);
  list_.copy(f_[i++], p.digit_q);
  list_.write(features);
}

// ------------------------------------------------------------------ bc_fill
FillActivity::FillActivity(const ArrayConfig& config, bool is_a) {
  const std::size_t bits = product(is_a ? config.ba : config.bw, config.kl);
  std::size_t i = 0;
  f_[i++] = list_.add_count("load", "1 if a beat is taken");
  f_[i++] = list_.add_count("write", "1 if a beat is written to chunk registers");
  f_[i++] = list_.add_bits("inputs", "start, bits, valid, last chunk and freed banks", 64);
  f_[i++] = list_.add_bits("data", "the words on the input", bits);
  f_[i++] = list_.add_bits("beat", "the beat register", bits);
  f_[i++] = list_.add_bits("state", "control registers", 64);
  f_[i++] = list_.add_bits("rows", "the row selects", 64);
  list_.finish();
}

void FillActivity::step(const FillPins& p, double* features) {
  std::size_t i = 0;
  list_.count(f_[i++], p.ready && p.valid ? 1.0 : 0.0);
  list_.count(f_[i++], p.we ? 1.0 : 0.0);
  list_.set(f_[i++], (p.start ? 1U : 0U) | (p.valid ? 2U : 0U) | (p.last_chunk ? 4U : 0U) |
                         p.free * 8U | std::uint64_t{p.bits} << 8U);
  list_.copy(f_[i++], p.data);
  list_.copy(f_[i++], p.in_data);
  list_.set(f_[i++], (p.bank ? 1U : 0U) | (p.filling ? 2U : 0U) | (p.in_valid ? 4U : 0U) |
                         p.full * 8U | std::uint64_t{p.plane} << 8U | std::uint64_t{p.grp} << 16U |
                         std::uint64_t{p.ready} << 32U | std::uint64_t{p.chunk_done} << 33U);
  list_.set(f_[i++], p.row_sel);
  list_.write(features);
}

// ------------------------------------------------------------------ bc_tile_walker
WalkerActivity::WalkerActivity(const ArrayConfig& config)
    : tm_(static_cast<std::uint32_t>(config.tm)),
      tn_(static_cast<std::uint32_t>(config.tn)),
      kl_(static_cast<std::uint32_t>(config.kl)) {
  std::size_t i = 0;
  f_[i++] = list_.add_count("load", "1 if a descriptor starts");
  f_[i++] = list_.add_count("step", "1 if it goes to the next chunk");
  f_[i++] = list_.add_bits("inputs", "load, step, M, N and K", 192);
  f_[i++] = list_.add_bits("rests", "the remaining M, N and K", 192);
  f_[i++] = list_.add_bits("differences", "those less a tile and a chunk", 192);
  f_[i++] = list_.add_bits("flags", "first and last chunk, last tile", 64);
  f_[i++] = list_.add_bits("row_enables", "the row enables", 64);
  f_[i++] = list_.add_bits("col_enables", "the column enables", 64);
  f_[i++] = list_.add_bits("lane_enables", "the lane enables", 256);
  list_.finish();
}

void WalkerActivity::step(const WalkerPins& p, double* features) {
  const auto three = [&](std::size_t feature, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    std::uint64_t* words = list_.bits(feature);
    words[0] = a;
    words[1] = b;
    words[2] = c;
  };
  std::size_t i = 0;
  list_.count(f_[i++], p.load ? 1.0 : 0.0);
  list_.count(f_[i++], p.step ? 1.0 : 0.0);
  three(f_[i++], p.m | std::uint64_t{p.load} << 32U, p.n | std::uint64_t{p.step} << 32U, p.k);
  three(f_[i++], p.m_rem, p.n_rem, p.k_rem);
  three(f_[i++], p.m_rem - tm_, p.n_rem - tn_, p.k_rem - kl_);
  list_.set(f_[i++], (p.first_k ? 1U : 0U) | (p.last_k ? 2U : 0U) | (p.last_tile ? 4U : 0U));
  list_.set(f_[i++], low_mask(std::min(p.m_rem, tm_)));
  list_.set(f_[i++], low_mask(std::min(p.n_rem, tn_)));
  std::uint64_t* lanes = list_.bits(f_[i++]);
  for (std::uint32_t w = 0; w < 4; ++w) {
    const std::uint32_t end = std::min(p.k_rem, kl_);
    lanes[w] = end > 64 * w ? low_mask(end - 64 * w) : 0;
  }
  list_.write(features);
}

// ------------------------------------------------------------------ bc_seq
SeqActivity::SeqActivity(const ArrayConfig& config) : ra_(config.ra), rw_(config.rw) {
  std::size_t i = 0;
  f_[i++] = list_.add_count("digits", "1 if a digit pair is issued");
  f_[i++] = list_.add_count("pass_end", "1 if it is the last of a pass");
  f_[i++] = list_.add_bits("inputs", "start, enable, bits, signs, full banks, position", 64);
  f_[i++] = list_.add_bits("fast", "the fast digit's number", 64);
  f_[i++] = list_.add_bits("slow", "the slow digit's number", 64);
  f_[i++] = list_.add_bits("idles", "the idle cycles that are left", 64);
  f_[i++] = list_.add_bits("flags", "the other registers but the weight's drop", 64);
  f_[i++] = list_.add_bits("drop", "the weight's drop", 64);
  f_[i++] = list_.add_bits("weight", "the weight", 64);
  f_[i++] = list_.add_bits("fast_candidates", "the weights below it", 64);
  f_[i++] = list_.add_bits("outputs", "enables, signs, position", 64);
  list_.finish();
}

void SeqActivity::step(const SeqPins& p, double* features) {
  std::size_t i = 0;
  list_.count(f_[i++], p.digit ? 1.0 : 0.0);
  list_.count(f_[i++], p.digit && p.last ? 1.0 : 0.0);
  list_.set(f_[i++], (p.start ? 1U : 0U) | (p.en ? 2U : 0U) | (p.a_signed ? 4U : 0U) |
                         (p.w_signed ? 8U : 0U) | (p.first_k ? 16U : 0U) | (p.last_k ? 32U : 0U) |
                         (p.last_tile ? 64U : 0U) | std::uint64_t{p.a_bits} << 8U |
                         std::uint64_t{p.w_bits} << 16U | std::uint64_t{p.a_full} << 24U |
                         std::uint64_t{p.w_full} << 28U);
  const auto low = static_cast<unsigned>(std::min(ra_, rw_));
  const auto high = static_cast<unsigned>(std::max(ra_, rw_));
  const unsigned weight = p.f_q * low + p.s_q * high;
  list_.set(f_[i++], p.f_q);
  list_.set(f_[i++], p.s_q);
  list_.set(f_[i++], p.idle_q);
  list_.set(f_[i++], p.flags_q);
  list_.set(f_[i++], p.d);
  list_.set(f_[i++], weight / low);
  std::uint64_t below = 0;
  for (unsigned drop = 1; drop <= 4; ++drop) below = below << 6U | ((weight / low - drop) & 63U);
  list_.set(f_[i++], below);
  list_.set(f_[i++], (p.chunk_done ? 1U : 0U) | (p.digit ? 2U : 0U) | (p.idle ? 4U : 0U) |
                         (p.bank ? 8U : 0U) | (p.a_neg ? 16U : 0U) | (p.w_neg ? 32U : 0U) |
                         (p.first ? 64U : 0U) | (p.last ? 128U : 0U) | std::uint64_t{p.load} << 8U |
                         std::uint64_t{p.tile_last} << 9U | std::uint64_t{p.acc_bank} << 10U |
                         std::uint64_t{p.free} << 12U | std::uint64_t{p.a_digit} << 16U |
                         std::uint64_t{p.w_digit} << 20U | std::uint64_t{p.d} << 24U |
                         std::uint64_t{p.shift} << 28U);
  list_.write(features);
}

// ------------------------------------------------------------------ bc_drain
DrainActivity::DrainActivity(const ArrayConfig& config)
    : q_(config.q),
      acc_w_(config.acc_w),
      rpb_(config.q > config.tn ? config.q / config.tn : 1),
      cpb_(config.q > config.tn ? config.tn : config.q) {
  const int rd = rpb_ > 1 ? config.tm : 1;
  std::size_t i = 0;
  f_[i++] = list_.add_count("beat", "1 if a result beat is read");
  f_[i++] = list_.add_bits("control", "tile done, ready, last tile and outputs", 64);
  f_[i++] = list_.add_bits("row_enables", "the row enables", 64);
  f_[i++] = list_.add_bits("col_enables", "the column enables", 64);
  f_[i++] = list_.add_bits("acc", "the accumulators read", product(config.tn * rd, acc_w_));
  f_[i++] =
      list_.add_bits("sums", "the sums of A and W read", product(config.tn + rd, acc_w_) + 64);
  f_[i++] = list_.add_bits("data", "the result register", product(q_, acc_w_));
  f_[i++] = list_.add_bits("out_sums_a", "the register of sums of A", product(rpb_, acc_w_));
  f_[i++] = list_.add_bits("out_sums_w", "the register of sums of W", product(cpb_, acc_w_));
  list_.finish();
}

void DrainActivity::step(const DrainPins& p, double* features) {
  const bool step = ((p.busy >> (p.rd_bank ? 1U : 0U)) & 1U) != 0 && (!p.valid || p.ready);
  std::size_t i = 0;
  list_.count(f_[i++], step ? 1.0 : 0.0);
  list_.set(f_[i++], p.tile_done | (p.ready ? 4U : 0U) | (p.last_tile ? 8U : 0U) | p.busy * 16U |
                         (p.rd_bank ? 64U : 0U) | (p.tile_read ? 128U : 0U) |
                         std::uint64_t{p.valid} << 8U | std::uint64_t{p.last} << 9U |
                         std::uint64_t{p.rd_row} << 16U);
  list_.set(f_[i++], p.row_en);
  list_.set(f_[i++], p.col_en);
  list_.copy(f_[i++], p.acc.data());
  std::uint64_t* sums = list_.bits(f_[i++]);
  std::copy(p.sum_w.begin(), p.sum_w.end(), sums);
  std::copy(p.sum_a.begin(), p.sum_a.end(), sums + p.sum_w.size());
  list_.copy(f_[i++], p.data);
  list_.copy(f_[i++], p.out_sum_a);
  list_.copy(f_[i++], p.out_sum_w);
  list_.write(features);
}

}  // namespace bitcycle
