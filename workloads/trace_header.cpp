#include "workloads/trace_header.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <set>

#include "golden/error.hpp"
#include "workloads/schedule_curve.hpp"

namespace bitcycle {
namespace {

using Value = rapidjson::Value;
constexpr std::uint64_t kMostSize = (std::uint64_t{1} << 32) - 1;

std::string text_of(const Value& value) { return {value.GetString(), value.GetStringLength()}; }

std::string type_of(const Value& value) {
  constexpr const char* kNames[] = {"null",   "false",  "true",    "an object",
                                    "a list", "a text", "a number"};
  if (value.IsUint64()) return std::to_string(value.GetUint64());
  if (value.IsInt64()) return std::to_string(value.GetInt64());
  if (value.IsNumber()) return fmt::format("{:g}", value.GetDouble());
  return kNames[value.GetType()];
}

// One JSON object with strict keys.
class Fields {
 public:
  Fields(const Value& object, std::string where, const std::string& file, int line)
      : object_(object), where_(std::move(where)), file_(file), line_(line) {
    if (!object.IsObject()) throw error("", type_of(object), "an object {...}");
    for (const auto& member : object.GetObject()) {
      if (!keys_.insert(text_of(member.name)).second) {
        throw error(text_of(member.name), "the key twice", "each key once");
      }
    }
  }

  InputError error(const std::string& key, const std::string& found,
                   const std::string& allowed) const {
    std::string field = where_;
    if (!key.empty()) field += (field.empty() ? "" : ".") + key;
    return input_error(file_, line_, field, found, allowed);
  }

  bool has(const char* key) const { return keys_.count(key) != 0; }
  const Value& at(const char* key) const { return object_[key]; }

  std::string text(const char* key, const std::string& none = "") {
    known_.emplace_back(key);
    if (!has(key)) return none;
    const Value& value = at(key);
    if (!value.IsString()) throw error(key, type_of(value), "a text");
    std::string out = text_of(value);
    for (const char c : out) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
        throw error(key, "a control character", "a text without control characters");
      }
    }
    return out;
  }

  std::uint64_t number(const char* key, std::uint64_t low, std::uint64_t high) {
    known_.emplace_back(key);
    if (!has(key)) throw error(key, "nothing", range(low, high));
    return number_of(at(key), key, low, high);
  }

  std::uint64_t number(const char* key, std::uint64_t low, std::uint64_t high, std::uint64_t none) {
    known_.emplace_back(key);
    return has(key) ? number_of(at(key), key, low, high) : none;
  }

  // 3 or [3, 5].
  void pair(const char* key, std::uint64_t low, std::uint64_t& first, std::uint64_t& second) {
    known_.emplace_back(key);
    if (!has(key)) return;
    const Value& value = at(key);
    if (value.IsArray()) {
      if (value.Size() != 2) {
        throw error(key, fmt::format("a list of {}", value.Size()), "a number or a list of 2");
      }
      first = number_of(value[0], key, low, kMostSize);
      second = number_of(value[1], key, low, kMostSize);
    } else {
      first = second = number_of(value, key, low, kMostSize);
    }
  }

  bool flag(const char* key, bool none) {
    known_.emplace_back(key);
    if (!has(key)) return none;
    if (!at(key).IsBool()) throw error(key, type_of(at(key)), "true or false");
    return at(key).GetBool();
  }

  void note(const char* key) { known_.emplace_back(key); }

  // After all keys were asked for.
  void check_all_known() const {
    for (const auto& key : keys_) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      throw error("", "'" + key + "'" + suggestion(key, known_), join(known_));
    }
  }

 private:
  static std::string range(std::uint64_t low, std::uint64_t high) {
    return fmt::format("a whole number from {} to {}", low, high);
  }

  std::uint64_t number_of(const Value& value, const char* key, std::uint64_t low,
                          std::uint64_t high) const {
    if (!value.IsUint64() || value.GetUint64() < low || value.GetUint64() > high) {
      throw error(key, type_of(value), range(low, high));
    }
    return value.GetUint64();
  }

  const Value& object_;
  std::string where_;
  const std::string& file_;
  int line_;
  std::set<std::string> keys_;
  std::vector<std::string> known_;
};

