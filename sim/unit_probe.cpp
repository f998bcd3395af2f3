#include "sim/unit_probe.hpp"

#include <algorithm>
#include <stdexcept>

#include "golden/error.hpp"
#include "model/machine/layout.hpp"

namespace bitcycle {

void UnitProbe::observe(const ArrayStep& /*coming*/) {
  throw std::logic_error(module() + " is no part of the array");
}

double UnitProbe::Random::normal() {
  double sum = -6.0;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(word() >> 11U) * 0x1p-53;
  return sum;
}

void UnitProbe::ports(std::initializer_list<std::pair<const char*, std::size_t>> inputs,
                      std::initializer_list<std::pair<const char*, std::size_t>> outputs) {
  for (const auto& [name, bits] : inputs) add_input(name, bits);
  for (const auto& [name, bits] : outputs) add_output(name, bits);
}

void UnitProbe::drive_all(std::initializer_list<std::uint64_t> values) {
  std::size_t i = 0;
  for (const auto value : values) drive(i++, value);
}

void UnitProbe::count(std::initializer_list<double> values) {
  std::copy(values.begin(), values.end(), features_.begin());
}

const std::vector<std::string>& unit_names() {
  static const std::vector<std::string> names = {"requant",   "fetch",    "store", "queue-exec",
                                                 "queue-dma", "dispatch", "engine"};
  return names;
}

std::size_t unit_instances(const std::string& name, const MachineConfig& config) {
  if (name == "requant") return static_cast<std::size_t>(config.array.q);
  if (name == "queue-dma") return 2;
  return name == "engine" ? 3 : 1;
}

std::unique_ptr<UnitProbe> make_unit(const std::string& name, const MachineConfig& config) {
  if (name == "requant") return make_requant_unit(config);
  if (name == "fetch") return make_fetch_unit(config);
  if (name == "store") return make_store_unit(config);
  if (name == "queue-exec") return make_queue_unit(config, layout::kExecWords);
  if (name == "queue-dma") return make_queue_unit(config, layout::kFetchWords);
  if (name == "dispatch") return make_dispatch_unit();
  if (name == "engine") return make_engine_unit();
  throw input_error("", 0, "--module", "'" + name + "'" + suggestion(name, unit_names()),
                    join(unit_names()));
}

}  // namespace bitcycle
