// Which layers a trace file is about. Internal to sim/.
#pragma once

#include <string>

#include "workloads/trace_reader.hpp"

namespace bitcycle {

/// The network that the trace names or holds, else `network` (a name), else a single layer.
struct TraceNetwork {
  Network network;  ///< without layers if there is none
  TraceLayers layers;
};

/// Throws InputError: unknown networks, or `network` although the trace has one of its own.
TraceNetwork trace_network_of(const TraceReader& reader, const std::string& network);

}  // namespace bitcycle
