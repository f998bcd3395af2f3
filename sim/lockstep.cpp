#include "sim/lockstep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  if (text.size() < end.size()) return false;
  if (text.compare(text.size() - end.size(), end.size(), end) != 0) return false;
  return text.size() == end.size() || text[text.size() - end.size() - 1] == '.';
}

RegisterView find_register(const std::vector<RegisterView>& registers, const std::string& name) {
  std::vector<const RegisterView*> found;
  for (const auto& view : registers) {
    if (view.name == name) return view;
    if (ends_with(view.name, name)) found.push_back(&view);
  }
  if (found.size() == 1) return *found.front();
  if (found.empty()) {
    throw input_error("", 0, "--inject", "'" + name + "'",
                      "a register that --list-registers prints");
  }
  throw input_error("", 0, "--inject",
                    fmt::format("'{}', the end of {} registers", name, found.size()),
                    "one of them, such as " + found[0]->name + " or " + found[1]->name);
}

}  // namespace

Injection parse_injection(const std::string& text) {
  const std::size_t second = text.rfind(':');
  const std::size_t first =
      second == 0 || second == std::string::npos ? std::string::npos : text.rfind(':', second - 1);
  const auto number = [&](const std::string& digits) {
    if (digits.empty() || digits.size() > 18 ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      throw input_error("", 0, "--inject", "'" + text + "'", "REG:BIT:CYCLE, as ac_q:3:100");
    }
    return std::stoull(digits);
  };
  if (first == std::string::npos || first == 0) number("");
  return {text.substr(0, first), number(text.substr(first + 1, second - first - 1)),
          number(text.substr(second + 1))};
}

Lockstep::Lockstep(RtlModel& rtl, Array& model, Stimulus& stimulus, LockstepOptions options)
    : rtl_(rtl),
      model_(model),
      stimulus_(stimulus),
      options_(std::move(options)),
      compare_(rtl.registers(), model.registers()) {
  if (options_.inject) {
    if (!rtl_.can_inject()) {
      throw input_error("", 0, "--inject", "an RTL build that cannot inject",
                        "a build of flavour inject");
    }
    target_ = find_register(rtl_.registers(), options_.inject->reg);
    const std::uint64_t bits = target_.count * target_.bits;
    if (options_.inject->bit >= bits) {
      throw input_error("", 0, "--inject bit", std::to_string(options_.inject->bit),
                        fmt::format("0 to {} for {}", bits - 1, target_.name));
    }
  }
  rtl_.reset();
  compare_.copy_to_model();
  model_.reset();
}

void Lockstep::inject() {
  const std::uint64_t element = options_.inject->bit / target_.bits;
  const std::uint64_t bit = options_.inject->bit % target_.bits;
  auto* byte = static_cast<std::uint8_t*>(target_.data) + element * target_.bytes + bit / 8;
  *byte = static_cast<std::uint8_t>(*byte ^ (1U << (bit % 8)));
  outcome_.injected = true;
}

const ArrayStep* Lockstep::tick() {
  if (!outcome_.mismatch) {
    auto found = compare_.compare();
    if (!found) found = compare_ports();
    if (found) {
      found->cycle = outcome_.cycles;
      outcome_.mismatch = std::move(found);
    }
  }
  if (outcome_.mismatch) return nullptr;
  if (rtl_.stopped()) {
    outcome_.stopped = "an assertion of the RTL has fired";
    return nullptr;
  }
  if (options_.max_cycles != 0 && outcome_.cycles >= options_.max_cycles) {
    outcome_.stopped = fmt::format("stopped at --max-cycles {}", options_.max_cycles);
    return nullptr;
  }
  const ArrayStep& step = stimulus_.next(rtl_.ports());
  if (stimulus_.done()) return nullptr;
  if (stimulus_.timed()) {
    if (!rtl_.ports().desc_ready || step.desc_valid) ++outcome_.cycles_rtl;
    if (!model_.ports().desc_ready || step.desc_valid) ++outcome_.cycles_model;
  }
  if (options_.inject && options_.inject->cycle == outcome_.cycles) inject();
  ++outcome_.cycles;
  if (options_.progress && (outcome_.cycles & 0xffffU) == 0) options_.progress(outcome_.cycles);
  return &step;
}

const LockstepOutcome& Lockstep::run() {
  while (const ArrayStep* step = tick()) {
    rtl_.step(*step);
    model_.step(*step);
  }
  return outcome_;
}

std::optional<Mismatch> Lockstep::compare_ports() const {
  const ArrayPorts& x = rtl_.ports();
  const ArrayPorts& y = model_.ports();
  std::optional<Mismatch> out;
  const auto same = [&](const char* name, auto rtl, auto model) {
    if (rtl == model || out) return;
    out = Mismatch{0, std::string("port ") + name, std::to_string(rtl), std::to_string(model)};
  };
  same("desc_ready_o", x.desc_ready, y.desc_ready);
  same("err_o", x.err, y.err);
  same("cause_o", x.cause, y.cause);
  same("a_ready_o", x.a_ready, y.a_ready);
  same("w_ready_o", x.w_ready, y.w_ready);
  same("res_valid_o", x.res_valid, y.res_valid);
  same("res_last_o", x.res_last, y.res_last);
  same("overflow_o", x.overflow, y.overflow);
  same("ev_digit_o", x.ev.digit, y.ev.digit);
  same("ev_idle_o", x.ev.idle, y.ev.idle);
  same("ev_freeze_o", x.ev.freeze, y.ev.freeze);
  same("ev_add_o", x.ev.add, y.ev.add);
  same("ev_flush_o", x.ev.flush, y.ev.flush);
  same("ev_rows_o", x.ev.rows, y.ev.rows);
  same("ev_cols_o", x.ev.cols, y.ev.cols);
  same("ev_flush_rows_o", x.ev.flush_rows, y.ev.flush_rows);
  same("ev_flush_ones_o", x.ev.flush_ones, y.ev.flush_ones);
  same("ev_flush_cols_o", x.ev.flush_cols, y.ev.flush_cols);
  same("ev_a_words_o", x.ev.a_words, y.ev.a_words);
  same("ev_w_words_o", x.ev.w_words, y.ev.w_words);
  return out;
}

}  // namespace bitcycle
