#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/cli.hpp"
#include "sim/energy_report.hpp"
#include "sim/report.hpp"

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

Json energy_or_null(const CompareRow& row, double joules) {
  return row.energy_shown ? Json(joules) : Json(nullptr);
}

Json breakdown_json(const CompareRow& row) {
  if (row.gates) {
    Json out = energy_parts_json(row.gates->parts);
    if (!row.energy_shown) {
      for (auto& part : out) part = nullptr;
    }
    return out;
  }
  const EnergyBreakdown& e = row.energy;
  Json out;
  out["digit_products"] = energy_or_null(row, e.digit_products);
  out["ac_adds"] = energy_or_null(row, e.ac_adds);
  out["acc_adds"] = energy_or_null(row, e.acc_adds);
  out["chunk_registers"] = energy_or_null(row, e.chunk_registers);
  out["buffer_reads"] = energy_or_null(row, e.buffer_reads);
  out["buffer_writes"] = energy_or_null(row, e.buffer_writes);
  out["dram"] = energy_or_null(row, e.dram);
  return out;
}

Json array_json(const ArrayConfig& c) {
  Json out;
  out["ra"] = c.ra;
  out["rw"] = c.rw;
  out["kl"] = c.kl;
  out["tm"] = c.tm;
  out["tn"] = c.tn;
  out["s"] = c.s;
  out["ac_w"] = c.ac_w;
  out["acc_w"] = c.acc_w;
  out["p_max"] = c.p_max;
  return out;
}

// Each may need more than 64 bits, so all are text.
Json events_json(const EventTotals& e) {
  Json out;
  out["digit_cycles"] = to_decimal(e.digit_cycles);
  out["ac_adds"] = to_decimal(e.ac_adds);
  out["ac_adds_ones"] = to_decimal(e.ac_adds_ones);
  out["acc_flushes"] = to_decimal(e.acc_flushes);
  out["acc_flushes_ones"] = to_decimal(e.acc_flushes_ones);
  out["a_words_read"] = to_decimal(e.a_words_read);
  out["w_words_read"] = to_decimal(e.w_words_read);
  out["results"] = to_decimal(e.results);
  out["digit_products"] = to_decimal(e.digit_products);
  out["dram_read_bits"] = to_decimal(e.dram_read_bits);
  out["dram_written_bits"] = to_decimal(e.dram_written_bits);
  return out;
}

// Bits may need more than 64 bits, so these are text.
Json machine_json(const MachineTotals& m) {
  Json out;
  const auto share = [&](std::uint64_t part) {
    return m.cycles == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(m.cycles);
  };
  out["cycles"] = m.cycles;
  out["cycles_relative"] = m.cycles_relative;
  out["gemm_cycles"] = m.gemm_cycles;
  out["gemm_cycles_relative"] = m.gemm_cycles_relative;
  out["vector_cycles"] = m.vector_cycles;
  out["vector_share"] = m.vector_share;
  out["compute"] = m.compute;
  out["fill_drain"] = m.fill_drain;
  out["wait_fetch"] = m.wait_fetch;
  out["wait_fetch_share"] = share(m.wait_fetch);
  out["wait_store"] = m.wait_store;
  out["wait_store_share"] = share(m.wait_store);
  out["lead"] = m.lead;
  out["dram_read_bits"] = to_decimal(m.dram_read_bits);
  out["dram_written_bits"] = to_decimal(m.dram_written_bits);
  out["dram_read_tbit"] = static_cast<double>(m.dram_read_bits) / 1e12;
  out["dram_written_tbit"] = static_cast<double>(m.dram_written_bits) / 1e12;
  out["vector_bytes"] = m.vector_bytes;
  out["cycles_upper"] = m.cycles_upper ? Json(*m.cycles_upper) : Json(nullptr);
  out["cycles_upper_relative"] =
      m.cycles_upper_relative ? Json(*m.cycles_upper_relative) : Json(nullptr);
  return out;
}

