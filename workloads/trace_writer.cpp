#include "workloads/trace_writer.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <iterator>

#include "golden/error.hpp"
#include "workloads/trace_header.hpp"

namespace bitcycle {
namespace {

using Kind = LayerSelection::Kind;
constexpr std::size_t kBlock = std::size_t{1} << 16;

void append_layer(std::string& out, const LayerSelection& layers) {
  switch (layers.kind) {
    case Kind::kAll:
      out += "\"all\"";
      break;
    case Kind::kIndex:
      fmt::format_to(std::back_inserter(out), "{}", layers.from);
      break;
    case Kind::kRange:
      fmt::format_to(std::back_inserter(out), "\"#{}-{}\"", layers.from, layers.to);
      break;
    case Kind::kPattern:
      out += json_quoted(layers.pattern);
      break;
    case Kind::kList:
      out += '[';
      for (std::size_t i = 0; i < layers.items.size(); ++i) {
        if (i > 0) out += ',';
        append_layer(out, layers.items[i]);
      }
      out += ']';
      break;
  }
}

void append_bits(std::string& out, const LayerBits& b) {
  auto at = std::back_inserter(out);
  if (b.is_pair()) {
    fmt::format_to(at, ",\"b\":{},\"g\":{}", b.fwd_x, b.dx_g);
  } else if (b.fwd_x == b.dw_x && b.fwd_w == b.dx_w && b.dx_g == b.dw_g) {
    fmt::format_to(at, ",\"w\":{},\"a\":{},\"g\":{}", b.fwd_w, b.fwd_x, b.dx_g);
  } else {
    fmt::format_to(at, ",\"fwd\":[{},{}],\"dx\":[{},{}],\"dw\":[{},{}]", b.fwd_x, b.fwd_w, b.dx_g,
                   b.dx_w, b.dw_g, b.dw_x);
  }
}

void append_record(std::string& out, const TraceRecord& r) {
  auto at = std::back_inserter(out);
  if (r.end == kOpenEnd) {
    fmt::format_to(at, "{{\"t\":{}", r.start);
  } else {
    fmt::format_to(at, "{{\"t\":[{},{}]", r.start, r.end);
  }
  if (r.kind == TraceRecord::Kind::kExchange) {
    fmt::format_to(at, ",\"extra\":\"exchange\",\"bits\":{}}}", r.exchange_bits);
    return;
  }
  if (r.kind == TraceRecord::Kind::kAveraging) {
    out += ",\"extra\":\"averaging\"";
    if (r.every != 1) fmt::format_to(at, ",\"every\":{}", r.every);
    if (r.elements != 0) fmt::format_to(at, ",\"elements\":{}", r.elements);
    fmt::format_to(at, ",\"read_bits\":{},\"write_bits\":{}}}", r.read_bits, r.write_bits);
    return;
  }
  if (r.layers.kind != Kind::kAll) {
    out += ",\"layer\":";
    append_layer(out, r.layers);
  }
  if (r.pass != 0) fmt::format_to(at, ",\"pass\":{}", r.pass);
  if (r.work.mode == WorkMode::kNone) {
    out += ",\"skip\":true}";
    return;
  }
  if (r.work.mode == WorkMode::kFp32) out += ",\"quantised\":false";
  if (r.work.mode == WorkMode::kArray) append_bits(out, r.work.bits);
  const auto& p = r.work.passes;
  if (p[0] != p[1] || p[0] != p[2]) {
    fmt::format_to(at, ",\"passes\":[{},{},{}]", p[0], p[1], p[2]);
  } else if (p[0] != 1) {
    fmt::format_to(at, ",\"passes\":{}", p[0]);
  }
  out += '}';
}

}  // namespace

std::string trace_record_json(const TraceRecord& record) {
  std::string out;
  append_record(out, record);
  return out;
}

TraceWriter::TraceWriter(const std::string& path, const TraceHeader& header) {
  const std::string line = trace_header_json(header);
  parse_trace_header(line.c_str(), line.size(), path, 1);  // what we write must be readable
  if (path != "-") file_.emplace(path);
  buffer_ = line + "\n";
}

void TraceWriter::put(const std::string& text) {
  if (file_) {
    file_->write(text);
  } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw input_error("", 0, "standard output", "an error while writing", "a writable output");
  }
}

void TraceWriter::add(const TraceRecord& record) {
  if (record.start < last_start_) {
    throw input_error("", 0, "record", fmt::format("start {}", record.start),
                      fmt::format("{} or later: records are in order", last_start_));
  }
  last_start_ = record.start;
  ++records_;
  append_record(buffer_, record);
  buffer_ += '\n';
  if (buffer_.size() < kBlock) return;
  put(buffer_);
  buffer_.clear();
}

void TraceWriter::finish() {
  put(buffer_ + fmt::format("{{\"end\":{}}}\n", records_));
  buffer_.clear();
  if (file_) {
    file_->commit();
  } else if (std::fflush(stdout) != 0) {
    throw input_error("", 0, "standard output", "an error while writing", "a writable output");
  }
}

}  // namespace bitcycle
