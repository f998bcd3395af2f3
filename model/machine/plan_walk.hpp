// One pass over a plan's blocks, step by step: what Plan::emit and PlanCursor have in common.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "golden/checked.hpp"
#include "model/machine/blocking.hpp"
#include "model/machine/output_block.hpp"
#include "model/machine/plan.hpp"
#include "model/machine/plan_cursor.hpp"
#include "model/machine/timed.hpp"

namespace bitcycle {

// Numbers instructions by what their timing depends on.
class Shapes {
 public:
  explicit Shapes(std::uint64_t beat_bytes) : beat_bytes_(beat_bytes) {}
  std::uint32_t of(const Instruction& instruction) {
    const Key key = std::visit([this](const auto& i) { return key_of(i); }, instruction);
    return ids_.emplace(key, static_cast<std::uint32_t>(ids_.size())).first->second;
  }

 private:
  using Key = std::array<std::uint64_t, 6>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t h = 0xCBF29CE484222325ULL;
      for (const std::uint64_t part : key) {
        h = (h ^ part) * 0x100000001B3ULL;
        h ^= h >> 29U;
      }
      return h;
    }
  };

  static std::uint64_t pair(std::uint64_t high, std::uint64_t low) { return high << 32U | low; }
  static std::uint64_t low32(std::int32_t value) { return static_cast<std::uint32_t>(value); }

  Key lines_key(std::uint64_t head, const LineWalk& l) const {
    return {head | page_place(timed_transfer(l), beat_bytes_) << 48U,
            pair(l.line_beats, low32(l.stride0)),
            pair(low32(l.stride1), low32(l.stride2)),
            pair(l.n0, l.n1),
            l.n2,
            0};
  }
  Key key_of(const FetchInstruction& i) const {
    return lines_key(std::uint64_t{i.wait_e2f} << 8U | std::uint64_t{i.wait_r2f} << 16U |
                         (i.post_f2e ? 4U : 0U) | (i.target == OperandBuffer::kW ? 8U : 0U),
                     i.lines);
  }
  Key key_of(const StoreInstruction& i) const {
    return lines_key(
        2U | std::uint64_t{i.wait_e2r} << 8U | (i.post_r2e ? 4U : 0U) | (i.post_r2f ? 8U : 0U),
        i.lines);
  }
  Key key_of(const ExecInstruction& i) const {
    return {1U | std::uint64_t{i.wait_f2e} << 8U | std::uint64_t{i.wait_r2e} << 16U |
                (i.post_e2f ? 4U : 0U) | (i.post_e2r ? 8U : 0U),
            pair(i.m, i.n),
            i.k,
            static_cast<std::uint64_t>(i.pa.bits * 32 + i.pw.bits),
            0,
            0};
  }

  std::uint64_t beat_bytes_;
  std::unordered_map<Key, std::uint32_t, Hash> ids_;
};

/// One pass over a plan's blocks.
class PlanWalk {
 public:
  explicit PlanWalk(const Plan& plan)
      : plan_(plan),
        p_(plan.problem_),
        m_(plan.mapping_),
        rows_{p_.rows(), m_.rows},
        cols_{p_.cols(), m_.cols},
        ks_{p_.ks(), m_.ks},
        nr_(static_cast<std::uint64_t>(rows_.count())),
        nc_(static_cast<std::uint64_t>(cols_.count())),
        nk_(static_cast<std::uint64_t>(ks_.count())),
        steps_(p_.units * nr_ * nc_ * nk_),
        shapes_(static_cast<std::uint64_t>(p_.config.dw / 8)) {
    operands_[0].first = true;
    for (Operand& o : operands_) {
      const bool to_a = o.first != m_.exchange;
      o.target = to_a ? OperandBuffer::kA : OperandBuffer::kW;
      o.depth = static_cast<std::uint32_t>(to_a ? p_.config.l1a_d : p_.config.l1w_d);
      // Loads in all: a new one whenever the block changes.
      const std::uint64_t mine = o.first ? nr_ : nc_;
      const std::uint64_t other = o.first ? nc_ : nr_;
      const bool outer = o.first != m_.cols_outer;
      const std::uint64_t per_unit =
          nk_ > 1 ? nr_ * nc_ * nk_ : (outer || mine == 1 ? mine : mine * other);
      o.total = p_.units * per_unit;
      o.slot = o.first ? plan.cost_.first_box : plan.cost_.second_box;
      o.resident = stays_resident(p_.units * mine * nk_, o.slot, o.depth);
    }
    outputs_ = plan.cost_.stores;
  }

