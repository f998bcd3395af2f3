#include "model/gates/netlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "golden/error.hpp"
#include "model/gates/hash.hpp"

namespace bitcycle {
namespace {

using Json = nlohmann::json;

class NetlistReader {
 public:
  /// `boxes`: takes instances of modules without contents; null where there must be none.
  NetlistReader(const std::string& file, const LibertyLibrary& library,
                std::vector<NetlistBox>* boxes)
      : file_(file), library_(library), boxes_(boxes) {}

  Netlist run(const std::string& text, const std::string& top) {
    Json root;
    try {
      root = Json::parse(text);
      out_.creator = root.value("creator", "unknown");
      modules_ = &root.at("modules");
      const Json& module = find_module(*modules_, top);
      out_.nets = {"0", "1"};
      names(module);
      for (const auto& [name, port] : module.at("ports").items()) add_port(name, port);
      for (const auto& [name, cell] : module.at("cells").items()) add_cell(name, cell);
    } catch (const Json::exception& e) {
      throw input_error(file_, 0, "netlist", e.what(), "JSON as yosys' write_json makes it");
    }
    check_drivers(out_, boxes_ == nullptr ? std::vector<NetlistBox>{} : *boxes_, file_);
    // Names hold paths and their order: the cells and what connects them do not.
    std::sort(lines_.begin(), lines_.end());
    out_.sha256 = sha256_hex(join(lines_, ""));
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(file_, 0, field, found, allowed);
  }

  const Json& find_module(const Json& modules, const std::string& top) {
    if (!top.empty()) {
      if (!modules.contains(top)) {
        std::vector<std::string> known;
        for (const auto& [name, m] : modules.items()) known.push_back(name);
        fail("module", "no '" + top + "'" + suggestion(top, known), join(known));
      }
      out_.module = top;
      return modules.at(top);
    }
    const Json* only = nullptr;
    for (const auto& [name, m] : modules.items()) {
      const bool marked = m.contains("attributes") && m.at("attributes").contains("top");
      if (marked || modules.size() == 1) {
        out_.module = name;
        only = &m;
      }
    }
    if (only == nullptr) fail("module", "none marked as top", "one module, or a named one");
    return *only;
  }

  void names(const Json& module) {
    if (!module.contains("netnames")) return;
    for (const auto& [name, net] : module.at("netnames").items()) {
      const auto& bits = net.at("bits");
      for (std::size_t i = 0; i < bits.size(); ++i) {
        if (!bits[i].is_number_unsigned()) continue;
        const auto id = bits[i].get<std::uint64_t>();
        auto& known = names_[id];
        if (!known.empty()) continue;
        known = bits.size() == 1 ? name : fmt::format("{}[{}]", name, i);
      }
    }
  }

  std::uint32_t net(const Json& bit, const std::string& where) {
    if (bit.is_string()) {
      const auto& text = bit.get_ref<const std::string&>();
      if (text == "0") return kNetZero;
      if (text == "1") return kNetOne;
      fail(where, "constant '" + text + "'", "0, 1 or a net");
    }
    const auto id = bit.get<std::uint64_t>();
    const auto [it, fresh] = numbers_.emplace(id, static_cast<std::uint32_t>(out_.nets.size()));
    if (fresh) {
      const auto name = names_.find(id);
      out_.nets.push_back(name == names_.end() ? fmt::format("n{}", id) : name->second);
    }
    return it->second;
  }

  void add_port(const std::string& name, const Json& port) {
    NetlistPort p;
    p.name = name;
    const auto direction = port.at("direction").get<std::string>();
    if (direction != "input" && direction != "output") {
      fail(name, "direction " + direction, "input or output");
    }
    p.input = direction == "input";
    for (const auto& bit : port.at("bits")) {
      // yosys leaves an output that nothing drives as x; the array's modules have none.
      p.nets.push_back(net(bit, "port " + name));
    }
    out_.ports.push_back(std::move(p));
  }

  void add_cell(const std::string& name, const Json& json) {
    const auto type = json.at("type").get<std::string>();
    const auto known = library_.cells.find(type);
    if (known == library_.cells.end() && boxes_ != nullptr && modules_->contains(type)) {
      add_box(name, type, json.at("connections"));
      return;
    }
    if (known == library_.cells.end()) {
      fail("cell " + name, "type '" + type + "'", "a cell of " + library_.title());
    }
    NetlistInstance instance;
    instance.name = name;
    instance.cell = &known->second;
    instance.nets.assign(instance.cell->pins.size(), kUnconnected);
    std::string line = type;
    for (const auto& [pin_name, bits] : json.at("connections").items()) {
      line.append(fmt::format(" {}={}", pin_name, bits.dump()));
      std::size_t at = 0;
      while (at < instance.cell->pins.size() && instance.cell->pins[at].name != pin_name) ++at;
      if (at == instance.cell->pins.size()) {
        fail("cell " + name, "pin '" + pin_name + "'", "pins of " + type);
      }
      if (bits.empty()) continue;
      if (bits.size() != 1) fail("cell " + name, "a bus on pin " + pin_name, "single bits");
      instance.nets[at] = net(bits[0], fmt::format("cell {}, pin {}", name, pin_name));
    }
    for (std::size_t i = 0; i < instance.nets.size(); ++i) {
      if (instance.cell->pins[i].direction == PinDirection::kInput &&
          instance.nets[i] == kUnconnected) {
        fail("cell " + name, "nothing on input " + instance.cell->pins[i].name,
             "a net or a constant");
      }
    }
    lines_.push_back(line + "\n");
    out_.instances.push_back(std::move(instance));
  }

