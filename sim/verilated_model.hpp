// What the adapters of verilated builds share. Seen only by translation units that see Verilator's
// headers, which scripts/verilate-array compiles.
#pragma once

#include <verilated.h>
#include <verilated_syms.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "model/array.hpp"

namespace bitcycle {

// Verilator spells the index of a generate block "__BRA__3__KET__": back to "[3]".
inline std::string plain_name(std::string name) {
  for (const auto& [mangled, text] : {std::pair{"__BRA__", "["}, {"__KET__", "]"}}) {
    for (auto at = name.find(mangled); at != std::string::npos; at = name.find(mangled)) {
      name.replace(at, std::strlen(mangled), text);
    }
  }
  return name;
}

inline bool ends_with(const std::string& text, const char* tail) {
  const std::size_t n = std::strlen(tail);
  return text.size() >= n && text.compare(text.size() - n, n, tail) == 0;
}

// Verilator takes a 31-bit seed, and 0 means "pick one".
inline int verilator_seed(std::uint64_t seed) {
  return static_cast<int>(seed * 0x9E3779B97F4A7C15ULL >> 33U | 1U);
}

// What every model's context needs before the model is made.
inline void prepare(VerilatedContext& context, std::uint64_t seed) {
  context.debug(0);
  context.randReset(2);
  context.randSeed(verilator_seed(seed));
  context.fatalOnError(false);
#if VM_TRACE
  context.traceEverOn(true);
#endif
  // Scopes register with the THREAD's context, whatever context the model is given.
  Verilated::threadContextp(&context);
}

// The scope table (--vpi) names everything that the .vlt file makes public; those whose names end
// with one of `tails` are wanted.
inline std::vector<RegisterView> public_registers(VerilatedContext& context,
                                                  std::initializer_list<const char*> tails) {
  std::vector<RegisterView> out;
  for (const auto& [scope_name, scope] : *context.scopeNameMap()) {
    auto* variables = scope->varsp();
    if (variables == nullptr) continue;
    std::string path = plain_name(scope_name);
    if (path.rfind("TOP.", 0) == 0) path = path.substr(4);
    for (auto& [name, variable] : *variables) {
      const std::string text = name;
      bool wanted = false;
      for (const char* tail : tails) wanted = wanted || ends_with(text, tail);
      if (!wanted) continue;
      RegisterView view;
      view.name = path + "." + text;
      view.data = variable.datap();
      view.count =
          variable.udims() > 0 ? static_cast<std::size_t>(variable.unpacked().elements()) : 1;
      view.bits = static_cast<std::size_t>(variable.packed().elements());
      view.bytes = variable.entSize();
      out.push_back(view);
    }
  }
  return out;
}

}  // namespace bitcycle
