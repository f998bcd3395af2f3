// SCALE-Sim topology CSV (scalesim-project/scale-sim-v2, scalesim/topology_utils.py and its
// topologies/ folder at the time of writing), read the way its users write it.
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "golden/checked.hpp"
#include "golden/text_file.hpp"
#include "golden/utf8.hpp"
#include "workloads/import_formats.hpp"
#include "workloads/number_text.hpp"

namespace bitcycle {
namespace {

constexpr const char* kForms =
    "a SCALE-Sim topology: name,IFMAP height,IFMAP width,filter height,filter width,channels,num "
    "filter,stride[,stride width] or name,M,N,K";
constexpr std::size_t kMostColumns = 64;
constexpr std::size_t kMostLayers = 100'000;
constexpr std::uint64_t kMaxSize = 0xFFFF'FFFF;

// Columns by meaning. The required ones of either form come first, in file order.
enum class Column {
  kName,
  kHeight,
  kWidth,
  kKernelHeight,
  kKernelWidth,
  kChannels,
  kFilters,
  kStride,
  kM,
  kN,
  kK,
  kStrideWidth,
  kSparsity,
  kBatch,
  kOther,  // named, but of no meaning here
  kEmpty,  // no name
};
constexpr std::array kConvColumns = {Column::kName,         Column::kHeight,      Column::kWidth,
                                     Column::kKernelHeight, Column::kKernelWidth, Column::kChannels,
                                     Column::kFilters,      Column::kStride};
constexpr std::array kGemmColumns = {Column::kName, Column::kM, Column::kN, Column::kK};

const char* text_of(Column column) {
  switch (column) {
    case Column::kName:
      return "layer name";
    case Column::kHeight:
      return "IFMAP height";
    case Column::kWidth:
      return "IFMAP width";
    case Column::kKernelHeight:
      return "filter height";
    case Column::kKernelWidth:
      return "filter width";
    case Column::kChannels:
      return "channels";
    case Column::kFilters:
      return "num filter";
    case Column::kStride:
      return "stride";
    case Column::kStrideWidth:
      return "stride width";
    case Column::kM:
      return "M";
    case Column::kN:
      return "N";
    case Column::kK:
      return "K";
    case Column::kSparsity:
      return "sparsity";
    case Column::kBatch:
      return "batch";
    default:
      return "column";
  }
}

// "IFMAP Height" and "ifmap_height" are one name.
std::string bare(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

Column column_named(std::string_view title) {
  static const std::map<std::string, Column> known = {
      {"layername", Column::kName},
      {"layer", Column::kName},
      {"name", Column::kName},
      {"ifmapheight", Column::kHeight},
      {"ifmaph", Column::kHeight},
      {"ifmapwidth", Column::kWidth},
      {"ifmapw", Column::kWidth},
      {"filterheight", Column::kKernelHeight},
      {"filterh", Column::kKernelHeight},
      {"filterwidth", Column::kKernelWidth},
      {"filterw", Column::kKernelWidth},
      {"channels", Column::kChannels},
      {"numchannels", Column::kChannels},
      {"numfilter", Column::kFilters},
      {"numfilters", Column::kFilters},
      {"strides", Column::kStride},
      {"stride", Column::kStride},
      {"strideheight", Column::kStride},
      {"strideh", Column::kStride},
      {"stridewidth", Column::kStrideWidth},
      {"stridew", Column::kStrideWidth},
      {"m", Column::kM},
      {"n", Column::kN},
      {"k", Column::kK},
      {"sparsity", Column::kSparsity},
      {"sparsityratio", Column::kSparsity},
      {"batch", Column::kBatch},
      {"batchsize", Column::kBatch},
  };
  const std::string key = bare(title);
  if (key.empty()) return Column::kEmpty;
  const auto found = known.find(key);
  return found == known.end() ? Column::kOther : found->second;
}

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = line.find(separator);
    std::string_view field = trimmed(line.substr(0, end));
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
      field = trimmed(field.substr(1, field.size() - 2));
    }
    fields.push_back(field);
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

bool is_number(std::string_view text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text.front())) != 0 ||
                           text.front() == '-' || text.front() == '+' || text.front() == '.');
}

// "DP" as a word of its own ("Conv2_DP", "DP3"), not inside one ("ADPT").
bool has_depthwise_word(std::string_view name) {
  for (std::size_t at = name.find("DP"); at != std::string_view::npos;
       at = name.find("DP", at + 1)) {
    const auto letter = [&](std::size_t i) {
      return i < name.size() && std::isalpha(static_cast<unsigned char>(name[i])) != 0;
    };
    if (!(at > 0 && letter(at - 1)) && !letter(at + 2)) return true;
  }
  return false;
}

