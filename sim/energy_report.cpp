#include "sim/energy_report.hpp"

#include <fmt/format.h>

#include "golden/error.hpp"
#include "sim/table.hpp"

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kTextWidth = 110;

EnergyPart part_at(std::size_t i) { return static_cast<EnergyPart>(i); }

RelativeBand part_band(const EnergyBook& book, EnergyPart part) {
  EnergyParts one{};
  one[static_cast<std::size_t>(part)] = 1.0;
  return book.band(one);
}

// Part of a chip that never has an event in this job is not missing.
bool covered(const EnergyBook& book, EnergyPart part) {
  return book.info(part).status != "not covered";
}

}  // namespace

std::string event_name(const EnergyItem& item) {
  return std::string(key_of(item.part)) + ": " + item.name;
}

std::string band_text(const RelativeBand& band) {
  return fmt::format("-{:.1f} +{:.1f} %", 100.0 * band.low, 100.0 * band.high);
}

std::string terms_text(const RelativeBand& band) {
  std::string out;
  for (const auto& [name, b] : band.by_term) {
    if (b.first < 0.0005 && b.second < 0.0005) continue;
    out += fmt::format("{}{} -{:.1f} +{:.1f} %", out.empty() ? "" : ", ", name, 100.0 * b.first,
                       100.0 * b.second);
  }
  return out;
}

Json energy_parts_json(const EnergyParts& parts) {
  Json out;
  for (std::size_t p = 0; p < kEnergyParts; ++p) out[key_of(part_at(p))] = parts[p];
  return out;
}

Json energy_counts_json(const EnergyModel& model, const EnergyCounts& counts) {
  Json out = Json::object();
  const auto& items = model.book().items();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0.0) out[event_name(items[i])] = counts[i];
  }
  return out;
}

Json energy_model_json(const EnergyModel& model, double clock_hz) {
  const EnergyBook& book = model.book();
  const Characterisation& pe = model.pe();
  Json out;
  out["wording"] = "post-synthesis estimate";
  out["level"] = to_string(model.settings().level);
  out["technology"] = model.settings().technology;
  out["library"] = pe.library.front().name;
  out["library_sha256"] = pe.library.front().sha256;
  out["netlist_sha256"] = pe.netlist_sha256;
  out["rtl_sha256"] = pe.rtl_sha256;
  out["voltage_v"] = pe.voltage;
  out["temperature_c"] = pe.temperature;
  out["critical_path_s"] = pe.critical_path;
  out["clock_hz"] = clock_hz;
  out["cell_area_um2"] = model.area();
  out["data"] = to_string(model.settings().data);
  if (!model.settings().scale_to.empty()) out["scaled_to"] = model.settings().scale_to;
  for (std::size_t p = 0; p < kEnergyParts; ++p) {
    const EnergyPartInfo& info = book.info(part_at(p));
    Json& j = out["parts"][key_of(part_at(p))];
    j["status"] = info.status;
    j["source"] = info.source;
    j["terms"] = Json::array();
    for (const EnergyTerm& t : info.terms) {
      j["terms"].push_back({{"name", t.name}, {"low", t.low}, {"high", t.high}});
    }
  }
  for (const EnergyItem& i : book.items()) out["events_j"][event_name(i)] = i.joules;
  out["samples"] = Json::array();
  for (const SampledActivity& s : model.samples()) {
    out["samples"].push_back({{"a_bits", s.key.a.bits},
                              {"w_bits", s.key.w.bits},
                              {"a_data", operand_data_name(s.key.a_data)},
                              {"w_data", operand_data_name(s.key.w_data)},
                              {"lanes_eighths", s.key.lanes},
                              {"cycles", s.cycles},
                              {"standard_error", s.error}});
  }
  out["rule"] = kBandRule;
  out["notes"] = model.notes(clock_hz);
  return out;
}

std::vector<std::string> not_covered(const EnergyModel& model) {
  std::vector<std::string> out;
  for (std::size_t p = 0; p < kEnergyParts; ++p) {
    if (!covered(model.book(), part_at(p))) out.emplace_back(heading_of(part_at(p)));
  }
  if (!model.covers("glue")) out.emplace_back("the array's glue");
  out.emplace_back("gather, packing of results, zero-point products, registers, semaphores");
  return out;
}

