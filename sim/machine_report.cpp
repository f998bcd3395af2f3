#include "sim/machine_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "golden/error.hpp"
#include "model/formula.hpp"
#include "sim/cli.hpp"
#include "sim/energy_report.hpp"
#include "sim/table.hpp"

namespace bitcycle {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(double x) { return fmt::format("{:.1f}", 100.0 * x); }

std::string kind_text(const MachineGemm& g) { return to_string(g.kind) + (g.mask ? " mask" : ""); }

// Where a GEMM lies under the machine's roof, in useful MACs.
struct Roofline {
  double intensity = 0;  ///< per byte moved
  double attained = 0;   ///< per cycle
  double peak = 0;       ///< per cycle, of the array at these widths
  double roof = 0;       ///< the lower of peak and what the busier bus direction allows
  const char* bound = "";
};

Roofline roofline(const MachineGemm& g, const MachineCostOptions& o) {
  Roofline r;
  const ArrayConfig& a = o.machine.array;
  const double bytes = static_cast<double>(g.first_bits + g.second_bits + g.result_bits) / 8.0;
  const auto macs = static_cast<double>(g.macs_useful);
  const GemmTiming t =
      gemm_timing(a, {{static_cast<std::uint64_t>(a.tm), static_cast<std::uint64_t>(a.tn),
                       static_cast<std::uint64_t>(a.kl)},
                      g.first,
                      g.second});
  r.peak = static_cast<double>(a.tm) * a.tn * a.kl / static_cast<double>(t.cc);
  r.intensity = bytes == 0 ? 0 : macs / bytes;
  r.attained = g.cycles == 0 ? 0 : macs / static_cast<double>(g.cycles);
  // Reads and writes have bandwidths of their own: the slower direction is the roof.
  const auto beats = [&](std::uint64_t bits) {
    return static_cast<double>(bits) / static_cast<double>(o.machine.dw);
  };
  const double moving =
      std::max(beats(g.first_bits + g.second_bits) * static_cast<double>(o.memory.read_cost),
               beats(g.result_bits) * static_cast<double>(o.memory.write_cost)) /
      256.0;
  const double memory = moving == 0 ? r.peak : macs / moving;
  r.roof = std::min(r.peak, memory);
  r.bound = r.peak <= memory ? "compute" : "memory";
  return r;
}

MachineGemm sum(const std::vector<MachineGemm>& gemms) {
  MachineGemm out;
  for (const MachineGemm& g : gemms) out += g;
  return out;
}

std::string bits_text(const IterationBits& b) { return fmt::format("{}x{}x{}", b.a, b.w, b.g); }

// An entry of the partial-sum buffer is a result beat: Q results, a sum of A for each of its rows
// and a sum of W for each of its columns.
double psum_kib(const MachineConfig& m) {
  const ArrayConfig& a = m.array;
  const int rows = std::max(a.q / a.tn, 1);
  const int columns = std::min(a.q, a.tn);
  return static_cast<double>(m.ps_d) * (a.q + rows + columns) * a.acc_w / 8192;
}

// Thousands or millions, so that the largest of the values has digits to show.
struct Scale {
  double divisor;
  const char* prefix;
};
Scale scale_of(double largest) {
  return largest < 1e6 ? Scale{1e3, "k"} : largest < 1e10 ? Scale{1e6, "M"} : Scale{1e9, "G"};
}

constexpr std::size_t kName = 26;  // so that rows fit a terminal; CSV and JSON have names whole

double kib(int beats, int dw) { return static_cast<double>(beats) * dw / 8192; }

struct Part {
  const char* name;
  std::uint64_t cycles;
  const char* what;
};

std::vector<Part> parts_of(const RunResult& r) {
  const MachineGemm s = sum(r.iteration.gemms);
  return {{"compute", s.steady, "tiles at their steady rate"},
          {"fill and drain", s.array_cycles - s.steady + s.set_up,
           "array start, last drain, address set-up, result pipeline"},
          {"wait for fetch", s.wait_fetch, "operands not in the buffers yet"},
          {"wait for store", s.wait_store, "no room in the output buffer"},
          {"lead in and out", s.lead, "first fetch, last store, instruction words of each GEMM"},
          {"vector work", r.iteration.vector_cycles, "FP32, after the GEMMs, not overlapped"},
          {"precision switch", r.switch_cycles,
           "widths are fields of instructions; W is quantised anew in every iteration anyway"}};
}

std::string memory_line(const RunResult& r) {
  const MemoryTiming& m = r.request.options.memory;
  return fmt::format(
      "{} ({}): read latency {}, {:.1f} B/cycle; write latency {}, {:.1f} B/cycle",
      r.request.memory.name, r.request.memory.label, m.latency,
      r.request.options.machine.dw / 8.0 * 256.0 / static_cast<double>(m.read_cost),
      m.write_latency,
      r.request.options.machine.dw / 8.0 * 256.0 / static_cast<double>(m.write_cost));
}

std::vector<std::string> assumptions(const RunResult& r) {
  std::vector<std::string> out = {
      "GEMMs run one after the other, each from an idle machine to its last write; vector work "
      "follows and overlaps with nothing.",
      "Results leave as integers (" +
          std::string(r.request.options.results == OutputForm::kRaw48 ? "raw48" : "raw32") +
          ") with sums of both operands; zero points, batch norm and quantisation are vector work.",
      "Operand buffers are read through a crossbar without bank conflicts.",
      fmt::format("Vector unit: {:.1f} bytes and {:.0f} FP32 operations a cycle; an exp, division "
                  "or root counts as one. FP32 layers run there too.",
                  r.request.options.vector.bytes_per_cycle,
                  r.request.options.vector.ops_per_cycle)};
  if (r.request.dram) {
    out.emplace_back(
        "Cycles on a DRAM have no closed form: the table is the lower bound (every access hits, "
        "reads and writes share the channels, refresh; waiting for a channel counts as wait for "
        "fetch), the upper bound is below it.");
  } else {
    out.emplace_back("Cycles are exact on this memory: RTL, model and formula agree.");
  }
  return out;
}

std::string literature_text(const RunEnergy& e) {
  const EnergyBreakdown& b = e.literature;
  TextTable table;
  table.add_column(fmt::format("energy ({}, {}, {})", e.table.label, e.table.node, e.table.voltage),
                   TextTable::Align::kLeft);
  table.add_column("J");
  table.add_column("%");
  const auto row = [&](const char* name, double joules) {
    table.add_row({name, si_text(joules, "J"), percent(joules / b.total())});
  };
  row("digit products", b.digit_products);
  row("AC adds", b.ac_adds);
  row("ACC adds", b.acc_adds);
  row("chunk registers", b.chunk_registers);
  row("buffer reads", b.buffer_reads);
  row("buffer writes", b.buffer_writes);
  row("DRAM", b.dram);
  table.add_separator();
  row("GEMMs", b.total());
  return table.render() +
         wrap_text(fmt::format("x{:g} either way; no clock, leakage, control or vector work{}",
                               e.table.uncertainty_factor, e.note.empty() ? "" : "; " + e.note),
                   110, 0) +
         "\n";
}

std::string energy_text(const RunResult& r) {
  const RunEnergy& e = r.energy;
  if (e.level == EnergyLevel::kOff) return "";
  if (!e.model) return "\n" + literature_text(e);
  std::string out = "\n" + energy_table(*e.model, e.parts, e.seconds);
  out += wrap_text("by cause: " + terms_text(e.model->book().band(e.parts)), 110, 0) + "\n";
  const auto left_out = not_covered(*e.model);
  if (!left_out.empty()) out += wrap_text("not covered: " + join(left_out), 110, 0) + "\n";
  if (e.gates) out += "\n" + gate_check_text(*e.gates);
  return out;
}

std::string measured_text(const MeasuredEnergy& m) {
  if (m.sampled == 0) return "";
  std::string out =
      fmt::format("  activity measured in {} of {} cycles: PEs {} +- {:.1f} % (sampling)",
                  m.sampled, m.cycles, si_text(m.joules, "J"), 100.0 * m.error);
  if (m.predicted > 0) {
    out += fmt::format("; the stated statistics say {}, {:+.1f} %", si_text(m.predicted, "J"),
                       100.0 * (m.predicted / m.joules - 1.0));
  }
  return out + "\n";
}

std::vector<std::string> energy_lines(const RunResult& r) {
  std::vector<std::string> out;
  if (!r.energy.model) return out;
  for (const Assumption& a : energy_assumptions(*r.energy.model, r.request.clock_hz)) {
    out.push_back(a.key + ": " + a.value + (a.text.empty() ? "" : " (" + a.text + ")"));
  }
  return out;
}

nlohmann::ordered_json energy_json(const RunResult& r) {
  using nlohmann::ordered_json;
  const RunEnergy& e = r.energy;
  ordered_json out;
  out["level"] = to_string(e.level);
  if (!e.note.empty()) out["note"] = e.note;
  if (e.model) {
    const double joules = total(e.parts);
    out["total_j"] = joules;
    out["seconds"] = e.seconds;
    out["power_w"] = joules / e.seconds;
    out["breakdown_j"] = energy_parts_json(e.parts);
    const RelativeBand band = e.model->book().band(e.parts);
    out["band"] = {{"low", band.low}, {"high", band.high}};
    for (const auto& [name, b] : band.by_term) {
      out["band"]["by_term"][name] = {{"low", b.first}, {"high", b.second}};
    }
    out["gemms_j"] = e.gemms;
    out["vector_j"] = e.vector;
    out["counts"] = energy_counts_json(*e.model, e.counts);
    out["model"] = energy_model_json(*e.model, r.request.clock_hz);
  } else if (e.level == EnergyLevel::kLiterature) {
    const EnergyBreakdown& b = e.literature;
    out["source"] = e.table.name;
    out["factor"] = e.table.uncertainty_factor;
    out["total_j"] = b.total();
    out["breakdown_j"] = {{"digit_products", b.digit_products},
                          {"ac_adds", b.ac_adds},
                          {"acc_adds", b.acc_adds},
                          {"chunk_registers", b.chunk_registers},
                          {"buffer_reads", b.buffer_reads},
                          {"buffer_writes", b.buffer_writes},
                          {"dram", b.dram}};
    out["gemms_j"] = e.gemms;
  }
  if (e.gates) {
    out["gates"] = {{"error", e.gates->error}, {"share", e.gates->share}};
    for (const GateCheckRow& row : e.gates->rows) {
      out["gates"]["rows"].push_back({{"a_bits", row.key.a.bits},
                                      {"w_bits", row.key.w.bits},
                                      {"gates_j", row.gates},
                                      {"model_j", row.model},
                                      {"sampling", row.sampling},
                                      {"share", row.share}});
    }
  }
  if (r.simulated && r.simulated->measured && r.simulated->measured->sampled > 0) {
    const MeasuredEnergy& m = *r.simulated->measured;
    out["measured"] = {{"cycles", m.cycles},
                       {"sampled_cycles", m.sampled},
                       {"pe_j", m.joules},
                       {"sampling_error", m.error},
                       {"predicted_j", m.predicted}};
  }
  return out;
}

}  // namespace

