// Columns for people: which there are, their headings, and how a value reads.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "golden/error.hpp"
#include "sim/report.hpp"
#include "sim/table.hpp"

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

enum class Style { kPlain, kFixed3, kFixed4, kPercent, kCount, kJoule, kHertz, kSeconds, kWatt };

struct Format {
  const char* key;
  const char* heading;
  Style style;
};

// Keys that read better in some way than as JSON writes them; all others are plain.
constexpr Format kFormats[] = {
    {"mean_bits", "mean\nbits", Style::kFixed3},
    {"gbitops", "GBitOps", Style::kCount},
    {"bitops", "BitOps", Style::kPlain},
    {"bitops_relative", "BitOps\nrel.", Style::kFixed4},
    {"bitops_vs_fp32", "BitOps\nvs FP32", Style::kFixed4},
    {"saving_pct", "BitOps\nsaved %", Style::kFixed3},
    {"macs_issued", "MACs\nissued", Style::kCount},
    {"macs_useful", "MACs\nuseful", Style::kCount},
    {"cycles", "cycles", Style::kCount},
    {"cycles_relative", "cycles\nrel.", Style::kFixed4},
    {"cycles_vs_reference", "cycles vs", Style::kFixed4},
    {"lane_utilisation", "lanes\nused", Style::kPercent},
    {"bitop_efficiency", "bit-op\neff.", Style::kPercent},
    {"precision_switches", "switches", Style::kPlain},
    {"averaging_energy_j", "averaging\nDRAM", Style::kJoule},
    {"exchange_bits_per_iteration", "exchange\nbits/it.", Style::kCount},
    {"exchange_seconds", "exchange\ntime", Style::kSeconds},
    {"clock_hz", "clock", Style::kHertz},
    {"seconds", "time", Style::kSeconds},
    {"energy_j", "energy", Style::kJoule},
    {"energy_relative", "energy\nrel.", Style::kFixed4},
    {"energy_relative_band", "\n+-", Style::kFixed4},
    {"energy_relative_lo", "energy rel.\nat least", Style::kFixed4},
    {"energy_relative_hi", "energy rel.\nat most", Style::kFixed4},
    {"energy_seconds", "energy's\ntime", Style::kSeconds},
    {"energy_array_relative", "array\nrel.", Style::kFixed4},
    {"energy_array_j", "of it\narray", Style::kJoule},
    {"energy_buffers_j", "of it\nbuffers", Style::kJoule},
    {"energy_dram_j", "of it\nDRAM", Style::kJoule},
    {"energy_breakdown_j.digit_products", "digit\nproducts", Style::kJoule},
    {"energy_breakdown_j.ac_adds", "AC\nadds", Style::kJoule},
    {"energy_breakdown_j.acc_adds", "ACC\nadds", Style::kJoule},
    {"energy_breakdown_j.chunk_registers", "chunk\nregisters", Style::kJoule},
    {"energy_breakdown_j.buffer_reads", "buffer\nreads", Style::kJoule},
    {"energy_breakdown_j.buffer_writes", "buffer\nwrites", Style::kJoule},
    {"energy_breakdown_j.dram", "DRAM", Style::kJoule},
    {"energy_breakdown_j.pe", "PEs", Style::kJoule},
    {"energy_breakdown_j.accumulators", "accumu-\nlators", Style::kJoule},
    {"energy_breakdown_j.control", "control", Style::kJoule},
    {"energy_breakdown_j.idle_clock", "idle\nclock", Style::kJoule},
    {"energy_breakdown_j.operand_buffers", "operand\nbuffers", Style::kJoule},
    {"energy_breakdown_j.partial_sums", "partial\nsums", Style::kJoule},
    {"energy_breakdown_j.output_buffer", "output\nbuffer", Style::kJoule},
    {"energy_breakdown_j.result_unit", "result\nunit", Style::kJoule},
    {"energy_breakdown_j.dma", "DMA", Style::kJoule},
    {"energy_breakdown_j.machine_control", "machine\ncontrol", Style::kJoule},
    {"energy_breakdown_j.units_clock", "units'\nclock", Style::kJoule},
    {"energy_breakdown_j.wires", "wires", Style::kJoule},
    {"energy_breakdown_j.vector_work", "vector\nwork", Style::kJoule},
    {"energy_breakdown_j.leakage", "leakage", Style::kJoule},
    {"energy_lo_j", "energy\nat least", Style::kJoule},
    {"energy_hi_j", "energy\nat most", Style::kJoule},
    {"edp_js", "energy x\ntime J s", Style::kCount},
    {"avg_power_w", "mean\npower", Style::kWatt},
    {"machine.cycles", "machine\ncycles", Style::kCount},
    {"machine.cycles_relative", "machine\nrel.", Style::kFixed4},
    {"machine.gemm_cycles", "of it\nGEMMs", Style::kCount},
    {"machine.gemm_cycles_relative", "GEMMs\nrel.", Style::kFixed4},
    {"machine.vector_cycles", "of it\nvector", Style::kCount},
    {"machine.vector_share", "vector\nshare", Style::kPercent},
    {"machine.compute", "compute", Style::kCount},
    {"machine.fill_drain", "fill,\ndrain", Style::kCount},
    {"machine.wait_fetch", "wait for\nfetch", Style::kCount},
    {"machine.wait_fetch_share", "wait for\nfetch", Style::kPercent},
    {"machine.wait_store", "wait for\nstore", Style::kCount},
    {"machine.wait_store_share", "wait for\nstore", Style::kPercent},
    {"machine.lead", "lead\nin, out", Style::kCount},
    {"machine.dram_read_bits", "GEMM bits\nread", Style::kPlain},
    {"machine.dram_written_bits", "GEMM bits\nwritten", Style::kPlain},
    {"machine.dram_read_tbit", "read\nTbit", Style::kFixed3},
    {"machine.dram_written_tbit", "written\nTbit", Style::kFixed3},
    {"machine.vector_bytes", "vector\nbytes", Style::kCount},
    {"machine.cycles_upper", "machine\nat most", Style::kCount},
    {"machine.cycles_upper_relative", "at most\nrel.", Style::kFixed4},
    {"gemms.fwd.cycles", "fwd\ncycles", Style::kCount},
    {"gemms.dx.cycles", "dX\ncycles", Style::kCount},
    {"gemms.dw.cycles", "dW\ncycles", Style::kCount},
    {"gemms.fwd.energy_j", "fwd\nenergy", Style::kJoule},
    {"gemms.dx.energy_j", "dX\nenergy", Style::kJoule},
    {"gemms.dw.energy_j", "dW\nenergy", Style::kJoule},
};

