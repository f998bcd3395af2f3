#include "sim/plan_words.hpp"

#include <utility>

namespace bitcycle {

PlanWords::PlanWords(const Plan& plan, Seen seen) : cursor_(plan), seen_(std::move(seen)) {}

std::optional<std::uint64_t> PlanWords::next() {
  while (at_ == words_.size()) {
    if (cursor_.position() == cursor_.steps()) return std::nullopt;
    words_.clear();
    at_ = 0;
    cursor_.next([&](const Instruction& instruction, const InstructionInfo&) {
      const auto words = encode(instruction);
      words_.insert(words_.end(), words.begin(), words.end());
      if (seen_) seen_(instruction);
    });
  }
  return words_[at_++];
}

}  // namespace bitcycle
