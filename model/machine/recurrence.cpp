#include "model/machine/recurrence.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kPage = 4096;  // AXI: a burst does not cross it
constexpr std::uint64_t kUnit = 256;   // 1/256 cycle
constexpr std::uint64_t kResultPipeline = 4;

std::uint64_t ceil_units(std::uint64_t units) { return (units + kUnit - 1) / kUnit; }

const char* engine_name(std::size_t e) {
  static const char* const names[] = {"fetch", "exec", "store"};
  return names[e];
}

}  // namespace

std::uint64_t page_place(const TimedTransfer& t, std::uint64_t beat_bytes) {
  const std::uint64_t line = t.line_beats * beat_bytes;
  // The largest power of two, at most a page, from which the lines of a loop start alike.
  std::uint64_t period = kPage;
  const auto step = [&](std::uint32_t n, std::int64_t stride) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(stride) * beat_bytes;
    while (n > 1 && bytes % period != 0) period /= 2;
  };
  step(t.n1, t.stride1);
  step(t.n2, t.stride2);
  // All lines of the inner loop inside one such power, or each line inside one.
  const std::uint64_t reach =
      t.stride0 < 0 ? kPage + 1
                    : line + (t.n0 - 1) * static_cast<std::uint64_t>(t.stride0) * beat_bytes;
  if (t.address % period + reach <= period) return 0;
  step(t.n0, t.stride0);
  if (t.address % period + line <= period) return 0;
  return t.address % kPage / beat_bytes + 1;
}

int stream_words(MachineEngine engine) { return engine == MachineEngine::kExec ? 27 : 6; }

Recurrence::Recurrence(const MachineConfig& config, const MemoryTiming& memory)
    : config_(config), memory_(memory), beat_bytes_(static_cast<std::uint64_t>(config.dw) / 8) {
  config.validate();
  const auto check = [](const char* field, std::uint64_t value, std::uint64_t low) {
    if (value < low || value > (std::uint64_t{1} << 32)) {
      throw input_error("", 0, field, std::to_string(value), std::to_string(low) + " to 2^32");
    }
  };
  check("memory latency", memory.latency, 1);
  check("memory write latency", memory.write_latency, 1);
  check("memory read cost", memory.read_cost, kUnit);
  check("memory write cost", memory.write_cost, kUnit);
}

void Recurrence::add(const TimedInstruction& instruction) {
  if (instruction.engine != MachineEngine::kExec) {
    const TimedTransfer& t = instruction.transfer;
    if (t.line_beats == 0 || t.lines() == 0) {
      throw input_error("", 0, "transfer", "a count of 0", "at least 1");
    }
    if (t.address % beat_bytes_ != 0) {
      throw input_error("", 0, "transfer address", std::to_string(t.address),
                        "a multiple of " + std::to_string(beat_bytes_));
    }
  }
  stream_.push_back(instruction);
  settle();
}

// Everything that can be known is evaluated: what is left waits for instructions to come.
void Recurrence::settle() {
  for (bool moved = true; moved;) {
    moved = false;
    const std::size_t before = stream_.size();
    dispatch();
    moved = stream_.size() != before;
    for (const MachineEngine e :
         {MachineEngine::kFetch, MachineEngine::kExec, MachineEngine::kStore}) {
      while (evaluate(e)) moved = true;
    }
  }
}

void Recurrence::dispatch() {
  while (!stream_.empty()) {
    const TimedInstruction& instruction = stream_.front();
    EngineState& e = engines_[index(instruction.engine)];
    const auto depth = static_cast<std::uint64_t>(config_.qd);
    // The queue has room from the cycle in which instruction i - QD starts.
    std::uint64_t room = 0;
    if (e.pushed_count >= depth) {
      const std::uint64_t needed = e.pushed_count - depth;  // its start must be known
      if (e.evaluated <= needed) return;
      room = e.starts[e.starts.size() - (e.evaluated - needed)];
    }
    const std::uint64_t words = static_cast<std::uint64_t>(stream_words(instruction.engine));
    const std::uint64_t pushed = std::max(first_word_ + words, room);
    e.queue.push_back({instruction, pushed});
    ++e.pushed_count;
    first_word_ = pushed;
    stream_.pop_front();
  }
}