  std::uint64_t steps() const { return steps_; }

  /// The instructions of the steps from `from` to before `to`, with what must be fetched for `to`
  /// (its first step). Steps must be taken in order.
  void run(std::uint64_t from, std::uint64_t to, const Plan::Sink* sink,
           const Plan::OutputSink* output) {
    sink_ = sink;
    on_output_ = output;
    if (from == 0) load(0);
    for (std::uint64_t step = from; step < to; ++step) {
      unseen_ += fetched_;
      fetched_ = 0;
      if (step + 1 < steps_) load(step + 1);
      execute(step);
    }
  }

  PlanProgress progress() const {
    PlanProgress p;
    for (std::size_t i = 0; i < 2; ++i) {
      p.loaded[i] = operands_[i].loaded;
      p.freed[i] = operands_[i].freed;
      p.pending[i] = operands_[i].pending;
    }
    p.output = output_;
    p.posted = posted_;
    p.taken = taken_;
    return p;
  }
  /// Passes over `times` repetitions of what happened between `a` and `b`; the next step is `step`.
  void advance(const PlanProgress& a, const PlanProgress& b, std::uint64_t times,
               std::uint64_t step) {
    for (std::size_t i = 0; i < 2; ++i) {
      Operand& o = operands_[i];
      o.loaded += times * (b.loaded[i] - a.loaded[i]);
      o.pending += times * (b.pending[i] - a.pending[i]);
      // An operand that frees nothing in a repetition keeps its count.
      if (b.freed[i] != a.freed[i]) o.freed += times * (b.posted - a.posted);
    }
    output_ += times * (b.output - a.output);
    posted_ += times * (b.posted - a.posted);
    taken_ += times * (b.taken - a.taken);
    if (step >= steps_) return;
    for (Operand& o : operands_) {
      if (!o.resident) o.box[(o.loaded - 1) % 2] = box_of(o, step);
    }
  }

  bool changes(bool first, std::uint64_t step) const {
    return changes(operands_[first ? 0 : 1], step);
  }
  FetchBox box_of(bool first, std::uint64_t step) { return box_of(operands_[first ? 0 : 1], step); }

 private:
  struct Visit {
    std::uint64_t unit = 0, r = 0, c = 0, k = 0;
  };
  struct Operand {
    bool first = false;
    OperandBuffer target = OperandBuffer::kA;
    std::uint32_t depth = 0;
    bool resident = false;      // all blocks stay in the buffer, each loaded at its first use
    std::uint64_t slot = 0;     // beats of the largest block
    std::uint64_t total = 0;    // loads of the whole walk
    std::uint64_t loaded = 0;   // so far
    std::uint64_t freed = 0;    // posts of e2f after which the load before the last is out of use
    FetchBox box[2];            // by load number modulo 2
    std::uint64_t pending = 0;  // number of the load for the step being executed
  };

  Visit visit(std::uint64_t step) const {
    Visit v;
    v.k = step % nk_;
    step /= nk_;
    if (m_.cols_outer) {
      v.r = step % nr_;
      step /= nr_;
      v.c = step % nc_;
      step /= nc_;
    } else {
      v.c = step % nc_;
      step /= nc_;
      v.r = step % nr_;
      step /= nr_;
    }
    v.unit = step;
    return v;
  }

