#include "model/machine/plan_cursor.hpp"

#include <limits>
#include <stdexcept>
#include <unordered_map>

#include "model/machine/plan_walk.hpp"

namespace bitcycle {
namespace {

constexpr std::size_t kLoops = 10;  // unit, outer space, inner space, reduction
// Iterations at either end that differ in their tokens: buffers that are still free, stores that
// nobody waits for.
constexpr std::uint64_t kMargin = 3;
constexpr TensorAxis kAxisOrder[4] = {TensorAxis::kImg, TensorAxis::kY, TensorAxis::kGranule,
                                      TensorAxis::kX};

std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) * 0x9E3779B97F4A7C15ULL;
  return h ^ (h >> 29U);
}

}  // namespace

struct PlanCursor::State {
  explicit State(const Plan& p) : walk(p) {}

  struct Known {
    std::array<std::uint64_t, 8> iteration{}, value{};  // the last signatures, by iteration mod 8
    std::array<bool, 8> any{};
    // Of the axes that the cut's loops move.
    std::array<std::unordered_map<std::uint64_t, std::uint64_t>, 8> axis_hash;
  };

  PlanWalk walk;
  std::array<std::uint64_t, kLoops> loops{};
  std::array<std::uint64_t, 2> period{};  // by operand: places count modulo this for burst splits
  std::vector<GemmPart> parts;
  std::uint64_t parts_unit = 0;
  std::vector<Known> known;  // by cut
};

PlanCursor::PlanCursor(const Plan& plan) : plan_(plan), state_(std::make_unique<State>(plan)) {
  const GemmProblem& p = plan_.problem();
  const Mapping& m = plan_.mapping();
  const BlockGrid rows{p.rows(), m.rows}, cols{p.cols(), m.cols}, ks{p.ks(), m.ks};
  State& s = *state_;
  s.loops[0] = p.units;
  for (std::size_t d = 0; d < 3; ++d) {
    const BlockGrid& outer = m.cols_outer ? cols : rows;
    const BlockGrid& inner = m.cols_outer ? rows : cols;
    s.loops[1 + d] = static_cast<std::uint64_t>(outer.count(d));
    s.loops[4 + d] = static_cast<std::uint64_t>(inner.count(d));
    s.loops[7 + d] = static_cast<std::uint64_t>(ks.count(d));
  }
  // Planes of a power of two below a page that are fetched one by one never meet a page border.
  const auto beat_bytes = static_cast<std::uint64_t>(p.config.dw / 8);
  for (const bool first : {true, false}) {
    const TensorLayout& t = first ? p.first : p.second;
    const std::uint64_t lines = t.ys * t.line_beats();
    const bool apart = lines >= static_cast<std::uint64_t>(kShortPlane) || lines < t.plane_beats();
    const bool even = apart && t.base % kPageBytes == 0;
    s.period[first ? 0 : 1] =
        even ? std::min(t.plane_beats() * beat_bytes, kPageBytes) : kPageBytes;
    // Parts of lines that are a power of two and lie at its multiples do not meet a border either.
    const OperandMap& map = (first ? p.first_unit().front().first : p.first_unit().front().second);
    std::int64_t words = 0;
    std::size_t digits = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const Index3& own = first ? m.rows : m.cols;
      if (map.x.own[d] != 0) words = map.x.own[d] * own[d] * t.bits;
      if (map.x.k[d] != 0) words = map.x.k[d] * m.ks[d] * t.bits;
      digits += (map.x.own[d] != 0 ? 1U : 0U) + (map.x.k[d] != 0 ? 1U : 0U);
    }
    const std::uint64_t run = static_cast<std::uint64_t>(words) / t.words_per_beat();
    if (even && digits == 1 && map.x.offset == 0 && words > 0 &&
        static_cast<std::uint64_t>(words) % t.words_per_beat() == 0 && (run & (run - 1)) == 0 &&
        run < t.line_beats() && t.line_beats() % run == 0) {
      s.period[first ? 0 : 1] = std::min(s.period[first ? 0 : 1], run * beat_bytes);
    }
  }
  for (const std::uint64_t n : s.loops) steps_ *= n;
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < kLoops; ++i) {
    count *= s.loops[i];
    if (s.loops[i] > 1) cuts_.push_back({i + 1, count, steps_ / count, 0, 0, false});
  }
  if (cuts_.empty()) cuts_.push_back({kLoops, 1, 1, 0, 0, false});
  s.known.resize(cuts_.size());
}
PlanCursor::~PlanCursor() = default;
PlanCursor::PlanCursor(PlanCursor&&) noexcept = default;

