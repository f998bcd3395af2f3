#include "model/gates/glue_activity.hpp"

#include <algorithm>
#include <vector>

namespace bitcycle {
namespace {

std::size_t size(int a, int b = 1) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

std::uint64_t bit(bool value, unsigned at) { return std::uint64_t{value} << at; }

// M, N and K, and what else a descriptor has.
void put_descriptor(const RawDescriptor& d, std::uint64_t* words) {
  words[0] = d.m | std::uint64_t{d.n} << 32U;
  words[1] = d.k | std::uint64_t{d.pa} << 32U | std::uint64_t{d.pw} << 40U | bit(d.a_signed, 48) |
             bit(d.w_signed, 49);
}

}  // namespace

GlueActivity::GlueActivity(const ArrayConfig& c)
    : tm_(c.tm), tn_(c.tn), s_(c.s), groups_(c.tm / c.s), reads_(c.q <= c.tn) {
  std::size_t i = 0;
  f_[i++] = list_.add_count("start", "1 if a descriptor starts");
  f_[i++] = list_.add_bits("inputs", "descriptor inputs and handshakes", 192);
  f_[i++] = list_.add_bits("descriptor", "the descriptor's registers", 128);
  f_[i++] = list_.add_bits("sizes", "M, N and K as the walkers get them", 128);
  f_[i++] = list_.add_bits("sequencer", "the sequencer's outputs", 64);
  f_[i++] = list_.add_bits("op", "the operand stage's control registers", 64);
  f_[i++] = list_.add_bits("ac", "the AC stage's control registers", 64);
  f_[i++] = list_.add_bits("flush", "the flush stage's control registers and index", 64);
  f_[i++] = list_.add_bits("stage_enables", "row and column enables of all stages", 8 * 64);
  f_[i++] = list_.add_bits("add_enables", "the PEs' add enables", size(tm_ + 2, 64));
  f_[i++] = list_.add_bits("hold_enables", "the PEs' hold enables", size(tm_ + 2, 64));
  f_[i++] = list_.add_bits("flush_enables", "the accumulators' enables", size(tm_ + 2, 64));
  f_[i++] = list_.add_bits("chunk_enables", "write and select enables of chunk registers", 4 * 64);
  f_[i++] = list_.add_bits("fill", "planes and selects of the fills", 3 * 64);
  f_[i++] = list_.add_bits("events", "the event outputs", 2 * 64);
  if (reads_) {
    f_[i++] = list_.add_bits("read_row", "the row that the drain reads", 64);
    f_[i++] =
        list_.add_bits("read_in", "the accumulators' read ports", size((tn_ + 1) * groups_, 64));
    // All levels of the multiplexers but the last.
    f_[i++] = list_.add_bits("read_tree", "the inner nodes of the read multiplexers",
                             size((tn_ + 1) * groups_, 64));
    f_[i++] = list_.add_bits("read", "what the drain reads", size(tn_ + 1, 64));
  }
  list_.finish();
}

void GlueActivity::step(const GluePins& p, double* features) {
  std::size_t i = 0;
  list_.count(f_[i++], p.start ? 1.0 : 0.0);
  std::uint64_t* inputs = list_.bits(f_[i++]);
  put_descriptor(p.desc, inputs);
  inputs[2] = bit(p.desc_valid, 0) | bit(p.busy, 1) | bit(p.a_valid, 2) | bit(p.w_valid, 3) |
              bit(p.res_ready, 4) | bit(p.res_valid, 5) | bit(p.res_last, 6) | bit(p.start, 7);
  std::uint64_t* held = list_.bits(f_[i++]);
  put_descriptor(p.held, held);
  held[1] |= std::uint64_t{p.cause} << 52U | bit(p.err, 54) | bit(p.overflow, 55);
  std::uint64_t* sizes = list_.bits(f_[i++]);
  const RawDescriptor& taken = p.start ? p.desc : p.held;
  sizes[0] = taken.m | std::uint64_t{taken.n} << 32U;
  sizes[1] = taken.k;
  const SeqPins& s = p.seq;
  list_.set(f_[i++], bit(s.digit, 0) | bit(s.idle, 1) | bit(s.a_neg, 2) | bit(s.w_neg, 3) |
                         bit(s.first, 4) | bit(s.last, 5) | bit(s.load, 6) | bit(s.tile_last, 7) |
                         bit(s.acc_bank, 8) | std::uint64_t{s.a_digit} << 16U |
                         std::uint64_t{s.w_digit} << 24U | std::uint64_t{s.d} << 32U |
                         std::uint64_t{s.shift} << 40U);
  const auto stage = [](const GluePins::Stage& g) {
    return bit(g.valid, 0) | bit(g.load, 1) | bit(g.tile_last, 2) | bit(g.bank, 3) |
           std::uint64_t{g.shift} << 4U;
  };
  list_.set(f_[i++], stage(p.op) | bit(p.pe.first, 8) | bit(p.op_last, 9) | bit(p.pe.a_neg, 10) |
                         bit(p.pe.w_neg, 11) | bit(p.pe.a_one, 12) | bit(p.pe.w_one, 13) |
                         std::uint64_t{p.pe.d} << 16U);
  list_.set(f_[i++], stage(p.ac));
  list_.set(f_[i++], stage(p.fl) | std::uint64_t{p.fl_index} << 8U | bit(p.en, 16) |
                         std::uint64_t{p.tile_done} << 17U);
  step_enables(p, i);
  std::uint64_t* fill = list_.bits(f_[i++]);
  fill[0] = bit(p.a_we, 0) | bit(p.w_we, 1) | std::uint64_t{p.a_plane} << 8U |
            std::uint64_t{p.w_plane} << 16U;
  fill[1] = p.a_sel;
  fill[2] = p.w_sel;
  std::uint64_t* events = list_.bits(f_[i++]);
  const EventPulses& e = p.ev;
  events[0] = bit(e.freeze, 0) | bit(e.add, 1) | bit(e.flush, 2) | std::uint64_t{e.rows} << 8U |
              std::uint64_t{e.cols} << 16U | std::uint64_t{e.flush_rows} << 24U |
              std::uint64_t{e.flush_ones} << 32U | std::uint64_t{e.flush_cols} << 40U;
  events[1] = std::uint64_t{e.a_words} | std::uint64_t{e.w_words} << 16U;
  if (reads_) step_read(p, i);
  list_.write(features);
}

void GlueActivity::step_enables(const GluePins& p, std::size_t& i) {
  const std::uint64_t stages[] = {p.seq_row_en, p.seq_col_en, p.op.row_en, p.op.col_en,
                                  p.ac.row_en,  p.ac.col_en,  p.fl.row_en, p.fl.col_en};
  std::copy(std::begin(stages), std::end(stages), list_.bits(f_[i++]));
  // A word for each row of PEs, then the ones column and the ones row.
  const auto products = [&](std::uint64_t* words, bool on, std::uint64_t rows, std::uint64_t cols) {
    for (int r = 0; r < tm_; ++r) words[r] = on && (rows >> r & 1U) != 0 ? cols : 0;
    words[tm_] = on ? rows : 0;
    words[tm_ + 1] = on ? cols : 0;
  };
  products(list_.bits(f_[i++]), p.pe.add, p.op.row_en, p.op.col_en);
  products(list_.bits(f_[i++]), p.pe.hold, p.ac.row_en, p.ac.col_en);
  products(list_.bits(f_[i++]), true, p.fl.row_en, p.fl.col_en);
  std::uint64_t* chunks = list_.bits(f_[i++]);
  chunks[0] = p.a_sel & p.a_row_en;
  chunks[1] = p.w_sel & p.w_col_en;
  chunks[2] = p.seq.digit ? p.seq_row_en : 0;
  chunks[3] = p.seq.digit ? p.seq_col_en : 0;
}

void GlueActivity::step_read(const GluePins& p, std::size_t& i) {
  list_.set(f_[i++], p.rd_row);
  list_.copy(f_[i++], p.rd.data());
  std::uint64_t* tree = list_.bits(f_[i++]);
  std::uint64_t* read = list_.bits(f_[i++]);
  const auto select = static_cast<unsigned>(p.rd_row / s_);
  std::vector<std::uint64_t> level, next;
  for (int col = 0; col <= tn_; ++col) {
    const auto* first = p.rd.data() + size(col, groups_);
    level.assign(first, first + groups_);
    for (unsigned b = 0; level.size() > 1; ++b) {
      next.clear();
      for (std::size_t n = 0; n < level.size(); n += 2) {
        const std::size_t at = n + (select >> b & 1U);
        next.push_back(at < level.size() ? level[at] : 0);
      }
      level.swap(next);
      if (level.size() > 1) tree = std::copy(level.begin(), level.end(), tree);
    }
    read[col] = level[0];
  }
}

}  // namespace bitcycle