  // Whether the operand's block for `step` must be loaded for it.
  bool changes(const Operand& o, std::uint64_t step) const {
    if (o.resident) {
      const Visit v = visit(step);
      return (o.first ? v.c : v.r) == 0;
    }
    if (step == 0) return true;
    const Visit a = visit(step - 1);
    const Visit b = visit(step);
    return a.unit != b.unit || a.k != b.k || (o.first ? a.r != b.r : a.c != b.c);
  }

  const std::vector<GemmPart>& parts(std::uint64_t unit) {
    if (parts_.empty() || unit != parts_unit_) {
      parts_ = p_.parts(unit);
      parts_unit_ = unit;
    }
    return parts_;
  }

  std::uint32_t buffer_beat(const Operand& o, std::uint64_t load, std::uint64_t step) const {
    if (o.resident) {
      const Visit v = visit(step);
      const std::uint64_t id = (o.first ? v.unit * nr_ + v.r : v.unit * nc_ + v.c) * nk_ + v.k;
      return static_cast<std::uint32_t>(id * o.slot);
    }
    return o.total > 1 && load % 2 == 1 ? o.depth / 2 : 0;
  }

  template <typename I>
  void give(const I& instruction, std::uint64_t step) {
    if (sink_ == nullptr) return;
    const Visit v = visit(step);
    InstructionInfo info;
    info.step = step;
    info.unit = v.unit;
    info.row_block = v.r;
    info.col_block = v.c;
    info.k_block = v.k;
    const Instruction any = instruction;
    info.shape = shapes_.of(any);
    (*sink_)(any, info);
  }

  FetchBox box_of(const Operand& o, std::uint64_t step) {
    const Visit v = visit(step);
    return fetch_box(p_, parts(v.unit), o.first,
                     o.first ? rows_.at(static_cast<std::int64_t>(v.r))
                             : cols_.at(static_cast<std::int64_t>(v.c)),
                     ks_.at(static_cast<std::int64_t>(v.k)));
  }

  // Fetches what `step` needs and what is not there yet.
  void load(std::uint64_t step) {
    for (Operand& o : operands_) {
      if (!changes(o, step)) continue;
      const std::uint64_t number = o.loaded++;
      const FetchBox box = box_of(o, step);
      if (!o.resident) o.box[number % 2] = box;
      FetchInstruction f;
      f.target = o.target;
      f.post_f2e = true;
      f.lines = box_lines(o.first ? p_.first : p_.second, box, buffer_beat(o, number, step));
      if (!o.resident && number >= 2 && o.freed > taken_) {
        f.wait_e2f = static_cast<std::uint32_t>(o.freed - taken_);
        taken_ = o.freed;
      }
      if (step == 0 && plan_.wait_r2f && !waited_) {
        f.wait_r2f = 1;
        waited_ = true;
      }
      ++fetched_;
      give(f, step);
    }
  }

  void execute(std::uint64_t step) {
    const Visit v = visit(step);
    const std::vector<GemmPart>& list = parts(v.unit);
    for (Operand& o : operands_) {
      if (o.resident) {
        o.box[o.pending % 2] = box_of(o, step);
      } else if (changes(o, step)) {
        o.pending = step == 0 ? 0 : o.pending + 1;
      }
    }
    const Range3 rows = rows_.at(static_cast<std::int64_t>(v.r));
    const Range3 cols = cols_.at(static_cast<std::int64_t>(v.c));
    const Range3 k = ks_.at(static_cast<std::int64_t>(v.k));
    const bool last_k = v.k + 1 == nk_;
    const bool posts = frees_a_buffer(step);
    std::uint32_t psb = 0;
    const BlockGrid subs_r{rows.n, clamp(m_.sub_rows, rows.n)};
    const BlockGrid subs_c{cols.n, clamp(m_.sub_cols, cols.n)};
    for (std::int64_t i = 0; i < subs_r.count(); ++i) {
      for (std::int64_t j = 0; j < subs_c.count(); ++j) {
        const bool last_sub = i + 1 == subs_r.count() && j + 1 == subs_c.count();
        const Range3 sub_r = inside(rows, subs_r.at(i));
        const Range3 sub_c = inside(cols, subs_c.at(j));
        sub_block(step, v, list, sub_r, sub_c, k, last_k, posts && last_sub, psb);
      }
    }
    for (Operand& o : operands_) {
      if (step + 1 < steps_ && changes(o, step + 1)) o.freed = posted_;
    }
  }

