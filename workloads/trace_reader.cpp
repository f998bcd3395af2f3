#include "workloads/trace_reader.hpp"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <cstring>

#include "golden/error.hpp"
#include "workloads/line_source.hpp"
#include "workloads/number_text.hpp"
#include "workloads/schedule_curve.hpp"
#include "workloads/trace_header.hpp"

namespace bitcycle {
namespace {

constexpr std::uint64_t kMostPasses = (std::uint64_t{1} << 32) - 1;
constexpr std::size_t kMostListed = kMostTraceLayers;

enum Key : unsigned {
  kStart,
  kLayer,
  kB,
  kW,
  kA,
  kG,
  kFwd,
  kDx,
  kDw,
  kQuantised,
  kSkip,
  kPass,
  kPasses,
  kExtra,
  kElements,
  kReadBits,
  kWriteBits,
  kEvery,
  kBits,
  kEnd,
  kKeys
};
constexpr const char* kNames[kKeys] = {"t",         "layer",      "b",      "w",     "a",
                                       "g",         "fwd",        "dx",     "dw",    "quantised",
                                       "skip",      "pass",       "passes", "extra", "elements",
                                       "read_bits", "write_bits", "every",  "bits",  "end"};

constexpr unsigned bit(Key key) { return 1U << key; }

// What a record may hold in lists: few numbers, or layers.
struct Numbers {
  std::uint64_t value[3] = {0, 0, 0};
  unsigned count = 0;
  bool list = false;
};

// Receives the events of one line. Every refusal sets `found` and `allowed`, and stops the parser.
class LineHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, LineHandler> {
 public:
  void reset() {
    depth_ = 0;
    in_list_ = false;
    seen = 0;
    key_ = kKeys;
    found.clear();
  }

  bool Default() { return refuse("null or an unknown value", "a whole number"); }
  bool Null() { return refuse("null", allowed_value()); }
  bool Bool(bool value) {
    if (depth_ == 0) return refuse_shape("a flag");
    if (in_list_ || (key_ != kQuantised && key_ != kSkip && key_ != kEnd)) {
      return refuse(value ? "true" : "false", allowed_value());
    }
    if (key_ == kQuantised) quantised = value;
    if (key_ == kSkip) skip = value;
    if (key_ == kEnd && !value) return refuse("false", "true or the number of records");
    if (key_ == kEnd) numbers[kEnd] = {};
    return true;
  }
  bool Int(int value) { return refuse(std::to_string(value), allowed_value()); }
  bool Int64(std::int64_t value) { return refuse(std::to_string(value), allowed_value()); }
  bool Uint(unsigned value) { return Uint64(value); }
  bool Double(double value) { return refuse(fmt::format("{:g}", value), allowed_value()); }
  bool Uint64(std::uint64_t value) {
    if (depth_ == 0) return refuse_shape("a number");
    if (key_ == kLayer) return take_layer(LayerSelection::index(value));
    if (key_ == kQuantised || key_ == kSkip || key_ == kExtra) {
      return refuse(std::to_string(value), allowed_value());
    }
    Numbers& n = numbers[key_];
    if (in_list_) {
      if (n.count == 3) return refuse("a list of more than 3", allowed_value());
      n.value[n.count++] = value;
    } else {
      n.value[0] = value;
      n.count = 1;
      n.list = false;
    }
    return true;
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view word(text, size);
    if (depth_ == 0) return refuse_shape("a text");
    if (key_ == kLayer) return take_layer_text(word);
    if (key_ == kExtra && !in_list_) {
      extra.assign(word);
      return true;
    }
    if (key_ == kElements && word == "parameters") {
      numbers[kElements] = {};
      return true;
    }
    return refuse("'" + std::string(word) + "'", allowed_value());
  }
  bool StartObject() {
    if (depth_ > 0) return refuse("an object inside the record", allowed_value());
    depth_ = 1;
    return true;
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view word(text, size);
    key_ = key_of(word);
    if (key_ == kKeys) {
      std::vector<std::string> known(kNames, kNames + kKeys);
      found = "'" + std::string(word) + "'" + suggestion(std::string(word), known);
      allowed = join(known);
      field = "key";
      return false;
    }
    if ((seen & bit(key_)) != 0) {
      found = "the key twice";
      allowed = "each key once";
      field = kNames[key_];
      return false;
    }
    seen |= bit(key_);
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return true; }
  bool StartArray() {
    if (depth_ == 0) return refuse_shape("a list");
    if (in_list_ || (bit(key_) & kLists) == 0) return refuse("a list", allowed_value());
    in_list_ = true;
    if (key_ == kLayer) {
      layers.kind = LayerSelection::Kind::kList;
      layers.items.clear();
    } else {
      numbers[key_].list = true;
      numbers[key_].count = 0;
    }
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    in_list_ = false;
    return true;
  }

