// What a mapping costs, from the sizes of its blocks alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "model/formula.hpp"
#include "model/machine/output_block.hpp"
#include "model/machine/plan.hpp"

namespace bitcycle {
namespace {

// Pieces of one digit that are alike: `n` long, `count` of them.
struct Piece {
  std::int64_t start = 0, n = 1, count = 1;
  bool first = false;
};

// The pieces of `extent` cut into blocks and these into sub-blocks. Of each kind one stands for
// all; the first and the last piece stand for themselves (parts may be shorter at the end).
struct Pieces {
  std::array<Piece, 6> list;
  std::size_t count = 0;
  const Piece* begin() const { return list.data(); }
  const Piece* end() const { return list.data() + count; }
};

Pieces pieces(std::int64_t extent, std::int64_t block, std::int64_t sub) {
  // Lengths that occur: a whole sub-block, the rest of a block, of the last block, of its rest.
  Pieces out;
  std::array<std::pair<std::int64_t, std::int64_t>, 4> counts{};  // length, number
  std::size_t kinds = 0;
  const auto add = [&](std::int64_t length, std::int64_t number) {
    if (length == 0 || number == 0) return;
    for (std::size_t i = 0; i < kinds; ++i) {
      if (counts[i].first == length) {
        counts[i].second += number;
        return;
      }
    }
    counts[kinds++] = {length, number};
  };
  const std::int64_t whole = extent / block;
  const std::int64_t rest = extent % block;
  add(sub, whole * (block / sub) + rest / sub);
  add(block % sub, whole);
  add(rest % sub, 1);
  const std::int64_t first = std::min({sub, block, extent});
  const std::int64_t last_block = (extent - 1) / block * block;
  const std::int64_t last = last_block + (extent - last_block - 1) / sub * sub;
  out.list[out.count++] = {0, first, 1, true};
  add(first, -1);
  if (last != 0) {
    out.list[out.count++] = {last, extent - last, 1, false};
    add(extent - last, -1);
  }
  for (std::size_t i = 0; i < kinds; ++i) {
    if (counts[i].second > 0) {
      out.list[out.count++] = {sub, counts[i].first, counts[i].second, false};
    }
  }
  return out;
}

struct RangePiece {
  Range3 range;
  std::uint64_t count = 1;
  bool first = false;
};

std::vector<RangePiece> range_pieces(const Index3& extent, const Index3& block, const Index3& sub) {
  std::vector<RangePiece> out;
  const auto p0 = pieces(extent[0], block[0], sub[0]);
  const auto p1 = pieces(extent[1], block[1], sub[1]);
  const auto p2 = pieces(extent[2], block[2], sub[2]);
  for (const Piece& a : p0) {
    for (const Piece& b : p1) {
      for (const Piece& c : p2) {
        RangePiece r;
        r.range.start = {a.start, b.start, c.start};
        r.range.n = {a.n, b.n, c.n};
        r.count = static_cast<std::uint64_t>(a.count * b.count * c.count);
        r.first = a.first && b.first && c.first;
        out.push_back(r);
      }
    }
  }
  return out;
}

bool alike(const GemmPart& a, const GemmPart& b) {
  const auto same = [](const OperandMap& x, const OperandMap& y) {
    return x.br == y.br && x.own_lanes == y.own_lanes;
  };
  return a.rows == b.rows && a.cols == b.cols && a.ks == b.ks && same(a.first, b.first) &&
         same(a.second, b.second);
}

}  // namespace

std::vector<PartClass> part_classes(const std::vector<GemmPart>& parts) {
  std::vector<PartClass> out;
  for (const GemmPart& p : parts) {
    auto it =
        std::find_if(out.begin(), out.end(), [&](const PartClass& c) { return alike(c.part, p); });
    if (it == out.end()) {
      out.push_back({p, 1});
    } else {
      ++it->count;
    }
  }
  return out;
}

namespace {

std::uint64_t u64(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// Loads of an operand in one unit: it stays while its block does not change.
std::uint64_t loads(bool outer, std::uint64_t mine, std::uint64_t other, std::uint64_t ks) {
  if (ks > 1) return mine * other * ks;
  return outer || mine == 1 ? mine : mine * other;
}

void check_size(const char* what, const Index3& size, const Index3& most,
                const std::array<bool, 3>& may_split, std::string& refused) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (size[d] < 1 || size[d] > most[d]) {
      refused = fmt::format("{}: digit {} is {}, allowed 1 to {}", what, d, size[d], most[d]);
    } else if (!may_split[d] && size[d] != most[d]) {
      refused =
          fmt::format("{}: digit {} is {}, cannot be split here ({})", what, d, size[d], most[d]);
    }
  }
}

// Codes: lines and granules must be cut at beats and granules.
void check_output_cuts(const GemmProblem& p, const GemmPart& part, const Mapping& m,
                       std::string& refused) {
  if (p.out.form != OutputForm::kCodes) return;
  const bool lanes_first = part.out.lanes_of_first;
  const OperandMap& place = lanes_first ? part.second : part.first;
  const OperandMap& lane = lanes_first ? part.first : part.second;
  const auto wpb = static_cast<std::int64_t>(p.result.words_per_beat());
  const std::int64_t step = place.transposed ? place.br : part.out.x.own[2];
  const auto cuts = [&](const Index3& block, const Index3& extent, bool is_place) {
    if (block[2] == extent[2]) return true;
    return is_place ? block[2] * step * p.result.bits % wpb == 0
                    : lane.transposed || block[2] % p.config.gl == 0;
  };
  const auto both = [&](const Index3& block, const Index3& sub, const Index3& extent,
                        bool is_place) {
    return cuts(block, extent, is_place) && cuts(sub, extent, is_place) &&
           (is_place || sub[2] == extent[2] || lane.transposed || sub[2] % p.config.gl == 0);
  };
  if (!both(m.rows, m.sub_rows, p.rows(), !lanes_first)) {
    refused = "rows: blocks of codes must end at a whole beat (along x) or granule";
  }
  if (!both(m.cols, m.sub_cols, p.cols(), lanes_first)) {
    refused = "cols: blocks of codes must end at a whole beat (along x) or granule";
  }
  const bool linear = place.transposed && place.own_lanes > place.br;
  if (linear && (lanes_first ? m.cols : m.rows)[1] != (lanes_first ? p.cols() : p.rows())[1]) {
    refused = "codes: taps along the position";
  }
}

struct ArrayTime {
  std::uint64_t once = 0, cc = 0, dr = 0, p = 0;

