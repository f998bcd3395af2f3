// C interface between the program and a verilated build of the whole machine (a shared object).
#pragma once

#include <cstdint>

#include "model/machine/machine.hpp"

namespace bitcycle {

/// Bumped when Machine, MachineStep, MachinePorts or RtlMachine change.
constexpr int kMachinePluginVersion = 1;

/// Verilated machine plus what only the RTL has.
class RtlMachine : public Machine {
 public:
  /// Opens an FST file; cycles from now on are dumped. False if built without tracing.
  virtual bool open_wave(const char* path) = 0;
  virtual void close_wave() = 0;
  /// True after an assertion or $fatal of the RTL has fired.
  virtual bool stopped() const = 0;
};

using MakeRtlMachine = RtlMachine* (*)(std::uint64_t seed);
using MachinePluginVersion = int (*)();

}  // namespace bitcycle
