#include "model/machine/machine_config.hpp"

#include <algorithm>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

bool power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }

}  // namespace

int MachineConfig::setup_cycles() const {
  int bits = 0;
  while ((1 << bits) < std::max({array.tm, array.tn, array.kl})) ++bits;
  return bits;
}

void MachineConfig::validate() const {
  array.validate();
  const auto check = [](const char* field, int value, bool good, const std::string& allowed) {
    if (!good) throw input_error("", 0, field, std::to_string(value), allowed);
  };
  const auto power = [&](const char* field, int value, int low, int high) {
    check(field, value, power_of_two(value) && value >= low && value <= high,
          "a power of two from " + std::to_string(low) + " to " + std::to_string(high));
  };
  power("kl", array.kl, 1, 256);
  power("tm", array.tm, 1, 64);
  power("tn", array.tn, 1, 64);
  check("gl", gl, gl == std::min(16, array.kl), "min(16, KL)");
  check("acc_w", array.acc_w, array.acc_w <= 48, "at most 48 in a machine");
  power("dw", dw, std::max(8, gl), 1024);
  power("l1a_d", l1a_d, 2, 1 << 20);
  power("l1w_d", l1w_d, 2, 1 << 20);
  power("ob_d", ob_d, 2, 1 << 20);
  power("ps_d", ps_d, 2, 1 << 16);
  power("qd", qd, 1, 64);
  power("out", out, 1, 64);
  power("burst", burst, 1, 256);
  power("q", array.q, 1, 4096);
}

std::string MachineConfig::key() const {
  std::string text = array.key();
  for (const int value : {gl, dw, l1a_d, l1w_d, ob_d, ps_d, qd, out, burst}) {
    text += "-" + std::to_string(value);
  }
  return text;
}

MachineConfig machine_for(const ArrayConfig& array) {
  MachineConfig m;
  m.array = array;
  m.gl = std::min(16, array.kl);
  if (array.tm * array.tn > 64) {
    m.dw = 512;
    m.l1a_d = m.l1w_d = m.ob_d = 2048;
    m.ps_d = 1024;
    m.out = 16;
    m.burst = 64;
  }
  m.validate();
  return m;
}

}  // namespace bitcycle
