#include "model/machine/functional.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "golden/checked.hpp"
#include "golden/dot.hpp"
#include "golden/error.hpp"
#include "golden/widths.hpp"
#include "model/array.hpp"

namespace bitcycle {
namespace {

constexpr std::uint32_t kMostTokens = 65535;
constexpr std::size_t kEngines = 3;  // fetch, exec, store: the order of the opcodes
constexpr const char* kEngineNames[kEngines] = {"fetch", "exec", "store"};

InputError refusal(const std::string& found, const std::string& allowed) {
  return input_error("", 0, "", found, allowed);
}

// Tokens taken at the start and posted at the end: f2e, e2f, e2r, r2e, r2f.
enum Token { kF2e, kE2f, kE2r, kR2e, kR2f, kTokens };
constexpr const char* kTokenNames[kTokens] = {"f2e", "e2f", "e2r", "r2e", "r2f"};
using Counts = std::array<std::uint32_t, kTokens>;

Counts takes(const Instruction& instruction) {
  Counts c{};
  if (const auto* f = std::get_if<FetchInstruction>(&instruction)) {
    c[kE2f] = f->wait_e2f;
    c[kR2f] = f->wait_r2f;
  } else if (const auto* e = std::get_if<ExecInstruction>(&instruction)) {
    c[kF2e] = e->wait_f2e;
    c[kR2e] = e->wait_r2e;
  } else {
    c[kE2r] = std::get<StoreInstruction>(instruction).wait_e2r;
  }
  return c;
}

Counts posts(const Instruction& instruction) {
  Counts c{};
  if (const auto* f = std::get_if<FetchInstruction>(&instruction)) {
    c[kF2e] = f->post_f2e ? 1 : 0;
  } else if (const auto* e = std::get_if<ExecInstruction>(&instruction)) {
    c[kE2f] = e->post_e2f ? 1 : 0;
    c[kE2r] = e->post_e2r ? 1 : 0;
  } else {
    const auto& s = std::get<StoreInstruction>(instruction);
    c[kR2e] = s.post_r2e ? 1 : 0;
    c[kR2f] = s.post_r2f ? 1 : 0;
  }
  return c;
}

// Dispatcher, queues and tokens: which instruction may run next.
class Scheduler {
 public:
  Scheduler(const std::vector<Instruction>& program, int queue_depth, FunctionalOrder order)
      : program_(program), depth_(static_cast<std::size_t>(queue_depth)), order_(order) {}

  bool finished() const { return done_ == program_.size(); }

  /// Index of the next instruction; nothing if none can ever run.
  std::optional<std::size_t> next() {
    // An instruction leaves its queue when it starts; one that ran has left it.
    while (dispatched_ < program_.size()) {
      auto& queue = queues_[program_[dispatched_].index()];
      if (queue.size() >= depth_) break;
      queue.push_back(dispatched_++);
    }
    std::optional<std::size_t> best;
    for (const std::size_t engine : preference()) {
      if (queues_[engine].empty() || !ready(queues_[engine].front())) continue;
      const std::size_t index = queues_[engine].front();
      if (order_ != FunctionalOrder::kProgram) return index;
      if (!best || index < *best) best = index;
    }
    return best;
  }

  void ran(std::size_t index) {
    queues_[program_[index].index()].pop_front();
    ++done_;
    const Counts take = takes(program_[index]);
    const Counts post = posts(program_[index]);
    for (int t = 0; t < kTokens; ++t) {
      const auto i = static_cast<std::size_t>(t);
      tokens_[i] = tokens_[i] - take[i] + post[i];
      if (tokens_[i] > kMostTokens) {
        throw refusal(fmt::format("{} tokens of {}", tokens_[i], kTokenNames[i]),
                      fmt::format("at most {}", kMostTokens));
      }
    }
  }

  InputError stuck() const {
    for (std::size_t engine = 0; engine < kEngines; ++engine) {
      if (queues_[engine].empty()) continue;
      const std::size_t index = queues_[engine].front();
      const Counts take = takes(program_[index]);
      for (std::size_t t = 0; t < kTokens; ++t) {
        if (take[t] <= tokens_[t]) continue;
        return InputError(
            fmt::format("instruction {} ({}): waits for {} tokens of {}, only {} ever come{}",
                        index, kEngineNames[engine], take[t], kTokenNames[t], tokens_[t],
                        dispatched_ < program_.size()
                            ? fmt::format("; instruction {} ({}) does not fit in its queue",
                                          dispatched_, kEngineNames[program_[dispatched_].index()])
                            : ""));
      }
    }
    return InputError("the stream stops");
  }

