// The first line of a trace. Internal to workloads/.
#pragma once

#include <string>

#include "workloads/trace.hpp"

namespace bitcycle {

/// Parses the header line. `text` of `size` bytes ends with a NUL. Throws InputError with file and
/// line.
TraceHeader parse_trace_header(const char* text, std::size_t size, const std::string& file,
                               int line);

/// The header as one line of JSON, without newline.
std::string trace_header_json(const TraceHeader& header);

/// "text" in JSON.
std::string json_quoted(const std::string& text);

}  // namespace bitcycle
