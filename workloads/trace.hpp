// Traces: what precision every layer has in every iteration. docs/traces.md describes the files.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/layer_bits.hpp"
#include "workloads/network.hpp"

namespace bitcycle {

/// Version that is written; others are refused.
constexpr int kTraceVersion = 1;

/// Most passes of one training step (SPEQ needs 2, HALP 3), and most layers of a trace.
constexpr int kMostTracePasses = 8;
constexpr std::size_t kMostTraceLayers = 100'000;

/// End of a record that holds until the layer's next record.
constexpr std::uint64_t kOpenEnd = ~std::uint64_t{0};

/// First line of a trace.
struct TraceHeader {
  std::string name;                ///< of the row in reports; "" = the file's name
  std::string network;             ///< name or file; "" = inline layers, or any network
  std::string convention;          ///< as --convention; "" = that of the command
  std::vector<Layer> layers;       ///< inline network; empty = none
  std::uint64_t iterations = 0;    ///< N
  std::uint64_t batch = 0;         ///< samples of an iteration; 0 = not stated
  std::string format = "integer";  ///< number format, for the record
  std::string producer;            ///< program that wrote it
  std::string notes;
};

/// Where a layer's work is done.
enum class WorkMode : std::uint8_t {
  kArray,  ///< quantised, on the array
  kFp32,   ///< FP32, beside the array
  kNone,   ///< skipped
};

/// What a layer does in one pass of a step.
struct LayerWork {
  LayerBits bits;
  WorkMode mode = WorkMode::kArray;
  std::array<std::uint32_t, 3> passes = {1, 1, 1};  ///< repetitions by GemmKind

  friend bool operator==(const LayerWork& x, const LayerWork& y) {
    return x.mode == y.mode && x.passes == y.passes && x.bits == y.bits;
  }
};

/// Which layers a record is for.
struct LayerSelection {
  enum class Kind { kAll, kIndex, kRange, kPattern, kList };
  Kind kind = Kind::kAll;
  std::uint64_t from = 0, to = 0;     ///< kIndex: from; kRange: both ends included
  std::string pattern;                ///< name, * and ? allowed
  std::vector<LayerSelection> items;  ///< kList: indices, ranges and patterns

  static LayerSelection index(std::uint64_t at) { return {Kind::kIndex, at, at, "", {}}; }
  static LayerSelection named(std::string name) {
    return {Kind::kPattern, 0, 0, std::move(name), {}};
  }
};

/// One line of a trace.
struct TraceRecord {
  enum class Kind {
    kWork,       ///< bits of layers
    kAveraging,  ///< a copy of the weights is averaged (SWALP)
    kExchange,   ///< bits per parameter sent to other workers
  };
  Kind kind = Kind::kWork;
  std::uint64_t start = 0, end = kOpenEnd;  ///< iterations [start, end)
  LayerSelection layers;                    ///< kWork
  int pass = 0;                             ///< kWork: 0 = the step itself, others come on top
  LayerWork work;                           ///< kWork
  std::uint64_t every = 1;                  ///< kAveraging: in start, start + every, ...
  std::uint64_t elements = 0;               ///< kAveraging: 0 = all parameters
  int read_bits = 0, write_bits = 0;        ///< kAveraging: per element
  int exchange_bits = 0;                    ///< kExchange: per parameter
};

/// Whatever takes records in order: a file, or the sums of a run.
class TraceSink {
 public:
  TraceSink() = default;
  TraceSink(const TraceSink&) = delete;
  TraceSink& operator=(const TraceSink&) = delete;
  virtual ~TraceSink() = default;
  /// Throws InputError for a record that does not fit those before.
  virtual void add(const TraceRecord& record) = 0;
};

/// Layers as a trace counts them: every layer of the network by index; FP32 ones take no record.
struct TraceLayers {
  std::vector<std::string> names;
  std::vector<bool> quantised;
  std::uint64_t parameters = 0;  ///< of all layers, without bias

  std::size_t size() const { return names.size(); }
};
TraceLayers trace_layers(const Network& network);

/// The network of a trace without one, for counting only: a single layer.
TraceLayers anonymous_layer();

/// Indices that a selection means, ascending. "all", ranges and patterns with * or ? leave FP32
/// layers out; naming one is refused. `file` and `line` are for messages. Throws InputError.
std::vector<std::uint32_t> select_layers(const TraceLayers& layers, const LayerSelection& selection,
                                         const std::string& file, int line);

}  // namespace bitcycle