bool Recurrence::evaluate(MachineEngine which) {
  EngineState& e = engines_[index(which)];
  if (e.queue.empty()) return false;
  const TimedInstruction& in = e.queue.front().instruction;
  Tokens& in_tokens = which == MachineEngine::kFetch  ? r2f_
                      : which == MachineEngine::kExec ? f2e_
                                                      : e2r_;
  Tokens& out_tokens = which == MachineEngine::kFetch ? e2f_ : r2e_;
  if (in_tokens.posts.size() < in.wait_in) return false;
  if (which != MachineEngine::kStore && out_tokens.posts.size() < in.wait_out) return false;

  const std::uint64_t ready = std::max(e.free_from, e.queue.front().pushed + 1);
  std::uint64_t start = ready;
  std::uint64_t in_there = ready;
  if (in.wait_in > 0) in_there = std::max(ready, in_tokens.posts[in.wait_in - 1] + 1);
  start = in_there;
  if (which != MachineEngine::kStore && in.wait_out > 0) {
    start = std::max(start, out_tokens.posts[in.wait_out - 1] + 1);
  }
  for (std::uint32_t i = 0; i < in.wait_in; ++i) in_tokens.posts.pop_front();
  if (which != MachineEngine::kStore) {
    for (std::uint32_t i = 0; i < in.wait_out; ++i) out_tokens.posts.pop_front();
  }

  std::uint64_t done = 0;
  switch (which) {
    case MachineEngine::kFetch:
      done = fetch(in.transfer, start);
      break;
    case MachineEngine::kExec:
      done = start + static_cast<std::uint64_t>(config_.setup_cycles()) + in.array_cycles +
             kResultPipeline;
      break;
    case MachineEngine::kStore:
      done = store(in.transfer, start);
      break;
  }
  e.cycles.wait_in += in_there - ready;
  e.cycles.wait_out += start - in_there;
  e.cycles.run += done - start + 1;
  e.free_from = done + 1;
  e.last = {e.queue.front().pushed, start, done};
  if (trace != nullptr) trace->emplace_back(which, e.last);
  e.starts.push_back(start);
  if (e.starts.size() > static_cast<std::size_t>(config_.qd)) e.starts.pop_front();
  ++e.evaluated;
  end_ = std::max(end_, done + 1);

  Tokens& down = which == MachineEngine::kFetch  ? f2e_
                 : which == MachineEngine::kExec ? e2r_
                                                 : r2f_;
  if (in.post_down) down.posts.push_back(done);
  if (in.post_up && which == MachineEngine::kExec) e2f_.posts.push_back(done);
  if (in.post_up && which == MachineEngine::kStore) r2e_.posts.push_back(done);
  e.queue.pop_front();
  return true;
}

// Lines in order, each cut at pages and at the longest burst.
template <class Burst>
void Recurrence::walk(const TimedTransfer& t, Burst&& burst) const {
  const auto bytes = static_cast<std::int64_t>(beat_bytes_);
  const std::uint64_t page_beats = std::max<std::uint64_t>(kPage / beat_bytes_, 1);
  const auto most = static_cast<std::uint64_t>(config_.burst);
  for (std::uint32_t i2 = 0; i2 < t.n2; ++i2) {
    for (std::uint32_t i1 = 0; i1 < t.n1; ++i1) {
      for (std::uint32_t i0 = 0; i0 < t.n0; ++i0) {
        const std::int64_t offset = (i2 * t.stride2 + i1 * t.stride1 + i0 * t.stride0) * bytes;
        std::uint64_t beat = (t.address + static_cast<std::uint64_t>(offset)) / beat_bytes_;
        std::uint64_t left = t.line_beats;
        while (left > 0) {
          const std::uint64_t length = std::min({left, most, page_beats - beat % page_beats});
          burst(length);
          beat += length;
          left -= length;
        }
      }
    }
  }
}

// A transfer starts after all bursts of the one before it in its engine have ended, so that of
// their times only the server's matters: and not even that once the first data come later anyway.
// Then a transfer of the same lines takes the same time again.
std::uint64_t Recurrence::fetch(const TimedTransfer& t, std::uint64_t start) {
  const std::uint64_t first_data = (start + 1 + memory_.latency) * kUnit;
  const bool fresh = read_.server_free <= first_data;
  return transfer(true, t, start, fresh, [&](Bursts& b, std::uint64_t beats) {
    const std::uint64_t first = std::max((b.request + memory_.latency) * kUnit, read_.server_free);
    b.done = ceil_units(first + (beats - 1) * memory_.read_cost);
    read_.server_free = first + beats * memory_.read_cost;
  });
}

