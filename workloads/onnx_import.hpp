// ONNX models as graphs. Internal to workloads/; users call import_network (workloads/import.hpp).
#pragma once

#include <string>

#include "workloads/import.hpp"
#include "workloads/onnx_reader.hpp"

namespace bitcycle {

/// The graph of one sample of an ONNX inference model. Throws InputError.
ImportedNetwork import_onnx(const std::string& path, const ImportOptions& options);
/// The same from a model that was read.
ImportedNetwork import_onnx(const OnnxModel& model, const ImportOptions& options);

}  // namespace bitcycle
