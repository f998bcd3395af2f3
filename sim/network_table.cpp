#include "sim/network_table.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "golden/error.hpp"
#include "sim/cli.hpp"
#include "sim/table.hpp"

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

std::string kind_text(const Layer& layer) {
  switch (layer.kind) {
    case LayerKind::kMatmul:
      return "matmul";
    case LayerKind::kRecurrent:
      return "recurrent";
    case LayerKind::kTransposed:
      return "conv-transpose";
    case LayerKind::kWeight:
      break;
  }
  if (layer.dense) return "dense";
  return layer.groups > 1 && layer.groups == layer.cin ? "depthwise" : "conv";
}

std::string shape_text(const Layer& layer) {
  std::string out = fmt::format("{}x{}x{}", layer.cin, layer.hi, layer.wi);
  if (layer.kind == LayerKind::kMatmul || layer.dense) return out;
  out += fmt::format(" k{}", layer.kh);
  if (layer.kw != layer.kh) out += fmt::format("x{}", layer.kw);
  if (layer.stride_h != 1 || layer.stride_w != 1) out += fmt::format(" s{}", layer.stride_h);
  return out;
}

// "128 x (512, 64, 64)"; the phases of one dX that differ in K only have their Ks summed.
std::string gemms_text(const LayerRow& row, GemmKind kind) {
  std::string out;
  const TrainingGemm* last = nullptr;
  for (const TrainingGemm& g : row.gemms) {
    if (g.kind != kind) continue;
    if (last != nullptr && last->shape.m == g.shape.m && last->shape.n == g.shape.n) {
      out += fmt::format("+{}", g.shape.k);
    } else {
      if (last != nullptr) out += "; ";
      if (g.count > 1) out += fmt::format("{} x ", g.count);
      out += fmt::format("{} {} {}", g.shape.m, g.shape.n, g.shape.k);
    }
    last = &g;
  }
  return out;
}

// So that a row fits a terminal; CSV and JSON have all of it.
constexpr std::size_t kName = 26, kGemms = 22;

// Phases that do not fit are left out.
std::string gemms_cell(const LayerRow& row, GemmKind kind) {
  std::string text = gemms_text(row, kind);
  if (text.size() <= kGemms) return text;
  const auto cut = text.find_last_of(";+", kGemms - 3);
  return text.substr(0, cut == std::string::npos ? kGemms - 3 : cut) + " ..";
}

const char* width_text(Width width) { return width == Width::kForward ? "b" : "g"; }

// Quotes what a comma or quote would break.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

struct VectorSum {
  std::uint64_t count = 0, forward = 0, backward = 0, elements = 0;
};

std::string vector_text(const NetworkView& view) {
  TextTable table;
  if (view.every_vector_op) {
    table.add_column("vector operation", TextTable::Align::kLeft);
    table.add_column("kind", TextTable::Align::kLeft);
    for (const char* heading : {"elements\nin", "elements\nout", "parameters", "FP32 ops\nforward",
                                "FP32 ops\nbackward"}) {
      table.add_column(heading);
    }
    for (const VectorOp& op : view.network.vector_ops) {
      table.add_row({op.name, op.op + (op.quantised ? " (quantised)" : ""),
                     fmt::format("{}", op.elements_in), fmt::format("{}", op.elements_out),
                     fmt::format("{}", op.parameters), fmt::format("{}", op.forward_ops),
                     fmt::format("{}", op.backward_ops)});
    }
    return table.render();
  }
  std::vector<std::string> order;
  std::map<std::string, VectorSum> sums;
  for (const VectorOp& op : view.network.vector_ops) {
    if (sums.count(op.op) == 0) order.push_back(op.op);
    VectorSum& sum = sums[op.op];
    ++sum.count;
    sum.forward = checked_add(sum.forward, op.forward_ops, "vector operations");
    sum.backward = checked_add(sum.backward, op.backward_ops, "vector operations");
    sum.elements = checked_add(
        sum.elements, checked_add(op.elements_in, op.elements_out, "elements"), "elements");
  }
  table.add_column("vector work, per sample", TextTable::Align::kLeft);
  for (const char* heading :
       {"count", "elements moved\nforward", "FP32 ops\nforward", "FP32 ops\nbackward"}) {
    table.add_column(heading);
  }
  for (const std::string& name : order) {
    const VectorSum& sum = sums.at(name);
    table.add_row({name, fmt::format("{}", sum.count), fmt::format("{}", sum.elements),
                   fmt::format("{}", sum.forward), fmt::format("{}", sum.backward)});
  }
  return table.render();
}

}  // namespace