std::uint64_t Recurrence::store(const TimedTransfer& t, std::uint64_t start) {
  std::uint64_t taken = start;  // the data register is free when a store starts
  const bool fresh = write_.server_free <= (start + 2) * kUnit + 1;
  return transfer(false, t, start, fresh, [&](Bursts& b, std::uint64_t beats) {
    const std::uint64_t loaded = std::max(taken, b.request + 1);
    const std::uint64_t first = std::max(loaded + 1, ceil_units(write_.server_free));
    const std::uint64_t base = std::max(write_.server_free, (first - 1) * kUnit + 1);
    taken = beats == 1 ? first : ceil_units(base + (beats - 1) * memory_.write_cost);
    write_.server_free = base + beats * memory_.write_cost;
    b.done = std::max(taken + memory_.write_latency, b.done + 1);
  });
}

template <class Burst>
std::uint64_t Recurrence::transfer(bool read, const TimedTransfer& t, std::uint64_t start,
                                   bool fresh, Burst&& burst) {
  Port& port = read ? read_ : write_;
  std::uint64_t& all_bursts = read ? read_bursts : write_bursts;
  (read ? read_beats : write_beats) += t.beats();
  const std::uint64_t place = page_place(t, beat_bytes_);
  LinesKey key{t.line_beats, t.lines(), 0, 0, 0, 0, 0};
  if (place != 0) {
    key = {t.line_beats,
           t.n0,
           std::uint64_t{t.n1} << 32U | t.n2,
           static_cast<std::uint64_t>(t.stride0),
           static_cast<std::uint64_t>(t.stride1),
           static_cast<std::uint64_t>(t.stride2),
           place};
  }
  if (fresh) {
    const auto known = port.known.find(key);
    if (known != port.known.end()) {
      const TransferTime& k = known->second;
      all_bursts += k.bursts;
      port.server_free = start * kUnit + k.server_free;
      return start + k.done;
    }
  }
  const auto depth = static_cast<std::size_t>(config_.out);
  std::array<std::uint64_t, 64> retired{};  // of the last OUT bursts: cycle of last R (of B)
  Bursts b;
  b.request = start + 1;
  b.done = start;
  std::size_t at = 0;
  std::uint64_t bursts = 0;
  walk(t, [&](std::uint64_t beats) {
    if (bursts >= depth) b.request = std::max(b.request, retired[at] + 1);
    burst(b, beats);
    retired[at] = b.done;
    at = at + 1 == depth ? 0 : at + 1;
    ++b.request;
    ++bursts;
  });
  all_bursts += bursts;
  if (fresh) {
    port.known.emplace(key, TransferTime{b.done - start, port.server_free - start * kUnit, bursts});
  }
  return b.done;
}

bool Recurrence::settled() const {
  if (!stream_.empty()) return false;
  return std::all_of(engines_.begin(), engines_.end(),
                     [](const EngineState& e) { return e.queue.empty(); });
}

std::string Recurrence::stuck() const {
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    const EngineState& e = engines_[i];
    if (e.queue.empty()) continue;
    const TimedInstruction& in = e.queue.front().instruction;
    const Tokens& tokens = i == 0 ? r2f_ : i == 1 ? f2e_ : e2r_;
    const bool input = tokens.posts.size() < in.wait_in;
    static const char* const ins[] = {"r2f", "f2e", "e2r"};
    static const char* const outs[] = {"e2f", "r2e", ""};
    return std::string(engine_name(i)) + " instruction " + std::to_string(e.evaluated) +
           " waits for " + std::to_string(input ? in.wait_in : in.wait_out) + " tokens " +
           (input ? ins[i] : outs[i]);
  }
  return stream_.empty() ? "" : "the instruction stream waits for a full queue";
}

EngineCycles Recurrence::engine(MachineEngine which) const {
  const EngineState& e = engines_[index(which)];
  EngineCycles out = e.cycles;
  out.idle = end_ - out.run - out.wait_in - out.wait_out;
  return out;
}

Recurrence::Mark Recurrence::mark() const {
  Mark out;
  out.base = first_word_;
  for (std::size_t e = 0; e < engines_.size(); ++e) {
    out.cycles[e] = engines_[e].cycles;
    out.evaluated[e] = engines_[e].evaluated;
  }
  out.read_bursts = read_bursts;
  out.write_bursts = write_bursts;
  out.read_beats = read_beats;
  out.write_beats = write_beats;
  return out;
}

void Recurrence::skip(const Mark& before, const Mark& here, std::uint64_t times) {
  shift((here.base - before.base) * times);
  for (std::size_t e = 0; e < engines_.size(); ++e) {
    EngineCycles& c = engines_[e].cycles;
    c.run += (here.cycles[e].run - before.cycles[e].run) * times;
    c.wait_in += (here.cycles[e].wait_in - before.cycles[e].wait_in) * times;
    c.wait_out += (here.cycles[e].wait_out - before.cycles[e].wait_out) * times;
    const std::uint64_t more = (here.evaluated[e] - before.evaluated[e]) * times;
    engines_[e].evaluated += more;
    engines_[e].pushed_count += more;
  }
  read_bursts += (here.read_bursts - before.read_bursts) * times;
  write_bursts += (here.write_bursts - before.write_bursts) * times;
  read_beats += (here.read_beats - before.read_beats) * times;
  write_beats += (here.write_beats - before.write_beats) * times;
}