void add_energy(Json& out, const CompareRow& row) {
  const double total = row.joules();
  const bool off = row.energy_level == "off";
  RelativeBand band{1.0 - 1.0 / row.energy_factor, row.energy_factor - 1.0, {}};
  std::optional<RelativeBand> ratio;
  if (row.gates) {
    const EnergyBook& book = row.gates->model->book();
    band = book.band(row.gates->parts);
    ratio = book.ratio_band(row.gates->parts, row.gates->base);
  }
  out["energy_j"] = energy_or_null(row, total);
  out["energy_level"] = row.energy_level;
  out["energy_relative"] = off ? Json(nullptr) : Json(row.energy_relative);
  out["energy_relative_lo"] =
      ratio ? Json(row.energy_relative * (1.0 - ratio->low)) : Json(nullptr);
  out["energy_relative_hi"] =
      ratio ? Json(row.energy_relative * (1.0 + ratio->high)) : Json(nullptr);
  out["energy_relative_band"] =
      ratio ? Json(row.energy_relative * std::max(ratio->low, ratio->high)) : Json(nullptr);
  out["energy_array_relative"] = off ? Json(nullptr) : Json(row.energy_array_relative);
  out["energy_breakdown_j"] = breakdown_json(row);
  out["energy_array_j"] = energy_or_null(row, row.array_joules());
  out["energy_buffers_j"] = energy_or_null(row, row.buffer_joules());
  out["energy_dram_j"] = energy_or_null(row, row.dram_joules());
  out["energy_source"] = row.energy_source;
  out["energy_lo_j"] = energy_or_null(row, total * (1.0 - band.low));
  out["energy_hi_j"] = energy_or_null(row, total * (1.0 + band.high));
  out["energy_seconds"] = row.energy_seconds;
  out["edp_js"] = energy_or_null(row, total * row.energy_seconds);
  out["avg_power_w"] = energy_or_null(row, total / row.energy_seconds);
}

}  // namespace