std::string run_text(const RunResult& r) {
  const RunRequest& q = r.request;
  const MachineConfig& m = q.options.machine;
  std::string out = fmt::format(
      "{}, batch {}, {} bits (A x W x G) on {}\nmemory: {}\nbuffers: A {:g} KiB, W {:g} KiB, "
      "output "
      "{:g} KiB, partial sums {:g} KiB; bus {} bits; queues {} deep; {} bursts outstanding\n\n",
      q.network.name, q.batch, bits_text(q.bits), m.array.name, memory_line(r), kib(m.l1a_d, m.dw),
      kib(m.l1w_d, m.dw), kib(m.ob_d, m.dw), psum_kib(m), m.dw, m.qd, m.out);

  TextTable table;
  table.add_column("layer", TextTable::Align::kLeft);
  table.add_column("GEMM", TextTable::Align::kLeft);
  table.add_column("bits");
  table.add_column("cycles");
  table.add_column("% of\nGEMMs");
  table.add_column("compute\n%");
  table.add_column("fill,\ndrain %");
  table.add_column("wait\nfetch %");
  table.add_column("wait\nstore %");
  table.add_column("lead\n%");
  std::uint64_t most = 0;
  for (const MachineGemm& g : r.iteration.gemms) {
    most = std::max({most, g.first_bits + g.second_bits, g.result_bits});
  }
  const Scale moved = scale_of(static_cast<double>(most));
  table.add_column(fmt::format("read\n{}bit", moved.prefix));
  table.add_column(fmt::format("written\n{}bit", moved.prefix));
  table.add_column("MAC per\nbyte");
  table.add_column("of\nroof %");
  table.add_column("roofline", TextTable::Align::kLeft);
  table.add_column("lanes\nuseful %");
  // Fewer digits after the point where there are many before it.
  const int digits = static_cast<double>(most) < 100 * moved.divisor ? 3 : 1;
  const auto moved_text = [&](std::uint64_t bits) {
    return fmt::format("{:.{}f}", static_cast<double>(bits) / moved.divisor, digits);
  };
  std::size_t last = ~std::size_t{0};
  for (const MachineGemm& g : r.iteration.gemms) {
    const Roofline roof = roofline(g, q.options);
    table.add_row(
        {g.layer != last ? short_text(q.network.layers[g.layer].name, kName) : "", kind_text(g),
         fmt::format("{}x{}", g.first.bits, g.second.bits), std::to_string(g.cycles),
         percent(share(g.cycles, r.iteration.gemm_cycles)), percent(share(g.steady, g.cycles)),
         percent(share(g.array_cycles - g.steady + g.set_up, g.cycles)),
         percent(share(g.wait_fetch, g.cycles)), percent(share(g.wait_store, g.cycles)),
         percent(share(g.lead, g.cycles)), moved_text(g.first_bits + g.second_bits),
         moved_text(g.result_bits), fmt::format("{:.1f}", roof.intensity),
         percent(roof.roof == 0 ? 0 : roof.attained / roof.roof),
         fmt::format("{} bound", roof.bound), percent(share(g.macs_useful, g.macs_padded))});
    last = g.layer;
  }
  out += table.render();

  const std::uint64_t total_cycles = r.iteration.cycles() + r.switch_cycles;
  TextTable parts;
  parts.add_column("where the cycles go", TextTable::Align::kLeft);
  parts.add_column("cycles");
  parts.add_column("%");
  parts.add_column("", TextTable::Align::kLeft);
  for (const Part& p : parts_of(r)) {
    parts.add_row(
        {p.name, std::to_string(p.cycles), percent(share(p.cycles, total_cycles)), p.what});
  }
  parts.add_separator();
  parts.add_row({"iteration", std::to_string(total_cycles), "100.0",
                 duration_text(static_cast<double>(total_cycles) / q.clock_hz) + " at " +
                     si_text(q.clock_hz, "Hz")});
  out += "\n" + parts.render();
  if (r.upper) {
    out += fmt::format("\nupper bound on {}: {} cycles (every access misses, refresh and turns)\n",
                       q.memory.name, r.upper_cycles);
  }

  if (!r.iteration.vector.empty()) {
    const VectorWork all = total(r.iteration.vector);
    const Scale bytes = scale_of(all.bytes);
    const Scale ops = scale_of(all.ops);
    TextTable vector;
    vector.add_column("vector work", TextTable::Align::kLeft);
    vector.add_column(fmt::format("{}B", bytes.prefix));
    vector.add_column(fmt::format("{} op", ops.prefix));
    vector.add_column("cycles");
    const auto row = [&](const VectorWork& w) {
      vector.add_row({w.kind, fmt::format("{:.3f}", w.bytes / bytes.divisor),
                      fmt::format("{:.3f}", w.ops / ops.divisor), fmt::format("{:.0f}", w.cycles)});
    };
    for (const VectorWork& w : r.iteration.vector) row(w);
    vector.add_separator();
    row(all);
    out += "\n" + vector.render();
  }
  if (!r.warning.empty()) out += "\n" + wrap_text("warning: " + r.warning, 110, 2) + "\n";

  out += energy_text(r);

  if (!q.layer.empty()) {
    out += "\n";
    for (const MachineGemm& g : r.iteration.gemms) {
      out += fmt::format("{:<9} mapping: {}{}\n", kind_text(g), g.mapping,
                         g.expanded ? " (input expanded into a matrix)" : "");
    }
  }

  if (r.simulated) {
    const SimulatedRun& s = *r.simulated;
    out += fmt::format(
        "\n{}: {} products, {}\n  {} cycles simulated in {}, {} in the table; results wrong in {} "
        "products; cycles, counters or traffic unlike the formula's in {}\n",
        s.engine == "rtl" ? "RTL and model in lockstep" : "model under SystemC", s.products.size(),
        s.values, s.cycles, duration_text(s.seconds), s.table_cycles, s.wrong, s.inexact);
    if (s.measured) out += measured_text(*s.measured);
    if (!s.mismatch.empty()) out += "  first difference of RTL and model: " + s.mismatch + "\n";
    out += s.pass() ? "  PASS\n" : "  FAIL\n";
  }
  out += "\n";
  for (const std::string& line : assumptions(r)) out += wrap_text("- " + line, 110, 2) + "\n";
  for (const std::string& line : energy_lines(r)) out += wrap_text("- " + line, 110, 2) + "\n";
  return out;
}