class Reader {
 public:
  Reader(std::string path, const ImportOptions& options)
      : path_(std::move(path)), options_(options) {}

  ImportedLayers read(std::string_view text) {
    out_.name = std::filesystem::path(path_).stem().string();
    if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      ++line_;
      take_line(text.substr(0, end));
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
    if (out_.layers.empty()) {
      throw input_error(path_, line_, "topology", "no layers", kForms);
    }
    finish_notes();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(path_, line_, field, found, allowed);
  }

  void take_line(std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!is_clean_utf8(line)) {
      fail("line", "bytes that are no text (UTF-8, no control characters)", kForms);
    }
    std::string_view content = trimmed(line.substr(0, line.find('#')));
    if (content.find_first_not_of(", \t;") == std::string_view::npos) return;
    if (form_ == Form::kUnknown) {
      separator_ = content.find(',') == std::string_view::npos &&
                           content.find('\t') != std::string_view::npos
                       ? '\t'
                       : ',';
    }
    const auto fields = split(content, separator_);
    if (fields.size() > kMostColumns) {
      fail("line", std::to_string(fields.size()) + " columns",
           "at most " + std::to_string(kMostColumns) + " columns");
    }
    if (form_ != Form::kUnknown) {
      add_row(fields);
    } else if (fields.size() > 1 && is_number(fields[1])) {
      out_.notes.emplace_back(
          "no header line: columns read by position (SCALE-Sim itself skips the first line)");
      use_positions(fields);
      add_row(fields);
    } else {
      take_header(fields);
    }
  }

  void take_header(const std::vector<std::string_view>& fields) {
    std::vector<Column> columns;
    std::set<Column> seen;
    for (const auto field : fields) {
      columns.push_back(column_named(field));
      const Column column = columns.back();
      if (column == Column::kOther || column == Column::kEmpty) continue;
      if (!seen.insert(column).second) {
        fail("header", "the column '" + std::string(field) + "' twice", "each column once");
      }
    }
    const auto has_all = [&](const auto& required) {
      return std::all_of(required.begin(), required.end(),
                         [&](Column c) { return seen.count(c) != 0; });
    };
    if (has_all(kConvColumns) && has_all(kGemmColumns)) {
      fail("header", "columns of both forms", kForms);
    }
    if (has_all(kConvColumns)) {
      form_ = Form::kConvolution;
    } else if (has_all(kGemmColumns)) {
      form_ = Form::kGemm;
    } else {
      header_by_position(fields, columns);
      return;
    }
    columns_ = columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == Column::kOther) ignored_.insert(std::string(fields[i].substr(0, 40)));
    }
  }

  // SCALE-Sim reads by position whatever the header says; so titles of one's own are accepted where
  // none of the known ones stands in another place.
  void header_by_position(const std::vector<std::string_view>& fields,
                          const std::vector<Column>& columns) {
    const auto fits = [&](const auto& required) {
      if (columns.size() < required.size()) return false;
      for (std::size_t i = 0; i < required.size(); ++i) {
        if (columns[i] != Column::kOther && columns[i] != required[i]) return false;
      }
      return true;
    };
    if (fits(kConvColumns)) {
      form_ = Form::kConvolution;
      columns_.assign(kConvColumns.begin(), kConvColumns.end());
    } else if (fits(kGemmColumns)) {
      form_ = Form::kGemm;
      columns_.assign(kGemmColumns.begin(), kGemmColumns.end());
    } else {
      std::string shown;
      for (const auto field : fields) shown += (shown.empty() ? "" : ",") + std::string(field);
      fail("header", "'" + shown + "'", kForms);
    }
    for (std::size_t i = columns_.size(); i < columns.size(); ++i) {
      columns_.push_back(columns[i]);
      if (columns[i] == Column::kOther) ignored_.insert(std::string(fields[i].substr(0, 40)));
    }
    out_.notes.emplace_back("header with other titles: columns read by position");
  }

  void use_positions(const std::vector<std::string_view>& fields) {
    std::size_t filled = fields.size();
    while (filled > 0 && fields[filled - 1].empty()) --filled;
    const bool gemm = filled <= 6;
    form_ = gemm ? Form::kGemm : Form::kConvolution;
    if (gemm) {
      columns_.assign(kGemmColumns.begin(), kGemmColumns.end());
      // The newest SCALE-Sim has a batch (or, older, a sparsity ratio) in the fifth column.
      columns_.push_back(fields.size() > 4 && fields[4].find(':') != std::string_view::npos
                             ? Column::kSparsity
                             : Column::kBatch);
    } else {
      columns_.assign(kConvColumns.begin(), kConvColumns.end());
      if (filled > 8 && fields[8].find(':') == std::string_view::npos) {
        columns_.push_back(Column::kStrideWidth);
      }
      columns_.push_back(Column::kSparsity);
    }
  }

  std::string_view field(const std::vector<std::string_view>& fields, Column column) const {
    for (std::size_t i = 0; i < columns_.size() && i < fields.size(); ++i) {
      if (columns_[i] == column) return fields[i];
    }
    return {};
  }

  std::uint64_t number(const std::vector<std::string_view>& fields, Column column) const {
    const std::string_view text = field(fields, column);
    std::uint64_t value = 0;
    if (!read_number(text, 1, kMaxSize, value)) {
      fail(text_of(column), text.empty() ? "nothing" : "'" + std::string(text) + "'",
           "a whole number from 1 to " + std::to_string(kMaxSize));
    }
    return value;
  }

  void check_surplus(const std::vector<std::string_view>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].empty()) continue;
      if (i >= columns_.size()) {
        fail("row", "'" + std::string(fields[i]) + "' in column " + std::to_string(i + 1),
             "at most " + std::to_string(columns_.size()) + " columns, as the header has");
      }
      if (columns_[i] == Column::kEmpty) {
        fail("row", "'" + std::string(fields[i]) + "' in column " + std::to_string(i + 1),
             "nothing there, as the header gives it no title");
      }
    }
  }

  void check_sparsity(const std::vector<std::string_view>& fields) {
    const std::string_view text = field(fields, Column::kSparsity);
    if (text.empty() || text == "1") return;
    const std::size_t colon = text.find(':');
    std::uint64_t n = 0;
    std::uint64_t m = 0;
    const bool ratio = colon != std::string_view::npos &&
                       read_number(text.substr(0, colon), 1, kMaxSize, n) &&
                       read_number(text.substr(colon + 1), 1, kMaxSize, m) && n <= m;
    if (!ratio) fail("sparsity", "'" + std::string(text) + "'", "N:M, such as 2:4");
    if (n == m) return;
    if (!options_.ignore_sparsity) {
      fail("sparsity", "'" + std::string(text) + "'",
           "dense layers (1:1), as the array multiplies zeros too; --sparsity ignore counts the "
           "layer as dense");
    }
    ++sparse_;
  }

  std::uint64_t batch(const std::vector<std::string_view>& fields) {
    const std::string_view text = field(fields, Column::kBatch);
    if (text.empty()) return 1;
    const std::uint64_t value = number(fields, Column::kBatch);
    if (value != 1 && form_ == Form::kConvolution) {
      fail("batch", std::to_string(value), "1; --batch sets the batch of the whole network");
    }
    return value;
  }

  void add_row(const std::vector<std::string_view>& fields) {
    if (out_.layers.size() == kMostLayers) {
      fail("topology", "more layers", "at most " + std::to_string(kMostLayers));
    }
    check_surplus(fields);
    check_sparsity(fields);
    ImportedLayer row;
    row.line = line_;
    row.file = path_;
    Layer& layer = row.layer;
    layer.name = std::string(field(fields, Column::kName));
    if (layer.name.size() > 200) fail("layer name", "'" + layer.name + "'", "200 characters");
    if (layer.name.empty()) layer.name = "layer" + std::to_string(out_.layers.size() + 1);
    row.repeats = batch(fields);
    if (form_ == Form::kGemm) {
      layer.hi = number(fields, Column::kM);
      layer.cout = number(fields, Column::kN);
      layer.cin = number(fields, Column::kK);
      row.gemm = true;
    } else {
      read_convolution(fields, layer);
    }
    layer.name = unique(layer.name);
    try {
      layer.validate();
    } catch (const InputError& e) {
      throw InputError(path_ + ":" + std::to_string(line_) + ": " + e.what());
    }
    out_.layers.push_back(std::move(row));
  }

  void read_convolution(const std::vector<std::string_view>& fields, Layer& layer) {
    layer.hi = number(fields, Column::kHeight);
    layer.wi = number(fields, Column::kWidth);
    layer.kh = number(fields, Column::kKernelHeight);
    layer.kw = number(fields, Column::kKernelWidth);
    layer.cin = number(fields, Column::kChannels);
    layer.cout = number(fields, Column::kFilters);
    layer.stride_h = number(fields, Column::kStride);
    layer.stride_w = layer.stride_h;
    if (!field(fields, Column::kStrideWidth).empty()) {
      layer.stride_w = number(fields, Column::kStrideWidth);
    }
    if (has_depthwise_word(layer.name)) {
      read_depthwise(layer);
    } else if (layer.name.find("DP") != std::string::npos) {
      ++inside_word_;
    }
    if (layer.kh > layer.hi || layer.kw > layer.wi) {
      fail("filter", std::to_string(layer.kh) + "x" + std::to_string(layer.kw),
           "no larger than the IFMAP, " + std::to_string(layer.hi) + "x" +
               std::to_string(layer.wi) + " (add the padding to the IFMAP)");
    }
    layer.pad_bottom = overhang(layer.hi, layer.kh, layer.stride_h);
    layer.pad_right = overhang(layer.wi, layer.kw, layer.stride_w);
    layer.dense = layer.hi == 1 && layer.wi == 1 && layer.kh == 1 && layer.kw == 1 &&
                  layer.stride_h == 1 && layer.stride_w == 1 && layer.groups == 1;
  }

  // SCALE-Sim makes one layer of a single channel, with all filters, of each channel.
  void read_depthwise(Layer& layer) {
    ++depthwise_;
    if (layer.cout != 1) ++several_filters_;
    layer.groups = layer.cin;
    const std::string what = "layer '" + layer.name + "', channels * filters";
    layer.cout = checked_mul(layer.cout, layer.cin, what.c_str());
  }

  // SCALE-Sim rounds the output size up: its last window hangs over the edge by this much, which is
  // padding here. With `floor` there is none.
  std::uint64_t overhang(std::uint64_t size, std::uint64_t kernel, std::uint64_t stride) {
    const std::uint64_t left = (size - kernel) % stride;
    if (left == 0) return 0;
    ++partial_windows_;
    return options_.output_size == OutputSize::kCeil ? stride - left : 0;
  }

  std::string unique(const std::string& name) {
    std::string out = name;
    for (std::size_t& n = copies_[name]; !names_.insert(out).second;) {
      out = name + "_" + std::to_string(++n + 1);
      if (n == 1) ++renamed_;
    }
    return out;
  }

  void finish_notes() {
    auto& notes = out_.notes;
    const auto count = [](std::size_t n, const char* what) {
      return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    };
    if (form_ == Form::kConvolution) {
      notes.push_back(std::string("output size: ") +
                      (options_.output_size == OutputSize::kCeil
                           ? "rounded up, as SCALE-Sim does (--output-size scalesim)"
                           : "rounded down, as frameworks do (--output-size floor)") +
                      "; it matters in " + count(partial_windows_, "place") +
                      " (height or width of a layer)");
      notes.emplace_back("padding: none, the file has no such column");
    } else {
      notes.emplace_back("M rows of each GEMM belong to one sample of the batch");
    }
    if (depthwise_ != 0) {
      notes.push_back(count(depthwise_, "layer") + " marked DP: depthwise, a group per channel");
    }
    if (several_filters_ != 0) {
      notes.push_back(count(several_filters_, "depthwise layer") +
                      " with several filters: each channel has all of them, as in SCALE-Sim");
    }
    if (inside_word_ != 0) {
      notes.push_back(count(inside_word_, "name") +
                      " with DP inside a word: an ordinary convolution here, depthwise in "
                      "SCALE-Sim");
    }
    if (sparse_ != 0) {
      notes.push_back(count(sparse_, "layer") + " with N:M sparsity: counted as dense");
    }
    if (renamed_ != 0) notes.push_back(count(renamed_, "repeated name") + " made distinct");
    if (!ignored_.empty()) {
      notes.push_back("columns without a meaning here, ignored: " +
                      join({ignored_.begin(), ignored_.end()}));
    }
  }

  enum class Form { kUnknown, kConvolution, kGemm };

  std::string path_;
  const ImportOptions& options_;
  ImportedLayers out_;
  int line_ = 0;
  Form form_ = Form::kUnknown;
  char separator_ = ',';
  std::vector<Column> columns_;
  std::set<std::string> ignored_;
  std::set<std::string> names_;
  std::map<std::string, std::size_t> copies_;
  std::size_t partial_windows_ = 0;
  std::size_t depthwise_ = 0;
  std::size_t several_filters_ = 0;
  std::size_t inside_word_ = 0;
  std::size_t sparse_ = 0;
  std::size_t renamed_ = 0;
};

}  // namespace

ImportedLayers parse_scalesim(const std::string& text, const std::string& path,
                              const ImportOptions& options) {
  return Reader(path, options).read(text);
}

ImportedLayers read_scalesim(const std::string& path, const ImportOptions& options) {
  return parse_scalesim(read_text_file(path, "SCALE-Sim topology", "a readable CSV file"), path,
                        options);
}

}  // namespace bitcycle
