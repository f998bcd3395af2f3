#include "model/gates/array_modules.hpp"

#include <algorithm>

namespace bitcycle {
namespace {

// Those of rtl/sources.f without checks: yosys needs the ports of everything that is instantiated.
const std::vector<std::string>& array_sources() {
  static const std::vector<std::string> files = {
      "bc_pkg.sv", "bc_clock_gate.sv", "bc_tile_walker.sv", "bc_fill.sv",  "bc_chunk.sv",
      "bc_seq.sv", "bc_pe.sv",         "bc_acc.sv",         "bc_drain.sv", "bc_array.sv"};
  return files;
}

}  // namespace

std::vector<std::pair<std::string, int>> array_parameters(const ArrayConfig& c) {
  return {{"RA", c.ra},       {"RW", c.rw},       {"KL", c.kl},       {"TM", c.tm},
          {"TN", c.tn},       {"S", c.s},         {"BA", c.ba},       {"BW", c.bw},
          {"AC_W", c.ac_w},   {"ACC_W", c.acc_w}, {"P_MAX", c.p_max}, {"Q", c.q},
          {"CLOCK_GATING", 1}};
}

std::vector<ModuleKind> array_modules(const ArrayConfig& c) {
  const auto size = [](int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
  };
  const int ones_group = c.tn % c.s == 0 ? c.s : 1;
  const int read = c.q > c.tn ? c.s : 1;
  int index_bits = 1;
  while ((1 << index_bits) < c.s) ++index_bits;
  const std::pair<std::string, int> gates = {"CLOCK_GATING", 1};
  const auto acc = [&](int g, int rd) {
    return std::vector<std::pair<std::string, int>>{
        {"G", g}, {"AC_W", c.ac_w}, {"ACC_W", c.acc_w}, {"IDX_W", index_bits}, {"RD", rd}, gates};
  };
  const auto chunk = [&](int r, int b, int t) {
    return std::vector<std::pair<std::string, int>>{
        {"KL", c.kl}, {"P_MAX", c.p_max}, {"R", r}, {"WPB", b >= t ? b / t : 1}, gates};
  };
  const bool ones_alike = ones_group == c.s && read == ones_group;
  const std::size_t groups = size(c.tn + 1, c.tm / c.s);
  const std::size_t ones_groups = size(c.tn / ones_group, 1);
  std::vector<ModuleKind> out;
  out.push_back({"pe",
                 "bc_pe",
                 {{"RA", c.ra},
                  {"RW", c.rw},
                  {"KL", c.kl},
                  {"AC_W", c.ac_w},
                  {"HOLD", c.s > 1 ? 1 : 0},
                  gates},
                 {"bc_pkg.sv", "bc_clock_gate.sv", "bc_pe.sv"},
                 size(c.tm, c.tn) + size(c.tm + c.tn, 1)});
  out.push_back({"acc",
                 "bc_acc",
                 acc(c.s, read),
                 {"bc_clock_gate.sv", "bc_acc.sv"},
                 groups + (ones_alike ? ones_groups : 0)});
  if (!ones_alike) {
    out.push_back({"acc-ones",
                   "bc_acc",
                   acc(ones_group, ones_group),
                   {"bc_clock_gate.sv", "bc_acc.sv"},
                   ones_groups});
  }
  const std::vector<std::string> chunk_files = {"bc_pkg.sv", "bc_clock_gate.sv", "bc_chunk.sv"};
  out.push_back({"chunk-a", "bc_chunk", chunk(c.ra, c.ba, c.tm), chunk_files, size(c.tm, 1)});
  out.push_back({"chunk-w", "bc_chunk", chunk(c.rw, c.bw, c.tn), chunk_files, size(c.tn, 1)});
  const std::vector<std::string> fill_files = {"bc_pkg.sv", "bc_clock_gate.sv", "bc_fill.sv"};
  out.push_back(
      {"fill-a", "bc_fill", {{"T", c.tm}, {"B", c.ba}, {"KL", c.kl}, gates}, fill_files, 1});
  out.push_back(
      {"fill-w", "bc_fill", {{"T", c.tn}, {"B", c.bw}, {"KL", c.kl}, gates}, fill_files, 1});
  out.push_back({"walker",
                 "bc_tile_walker",
                 {{"TM", c.tm}, {"TN", c.tn}, {"KL", c.kl}},
                 {"bc_pkg.sv", "bc_tile_walker.sv"},
                 4});
  out.push_back(
      {"seq", "bc_seq", {{"RA", c.ra}, {"RW", c.rw}, {"S", c.s}}, {"bc_pkg.sv", "bc_seq.sv"}, 1});
  out.push_back({"drain",
                 "bc_drain",
                 {{"TM", c.tm}, {"TN", c.tn}, {"ACC_W", c.acc_w}, {"Q", c.q}, gates},
                 {"bc_clock_gate.sv", "bc_drain.sv"},
                 1});
  out.push_back({"glue", "bc_array", array_parameters(c), array_sources(), 1});
  return out;
}

std::vector<std::string> glued_modules(const ArrayConfig& config) {
  std::vector<std::string> out;
  for (const auto& m : array_modules(config)) {
    if (m.name == "glue" || std::find(out.begin(), out.end(), m.rtl_module) != out.end()) continue;
    out.push_back(m.rtl_module);
  }
  return out;
}

bool same_parameters(const std::vector<std::pair<std::string, int>>& a,
                     const std::vector<std::pair<std::string, int>>& b) {
  const auto shape = [](std::vector<std::pair<std::string, int>> list) {
    list.erase(std::remove_if(list.begin(), list.end(),
                              [](const auto& p) { return p.first == "CLOCK_GATING"; }),
               list.end());
    return list;
  };
  return shape(a) == shape(b);
}

}  // namespace bitcycle
