#include "sim/module_probe.hpp"

#include <algorithm>
#include <stdexcept>

namespace bitcycle {

RegisterReader::RegisterReader(ArrayCore& core) {
  for (const auto& view : core.registers()) views_.emplace(view.name, &view);
}

const RegisterView& RegisterReader::view(const std::string& name) const {
  const auto it = views_.find("bc_array." + name);
  if (it == views_.end()) throw std::logic_error("no register " + name);
  return *it->second;
}

std::uint64_t RegisterReader::value(const std::string& name) const {
  const auto& v = view(name);
  return get_bits(v.data, 0, v.bits);
}

std::size_t ModuleProbe::add_input(const std::string& name, std::size_t bits) {
  inputs_.push_back({name, bits, std::vector<std::uint64_t>((bits + 63) / 64, 0), true, false});
  last_.push_back(inputs_.back().value);
  return inputs_.size() - 1;
}

std::size_t ModuleProbe::add_output(const std::string& name, std::size_t bits) {
  outputs_.push_back({name, bits, std::vector<std::uint64_t>((bits + 63) / 64, 0), false, false});
  return outputs_.size() - 1;
}

void ModuleProbe::add_feature(const std::string& name, const std::string& description) {
  feature_names_.push_back(name);
  feature_descriptions_.push_back(description);
  features_.push_back(0.0);
}

void ModuleProbe::add_features(const std::vector<std::string>& names,
                               const std::vector<std::string>& descriptions) {
  for (std::size_t i = 0; i < names.size(); ++i) add_feature(names[i], descriptions[i]);
}

void ModuleProbe::drive(std::size_t input, const std::uint64_t* words) {
  auto& value = inputs_[input].value;
  std::copy_n(words, value.size(), value.begin());
}

void ModuleProbe::expect(std::size_t output, std::uint64_t value) {
  outputs_[output].value[0] = value;
  outputs_[output].known = true;
}

void ModuleProbe::expect(std::size_t output, const std::uint64_t* words) {
  auto& value = outputs_[output].value;
  std::copy_n(words, value.size(), value.begin());
  // Bits above the port are no part of it.
  if (const std::size_t rest = outputs_[output].bits % 64; rest != 0) {
    value.back() &= (std::uint64_t{1} << rest) - 1;
  }
  outputs_[output].known = true;
}

int ModuleProbe::changed(std::size_t input) {
  int bits = 0;
  auto& before = last_[input];
  const auto& now = inputs_[input].value;
  for (std::size_t i = 0; i < now.size(); ++i) {
    bits += __builtin_popcountll(now[i] ^ before[i]);
    before[i] = now[i];
  }
  return bits;
}

}  // namespace bitcycle