  unsigned seen = 0;  // bits of the keys of this line
  Numbers numbers[kKeys];
  bool quantised = true, skip = false;
  std::string extra;
  LayerSelection layers;
  std::string field, found, allowed;

 private:
  static constexpr unsigned kLists =
      bit(kStart) | bit(kLayer) | bit(kFwd) | bit(kDx) | bit(kDw) | bit(kPasses);

  static enum Key key_of(std::string_view word) {
    if (word.size() == 1) {
      switch (word[0]) {
        case 't':
          return kStart;
        case 'b':
          return kB;
        case 'w':
          return kW;
        case 'a':
          return kA;
        case 'g':
          return kG;
        default:
          return kKeys;
      }
    }
    for (unsigned i = 0; i < kKeys; ++i) {
      if (word == kNames[i]) return static_cast<enum Key>(i);
    }
    return kKeys;
  }

  const char* allowed_value() const {
    switch (key_) {
      case kStart:
        return "an iteration, or [first, end)";
      case kLayer:
        return "all, a name, a pattern, an index, \"#3-7\", or a list of these";
      case kFwd:
      case kDx:
      case kDw:
        return "the bits of both operands, [1 to 16, 1 to 16]";
      case kQuantised:
      case kSkip:
        return "true or false";
      case kPasses:
        return "a whole number, or those of forward, dX and dW";
      case kExtra:
        return "averaging or exchange";
      case kElements:
        return "a whole number, or \"parameters\"";
      case kEnd:
        return "true or the number of records";
      default:
        return "a whole number";
    }
  }

  bool refuse(const std::string& what, const std::string& instead) {
    if (depth_ == 0) return refuse_shape(what);
    field = key_ == kKeys ? "record" : kNames[key_];
    found = what;
    allowed = instead;
    return false;
  }
  bool refuse_shape(const std::string& what) {
    field = "record";
    found = what;
    allowed = "one JSON object a line";
    return false;
  }

  bool take_layer(const LayerSelection& selection) {
    if (!in_list_) {
      layers.kind = selection.kind;
      layers.from = selection.from;
      layers.to = selection.to;
      layers.pattern = selection.pattern;
      return true;
    }
    if (layers.items.size() == kMostListed) return refuse("a longer list", "100,000 layers");
    layers.items.push_back(selection);
    return true;
  }

  bool take_layer_text(std::string_view word) {
    if (word == "all") return take_layer(LayerSelection{});
    if (word.empty()) return refuse("an empty name", allowed_value());
    if (word[0] != '#') return take_layer(LayerSelection::named(std::string(word)));
    LayerSelection range;
    range.kind = LayerSelection::Kind::kRange;
    const std::size_t dash = word.find('-');
    if (dash == std::string_view::npos ||
        !read_number(word.substr(1, dash - 1), 0, kMostTraceLayers, range.from) ||
        !read_number(word.substr(dash + 1), range.from, kMostTraceLayers, range.to)) {
      return refuse("'" + std::string(word) + "'", "a range of indices such as \"#3-7\"");
    }
    return take_layer(range);
  }

  int depth_ = 0;
  bool in_list_ = false;
  enum Key key_ = kKeys;
};

}  // namespace

class TraceReader::Impl {
 public:
  explicit Impl(const std::string& path) : source_(path, "trace") {
    char* text = nullptr;
    std::size_t size = 0;
    do {
      if (!source_.next(text, size)) {
        throw input_error(source_.name(), source_.line(), "trace", "no header",
                          "a first line {\"bitcycle_trace\":1,\"iterations\":N,...}");
      }
    } while (trimmed({text, size}).empty());
    header_ = parse_trace_header(text, size, source_.name(), source_.line());
  }

  bool next(TraceRecord& record) {
    if (ended_) return false;
    char* text = nullptr;
    std::size_t size = 0;
    do {
      if (!source_.next(text, size)) {
        throw input_error(source_.name(), source_.line(), "trace",
                          "no end line: the file is cut off",
                          "a last line {\"end\":true}, or with the number of records");
      }
    } while (trimmed({text, size}).empty());
    parse(text, size);
    if ((handler_.seen & bit(kEnd)) != 0) {
      finish();
      return false;
    }
    ++records_;
    build(record);
    return true;
  }

  const TraceHeader& header() const { return header_; }
  const LineSource& source() const { return source_; }

