// Traces from text, for tests.
#pragma once

#include <string>

#include "error_text.hpp"
#include "temporary_file.hpp"
#include "workloads/policy.hpp"
#include "workloads/trace_reader.hpp"
#include "workloads/trace_totals.hpp"

namespace bitcycle {

/// Three quantised layers and an FP32 one, without a network.
inline TraceLayers four_layers() {
  return {{"conv1", "conv2", "block.conv3", "fc"}, {true, true, true, false}, 1000};
}

inline std::string header_line(std::uint64_t iterations = 100) {
  return "{\"bitcycle_trace\":1,\"iterations\":" + std::to_string(iterations) + "}\n";
}

/// A whole trace around `records`.
inline std::string trace_text(const std::string& records, std::uint64_t iterations = 100) {
  return header_line(iterations) + records + "{\"end\":true}\n";
}

inline TraceTotals totals_of(const std::string& text, const TraceLayers& layers = four_layers()) {
  const TemporaryFile file(text);
  TraceReader reader(file.path());
  return total_trace(reader, layers);
}

/// What the reader or the sums say, without the file's name.
inline std::string trace_error(const std::string& text, const TraceLayers& layers = four_layers()) {
  const TemporaryFile file(text);
  std::string error = error_text([&] {
    TraceReader reader(file.path());
    total_trace(reader, layers);
  });
  const auto at = error.find(file.path());
  if (at == 0) error = error.substr(file.path().size());
  return error;
}

inline TraceTotals policy_totals(const std::string& text,
                                 const TraceLayers& layers = four_layers()) {
  const auto [name, values] = parse_policy(text);
  return total_policy(*make_policy(name, values), layers, name);
}

/// BitOps of a schedule-like total relative to static bs/gs of the same length.
inline double relative_to(const TraceTotals& totals, int bs, int gs) {
  return relative_bitops(totals.schedule.value(), {bs, gs});
}

}  // namespace bitcycle
