// A network as tables: layer by layer with its three GEMMs, vector work, totals. Internal to sim/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "golden/checked.hpp"
#include "workloads/graph.hpp"

namespace bitcycle {

/// What `network show` is asked.
struct NetworkView {
  Network network;
  std::vector<std::string> conventions;  ///< that the network knows
  std::uint64_t batch = 1;
  DxLowering lowering = DxLowering::kPhases;
  int bits = 8;                  ///< width of kept activations
  bool every_vector_op = false;  ///< in the text; JSON and CSV have all
  std::string command;
};

/// One layer. GEMMs are listed for FP32 layers too: `quantised` says where they run.
struct LayerRow {
  std::size_t layer = 0;            ///< in NetworkView::network
  std::vector<TrainingGemm> gemms;  ///< of one iteration
  std::uint64_t macs_per_sample = 0;
  std::uint64_t parameters = 0;        ///< weights it owns
  std::uint64_t activation_bytes = 0;  ///< its input, of the whole batch at NetworkView::bits
};

struct NetworkTable {
  std::vector<LayerRow> rows;
  std::uint64_t macs_quantised = 0, macs_fp32 = 0;  ///< forward, per sample
  std::uint64_t parameters_gemm = 0, parameters_vector = 0;
  std::uint64_t activation_bytes = 0;
  std::uint64_t vector_forward = 0, vector_backward = 0;  ///< operations per sample
};

/// Throws InputError as training_gemms, and for sums over 64 bits.
NetworkTable tabulate(const NetworkView& view);

std::string network_text(const NetworkView& view, const NetworkTable& table);
/// A line per GEMM shape, and per vector operation (gemm = "vector").
std::string network_csv(const NetworkView& view, const NetworkTable& table);
std::string network_json(const NetworkView& view, const NetworkTable& table);

/// A line of `network list`.
struct NetworkSummary {
  std::string name, file, title, sample, convention;
  std::uint64_t batch = 0, layers = 0, macs = 0, macs_quantised = 0, parameters = 0;
};
NetworkSummary summarise_network(const Graph& graph, const std::string& file);
std::string network_list_text(const std::vector<NetworkSummary>& rows);
std::string network_list_csv(const std::vector<NetworkSummary>& rows);
std::string network_list_json(const std::vector<NetworkSummary>& rows, const std::string& command);

}  // namespace bitcycle