  /// Throws if a token is left over: the next stream would start with it.
  void check_leftovers() const {
    for (std::size_t t = 0; t < kTokens; ++t) {
      if (tokens_[t] != 0) {
        throw InputError(fmt::format("end of the stream: {} tokens of {} left over, allowed 0",
                                     tokens_[t], kTokenNames[t]));
      }
    }
  }

 private:
  std::array<std::size_t, kEngines> preference() const {
    if (order_ == FunctionalOrder::kLateFetch) return {2, 1, 0};
    return {0, 1, 2};
  }
  bool ready(std::size_t index) const {
    const Counts take = takes(program_[index]);
    for (std::size_t t = 0; t < kTokens; ++t) {
      if (take[t] > tokens_[t]) return false;
    }
    return true;
  }

  const std::vector<Instruction>& program_;
  std::size_t depth_;
  FunctionalOrder order_;
  std::size_t dispatched_ = 0, done_ = 0;
  std::array<std::deque<std::size_t>, kEngines> queues_;
  Counts tokens_{};
};

// One step of an address rule: word offset and the coordinates that padding is judged by.
struct Step {
  std::int64_t word = 0;
  std::int32_t y = 0, x = 0;
  std::uint32_t cg = 0;
};

Step outer_step(const OperandGather& s, std::uint64_t o) {
  const std::uint64_t a0 = o % s.r0;
  const std::uint64_t a1 = o / s.r0 % s.r1;
  const std::uint64_t a2 = o / s.r0 / s.r1;
  const auto at = [](std::uint64_t index, std::int64_t stride) {
    return static_cast<std::int64_t>(index) * stride;
  };
  return {at(a2, s.a2) + at(a1, s.a1) + at(a0, s.a0),
          static_cast<std::int32_t>(at(a1, s.sy)) + s.y0,
          static_cast<std::int32_t>(at(a0, s.sx)) + s.x0, 0};
}

Step tap_step(const OperandGather& s, std::uint64_t t) {
  const std::uint64_t cg = t % s.cg;
  const std::uint64_t b0 = t / s.cg % s.kb0;
  const std::uint64_t b1 = t / s.cg / s.kb0;
  const auto at = [](std::uint64_t index, std::int64_t stride) {
    return static_cast<std::int64_t>(index) * stride;
  };
  return {at(b1, s.b1) + at(b0, s.b0) + at(cg, s.sc), static_cast<std::int32_t>(at(b1, s.dy)),
          static_cast<std::int32_t>(at(b0, s.dx)), static_cast<std::uint32_t>(cg)};
}

// Addresses are sums modulo 2^32 that the memory truncates; every memory has at most 2^24 words,
// and a base below zero is stored in 24 bits.
std::uint32_t truncated(std::int64_t word) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(word) & 0xFFFFFFU);
}

// Coordinates are 16-bit sums; a negative one is outside.
bool inside(const OperandGather& s, const Step& o, const Step& t) {
  const auto y = static_cast<std::int16_t>(o.y + t.y);
  const auto x = static_cast<std::int16_t>(o.x + t.x);
  return y >= 0 && static_cast<std::uint32_t>(y) < s.h && x >= 0 &&
         static_cast<std::uint32_t>(x) < s.w;
}

}  // namespace

FunctionalMachine::FunctionalMachine(const MachineConfig& config, bool data)
    : config_(config), data_(data) {
  config_.validate();
  const int beats[3] = {config_.l1a_d, config_.l1w_d, config_.ob_d};
  for (std::size_t b = 0; b < 3; ++b) {
    const auto words =
        static_cast<std::size_t>(beats[b]) * static_cast<std::size_t>(config_.words_per_beat());
    buffers_[b].words.assign(words, 0);
    buffers_[b].written.assign(words, 0);
  }
  psb_.resize(static_cast<std::size_t>(config_.ps_d));
  psb_written_.assign(psb_.size(), 0);
}

