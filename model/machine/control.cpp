#include "model/machine/control.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bitcycle {
namespace {

constexpr std::uint64_t kMask48 = (std::uint64_t{1} << 48U) - 1;

}  // namespace

InstructionQueue::InstructionQueue(int words, int depth)
    : words_(words),
      depth_(static_cast<std::uint8_t>(depth)),
      word_(static_cast<std::size_t>(words) * static_cast<std::size_t>(depth), 0) {}

void InstructionQueue::head(std::uint64_t* out) const {
  for (int w = 0; w < words_; ++w) out[w] = head(w);
}

void InstructionQueue::step(bool push, const std::uint64_t* data, bool pop) {
  if (push) {
    for (int w = 0; w < words_; ++w) word_[static_cast<std::size_t>(w) * depth_ + wr_] = data[w];
    wr_ = static_cast<std::uint8_t>((wr_ + 1) & (depth_ - 1));
  }
  if (pop) rd_ = static_cast<std::uint8_t>((rd_ + 1) & (depth_ - 1));
  count_ = static_cast<std::uint8_t>(count_ + (push ? 1 : 0) - (pop ? 1 : 0));
}

void InstructionQueue::reset() { count_ = rd_ = wr_ = 0; }

void InstructionQueue::list(const std::string& prefix, std::vector<RegisterView>& out) {
  list_register(out, prefix + ".count_q", count_, ceil_log2(depth_) + 1);
  list_register(out, prefix + ".rd_q", rd_, std::max(1, ceil_log2(depth_)));
  list_register(out, prefix + ".wr_q", wr_, std::max(1, ceil_log2(depth_)));
  for (int w = 0; w < words_; ++w) {
    out.push_back({fmt::format("{}.g_word[{}].word_q", prefix, w),
                   &word_[static_cast<std::size_t>(w) * depth_], depth_, 8, 64});
  }
}

void Semaphore::list(const std::string& prefix, std::vector<RegisterView>& out) {
  list_register(out, prefix + ".count_q", count_, 16);
}

void EngineControl::step(const Inputs& in) {
  const bool popped = pop(in);
  const bool run = busy_ != 0 || popped;
  if (in.clear) {
    counters_ = {};
  } else if (in.enable) {
    std::uint64_t& counter = run         ? counters_.run
                             : !in.valid ? counters_.idle
                             : !in.in_ok ? counters_.wait_in
                                         : counters_.wait_out;
    counter = (counter + 1) & kMask48;
  }
  if (popped && !in.illegal) {
    busy_ = 1;
    post_ = in.post;
  } else if (in.done) {
    busy_ = 0;
  }
}

void EngineControl::reset() {
  busy_ = post_ = 0;
  counters_ = {};
}

void EngineControl::list(const std::string& prefix, std::vector<RegisterView>& out) {
  list_register(out, prefix + ".busy_q", busy_, 1);
  list_register(out, prefix + ".post_q", post_, 2);
  list_register(out, prefix + ".idle_q", counters_.idle, 48);
  list_register(out, prefix + ".run_q", counters_.run, 48);
  list_register(out, prefix + ".wait_in_q", counters_.wait_in, 48);
  list_register(out, prefix + ".wait_out_q", counters_.wait_out, 48);
}

void ResetControl::list(const std::string& prefix, std::vector<RegisterView>& out) {
  list_register(out, prefix + ".meta_q", meta_, 1);
  list_register(out, prefix + ".sync_q", sync_, 1);
  list_register(out, prefix + ".core_q", core_, 1);
}

}  // namespace bitcycle
