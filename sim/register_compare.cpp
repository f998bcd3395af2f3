#include "sim/register_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "golden/error.hpp"

namespace bitcycle {
namespace {

std::string hex(const RegisterView& view, std::size_t element) {
  const auto* bytes = static_cast<const std::uint8_t*>(view.data) + element * view.bytes;
  std::string out;
  for (std::size_t nibble = (view.bits + 3) / 4; nibble-- > 0;) {
    const std::size_t width = std::min<std::size_t>(4, view.bits - nibble * 4);
    out += "0123456789abcdef"[get_bits(bytes, nibble * 4, width)];
  }
  return "0x" + out;
}

template <class T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

RegisterCompare::RegisterCompare(const std::vector<RegisterView>& rtl,
                                 const std::vector<RegisterView>& model) {
  std::map<std::string, RegisterView> by_name;
  for (const auto& view : model) by_name[view.name] = view;
  for (const auto& view : rtl) {
    const auto found = by_name.find(view.name);
    if (found == by_name.end()) {
      throw InputError("register " + view.name + " of the RTL is unknown to the model");
    }
    const RegisterView& other = found->second;
    if (other.bits != view.bits || other.count != view.count) {
      throw InputError(fmt::format("register {}: {} x {} bits in the RTL, {} x {} in the model",
                                   view.name, view.count, view.bits, other.count, other.bits));
    }
    const std::size_t name = names_.size();
    names_.push_back(view.name);
    views_.emplace_back(view, other);
    if (view.bytes == other.bytes) {
      const Plain plain{view.data, other.data, view.bytes * view.count, name};
      auto& list = plain.bytes == 1   ? bytes1_
                   : plain.bytes == 4 ? bytes4_
                   : plain.bytes == 8 ? bytes8_
                                      : blocks_;
      list.push_back(plain);
    } else {
      narrow_.push_back({static_cast<const std::uint8_t*>(view.data),
                         static_cast<const std::uint8_t*>(other.data), view.count, view.bytes,
                         other.bytes, name});
    }
    by_name.erase(found);
  }
  if (!by_name.empty()) {
    throw InputError("register " + by_name.begin()->first + " of the model is unknown to the RTL");
  }
}

void RegisterCompare::copy_to_model() {
  for (auto& [rtl, model] : views_) {
    for (std::size_t i = 0; i < rtl.count; ++i) {
      auto* to = static_cast<std::uint8_t*>(model.data) + i * model.bytes;
      const auto* from = static_cast<const std::uint8_t*>(rtl.data) + i * rtl.bytes;
      std::memset(to, 0, model.bytes);
      std::memcpy(to, from, std::min(rtl.bytes, model.bytes));
    }
  }
}

std::optional<Mismatch> RegisterCompare::compare() const {
  for (const auto& p : bytes1_) {
    if (read<std::uint8_t>(p.rtl) != read<std::uint8_t>(p.model)) return describe(p.name);
  }
  for (const auto& p : bytes4_) {
    if (read<std::uint32_t>(p.rtl) != read<std::uint32_t>(p.model)) return describe(p.name);
  }
  for (const auto& p : bytes8_) {
    if (read<std::uint64_t>(p.rtl) != read<std::uint64_t>(p.model)) return describe(p.name);
  }
  for (const auto& p : blocks_) {
    if (std::memcmp(p.rtl, p.model, p.bytes) != 0) return describe(p.name);
  }
  for (const auto& n : narrow_) {
    const std::size_t bytes = std::min(n.rtl_bytes, n.model_bytes);
    for (std::size_t i = 0; i < n.count; ++i) {
      if (std::memcmp(n.rtl + i * n.rtl_bytes, n.model + i * n.model_bytes, bytes) != 0) {
        return describe(n.name);
      }
    }
  }
  return std::nullopt;
}

Mismatch RegisterCompare::describe(std::size_t name) const {
  const auto& [rtl, model] = views_[name];
  for (std::size_t i = 0; i < rtl.count; ++i) {
    const std::string x = hex(rtl, i);
    const std::string y = hex(model, i);
    if (x != y) {
      return {0, rtl.count > 1 ? fmt::format("{}[{}]", rtl.name, i) : rtl.name, x, y};
    }
  }
  return {0, rtl.name, "storage differs above the register's width", "zero"};
}

}  // namespace bitcycle