const Format* format_of(const std::string& key) {
  for (const auto& f : kFormats) {
    if (key == f.key) return &f;
  }
  return nullptr;
}

// Counts that may need more than 64 bits are text in JSON, and numbers to people.
bool is_long_count(const std::string& key) {
  if (key.rfind("events.", 0) == 0) return true;
  constexpr const char* kCounts[] = {"bitops",
                                     "bitops_fp32",
                                     "fp32_macs",
                                     "averaging_read_bits",
                                     "averaging_written_bits",
                                     "exchange_bits",
                                     "machine.dram_read_bits",
                                     "machine.dram_written_bits"};
  return std::any_of(std::begin(kCounts), std::end(kCounts),
                     [&](const char* count) { return key == count; });
}

const Json* find(const Json& row, const std::string& key) {
  const Json* node = &row;
  std::size_t start = 0;
  for (;;) {
    const auto dot = key.find('.', start);
    const auto found = node->find(key.substr(start, dot - start));
    if (found == node->end()) return nullptr;
    node = &*found;
    if (dot == std::string::npos) return node;
    start = dot + 1;
  }
}

// Every key with a single value, in the order of the JSON row; lists (per_bits) have no cell.
void collect_keys(const std::string& prefix, const Json& value, std::vector<std::string>& out) {
  for (const auto& item : value.items()) {
    const std::string key = prefix.empty() ? item.key() : prefix + "." + item.key();
    if (item.value().is_object()) {
      collect_keys(key, item.value(), out);
    } else if (!item.value().is_array()) {
      out.push_back(key);
    }
  }
}

// A row of the result's kind, for its keys.
CompareRow sample_row(const CompareResult& result) {
  for (const CompareRow& row : result.rows) return row;
  return {};
}

// Before there is a result any breakdown may be named.
std::vector<std::string> known_columns(bool with_metric, const std::string& memory,
                                       const CompareRow& row) {
  CompareResult result;
  result.memory = memory;
  if (with_metric) result.metric_name = "metric";
  std::vector<std::string> out;
  collect_keys("", row_json(row, result), out);
  return out;
}

std::string styled(Style style, double value) {
  switch (style) {
    case Style::kFixed3:
      return fmt::format("{:.3f}", value);
    case Style::kFixed4:
      return fmt::format("{:.4f}", value);
    case Style::kPercent:
      return fmt::format("{:.2f}%", 100.0 * value);
    case Style::kCount:
      return si_text(value, "");
    case Style::kJoule:
      return si_text(value, "J");
    case Style::kHertz:
      return si_text(value, "Hz");
    case Style::kSeconds:
      return duration_text(value);
    case Style::kWatt:
      return si_text(value, "W");
    case Style::kPlain:
      break;
  }
  return fmt::format("{}", value);
}

void check_against(const std::vector<std::string>& keys, const std::vector<std::string>& known) {
  if (keys.empty()) throw input_error("", 0, "--columns", "nothing", join(known));
  for (const auto& key : keys) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw input_error("", 0, "--columns", "'" + key + "'" + suggestion(key, known), join(known));
    }
  }
}

}  // namespace

