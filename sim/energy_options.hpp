// Options of energy that `compare` and `run` share.
#pragma once

#include <boost/program_options.hpp>

#include "sim/energy_model.hpp"

namespace bitcycle {

void describe_energy(boost::program_options::options_description& options);

/// Throws InputError for unknown words and for options that the chosen level does not use.
EnergySettings energy_settings(const boost::program_options::variables_map& values);

}  // namespace bitcycle
