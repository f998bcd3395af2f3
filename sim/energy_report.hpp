// Energy from gates, as reports of `compare` and `run` print it. Internal to sim/.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/compare.hpp"
#include "sim/energy_model.hpp"

namespace bitcycle {

/// Everything that the energies come from: level, library, data, parts with status, source and
/// terms, energies of all events, samples, rule of combination, notes.
nlohmann::ordered_json energy_model_json(const EnergyModel& model, double clock_hz);

/// {"PART: EVENT": count}: times the energies of energy_model_json they give the parts.
nlohmann::ordered_json energy_counts_json(const EnergyModel& model, const EnergyCounts& counts);

/// {"pe": J, ...}: every part, 0 where it is not covered.
nlohmann::ordered_json energy_parts_json(const EnergyParts& parts);

/// Name of an event in JSON files: "pe: cycle of a PE, 8x8 uu".
std::string event_name(const EnergyItem& item);

/// "-12 +35 %".
std::string band_text(const RelativeBand& band);

/// The parts as a table: name, J, %, status and band of each, total.
std::string energy_table(const EnergyModel& model, const EnergyParts& parts, double seconds);

/// Bands by cause: "wires -9.1 +9.3 %, ...".
std::string terms_text(const RelativeBand& band);

/// Parts of the machine that the figures leave out.
std::vector<std::string> not_covered(const EnergyModel& model);

/// Statements for the list of assumptions: key, value, text.
std::vector<Assumption> energy_assumptions(const EnergyModel& model, double clock_hz);

/// For a block of rows: parts of every row in % of the baseline, ratio and its band, joules and
/// theirs.
std::string energy_block(const CompareResult& result, const CompareBlock& block);

}  // namespace bitcycle
