// Products of a training step on a machine: compile, place, run, read back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "golden/training.hpp"
#include "model/machine/compile.hpp"
#include "model/machine/memory_config.hpp"
#include "model/machine/recurrence.hpp"
#include "sim/machine_cost.hpp"
#include "sim/machine_lockstep.hpp"

namespace bitcycle {

/// What one product took, by the machine and by the formula, in all its plans.
struct ProductRun {
  std::string label;  ///< of the request
  MachineRun machine;
  std::uint64_t formula_cycles = 0;
  std::array<EngineCycles, kEngines> formula_engines;
  /// First and last cycle of every instruction by the formula; the machine's are compared on the
  /// way through the engines' counters.
  std::uint64_t instructions = 0;
  std::uint64_t macs = 0;  ///< of real elements
  std::uint64_t formula_read_beats = 0, formula_write_beats = 0;
  std::uint64_t plans = 0;    ///< runs one after the other: phases of dX, parts of a batch, steps
  bool each_exact = true;     ///< no difference in any of them
  bool expanded = false;      ///< the host expanded the input
  bool phases_apart = false;  ///< a plan for each phase of dX

  /// Machine and formula agree in cycles, counters of every engine and traffic.
  bool exact() const;
};

/// Runs each request on `machine` (RTL, core or both in lockstep) behind a bandwidth-latency memory
/// and returns the integer results as they lie in DRAM afterwards.
class MachineBackend {
 public:
  /// With `systemc` under the SystemC kernel (once in a process).
  MachineBackend(const MachineConfig& config, Machine& machine, const MemoryTiming& memory,
                 const CompileOptions& options = {}, bool systemc = false);
  ~MachineBackend();
  MachineBackend(const MachineBackend&) = delete;
  MachineBackend& operator=(const MachineBackend&) = delete;

  /// Throws InputError if the layer cannot be compiled, or the machine halts or does not end.
  ConvSums run(const ConvRequest& request);
  /// A convolution or a product of matrices in the plans that MachineCost times (compile_layer).
  /// Operands as run_conv and run_matmul take them; `repeats` do not count.
  ConvSums run(const std::string& label, const LayerJob& job,
               const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& second);
  ConvBackend backend() {
    return [this](const ConvRequest& request) { return run(request); };
  }

  OutputForm results = OutputForm::kRaw48;    ///< kRaw48 or kRaw32, of the requests from now on
  DxLowering lowering = DxLowering::kPhases;  ///< of the requests from now on
  /// Asked in every cycle; true ends the run (a mismatch of a lockstep).
  std::function<bool()> stop;
  /// Told after every product.
  std::function<void(const ProductRun&)> on_product;

  const std::vector<ProductRun>& products() const { return products_; }

 private:
  void run_plan(const Plan& plan, std::vector<std::uint8_t>& dram, ProductRun& product);

  MachineConfig config_;
  MemoryTiming timing_;
  CompileOptions options_;
  std::unique_ptr<AxiMemory> memory_;
  std::unique_ptr<MachineRunner> runner_;
  std::vector<ProductRun> products_;
};

}  // namespace bitcycle
