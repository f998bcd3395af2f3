#include "sim/energy_options.hpp"

#include "golden/error.hpp"
#include "sim/cli.hpp"

namespace bitcycle {

namespace po = boost::program_options;

void describe_energy(po::options_description& options) {
  const auto text = [](const char* value) {
    return po::value<std::string>()->default_value(value);
  };
  const auto several = [] { return po::value<std::vector<std::string>>()->composing(); };
  auto add = options.add_options();
  add("energy", text("auto"),
      "off, literature (constants for the array alone), table (gates, a constant for each pair of "
      "widths), model (gates, by activity), gates (and simulate tiles of the job at gate level); "
      "auto: model where the PE has been characterised, else literature");
  add("technology", text("ihp-sg13g2"), "of the gates: osu018, ihp-sg13g2 or asap7");
  add("characterisation", several(),
      "a file that 'bitcycle characterise' wrote, before those of bitcycle; may be given several "
      "times");
  add("energy-table", po::value<std::string>(),
      "YAML table of literature constants: all of level literature, DRAM and FP32 of the others");
  add("sram-table", po::value<std::string>(),
      "memories: a name of configs/energy/sram-*.yaml, or a YAML or CSV file; without it the one "
      "nearest to the technology");
  add("data", text("relu,gauss,laplace"),
      "statistics of activations, weights, gradients: uniform, gauss, relu, sparse, laplace, zero, "
      "extreme, constant");
  add("wire-mm", text("0"), "length of the wires between memories and array, mm");
  add("scale-to", po::value<std::string>(),
      "scale energies of gates and memories to this node: 180, 130, 90, 65, 45HP ... 7HP, 7LP");
  add("liberty", several(), "Liberty files of the technology, for level gates");
}

EnergySettings energy_settings(const po::variables_map& values) {
  EnergySettings out;
  out.level = parse_energy_level(text_of(values, "energy"));
  out.technology = text_of(values, "technology");
  out.characterisations = texts_of(values, "characterisation");
  out.sram = text_of(values, "sram-table");
  out.data = parse_data(text_of(values, "data"));
  if (text_of(values, "wire-mm") != "0") {
    out.wire_mm = parse_positive(text_of(values, "wire-mm"), "--wire-mm", 1000);
  }
  out.scale_to = text_of(values, "scale-to");
  out.liberty = texts_of(values, "liberty");
  // A knob that changes nothing is refused.
  const auto refuse = [&](const char* name, const std::string& with) {
    if (!is_given(values, name)) return;
    throw input_error("", 0, std::string("--") + name, "with --energy " + to_string(out.level),
                      "with --energy " + with);
  };
  if (out.level == EnergyLevel::kOff || out.level == EnergyLevel::kLiterature) {
    for (const char* name : {"technology", "characterisation", "sram-table", "data", "wire-mm",
                             "scale-to", "liberty"}) {
      refuse(name, "table, model or gates");
    }
    if (out.level == EnergyLevel::kOff) refuse("energy-table", "literature, table, model or gates");
  }
  if (out.level == EnergyLevel::kTable) refuse("data", "model or gates");
  if (out.level != EnergyLevel::kGates) refuse("liberty", "gates");
  if (out.level == EnergyLevel::kGates && out.liberty.empty()) {
    throw input_error("", 0, "--energy gates", "no --liberty",
                      "--liberty FILE: the library to simulate the gates with");
  }
  return out;
}

}  // namespace bitcycle