 private:
  [[noreturn]] void fail(const char* field, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(source_.name(), source_.line(), field, found, allowed);
  }

  void parse(char* text, std::size_t size) {
    using rapidjson::kParseInsituFlag;
    using rapidjson::kParseIterativeFlag;
    using rapidjson::kParseValidateEncodingFlag;
    handler_.reset();
    rapidjson::InsituStringStream stream(text);
    const auto result =
        reader_.Parse<kParseInsituFlag | kParseIterativeFlag | kParseValidateEncodingFlag>(
            stream, handler_);
    if (!handler_.found.empty()) fail(handler_.field.c_str(), handler_.found, handler_.allowed);
    if (result.IsError()) {
      fail("record",
           fmt::format("{} at character {}", rapidjson::GetParseError_En(result.Code()),
                       result.Offset() + 1),
           "one JSON object a line");
    }
    if (stream.Tell() != size) fail("record", "a NUL byte", "text without control characters");
  }

  bool has(Key key) const { return (handler_.seen & bit(key)) != 0; }

  std::uint64_t number(Key key, std::uint64_t low, std::uint64_t high) const {
    const Numbers& n = handler_.numbers[key];
    if (n.list || n.count != 1 || n.value[0] < low || n.value[0] > high) {
      fail(kNames[key], n.list ? "a list" : std::to_string(n.value[0]),
           fmt::format("a whole number from {} to {}", low, high));
    }
    return n.value[0];
  }

  int bits(Key key) const { return static_cast<int>(number(key, kMinBits, kMaxBits)); }

  void operand_bits(Key key, std::uint8_t& first, std::uint8_t& second) const {
    const Numbers& n = handler_.numbers[key];
    if (!n.list || n.count != 2 || n.value[0] < kMinBits || n.value[0] > kMaxBits ||
        n.value[1] < kMinBits || n.value[1] > kMaxBits) {
      fail(kNames[key],
           n.list ? fmt::format("a list of {}, or bits out of range", n.count)
                  : std::to_string(n.value[0]),
           "the bits of both operands, [1 to 16, 1 to 16]");
    }
    first = static_cast<std::uint8_t>(n.value[0]);
    second = static_cast<std::uint8_t>(n.value[1]);
  }

  void only(unsigned allowed, const char* with) const {
    const unsigned surplus = handler_.seen & ~allowed;
    if (surplus == 0) return;
    unsigned i = 0;
    while ((surplus >> i & 1U) == 0) ++i;
    fail(kNames[i], fmt::format("the key with {}", with), "records as docs/traces.md has them");
  }

  void build(TraceRecord& record) {
    take_range(record);
    record.kind = TraceRecord::Kind::kWork;
    if (has(kExtra)) {
      build_extra(record);
      return;
    }
    constexpr unsigned kPlace = bit(kStart) | bit(kLayer) | bit(kPass);
    if (has(kLayer)) {
      record.layers = handler_.layers;
    } else {
      record.layers.kind = LayerSelection::Kind::kAll;
    }
    if (record.layers.kind == LayerSelection::Kind::kList && record.layers.items.empty()) {
      fail("layer", "an empty list", "at least one layer");
    }
    record.pass = has(kPass) ? static_cast<int>(number(kPass, 0, kMostTracePasses - 1)) : 0;
    record.work = LayerWork{};
    if (has(kSkip) && handler_.skip) {
      only(kPlace | bit(kSkip), "\"skip\":true");
      record.work.mode = WorkMode::kNone;
      return;
    }
    if (has(kPasses)) take_passes(record.work);
    if (has(kQuantised) && !handler_.quantised) {
      only(kPlace | bit(kSkip) | bit(kQuantised) | bit(kPasses), "\"quantised\":false");
      record.work.mode = WorkMode::kFp32;
      return;
    }
    constexpr unsigned kWidths =
        bit(kB) | bit(kW) | bit(kA) | bit(kG) | bit(kFwd) | bit(kDx) | bit(kDw);
    only(kPlace | bit(kSkip) | bit(kQuantised) | bit(kPasses) | kWidths, "bits of layers");
    take_bits(record.work.bits);
  }

  void take_range(TraceRecord& record) {
    if (!has(kStart)) fail("t", "nothing", "an iteration, or [first, end)");
    const Numbers& n = handler_.numbers[kStart];
    const std::uint64_t last = header_.iterations;
    record.end = kOpenEnd;
    if (n.list && n.count != 2) fail("t", fmt::format("a list of {}", n.count), "[first, end)");
    record.start = n.value[0];
    if (record.start >= last) {
      fail("t", std::to_string(record.start), fmt::format("0 to {}", last - 1));
    }
    if (!n.list) return;
    record.end = n.value[1];
    if (record.end <= record.start || record.end > last) {
      fail("t", fmt::format("an end of {}", record.end),
           fmt::format("{} to {}", record.start + 1, last));
    }
  }