Layer parse_layer(const Value& value, std::size_t index, std::uint64_t batch,
                  const std::string& file, int line) {
  Fields f(value, fmt::format("layers[{}]", index), file, line);
  Layer layer;
  layer.name = f.text("name");
  if (layer.name.empty()) throw f.error("name", "nothing", "a name");
  layer.quantised = f.flag("quantised", true);
  layer.first = f.flag("first", index == 0);
  if (f.has("m")) {
    const std::uint64_t m = f.number("m", 1, kMostSize);
    if (batch == 0 || m % batch != 0) {
      throw f.error("m", std::to_string(m), fmt::format("a multiple of the batch, {}", batch));
    }
    layer.cout = f.number("n", 1, kMostSize);
    layer.cin = f.number("k", 1, kMostSize);
    // Rows of one sample are pixels of a 1x1 convolution: the same three GEMMs.
    layer.hi = m / batch;
    layer.dense = layer.hi == 1;
  } else if (f.flag("dense", false)) {
    layer.dense = true;
    layer.cin = f.number("cin", 1, kMostSize);
    layer.cout = f.number("cout", 1, kMostSize);
  } else {
    layer.cin = f.number("cin", 1, kMostSize);
    layer.cout = f.number("cout", 1, kMostSize);
    layer.hi = f.number("hi", 1, kMostSize);
    layer.wi = f.number("wi", 1, kMostSize);
    f.pair("kernel", 1, layer.kh, layer.kw);
    f.pair("stride", 1, layer.stride_h, layer.stride_w);
    f.pair("pad", 0, layer.pad_h, layer.pad_w);
    layer.dilation = f.number("dilation", 1, kMostSize, 1);
    layer.groups = f.number("groups", 1, kMostSize, 1);
    layer.downsample = f.flag("downsample", false);
  }
  f.check_all_known();
  try {
    layer.validate();
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}:{}: {}", file, line, e.what()));
  }
  return layer;
}

void parse_layers(const Fields& fields, TraceHeader& header, const std::string& file, int line) {
  if (!fields.has("layers")) return;
  const Value& list = fields.at("layers");
  if (!list.IsArray() || list.Empty() || list.Size() > kMostTraceLayers) {
    throw fields.error("layers",
                       list.IsArray() ? fmt::format("a list of {}", list.Size()) : type_of(list),
                       fmt::format("a list of 1 to {} layers", kMostTraceLayers));
  }
  std::set<std::string> names;
  for (rapidjson::SizeType i = 0; i < list.Size(); ++i) {
    header.layers.push_back(parse_layer(list[i], i, header.batch, file, line));
    if (!names.insert(header.layers.back().name).second) {
      throw fields.error(fmt::format("layers[{}].name", i),
                         "'" + header.layers.back().name + "' twice", "each name once");
    }
  }
}

std::string pair_json(std::uint64_t first, std::uint64_t second) {
  return first == second ? std::to_string(first) : fmt::format("[{},{}]", first, second);
}

