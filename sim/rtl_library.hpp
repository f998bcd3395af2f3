// Verilated builds of the array and of the machine: made ahead of time by CMake, or on demand into
// a cache.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/array_config.hpp"
#include "model/machine/machine_config.hpp"
#include "sim/machine_plugin.hpp"
#include "sim/rtl_plugin.hpp"

namespace bitcycle {

/// plain: fastest. wave: can write FST files. inject: wave, and registers can be overwritten.
/// gated: plain, with clock gates as synthesis has them.
enum class RtlFlavour { kPlain, kWave, kInject, kGated };

inline constexpr RtlFlavour kRtlFlavours[] = {RtlFlavour::kPlain, RtlFlavour::kWave,
                                              RtlFlavour::kInject, RtlFlavour::kGated};

std::string to_string(RtlFlavour flavour);
/// Throws InputError for an unknown name.
RtlFlavour parse_flavour(const std::string& text);

/// "RA=1 RW=1 KL=64 ...": the parameters as Verilator's -G and scripts/verilate-array take them.
std::string rtl_parameters(const ArrayConfig& config);
std::string rtl_parameters(const MachineConfig& config);

/// Verilates `config` into the shared object `out` (scripts/verilate-array). `rtl_dir` "" is the
/// project's own rtl/. Throws InputError with the log's path if the build fails.
void verilate_array(const ArrayConfig& config, RtlFlavour flavour, const std::string& out,
                    const std::string& rtl_dir = "", int jobs = 0);
void verilate_machine(const MachineConfig& config, RtlFlavour flavour, const std::string& out,
                      const std::string& rtl_dir = "", int jobs = 0);

/// Loads a shared object made by verilate_array; `seed` decides the start value of every register.
/// Throws InputError if it is missing, of another version, or not a build of the array.
std::unique_ptr<RtlModel> load_rtl_model(const std::string& path, std::uint64_t seed);
std::unique_ptr<RtlMachine> load_rtl_machine(const std::string& path, std::uint64_t seed);

/// A model of `config`: prebuilt, from the cache, or verilated now (says so on stderr).
std::unique_ptr<RtlModel> make_rtl_model(const ArrayConfig& config, RtlFlavour flavour,
                                         std::uint64_t seed);
std::unique_ptr<RtlMachine> make_rtl_machine(const MachineConfig& config, RtlFlavour flavour,
                                             std::uint64_t seed);

}  // namespace bitcycle