namespace {

// Quotes what a comma or quote would break.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::string run_csv(const RunResult& r) {
  std::string out =
      "layer,gemm,a_bits,w_bits,cycles,array_cycles,steady,set_up,wait_fetch,wait_store,lead,"
      "fetch_idle,fetch_run,fetch_wait_in,fetch_wait_out,exec_idle,exec_run,exec_wait_in,"
      "exec_wait_out,store_idle,store_run,store_wait_in,store_wait_out,first_bits,second_bits,"
      "result_bits,first_unique_bits,second_unique_bits,l1_bits,psum_written,psum_read,macs_useful,"
      "macs_issued,macs_padded,execs,fetches,stores,vector_bytes,vector_ops,energy_j\n";
  std::size_t number = 0;
  for (const MachineGemm& g : r.iteration.gemms) {
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{}",
                       csv_cell(r.request.network.layers[g.layer].name), kind_text(g), g.first.bits,
                       g.second.bits, g.cycles, g.array_cycles, g.steady, g.set_up, g.wait_fetch,
                       g.wait_store, g.lead);
    for (const EngineCycles& e : g.engines) {
      out += fmt::format(",{},{},{},{}", e.idle, e.run, e.wait_in, e.wait_out);
    }
    out += fmt::format(
        ",{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.0f},{:.0f},{}\n", g.first_bits,
        g.second_bits, g.result_bits, g.first_unique, g.second_unique, g.l1_bits, g.psum_written,
        g.psum_read, g.macs_useful, g.macs_issued, g.macs_padded, g.execs, g.fetches, g.stores,
        g.host_bytes, g.host_ops,
        number < r.energy.gemms.size() ? fmt::format("{:.9g}", r.energy.gemms[number]) : "");
    ++number;
  }
  for (const VectorWork& w : r.iteration.vector) {
    out += fmt::format("{},vector,,,{:.0f}{},{:.0f},{:.0f},\n", w.kind, w.cycles,
                       std::string(32, ','), w.bytes, w.ops);
  }
  return out;
}