FunctionalResult FunctionalMachine::run(const std::vector<Instruction>& program,
                                        std::vector<std::uint8_t>* dram, FunctionalOrder order) {
  result_ = FunctionalResult();
  Scheduler scheduler(program, config_.qd, order);
  while (!scheduler.finished()) {
    const std::optional<std::size_t> index = scheduler.next();
    if (!index) throw scheduler.stuck();
    const Instruction& instruction = program[*index];
    try {
      const layout::MachineCause cause = cause_of(instruction, config_);
      if (cause != layout::MachineCause::kNone) {
        throw InputError(fmt::format("illegal, cause {}", layout::cause_name(cause)));
      }
      if (const auto* f = std::get_if<FetchInstruction>(&instruction)) {
        fetch(*f, dram);
      } else if (const auto* s = std::get_if<StoreInstruction>(&instruction)) {
        store(*s, dram);
      } else {
        exec(std::get<ExecInstruction>(instruction));
      }
      scheduler.ran(*index);
    } catch (const InputError& error) {
      throw InputError(fmt::format("instruction {} ({}): {}", *index,
                                   kEngineNames[instruction.index()], error.what()));
    }
  }
  scheduler.check_leftovers();
  return result_;
}

namespace {

// Calls visit(buffer beat, byte address) for every beat of the lines, in the hardware's order.
template <typename Visit>
void for_each_beat(const LineWalk& l, int beat_bytes, Visit&& visit) {
  std::uint64_t beat = l.buffer;
  for (std::uint32_t i2 = 0; i2 < l.n2; ++i2) {
    for (std::uint32_t i1 = 0; i1 < l.n1; ++i1) {
      for (std::uint32_t i0 = 0; i0 < l.n0; ++i0) {
        const std::int64_t line = std::int64_t{i2} * l.stride2 + std::int64_t{i1} * l.stride1 +
                                  std::int64_t{i0} * l.stride0;
        std::int64_t address = static_cast<std::int64_t>(l.dram) + line * beat_bytes;
        for (std::uint32_t b = 0; b < l.line_beats; ++b, ++beat, address += beat_bytes) {
          visit(beat, address);
        }
      }
    }
  }
}

void check_buffer(const LineWalk& l, std::uint64_t depth, const char* name) {
  if (l.buffer + l.beats() > depth) {
    throw refusal(fmt::format("beats {} to {} of {}", l.buffer, l.buffer + l.beats() - 1, name),
                  fmt::format("0 to {}", depth - 1));
  }
}

void check_dram(std::int64_t address, int beat_bytes, std::size_t size) {
  if (address < 0 ||
      static_cast<std::uint64_t>(address) + static_cast<std::uint64_t>(beat_bytes) > size) {
    throw refusal(fmt::format("DRAM address 0x{:x}", address), fmt::format("below 0x{:x}", size));
  }
}

}  // namespace

void FunctionalMachine::fetch(const FetchInstruction& i, const std::vector<std::uint8_t>* dram) {
  const bool is_a = i.target == OperandBuffer::kA;
  const auto depth = static_cast<std::uint64_t>(is_a ? config_.l1a_d : config_.l1w_d);
  check_buffer(i.lines, depth, is_a ? "L1A" : "L1W");
  Buffer& buffer = buffers_[static_cast<std::size_t>(i.target)];
  const auto wpb = static_cast<std::size_t>(config_.words_per_beat());
  const auto gl = static_cast<std::size_t>(config_.gl);
  for_each_beat(i.lines, config_.dw / 8, [&](std::uint64_t beat, std::int64_t address) {
    if (data_) check_dram(address, config_.dw / 8, dram->size());
    for (std::size_t w = 0; w < wpb; ++w) {
      buffer.written[beat * wpb + w] = 1;
      if (data_) {
        buffer.words[beat * wpb + w] =
            static_cast<std::uint16_t>(get_bits(dram->data() + address, w * gl, gl));
      }
    }
  });
  (is_a ? result_.fetched_beats_a : result_.fetched_beats_w) += i.lines.beats();
}

void FunctionalMachine::store(const StoreInstruction& i, std::vector<std::uint8_t>* dram) {
  check_buffer(i.lines, static_cast<std::uint64_t>(config_.ob_d), "the output buffer");
  const Buffer& buffer = buffers_[2];
  const auto wpb = static_cast<std::size_t>(config_.words_per_beat());
  const auto gl = static_cast<std::size_t>(config_.gl);
  for_each_beat(i.lines, config_.dw / 8, [&](std::uint64_t beat, std::int64_t address) {
    if (data_) check_dram(address, config_.dw / 8, dram->size());
    bool any = false;  // the padding at the end of a line need not have been written
    for (std::size_t w = 0; w < wpb; ++w) {
      any = any || buffer.written[beat * wpb + w] != 0;
      if (data_) put_bits(dram->data() + address, w * gl, gl, buffer.words[beat * wpb + w]);
    }
    if (!any) throw refusal(fmt::format("beat {} of the output buffer", beat), "written beats");
  });
  result_.stored_beats += i.lines.beats();
}