  ArrayTime(const ArrayConfig& c, Precision pa, Precision pw) {
    const GemmTiming t = gemm_timing(c, {{1, 1, 1}, pa, pw});
    once = t.cycles - t.p;
    cc = t.cc;
    dr = t.dr;
    p = t.p;
  }
  std::uint64_t cycles(std::uint64_t tiles, std::uint64_t kc) const {
    return once + p + (kc - 1) * cc + (tiles - 1) * std::max(kc * cc, dr);
  }
};

}  // namespace

PlanCheck check_mapping(const GemmProblem& p, const Mapping& m, BoxCache* cache) {
  PlanCheck check;
  std::string& refused = check.refused;
  const Index3 rows = p.rows(), cols = p.cols(), ks = p.ks();
  check_size("rows", m.rows, rows, p.split_rows, refused);
  check_size("cols", m.cols, cols, p.split_cols, refused);
  check_size("reduction", m.ks, ks, p.split_ks, refused);
  check_size("sub-block of rows", m.sub_rows, m.rows, {true, true, true}, refused);
  check_size("sub-block of cols", m.sub_cols, m.cols, {true, true, true}, refused);
  if (!refused.empty()) return check;
  for (std::size_t d = 0; d < 3; ++d) {
    if ((!p.split_rows[d] && m.sub_rows[d] != rows[d]) ||
        (!p.split_cols[d] && m.sub_cols[d] != cols[d])) {
      refused = "sub-block: cuts what parts share";
      return check;
    }
  }
  const std::vector<GemmPart>& parts = p.first_unit();
  check_output_cuts(p, parts.front(), m, refused);
  if (m.exchange && p.out.form == OutputForm::kCodes && p.out.q.rounding == Rounding::kStochastic) {
    refused = "exchange: the random numbers of stochastic rounding count along the rows";
  }
  if (!refused.empty()) return check;

  PlanCost& cost = check.cost;
  const MachineConfig& c = p.config;
  const BlockGrid grid_r{rows, m.rows}, grid_c{cols, m.cols}, grid_k{ks, m.ks};
  const std::uint64_t nr = u64(grid_r.count()), nc = u64(grid_c.count()), nk = u64(grid_k.count());
  const int first_depth = m.exchange ? c.l1w_d : c.l1a_d;
  const int second_depth = m.exchange ? c.l1a_d : c.l1w_d;
  const bool first_stays =
      stays_resident(p.units * nr * nk, box_totals(p, parts, true, m.rows, m.ks, cache).most,
                     static_cast<std::uint64_t>(first_depth));
  const bool second_stays =
      stays_resident(p.units * nc * nk, box_totals(p, parts, false, m.cols, m.ks, cache).most,
                     static_cast<std::uint64_t>(second_depth));
  const std::uint64_t first_loads = first_stays ? nr * nk : loads(!m.cols_outer, nr, nc, nk);
  const std::uint64_t second_loads = second_stays ? nc * nk : loads(m.cols_outer, nc, nr, nk);
  const ArrayTime time(c.array, m.exchange ? p.pw : p.pa, m.exchange ? p.pa : p.pw);
  const auto tm = static_cast<std::uint64_t>(c.array.tm);
  const auto tn = static_cast<std::uint64_t>(c.array.tn);
  const auto kl = static_cast<std::uint64_t>(c.array.kl);
  const std::uint64_t overhead = static_cast<std::uint64_t>(c.setup_cycles()) + 5;
  const auto pieces_r = range_pieces(rows, m.rows, m.sub_rows);
  const auto pieces_c = range_pieces(cols, m.cols, m.sub_cols);
  const auto pieces_k = range_pieces(ks, m.ks, m.ks);
  const std::uint64_t lanes_k = p.k_granules ? static_cast<std::uint64_t>(c.gl) : 1;
  std::uint64_t outputs = 0;

  // Exec instructions of `count` output sub-blocks that are alike.
  const auto add_execs = [&](const std::vector<PartClass>& classes, const RangePiece& r,
                             const RangePiece& q, std::uint64_t count) {
    struct Active {
      const PartClass* k;
      std::uint64_t a, b, tiles_a, tiles_b, tiles;
      bool never;
    };
    std::vector<Active> active;
    for (const PartClass& k : classes) {
      const Range3 own_r = clipped(r.range, k.part.rows);
      const Range3 own_c = clipped(q.range, k.part.cols);
      if (is_empty(own_r) || is_empty(own_c)) continue;
      const std::uint64_t a = own_count(k.part.first, own_r.start, own_r.n);
      const std::uint64_t b = own_count(k.part.second, own_c.start, own_c.n);
      const std::uint64_t tiles_a = ceil_div(a, m.exchange ? tn : tm);
      const std::uint64_t tiles_b = ceil_div(b, m.exchange ? tm : tn);
      active.push_back(
          {&k, a, b, tiles_a, tiles_b, tiles_a * tiles_b, k.part.ks[0] == 0 || k.part.ks[1] == 0});
    }
    for (const RangePiece& piece : pieces_k) {
      const Index3& s = piece.range.start;
      bool last = true;
      for (std::size_t d = 0; d < 3; ++d) last = last && s[d] + piece.range.n[d] == ks[d];
      const bool initial = piece.first;
      const auto add = [&](const Active& x, std::uint64_t parts_alike, std::uint64_t length) {
        const std::uint64_t all = count * parts_alike * piece.count;
        const std::uint64_t kc = ceil_div(length, kl);
        cost.execs += all;
        cost.exec_cycles += all * (time.cycles(x.tiles, kc) + overhead);
        cost.macs_issued += all * x.a * x.b * length;
        cost.macs_padded += all * x.tiles * tm * tn * kc * kl;
        cost.pe_chunks += all * kc * x.a * x.b;
        cost.first_chunks += all * kc * x.a * x.tiles_b;
        cost.second_chunks += all * kc * x.b * x.tiles_a;
        cost.tile_chunks += all * kc * x.tiles;
        cost.results += all * x.a * x.b;
        if (nk == 1 || x.never) return;
        if (!initial) cost.psb_read += all * x.tiles * time.dr;
        if (!last) cost.psb_written += all * x.tiles * time.dr;
      };
      const Active* filler = nullptr;
      bool any = false;
      for (const Active& x : active) {
        const Range3 range = clipped(piece.range, x.k->part.ks);
        const bool idle = x.never || is_empty(range);
        if (idle && !last) {
          if (!x.never && filler == nullptr) filler = &x;
          continue;
        }
        any = true;
        add(x, x.k->count, idle ? 1 : u64(range.n[0] * range.n[1] * range.n[2]) * lanes_k);
      }
      if (any) continue;
      if (filler != nullptr) {
        add(*filler, 1, 1);
      } else if (refused.empty()) {
        // Nothing could wait for the step's fetches and free its buffers.
        refused = "block: only phases without taps, but a reduction in several blocks";
      }
    }
  };
  // The last unit may have fewer parts than the others.
  const std::vector<GemmPart>& tail = p.last_unit();
  const bool uneven = p.units > 1 && tail.size() != parts.size();
  const auto add_unit = [&](const std::vector<GemmPart>& unit, std::uint64_t times,
                            BoxCache* known) {
    const BoxTotals first = box_totals(p, unit, true, m.rows, m.ks, known);
    const BoxTotals second = box_totals(p, unit, false, m.cols, m.ks, known);
    // Sums over blocks, times how often the other loop brings them back.
    cost.first_beats += times * first.sum * (first_loads / (nr * nk));
    cost.second_beats += times * second.sum * (second_loads / (nc * nk));
    cost.first_box = std::max(cost.first_box, first.most);
    cost.second_box = std::max(cost.second_box, second.most);
    cost.fetches += times * (first_loads + second_loads);
    const auto classes = part_classes(unit);
    for (const RangePiece& r : pieces_r) {
      for (const RangePiece& q : pieces_c) {
        const std::uint64_t count = times * r.count * q.count;
        const bool alone = outputs_alone(p, m);
        for (const OutputGroup& g :
             output_groups(p, unit, r.range, q.range, r.first || q.first, alone)) {
          outputs += count;
          cost.stores += count;
          cost.out_beats += count * g.beats;
          cost.last_out = std::max(cost.last_out, g.beats);
        }
        add_execs(classes, r, q, count);
      }
    }
    if (nk > 1) {
      std::uint64_t entries = 0;
      for (const RangePiece& r : range_pieces(m.rows, m.rows, m.sub_rows)) {
        for (const RangePiece& q : range_pieces(m.cols, m.cols, m.sub_cols)) {
          for (const PartClass& k : classes) {
            if (k.part.ks[0] == 0 || k.part.ks[1] == 0) continue;
            const Range3 own_r = clipped(r.range, k.part.rows);
            const Range3 own_c = clipped(q.range, k.part.cols);
            if (is_empty(own_r) || is_empty(own_c)) continue;
            const std::uint64_t a = own_count(k.part.first, own_r.start, own_r.n);
            const std::uint64_t b = own_count(k.part.second, own_c.start, own_c.n);
            entries += r.count * q.count * k.count * time.dr *
                       (ceil_div(m.exchange ? b : a, tm) * ceil_div(m.exchange ? a : b, tn));
          }
        }
      }
      cost.psb_entries = std::max(cost.psb_entries, entries);
    }
  };
  add_unit(parts, uneven ? p.units - 1 : p.units, cache);
  if (uneven) add_unit(tail, 1, nullptr);
  cost.first_unique = p.first.beats();
  cost.second_unique = p.second.beats();

  const auto fits = [&](const char* what, std::uint64_t beats, int depth, bool doubled) {
    const std::uint64_t room = static_cast<std::uint64_t>(depth) / (doubled ? 2 : 1);
    if (beats > room && refused.empty()) {
      refused = fmt::format("{}: {} beats, room for {}", what, beats, room);
    }
  };
  fits("block of the first operand", cost.first_box, first_depth,
       !first_stays && first_loads * p.units > 1);
  fits("block of the second operand", cost.second_box, second_depth,
       !second_stays && second_loads * p.units > 1);
  fits("output sub-block", cost.last_out, c.ob_d, outputs > 1);
  fits("partial sums", cost.psb_entries, c.ps_d, false);
  for (std::size_t d = 1; d < 3; ++d) {
    if (std::max({m.rows[d], m.cols[d], m.ks[d] * static_cast<std::int64_t>(lanes_k)}) > 32767) {
      refused = "block: a digit above 32767";
    }
  }
  return check;
}

}  // namespace bitcycle