  static Index3 clamp(const Index3& size, const Index3& most) {
    Index3 out;
    for (std::size_t d = 0; d < 3; ++d) out[d] = std::min(size[d], most[d]);
    return out;
  }
  static Range3 inside(const Range3& outer, Range3 sub) {
    for (std::size_t d = 0; d < 3; ++d) sub.start[d] += outer.start[d];
    return sub;
  }

  // The last exec of a step posts e2f if a later load overwrites what the step used last.
  bool frees_a_buffer(std::uint64_t step) const {
    if (step + 1 >= steps_) return false;
    return std::any_of(operands_.begin(), operands_.end(), [&](const Operand& o) {
      // Load number pending + 1 begins with the next step; is there one after it?
      return !o.resident && changes(o, step + 1) && o.pending + 2 < o.total;
    });
  }

  void sub_block(std::uint64_t step, const Visit& v, const std::vector<GemmPart>& list,
                 const Range3& rows, const Range3& cols, const Range3& k, bool last_k, bool posts,
                 std::uint32_t& psb) {
    const bool sums = p_.out.form != OutputForm::kCodes && p_.out.sums &&
                      (rows.start == Index3{0, 0, 0} || cols.start == Index3{0, 0, 0});
    const std::vector<OutputGroup> groups =
        last_k ? output_groups(p_, list, rows, cols, sums, outputs_alone(p_, m_))
               : std::vector<OutputGroup>{{0, list.size(), 0}};
    for (const OutputGroup& group : groups) {
      const bool last_group =
          group.first + group.count == groups.back().first + groups.back().count;
      part_group(step, v, list, group, rows, cols, k, sums, last_k, posts && last_group, psb);
    }
  }

  // The instructions of some parts of a sub-block; with the last block of the reduction, their
  // store.
  void part_group(std::uint64_t step, const Visit& v, const std::vector<GemmPart>& list,
                  const OutputGroup& group, const Range3& rows, const Range3& cols, const Range3& k,
                  bool sums, bool last_k, bool posts, std::uint32_t& psb) {
    std::vector<ExecInstruction> execs;
    std::vector<OutputBlock> blocks;
    const std::uint32_t ob_beat =
        outputs_ > 1 && output_ % 2 == 1 ? static_cast<std::uint32_t>(p_.config.ob_d / 2) : 0;
    FetchBox codes;
    if (last_k && p_.out.form == OutputForm::kCodes) codes = output_box(p_, list, rows, cols);
    std::uint64_t raw_word = 0;  // of the group
    std::optional<ExecInstruction> filler;
    for (std::size_t index = group.first; index < group.first + group.count; ++index) {
      const GemmPart& part = list[index];
      const Range3 r = clipped(rows, part.rows);
      const Range3 c = clipped(cols, part.cols);
      const Range3 ks = clipped(k, part.ks);
      if (is_empty(r) || is_empty(c)) continue;
      // No taps at all, or none in this block of the reduction: only the output needs the part.
      const bool never = part.ks[0] == 0 || part.ks[1] == 0;
      const bool idle = never || is_empty(ks);
      ExecInstruction e;
      operands(step, part, r, c, ks, idle, e);
      if (!never && nk_ > 1) {
        e.ps_read = v.k != 0;
        e.ps_write = !last_k;
        e.ps_base = psb;
        psb += entries(e);
      }
      if (idle && !last_k) {
        if (!never && !filler) filler = e;
        continue;
      }
      if (last_k) {
        OutputBlock block;
        block.unit = v.unit;
        block.part = &part;
        block.rows = r;
        block.cols = c;
        block.row_count = own_count(part.first, r.start, r.n);
        block.col_count = own_count(part.second, c.start, c.n);
        if (p_.out.form == OutputForm::kCodes) {
          place_codes(p_, part, codes, ob_beat, rows, cols, m_.exchange, e.out);
          requantise_fields(part, r, c, never, e.out);
        } else {
          place_raw(block, ob_beat, raw_word, sums, e);
        }
        blocks.push_back(block);
      }
      execs.push_back(e);
    }
    // At an edge only parts without taps in this block may be left; adding zeros to the partial
    // sums of one keeps the tokens of the step in order.
    if (execs.empty()) execs.push_back(filler.value());
    execs.front().wait_f2e = unseen_;
    unseen_ = 0;
    if (posts) {
      execs.back().post_e2f = true;
      ++posted_;
    }
    if (last_k) {
      if (output_ >= 2) execs.front().wait_r2e = 1;
      execs.back().post_e2r = true;
    }
    for (const ExecInstruction& e : execs) give(e, step);
    if (last_k) store(step, codes, ob_beat, raw_word, blocks);
  }

