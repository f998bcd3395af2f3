#include "model/machine/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <unordered_map>

#include "golden/checked.hpp"
#include "golden/error.hpp"
#include "model/array.hpp"
#include "model/machine/output_block.hpp"

namespace bitcycle {
namespace {

std::uint64_t u64(std::int64_t value) { return static_cast<std::uint64_t>(value); }

std::string index_text(const Index3& i) { return fmt::format("({}, {}, {})", i[0], i[1], i[2]); }

// Numbers instructions by what their timing depends on.
class Shapes {
 public:
  std::uint32_t of(const Instruction& instruction) {
    const Key key = std::visit([](const auto& i) { return key_of(i); }, instruction);
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

  static Key lines_key(std::uint64_t head, const LineWalk& l) {
    // Bursts are split at 4096 bytes, so the place in the page counts.
    return {head | (l.dram % 4096) << 48U,
            pair(l.line_beats, low32(l.stride0)),
            pair(low32(l.stride1), low32(l.stride2)),
            pair(l.n0, l.n1),
            l.n2,
            0};
  }
  static Key key_of(const FetchInstruction& i) {
    return lines_key(std::uint64_t{i.wait_e2f} << 8U | std::uint64_t{i.wait_r2f} << 16U |
                         (i.post_f2e ? 4U : 0U) | (i.target == OperandBuffer::kW ? 8U : 0U),
                     i.lines);
  }
  static Key key_of(const StoreInstruction& i) {
    return lines_key(
        2U | std::uint64_t{i.wait_e2r} << 8U | (i.post_r2e ? 4U : 0U) | (i.post_r2f ? 8U : 0U),
        i.lines);
  }
  static Key key_of(const ExecInstruction& i) {
    return {1U | std::uint64_t{i.wait_f2e} << 8U | std::uint64_t{i.wait_r2e} << 16U |
                (i.post_e2f ? 4U : 0U) | (i.post_e2r ? 8U : 0U),
            pair(i.m, i.n),
            i.k,
            static_cast<std::uint64_t>(i.pa.bits * 32 + i.pw.bits),
            0,
            0};
  }

  std::unordered_map<Key, std::uint32_t, Hash> ids_;
};

}  // namespace

/// One pass over a plan's blocks.
class PlanWalk {
 public:
  PlanWalk(const Plan& plan, const Plan::Sink& sink, const Plan::OutputSink& output)
      : plan_(plan),
        p_(plan.problem_),
        m_(plan.mapping_),
        sink_(sink),
        on_output_(output),
        rows_{p_.rows(), m_.rows},
        cols_{p_.cols(), m_.cols},
        ks_{p_.ks(), m_.ks},
        nr_(u64(rows_.count())),
        nc_(u64(cols_.count())),
        nk_(u64(ks_.count())),
        steps_(p_.units * nr_ * nc_ * nk_),
        result_beat_(plan.result_base_ / static_cast<std::uint64_t>(p_.config.dw / 8)) {
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
    }
    outputs_ = plan.cost_.stores;
  }

  void run() {
    load(0);
    for (std::uint64_t step = 0; step < steps_; ++step) {
      if (step + 1 < steps_) load(step + 1);
      execute(step);
    }
  }

 private:
  struct Visit {
    std::uint64_t unit = 0, r = 0, c = 0, k = 0;
  };
  struct Operand {
    bool first = false;
    OperandBuffer target = OperandBuffer::kA;
    std::uint32_t depth = 0;
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

