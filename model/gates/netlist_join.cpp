#include "model/gates/netlist_join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "golden/error.hpp"
#include "model/gates/hash.hpp"

namespace bitcycle {
namespace {

bool any_of_bus(const NetlistPort& port, const std::vector<char>& marked) {
  return std::any_of(port.nets.begin(), port.nets.end(),
                     [&](std::uint32_t net) { return marked[net] != 0; });
}

// Nets that turn out to be one; constants stand for what is joined to them.
class JoinedNets {
 public:
  std::uint32_t add() {
    root_.push_back(static_cast<std::uint32_t>(root_.size()));
    return root_.back();
  }
  std::uint32_t find(std::uint32_t net) {
    while (root_[net] != net) net = root_[net] = root_[root_[net]];
    return net;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    root_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> root_;
};

void check_ports(const NetlistBox& box, const Netlist& part) {
  const std::string where = fmt::format("instance {} of {}", box.name, box.module);
  for (const auto& port : box.ports) {
    const auto same = std::find_if(part.ports.begin(), part.ports.end(),
                                   [&](const NetlistPort& p) { return p.name == port.name; });
    if (same == part.ports.end() || same->input != port.input ||
        same->nets.size() != port.nets.size()) {
      throw input_error("", 0, where, "port " + port.name,
                        "a port of its netlist, of the same direction and width");
    }
  }
  for (const auto& port : part.ports) {
    if (std::none_of(box.ports.begin(), box.ports.end(),
                     [&](const NetlistPort& p) { return p.name == port.name; })) {
      throw input_error("", 0, where, "nothing on port " + port.name, "a connection");
    }
  }
}

}  // namespace

Netlist open_boxes(const BoxedNetlist& design) {
  const Netlist& cells = design.cells;
  std::vector<char> driven(cells.nets.size(), 0), read(cells.nets.size(), 0);
  for (const auto& instance : cells.instances) {
    for (std::size_t p = 0; p < instance.nets.size(); ++p) {
      if (instance.nets[p] == kUnconnected) continue;
      const bool output = instance.cell->pins[p].direction == PinDirection::kOutput;
      (output ? driven : read)[instance.nets[p]] = 1;
    }
  }
  std::vector<NetlistPort> all = cells.ports;
  for (const auto& box : design.boxes) {
    for (NetlistPort port : box.ports) {
      port.name = box.name + "." + port.name;
      port.input = !port.input;
      all.push_back(std::move(port));
    }
  }
  Netlist out = cells;
  out.ports.clear();
  // An input that reaches an output which stays has to stay as well.
  for (const auto& port : all) {
    if (port.input || !any_of_bus(port, driven)) continue;
    for (const auto net : port.nets) read[net] = 1;
  }
  for (auto& port : all) {
    if (any_of_bus(port, port.input ? read : driven)) out.ports.push_back(std::move(port));
  }
  // Nets between boxes alone are no part of this. The others keep their order.
  std::vector<char> used(out.nets.size(), 0);
  used[kNetZero] = used[kNetOne] = 1;
  for (const auto& port : out.ports) {
    for (const auto net : port.nets) used[net] = 1;
  }
  for (std::size_t n = 0; n < used.size(); ++n) used[n] |= driven[n] | read[n];
  std::vector<std::uint32_t> number(out.nets.size(), kUnconnected);
  std::vector<std::string> names;
  for (std::size_t n = 0; n < used.size(); ++n) {
    if (used[n] == 0) continue;
    number[n] = static_cast<std::uint32_t>(names.size());
    names.push_back(std::move(out.nets[n]));
  }
  out.nets = std::move(names);
  for (auto& port : out.ports) {
    for (auto& net : port.nets) net = number[net];
  }
  for (auto& instance : out.instances) {
    for (auto& net : instance.nets) {
      if (net != kUnconnected) net = number[net];
    }
  }
  check_drivers(out, {}, cells.module);
  return out;
}

Netlist join_netlists(const BoxedNetlist& design,
                      const std::map<std::string, const Netlist*>& parts) {
  Netlist out = design.cells;
  JoinedNets nets;
  for (std::size_t n = 0; n < out.nets.size(); ++n) nets.add();
  std::string identity = out.sha256;
  for (const auto& box : design.boxes) {
    const auto found = parts.find(box.type);
    if (found == parts.end()) {
      throw input_error("", 0, "instance " + box.name, "no netlist of " + box.module, "one");
    }
    const Netlist& part = *found->second;
    check_ports(box, part);
    identity += part.sha256;
    std::vector<std::uint32_t> number(part.nets.size(), kNetZero);
    number[kNetOne] = kNetOne;
    for (std::size_t n = kNetOne + 1; n < part.nets.size(); ++n) {
      number[n] = nets.add();
      out.nets.push_back(box.name + "." + part.nets[n]);
    }
    for (const auto& port : box.ports) {
      const auto& inner = part.port(port.name).nets;
      for (std::size_t b = 0; b < inner.size(); ++b) nets.join(port.nets[b], number[inner[b]]);
    }
    for (NetlistInstance instance : part.instances) {
      instance.name = box.name + "." + instance.name;
      for (auto& net : instance.nets) {
        if (net != kUnconnected) net = number[net];
      }
      out.instances.push_back(std::move(instance));
    }
  }
  if (nets.find(kNetOne) != kNetOne) {
    throw input_error("", 0, "netlist " + out.module, "0 and 1 joined", "one driver for each net");
  }
  std::vector<std::uint32_t> number(out.nets.size(), kUnconnected);
  std::vector<std::string> names;
  for (std::uint32_t n = 0; n < number.size(); ++n) {
    const auto root = nets.find(n);  // never after n
    if (root == n) {
      number[n] = static_cast<std::uint32_t>(names.size());
      names.push_back(std::move(out.nets[n]));
    } else {
      number[n] = number[root];
    }
  }
  out.nets = std::move(names);
  for (auto& port : out.ports) {
    for (auto& net : port.nets) net = number[net];
  }
  for (auto& instance : out.instances) {
    for (auto& net : instance.nets) {
      if (net != kUnconnected) net = number[net];
    }
  }
  check_drivers(out, {}, "joined netlist of " + out.module);
  out.sha256 = sha256_hex(identity);
  return out;
}

}  // namespace bitcycle