  void operands(std::uint64_t step, const GemmPart& part, const Range3& r, const Range3& c,
                const Range3& ks, bool idle, ExecInstruction& e) {
    OperandGather first, second;
    if (idle) {  // nothing is inside a height of 0
      first.h = second.h = 0;
      e.k = 1;
    } else {
      const Operand& x = operands_[0];
      const Operand& y = operands_[1];
      first =
          gather_of(p_, part, true, x.box[x.pending % 2], buffer_beat(x, x.pending, step), r, ks);
      second =
          gather_of(p_, part, false, y.box[y.pending % 2], buffer_beat(y, y.pending, step), c, ks);
      const std::int64_t lanes = p_.k_granules ? p_.config.gl : 1;
      e.k = static_cast<std::uint32_t>(ks.n[0] * ks.n[1] * ks.n[2] * lanes);
    }
    const auto m = static_cast<std::uint32_t>(own_count(part.first, r.start, r.n));
    const auto n = static_cast<std::uint32_t>(own_count(part.second, c.start, c.n));
    e.a = m_.exchange ? second : first;
    e.w = m_.exchange ? first : second;
    e.m = m_.exchange ? n : m;
    e.n = m_.exchange ? m : n;
    e.pa = m_.exchange ? p_.pw : p_.pa;
    e.pw = m_.exchange ? p_.pa : p_.pw;
  }

  std::uint32_t entries(const ExecInstruction& e) const {
    const ArrayConfig& a = p_.config.array;
    const auto size = [](int v) { return static_cast<std::uint64_t>(v); };
    return static_cast<std::uint32_t>(ceil_div(e.m, size(a.tm)) * ceil_div(e.n, size(a.tn)) *
                                      ceil_div(size(a.tm) * size(a.tn), size(a.q)));
  }

