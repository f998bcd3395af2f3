// C interface between the program and a verilated build of the array (a shared object).
#pragma once

#include <cstdint>

#include "model/array.hpp"

namespace bitcycle {

/// Bumped when Array, ArrayStep, ArrayPorts or RtlModel change: an old shared object is refused.
constexpr int kRtlPluginVersion = 1;

/// Verilated array plus what only the RTL has: waveforms and forced register values.
class RtlModel : public Array {
 public:
  /// Opens an FST file; cycles from now on are dumped. False if built without tracing.
  virtual bool open_wave(const char* path) = 0;
  virtual void close_wave() = 0;
  /// True if registers may be written through RegisterView::data (inject flavour).
  virtual bool can_inject() const = 0;
  /// True after an assertion or $fatal of the RTL has fired.
  virtual bool stopped() const = 0;
};

/// Seeds the random start values of every register (--x-initial unique).
using MakeRtlModel = RtlModel* (*)(std::uint64_t seed);
using RtlPluginVersion = int (*)();

}  // namespace bitcycle