// Every time that can still matter, as a distance from the next word. Nothing to come happens
// before `floor`, so that earlier times are all alike.
std::vector<std::uint64_t> Recurrence::state() const {
  const std::uint64_t base = first_word_;
  std::uint64_t floor = first_word_;
  for (const EngineState& e : engines_) {
    if (e.queue.empty()) continue;
    floor = std::min(floor, std::max(e.free_from, e.queue.front().pushed + 1));
  }
  floor = floor == 0 ? 0 : floor - 1;
  std::vector<std::uint64_t> out;
  // Distances wrap below zero and stay comparable; a bias is not needed for equality.
  const auto time = [&](std::uint64_t t) { out.push_back(std::max(t, floor) - base); };
  for (const EngineState& e : engines_) {
    out.push_back(e.queue.size());
    for (const Waiting& w : e.queue) time(w.pushed);
    out.push_back(e.starts.size());
    for (const std::uint64_t s : e.starts) time(s);
    out.push_back(e.pushed_count - e.evaluated);
    time(e.free_from);
  }
  for (const Tokens* t : {&f2e_, &e2r_, &r2f_, &e2f_, &r2e_}) {
    out.push_back(t->posts.size());
    for (const std::uint64_t p : t->posts) time(p);
  }
  // A server that is free before the next transfer's first data could come is as good as idle.
  const EngineState& f = engines_[index(MachineEngine::kFetch)];
  const EngineState& w = engines_[index(MachineEngine::kStore)];
  const std::uint64_t next_read = (std::max(f.free_from, floor) + 1 + memory_.latency) * kUnit;
  const std::uint64_t next_write = (std::max(w.free_from, floor) + 2) * kUnit + 1;
  out.push_back(std::max(read_.server_free, next_read) - base * kUnit);
  out.push_back(std::max(write_.server_free, next_write) - base * kUnit);
  out.push_back(stream_.size());
  time(first_word_);
  out.push_back(end_ - base);
  return out;
}

void Recurrence::shift(std::uint64_t delta) {
  for (EngineState& e : engines_) {
    for (Waiting& w : e.queue) w.pushed += delta;
    for (std::uint64_t& s : e.starts) s += delta;
    e.free_from += delta;
    e.last.pushed += delta;
    e.last.start += delta;
    e.last.done += delta;
  }
  for (Tokens* t : {&f2e_, &e2r_, &r2f_, &e2f_, &r2e_}) {
    for (std::uint64_t& p : t->posts) p += delta;
  }
  for (Port* p : {&read_, &write_}) p->server_free += delta * kUnit;
  first_word_ += delta;
  end_ += delta;
}

void Recurrence::repeat(const std::vector<TimedInstruction>& body, std::uint64_t times,
                        const std::vector<std::int64_t>& advance) {
  if (body.empty() || times == 0) return;
  struct Seen {
    std::uint64_t iteration = 0;
    Mark mark;
  };
  std::map<std::vector<std::uint64_t>, Seen> seen;
  std::vector<TimedInstruction> now = body;
  const auto move = [&](std::uint64_t iterations) {
    for (std::size_t i = 0; i < advance.size() && i < now.size(); ++i) {
      now[i].transfer.address += static_cast<std::uint64_t>(advance[i]) * iterations;
    }
  };
  constexpr std::size_t kMostStates = 4096;
  for (std::uint64_t i = 0; i < times;) {
    for (const TimedInstruction& in : now) add(in);
    move(1);
    ++i;
    if (trace != nullptr || i == times || seen.size() > kMostStates) continue;
    std::vector<std::uint64_t> key = state();
    // Bursts depend on where lines lie in their pages.
    for (const TimedInstruction& in : now) key.push_back(in.transfer.address % kPage);
    const Mark here = mark();
    const auto [at, inserted] = seen.emplace(std::move(key), Seen{i, here});
    if (inserted) continue;
    const std::uint64_t period = i - at->second.iteration;
    const std::uint64_t skips = (times - i) / period;
    if (skips > 0) {
      skip(at->second.mark, here, skips);
      i += period * skips;
      move(period * skips);
    }
    seen.clear();
  }
}

}  // namespace bitcycle