FunctionalMachine::Operand FunctionalMachine::gather(const OperandGather& s, OperandBuffer which,
                                                     Precision p, std::uint32_t rows,
                                                     std::uint32_t k) const {
  const Buffer& buffer = buffers_[static_cast<std::size_t>(which)];
  const char* name = which == OperandBuffer::kA ? "L1A" : "L1W";
  const auto gl = static_cast<std::uint32_t>(config_.gl);
  if (s.transposed && s.lo + s.br > gl) {
    throw refusal(fmt::format("lanes {} to {}", s.lo, s.lo + s.br - 1),
                  fmt::format("0 to {}", gl - 1));
  }
  if (!s.transposed && s.br != 1) throw refusal(fmt::format("BR = {} in mode N", s.br), "1");
  const std::uint64_t outers = s.transposed ? k : rows;
  const std::uint64_t taps = s.transposed ? ceil_div(rows, s.br) : ceil_div(k, gl);
  std::vector<Step> outer(outers);
  std::vector<Step> tap(taps);
  for (std::uint64_t o = 0; o < outers; ++o) outer[o] = outer_step(s, o);
  for (std::uint64_t t = 0; t < taps; ++t) tap[t] = tap_step(s, t);

  Operand out;
  if (data_) {
    out.codes = CodeMatrix::Zero(rows, k);
    out.sums.assign(rows, 0);
  }
  const std::uint32_t span = s.transposed ? s.br : gl;  // rows (or k) behind one word
  const auto bits = static_cast<std::uint32_t>(p.bits);
  for (std::uint64_t o = 0; o < outers; ++o) {
    for (std::uint64_t t = 0; t < taps; ++t) {
      if (!inside(s, outer[o], tap[t])) continue;
      const std::uint32_t first = truncated(std::int64_t{s.base} + outer[o].word + tap[t].word);
      for (std::uint32_t plane = 0; plane < bits; ++plane) {
        const std::uint32_t word = truncated(std::int64_t{first} + plane);
        if (word >= buffer.words.size()) {
          throw refusal(fmt::format("word {} of {}", word, name),
                        fmt::format("0 to {}", buffer.words.size() - 1));
        }
        if (buffer.written[word] == 0) {
          throw refusal(fmt::format("word {} of {}, never written", word, name), "written words");
        }
      }
      if (!data_) continue;
      for (std::uint32_t lane = 0; lane < span; ++lane) {
        const std::uint64_t along = t * span + lane;
        if (along >= (s.transposed ? rows : k)) break;
        const std::uint32_t g = s.transposed ? lane + s.lo : lane;
        if (!s.transposed &&
            ((tap[t].cg == 0 && g < s.lo) || (tap[t].cg == s.cg - 1 && g >= s.hi))) {
          continue;
        }
        std::uint32_t pattern = 0;
        for (std::uint32_t plane = 0; plane < bits; ++plane) {
          pattern =
              pattern << 1U | ((static_cast<std::uint32_t>(buffer.words[first + plane]) >> g) & 1U);
        }
        const auto row = static_cast<Eigen::Index>(s.transposed ? along : o);
        const auto column = static_cast<Eigen::Index>(s.transposed ? o : along);
        const std::int32_t code = code_of(pattern, p);
        out.codes(row, column) = code;
        out.sums[static_cast<std::size_t>(row)] += code;
      }
    }
  }
  return out;
}

std::int64_t FunctionalMachine::accumulate(i128 value) {
  result_.must_overflow = result_.must_overflow || !fits_width(value, config_.array.acc_w);
  return wrap_to_width(value, config_.array.acc_w);
}

void FunctionalMachine::exec(const ExecInstruction& i) {
  const Operand a = gather(i.a, OperandBuffer::kA, i.pa, i.m, i.k);
  const Operand w = gather(i.w, OperandBuffer::kW, i.pw, i.n, i.k);
  std::vector<std::int64_t> acc, sum_a, sum_w;
  if (data_) {
    acc.reserve(std::size_t{i.m} * i.n);
    for (Eigen::Index m = 0; m < i.m; ++m) {
      for (Eigen::Index n = 0; n < i.n; ++n) {
        acc.push_back(accumulate(
            exact_dot(a.codes.data() + m * i.k, w.codes.data() + n * i.k, std::size_t{i.k})));
      }
    }
    for (const std::int64_t sum : a.sums) sum_a.push_back(accumulate(sum));
    for (const std::int64_t sum : w.sums) sum_w.push_back(accumulate(sum));
  }
  result_.macs_issued += std::uint64_t{i.m} * i.n * i.k;
  if (i.ps_read || i.ps_write) through_psb(i, acc, sum_a, sum_w);
  if (!i.ps_write) write_results(i, acc, sum_a, sum_w);
}

