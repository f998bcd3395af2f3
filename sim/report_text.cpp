// The report for people: tables, where the difference to BitOps comes from, assumptions.
#include <fmt/format.h>

#include <cmath>

#include "sim/energy_report.hpp"
#include "sim/report.hpp"
#include "sim/table.hpp"

namespace bitcycle {
namespace {

constexpr std::size_t kTextWidth = 110;
constexpr double kSmallest = 0.005;  // percent; less prints as 0.00

double share(u128 part, u128 whole) {
  return 100.0 *
         static_cast<double>(static_cast<long double>(part) / static_cast<long double>(whole));
}

std::string group_label(const std::string& group) {
  if (group == "static") return "static";
  if (group == "file") return "from file";
  if (group == "trace") return "traces";
  if (group == "policy") return "policies";
  if (group == "configuration") return "configurations";
  return group + " saving";
}

// What is paid beside the array: a line of its own for each row that has it.
std::string beside_the_array(const CompareResult& result, const CompareBlock& block) {
  std::string out;
  for (std::size_t i = 0; i < block.rows; ++i) {
    const CompareRow& row = result.rows[block.first_row + i];
    if (row.fp32_macs > 0) {
      out += fmt::format("FP32, {}: {}MACs beside the array, {:.2f} % of the row's BitOps\n",
                         row.schedule, si_text(static_cast<double>(row.fp32_macs), ""),
                         share(row.bitops_fp32, row.bitops));
    }
    if (row.averaging_updates > 0) {
      out += fmt::format("Averaging, {}: {} updates, {} read, {} written, {} in DRAM\n",
                         row.schedule, row.averaging_updates,
                         si_text(static_cast<double>(row.averaging_read_bits), "bit"),
                         si_text(static_cast<double>(row.averaging_written_bits), "bit"),
                         si_text(row.averaging_energy_j, "J"));
    }
    if (row.exchange_bits > 0) {
      out += fmt::format(
          "Exchange, {}: {} per worker and iteration, {} in all; compute {}\n", row.schedule,
          si_text(static_cast<double>(row.exchange_bits) / static_cast<double>(row.iterations),
                  "bit"),
          duration_text(row.exchange_seconds), duration_text(row.seconds));
    }
  }
  return out.empty() ? "" : out + "\n";
}

std::string block_table(const CompareResult& result, const CompareBlock& block,
                        const std::vector<ReportColumn>& columns) {
  TextTable table;
  for (const auto& column : columns) {
    table.add_column(column.heading,
                     column.left ? TextTable::Align::kLeft : TextTable::Align::kRight);
  }
  std::string group;
  for (std::size_t i = 0; i < block.rows; ++i) {
    const CompareRow& row = result.rows[block.first_row + i];
    if (i > 0 && row.group != group) table.add_separator(group_label(row.group));
    group = row.group;
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const auto& column : columns) cells.push_back(cell_text(column.key, row, result));
    table.add_row(std::move(cells));
  }
  return table.render();
}

// The FP32 part of the row's relative BitOps: no array runs it.
double fp32_relative(const CompareRow& row) {
  if (row.bitops_fp32 == 0) return 0.0;
  return row.bitops_relative * share(row.bitops_fp32, row.bitops) / 100.0;
}

// Points of relative cycles that one kind of slot adds to relative BitOps. Summed over all kinds
// they are the difference, exactly: cycles are all slots. Useful slots add nothing, because useful
// products are in proportion to BitOps.
double points(const CompareRow& row, const CompareRow& base, SlotUse use) {
  const u128 all = base.slots.total();
  const double longer = static_cast<double>(base.iterations) / static_cast<double>(row.iterations);
  const double array_bitops = row.bitops_relative - fp32_relative(row);
  return share(row.slots[use], all) * longer - array_bitops * share(base.slots[use], all);
}

std::string differences(const CompareResult& result, const CompareBlock& block) {
  const CompareRow& base = result.rows[block.first_row];
  TextTable table;
  table.add_column("bit-op slots", TextTable::Align::kLeft);
  table.add_column(base.schedule + "\n% of it");
  for (std::size_t i = 1; i < block.rows; ++i) {
    table.add_column(result.rows[block.first_row + i].schedule + "\npoints");
  }
  const auto line = [&](const std::string& name, double base_value, const auto& value_of,
                        bool signed_values) {
    std::vector<std::string> cells = {name, fmt::format("{:.2f}", base_value)};
    for (std::size_t i = 1; i < block.rows; ++i) {
      const double v = value_of(result.rows[block.first_row + i]);
      // Adding 0 turns a rounded -0 into 0.
      const double shown = std::round(100.0 * v) / 100.0 + 0.0;
      cells.push_back(signed_values ? fmt::format("{:+.2f}", shown) : fmt::format("{:.2f}", v));
    }
    table.add_row(std::move(cells));
  };
  line(
      "BitOps say", 100.0, [](const CompareRow& r) { return 100.0 * r.bitops_relative; }, false);
  table.add_separator();
  bool any_fp32 = false;
  for (std::size_t i = 1; i < block.rows; ++i) {
    any_fp32 = any_fp32 || result.rows[block.first_row + i].bitops_fp32 > 0;
  }
  if (any_fp32) {
    line(
        "FP32 work, not on the array", 0.0,
        [](const CompareRow& r) { return -100.0 * fp32_relative(r); }, true);
  }
  for (std::size_t u = 0; u < kSlotUses; ++u) {
    const auto use = static_cast<SlotUse>(u);
    const double base_share = share(base.slots[use], base.slots.total());
    bool matters = base_share >= kSmallest;
    for (std::size_t i = 1; i < block.rows; ++i) {
      matters =
          matters || std::abs(points(result.rows[block.first_row + i], base, use)) >= kSmallest;
    }
    if (!matters) continue;
    line(
        to_string(use), base_share, [&](const CompareRow& r) { return points(r, base, use); },
        true);
  }
  table.add_separator();
  line(
      "cycles need", 100.0, [](const CompareRow& r) { return 100.0 * r.cycles_relative; }, false);
  return table.render();
}

// Where the cycles of the whole machine go: each column adds up to its machine.cycles_relative.
std::string machine_parts(const CompareResult& result, const CompareBlock& block) {
  const CompareRow& base = result.rows[block.first_row];
  const auto points_of = [&](const CompareRow& row, std::uint64_t cycles) {
    return share(cycles, base.machine->cycles) * static_cast<double>(base.iterations) /
           static_cast<double>(row.iterations);
  };
  TextTable table;
  table.add_column("whole machine", TextTable::Align::kLeft);
  for (std::size_t i = 0; i < block.rows; ++i) {
    table.add_column(result.rows[block.first_row + i].schedule);
  }
  struct Part {
    const char* name;
    std::uint64_t MachineTotals::*cycles;
  };
  constexpr Part kParts[] = {{"compute", &MachineTotals::compute},
                             {"fill, drain, set-up", &MachineTotals::fill_drain},
                             {"wait for fetch", &MachineTotals::wait_fetch},
                             {"wait for store", &MachineTotals::wait_store},
                             {"lead in and out", &MachineTotals::lead},
                             {"FP32 vector work", &MachineTotals::vector_cycles}};
  const auto line = [&](const char* name, std::uint64_t MachineTotals::*cycles) {
    std::vector<std::string> cells = {name};
    for (std::size_t i = 0; i < block.rows; ++i) {
      const CompareRow& row = result.rows[block.first_row + i];
      cells.push_back(fmt::format("{:.2f}", points_of(row, (*row.machine).*cycles)));
    }
    table.add_row(std::move(cells));
  };
  for (const Part& part : kParts) line(part.name, part.cycles);
  table.add_separator();
  line("machine cycles", &MachineTotals::cycles);
  return wrap_text(fmt::format("Where the cycles of the whole machine go, in % of the {} row's{}.",
                               base.schedule,
                               result.memory_is_dram ? ", at the lower bound of the DRAM" : ""),
                   kTextWidth, 0) +
         "\n\n" + table.render() + "\n";
}

std::string explanation(const CompareResult& result, const CompareBlock& block) {
  const CompareRow& base = result.rows[block.first_row];
  std::string out = wrap_text(
                        "Where the difference to BitOps comes from: bit-op slots of the array by "
                        "use, in % of the "
                        "static row's cycles, and for each schedule the points of relative cycles "
                        "that lost slots "
                        "add to relative BitOps (exact: each column adds up).",
                        kTextWidth, 0) +
                    "\n\n";
  out += differences(result, block) + "\n";
  out += wrap_text(
      fmt::format(
          "Of {} descriptors per iteration, {} have K no multiple of the lanes and {} leave "
          "rows or columns of edge tiles empty.",
          block.descriptors, block.leftover_k, block.leftover_mn),
      kTextWidth, 0);
  if (!block.first_layer.empty()) {
    out += "\n" +
           wrap_text(
               fmt::format(
                   "First layer ({}): {:.2f} % of the MACs, {:.2f} % of the static row's cycles.",
                   block.first_layer, 100.0 * block.first_layer_macs,
                   share(base.slots_first_layer.total(), base.slots.total())),
               kTextWidth, 0);
  }
  return out + "\n";
}

std::string assumptions(const CompareResult& result) {
  std::string out = "Assumptions and limits\n";
  for (const auto& a : result.assumptions) {
    const std::string text = a.text.empty() ? "" : " (" + a.text + ")";
    out += wrap_text(fmt::format("- {}: {}{}", a.key, a.value, text), kTextWidth, 2) + "\n";
  }
  return out;
}

}  // namespace

