#include "sim/stimulus.hpp"

#include "golden/checked.hpp"
#include "golden/counter_random.hpp"
#include "golden/widths.hpp"

namespace bitcycle {

Stimulus::Stimulus(const ArrayConfig& config, JobSource& source, std::uint64_t seed)
    : config_(config), source_(source), seed_(seed), job_(source.next()) {}

bool Stimulus::withheld(int probability, int channel) {
  if (probability == 0) return false;
  const auto draw = counter_random(seed_, static_cast<std::uint64_t>(channel + 2), cycle_) & 255U;
  const bool yes = draw < static_cast<std::uint64_t>(probability);
  injected_ = injected_ || yes;
  return yes;
}

const ArrayStep& Stimulus::next(const ArrayPorts& ports) {
  ++cycle_;
  settle(ports);
  step_.desc_valid = step_.a_valid = step_.w_valid = false;
  step_.res_ready = true;
  if (!job_) return step_;
  const StallPattern& stalls = job_->stalls;
  if (!active_) {
    if (ports.desc_ready && !withheld(stalls.descriptor, 3)) offer();
    return step_;
  }
  injected_ = false;
  step_.res_ready = !withheld(stalls.result, 2);
  // The array's ready depends on its registers alone, so the handshake is decided here; the beat
  // itself must stay until the edge has passed.
  step_.a_valid = !a_->done() && !withheld(stalls.a, 0);
  step_.w_valid = !w_->done() && !withheld(stalls.w, 1);
  step_.a_data = a_->beat();
  step_.w_data = w_->beat();
  a_taken_ = step_.a_valid && ports.a_ready;
  w_taken_ = step_.w_valid && ports.w_ready;
  if (ports.res_valid && step_.res_ready) collect(ports);
  if (injected_) ++result_.injected_cycles;
  return step_;
}

// Looks at what the last edge did.
void Stimulus::settle(const ArrayPorts& ports) {
  if (a_taken_) a_->advance();
  if (w_taken_) w_->advance();
  a_taken_ = w_taken_ = false;
  if (offered_) {
    offered_ = false;
    if (ports.err) {
      result_.refused = true;
      result_.cause = static_cast<Cause>(ports.cause);
      next_job();
    } else {
      active_ = true;
    }
  }
  if (!active_) return;
  count_events(ports.ev);
  if (ports.desc_ready) {  // the last result beat has gone
    result_.cycles = cycle_ - accepted_at_;
    result_.overflow = ports.overflow;
    active_ = false;
    next_job();
  }
}

void Stimulus::next_job() {
  ++jobs_done_;
  source_.finished(*job_, std::move(result_));
  result_ = JobResult{};
  legal_ = false;
  job_ = source_.next();
}

void Stimulus::offer() {
  const GemmJob& job = *job_;
  const Descriptor& d = job.descriptor;
  step_.desc_valid = true;
  step_.desc = {static_cast<std::uint32_t>(d.gemm.m),
                static_cast<std::uint32_t>(d.gemm.n),
                static_cast<std::uint32_t>(d.gemm.k),
                static_cast<std::uint8_t>(d.a.bits),
                static_cast<std::uint8_t>(d.w.bits),
                d.a.is_signed,
                d.w.is_signed};
  offered_ = true;
  accepted_at_ = cycle_;
  legal_ = d.gemm.m > 0 && d.gemm.n > 0 && d.gemm.k > 0 && d.a.bits > 0 && d.w.bits > 0 &&
           d.a.bits <= config_.p_max && d.w.bits <= config_.p_max;
  if (!legal_) return;  // the array refuses it: no operands
  a_.reset();
  w_.reset();
  a_planes_ = pack_bit_planes(job.operands.a, d.a, config_.kl);
  w_planes_ = pack_bit_planes(job.operands.w, d.w, config_.kl);
  a_ = std::make_unique<OperandFeeder>(config_, d, OperandSide::kA, a_planes_, seed_ + jobs_done_);
  w_ = std::make_unique<OperandFeeder>(config_, d, OperandSide::kW, w_planes_, seed_ + jobs_done_);
  row_tile_ = col_tile_ = row_ = group_ = 0;
  JobResult& result = result_;
  result.c.setZero(static_cast<Eigen::Index>(d.gemm.m), static_cast<Eigen::Index>(d.gemm.n));
  result.sum_a.assign(d.gemm.m, 0);
  result.sum_w.assign(d.gemm.n, 0);
  sum_a_seen_.assign(d.gemm.m, false);
  sum_w_seen_.assign(d.gemm.n, false);
}

void Stimulus::count_events(const EventPulses& ev) {
  JobResult& result = result_;
  GemmEvents& e = result.events;
  e.digit_cycles += ev.digit ? 1 : 0;
  e.idle_cycles += ev.idle ? 1 : 0;
  result.freeze_cycles += ev.freeze ? 1 : 0;
  const auto rows = static_cast<std::uint64_t>(ev.rows);
  const auto cols = static_cast<std::uint64_t>(ev.cols);
  e.ac_adds += rows * cols;
  e.ac_adds_ones += rows + cols;
  const auto flush_rows = static_cast<std::uint64_t>(ev.flush_rows);
  e.acc_flushes += flush_rows * ev.flush_cols;
  e.acc_flushes_ones += flush_rows + ev.flush_ones;
  e.a_words_read += ev.a_words;
  e.w_words_read += ev.w_words;
}

void Stimulus::collect(const ArrayPorts& ports) {
  JobResult& result = result_;
  const Gemm& g = job_->descriptor.gemm;
  const auto tm = static_cast<std::uint64_t>(config_.tm);
  const auto tn = static_cast<std::uint64_t>(config_.tn);
  const auto q = static_cast<std::uint64_t>(config_.q);
  const std::uint64_t rows_per_beat = q > tn ? q / tn : 1;
  const std::uint64_t cols_per_beat = q > tn ? tn : q;
  const auto acc_w = static_cast<std::size_t>(config_.acc_w);
  const auto value = [&](const void* data, std::uint64_t at) {
    return wrap_to_width(static_cast<i128>(get_bits(data, at * acc_w, acc_w)), config_.acc_w);
  };
  const auto keep = [&](std::vector<std::int64_t>& sums, std::vector<bool>& seen, std::uint64_t at,
                        std::int64_t sum) {
    if (seen[at] && sums[at] != sum) result.beats_consistent = false;
    seen[at] = true;
    sums[at] = sum;
  };
  ++result.events.drain_beats;
  const std::uint64_t first_col = col_tile_ * tn + group_ * cols_per_beat;
  for (std::uint64_t i = 0; i < rows_per_beat; ++i) {
    const std::uint64_t in_tile = row_ + i;
    const std::uint64_t m = row_tile_ * tm + in_tile;
    const bool row_ok = in_tile < tm && m < g.m;
    if (row_ok) keep(result.sum_a, sum_a_seen_, m, value(ports.res_sum_a, i));
    for (std::uint64_t j = 0; j < cols_per_beat; ++j) {
      const std::uint64_t n = first_col + j;
      const bool expected = row_ok && n < g.n;
      const std::uint64_t at = i * cols_per_beat + j;
      if ((get_bits(ports.res_mask, at, 1) != 0) != expected) result.beats_consistent = false;
      if (!expected) continue;
      result.c(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(n)) =
          value(ports.res_data, at);
      ++result.events.results;
    }
  }
  for (std::uint64_t j = 0; j < cols_per_beat; ++j) {
    const std::uint64_t n = first_col + j;
    if (n < g.n) keep(result.sum_w, sum_w_seen_, n, value(ports.res_sum_w, j));
  }
  if (++group_ < tn / cols_per_beat) return;
  group_ = 0;
  row_ += rows_per_beat;
  if (row_ < tm) return;
  row_ = 0;
  if (++col_tile_ < ceil_div(g.n, tn)) return;
  col_tile_ = 0;
  ++row_tile_;
}

}  // namespace bitcycle
