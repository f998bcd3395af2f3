// Networks that other tools describe: ONNX, SCALE-Sim topologies, Timeloop problems.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workloads/graph.hpp"

namespace bitcycle {

/// How the output size of a convolution is rounded where strides do not fit.
enum class OutputSize { kFloor, kCeil };
OutputSize parse_output_size(const std::string& text);  ///< "floor" | "scalesim" (rounds up)

enum class ImportFormat { kAuto, kOnnx, kScaleSim, kTimeloop };
ImportFormat parse_import_format(const std::string& text);  ///< "auto", "onnx", ...
std::string to_string(ImportFormat format);

struct ImportOptions {
  ImportFormat format = ImportFormat::kAuto;
  std::uint64_t batch = 0;                      ///< samples in an iteration; 0 = as the file says
  OutputSize output_size = OutputSize::kFloor;  ///< SCALE-Sim only: kCeil is its own rule
  bool ignore_sparsity = false;    ///< count sparse layers as dense; otherwise they are refused
  bool allow_unsupported = false;  ///< ONNX: unknown operators are zero work, with a note
  std::size_t batch_axis = 0;      ///< ONNX: axis of the inputs that counts samples
  std::map<std::string, std::uint64_t> dims;  ///< ONNX: sizes of named dimensions
};

/// An operator of the file and what became of it.
struct ImportedOperator {
  std::string name;  ///< as the file calls it
  std::string fate;  ///< "layer", "vector work", "no work", "unsupported: zero work", ...
  std::uint64_t count = 0;
};

struct ImportedNetwork {
  Graph graph;  ///< of one sample; graph.batch = the batch asked for, or the file's
  ImportFormat format = ImportFormat::kAuto;
  std::uint64_t file_batch = 1;
  std::vector<ImportedOperator> operators;  ///< ONNX only, by fate and name
  std::vector<std::string> notes;           ///< one line each: choices made, things ignored
};

/// Reads a network: one file, or several Timeloop problems, or a directory of them. kAuto goes by
/// the name: .onnx, .csv, .yaml, .yml or a directory. The graph has passed infer_shapes. Throws
/// InputError in one line (file, line or node, what was found, what is allowed). Memory is bounded:
/// text files are read to 4 MB; of ONNX files only the structure is kept (see onnx_reader.hpp).
ImportedNetwork import_network(const std::vector<std::string>& paths, const ImportOptions& options);

/// True if `path` names a format of import_network and not a network of bitcycle's own.
bool is_import_path(const std::string& path);

}  // namespace bitcycle
