#include "model/machine/dispatch.hpp"

#include <fmt/format.h>

#include "model/machine/control.hpp"

namespace bitcycle {

std::uint8_t Dispatch::push(const Inputs& in) const {
  if (pending_ == 0 || in.flush || kind_ >= kEngines) return 0;
  return static_cast<std::uint8_t>((1U << kind_) & in.room);
}

bool Dispatch::open(const Inputs& in) const {
  return live_ != 0 && (pending_ == 0 || push(in) != 0);
}

bool Dispatch::from_mm(const Inputs& in) const { return count_ == 0 ? !in.inst_valid : src_ != 0; }

bool Dispatch::inst_ready(const Inputs& in) const {
  return (live_ != 0 && in.flush) || (open(in) && (count_ == 0 || src_ == 0));
}

bool Dispatch::mm_ready(const Inputs& in) const {
  return (live_ != 0 && in.flush) || (open(in) && from_mm(in));
}

bool Dispatch::accept(const Inputs& in) const {
  if (in.flush) return false;
  return from_mm(in) ? in.mm_valid && mm_ready(in) : in.inst_valid && inst_ready(in);
}

bool Dispatch::err(const Inputs& in) const {
  return accept(in) && count_ == 0 && ((from_mm(in) ? in.mm_data : in.inst_data) & 3U) == 3;
}

void Dispatch::step(const Inputs& in) {
  const bool taken = accept(in);
  const bool illegal = err(in);
  const bool pushed = push(in) != 0;
  const bool mm = from_mm(in);
  const std::uint64_t word = mm ? in.mm_data : in.inst_data;
  const int words = kind_ == kFetchEngine  ? layout::kFetchWords
                    : kind_ == kExecEngine ? layout::kExecWords
                                           : layout::kStoreWords;
  const bool last = count_ != 0 && count_ == words - 1;
  live_ = 1;
  if (taken && count_ < asm_.size()) asm_[count_] = word;
  if (in.flush) {
    pending_ = 0;
    count_ = 0;
    return;
  }
  if (taken && last) {
    pending_ = 1;
  } else if (pushed) {
    pending_ = 0;
  }
  if (taken && !illegal) {
    if (count_ == 0) {
      kind_ = word & 3U;
      src_ = mm ? 1 : 0;
    }
    count_ = last ? 0 : static_cast<std::uint8_t>(count_ + 1);
  }
}

void Dispatch::reset() { live_ = pending_ = kind_ = count_ = src_ = 0; }

void Dispatch::list(const std::string& prefix, std::vector<RegisterView>& out) {
  list_register(out, prefix + ".live_q", live_, 1);
  list_register(out, prefix + ".pending_q", pending_, 1);
  list_register(out, prefix + ".kind_q", kind_, 2);
  list_register(out, prefix + ".count_q", count_, 5);
  list_register(out, prefix + ".src_q", src_, 1);
  for (std::size_t w = 0; w < asm_.size(); ++w) {
    list_register(out, fmt::format("{}.g_word[{}].asm_q", prefix, w), asm_[w], 64);
  }
}

}  // namespace bitcycle