std::string run_json(const RunResult& r) {
  using nlohmann::ordered_json;
  const RunRequest& q = r.request;
  ordered_json out;
  out["program"] = std::string("bitcycle ") + program_version();
  out["command"] = q.command;
  out["network"] = q.network.name;
  out["batch"] = q.batch;
  out["convention"] = q.network.convention;
  out["bits"] = {{"a", q.bits.a}, {"w", q.bits.w}, {"g", q.bits.g}};
  out["arch"] = q.options.machine.array.name;
  out["machine"] = q.options.machine.key();
  out["memory"] = memory_line(r);
  out["exact"] = !q.dram.has_value();
  out["cycles"] = r.iteration.cycles() + r.switch_cycles;
  if (r.upper) out["cycles_upper"] = r.upper_cycles;
  for (const Part& p : parts_of(r)) out["parts"][p.name] = p.cycles;
  for (const MachineGemm& g : r.iteration.gemms) {
    const Roofline roof = roofline(g, q.options);
    ordered_json row;
    row["layer"] = q.network.layers[g.layer].name;
    row["gemm"] = kind_text(g);
    row["bits"] = {g.first.bits, g.second.bits};
    row["cycles"] = g.cycles;
    row["array_cycles"] = g.array_cycles;
    row["steady"] = g.steady;
    row["wait_fetch"] = g.wait_fetch;
    row["wait_store"] = g.wait_store;
    row["lead"] = g.lead;
    row["bits_read"] = {g.first_bits, g.second_bits};
    row["bits_unique"] = {g.first_unique, g.second_unique};
    row["bits_written"] = g.result_bits;
    row["partial_sums"] = {{"written", g.psum_written}, {"read", g.psum_read}};
    row["macs"] = {{"useful", g.macs_useful}, {"issued", g.macs_issued}, {"padded", g.macs_padded}};
    row["roofline"] = {{"mac_per_byte", roof.intensity},
                       {"attained", roof.attained},
                       {"peak", roof.peak},
                       {"roof", roof.roof},
                       {"bound", roof.bound}};
    row["mapping"] = g.mapping;
    out["gemms"].push_back(row);
  }
  for (const VectorWork& w : r.iteration.vector) {
    out["vector"].push_back(
        {{"kind", w.kind}, {"bytes", w.bytes}, {"ops", w.ops}, {"cycles", w.cycles}});
  }
  if (r.simulated) {
    const SimulatedRun& s = *r.simulated;
    out["simulated"] = {{"engine", s.engine},
                        {"values", s.values},
                        {"cycles", s.cycles},
                        {"table_cycles", s.table_cycles},
                        {"products", s.products.size()},
                        {"wrong", s.wrong},
                        {"inexact", s.inexact},
                        {"mismatch", s.mismatch},
                        {"pass", s.pass()}};
  }
  if (!r.warning.empty()) out["warning"] = r.warning;
  out["energy"] = energy_json(r);
  for (const std::string& line : assumptions(r)) out["assumptions"].push_back(line);
  for (const std::string& line : energy_lines(r)) out["assumptions"].push_back(line);
  return out.dump(2) + "\n";
}

}  // namespace bitcycle
