#include "sim/array_area.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "golden/error.hpp"
#include "golden/text_file.hpp"
#include "sim/array_netlist.hpp"
#include "sim/paths.hpp"
#include "sim/rtl_library.hpp"
#include "sim/synthesis.hpp"

namespace bitcycle {
namespace {

using Json = nlohmann::json;

// "$paramod$0123\bc_acc" and "$paramod\bc_pe\RA=..." are called bc_acc and bc_pe.
std::string rtl_name(const std::string& name) {
  const auto at = name.find("bc_");
  if (at == std::string::npos) return name;
  return name.substr(at, name.find('\\', at) - at);
}

std::vector<ModuleArea> largest_first(const std::map<std::string, ModuleArea>& sums) {
  std::vector<ModuleArea> out;
  out.reserve(sums.size());
  for (const auto& [name, sum] : sums) out.push_back(sum);
  std::sort(out.begin(), out.end(),
            [](const ModuleArea& a, const ModuleArea& b) { return a.area > b.area; });
  return out;
}

}  // namespace

std::vector<ModuleArea> netlist_area(const std::string& json, const std::string& file,
                                     const LibertyLibrary& library) {
  std::map<std::string, ModuleArea> sums;
  try {
    const Json root = Json::parse(json);
    const Json& modules = root.at("modules");
    // Instances of each module in the whole design, from the top downwards.
    // Clock gates belong to what they gate.
    const auto visit = [&](const auto& self, const std::string& name, const std::string& owner,
                           int depth) -> void {
      if (depth > 32) throw input_error(file, 0, name, "deeper nesting", "at most 32 levels");
      ModuleArea& sum = sums[owner];
      sum.module = owner;
      if (rtl_name(name) == owner) ++sum.instances;
      for (const auto& [cell, body] : modules.at(name).at("cells").items()) {
        const auto type = body.at("type").template get<std::string>();
        const auto known = library.cells.find(type);
        if (known != library.cells.end()) {
          ++sums[owner].cells;
          sums[owner].area += known->second.area;
        } else if (modules.contains(type)) {
          const std::string child = rtl_name(type);
          self(self, type, child == "bc_clock_gate" ? owner : child, depth + 1);
        } else {
          throw input_error(file, 0, "cell " + cell, "type '" + type + "'",
                            "a module, or a cell of " + library.title());
        }
      }
    };
    std::string top;
    for (const auto& [name, module] : modules.items()) {
      if (module.contains("attributes") && module.at("attributes").contains("top")) top = name;
    }
    if (top.empty()) throw input_error(file, 0, "module", "none marked as top", "one");
    visit(visit, top, rtl_name(top), 0);
  } catch (const Json::exception& e) {
    throw input_error(file, 0, "netlist", e.what(), "JSON as yosys' write_json makes it");
  }
  return largest_first(sums);
}

namespace {

void read_list(const std::string& name, std::vector<std::string>& files) {
  const std::string path = source_dir() + "/rtl/" + name;
  std::istringstream list(read_text_file(path, "list of sources", "rtl/" + name));
  for (std::string line; std::getline(list, line);) {
    // Checks and assertions are not for synthesis.
    const bool check = line.find("check.sv") != std::string::npos && line != "bc_dma_check.sv";
    const bool property =
        line.find("_props.sv") != std::string::npos || line.find("_bind.sv") != std::string::npos;
    if (!line.empty() && !check && !property) files.push_back(line);
  }
}

std::vector<ModuleArea> mapped_area(SynthesisRequest request, const std::string& parameters,
                                    const LibertyLibrary& library) {
  const ScratchDirectory scratch;
  std::istringstream in(parameters);
  for (std::string text; in >> text;) {
    const auto at = text.find('=');
    request.parameters.emplace_back(text.substr(0, at), std::stoi(text.substr(at + 1)));
  }
  request.rtl_dir = source_dir() + "/rtl";
  request.out_dir = scratch.path();
  request.keep_hierarchy = true;
  const std::string json = synthesise(library, request);
  return netlist_area(read_maybe_gzipped(json), json, library);
}

}  // namespace

std::vector<std::string> array_files() {
  std::vector<std::string> files;
  read_list("sources.f", files);
  return files;
}

std::vector<ModuleArea> array_area(const ArrayConfig& array, const LibertyLibrary& library) {
  const ArrayNetlists netlists = map_array(array, library);
  std::map<std::string, ModuleArea> sums;
  const auto add = [&](const std::string& module, const Netlist& netlist) {
    ModuleArea& sum = sums[module];
    sum.module = module;
    ++sum.instances;
    sum.cells += netlist.instances.size();
    sum.area += netlist.area();
  };
  add(netlists.array.cells.module, netlists.array.cells);
  for (const auto& box : netlists.array.boxes) add(box.module, netlists.parts.at(box.type));
  return largest_first(sums);
}

std::vector<ModuleArea> machine_area(const MachineConfig& machine, const LibertyLibrary& library) {
  SynthesisRequest request;
  request.module = "bc_machine";
  request.files = array_files();
  read_list("machine.f", request.files);
  request.blackboxes = {"bc_array", "bc_l1", "bc_psum", "bc_ob"};
  return mapped_area(request, rtl_parameters(machine) + " CLOCK_GATING=1", library);
}

}  // namespace bitcycle