std::string energy_table(const EnergyModel& model, const EnergyParts& parts, double seconds) {
  const EnergyBook& book = model.book();
  const double all = total(parts);
  TextTable table;
  table.add_column("energy (post-synthesis estimate)", TextTable::Align::kLeft);
  table.add_column("J");
  table.add_column("%");
  table.add_column("mean\npower");
  table.add_column("band");
  table.add_column("from", TextTable::Align::kLeft);
  for (std::size_t p = 0; p < kEnergyParts; ++p) {
    const EnergyPart part = part_at(p);
    if (!covered(book, part)) continue;
    table.add_row({heading_of(part), si_text(parts[p], "J"),
                   fmt::format("{:.1f}", all > 0 ? 100.0 * parts[p] / all : 0.0),
                   si_text(parts[p] / seconds, "W"), band_text(part_band(book, part)),
                   book.info(part).status});
  }
  table.add_separator();
  table.add_row({"all", si_text(all, "J"), "100.0", si_text(all / seconds, "W"),
                 band_text(book.band(parts)), ""});
  return table.render();
}

std::vector<Assumption> energy_assumptions(const EnergyModel& model, double clock_hz) {
  const EnergySettings& s = model.settings();
  const Characterisation& pe = model.pe();
  std::vector<Assumption> out;
  out.push_back(
      {"energy_level", to_string(s.level),
       fmt::format("post-synthesis estimate, {}, {:g} V, {:g} C: never measured on a chip",
                   pe.library.front().name, pe.voltage, pe.temperature),
       ""});
  if (s.level != EnergyLevel::kTable) {
    out.push_back({"energy_data", to_string(s.data),
                   "stated statistics, not tensors: 'bitcycle run --engine systemc' measures. "
                   "Operands are unsigned codes; lanes without elements are zero",
                   ""});
  }
  for (std::size_t p = 0; p < kEnergyParts; ++p) {
    const EnergyPartInfo& info = model.book().info(part_at(p));
    if (info.status == "not covered") continue;
    out.push_back({std::string("energy_from.") + key_of(part_at(p)), info.status, info.source, ""});
  }
  out.push_back({"energy_not_covered", join(not_covered(model)), "counted as 0", ""});
  out.push_back({"energy_bands", "one sigma or stated limits, relative", kBandRule, ""});
  for (const std::string& note : model.notes(clock_hz))
    out.push_back({"energy_note", note, "", ""});
  return out;
}

std::string energy_block(const CompareResult& result, const CompareBlock& block) {
  const CompareRow& base = result.rows[block.first_row];
  const EnergyModel& model = *base.gates->model;
  const EnergyBook& book = model.book();
  const double base_total = total(base.gates->parts);
  TextTable table;
  table.add_column("energy", TextTable::Align::kLeft);
  const auto rows = [&](std::size_t i) -> const CompareRow& {
    return result.rows[block.first_row + i];
  };
  for (std::size_t i = 0; i < block.rows; ++i) table.add_column(rows(i).schedule);
  const auto line = [&](const std::string& name, const auto& cell) {
    std::vector<std::string> cells = {name};
    for (std::size_t i = 0; i < block.rows; ++i) cells.push_back(cell(rows(i)));
    table.add_row(std::move(cells));
  };
  for (std::size_t p = 0; p < kEnergyParts; ++p) {
    if (!covered(book, part_at(p))) continue;
    bool any = false;
    for (std::size_t i = 0; i < block.rows; ++i) any = any || rows(i).gates->parts[p] > 0;
    if (!any) continue;
    line(heading_of(part_at(p)), [&](const CompareRow& r) {
      return fmt::format("{:.2f}",
                         100.0 * r.gates->parts[p] / base_total * r.gates->base_iterations_ratio);
    });
  }
  table.add_separator();
  line("energy",
       [&](const CompareRow& r) { return fmt::format("{:.2f}", 100.0 * r.energy_relative); });
  line("+- of the ratio", [&](const CompareRow& r) {
    const RelativeBand b = book.ratio_band(r.gates->parts, r.gates->base);
    return fmt::format("{:.2f}", 100.0 * r.energy_relative * std::max(b.low, b.high));
  });
  table.add_separator();
  line("joules", [](const CompareRow& r) { return si_text(r.joules(), "J"); });
  line("mean power",
       [](const CompareRow& r) { return si_text(r.joules() / r.energy_seconds, "W"); });
  std::string out =
      wrap_text(fmt::format("Where the energy goes ({}, {}, {}), in % of the {} row's.",
                            result.energy_label, to_string(model.settings().level),
                            model.settings().technology, base.schedule),
                kTextWidth, 0) +
      "\n\n" + table.render();
  const RelativeBand b = book.band(base.gates->parts);
  out += wrap_text(fmt::format("Joules of the {} row: {} ({}). Ratios share most of it.",
                               base.schedule, band_text(b), terms_text(b)),
                   kTextWidth, 0) +
         "\n";
  auto left_out = not_covered(model);
  if (!base.machine) left_out.emplace_back("the machine around the array and its buffers");
  if (!left_out.empty()) {
    out += wrap_text("Not covered: " + join(left_out) + ".", kTextWidth, 0) + "\n";
  }
  return out + "\n";
}

}  // namespace bitcycle