std::string report_text(const CompareResult& result, const std::vector<std::string>& columns) {
  const auto resolved =
      resolve_columns(columns.empty() ? default_columns(result) : columns, result);
  std::string out;
  for (const auto& block : result.blocks) {
    out += block.title + "\n";
    const CompareRow& base = result.rows[block.first_row];
    const std::string clock =
        fmt::format("clock {} ({})", si_text(base.clock_hz, "Hz"), base.clock_source);
    if (result.energy_level == "off") {
      out += clock + "\n\n";
    } else if (base.gates) {
      out += fmt::format("energy: {}; {}\n\n", base.energy_source, clock);
    } else {
      out += fmt::format("energy: {}, x{:g} either way; {}\n\n", base.energy_source,
                         base.energy_factor, clock);
    }
    out += block_table(result, block, resolved) + "\n";
    out += beside_the_array(result, block);
    if (base.machine) out += machine_parts(result, block);
    if (base.gates) out += energy_block(result, block);
    if (block.rows > 1) out += explanation(result, block) + "\n";
  }
  if (!result.gate_check.empty()) out += result.gate_check;
  if (result.check) {
    out += wrap_text(fmt::format("RTL check: {}: {}", result.check->pass ? "PASS" : "FAIL",
                                 result.check->text),
                     kTextWidth, 2) +
           "\n\n";
  }
  return out + assumptions(result);
}

}  // namespace bitcycle