  bool changes(const Operand& o, std::uint64_t step) const {
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

  std::uint32_t buffer_beat(const Operand& o, std::uint64_t load) const {
    return o.total > 1 && load % 2 == 1 ? o.depth / 2 : 0;
  }

  void give(const Instruction& instruction, std::uint64_t step) {
    if (!sink_) return;
    const Visit v = visit(step);
    InstructionInfo info;
    info.step = step;
    info.unit = v.unit;
    info.row_block = v.r;
    info.col_block = v.c;
    info.k_block = v.k;
    info.shape = shapes_.of(instruction);
    sink_(instruction, info);
  }

  // Fetches what `step` needs and what is not there yet.
  void load(std::uint64_t step) {
    const Visit v = visit(step);
    const std::vector<GemmPart> list =
        v.unit == parts_unit_ && !parts_.empty() ? parts_ : p_.parts(v.unit);
    for (Operand& o : operands_) {
      if (!changes(o, step)) continue;
      const std::uint64_t number = o.loaded++;
      FetchBox& box = o.box[number % 2];
      box = fetch_box(p_, list, o.first,
                      o.first ? rows_.at(static_cast<std::int64_t>(v.r))
                              : cols_.at(static_cast<std::int64_t>(v.c)),
                      ks_.at(static_cast<std::int64_t>(v.k)));
      FetchInstruction f;
      f.target = o.target;
      f.post_f2e = true;
      f.lines = box_lines(o.first ? p_.first : p_.second, box, buffer_beat(o, number));
      if (number >= 2 && o.freed > taken_) {
        f.wait_e2f = static_cast<std::uint32_t>(o.freed - taken_);
        taken_ = o.freed;
      }
      if (step == 0 && plan_.wait_r2f && !waited_) {
        f.wait_r2f = 1;
        waited_ = true;
      }
      ++unseen_[step % 2];
      give(f, step);
    }
  }

  void execute(std::uint64_t step) {
    const Visit v = visit(step);
    const std::vector<GemmPart>& list = parts(v.unit);
    for (Operand& o : operands_) {
      if (changes(o, step)) o.pending = step == 0 ? 0 : o.pending + 1;
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
      return changes(o, step + 1) && o.pending + 2 < o.total;
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
      operands(part, r, c, ks, idle, e);
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
    execs.front().wait_f2e = unseen_[step % 2];
    unseen_[step % 2] = 0;
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

  void operands(const GemmPart& part, const Range3& r, const Range3& c, const Range3& ks, bool idle,
                ExecInstruction& e) {
    OperandGather first, second;
    if (idle) {  // nothing is inside a height of 0
      first.h = second.h = 0;
      e.k = 1;
    } else {
      const Operand& x = operands_[0];
      const Operand& y = operands_[1];
      first = gather_of(p_, part, true, x.box[x.pending % 2], buffer_beat(x, x.pending), r, ks);
      second = gather_of(p_, part, false, y.box[y.pending % 2], buffer_beat(y, y.pending), c, ks);
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
    const std::uint64_t start = result_beat_ * static_cast<std::uint64_t>(p_.config.dw);
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
    return u64(n) * (map.transposed ? map.br : 1);
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

  void store(std::uint64_t step, const FetchBox& codes, std::uint32_t ob_beat,
             std::uint64_t raw_word, const std::vector<OutputBlock>& blocks) {
    StoreInstruction s;
    s.wait_e2r = 1;
    s.post_r2e = output_ + 2 < outputs_;
    s.post_r2f = plan_.post_r2f && output_ + 1 == outputs_;
    if (p_.out.form == OutputForm::kCodes) {
      s.lines = box_lines(p_.result, codes, ob_beat);
    } else {
      const std::uint64_t beats =
          ceil_div(raw_word, static_cast<std::uint64_t>(p_.config.words_per_beat()));
      s.lines.dram = result_beat_ * static_cast<std::uint64_t>(p_.config.dw / 8);
      s.lines.line_beats = static_cast<std::uint32_t>(beats);
      s.lines.buffer = ob_beat;
      result_beat_ += beats;
    }
    give(s, step);
    if (on_output_) {
      for (const OutputBlock& b : blocks) on_output_(b);
    }
    ++output_;
  }

  const Plan& plan_;
  const GemmProblem& p_;
  const Mapping& m_;
  const Plan::Sink& sink_;
  const Plan::OutputSink& on_output_;
  BlockGrid rows_, cols_, ks_;
  std::uint64_t nr_, nc_, nk_, steps_;
  std::uint64_t result_beat_;
  std::array<Operand, 2> operands_;
  std::uint64_t outputs_ = 0;  // in all
  std::uint64_t output_ = 0;   // so far
  std::vector<GemmPart> parts_;
  std::uint64_t parts_unit_ = 0;
  std::uint64_t posted_ = 0, taken_ = 0;   // e2f
  std::array<std::uint32_t, 2> unseen_{};  // f2e that the step's first exec waits for
  bool waited_ = false;
  Shapes shapes_;
};

bool outputs_alone(const GemmProblem& problem, const Mapping& m) {
  return problem.units == 1 && m.sub_rows == problem.rows() && m.sub_cols == problem.cols();
}

Plan::Plan(GemmProblem problem, const Mapping& mapping)
    : problem_(std::move(problem)), mapping_(mapping) {
  const PlanCheck check = check_mapping(problem_, mapping_);
  if (!check.refused.empty()) {
    throw input_error("", 0, "mapping of " + problem_.name,
                      mapping_text(mapping_) + " (" + check.refused + ")",
                      "blocks that fit the layer and the machine's buffers");
  }
  cost_ = check.cost;
}

std::uint64_t Plan::result_bytes() const {
  if (problem_.out.form == OutputForm::kCodes) return problem_.result.bytes();
  return cost_.out_beats * static_cast<std::uint64_t>(problem_.config.dw / 8);
}

void Plan::set_addresses(std::uint64_t first, std::uint64_t second, std::uint64_t result) {
  problem_.first.base = first;
  problem_.second.base = second;
  problem_.result.base = result;
  result_base_ = result;
}

void Plan::emit(const Sink& sink) const { PlanWalk(*this, sink, nullptr).run(); }

void Plan::outputs(const OutputSink& sink) const { PlanWalk(*this, nullptr, sink).run(); }

std::string mapping_text(const Mapping& m) {
  return fmt::format("rows {} cols {} reduction {} out {} {} {} outer{}", index_text(m.rows),
                     index_text(m.cols), index_text(m.ks), index_text(m.sub_rows),
                     index_text(m.sub_cols), m.cols_outer ? "cols" : "rows",
                     m.exchange ? ", exchanged" : "");
}

Mapping parse_mapping(const std::string& text) {
  Mapping m;
  long long v[15];
  char outer[5] = {};
  int used = 0;
  const int found = std::sscanf(
      text.c_str(),
      "rows (%lld, %lld, %lld) cols (%lld, %lld, %lld) reduction (%lld, %lld, %lld) out (%lld, "
      "%lld, %lld) (%lld, %lld, %lld) %4[a-z] outer%n",
      &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9], &v[10], &v[11], &v[12],
      &v[13], &v[14], outer, &used);
  const std::string order = outer;
  const std::string rest = used > 0 ? text.substr(static_cast<std::size_t>(used)) : "";
  if (found != 16 || used == 0 || (order != "rows" && order != "cols") ||
      (!rest.empty() && rest != ", exchanged")) {
    throw input_error("", 0, "mapping", "'" + text + "'",
                      "rows (a, b, c) cols (a, b, c) reduction (a, b, c) out (a, b, c) (a, b, c) "
                      "rows|cols outer[, exchanged]");
  }
  Index3* const fields[] = {&m.rows, &m.cols, &m.ks, &m.sub_rows, &m.sub_cols};
  for (std::size_t i = 0; i < 15; ++i) (*fields[i / 3])[i % 3] = v[i];
  m.cols_outer = order == "cols";
  m.exchange = !rest.empty();
  return m;
}

std::string Plan::describe() const {
  const PlanCost& c = cost_;
  const MachineConfig& m = problem_.config;
  const BlockGrid rows{problem_.rows(), mapping_.rows};
  const BlockGrid cols{problem_.cols(), mapping_.cols};
  const BlockGrid ks{problem_.ks(), mapping_.ks};
  std::string out = problem_.name + "\n";
  out += fmt::format("  units {} parts {}; rows {} cols {} reduction {}{}\n", problem_.units,
                     problem_.parts_per_unit, index_text(rows.extent), index_text(cols.extent),
                     index_text(ks.extent), problem_.k_granules ? " (granules)" : "");
  out += fmt::format("  mapping {}\n", mapping_text(mapping_));
  out += fmt::format("  blocks {} x {} x {}; {} exec, {} fetch, {} store instructions\n",
                     rows.count(), cols.count(), ks.count(), c.execs, c.fetches, c.stores);
  out += fmt::format(
      "  buffers: first {} of {} beats, second {} of {}, output {} of {}, partial sums {} of {}\n",
      c.first_box, mapping_.exchange ? m.l1w_d : m.l1a_d, c.second_box,
      mapping_.exchange ? m.l1a_d : m.l1w_d, c.last_out, m.ob_d, c.psb_entries, m.ps_d);
  out += fmt::format("  exec cycles {}; beats read {} (tensor {}) + {} (tensor {}), written {}\n",
                     c.exec_cycles, c.first_beats, c.first_unique, c.second_beats, c.second_unique,
                     c.out_beats);
  out += fmt::format("  MACs useful {}, issued {}, with whole tiles {}\n", problem_.useful_macs,
                     c.macs_issued, c.macs_padded);
  return out;
}

void read_raw(const Plan& plan, const std::vector<std::uint8_t>& dram,
              const std::function<void(const OutputBlock&, std::uint64_t r, std::uint64_t c,
                                       std::int64_t value)>& on_value,
              const std::function<void(const OutputBlock&, bool of_first, std::uint64_t index,
                                       std::int64_t value)>& on_sum) {
  const auto value_at = [&](std::uint64_t bit, std::uint64_t bits) {
    const std::uint64_t raw = get_bits(dram.data(), bit, bits);
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
    return static_cast<std::int64_t>((raw ^ sign) - sign);
  };
  plan.outputs([&](const OutputBlock& b) {
    for (std::uint64_t r = 0; r < b.row_count; ++r) {
      for (std::uint64_t c = 0; c < b.col_count; ++c) {
        on_value(b, r, c,
                 value_at(b.values_bit + r * b.row_step_bits + c * b.col_step_bits, b.step_bits));
      }
    }
    if (!b.sums) return;
    for (std::uint64_t r = 0; r < b.row_count; ++r) {
      on_sum(b, true, r, value_at(b.sum_first_bit + r * b.step_bits, b.step_bits));
    }
    for (std::uint64_t c = 0; c < b.col_count; ++c) {
      on_sum(b, false, c, value_at(b.sum_second_bit + c * b.step_bits, b.step_bits));
    }
  });
}

}  // namespace bitcycle
