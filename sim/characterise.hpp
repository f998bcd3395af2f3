// From RTL and a Liberty file to the event model of a module: synthesis, simulation, fit,
// judgement.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/array_config.hpp"
#include "model/gates/characterisation.hpp"
#include "model/gates/gate_model.hpp"
#include "sim/gate_bench.hpp"

namespace bitcycle {

struct CharacteriseOptions {
  std::string module = "pe";
  ArrayConfig arch;
  std::vector<std::string> liberty;
  double period = 0.0;            ///< s; 0 = 1.25 times the critical path, two digits
  double wire_per_fanout = -1.0;  ///< F; < 0 = estimated_wire()
  double clock_tree_factor = 1.3;
  std::uint64_t cycles = 1024;  ///< of a workload
  std::uint64_t seed = 1;
  bool clock_gates = true;  ///< false: registers with enables
  int jobs = 2;             ///< threads; the result does not depend on it
  std::string keep;         ///< directory for netlist and logs; "" = thrown away
  std::string command;      ///< for the record
  std::function<void(const std::string&)> progress;  ///< may be empty
};

/// Wire that a driven pin adds: 0.15 fF/um over twice the side of the mean cell, F.
double estimated_wire(const Netlist& netlist);

/// Workloads that are fitted, those that are held out (other precisions, seeds, signs and a
/// distribution that the fit never sees), and degenerate ones (all operands equal), where a
/// statistical model has no promise to keep.
struct WorkloadPlan {
  std::vector<ActivityJob> training, held_out, degenerate;
};
WorkloadPlan plan_workloads(const ArrayConfig& arch, std::uint64_t cycles, std::uint64_t seed);
/// The same for the modules around the PEs: fewer data, but also short tiles, tiles that are not
/// full, and operands that come late.
WorkloadPlan plan_module_workloads(const ArrayConfig& arch, std::uint64_t cycles,
                                   std::uint64_t seed);

struct CharacteriseResult {
  Characterisation record;
  std::string mismatch;  ///< netlist differs from the core; the record is then worthless
  double seconds_synthesis = 0.0, seconds_simulation = 0.0;
  std::uint64_t cycles = 0, events = 0, compared = 0;
};

/// Throws InputError (options, library, RTL) and std::runtime_error (synthesis).
CharacteriseResult characterise(const CharacteriseOptions& options);

}  // namespace bitcycle