  void add_box(const std::string& name, const std::string& type, const Json& connections) {
    const Json& module = modules_->at(type);
    NetlistBox box;
    box.name = name;
    box.type = type;
    box.module = type;
    if (module.contains("attributes") && module.at("attributes").contains("hdlname")) {
      box.module = module.at("attributes").at("hdlname").get<std::string>();
      if (!box.module.empty() && box.module[0] == '\\') box.module.erase(0, 1);
    }
    if (module.contains("parameter_default_values")) {
      for (const auto& [parameter, value] : module.at("parameter_default_values").items()) {
        const auto& bits = value.get_ref<const std::string&>();
        if (parameter.find(':') != std::string::npos || bits.size() != 32) continue;
        if (bits.find_first_not_of("01") != std::string::npos) continue;
        box.parameters.emplace_back(parameter, static_cast<int>(std::stoul(bits, nullptr, 2)));
      }
    }
    std::string line = type;
    for (const auto& [port_name, port] : module.at("ports").items()) {
      NetlistPort p;
      p.name = port_name;
      p.input = port.at("direction").get<std::string>() == "input";
      const std::size_t width = port.at("bits").size();
      if (!connections.contains(port_name) || connections.at(port_name).size() != width) {
        fail("instance " + name, "nothing on port " + port_name + ", or another number of bits",
             fmt::format("{} bits", width));
      }
      const Json& bits = connections.at(port_name);
      line.append(fmt::format(" {}={}", port_name, bits.dump()));
      for (const auto& bit : bits) {
        p.nets.push_back(net(bit, fmt::format("instance {}, port {}", name, port_name)));
      }
      box.ports.push_back(std::move(p));
    }
    lines_.push_back(line + "\n");
    boxes_->push_back(std::move(box));
  }

  const std::string& file_;
  const LibertyLibrary& library_;
  std::vector<NetlistBox>* boxes_;
  const Json* modules_ = nullptr;
  Netlist out_;
  std::vector<std::string> lines_;
  std::unordered_map<std::uint64_t, std::string> names_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

}  // namespace

const NetlistPort& Netlist::port(const std::string& name) const {
  std::vector<std::string> known;
  for (const auto& p : ports) {
    if (p.name == name) return p;
    known.push_back(p.name);
  }
  throw input_error("", 0, "port", "'" + name + "'" + suggestion(name, known), join(known));
}

double Netlist::area() const {
  double sum = 0.0;
  for (const auto& i : instances) sum += i.cell->area;
  return sum;
}

void check_drivers(const Netlist& netlist, const std::vector<NetlistBox>& boxes,
                   const std::string& where) {
  std::vector<int> drivers(netlist.nets.size(), 0);
  drivers[kNetZero] = drivers[kNetOne] = 1;
  const auto drive = [&](const NetlistPort& port, bool inwards) {
    if (port.input != inwards) return;
    for (const auto n : port.nets) ++drivers[n];
  };
  for (const auto& p : netlist.ports) drive(p, true);
  for (const auto& box : boxes) {
    for (const auto& p : box.ports) drive(p, false);
  }
  for (const auto& i : netlist.instances) {
    for (std::size_t k = 0; k < i.nets.size(); ++k) {
      if (i.cell->pins[k].direction == PinDirection::kOutput && i.nets[k] != kUnconnected) {
        ++drivers[i.nets[k]];
      }
    }
  }
  for (std::size_t n = 0; n < drivers.size(); ++n) {
    if (drivers[n] != 1) {
      throw input_error(where, 0, "net " + netlist.nets[n], fmt::format("{} drivers", drivers[n]),
                        "exactly one");
    }
  }
}

Netlist parse_netlist(const std::string& json, const std::string& file,
                      const LibertyLibrary& library, const std::string& top) {
  return NetlistReader(file, library, nullptr).run(json, top);
}

BoxedNetlist parse_boxed_netlist(const std::string& json, const std::string& file,
                                 const LibertyLibrary& library, const std::string& top) {
  BoxedNetlist out;
  out.cells = NetlistReader(file, library, &out.boxes).run(json, top);
  return out;
}

Netlist load_netlist(const std::string& path, const LibertyLibrary& library,
                     const std::string& top) {
  return parse_netlist(read_maybe_gzipped(path), path, library, top);
}

BoxedNetlist load_boxed_netlist(const std::string& path, const LibertyLibrary& library,
                                const std::string& top) {
  return parse_boxed_netlist(read_maybe_gzipped(path), path, library, top);
}

}  // namespace bitcycle