Json row_json(const CompareRow& row, const CompareResult& result) {
  Json out;
  out["network"] = row.network;
  out["arch"] = row.arch;
  out["schedule"] = row.schedule;
  out["group"] = row.group;
  out["batch"] = row.batch;
  out["qmin"] = row.qmin;
  out["qmax"] = row.qmax;
  out["grad_min"] = row.grad_min;
  out["grad_max"] = row.grad_max;
  out["cycles_n"] = row.cycles_n;
  out["cycle_length"] = row.cycle_length;
  out["iterations"] = row.iterations;
  out["convention"] = row.convention;
  out["lowering"] = row.lowering;
  out["operand_order"] = row.operand_order;
  out["sum_bits"] = row.mixed ? Json(nullptr) : Json(row.sum_bits);
  out["sum_bits_sq"] = row.mixed ? Json(nullptr) : Json(row.sum_bits_sq);
  out["mean_bits"] = row.mean_bits;
  out["bitops"] = to_decimal(row.bitops);
  out["gbitops"] = static_cast<double>(row.bitops) / 1e9;
  out["bitops_relative"] = row.bitops_relative;
  out["bitops_vs_fp32"] = row.bitops_vs_fp32;
  out["saving_pct"] = 100.0 * (1.0 - row.bitops_relative);
  out["bitops_fp32"] = to_decimal(row.bitops_fp32);
  out["fp32_macs"] = to_decimal(row.fp32_macs);
  out["macs_issued"] = row.macs_issued;
  out["macs_useful"] = row.macs_useful;
  out["cycles"] = row.cycles;
  out["cycles_relative"] = row.cycles_relative;
  out["cycles_vs_reference"] = row.cycles_vs_reference;
  out["lane_utilisation"] = row.lane_utilisation;
  out["bitop_efficiency"] = row.bitop_efficiency;
  out["precision_switches"] = row.precision_switches;
  out["clock_hz"] = row.clock_hz;
  out["clock_source"] = row.clock_source;
  out["seconds"] = row.seconds;
  add_energy(out, row);
  out["averaging_updates"] = row.averaging_updates;
  out["averaging_read_bits"] = to_decimal(row.averaging_read_bits);
  out["averaging_written_bits"] = to_decimal(row.averaging_written_bits);
  out["averaging_energy_j"] = row.averaging_energy_j;
  out["exchange_bits"] = to_decimal(row.exchange_bits);
  out["exchange_bits_per_iteration"] =
      static_cast<double>(row.exchange_bits) / static_cast<double>(row.iterations);
  out["exchange_seconds"] = row.exchange_seconds;
  if (!result.metric_name.empty()) {
    out["metric_name"] = result.metric_name;
    out["metric"] = row.metric ? Json(*row.metric) : Json(nullptr);
    out["metric_std"] = row.metric_std ? Json(*row.metric_std) : Json(nullptr);
  }
  if (!result.memory.empty()) {
    out["memory"] = result.memory;
    out["machine"] = machine_json(row.machine.value_or(MachineTotals{}));
  }
  out["array"] = array_json(row.array);
  out["events"] = events_json(row.events);
  for (const GemmKind kind : {GemmKind::kForward, GemmKind::kDx, GemmKind::kDw}) {
    const GemmTotals& g = row.gemms[static_cast<std::size_t>(kind)];
    Json& entry = out["gemms"][to_string(kind)];
    entry["cycles"] = g.cycles;
    const auto kind_at = static_cast<std::size_t>(kind);
    entry["energy_j"] =
        energy_or_null(row, row.gates ? row.gates->by_kind[kind_at] : g.energy.total());
    entry["macs_issued"] = g.macs_issued;
    entry["macs_useful"] = g.macs_useful;
  }
  out["per_bits"] = Json::array();
  for (const auto& p : row.per_bits) {
    Json entry;
    entry["bits"] = p.pair.bits;
    entry["grad_bits"] = p.pair.grad_bits;
    entry["iterations"] = p.iterations;
    entry["cycles_per_iteration"] = p.cycles_per_iteration;
    entry["energy_per_iteration_j"] = energy_or_null(row, p.energy_per_iteration_j);
    if (row.machine) entry["machine_cycles_per_iteration"] = p.machine_cycles_per_iteration;
    out["per_bits"].push_back(entry);
  }
  return out;
}

std::string report_json(const CompareResult& result) {
  Json out;
  out["tool"] = "bitcycle";
  out["version"] = program_version();
  out["command"] = result.command;
  out["assumptions"] = Json::array();
  for (const auto& a : result.assumptions) {
    Json entry;
    entry["key"] = a.key;
    entry["value"] = a.value;
    entry["text"] = a.detail.empty() ? a.text : a.text + ". " + a.detail;
    out["assumptions"].push_back(entry);
  }
  if (result.check) {
    out["check"]["verdict"] = result.check->pass ? "pass" : "fail";
    out["check"]["tiles"] = result.check->tiles;
    out["check"]["gemms"] = result.check->gemms;
    out["check"]["cycles"] = result.check->cycles;
    out["check"]["text"] = result.check->text;
  }
  if (!result.gate_check.empty()) out["gate_check"] = result.gate_check;
  out["rows"] = Json::array();
  for (const auto& row : result.rows) {
    Json json = row_json(row, result);
    if (row.gates) {
      // What the figures come from: once for each array, and the counts of each row.
      const EnergyModel& model = *row.gates->model;
      if (!out.contains("energy") || !out["energy"].contains(row.arch)) {
        out["energy"][row.arch] = energy_model_json(model, row.clock_hz);
      }
      json["energy_counts"] = energy_counts_json(model, row.gates->counts);
    }
    out["rows"].push_back(std::move(json));
  }
  // A name from a file or the command line may hold bytes that are not UTF-8.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace bitcycle