std::uint64_t PlanCursor::signature(std::size_t cut, std::uint64_t iteration) {
  State::Known& k = state_->known[cut];
  const std::size_t at = iteration % 8;
  if (!k.any[at] || k.iteration[at] != iteration) {
    k.value[at] = make_signature(cut, iteration);
    k.iteration[at] = iteration;
    k.any[at] = true;
  }
  return k.value[at];
}

bool PlanCursor::regular(std::size_t cut, std::uint64_t iteration) {
  if (iteration < kMargin || iteration + kMargin >= cuts_[cut].count) return false;
  const std::uint64_t mine = signature(cut, iteration);
  return signature(cut, iteration - 1) == mine && signature(cut, iteration - 2) == mine &&
         signature(cut, iteration + 1) == mine;
}

std::uint64_t PlanCursor::regular_run(std::size_t cut, std::uint64_t iteration, std::uint64_t end) {
  Cut& c = cuts_[cut];
  if (iteration < c.run_from || iteration > c.run_end || c.run_end == 0) {
    c.run_from = c.run_end = iteration;
    c.run_closed = false;
  }
  while (!c.run_closed && c.run_end < end) {
    if (regular(cut, c.run_end)) {
      ++c.run_end;
    } else {
      c.run_closed = true;
    }
  }
  return std::min(c.run_end, end) - iteration;
}