  void place_raw(OutputBlock& block, std::uint32_t ob_beat, std::uint64_t& word, bool sums,
                 ExecInstruction& e) const {
    const auto gl = static_cast<std::uint64_t>(p_.config.gl);
    const auto bits = static_cast<std::uint64_t>(raw_bits(p_.out.form));
    const std::uint64_t rw = bits / gl;
    const std::uint64_t base =
        std::uint64_t{ob_beat} * static_cast<std::uint64_t>(p_.config.words_per_beat());
    ExecOutput& o = e.out;
    o.raw = true;
    o.raw32 = bits == 32;
    o.sums = sums;
    o.ob_base = static_cast<std::uint32_t>(base + word);
    o.or0 = o.or1 = 32768;
    o.o0 = static_cast<std::int64_t>(e.n * rw);
    o.o1 = e.m > o.or0 ? o.o0 * o.or0 : 0;
    const std::uint64_t start = result_byte() * 8;
    const std::uint64_t values = std::uint64_t{e.m} * e.n * rw;
    block.values_bit = start + word * gl;
    const std::uint64_t along_m = e.n * bits;
    block.row_step_bits = m_.exchange ? bits : along_m;
    block.col_step_bits = m_.exchange ? along_m : bits;
    block.step_bits = bits;
    word += values;
    if (!sums) return;
    block.sums = true;
    o.sum_a = static_cast<std::uint32_t>(base + word);
    const std::uint64_t at_a = start + word * gl;
    word += e.m * rw;
    o.sum_w = static_cast<std::uint32_t>(base + word);
    const std::uint64_t at_w = start + word * gl;
    word += e.n * rw;
    block.sum_first_bit = m_.exchange ? at_w : at_a;
    block.sum_second_bit = m_.exchange ? at_a : at_w;
  }

  // Linear number of a range's first element; mode N counts positions, mode T rows.
  static std::uint64_t number(const OperandMap& map, const Index3& extent, const Index3& start) {
    const std::int64_t n = (start[0] * extent[1] + start[1]) * extent[2] + start[2];
    return static_cast<std::uint64_t>(n) * (map.transposed ? map.br : 1);
  }

  void requantise_fields(const GemmPart& part, const Range3& r, const Range3& c, bool never,
                         ExecOutput& o) const {
    o.q = p_.out.q;
    if (never) o.q.kzz = 0;
    if (m_.exchange) std::swap(o.q.za, o.q.zw);
    o.element_row = part.element_row;
    o.element = static_cast<std::uint32_t>(
        part.element + number(part.first, part.rows, r.start) * part.element_row +
        number(part.second, part.cols, c.start));
  }

  // Where the next raw results go: every output has a slot of the same size.
  std::uint64_t result_byte() const { return plan_.result_base_ + output_ * plan_.slot_bytes(); }

  void store(std::uint64_t step, const FetchBox& codes, std::uint32_t ob_beat,
             std::uint64_t raw_word, const std::vector<OutputBlock>& blocks) {
    StoreInstruction s;
    s.wait_e2r = 1;
    s.post_r2e = output_ + 2 < outputs_;
    s.post_r2f = plan_.post_r2f && output_ + 1 == outputs_;
    if (p_.out.form == OutputForm::kCodes) {
      s.lines = box_lines(p_.result, codes, ob_beat, p_.first_unit().front().out.lane_taps);
    } else {
      const std::uint64_t beats =
          ceil_div(raw_word, static_cast<std::uint64_t>(p_.config.words_per_beat()));
      s.lines.dram = result_byte();
      s.lines.line_beats = static_cast<std::uint32_t>(beats);
      s.lines.buffer = ob_beat;
    }
    give(s, step);
    if (on_output_ != nullptr) {
      for (const OutputBlock& b : blocks) (*on_output_)(b);
    }
    ++output_;
  }

  const Plan& plan_;
  const GemmProblem& p_;
  const Mapping& m_;
  const Plan::Sink* sink_ = nullptr;
  const Plan::OutputSink* on_output_ = nullptr;
  BlockGrid rows_, cols_, ks_;
  std::uint64_t nr_, nc_, nk_, steps_;
  std::array<Operand, 2> operands_;
  std::uint64_t outputs_ = 0;  // in all
  std::uint64_t output_ = 0;   // so far
  std::vector<GemmPart> parts_;
  std::uint64_t parts_unit_ = 0;
  std::uint64_t posted_ = 0, taken_ = 0;  // e2f
  std::uint32_t unseen_ = 0;              // posts of f2e that the step's first exec waits for
  std::uint32_t fetched_ = 0;             // the same of the next step
  bool waited_ = false;
  Shapes shapes_;
};

}  // namespace bitcycle