// An entry is one result beat of the array: tiles rows outermost, row-major inside.
void FunctionalMachine::through_psb(const ExecInstruction& i, std::vector<std::int64_t>& acc,
                                    std::vector<std::int64_t>& sum_a,
                                    std::vector<std::int64_t>& sum_w) {
  const ArrayConfig& c = config_.array;
  const int rpb = c.q > c.tn ? c.q / c.tn : 1;
  const int cpb = c.q > c.tn ? c.tn : c.q;
  const auto tiles_m = static_cast<std::uint32_t>(ceil_div(i.m, static_cast<std::uint64_t>(c.tm)));
  const auto tiles_n = static_cast<std::uint32_t>(ceil_div(i.n, static_cast<std::uint64_t>(c.tn)));
  const int row_beats = (c.tm + rpb - 1) / rpb;
  const int beats = row_beats * (c.tn / cpb);
  const std::uint64_t entries =
      std::uint64_t{tiles_m} * tiles_n * static_cast<std::uint64_t>(beats);
  if (i.ps_base + entries > psb_.size()) {
    throw refusal(fmt::format("entries {} to {} of the partial-sum buffer", i.ps_base,
                              i.ps_base + entries - 1),
                  fmt::format("0 to {}", psb_.size() - 1));
  }
  if (i.ps_read) result_.psb_entries_read += entries;
  if (i.ps_write) result_.psb_entries_written += entries;
  const auto width = static_cast<std::size_t>(c.q + rpb + cpb);
  std::size_t at = i.ps_base;
  for (std::uint32_t tm = 0; tm < tiles_m; ++tm) {
    for (std::uint32_t tn = 0; tn < tiles_n; ++tn) {
      for (int rb = 0; rb < row_beats; ++rb) {
        for (int group = 0; group < c.tn / cpb; ++group, ++at) {
          if (i.ps_read && psb_written_[at] == 0) {
            throw refusal(fmt::format("entry {} of the partial-sum buffer, never written", at),
                          "written entries");
          }
          if (i.ps_write) psb_written_[at] = 1;
          if (!data_) continue;
          auto& entry = psb_[at];
          entry.resize(width, 0);
          std::vector<std::int64_t> fresh(width, 0);
          // Adds the entry if asked; keeps the sum in place and in what becomes the entry.
          const auto merge = [&](std::int64_t& value, std::size_t slot, bool keep) {
            std::int64_t sum = value;
            if (i.ps_read) sum = accumulate(static_cast<i128>(value) + entry[slot]);
            fresh[slot] = sum;
            if (keep) value = sum;
          };
          for (int r = 0; r < rpb; ++r) {
            const std::uint32_t in_tile = static_cast<std::uint32_t>(rb * rpb + r);
            const std::uint32_t m = tm * static_cast<std::uint32_t>(c.tm) + in_tile;
            if (in_tile >= static_cast<std::uint32_t>(c.tm) || m >= i.m) continue;
            merge(sum_a[m], static_cast<std::size_t>(c.q + r),
                  tn == tiles_n - 1 && group == c.tn / cpb - 1);
            for (int j = 0; j < cpb; ++j) {
              const std::uint32_t n = tn * static_cast<std::uint32_t>(c.tn) +
                                      static_cast<std::uint32_t>(group * cpb + j);
              if (n >= i.n) continue;
              merge(acc[std::size_t{m} * i.n + n], static_cast<std::size_t>(r * cpb + j), true);
            }
          }
          for (int j = 0; j < cpb; ++j) {
            const std::uint32_t n =
                tn * static_cast<std::uint32_t>(c.tn) + static_cast<std::uint32_t>(group * cpb + j);
            if (n >= i.n) continue;
            merge(sum_w[n], static_cast<std::size_t>(c.q + rpb + j),
                  tm == tiles_m - 1 && rb == row_beats - 1);
          }
          if (i.ps_write) entry = fresh;
        }
      }
    }
  }
}

