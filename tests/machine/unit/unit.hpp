// One verilated module beside its model: what every driver of scripts/verilate-unit needs.
//   Unit<Vdut> dut(seed, "bc_queue"); dut.attach(model_registers);
//   each cycle: set inputs, dut.settle(), compare outputs (dut.same), step the model, dut.edge().
// The first difference ends the program with a message and exit code 1.
#pragma once

#include <fmt/format.h>
#include <verilated.h>
#include <verilated_syms.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "model/array.hpp"
#include "sim/register_compare.hpp"

namespace bitcycle::unit {

/// Arguments NAME=VALUE: parameters of the module, and SEED and CYCLES.
class Arguments {
 public:
  Arguments(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string text = argv[i];
      const auto equal = text.find('=');
      if (equal != std::string::npos) {
        values_[text.substr(0, equal)] = std::atoll(text.c_str() + equal + 1);
      }
    }
  }
  int get(const std::string& name, int fallback) const {
    const auto found = values_.find(name);
    return found == values_.end() ? fallback : static_cast<int>(found->second);
  }

 private:
  std::map<std::string, long long> values_;
};

/// Seeded; the draws of a driver.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t bits(int width) { return engine_() >> (64 - width); }
  /// 0 .. count-1.
  std::uint64_t below(std::uint64_t count) { return engine_() % count; }
  /// low .. high.
  int range(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  bool chance(int percent) { return below(100) < static_cast<std::uint64_t>(percent); }
  std::uint64_t word() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

template <class Top>
class Unit {
 public:
  /// `module`: its name, the first part of its registers' names.
  Unit(std::uint64_t seed, std::string module) : module_(std::move(module)) {
    context_.debug(0);
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed * 0x9E3779B97F4A7C15ULL >> 33U | 1U));
    Verilated::threadContextp(&context_);
    top_ = std::make_unique<Top>(&context_, "TOP");
    top_->clk_i = 0;
  }
  Top* operator->() { return top_.get(); }

  /// Asserts rst_ni for a cycle; drive the inputs before.
  void reset() {
    top_->rst_ni = 1;
    top_->eval();
    top_->rst_ni = 0;
    top_->eval();
    clock();
    top_->rst_ni = 1;
    top_->eval();
  }

  /// Pairs the registers with the model's and copies their start values into it.
  /// Memories (names ending in _mem) take part if the model lists any.
  void attach(const std::vector<RegisterView>& model) {
    bool memories = false;
    for (const auto& view : model) memories |= ends_with(view.name, "_mem");
    find_registers(memories);
    compare_ = std::make_unique<RegisterCompare>(registers_, model);
    compare_->copy_to_model();
    std::printf("%zu registers\n", compare_->registers());
  }

  /// Combinational outputs of the inputs that stand now.
  void settle() { top_->eval(); }
  /// One rising edge; then every register equals the model, which has been stepped.
  void edge() {
    clock();
    ++cycle_;
    if (const auto difference = compare_->compare()) {
      fail(fmt::format("{}: RTL {}, model {}", difference->signal, difference->rtl,
                       difference->model));
    }
  }

  template <class A, class B>
  void same(const char* output, A rtl, B model) {
    if (static_cast<std::uint64_t>(rtl) != static_cast<std::uint64_t>(model)) {
      fail(fmt::format("{}: RTL {:#x}, model {:#x}", output, static_cast<std::uint64_t>(rtl),
                       static_cast<std::uint64_t>(model)));
    }
  }
  /// BITCYCLE_UNIT_LENIENT: nothing but the RTL's own assertions judges.
  void fail(const std::string& what) {
    if (lenient_) return;
    std::printf("%s: cycle %llu: %s\n", module_.c_str(), static_cast<unsigned long long>(cycle_),
                what.c_str());
    std::exit(1);
  }
  std::uint64_t cycle() const { return cycle_; }

 private:
  void clock() {
    top_->clk_i = 1;
    top_->eval();
    top_->clk_i = 0;
    top_->eval();
    if (context_.gotFinish()) std::exit(1);  // an assertion has printed its message
  }

  static std::string plain(std::string name) {
    for (const auto& [mangled, text] : {std::pair{"__BRA__", "["}, {"__KET__", "]"}}) {
      for (auto at = name.find(mangled); at != std::string::npos; at = name.find(mangled)) {
        name.replace(at, std::strlen(mangled), text);
      }
    }
    return name;
  }

  static bool ends_with(const std::string& text, const char* tail) {
    const std::size_t n = std::strlen(tail);
    return text.size() >= n && text.compare(text.size() - n, n, tail) == 0;
  }

  void find_registers(bool memories) {
    for (const auto& [scope_name, scope] : *context_.scopeNameMap()) {
      auto* variables = scope->varsp();
      if (variables == nullptr) continue;
      std::string path = plain(scope_name);
      if (path.rfind("TOP.", 0) == 0) path = path.substr(4);
      for (auto& [name, variable] : *variables) {
        const std::string text = name;
        if (!ends_with(text, "_q") && !(memories && ends_with(text, "_mem"))) continue;
        RegisterView view;
        view.name = path + "." + text;
        view.data = variable.datap();
        view.count =
            variable.udims() > 0 ? static_cast<std::size_t>(variable.unpacked().elements()) : 1;
        view.bits = static_cast<std::size_t>(variable.packed().elements());
        view.bytes = variable.entSize();
        registers_.push_back(view);
      }
    }
  }

  std::string module_;
  VerilatedContext context_;
  std::unique_ptr<Top> top_;
  std::vector<RegisterView> registers_;
  std::unique_ptr<RegisterCompare> compare_;
  std::uint64_t cycle_ = 0;
  bool lenient_ = std::getenv("BITCYCLE_UNIT_LENIENT") != nullptr;
};

/// Copies `bits` bits into an input port of the verilated module, whatever its storage.
template <class Port>
void drive(Port& port, const void* words, std::size_t bits) {
  std::memset(&port, 0, sizeof port);
  for (std::size_t at = 0; at < bits; at += 8) {
    put_bits(&port, at, std::min<std::size_t>(8, bits - at),
             get_bits(words, at, std::min<std::size_t>(8, bits - at)));
  }
}

/// Whether `bits` bits of a port are those of `words`.
template <class Port>
bool equal(const Port& port, const void* words, std::size_t bits) {
  for (std::size_t at = 0; at < bits; at += 32) {
    const std::size_t width = std::min<std::size_t>(32, bits - at);
    if (get_bits(&port, at, width) != get_bits(words, at, width)) return false;
  }
  return true;
}

}  // namespace bitcycle::unit