  void take_passes(LayerWork& work) const {
    const Numbers& n = handler_.numbers[kPasses];
    if (n.list && n.count != 3) {
      fail("passes", fmt::format("a list of {}", n.count), "those of forward, dX and dW");
    }
    for (unsigned i = 0; i < 3; ++i) {
      const std::uint64_t value = n.value[n.list ? i : 0];
      if (value > kMostPasses) {
        fail("passes", std::to_string(value), fmt::format("0 to {}", kMostPasses));
      }
      work.passes[i] = static_cast<std::uint32_t>(value);
    }
  }

  void take_bits(LayerBits& out) const {
    if (has(kB) && (has(kW) || has(kA))) fail("b", "also w or a", "b, or w and a");
    if (has(kW) != has(kA)) {
      fail(has(kW) ? "w" : "a", has(kW) ? "no a" : "no w", "both, or b for both");
    }
    const bool all_gemms = has(kFwd) && has(kDx) && has(kDw);
    if (!has(kB) && !has(kW) && !all_gemms) {
      fail("b", "nothing", "bits: b (or w and a) and g, or fwd, dx and dw");
    }
    if (!has(kG) && !(has(kDx) && has(kDw))) {
      fail("g", "nothing", "gradient bits, or dx and dw");
    }
    const int g = has(kG) ? bits(kG) : kMinBits;
    if (has(kB)) out = LayerBits(bits(kB), g);
    if (has(kW)) out = LayerBits(bits(kW), bits(kA), g);
    if (has(kFwd)) operand_bits(kFwd, out.fwd_x, out.fwd_w);
    if (has(kDx)) operand_bits(kDx, out.dx_g, out.dx_w);
    if (has(kDw)) operand_bits(kDw, out.dw_g, out.dw_x);
  }

  void build_extra(TraceRecord& record) const {
    if (handler_.extra == "exchange") {
      only(bit(kStart) | bit(kExtra) | bit(kBits), "\"extra\":\"exchange\"");
      record.kind = TraceRecord::Kind::kExchange;
      if (!has(kBits)) fail("bits", "nothing", "bits per parameter, 1 to 64");
      record.exchange_bits = static_cast<int>(number(kBits, 1, 64));
      return;
    }
    if (handler_.extra != "averaging") {
      fail("extra",
           "'" + handler_.extra + "'" + suggestion(handler_.extra, {"averaging", "exchange"}),
           "averaging, exchange");
    }
    only(
        bit(kStart) | bit(kExtra) | bit(kElements) | bit(kReadBits) | bit(kWriteBits) | bit(kEvery),
        "\"extra\":\"averaging\"");
    record.kind = TraceRecord::Kind::kAveraging;
    for (const Key key : {kReadBits, kWriteBits}) {
      if (!has(key)) fail(kNames[key], "nothing", "bits per element, 0 to 1024");
    }
    record.read_bits = static_cast<int>(number(kReadBits, 0, 1024));
    record.write_bits = static_cast<int>(number(kWriteBits, 0, 1024));
    record.every = has(kEvery) ? number(kEvery, 1, header_.iterations) : 1;
    record.elements = 0;
    if (has(kElements) && handler_.numbers[kElements].count > 0) {
      record.elements = number(kElements, 1, std::uint64_t{1} << 48);
    }
  }

  void finish() {
    only(bit(kEnd), "\"end\"");
    const Numbers& n = handler_.numbers[kEnd];
    if (n.count == 1 && n.value[0] != records_) {
      fail("end", std::to_string(n.value[0]), fmt::format("{}, the records read", records_));
    }
    ended_ = true;
    char* text = nullptr;
    std::size_t size = 0;
    while (source_.next(text, size)) {
      if (!trimmed({text, size}).empty()) fail("trace", "a line after the end line", "none");
    }
  }

  LineSource source_;
  TraceHeader header_;
  LineHandler handler_;
  rapidjson::Reader reader_;
  std::uint64_t records_ = 0;
  bool ended_ = false;
};

TraceReader::TraceReader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
TraceReader::~TraceReader() = default;
const TraceHeader& TraceReader::header() const { return impl_->header(); }
const std::string& TraceReader::name() const { return impl_->source().name(); }
int TraceReader::line() const { return impl_->source().line(); }
bool TraceReader::next(TraceRecord& record) { return impl_->next(record); }

}  // namespace bitcycle