std::size_t FunctionalMachine::ob_index(std::int64_t word) const {
  const std::uint32_t index = truncated(word);
  if (index >= buffers_[2].words.size()) {
    throw refusal(fmt::format("word {} of the output buffer", index),
                  fmt::format("0 to {}", buffers_[2].words.size() - 1));
  }
  return index;
}

void FunctionalMachine::write_raw(std::int64_t word, bool raw32, std::int64_t value) {
  const int words = (raw32 ? 32 : 48) / config_.gl;
  for (int w = 0; w < words; ++w) {
    const std::size_t index = ob_index(word + w);
    buffers_[2].written[index] = 1;
    buffers_[2].words[index] = static_cast<std::uint16_t>(
        (static_cast<std::uint64_t>(value) >> (w * config_.gl)) & ((1U << config_.gl) - 1U));
  }
}

void FunctionalMachine::write_code(std::int64_t word, std::uint32_t lane, std::int32_t code,
                                   int bits) {
  const std::uint32_t pattern = pattern_of(code, bits);
  for (int plane = 0; plane < bits; ++plane) {
    const std::size_t index = ob_index(word + plane);
    std::uint16_t& stored = buffers_[2].words[index];
    if (lane == 0) stored = 0;
    buffers_[2].written[index] = 1;
    const std::uint32_t bit = (pattern >> (bits - 1 - plane)) & 1U;
    stored = static_cast<std::uint16_t>((stored & ~(1U << lane)) | (bit << lane));
  }
}

void FunctionalMachine::write_results(const ExecInstruction& i,
                                      const std::vector<std::int64_t>& acc,
                                      const std::vector<std::int64_t>& sum_a,
                                      const std::vector<std::int64_t>& sum_w) {
  const ExecOutput& o = i.out;
  const ArrayConfig& c = config_.array;
  const std::int64_t rw = (o.raw32 ? 32 : 48) / config_.gl;
  const auto gl = static_cast<std::uint32_t>(config_.gl);
  OperandGather place;  // the output position is an outer generator
  place.r0 = o.or0;
  place.r1 = o.or1;
  place.a0 = o.o0;
  place.a1 = o.o1;
  place.a2 = o.o2;
  std::vector<std::int64_t> position(!o.raw && o.column ? i.n : i.m);
  for (std::size_t p = 0; p < position.size(); ++p) position[p] = outer_step(place, p).word;
  const std::int64_t base = o.ob_base;
  for (std::uint32_t m = 0; m < i.m; ++m) {
    for (std::uint32_t n = 0; n < i.n; ++n) {
      const std::size_t index = std::size_t{m} * i.n + n;
      const std::int64_t value = data_ ? acc[index] : 0;
      std::int64_t v = value;
      if (o.raw) {
        write_raw(base + position[m] + n * rw, o.raw32, value);
      } else {
        const std::uint32_t element = o.element + m * o.element_row + n;
        std::int32_t code = 0;
        if (data_) {
          v = remove_zero_points(value, sum_a[m], sum_w[n], o.q);
          code = requantise(value, sum_a[m], sum_w[n], o.q, element);
        }
        const std::uint32_t along = o.column ? m : n;
        write_code(base + position[o.column ? n : m] + std::int64_t{along / gl} * o.oc, along % gl,
                   code, o.q.out_bits);
      }
      if (data_) {
        result_.vmin = result_.any_value ? std::min(result_.vmin, v) : v;
        result_.vmax = result_.any_value ? std::max(result_.vmax, v) : v;
        result_.any_value = true;
      }
    }
  }
  if (o.sums) {
    for (std::uint32_t m = 0; m < i.m; ++m) {
      write_raw(o.sum_a + m * rw, o.raw32, data_ ? sum_a[m] : 0);
    }
    for (std::uint32_t n = 0; n < i.n; ++n) {
      write_raw(o.sum_w + n * rw, o.raw32, data_ ? sum_w[n] : 0);
    }
  }
  const std::uint64_t tiles = ceil_div(i.m, static_cast<std::uint64_t>(c.tm)) *
                              ceil_div(i.n, static_cast<std::uint64_t>(c.tn));
  result_.result_beats +=
      tiles * ceil_div(static_cast<std::uint64_t>(c.tm) * static_cast<std::uint64_t>(c.tn),
                       static_cast<std::uint64_t>(c.q));
}

std::optional<std::string> refuse_stream(const MachineConfig& config,
                                         const std::vector<Instruction>& program) {
  try {
    FunctionalMachine(config, false).run(program, nullptr);
  } catch (const InputError& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace bitcycle
