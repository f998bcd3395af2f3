#include "sim/gating_study.hpp"

#include <fmt/format.h>

#include "model/gates/array_modules.hpp"
#include "model/gates/module_energy.hpp"
#include "sim/table.hpp"

namespace bitcycle {
namespace {

GatingRow::Side side_of(const Characterisation& c, double count) {
  GatingRow::Side s;
  s.area = count * c.area;
  s.idle = count * idle_cycle_energy(c);
  for (const auto& w : c.held_out) {
    s.busy += count * w.energy / static_cast<double>(c.held_out.size());
  }
  return s;
}

void add(GatingRow::Side& to, const GatingRow::Side& s) {
  to.area += s.area;
  to.idle += s.idle;
  to.busy += s.busy;
}

std::string saved(double without, double with) {
  return fmt::format("{:.1f} %", 100.0 * (1.0 - with / without));
}

}  // namespace

GatingStudy study_gating(const CharacteriseOptions& options) {
  GatingStudy out;
  out.all.module = "all";
  for (const auto& m : array_modules(options.arch)) {
    CharacteriseOptions o = options;
    o.module = m.name;
    if (o.cycles == 0) o.cycles = m.name == "pe" ? 1024 : 384;
    const auto count = static_cast<double>(m.instances);
    GatingRow row{m.name, m.instances, {}, {}};
    bool gated = false;
    for (const auto& p : m.parameters) gated = gated || p.first == "CLOCK_GATING";
    for (const bool gates : {true, false}) {
      if (!gates && !gated) {
        row.without = row.with;
        continue;
      }
      o.clock_gates = gates;
      const CharacteriseResult result = characterise(o);
      if (!result.mismatch.empty()) {
        out.mismatch = result.mismatch;
        return out;
      }
      (gates ? row.with : row.without) = side_of(result.record, count);
    }
    add(out.all.with, row.with);
    add(out.all.without, row.without);
    if (gated) out.rows.push_back(row);
  }
  return out;
}

std::string gating_table(const GatingStudy& study) {
  TextTable table;
  table.add_column("module", TextTable::Align::kLeft);
  table.add_column("instances");
  for (const char* what : {"area um2", "idle cycle", "busy cycle"}) {
    table.add_column(std::string(what) + "\nenables");
    table.add_column("\ngates");
    table.add_column("\nsaved");
  }
  const auto add_row = [&](const GatingRow& r, double count, const std::string& instances) {
    table.add_row({r.module, instances, fmt::format("{:.5g}", r.without.area / count),
                   fmt::format("{:.5g}", r.with.area / count), saved(r.without.area, r.with.area),
                   si_text(r.without.idle / count, "J"), si_text(r.with.idle / count, "J"),
                   saved(r.without.idle, r.with.idle), si_text(r.without.busy / count, "J"),
                   si_text(r.with.busy / count, "J"), saved(r.without.busy, r.with.busy)});
  };
  for (const auto& r : study.rows) {
    add_row(r, static_cast<double>(r.instances), std::to_string(r.instances));
  }
  table.add_separator();
  add_row(study.all, 1.0, "");
  return table.render();
}

}  // namespace bitcycle
