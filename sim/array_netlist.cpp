#include "sim/array_netlist.hpp"

#include <algorithm>

#include "sim/paths.hpp"

namespace bitcycle {
namespace {

// Synthesis of the module of a box with the same sources, and the same parameters by name, as it is
// characterised with.
SynthesisRequest request_for(const NetlistBox& box, const std::vector<ModuleKind>& kinds) {
  SynthesisRequest request;
  request.module = box.module;
  request.rtl_dir = source_dir() + "/rtl";
  for (const auto& kind : kinds) {
    if (kind.rtl_module != box.module) continue;
    request.files = kind.files;
    request.parameters.clear();
    for (const auto& wanted : kind.parameters) {
      const auto at = std::find_if(box.parameters.begin(), box.parameters.end(),
                                   [&](const auto& p) { return p.first == wanted.first; });
      if (at != box.parameters.end()) request.parameters.push_back(*at);
    }
  }
  return request;
}

// "g_a[3].u_chunk" is one of "chunk-a", "g_ones_acc[0].u_acc" of "acc-ones" where there is such.
bool belongs(const NetlistBox& box, const ModuleKind& kind) {
  if (kind.rtl_module != box.module) return false;
  const auto starts = [&](const char* with) { return box.name.rfind(with, 0) == 0; };
  if (kind.name == "chunk-a") return starts("g_a[");
  if (kind.name == "chunk-w") return starts("g_w[");
  if (kind.name == "fill-a") return starts("u_fill_a");
  if (kind.name == "fill-w") return starts("u_fill_w");
  return kind.name != "acc-ones" || starts("g_ones_acc[");
}

}  // namespace

SynthesisRequest request_for(const ModuleProbe& probe) {
  SynthesisRequest request;
  request.module = probe.module();
  request.files = probe.files();
  request.parameters = probe.parameters();
  request.blackboxes = probe.left_out();
  request.rtl_dir = source_dir() + "/rtl";
  return request;
}

Netlist mapped_netlist(const LibertyLibrary& library, const SynthesisRequest& request) {
  const std::string path = synthesise(library, request);
  if (request.blackboxes.empty()) return load_netlist(path, library, request.module);
  return open_boxes(load_boxed_netlist(path, library, request.module));
}

Netlist ArrayNetlists::joined() const {
  std::map<std::string, const Netlist*> pointers;
  for (const auto& [type, netlist] : parts) pointers[type] = &netlist;
  return join_netlists(array, pointers);
}

std::vector<int> ArrayNetlists::owners(const std::vector<ModuleKind>& kinds) const {
  const auto glue = static_cast<int>(kinds.size()) - 1;
  std::vector<int> out(array.cells.instances.size(), glue);
  for (const auto& box : array.boxes) {
    // Of two that fit the later one is the particular one.
    int owner = glue;
    for (int k = 0; k < glue; ++k) {
      if (belongs(box, kinds[static_cast<std::size_t>(k)])) owner = k;
    }
    out.insert(out.end(), parts.at(box.type).instances.size(), owner);
  }
  return out;
}

ArrayNetlists map_array(const ArrayConfig& array, const LibertyLibrary& library,
                        const ArrayMapping& mapping) {
  const ScratchDirectory scratch;
  const std::string dir = mapping.keep.empty() ? scratch.path() : mapping.keep;
  const auto kinds = array_modules(array);
  SynthesisRequest request;
  const ModuleKind& glue = kinds.back();
  request.module = glue.rtl_module;
  request.files = glue.files;
  request.parameters = glue.parameters;
  request.blackboxes = glued_modules(array);
  request.rtl_dir = source_dir() + "/rtl";
  request.out_dir = dir + "/glue";
  request.delay = mapping.delay;
  if (!mapping.clock_gates) without_clock_gates(request);
  ArrayNetlists out;
  out.array = load_boxed_netlist(synthesise(library, request), library, request.module);
  for (const auto& box : out.array.boxes) {
    if (out.parts.count(box.type) > 0) continue;
    SynthesisRequest part = request_for(box, kinds);
    part.delay = mapping.delay;
    part.out_dir = dir + "/part-" + std::to_string(out.parts.size());
    out.parts.emplace(box.type, mapped_netlist(library, part));
  }
  return out;
}

}  // namespace bitcycle