std::string layer_json(const Layer& layer, std::size_t index, std::uint64_t batch) {
  std::string out = "{\"name\":" + json_quoted(layer.name);
  const bool plain = layer.kh == 1 && layer.kw == 1 && layer.stride_h == 1 && layer.stride_w == 1 &&
                     layer.pad_h == 0 && layer.pad_w == 0 && layer.groups == 1;
  if (layer.dense) {
    out += fmt::format(",\"dense\":true,\"cin\":{},\"cout\":{}", layer.cin, layer.cout);
  } else if (plain && layer.wi == 1 && batch > 0) {
    out += fmt::format(",\"m\":{},\"n\":{},\"k\":{}", batch * layer.hi, layer.cout, layer.cin);
  } else {
    out += fmt::format(",\"cin\":{},\"cout\":{},\"hi\":{},\"wi\":{},\"kernel\":{},\"stride\":{}",
                       layer.cin, layer.cout, layer.hi, layer.wi, pair_json(layer.kh, layer.kw),
                       pair_json(layer.stride_h, layer.stride_w));
    out += fmt::format(",\"pad\":{}", pair_json(layer.pad_h, layer.pad_w));
    if (layer.dilation != 1) out += fmt::format(",\"dilation\":{}", layer.dilation);
    if (layer.groups != 1) out += fmt::format(",\"groups\":{}", layer.groups);
    if (layer.downsample) out += ",\"downsample\":true";
  }
  if (layer.first != (index == 0)) out += layer.first ? ",\"first\":true" : ",\"first\":false";
  if (!layer.quantised) out += ",\"quantised\":false";
  return out + "}";
}

}  // namespace

TraceHeader parse_trace_header(const char* text, std::size_t size, const std::string& file,
                               int line) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(text,
                                                                                         size);
  if (document.HasParseError()) {
    throw input_error(
        file, line, "header",
        fmt::format("{} at character {}", rapidjson::GetParseError_En(document.GetParseError()),
                    document.GetErrorOffset() + 1),
        "one JSON object: {\"bitcycle_trace\":1,\"iterations\":N,...}");
  }
  Fields f(document, "", file, line);
  if (!f.has("bitcycle_trace")) {
    throw input_error(file, line, "header", "no key 'bitcycle_trace'",
                      "a trace: its first line is {\"bitcycle_trace\":1,\"iterations\":N,...}");
  }
  f.number("bitcycle_trace", kTraceVersion, kTraceVersion);
  TraceHeader out;
  out.name = f.text("name");
  out.network = f.text("network");
  out.convention = f.text("convention");
  out.iterations = f.number("iterations", 1, kMaxIterations);
  out.batch = f.number("batch", 1, kMostSize, 0);
  out.format = f.text("format", out.format);
  out.producer = f.text("producer");
  out.notes = f.text("notes");
  f.note("layers");
  f.check_all_known();
  parse_layers(f, out, file, line);
  if (!out.layers.empty() && !out.network.empty()) {
    throw f.error("layers", "also network '" + out.network + "'", "one of them");
  }
  if (!out.layers.empty() && out.batch == 0) {
    throw f.error("batch", "nothing", "the samples of an iteration, with inline layers");
  }
  if (!out.layers.empty() && !out.convention.empty()) {
    throw f.error("convention", "'" + out.convention + "' with inline layers",
                  "the key quantised of each layer");
  }
  return out;
}

std::string json_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    out += byte < 0x20 || byte == 0x7f ? fmt::format("\\u{:04x}", byte) : std::string(1, c);
  }
  return out + "\"";
}

std::string trace_header_json(const TraceHeader& header) {
  std::string out = fmt::format("{{\"bitcycle_trace\":{}", kTraceVersion);
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) out += fmt::format(",\"{}\":{}", key, json_quoted(value));
  };
  add("name", header.name);
  add("network", header.network);
  add("convention", header.convention);
  out += fmt::format(",\"iterations\":{}", header.iterations);
  if (header.batch > 0) out += fmt::format(",\"batch\":{}", header.batch);
  add("format", header.format);
  add("producer", header.producer);
  add("notes", header.notes);
  if (!header.layers.empty()) {
    out += ",\"layers\":[";
    for (std::size_t i = 0; i < header.layers.size(); ++i) {
      out += (i > 0 ? "," : "") + layer_json(header.layers[i], i, header.batch);
    }
    out += "]";
  }
  return out + "}";
}

}  // namespace bitcycle
