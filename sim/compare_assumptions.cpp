// What every report of `compare` states beside its numbers.
#include <fmt/format.h>

#include "sim/compare_inputs.hpp"
#include "sim/energy_report.hpp"

namespace bitcycle {
namespace {

std::string dx_text(DxLowering lowering) {
  return lowering == DxLowering::kPhases
             ? "dX of a strided convolution runs as one GEMM per phase of the stride"
             : "dX runs as one GEMM over expanded columns; col2im is vector work, not modelled";
}

// One convention for all networks, or each its own.
Assumption convention_of(const CompareOptions& options, const std::vector<Workload>& workloads) {
  if (options.gemm) return {"convention", "all", "a single GEMM has no FP32 layers", ""};
  const Workload& first = workloads.front();
  Assumption out{"convention", first.convention, first.convention_text, ""};
  for (const Workload& workload : workloads) {
    if (workload.convention == first.convention &&
        workload.convention_text == first.convention_text) {
      continue;
    }
    out.value = "of each network";
    out.text.clear();
    for (const Workload& each : workloads) {
      out.text += fmt::format("{}{}: {}, {}", out.text.empty() ? "" : "; ", each.name,
                              each.convention, each.convention_text);
    }
    break;
  }
  return out;
}

// What an iteration also has and the array does not do.
Assumption outside_of(const std::vector<Workload>& workloads, bool timed, bool costed) {
  Assumption out{"outside_the_array", "", "", ""};
  for (const Workload& w : workloads) {
    out.value += fmt::format(
        "{}{}{} FP32 operations of vector work forward, {} backward, {} forward MACs of FP32 "
        "layers per iteration",
        out.value.empty() ? "" : "; ", workloads.size() > 1 ? w.name + ": " : "",
        to_decimal(w.vector_forward), to_decimal(w.vector_backward), w.fp32_macs);
  }
  if (timed && costed) {
    out.text = "in machine.vector_cycles and in the energy; 'bitcycle network show' has the list";
    return out;
  }
  out.text = timed ? "in machine.vector_cycles, not in the energy; 'bitcycle network show' has the "
                     "list"
                   : "counted, neither timed nor in the energy; 'bitcycle network show' has the "
                     "list";
  return out;
}

std::string energy_value(const EnergyEntry& e) {
  return fmt::format("{} {} per {} {}", e.value, e.unit, e.per, e.per_unit);
}

std::string energy_text(const EnergyEntry& e) {
  std::string text = fmt::format("{}; {}; source: {}", e.node, e.conditions, e.source);
  if (!e.confirmed.empty()) text += "; " + e.confirmed;
  return text;
}

constexpr const char* kEventFormulas =
    "In energies of one event: digit_products = KL * (RA*RW*ac_adds + max(RA,RW)*ac_adds_ones) * "
    "digit_product; ac_adds = (ac_adds + ac_adds_ones) * AC_W * (adder_bit + register_bit); "
    "acc_adds = (acc_flushes + acc_flushes_ones) * (ACC_W * (adder_bit + register_bit) + H * "
    "register_bit), H = AC_W if S > 1, else 0; chunk_registers = (a_words_read + w_words_read) * "
    "KL "
    "* register_bit; buffer_reads = (a_words_read + w_words_read) * KL * buffer bit; buffer_writes "
    "= dram_read_bits * buffer bit; dram = (dram_read_bits + dram_written_bits) * dram";

// A schedule file has bits of its own; --bits is for the other rows.
std::string file_text(const CompareOptions& options, const BitRange& own) {
  if (options.bits.empty()) {
    return fmt::format("no --bits: the static row is taken from the file's own maximum, {}/{}{}",
                       own.qmax, own.grad_max, options.baseline ? ", where no --baseline is" : "");
  }
  std::string text = "a file has its own bits; --bits is for the other rows and the baseline";
  for (const auto& r : options.bits) {
    if (own.qmin < r.qmin || own.qmax > r.qmax || own.grad_min < r.grad_min ||
        own.grad_max > r.grad_max) {
      text += "; the file leaves --bits " + range_text(r) +
              ", so it is compared with a baseline of another range";
    }
  }
  return text;
}

template <typename Add>
void add_exchange(const CompareOptions& options, const Add& add) {
  const ExchangeSpec& e = options.exchange;
  if (e.workers == 0) return;
  const bool ring = e.kind == ExchangeKind::kAllReduce;
  add("exchange",
      fmt::format("{}, {} workers, {} bits per parameter, {:g} Gb/s", to_string(e.kind), e.workers,
                  e.bits, e.link_gbps),
      fmt::format("{}; each worker runs the batch stated; latency and overlap with compute are not "
                  "modelled; in no cycle, second or energy of the other columns",
                  ring ? std::string("each worker sends 2(P-1)/P of all parameters per iteration")
                       : fmt::format("each worker sends all parameters to {} neighbours per "
                                     "iteration",
                                     e.neighbours)));
}

template <typename Add>
void add_machine(const CompareOptions& options, bool costed, const Add& add) {
  const MemoryConfig& memory = *options.memory;
  add("machine", memory.name,
      fmt::format(
          "{}; GEMMs run one after the other, each from an idle machine to its last write, "
          "mappings chosen for this memory; {}; cycles without 'machine.' and seconds{} are "
          "those of the array alone",
          memory.label,
          memory.is_dram ? "a DRAM has no closed form: machine.* is the lower bound (every access "
                           "hits), machine.cycles_upper the upper one"
                         : "cycles are exact, RTL, model and formula agree",
          costed ? "" : ", and energy,"));
  add("vector_work",
      fmt::format("{}, {:g} FP32 operations per cycle",
                  options.vector_bytes > 0
                      ? fmt::format("{:g} bytes per cycle", options.vector_bytes)
                      : "the memory's bytes per cycle",
                  options.vector_ops),
      std::string("batch norm, activations, extremes and quantisation passes, zero points, FP32 "
                  "layers, weight update: follows the GEMMs and overlaps with nothing; an exp, "
                  "division or root counts as one") +
          (costed ? "" : "; not in the energy"));
}

}  // namespace

std::vector<Assumption> compare_assumptions(const CompareOptions& options,
                                            const std::vector<Workload>& workloads,
                                            const EnergyTable& table, bool energy_shown,
                                            const std::vector<ScheduleSummary>& files,
                                            const std::vector<const EnergyModel*>& energies) {
  std::vector<Assumption> out;
  const auto add = [&](const char* key, const std::string& value, const std::string& text) {
    out.push_back({key, value, text, ""});
  };
  add("accuracy", "not predicted",
      "bitcycle does not predict accuracy. Equal iterations are assumed: a schedule that needs "
      "more "
      "of them to reach the same accuracy costs more than shown");
  add("throughput", "equal bit operations per cycle",
      "presets have equal bit-op throughput (16,384 per cycle), not equal area or clock");
  add("clock", fmt::format("{:g} MHz", options.clock_hz / 1e6),
      options.clock_given ? "given by the user, the same for every array"
                          : "an assumption until synthesis, the same for every array");
  if (options.memory) {
    add_machine(options, !energies.empty(), add);
  } else {
    add("not_modelled",
        "memory stalls, batch norm, quantisation passes, FP32 layers, weight update",
        "operands are taken to be in the operand buffers when needed; cycles are those of the "
        "array "
        "alone, each descriptor starting after the drain of the one before");
  }
  if (!options.gemm)
    out.push_back(outside_of(workloads, options.memory.has_value(), !energies.empty()));
  add("bitops", "forward M*N*K for forward, dX and dW",
      "as the papers count, first-layer dX included; relative = mean(b^2 + 2bg) / (bs^2 + 2 bs "
      "gs)");
  add("cycles", "closed form", "the law of model/formula.hpp, equal to the RTL cycle for cycle");
  add("baseline",
      options.baseline
          ? fmt::format("static:{}/{}", options.baseline->bits, options.baseline->grad_bits)
          : "static at qmax/grad_max of each range",
      "relative figures are to this row on the same array");
  for (const auto& file : files) {
    add("schedule_file", fmt::format("{}: bits {}", file.name, range_text(range_of(file))),
        file_text(options, range_of(file)));
  }
  if (!options.traces.empty() || !options.policies.empty() || !options.configs.empty()) {
    add("traces", "bits by layer and iteration",
        "FP32 passes and layers count in BitOps at 32 x 32 and in fp32_macs, but in no cycle and "
        "no "
        "energy: the array does not run them. Relative figures are per iteration. mean_bits of a "
        "trace whose layers differ is over forward operands, weighted by MACs");
  }
  add_exchange(options, add);
  add("reference", options.reference, "static 8/8 on this array; cycles_vs_reference is to it");
  out.push_back(convention_of(options, workloads));
  add("lowering", to_string(options.lowering), dx_text(options.lowering));
  add("operand_order", to_string(options.operand_order),
      options.operand_order == OperandOrder::kBest
          ? "each descriptor runs in the operand order with fewer cycles; ties keep the table's"
          : "operands as listed (Y: X x W, dX: G x W, dW: G x X)");
  add("cycle_length", to_string(options.cycle_length),
      options.cycle_length == CycleLength::kFloor ? "T = floor(N/n)" : "T = floor(N/n) + 1");
  add("rounding", "half to even", "bits of an iteration, as numpy.rint");
  add("codes", "unsigned", "operands are unsigned codes, as CPT's affine quantiser makes them");
  add("result_bits", options.result_bits ? std::to_string(*options.result_bits) : "operand",
      options.result_bits ? "width at which Y, dX and dW are stored in DRAM"
                          : "Y is stored at forward bits, dX and dW at gradient bits");
  add("traffic", "unexpanded tensors, each once per GEMM that reads or writes it",
      options.memory ? "an ideal buffer, for events and energy; machine.dram_* are the bits that "
                       "the GEMMs move"
                     : "an ideal buffer; the memory system is not modelled");
  const EnergyLevel level = options.energy.level;
  if (!options.energy_level_note.empty()) {
    add("energy_level", to_string(level), options.energy_level_note);
  }
  if (level == EnergyLevel::kOff) return out;
  if (!energies.empty()) {
    for (const auto& model : energies) {
      for (Assumption a : energy_assumptions(*model, options.clock_hz)) {
        if (energies.size() > 1) a.text = model->array_name() + ": " + a.text;
        if (energies.size() > 1 && &model != &energies.front() && a.key == "energy_bands") continue;
        out.push_back(std::move(a));
      }
    }
    return out;
  }
  add("energy_table", table.name,
      fmt::format("{}, {}, {}; digit products of zero operands count; no leakage, clock tree or "
                  "wiring; no vector work",
                  table.label, table.node, table.voltage));
  add("energy_uncertainty", fmt::format("x{:g}", table.uncertainty_factor),
      "energy_lo_j and energy_hi_j are energy_j divided and multiplied by it; relative energies "
      "vary less");
  add("energy_leakage", "none", "the table has no figure for it");
  add("energy_operand_buffer", fmt::format("{:g} KB", table.operand_buffer_kb),
      fmt::format("{:.9g} pJ per bit", table.buffer_bit_j * 1e12));
  out.push_back(
      {"energy_events", "counts of the whole run are the key events of each row",
       "digit_products includes the ones row and column; ac_adds includes the register writes of "
       "AC; acc_adds those of ACC and AH",
       kEventFormulas});
  for (const auto& entry : table.entries) {
    out.push_back({"energy." + entry.key, energy_value(entry), energy_text(entry), entry.text});
  }
  if (!energy_shown) {
    add("energy_across_arrays", "n/a",
        table.label +
            " cannot rank arrays: clock, wiring, glitches and idle registers, which "
            "differ most between arrays, have no figure in the table. Relative energies "
            "are to the same array's static row. --force prints absolute ones");
  } else if (options.force && !table.ranks_arrays) {
    add("energy_across_arrays", "forced",
        table.label + " cannot rank arrays; absolute energies are printed because of --force");
  }
  return out;
}

}  // namespace bitcycle