std::vector<std::string> default_columns(const CompareResult& result) {
  std::vector<std::string> out = {"schedule",
                                  "mean_bits",
                                  "bitops_relative",
                                  "cycles",
                                  "cycles_relative",
                                  "cycles_vs_reference",
                                  "seconds",
                                  "energy_j",
                                  "energy_array_j",
                                  "energy_buffers_j",
                                  "energy_dram_j",
                                  "energy_relative",
                                  "energy_array_relative",
                                  "lane_utilisation",
                                  "bitop_efficiency",
                                  "precision_switches"};
  const bool gates = result.energy_level != "literature" && result.energy_level != "off";
  const auto without_energy = [&] {
    if (result.energy_level != "off") return;
    out.erase(std::remove_if(out.begin(), out.end(),
                             [](const std::string& c) { return c.rfind("energy", 0) == 0; }),
              out.end());
  };
  if (gates && result.memory.empty()) {
    out.insert(std::find(out.begin(), out.end(), "energy_relative") + 1, "energy_relative_band");
    for (const char* key : {"energy_array_j", "energy_buffers_j"}) {
      out.erase(std::find(out.begin(), out.end(), key));
    }
  }
  if (!result.memory.empty()) {  // energy is that of the array, one column of it is enough
    out = {"schedule",
           "mean_bits",
           "bitops_relative",
           "cycles",
           "cycles_relative",
           "machine.cycles",
           "machine.cycles_relative",
           "machine.gemm_cycles",
           "machine.vector_cycles",
           "machine.wait_fetch_share",
           "machine.wait_store_share",
           "machine.dram_read_tbit",
           "machine.dram_written_tbit",
           "energy_relative"};
    if (result.memory_is_dram) out.insert(out.begin() + 7, "machine.cycles_upper");
    if (gates) out.insert(out.end(), {"energy_relative_band", "energy_j"});
    without_energy();
    if (!result.metric_name.empty()) out.insert(out.begin() + 1, {"metric", "metric_std"});
    return out;
  }
  without_energy();
  if (!result.metric_name.empty()) {  // in place of two others, or lines would wrap
    out.insert(out.begin() + 1, {"metric", "metric_std"});
    for (const char* key : {"seconds", "lane_utilisation"}) {
      out.erase(std::find(out.begin(), out.end(), key));
    }
  }
  return out;
}

std::vector<std::string> default_latex_columns(const CompareResult& result) {
  std::vector<std::string> out = {"schedule",
                                  "mean_bits",
                                  "bitops_relative",
                                  "cycles_relative",
                                  "cycles_vs_reference",
                                  "energy_relative",
                                  "energy_array_relative",
                                  "lane_utilisation",
                                  "bitop_efficiency",
                                  "precision_switches"};
  if (!result.memory.empty()) {
    const auto at = std::find(out.begin(), out.end(), "cycles_vs_reference");
    out.insert(at + 1, {"machine.cycles_relative", "machine.vector_share"});
  }
  if (result.energy_level == "off") {
    for (const char* key : {"energy_relative", "energy_array_relative"}) {
      out.erase(std::find(out.begin(), out.end(), key));
    }
  } else if (result.energy_level != "literature") {
    out.insert(std::find(out.begin(), out.end(), "energy_relative") + 1, "energy_relative_band");
  }
  if (!result.metric_name.empty()) out.insert(out.begin() + 1, {"metric", "metric_std"});
  return out;
}

void check_columns(const std::vector<std::string>& keys) {
  std::vector<std::string> known = known_columns(true, "any", {});
  for (std::size_t p = 0; p < kEnergyParts; ++p) {
    known.push_back(std::string("energy_breakdown_j.") + key_of(static_cast<EnergyPart>(p)));
  }
  check_against(keys, known);
}

std::vector<ReportColumn> resolve_columns(const std::vector<std::string>& keys,
                                          const CompareResult& result) {
  const CompareRow row = sample_row(result);
  const Json sample = row_json(row, result);
  check_against(keys, known_columns(!result.metric_name.empty(), result.memory, row));
  std::vector<ReportColumn> out;
  for (const auto& key : keys) {
    const Format* format = format_of(key);
    ReportColumn column{key, format != nullptr ? format->heading : key, false};
    if (key == "cycles_vs_reference") column.heading += "\n" + result.reference;
    if (key == "metric") column.heading = result.metric_name;
    if (key == "metric_std") column.heading = "std";
    column.left = find(sample, key)->is_string() && !is_long_count(key);
    out.push_back(column);
  }
  return out;
}

std::string cell_text(const std::string& key, const CompareRow& row, const CompareResult& result) {
  const Json json = row_json(row, result);
  const Json* value = find(json, key);
  if (value == nullptr || value->is_null()) return key.rfind("metric", 0) == 0 ? "-" : "n/a";
  if (key == "metric" && !row.metric_text.empty()) return row.metric_text;
  if (key == "metric_std" && !row.metric_std_text.empty()) return row.metric_std_text;
  if (value->is_string()) return value->get<std::string>();
  const Format* format = format_of(key);
  if (format == nullptr || format->style == Style::kPlain) {
    return value->is_number_float() ? fmt::format("{:.6g}", value->get<double>()) : value->dump();
  }
  std::string text = styled(format->style, value->get<double>());
  if (!text.empty() && text.back() == ' ') text.pop_back();  // a number without prefix or unit
  return text;
}

}  // namespace bitcycle