NetworkTable tabulate(const NetworkView& view) {
  Network all = view.network;
  for (Layer& layer : all.layers) layer.quantised = true;
  NetworkTable out;
  for (std::size_t i = 0; i < all.layers.size(); ++i) {
    const Layer& layer = all.layers[i];
    LayerRow row;
    row.layer = i;
    row.macs_per_sample = layer.macs_per_sample();
    row.parameters = layer.parameters();
    const LayerTensors tensors = layer_tensors(layer, view.batch);
    std::uint64_t kept = tensors.input;
    // Both operands of a product of activations are kept.
    if (layer.kind == LayerKind::kMatmul) kept = checked_add(kept, tensors.weight, "elements");
    row.activation_bytes = ceil_div(
        checked_mul(kept, static_cast<unsigned>(view.bits), "activation bits"), std::uint64_t{8});
    const bool quantised = view.network.layers[i].quantised;
    std::uint64_t& macs = quantised ? out.macs_quantised : out.macs_fp32;
    macs = checked_add(macs, row.macs_per_sample, "MACs");
    out.parameters_gemm = checked_add(out.parameters_gemm, row.parameters, "parameters");
    out.activation_bytes = checked_add(out.activation_bytes, row.activation_bytes, "bytes");
    out.rows.push_back(std::move(row));
  }
  for (TrainingGemm& gemm : training_gemms(all, view.batch, view.lowering)) {
    out.rows.at(gemm.layer).gemms.push_back(gemm);
  }
  for (const VectorOp& op : view.network.vector_ops) {
    out.parameters_vector = checked_add(out.parameters_vector, op.parameters, "parameters");
    out.vector_forward = checked_add(out.vector_forward, op.forward_ops, "vector operations");
    out.vector_backward = checked_add(out.vector_backward, op.backward_ops, "vector operations");
  }
  return out;
}

std::string network_text(const NetworkView& view, const NetworkTable& table) {
  const Network& network = view.network;
  std::string out = fmt::format("{}: {}\n", network.name, network.title);
  if (!network.source.empty()) out += wrap_text("source: " + network.source, 112, 2) + "\n";
  out += wrap_text(fmt::format("convention {}: {} (known: {})", network.convention,
                               network.convention_text, join(view.conventions)),
                   112, 2) +
         "\n";
  out += fmt::format("batch {}; a sample is one {}; GEMMs as M N K of one iteration, {}\n\n",
                     view.batch, network.sample,
                     view.lowering == DxLowering::kPhases ? "dx=phases" : "dx=gemm");
  TextTable text;
  text.add_column("layer", TextTable::Align::kLeft);
  text.add_column("kind", TextTable::Align::kLeft);
  text.add_column("input", TextTable::Align::kLeft);
  text.add_column("runs", TextTable::Align::kLeft);
  for (const char* heading : {"Y", "dX", "dW"}) text.add_column(heading, TextTable::Align::kLeft);
  text.add_column("MACs\nper sample");
  text.add_column("parameters");
  text.add_column(fmt::format("input kept\nbytes at {} b", view.bits));
  for (const LayerRow& row : table.rows) {
    const Layer& layer = network.layers[row.layer];
    text.add_row({short_text(layer.name, kName), kind_text(layer), shape_text(layer),
                  layer.quantised ? "quantised" : "FP32", gemms_cell(row, GemmKind::kForward),
                  gemms_cell(row, GemmKind::kDx), gemms_cell(row, GemmKind::kDw),
                  fmt::format("{}", row.macs_per_sample), fmt::format("{}", row.parameters),
                  fmt::format("{}", row.activation_bytes)});
  }
  out += text.render() + "\n" + vector_text(view) + "\n";
  out += fmt::format(
      "MACs per sample, forward: {} quantised, {} FP32\n"
      "parameters: {} = {} in GEMMs + {} in biases, norms and embeddings\n"
      "kept for the backward pass: {} bytes at batch {} and {} bits\n"
      "vector work per sample: {} FP32 operations forward, {} backward\n",
      table.macs_quantised, table.macs_fp32,
      checked_add(table.parameters_gemm, table.parameters_vector, "parameters"),
      table.parameters_gemm, table.parameters_vector, table.activation_bytes, view.batch, view.bits,
      table.vector_forward, table.vector_backward);
  return out;
}

