// Co-simulation of the array: RTL and SystemC model in lockstep, judged by golden and formula.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "golden/operands.hpp"
#include "model/array_config.hpp"
#include "sim/campaign.hpp"
#include "sim/lockstep.hpp"

namespace bitcycle {

struct CosimOptions {
  ArrayConfig array;
  std::string rtl_model;  ///< shared object to use instead of the library's; "" = library
  std::uint64_t seed = 1;
  // One GEMM ...
  Descriptor descriptor;
  OperandPattern pattern = OperandPattern::kUniform;
  StallPattern stalls;
  // ... or a campaign.
  std::uint64_t random = 0;          ///< random GEMMs
  std::uint64_t all_precisions = 0;  ///< times every precision pair and sign mode
  std::uint64_t max_cycles = 0;      ///< 0 = no limit
  std::string wave;                  ///< FST file: of the whole run, or around a mismatch
  std::optional<Injection> inject;
  bool systemc = true;    ///< under the SystemC kernel (once in a process)
  bool progress = false;  ///< one line on stderr, rewritten
};

struct CosimReport {
  bool pass = false;
  std::uint64_t cycles_rtl = 0, cycles_model = 0, cycles_formula = 0;
  std::uint64_t registers = 0;
  CampaignTotals totals;
  std::optional<Mismatch> mismatch;
  bool injected = false;  ///< --inject: the bit was flipped
  std::string failure;    ///< one line if not pass
  std::string wave;       ///< file written, "" if none
};

/// Throws InputError for bad options. A wrong RTL is reported, not thrown.
CosimReport cosim(const CosimOptions& options);

}  // namespace bitcycle
