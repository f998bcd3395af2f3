// What clock gates save: modules of an array with enables and with gates, side by side.
#pragma once

#include <string>
#include <vector>

#include "sim/characterise.hpp"

namespace bitcycle {

/// One module, or all of them; energies in J per cycle, areas in um^2, of all instances.
struct GatingRow {
  std::string module;
  std::size_t instances = 0;
  struct Side {
    double area = 0.0, idle = 0.0, busy = 0.0;  ///< busy: mean over the held-out workloads
  } without, with;
};

struct GatingStudy {
  std::vector<GatingRow> rows;  ///< modules that have gates
  GatingRow all;                ///< every module of the array, also those without
  std::string mismatch;         ///< a netlist differs from the core
};

/// Characterises every module of `o.arch` twice; o.module, o.cycles 0 and o.clock_gates are set
/// here. Throws as characterise() does.
GatingStudy study_gating(const CharacteriseOptions& o);

/// The study as a table; rows are of one instance, the last one of the array.
std::string gating_table(const GatingStudy& study);

}  // namespace bitcycle