std::string network_csv(const NetworkView& view, const NetworkTable& table) {
  std::string out =
      "layer,kind,quantised,gemm,a,w,count,m,n,k,macs_useful,macs_per_sample,parameters,"
      "activation_bytes,elements_in,elements_out,indices,forward_ops,backward_ops\n";
  for (const LayerRow& row : table.rows) {
    const Layer& layer = view.network.layers[row.layer];
    for (const TrainingGemm& g : row.gemms) {
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},,,,,\n", csv_cell(layer.name),
                         kind_text(layer), layer.quantised, to_string(g.kind), width_text(g.a),
                         width_text(g.w), g.count, g.shape.m, g.shape.n, g.shape.k,
                         checked_mul(g.macs_useful, g.count, "MACs"), row.macs_per_sample,
                         row.parameters, row.activation_bytes);
    }
  }
  for (const VectorOp& op : view.network.vector_ops) {
    out += fmt::format("{},{},{},vector,,,,,,,,,{},,{},{},{},{},{}\n", csv_cell(op.name), op.op,
                       op.quantised, op.parameters, op.elements_in, op.elements_out, op.indices,
                       op.forward_ops, op.backward_ops);
  }
  return out;
}

std::string network_json(const NetworkView& view, const NetworkTable& table) {
  const Network& network = view.network;
  Json out;
  out["tool"] = "bitcycle";
  out["version"] = program_version();
  out["command"] = view.command;
  out["network"] = network.name;
  out["title"] = network.title;
  out["source"] = network.source;
  out["sample"] = network.sample;
  out["batch"] = view.batch;
  out["convention"] = network.convention;
  out["convention_text"] = network.convention_text;
  out["conventions"] = view.conventions;
  out["macs_per_sample_quantised"] = table.macs_quantised;
  out["macs_per_sample_fp32"] = table.macs_fp32;
  out["parameters"] = table.parameters_gemm + table.parameters_vector;
  out["parameters_gemm"] = table.parameters_gemm;
  out["activation_bits"] = view.bits;
  out["activation_bytes"] = table.activation_bytes;
  out["vector_forward_ops"] = table.vector_forward;
  out["vector_backward_ops"] = table.vector_backward;
  out["layers"] = Json::array();
  for (const LayerRow& row : table.rows) {
    const Layer& layer = network.layers[row.layer];
    Json entry;
    entry["name"] = layer.name;
    entry["kind"] = kind_text(layer);
    entry["quantised"] = layer.quantised;
    entry["first"] = layer.first;
    entry["input"] = {layer.cin, layer.hi, layer.wi};
    entry["output"] = {layer.cout, layer.ho(), layer.wo()};
    entry["groups"] = layer.groups;
    if (!layer.weights_of.empty()) entry["weights_of"] = layer.weights_of;
    entry["macs_per_sample"] = row.macs_per_sample;
    entry["parameters"] = row.parameters;
    entry["activation_bytes"] = row.activation_bytes;
    entry["gemms"] = Json::array();
    for (const TrainingGemm& g : row.gemms) {
      Json gemm;
      gemm["gemm"] = to_string(g.kind);
      gemm["count"] = g.count;
      gemm["m"] = g.shape.m;
      gemm["n"] = g.shape.n;
      gemm["k"] = g.shape.k;
      gemm["a"] = width_text(g.a);
      gemm["w"] = width_text(g.w);
      gemm["macs_useful"] = checked_mul(g.macs_useful, g.count, "MACs");
      entry["gemms"].push_back(gemm);
    }
    out["layers"].push_back(entry);
  }
  out["vector_ops"] = Json::array();
  for (const VectorOp& op : network.vector_ops) {
    Json entry;
    entry["name"] = op.name;
    entry["op"] = op.op;
    entry["quantised"] = op.quantised;
    entry["elements_in"] = op.elements_in;
    entry["elements_out"] = op.elements_out;
    entry["indices"] = op.indices;
    if (op.backward_in && op.backward_out) {
      entry["backward_in"] = *op.backward_in;
      entry["backward_out"] = *op.backward_out;
    }
    entry["parameters"] = op.parameters;
    entry["forward_ops"] = op.forward_ops;
    entry["backward_ops"] = op.backward_ops;
    entry["rule"] = op.rule;
    out["vector_ops"].push_back(entry);
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

NetworkSummary summarise_network(const Graph& graph, const std::string& file) {
  const Network network = build_network(graph);
  return {network.name,
          file,
          network.title,
          network.sample,
          network.convention,
          network.batch,
          network.layers.size(),
          network.macs_per_sample(false),
          network.macs_per_sample(true),
          network.parameters()};
}

std::string network_list_text(const std::vector<NetworkSummary>& rows) {
  TextTable table;
  table.add_column("network", TextTable::Align::kLeft);
  table.add_column("sample", TextTable::Align::kLeft);
  table.add_column("batch");
  table.add_column("GEMM\nlayers");
  table.add_column("MACs\nper sample");
  table.add_column("of these\nquantised");
  table.add_column("parameters");
  table.add_column("convention", TextTable::Align::kLeft);
  for (const NetworkSummary& row : rows) {
    table.add_row({row.name, row.sample, fmt::format("{}", row.batch),
                   fmt::format("{}", row.layers), fmt::format("{}", row.macs),
                   fmt::format("{}", row.macs_quantised), fmt::format("{}", row.parameters),
                   row.convention});
  }
  return table.render();
}

std::string network_list_csv(const std::vector<NetworkSummary>& rows) {
  std::string out =
      "network,file,sample,batch,layers,macs_per_sample,macs_per_sample_quantised,parameters,"
      "convention,title\n";
  for (const NetworkSummary& row : rows) {
    out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", row.name, row.file, csv_cell(row.sample),
                       row.batch, row.layers, row.macs, row.macs_quantised, row.parameters,
                       row.convention, csv_cell(row.title));
  }
  return out;
}

std::string network_list_json(const std::vector<NetworkSummary>& rows, const std::string& command) {
  Json out;
  out["tool"] = "bitcycle";
  out["version"] = program_version();
  out["command"] = command;
  out["networks"] = Json::array();
  for (const NetworkSummary& row : rows) {
    Json entry;
    entry["network"] = row.name;
    entry["file"] = row.file;
    entry["title"] = row.title;
    entry["sample"] = row.sample;
    entry["batch"] = row.batch;
    entry["layers"] = row.layers;
    entry["macs_per_sample"] = row.macs;
    entry["macs_per_sample_quantised"] = row.macs_quantised;
    entry["parameters"] = row.parameters;
    entry["convention"] = row.convention;
    out["networks"].push_back(entry);
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace bitcycle
