// Traces to and from CSV schedule lists, and run lengths expanded or compressed.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/trace.hpp"
#include "workloads/trace_reader.hpp"

namespace bitcycle {

/// Passes records on, leaving out those that change nothing (a layer's work stays what it is).
/// Closed ranges stay as they are: only open records are compressed.
class CompressingSink : public TraceSink {
 public:
  explicit CompressingSink(TraceSink& next, const TraceLayers& layers);
  void add(const TraceRecord& record) override;

 private:
  struct Held {
    LayerWork work;
    bool known = false;
  };
  TraceSink& next_;
  const TraceLayers& layers_;
  std::vector<Held> held_;  // pass by pass, layer by layer
};

/// Writes a record for every quantised layer (each on a line of its own) in every iteration in
/// which it is at work: the longest form. Throws InputError for more than `most` records.
void expand_trace(TraceReader& reader, const TraceLayers& layers, TraceSink& sink,
                  std::uint64_t most);

/// A schedule list (iteration,bits,grad_bits) as a trace of the whole network.
void csv_to_trace(const std::string& csv, std::uint64_t iterations, TraceSink& sink);

/// The trace as a schedule list. Throws InputError unless it is one: the same pair of bits in all
/// layers, one pass, nothing skipped or in FP32.
std::string trace_to_csv(TraceReader& reader, const TraceLayers& layers);

}  // namespace bitcycle
