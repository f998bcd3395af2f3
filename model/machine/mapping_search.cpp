#include "model/machine/mapping_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "golden/checked.hpp"
#include "model/formula.hpp"
#include "model/machine/output_block.hpp"

namespace bitcycle {
namespace {

std::uint64_t u64(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// Calls visit(range, count) for the kinds of blocks of `extent`: alike but for the last of a digit.
template <typename Visit>
void for_block_kinds(const Index3& extent, const Index3& block, Visit&& visit) {
  Index3 blocks;
  for (std::size_t d = 0; d < 3; ++d) blocks[d] = (extent[d] + block[d] - 1) / block[d];
  for (unsigned corner = 0; corner < 8; ++corner) {
    Range3 r;
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      const bool last = ((corner >> d) & 1U) != 0;
      r.start[d] = last ? (blocks[d] - 1) * block[d] : 0;
      r.n[d] = std::min(block[d], extent[d] - r.start[d]);
      count *= last ? 1 : u64(std::max<std::int64_t>(blocks[d] - 1, 0));
    }
    if (count != 0 && !is_empty(r)) visit(r, count);
  }
}

// What a space's blocks cost the array, by class of parts: tiles over all blocks.
struct TileSum {
  std::vector<std::uint64_t> by_tm, by_tn;
  std::uint64_t blocks = 0;
  std::uint64_t own = 0;  // elements of the first block, of all parts
};

TileSum tile_sum(const GemmProblem& p, const std::vector<PartClass>& classes, bool first,
                 const Index3& block) {
  TileSum t;
  t.blocks = u64(BlockGrid{first ? p.rows() : p.cols(), block}.count());
  const auto tm = static_cast<std::uint64_t>(p.config.array.tm);
  const auto tn = static_cast<std::uint64_t>(p.config.array.tn);
  for (const PartClass& c : classes) {
    const OperandMap& map = first ? c.part.first : c.part.second;
    std::uint64_t by_tm = 0, by_tn = 0;
    for_block_kinds(first ? c.part.rows : c.part.cols, block,
                    [&](const Range3& r, std::uint64_t count) {
                      const std::uint64_t n = own_count(map, r.start, r.n);
                      by_tm += count * ceil_div(n, tm);
                      by_tn += count * ceil_div(n, tn);
                    });
    t.by_tm.push_back(by_tm);
    t.by_tn.push_back(by_tn);
    const Range3 start = clipped({{0, 0, 0}, block}, first ? c.part.rows : c.part.cols);
    if (!is_empty(start)) t.own = std::max(t.own, own_count(map, start.start, start.n));
  }
  return t;
}

// Chunks over all blocks of the reduction, by class of parts.
std::vector<std::uint64_t> chunk_sum(const GemmProblem& p, const std::vector<PartClass>& classes,
                                     const Index3& block) {
  const auto lanes = p.k_granules ? static_cast<std::uint64_t>(p.config.gl) : 1;
  const auto kl = static_cast<std::uint64_t>(p.config.array.kl);
  std::vector<std::uint64_t> sums;
  for (const PartClass& c : classes) {
    std::uint64_t sum = 0;
    for_block_kinds(c.part.ks, block, [&](const Range3& r, std::uint64_t count) {
      sum += count * ceil_div(u64(r.n[0] * r.n[1] * r.n[2]) * lanes, kl);
    });
    sums.push_back(sum);
  }
  return sums;
}

// Beats that the results take at least.
double least_beats(const GemmProblem& p) {
  if (p.out.form == OutputForm::kCodes) return 0;
  double results = 0;
  for (const GemmPart& part : p.first_unit()) {
    results += static_cast<double>(own_count(part.first, {0, 0, 0}, part.rows)) *
               static_cast<double>(own_count(part.second, {0, 0, 0}, part.cols));
  }
  const std::uint64_t units = p.units > 1 ? p.units - 1 : 1;  // the last may have fewer parts
  return results * static_cast<double>(units) * raw_bits(p.out.form) / p.config.dw;
}

// A search by the rule stops when nothing can be better by a thousandth.
constexpr double kCloseEnough = 0.999;
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

bool SubBlockCache::choose(const GemmProblem& problem, Mapping& m) {
  const auto [at, fresh] = known_.try_emplace(
      {m.rows[0], m.rows[1], m.rows[2], m.cols[0], m.cols[1], m.cols[2], m.exchange ? 1 : 0});
  Known& k = at->second;
  if (fresh) {
    k.fits = choose_sub_blocks(problem, m);
    k.rows = m.sub_rows;
    k.cols = m.sub_cols;
  }
  m.sub_rows = k.rows;
  m.sub_cols = k.cols;
  return k.fits;
}

MappingSearch::MappingSearch(const GemmProblem& problem, bool exchange, std::uint64_t most,
                             SubBlockCache& sub_blocks)
    : p_(problem),
      sub_blocks_(sub_blocks),
      classes_(part_classes(problem.first_unit())),
      least_write_(least_beats(problem)) {
  const OutputUnits units = output_units(p_);
  const auto blocks = [&](bool all) {
    rows_ = candidate_blocks(p_.rows(), p_.split_rows, units.rows, all);
    cols_ = candidate_blocks(p_.cols(), p_.split_cols, units.cols, all);
    ks_ = candidate_blocks(p_.ks(), p_.split_ks, 1, all);
  };
  // No list where one extent alone has too many sizes.
  constexpr std::int64_t kLongExtent = 65536;  // about 512 sizes
  for (const Index3& extent : {p_.rows(), p_.cols(), p_.ks()}) {
    for (const std::int64_t n : extent) exhaustive_ = exhaustive_ && n <= kLongExtent;
  }
  if (exhaustive_) {
    blocks(true);
    exhaustive_ = rows_.size() * cols_.size() * ks_.size() <= most;
  }
  if (!exhaustive_) blocks(false);
  make_candidates(exchange);
}

// Everything that may fit.
void MappingSearch::make_candidates(bool exchange_too) {
  const MachineConfig& c = p_.config;
  std::vector<std::vector<BoxTotals>> first(rows_.size()), second(cols_.size());
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (const Index3& k : ks_)
      first[r].push_back(box_totals(p_, p_.first_unit(), true, rows_[r], k, &cache_));
  }
  for (std::size_t q = 0; q < cols_.size(); ++q) {
    for (const Index3& k : ks_)
      second[q].push_back(box_totals(p_, p_.first_unit(), false, cols_[q], k, &cache_));
  }
  std::vector<TileSum> row_tiles, col_tiles;
  for (const Index3& r : rows_) row_tiles.push_back(tile_sum(p_, classes_, true, r));
  for (const Index3& q : cols_) col_tiles.push_back(tile_sum(p_, classes_, false, q));
  std::vector<std::vector<std::uint64_t>> chunks;
  std::vector<std::uint64_t> nks;
  for (const Index3& k : ks_) {
    chunks.push_back(chunk_sum(p_, classes_, k));
    nks.push_back(u64(BlockGrid{p_.ks(), k}.count()));
  }
  const GemmTiming t[2] = {gemm_timing(c.array, {{1, 1, 1}, p_.pa, p_.pw}),
                           gemm_timing(c.array, {{1, 1, 1}, p_.pw, p_.pa})};
  const std::uint64_t overhead = static_cast<std::uint64_t>(c.setup_cycles()) + 5;
  const std::uint64_t full_units = p_.units > 1 ? p_.units - 1 : 1;
  // Beats of the output buffer that a result takes, in the room of a sub-block.
  const double of_room =
      p_.out.form == OutputForm::kCodes
          ? 0
          : static_cast<double>(raw_bits(p_.out.form)) / (static_cast<double>(c.dw) * c.ob_d / 2);
  for (const bool exchange : {false, true}) {
    if (exchange && !exchange_too) continue;
    if (exchange && p_.out.form == OutputForm::kCodes &&
        p_.out.q.rounding == Rounding::kStochastic) {
      continue;
    }
    const auto first_depth = u64(exchange ? c.l1w_d : c.l1a_d);
    const auto second_depth = u64(exchange ? c.l1a_d : c.l1w_d);
    const GemmTiming& time = t[exchange ? 1 : 0];
    for (std::uint32_t r = 0; r < rows_.size(); ++r) {
      for (std::uint32_t k = 0; k < ks_.size(); ++k) {
        const BoxTotals& a = first[r][k];
        if (a.most > first_depth) continue;
        for (std::uint32_t q = 0; q < cols_.size(); ++q) {
          const BoxTotals& b = second[q][k];
          if (b.most > second_depth) continue;
          const std::uint64_t nr = row_tiles[r].blocks, nc = col_tiles[q].blocks, nk = nks[k];
          // Each exec takes at least its tiles' chunks and the law's constants.
          std::uint64_t work = 0;
          for (std::size_t i = 0; i < classes_.size(); ++i) {
            const std::uint64_t tiles = exchange ? row_tiles[r].by_tn[i] * col_tiles[q].by_tm[i]
                                                 : row_tiles[r].by_tm[i] * col_tiles[q].by_tn[i];
            work += classes_[i].count * tiles * chunks[k][i];
          }
          const bool first_stays = stays_resident(p_.units * nr * nk, a.most, first_depth);
          const bool second_stays = stays_resident(p_.units * nc * nk, b.most, second_depth);
          // Sub-blocks of a block. An output alone may take the whole buffer.
          const double rooms = static_cast<double>(row_tiles[r].own * col_tiles[q].own) * of_room;
          const std::uint64_t pieces =
              nr * nc == 1 ? 1 : static_cast<std::uint64_t>(std::max(1.0, std::ceil(rooms)));
          // The last blocks may be shorter.
          const std::uint64_t outputs = std::max(nr * nc, (nr - 1) * (nc - 1) * pieces);
          for (const bool cols_outer : {false, true}) {
            if (cols_outer && (nr == 1 || nc == 1)) continue;
            const auto again = [&](bool stays, bool outer, std::uint64_t mine,
                                   std::uint64_t other) -> std::uint64_t {
              if (stays) return 1;
              if (nk > 1) return other;
              return outer || mine == 1 ? 1 : other;
            };
            const std::uint64_t again_first = again(first_stays, !cols_outer, nr, nc);
            const std::uint64_t again_second = again(second_stays, cols_outer, nc, nr);
            const auto too_large = [](bool stays, std::uint64_t loads, std::uint64_t most,
                                      std::uint64_t depth) {
              return !stays && loads > 1 && most > depth / 2;
            };
            const std::uint64_t first_loads = p_.units * nr * nk * again_first;
            const std::uint64_t second_loads = p_.units * nc * nk * again_second;
            if (too_large(first_stays, first_loads, a.most, first_depth) ||
                too_large(second_stays, second_loads, b.most, second_depth)) {
              continue;
            }
            Candidate cand;
            cand.exec =
                full_units * (work * time.cc + outputs * nk * (time.cycles - time.cc + overhead));
            cand.read = full_units * (a.sum * again_first + b.sum * again_second);
            cand.fetches = first_loads + second_loads;
            cand.stores = full_units * outputs;
            cand.words = u64(stream_words(MachineEngine::kExec)) * cand.stores * nk +
                         u64(stream_words(MachineEngine::kFetch)) * cand.fetches +
                         u64(stream_words(MachineEngine::kStore)) * cand.stores;
            cand.boxes = a.most + b.most;
            cand.r = r;
            cand.c = q;
            cand.k = k;
            cand.cols_outer = cols_outer;
            cand.exchange = exchange;
            list_.push_back(cand);
          }
        }
      }
    }
  }
}

const MappingSearch::Known& MappingSearch::look_at(std::uint32_t candidate) {
  const auto [at, fresh] = known_.try_emplace(candidate);
  Known& k = at->second;
  if (!fresh) return k;
  const Candidate& c = list_[candidate];
  k.mapping.rows = k.mapping.sub_rows = rows_[c.r];
  k.mapping.cols = k.mapping.sub_cols = cols_[c.c];
  k.mapping.ks = ks_[c.k];
  k.mapping.cols_outer = c.cols_outer;
  k.mapping.exchange = c.exchange;
  if (!sub_blocks_.choose(p_, k.mapping)) return k;
  PlanCheck check = check_mapping(p_, k.mapping, &cache_);
  k.runs = check.refused.empty();
  k.cost = check.cost;
  return k;
}

std::vector<RankedMapping> MappingSearch::best(const OverlapTime& time, std::size_t few,
                                               std::size_t looks) {
  bounds_.clear();
  const auto cycles = [](std::uint64_t value) { return static_cast<double>(value); };
  constexpr double kStart = 3;  // as OverlapTime has it
  for (std::uint32_t i = 0; i < list_.size(); ++i) {
    const Candidate& c = list_[i];
    const double read =
        time.read_cost * cycles(c.read) + (time.latency + kStart) * cycles(c.fetches);
    const double write =
        time.write_cost * least_write_ + (time.write_latency + kStart) * cycles(c.stores);
    bounds_.emplace_back(std::max({cycles(c.exec), read, write, cycles(c.words)}) +
                             2 * time.latency + time.read_cost * cycles(c.boxes),
                         i);
  }
  // Best bound first, some at a time: once a bound is above the best times, nothing better follows.
  std::vector<RankedMapping> out;
  constexpr std::size_t kSome = 32;
  for (std::size_t i = 0; i < bounds_.size() && (i < looks || out.empty()); ++i) {
    if (i % kSome == 0) {
      const auto from = bounds_.begin() + static_cast<std::ptrdiff_t>(i);
      const auto to =
          bounds_.begin() + static_cast<std::ptrdiff_t>(std::min(i + kSome, bounds_.size()));
      if (to != bounds_.end()) std::nth_element(from, to, bounds_.end());
      std::sort(from, to);
    }
    const double least = out.size() < few ? kNever : out.back().time;
    if (bounds_[i].first >= least * (exhaustive_ ? 1.0 : kCloseEnough)) break;
    const Known& k = look_at(bounds_[i].second);
    if (!k.runs) continue;
    const double t = time(k.cost);
    if (t >= least) continue;
    const auto at =
        std::upper_bound(out.begin(), out.end(), t,
                         [](double value, const RankedMapping& r) { return value < r.time; });
    out.insert(at, {t, k.mapping});
    if (out.size() > few) out.pop_back();
  }
  return out;
}

std::optional<RankedMapping> MappingSearch::best(const PlanTime& time) {
  std::optional<RankedMapping> out;
  for (std::uint32_t i = 0; i < list_.size(); ++i) {
    const Known& k = look_at(i);
    if (!k.runs) continue;
    const double t = time(p_, k.cost);
    if (!out || t < out->time) out = RankedMapping{t, k.mapping};
  }
  return out;
}

}  // namespace bitcycle