// A number that is equal for iterations whose blocks have the same sizes, places in pages and
// loads.
std::uint64_t PlanCursor::make_signature(std::size_t cut, std::uint64_t iteration) {
  State& s = *state_;
  const std::size_t outer = cuts_[cut].loops;
  auto& axis_hash = s.known[cut].axis_hash;
  const GemmProblem& p = plan_.problem();
  const Mapping& m = plan_.mapping();
  std::array<std::uint64_t, kLoops> at{};
  std::uint64_t rest = iteration;
  for (std::size_t i = outer; i-- > 0;) {
    at[i] = rest % s.loops[i];
    rest /= s.loops[i];
  }
  std::uint64_t h = 0;
  for (std::size_t i = 0; i < outer; ++i) {
    if (s.loops[i] == 1) continue;
    const bool uneven = p.first_unit().size() != p.last_unit().size();
    const bool last = at[i] + 1 == s.loops[i];
    if (i == 0) {
      h = mix(h, last && uneven ? 1 : 0);
    } else {
      h = mix(h, (at[i] == 0 ? 1U : 0U) | (last ? 2U : 0U));
    }
  }
  const std::uint64_t step = iteration * cuts_[cut].steps_each;
  h = mix(h, (s.walk.changes(true, step) ? 1U : 0U) | (s.walk.changes(false, step) ? 2U : 0U));

  if (s.parts.empty() || s.parts_unit != at[0]) {
    s.parts = p.parts(at[0]);
    s.parts_unit = at[0];
  }
  const BlockGrid rows{p.rows(), m.rows}, cols{p.cols(), m.cols}, ks{p.ks(), m.ks};
  // Loop numbers of the digits of rows, columns and reduction.
  const std::size_t row_loop = m.cols_outer ? 4 : 1, col_loop = m.cols_outer ? 1 : 4;
  const auto beat_bytes = static_cast<std::int64_t>(p.config.dw / 8);
  for (const bool first : {true, false}) {
    const TensorLayout& t = first ? p.first : p.second;
    const OperandMap& map = first ? s.parts.front().first : s.parts.front().second;
    const BlockGrid& own = first ? rows : cols;
    const std::size_t own_loop = first ? row_loop : col_loop;
    const auto lb = static_cast<std::int64_t>(t.line_beats());
    const auto plane = static_cast<std::int64_t>(t.plane_beats());
    const std::int64_t strides[4] = {static_cast<std::int64_t>(t.granules()) * plane, lb, plane, 1};
    const Coordinate* const axes[4] = {&map.img, &map.y, &map.granule, &map.x};
    for (std::size_t axis = 0; axis < 4; ++axis) {
      std::array<bool, 6> moves{};
      bool fixed = p.units > 1;
      std::int64_t combinations = 1;
      for (std::size_t d = 0; d < 6; ++d) {
        moves[d] = (d < 3 ? axes[axis]->own[d] : axes[axis]->k[d - 3]) != 0;
        const std::size_t loop = d < 3 ? own_loop + d : 4 + d;
        if (!moves[d]) continue;
        if (loop < outer) {
          fixed = true;
        } else {
          combinations *= d < 3 ? own.count(d) : ks.count(d - 3);
        }
      }
      if (!fixed) continue;
      // Equal digits, equal answer.
      std::uint64_t key = at[0] + 1;
      for (std::size_t d = 0; d < 6; ++d) {
        const std::size_t loop = d < 3 ? own_loop + d : 4 + d;
        if (moves[d] && loop < outer) key = key * s.loops[loop] + at[loop];
      }
      const auto [known, fresh] = axis_hash[(first ? 0 : 4) + axis].try_emplace(key, 0);
      if (!fresh) {
        h = mix(h, known->second);
        continue;
      }
      std::uint64_t a = 0;
      for (std::int64_t i = 0; i < combinations; ++i) {
        Range3 o{{0, 0, 0}, own.extent}, k{{0, 0, 0}, ks.extent};
        std::int64_t left = i;
        for (std::size_t d = 0; d < 6; ++d) {
          const BlockGrid& g = d < 3 ? own : ks;
          Range3& r = d < 3 ? o : k;
          const std::size_t digit = d % 3;
          const std::size_t loop = d < 3 ? own_loop + d : 4 + d;
          std::int64_t block = 0;
          if (moves[d]) {
            if (loop < outer) {
              block = static_cast<std::int64_t>(at[loop]);
            } else {
              block = left % g.count(digit);
              left /= g.count(digit);
            }
          }
          r.start[digit] = block * g.block[digit];
          r.n[digit] = std::min(g.block[digit], g.extent[digit] - r.start[digit]);
        }
        const CoordinateSpan span = coordinate_span(p, s.parts, first, kAxisOrder[axis], o, k);
        std::int64_t beat = span.first * strides[axis];
        std::int64_t length = span.count;
        if (axis == 3) {
          FetchBox box;
          box.x = span;
          set_line(box, t);
          beat = box.beat0;
          length = box.line_beats;
        }
        a = mix(a, static_cast<std::uint64_t>(length));
        a = mix(a, static_cast<std::uint64_t>(span.step));
        a = mix(a, static_cast<std::uint64_t>(beat * beat_bytes) % s.period[first ? 0 : 1]);
      }
      known->second = a;
      h = mix(h, a);
    }
  }
  if (p.out.form == OutputForm::kCodes) {
    // Lines of codes: the place of the iteration's first block in its page.
    Range3 r{{0, 0, 0}, m.sub_rows}, c{{0, 0, 0}, m.sub_cols};
    for (std::size_t d = 0; d < 3; ++d) {
      if (row_loop + d < outer)
        r.start[d] = static_cast<std::int64_t>(at[row_loop + d]) * m.rows[d];
      if (col_loop + d < outer)
        c.start[d] = static_cast<std::int64_t>(at[col_loop + d]) * m.cols[d];
    }
    const FetchBox box = output_box(p, s.parts, r, c);
    h = mix(h, box_lines(p.result, box, 0).dram % kPageBytes);
  }
  return h;
}

void PlanCursor::next(const Plan::Sink& sink) {
  if (position_ >= steps_) throw std::logic_error("plan cursor: no step left");
  state_->walk.run(position_, position_ + 1, &sink, nullptr);
  ++position_;
}

PlanProgress PlanCursor::progress() const { return state_->walk.progress(); }

void PlanCursor::skip(std::size_t cut, std::uint64_t iterations, const PlanProgress& before,
                      const PlanProgress& after) {
  const std::uint64_t each = cuts_[cut].steps_each;
  const std::uint64_t at = position_ / each;
  if (position_ == 0 || position_ % each != 0 ||
      iterations > regular_run(cut, at, at + iterations)) {
    throw std::logic_error("plan cursor: an iteration that is not regular cannot be skipped");
  }
  position_ += iterations * each;
  state_->walk.advance(before, after, iterations, position_);
}

}  // namespace bitcycle
